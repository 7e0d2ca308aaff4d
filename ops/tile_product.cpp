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

// Iterations ahead at which operands are asked for: what lies in the second cache arrives in time.
constexpr std::int64_t ahead_a = 16, ahead_b = 16;

template <int vectors>
[[gnu::target("avx512f,fma")]] void tile512(const double* a, const double* b, std::int64_t depth, double* c, std::int64_t row_stride, bool add) {
  constexpr int rows = static_cast<int>(tile_rows), width = 8 * vectors;
  __m512d sum[rows][vectors];
#pragma GCC unroll 8
  for (int i = 0; i < rows; ++i)
#pragma GCC unroll 3
    for (int v = 0; v < vectors; ++v) {
      sum[i][v] = _mm512_setzero_pd();
      _mm_prefetch(reinterpret_cast<const char*>(c + i * row_stride + 8 * v), _MM_HINT_T0);
    }
  for (std::int64_t k = 0; k < depth; ++k, a += rows, b += width) {
    __m512d y[vectors];
    _mm_prefetch(reinterpret_cast<const char*>(a + rows * ahead_a), _MM_HINT_T0);
#pragma GCC unroll 3
    for (int v = 0; v < vectors; ++v) {
      y[v] = _mm512_loadu_pd(b + 8 * v);
      _mm_prefetch(reinterpret_cast<const char*>(b + width * ahead_b + 8 * v), _MM_HINT_T0);
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

void product512(const double* a, const double* b, std::int64_t depth, std::int64_t columns, double* c, std::int64_t row_stride, bool add) {
  if (columns == 24) tile512<3>(a, b, depth, c, row_stride, add);
  else if (columns == 16) tile512<2>(a, b, depth, c, row_stride, add);
  else tile512<1>(a, b, depth, c, row_stride, add);
}

/// Half of the rows, and `vectors` of four columns of a tile whose columns lie `width` apart.
template <int vectors>
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

void product256(const double* a, const double* b, std::int64_t depth, std::int64_t columns, double* c, std::int64_t row_stride, bool add) {
  for (std::int64_t j = 0; j < columns;) {
    const std::int64_t left = columns - j, n = left == 24 || left == 12 ? 12 : 8;
    for (std::int64_t i = 0; i < tile_rows; i += 4) {
      double* const to = c + i * row_stride + j;
      if (n == 12) tile256<3>(a + i, b + j, depth, columns, to, row_stride, add);
      else tile256<2>(a + i, b + j, depth, columns, to, row_stride, add);
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

TileProduct tile_product() {
  static const bool wide = has_avx512(), narrow = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
  if (wide) return product512;
  if (narrow) return product256;
  return nullptr;
}

#else

TileProduct tile_product() { return nullptr; }

#endif

}  // namespace erx
