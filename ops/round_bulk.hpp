// Rounding of whole arrays of doubles into a format, branch-free so that compilers vectorise it; bit-identical to round_to.
// M = 1.5 * 2^(e + 53 - p), e the exponent of x, at least emin: then (x + M) - M is x rounded to nearest even at the
// precision of the format; other directions correct that by one quantum. Overflow, infinities and zeros by selects.
// Formats without a sign have loops of their own, with three more selects. Those that leave no room for M (p > 51 or emax near 1023), and
// other kinds, go element by element.
//   BulkRounding round(*find_format("bf16"), {});   round(in, out, n);   undecided = round.enclosures(below, above, lo, hi, n);
#pragma once
#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>

#include "ops/planted.hpp"
#include "ops/rounding.hpp"

namespace erx {

/// The numbers that the kernel needs of a format and rounding; tile code may inline `round_one` with them.
struct BulkConstants {
  double least_power;     // 2^emin
  double greatest_power;  // 2^(emax + 1)
  double magic;           // 1.5 * 2^(53 - p), times the power of x
  double quantum;         // 2^(1 - p), times the power of x
  double half_quantum;
  double max_finite;
  double flush_below;     // magnitudes below become 0
  double zero;            // added last: +0.0 turns -0 into +0, -0.0 changes nothing
  double overflow[2];     // of a positive, of a negative number
  double infinite[2];     // what +-infinity becomes
  // Of formats without a sign alone:
  double least;           // of a magnitude: the smallest value where there is no zero, else 0
  double least_argument;  // what is below overflows: negative numbers that do not round to 0, and 0 where there is none
};

namespace bulk {

[[gnu::always_inline]] inline double magnitude(double x) {
  return std::bit_cast<double>(std::bit_cast<std::uint64_t>(x) & 0x7fffffffffffffffu);
}

[[gnu::always_inline]] inline double choose(std::uint64_t mask, double yes, double no) {
  return std::bit_cast<double>((std::bit_cast<std::uint64_t>(yes) & mask) | (std::bit_cast<std::uint64_t>(no) & ~mask));
}
/// Written with masks: compilers keep a branch where a comparison of doubles guards a choice.
[[gnu::always_inline]] inline double select(bool condition, double yes, double no) {
  const std::uint64_t mask = -static_cast<std::uint64_t>(condition);
  return std::bit_cast<double>((std::bit_cast<std::uint64_t>(yes) & mask) | (std::bit_cast<std::uint64_t>(no) & ~mask));
}

/// A rounded magnitude, and whether it is past the largest value (of NaN it is). `negative`: what an overflow goes by.
struct Magnitude {
  double value;
  std::uint64_t over, negative;  // all bits or none
};

/// Of huge numbers M is infinite and the value NaN, which is past the largest value. `usual`: a format with sign, zero and subnormals.
template <Mode mode, bool usual = true>
[[gnu::always_inline]] inline Magnitude round_magnitude(double x, const BulkConstants& k) {
  const std::uint64_t bits = std::bit_cast<std::uint64_t>(x);
  const bool negative = bits >> 63;
  const double a = magnitude(x);
  double power = std::bit_cast<double>(bits & 0x7ff0000000000000u);  // 2^e, 0 for subnormals, infinity for the rest
  power = select(power < k.least_power, k.least_power, power);
  const double magic = power * k.magic, quantum = power * k.quantum;
  double r = (a + magic) - magic;
  if constexpr (mode == Mode::rna) {
    r += select(a - r == power * k.half_quantum, quantum, 0.0);
  } else if constexpr (mode == Mode::rtz) {
    r -= select(r > a, quantum, 0.0);
  } else if constexpr (mode == Mode::rtp || mode == Mode::rtn) {
    r += select((mode == Mode::rtn) == negative, select(r < a, quantum, 0.0), select(r > a, -quantum, 0.0));
  }
  constexpr bool nearest = mode == Mode::rne || mode == Mode::rna;
  std::uint64_t over = -static_cast<std::uint64_t>(planted(Mistake::no_clamp) ? (nearest ? r : a) > k.max_finite : !((nearest ? r : a) <= k.max_finite));
  std::uint64_t falls = -(bits >> 63);
  if constexpr (!usual) {
    falls = -static_cast<std::uint64_t>(x < k.least_argument);
    over |= falls;
    r = select(r < k.least, k.least, r);
  }
  return {r, over, falls};
}

/// x rounded: of infinities and NaN too.
template <Mode mode, bool usual = true>
[[gnu::always_inline]] inline double round_one(double x, const BulkConstants& k) {
  const std::uint64_t all_bits = std::bit_cast<std::uint64_t>(x), sign = all_bits & (usual ? 0x8000000000000000u : 0);
  const Magnitude m = round_magnitude<mode, usual>(x, k);
  double r = select(m.value < k.flush_below, 0.0, m.value);
  r = std::bit_cast<double>(std::bit_cast<std::uint64_t>(r) | (planted(Mistake::no_copysign) && r == 0 ? 0 : sign)) + k.zero;
  r = choose(m.over, choose(m.negative, k.overflow[1], k.overflow[0]), r);
  r = select(magnitude(x) == std::numeric_limits<double>::infinity(), select((all_bits >> 63) != 0, k.infinite[1], k.infinite[0]), r);
  return select(x != x, x, r);
}

/// round_one for what rounds to a finite value in the range; a zero has the sign of x. `bad` becomes 0, or ~0
/// where x is not finite or overflows: then the result has the sign of the overflow alone.
template <Mode mode, bool usual = true>
[[gnu::always_inline]] inline double round_plain(double x, const BulkConstants& k, std::uint64_t* bad) {
  const Magnitude m = round_magnitude<mode, usual>(x, k);
  *bad = m.over;
  const double r = std::bit_cast<double>((std::bit_cast<std::uint64_t>(m.value) & ~*bad) | (std::bit_cast<std::uint64_t>(1.0) & *bad));
  const std::uint64_t sign = usual ? std::bit_cast<std::uint64_t>(x) & 0x8000000000000000u : m.negative & 0x8000000000000000u;
  return std::bit_cast<double>(std::bit_cast<std::uint64_t>(r) | (planted(Mistake::no_copysign) && r == 0 ? 0 : sign)) + k.zero;
}

}  // namespace bulk

class BulkRounding {
 public:
  /// Modes rne rna rtz rtp rtn are fast; rto and formats without room are right, not fast. sr and faithful: Bug.
  BulkRounding(Format format, Rounding rounding);

  /// out[i] is in[i] rounded; NaN stays NaN, infinities by round_infinity. `in` may be `out`.
  void operator()(const double* in, double* out, std::size_t n) const;

  /// Rounds both ends of enclosures. returns: how many elements round two ways (zeros of different sign included).
  std::size_t enclosures(const double* below, const double* above, double* lo, double* hi, std::size_t n) const;

  /// A format with sign, zero and subnormals: `round_one` and `round_plain` are right.
  bool is_fast() const { return fast_; }
  /// A format without a sign, in loops: `round_one<mode, false>` and `round_plain<mode, false>` are.
  bool is_unusual() const { return unusual_; }
  const BulkConstants& constants() const { return constants_; }
  const Format& format() const { return format_; }
  const Rounding& rounding() const { return rounding_; }

 private:
  double one(double x) const;
  Format format_;
  Rounding rounding_;
  BulkConstants constants_{};
  bool fast_ = false, unusual_ = false;
};

}  // namespace erx
