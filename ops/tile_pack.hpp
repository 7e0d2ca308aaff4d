// Lines of a matrix, eight side by side, in the order in which a tile reads them: made doubles, measured and moved in one go, so memory is
// read once. What is measured is the sum of the squares of a line and its lowest set bit (eval/norms.hpp says what for).
//   pack_along({Elements::Kind::f32}, lines, n, to, width, squares, grids);
#pragma once
#include <cstddef>
#include <cstdint>

namespace erx {

/// How elements are stored that become doubles several at a time.
struct Elements {
  enum class Kind {
    f64,
    f32,
    head_of_f32,  // 16 bits: the leading ones of those of a float32
    ieee16,       // 16 bits of another format with infinities and NaN at the greatest exponent
  };
  Kind kind = Kind::f64;
  int fraction_bits = 0, to_double = 0;  // of formats of 16 bits: what is added to an exponent to make it a double's

  std::int64_t bytes() const { return kind == Kind::f64 ? 8 : kind == Kind::f32 ? 4 : 2; }
};

/// Are elements of every kind packed here (AVX-512)? Elsewhere only doubles are.
bool widens_and_packs();

/// Of eight lines, whose terms lie side by side from lines[l] on: to[k * width + l] is term k of line l, for k < n. squares[l] and
/// grids[l]: what is measured is added to them.
void pack_along(const Elements&, const std::byte* const lines[8], std::int64_t n, double* to, std::int64_t width, double* squares, double* grids);

/// Of `width` lines side by side (8, 16 or 24), `terms` terms that are `stride` bytes apart: to[k * width + l] likewise.
void pack_across(const Elements&, const std::byte* from, std::int64_t stride, std::int64_t terms, double* to, std::int64_t width, double* squares, double* grids);

}  // namespace erx
