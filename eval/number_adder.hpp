// Arithmetics that add as hardware does: the rounded sum, product and fused sum of numbers of a format, which are held in `Number`s.
//   InFloat k;   s = k.add(s, k.of(leaf));   s = add_run(k, leaves, n, 1, s);
#pragma once
#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>

#include "ops/planted.hpp"
#include "ops/round_bulk.hpp"

namespace erx {

struct InFloat {
  using Number = float;
  float of(double x) const { return static_cast<float>(x); }
  float add(float s, float x) const { return s + x; }
  float product(double x, double y) const { return static_cast<float>(x * y); }  // exact in float64
  float fused(float s, double x, double y) const { return std::fma(static_cast<float>(x), static_cast<float>(y), s); }
  bool keeps_specials() const { return true; }
  int spare_bits() const { return 0; }
  double least_power() const { return std::numeric_limits<float>::min(); }
  double greatest_power() const { return 0x1p127; }
};

struct InDouble {
  using Number = double;
  double of(double x) const { return x; }
  double add(double s, double x) const { return s + x; }
  double product(double x, double y) const { return x * y; }
  double fused(double s, double x, double y) const { return std::fma(x, y, s); }
  bool keeps_specials() const { return true; }
  int spare_bits() const { return 0; }
  double least_power() const { return std::numeric_limits<double>::min(); }
  double greatest_power() const { return 0x1p1023; }
};

/// Sums of two numbers of at most 25 bits round twice to the same (53 >= 2p + 2); a fused sum is rounded to odd first.
/// source: Figueroa, SIGNUM Newsl. 30 (1995) 21; Boldo & Melquiond, IEEE Trans. Comput. 57 (2008) 462
struct Rounded {
  using Number = double;
  BulkConstants constants;
  int spare;
  explicit Rounded(const Format& f) : constants(BulkRounding(f, {}).constants()), spare(53 - f.precision()) {}
  double of(double x) const { return x; }
  double add(double s, double x) const { return bulk::round_one<Mode::rne>(s + x, constants); }
  double product(double x, double y) const { return bulk::round_one<Mode::rne>(x * y, constants); }
  double fused(double s, double x, double y) const {
    const double p = x * y, t = s + p, v = t - s, lost = (s - (t - v)) + (p - v);
    const std::uint64_t bits = std::bit_cast<std::uint64_t>(t);
    const bool away = (lost > 0) == (t > 0), even = !(bits & 1);
    const std::uint64_t odd = away ? bits + 1 : bits - 1;
    const double to_odd = std::bit_cast<double>(((lost != 0) & even) ? odd : bits);
    return bulk::round_one<Mode::rne>(planted(Mistake::fused_rounds_twice) ? t : to_odd, constants);
  }
  /// Is no sum finite that has an infinite or NaN part, or one that overflowed?
  bool keeps_specials() const {
    return !std::isfinite(constants.overflow[0]) && !std::isfinite(constants.overflow[1]) && !std::isfinite(constants.infinite[0]) && !std::isfinite(constants.infinite[1]);
  }
  /// Low bits of a Number that are 0 in every normal value of the format.
  int spare_bits() const { return spare; }
  /// The smallest normal value, and the greatest power of two that is a value.
  double least_power() const { return constants.least_power; }
  double greatest_power() const { return std::ldexp(1.0, std::ilogb(constants.max_finite)); }
};

/// s and then x[0], x[step], .., leaf by leaf.
template <class K>
typename K::Number add_run(const K& k, const double* x, std::int64_t n, std::int64_t step, typename K::Number s) {
  if (step == 1)
    for (std::int64_t i = 0; i < n; ++i) s = k.add(s, k.of(x[i]));
  else
    for (std::int64_t i = 0; i < n; ++i) s = k.add(s, k.of(x[i * step]));
  return s;
}

}  // namespace erx
