// How the loops over lines of a recurrence round: `near` to nearest, `up` and `down` to the value within, of an end.
// Quick: on the bits of a double, right from the smallest normal of the format on. The loops watch the least magnitude that they round and
// do a block again in the format's own way (ToF32, ToFormat) where it lies below; both give the same values.
//   Quick q(*find_format("bf16"));   q.up(1.0001) == 1.0078125;   q.is_right_from()
#pragma once
#include <bit>
#include <cmath>
#include <cstdint>

#include "ops/planted.hpp"
#include "ops/round_bulk.hpp"

namespace erx::scan {

struct ToF32 {
  static constexpr bool few_bits = false, is_double = false;
  [[gnu::always_inline]] double near(double x) const { return static_cast<double>(static_cast<float>(x)); }
  /// The float beyond where the nearest one lies outside. (Of zeros -0 is never below a positive end, nor +0 above a negative one.)
  [[gnu::always_inline]] double up(double x) const {
    const float f = static_cast<float>(x);
    const std::int32_t bits = std::bit_cast<std::int32_t>(f), toward = 1 | (bits >> 31);
    return std::bit_cast<float>(bits + (toward & -static_cast<std::int32_t>(static_cast<double>(f) < x)));
  }
  [[gnu::always_inline]] double down(double x) const {
    const float f = static_cast<float>(x);
    const std::int32_t bits = std::bit_cast<std::int32_t>(f), toward = 1 | (bits >> 31);
    return std::bit_cast<float>(bits - (toward & -static_cast<std::int32_t>(static_cast<double>(f) > x)));
  }
};
struct ToF64 {
  static constexpr bool few_bits = false, is_double = true;
  double least = 0x1p-1022;
  [[gnu::always_inline]] double near(double x) const { return x; }
  [[gnu::always_inline]] double up(double x) const { return x; }
  [[gnu::always_inline]] double down(double x) const { return x; }
};
struct ToFormat {
  static constexpr bool few_bits = true, is_double = false;
  BulkConstants nearest, above, below;
  [[gnu::always_inline]] double near(double x) const { return bulk::round_one<Mode::rne>(x, nearest); }
  [[gnu::always_inline]] double up(double x) const { return bulk::round_one<Mode::rtp>(x, above); }
  [[gnu::always_inline]] double down(double x) const { return bulk::round_one<Mode::rtn>(x, below); }
};

/// A carry out of the significand makes the next power of two, as it should. Nothing overflows: who calls it knows what is too large.
template <bool few>
struct Quick {
  static constexpr bool few_bits = few, is_double = false;
  double least = 0;          // right for magnitudes from here on: the smallest normal
  std::int64_t rest = 0;     // the last bits of a double, which values do not have
  std::int64_t below_half = 0;
  int dropped = 0;           // how many

  Quick() = default;
  explicit Quick(const Format& f)
      : least(planted(Mistake::scan_subnormals_as_normal) ? 0 : f.min_normal()), rest((std::int64_t{1} << (53 - f.precision())) - 1), below_half(rest >> 1),
        dropped(53 - f.precision()) {}

  [[gnu::always_inline]] double near(double x) const {
    const std::int64_t bits = std::bit_cast<std::int64_t>(x);
    return std::bit_cast<double>((bits + below_half + ((bits >> dropped) & 1)) & ~rest);
  }
  [[gnu::always_inline]] double up(double x) const {
    const std::int64_t bits = std::bit_cast<std::int64_t>(x);
    return std::bit_cast<double>((bits + (rest & ~(bits >> 63))) & ~rest);
  }
  [[gnu::always_inline]] double down(double x) const {
    const std::int64_t bits = std::bit_cast<std::int64_t>(x);
    return std::bit_cast<double>((bits + (rest & (bits >> 63))) & ~rest);
  }
  /// Of what does not lie in the middle of two values.
  [[gnu::always_inline]] double near_unless_middle(double x) const {
    return std::bit_cast<double>((std::bit_cast<std::int64_t>(x) + below_half + 1) & ~rest);
  }
  /// How far the last bits are from those of the middle of two values; 0: the middle.
  [[gnu::always_inline]] std::int64_t from_middle(double x) const { return (std::bit_cast<std::int64_t>(x) ^ (below_half + 1)) & rest; }
};

/// Of magnitudes, by their bits: one instruction where a comparison of doubles may become several. A NaN is the larger one.
[[gnu::always_inline]] inline double larger_size(double a, double b) {
  const std::int64_t x = std::bit_cast<std::int64_t>(a), y = std::bit_cast<std::int64_t>(b);
  return std::bit_cast<double>(x > y ? x : y);
}
[[gnu::always_inline]] inline double smaller_size(double a, double b) {
  const std::int64_t x = std::bit_cast<std::int64_t>(a), y = std::bit_cast<std::int64_t>(b);
  return std::bit_cast<double>(x < y ? x : y);
}

[[gnu::always_inline]] inline double larger(double a, double b) { return a > b ? a : b; }
[[gnu::always_inline]] inline double smaller(double a, double b) { return a < b ? a : b; }

}  // namespace erx::scan
