#include "ops/tile_pack.hpp"

#include <bit>
#include <cstring>

#include "ir/error.hpp"
#include "ops/clones.hpp"
#include "ops/num/grid.hpp"

#if defined(ERX_HAS_CLONES)
#define ERX_HAS_TILE_PACK
// Intrinsics where a conversion would be split in two; the masked ones, because of warnings in the header of GCC 12.
#include <immintrin.h>
// On every function: vectors of a function without it are taken apart before it is inlined.
#define ERX_AVX512 gnu::target("avx512f,avx512bw,avx512dq,avx512vl,fma")
#endif

// 8 x 8 in registers: pairs of lines, then pairs of pairs. Line l of `in` becomes lane l of each of `out`. A macro, since each caller has to have
// it written out for its own instruction set.
#define ERX_TURN(Vector, in, out)                                                                                                      \
  Vector pairs[8];                                                                                                                     \
  _Pragma("GCC unroll 4") for (int l = 0; l < 8; l += 2) {                                                                             \
    pairs[l] = __builtin_shufflevector(in[l], in[l + 1], 0, 8, 2, 10, 4, 12, 6, 14); /* of even terms */                               \
    pairs[l + 1] = __builtin_shufflevector(in[l], in[l + 1], 1, 9, 3, 11, 5, 13, 7, 15);                                               \
  }                                                                                                                                    \
  _Pragma("GCC unroll 2") for (int odd = 0; odd < 2; ++odd) {                                                                          \
    const Vector a = __builtin_shufflevector(pairs[odd], pairs[2 + odd], 0, 1, 8, 9, 4, 5, 12, 13);                                    \
    const Vector b = __builtin_shufflevector(pairs[4 + odd], pairs[6 + odd], 0, 1, 8, 9, 4, 5, 12, 13);                                \
    const Vector c = __builtin_shufflevector(pairs[odd], pairs[2 + odd], 2, 3, 10, 11, 6, 7, 14, 15);                                  \
    const Vector d = __builtin_shufflevector(pairs[4 + odd], pairs[6 + odd], 2, 3, 10, 11, 6, 7, 14, 15);                              \
    out[odd] = __builtin_shufflevector(a, b, 0, 1, 2, 3, 8, 9, 10, 11);                                                                \
    out[2 + odd] = __builtin_shufflevector(c, d, 0, 1, 2, 3, 8, 9, 10, 11);                                                            \
    out[4 + odd] = __builtin_shufflevector(a, b, 4, 5, 6, 7, 12, 13, 14, 15);                                                          \
    out[6 + odd] = __builtin_shufflevector(c, d, 4, 5, 6, 7, 12, 13, 14, 15);                                                          \
  }

namespace erx {

#ifdef ERX_HAS_TILE_PACK
namespace {

using Eight [[gnu::vector_size(64)]] = double;
using Codes [[gnu::vector_size(64)]] = std::int64_t;

/// What a loop needs of a format of 16 bits.
struct Widening {
  explicit Widening(const Elements& e)
      : float_shift(23 - e.fraction_bits), shift(52 - e.fraction_bits), moved(static_cast<std::int64_t>(e.to_double) << 52), least_normal(std::int64_t{1} << e.fraction_bits), greatest((0x7fff >> e.fraction_bits) << e.fraction_bits) {}
  int float_shift, shift;
  std::int64_t moved, least_normal, greatest;  // `greatest`: magnitudes from here on are special
};

template <Elements::Kind kind>
[[ERX_AVX512, gnu::always_inline]] inline void widen(const std::byte* from, const Widening& w, Eight& to) {
  if constexpr (kind == Elements::Kind::f64) {
    std::memcpy(&to, from, sizeof to);
  } else if constexpr (kind == Elements::Kind::f32) {
    to = _mm512_maskz_cvtps_pd(0xff, _mm256_loadu_ps(reinterpret_cast<const float*>(from)));
  } else {
    const __m128i codes = _mm_loadu_si128(reinterpret_cast<const __m128i*>(from));
    if constexpr (kind == Elements::Kind::head_of_f32) {
      to = _mm512_maskz_cvtps_pd(0xff, _mm256_castsi256_ps(_mm256_sllv_epi32(_mm256_cvtepu16_epi32(codes), _mm256_set1_epi32(w.float_shift))));
    } else {  // as Tensor::decode has it
      const Codes code = reinterpret_cast<Codes>(_mm512_maskz_cvtepu16_epi64(0xff, codes)), magnitude = code & 0x7fff;
      const Codes special = (magnitude >= w.greatest) & 0x7ff0000000000000, sign = (code & 0x8000) << 48;
      const Codes subnormal = magnitude < w.least_normal, one = subnormal & (std::int64_t{1} << 52);
      const Eight value = reinterpret_cast<Eight>((magnitude << w.shift) + w.moved + one) - reinterpret_cast<Eight>((w.moved & subnormal) + one);
      to = reinterpret_cast<Eight>(reinterpret_cast<Codes>(value) | special | sign);
    }
  }
}

struct Measure {
  Eight square, grid;

