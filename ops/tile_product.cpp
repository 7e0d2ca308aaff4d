#include "ops/tile_product.hpp"

#include "ops/clones.hpp"

#if defined(__x86_64__) && !defined(ERX_ISA_BASELINE)
#define ERX_HAS_TILES
#include <immintrin.h>
#endif

namespace erx {

#ifdef ERX_HAS_TILES
namespace {

// Intrinsics: a compiler keeps neither the sums in registers nor the products fused by itself.

template <int vectors, bool magnitudes>
[[gnu::target("avx512f,fma")]] void tile512(const double* a, const double* b, std::int64_t depth, double* c, std::int64_t row_stride, bool add) {
  constexpr int rows = static_cast<int>(tile_rows), width = 8 * vectors;
  __m512d sum[rows][vectors];
#pragma GCC unroll 8
  for (int i = 0; i < rows; ++i)
#pragma GCC unroll 3
    for (int v = 0; v < vectors; ++v) sum[i][v] = _mm512_setzero_pd();
  for (std::int64_t k = 0; k < depth; ++k, a += rows, b += width) {
    __m512d y[vectors];
#pragma GCC unroll 3
    for (int v = 0; v < vectors; ++v) {
      y[v] = _mm512_loadu_pd(b + 8 * v);
      if constexpr (magnitudes) y[v] = _mm512_abs_pd(y[v]);
      _mm_prefetch(reinterpret_cast<const char*>(b + 8 * (width + v)), _MM_HINT_T0);
    }
#pragma GCC unroll 8
    for (int i = 0; i < rows; ++i) {
      const __m512d x = _mm512_set1_pd(a[i]);
#pragma GCC unroll 3
      for (int v = 0; v < vectors; ++v) sum[i][v] = _mm512_fmadd_pd(x, y[v], sum[i][v]);
    }
  }
#pragma GCC unroll 8
  for (int i = 0; i < rows; ++i)
#pragma GCC unroll 3
    for (int v = 0; v < vectors; ++v) {
      double* const to = c + i * row_stride + 8 * v;
      _mm512_storeu_pd(to, add ? _mm512_add_pd(_mm512_loadu_pd(to), sum[i][v]) : sum[i][v]);
    }
}

template <bool magnitudes>
void product512(const double* a, const double* b, std::int64_t depth, std::int64_t columns, double* c, std::int64_t row_stride, bool add) {
  if (columns == 24) tile512<3, magnitudes>(a, b, depth, c, row_stride, add);
  else if (columns == 16) tile512<2, magnitudes>(a, b, depth, c, row_stride, add);
  else tile512<1, magnitudes>(a, b, depth, c, row_stride, add);
}

/// Half of the rows, and `vectors` of four columns of a tile whose columns lie `width` apart.
template <int vectors, bool magnitudes>
[[gnu::target("avx2,fma")]] void tile256(const double* a, const double* b, std::int64_t depth, std::int64_t width, double* c, std::int64_t row_stride, bool add) {
  constexpr int rows = 4;
  __m256d sum[rows][vectors];
#pragma GCC unroll 4
  for (int i = 0; i < rows; ++i)
#pragma GCC unroll 3
    for (int v = 0; v < vectors; ++v) sum[i][v] = _mm256_setzero_pd();
  for (std::int64_t k = 0; k < depth; ++k, a += tile_rows, b += width) {
    __m256d y[vectors];
#pragma GCC unroll 3
    for (int v = 0; v < vectors; ++v) {
      y[v] = _mm256_loadu_pd(b + 4 * v);
      if constexpr (magnitudes) y[v] = _mm256_andnot_pd(_mm256_set1_pd(-0.0), y[v]);
    }
#pragma GCC unroll 4
    for (int i = 0; i < rows; ++i) {
      const __m256d x = _mm256_broadcast_sd(a + i);
#pragma GCC unroll 3
      for (int v = 0; v < vectors; ++v) sum[i][v] = _mm256_fmadd_pd(x, y[v], sum[i][v]);
    }
  }
#pragma GCC unroll 4
  for (int i = 0; i < rows; ++i)
#pragma GCC unroll 3
    for (int v = 0; v < vectors; ++v) {
      double* const to = c + i * row_stride + 4 * v;
      _mm256_storeu_pd(to, add ? _mm256_add_pd(_mm256_loadu_pd(to), sum[i][v]) : sum[i][v]);
    }
}

template <bool magnitudes>
void product256(const double* a, const double* b, std::int64_t depth, std::int64_t columns, double* c, std::int64_t row_stride, bool add) {
  for (std::int64_t j = 0; j < columns;) {
    const std::int64_t left = columns - j, n = left == 24 || left == 12 ? 12 : 8;
    for (std::int64_t i = 0; i < tile_rows; i += 4) {
      double* const to = c + i * row_stride + j;
      if (n == 12) tile256<3, magnitudes>(a + i, b + j, depth, columns, to, row_stride, add);
      else tile256<2, magnitudes>(a + i, b + j, depth, columns, to, row_stride, add);
    }
    j += n;
  }
}

bool has_avx512() {
#ifdef ERX_ISA_AVX2
  return false;
#else
  return __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("fma");
#endif
}

}  // namespace

TileProduct tile_product(bool magnitudes) {
  static const bool wide = has_avx512(), narrow = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
  if (wide) return magnitudes ? product512<true> : product512<false>;
  if (narrow) return magnitudes ? product256<true> : product256<false>;
  return nullptr;
}

#else

TileProduct tile_product(bool) { return nullptr; }

#endif

namespace {

using Eight [[gnu::vector_size(64), gnu::aligned(8), gnu::may_alias]] = double;

}  // namespace

// 8 x 8 at a time, in registers: pairs of lines, then pairs of pairs.
ERX_VECTOR_CLONES void interleave(const double* from, std::int64_t stride, std::int64_t n, double* to, std::int64_t width) {
  std::int64_t k = 0;
  for (; k + 8 <= n; k += 8) {
    Eight lines[8], pairs[8];
#pragma GCC unroll 8
    for (int l = 0; l < 8; ++l) lines[l] = *reinterpret_cast<const Eight*>(from + l * stride + k);
#pragma GCC unroll 4
    for (int l = 0; l < 8; l += 2) {
      pairs[l] = __builtin_shufflevector(lines[l], lines[l + 1], 0, 8, 2, 10, 4, 12, 6, 14);  // of even terms
      pairs[l + 1] = __builtin_shufflevector(lines[l], lines[l + 1], 1, 9, 3, 11, 5, 13, 7, 15);
    }
#pragma GCC unroll 2
    for (int odd = 0; odd < 2; ++odd) {
      const Eight a = __builtin_shufflevector(pairs[odd], pairs[2 + odd], 0, 1, 8, 9, 4, 5, 12, 13), b = __builtin_shufflevector(pairs[4 + odd], pairs[6 + odd], 0, 1, 8, 9, 4, 5, 12, 13);
      const Eight c = __builtin_shufflevector(pairs[odd], pairs[2 + odd], 2, 3, 10, 11, 6, 7, 14, 15), d = __builtin_shufflevector(pairs[4 + odd], pairs[6 + odd], 2, 3, 10, 11, 6, 7, 14, 15);
      *reinterpret_cast<Eight*>(to + (k + odd) * width) = __builtin_shufflevector(a, b, 0, 1, 2, 3, 8, 9, 10, 11);
      *reinterpret_cast<Eight*>(to + (k + 2 + odd) * width) = __builtin_shufflevector(c, d, 0, 1, 2, 3, 8, 9, 10, 11);
      *reinterpret_cast<Eight*>(to + (k + 4 + odd) * width) = __builtin_shufflevector(a, b, 4, 5, 6, 7, 12, 13, 14, 15);
      *reinterpret_cast<Eight*>(to + (k + 6 + odd) * width) = __builtin_shufflevector(c, d, 4, 5, 6, 7, 12, 13, 14, 15);
    }
  }
  for (; k < n; ++k)
    for (std::int64_t l = 0; l < 8; ++l) to[k * width + l] = from[l * stride + k];
}

}  // namespace erx