  [[ERX_AVX512, gnu::always_inline]] void read(const double* squares, const double* grids) {
    std::memcpy(&square, squares, sizeof square);
    std::memcpy(&grid, grids, sizeof grid);
  }
  [[ERX_AVX512, gnu::always_inline]] void write(double* squares, double* grids) const {
    std::memcpy(squares, &square, sizeof square);
    std::memcpy(grids, &grid, sizeof grid);
  }
  /// lowest_bit of ops/num/grid.hpp, lane by lane.
  [[ERX_AVX512, gnu::always_inline]] void add(const Eight& x) {
    square += x * x;
    const Codes bits = reinterpret_cast<Codes>(x) & 0x7fffffffffffffff, has_fraction = (bits & 0xfffffffffffff) != 0;
    const Eight lowest = reinterpret_cast<Eight>(bits) - reinterpret_cast<Eight>(bits & (bits - 1) & has_fraction);
    grid = (bits != 0) & (lowest < grid) ? lowest : grid;
  }
};

[[ERX_AVX512, gnu::always_inline]] inline void turn(const Eight (&in)[8], Eight (&out)[8]) { ERX_TURN(Eight, in, out) }

template <Elements::Kind kind>
[[ERX_AVX512, gnu::always_inline]] inline void along(const Elements& e, const std::byte* const lines[8], std::int64_t n, double* to, std::int64_t width, double* squares, double* grids) {
  const Widening w(e);
  const std::int64_t size = e.bytes();
  Measure measure;
  measure.read(squares, grids);
  Eight in[8], out[8];
  std::int64_t k = 0;
  for (; k + 8 <= n; k += 8) {
#pragma GCC unroll 8
    for (int l = 0; l < 8; ++l) widen<kind>(lines[l] + k * size, w, in[l]);
    turn(in, out);
#pragma GCC unroll 8
    for (int t = 0; t < 8; ++t) {
      std::memcpy(to + (k + t) * width, &out[t], sizeof(Eight));
      measure.add(out[t]);
    }
  }
  if (k < n) {  // zeros, which measure nothing, stand for the terms that are missing
    for (int l = 0; l < 8; ++l) {
      std::byte rest[8 * sizeof(double)] = {};
      std::memcpy(rest, lines[l] + k * size, static_cast<std::size_t>((n - k) * size));
      widen<kind>(rest, w, in[l]);
    }
    turn(in, out);
    for (std::int64_t t = 0; t < n - k; ++t) {
      std::memcpy(to + (k + t) * width, &out[t], sizeof(Eight));
      measure.add(out[t]);
    }
  }
  measure.write(squares, grids);
}

template <Elements::Kind kind, int vectors>
[[ERX_AVX512, gnu::always_inline]] inline void across(const Elements& e, const std::byte* from, std::int64_t stride, std::int64_t terms, double* to, double* squares, double* grids) {
  const Widening w(e);
  const std::int64_t size = e.bytes();
  Measure measure[vectors];
#pragma GCC unroll 3
  for (int v = 0; v < vectors; ++v) measure[v].read(squares + 8 * v, grids + 8 * v);
  for (std::int64_t k = 0; k < terms; ++k, from += stride, to += 8 * vectors)
#pragma GCC unroll 3
    for (int v = 0; v < vectors; ++v) {
      Eight x;
      widen<kind>(from + 8 * v * size, w, x);
      std::memcpy(to + 8 * v, &x, sizeof x);
      measure[v].add(x);
    }
#pragma GCC unroll 3
  for (int v = 0; v < vectors; ++v) measure[v].write(squares + 8 * v, grids + 8 * v);
}

template <Elements::Kind kind>
[[ERX_AVX512, gnu::always_inline]] inline void across_width(const Elements& e, const std::byte* from, std::int64_t stride, std::int64_t terms, double* to, std::int64_t width, double* squares, double* grids) {
  if (width == 24) across<kind, 3>(e, from, stride, terms, to, squares, grids);
  else if (width == 16) across<kind, 2>(e, from, stride, terms, to, squares, grids);
  else across<kind, 1>(e, from, stride, terms, to, squares, grids);
}

[[ERX_AVX512]] void along_any(const Elements& e, const std::byte* const lines[8], std::int64_t n, double* to, std::int64_t width, double* squares, double* grids) {
  switch (e.kind) {
    case Elements::Kind::f64: return along<Elements::Kind::f64>(e, lines, n, to, width, squares, grids);
    case Elements::Kind::f32: return along<Elements::Kind::f32>(e, lines, n, to, width, squares, grids);
    case Elements::Kind::head_of_f32: return along<Elements::Kind::head_of_f32>(e, lines, n, to, width, squares, grids);
    case Elements::Kind::ieee16: return along<Elements::Kind::ieee16>(e, lines, n, to, width, squares, grids);
  }
}

[[ERX_AVX512]] void across_any(const Elements& e, const std::byte* from, std::int64_t stride, std::int64_t terms, double* to, std::int64_t width, double* squares, double* grids) {
  switch (e.kind) {
    case Elements::Kind::f64: return across_width<Elements::Kind::f64>(e, from, stride, terms, to, width, squares, grids);
    case Elements::Kind::f32: return across_width<Elements::Kind::f32>(e, from, stride, terms, to, width, squares, grids);
    case Elements::Kind::head_of_f32: return across_width<Elements::Kind::head_of_f32>(e, from, stride, terms, to, width, squares, grids);
    case Elements::Kind::ieee16: return across_width<Elements::Kind::ieee16>(e, from, stride, terms, to, width, squares, grids);
  }
}

}  // namespace

bool widens_and_packs() {
  static const bool has = chooses_avx512() && __builtin_cpu_supports("fma");
  return has;
}

#else

bool widens_and_packs() { return false; }

#endif

namespace {

using EightDoubles [[gnu::vector_size(64), gnu::aligned(8), gnu::may_alias]] = double;

ERX_VECTOR_CLONES void interleave(const std::byte* const lines[8], std::int64_t n, double* to, std::int64_t width) {
  std::int64_t k = 0;
  for (; k + 8 <= n; k += 8) {
    EightDoubles in[8], out[8];
#pragma GCC unroll 8
    for (int l = 0; l < 8; ++l) in[l] = *reinterpret_cast<const EightDoubles*>(lines[l] + k * 8);
    ERX_TURN(EightDoubles, in, out)
#pragma GCC unroll 8
    for (int t = 0; t < 8; ++t) *reinterpret_cast<EightDoubles*>(to + (k + t) * width) = out[t];
  }
  for (; k < n; ++k)
    for (std::int64_t l = 0; l < 8; ++l) std::memcpy(to + k * width + l, lines[l] + k * 8, sizeof(double));
}

/// Of eight lanes that are `width` apart from one term to the next.
ERX_VECTOR_CLONES void measure(const double* x, std::int64_t n, std::int64_t width, double* squares, double* grids) {
  double square[8], grid[8];
  for (int l = 0; l < 8; ++l) square[l] = squares[l], grid[l] = grids[l];
  for (std::int64_t k = 0; k < n; ++k, x += width)
    for (int l = 0; l < 8; ++l) {
      square[l] += x[l] * x[l];
      const double bit = lowest_bit(x[l]);
      grid[l] = bit < grid[l] ? bit : grid[l];
    }
  for (int l = 0; l < 8; ++l) squares[l] = square[l], grids[l] = grid[l];
}

}  // namespace

void pack_along(const Elements& e, const std::byte* const lines[8], std::int64_t n, double* to, std::int64_t width, double* squares, double* grids) {
#ifdef ERX_HAS_TILE_PACK
  if (widens_and_packs()) return along_any(e, lines, n, to, width, squares, grids);
#endif
  if (e.kind != Elements::Kind::f64) throw Bug("elements that are not doubles cannot be packed here");
  interleave(lines, n, to, width);
  measure(to, n, width, squares, grids);
}

void pack_across(const Elements& e, const std::byte* from, std::int64_t stride, std::int64_t terms, double* to, std::int64_t width, double* squares, double* grids) {
#ifdef ERX_HAS_TILE_PACK
  if (widens_and_packs()) return across_any(e, from, stride, terms, to, width, squares, grids);
#endif
  if (e.kind != Elements::Kind::f64) throw Bug("elements that are not doubles cannot be packed here");
  for (std::int64_t k = 0; k < terms; ++k) std::memcpy(to + k * width, from + k * stride, static_cast<std::size_t>(width) * sizeof(double));
  for (std::int64_t l = 0; l < width; l += 8) measure(to + l, terms, width, squares + l, grids + l);
}

}  // namespace erx
