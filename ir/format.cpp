// Values of a format are ordered like the codes of their magnitudes, so neighbours, counts and distances are integer
// arithmetic on ranks: 0 for zero, 1 for the smallest positive value, and so on; negative ranks for negative values.
#include "ir/format.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "ir/error.hpp"
#include "ir/ieee.hpp"
#include "ir/power.hpp"

namespace erx {
namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();
constexpr double nan_value = std::numeric_limits<double>::quiet_NaN();
using Code = std::uint64_t;

Code one_shifted(int bits) { return Code{1} << bits; }

/// inf=ieee and nan=ieee keep the largest exponent for special values.
bool top_exponent_is_special(const Format& f) { return f.infinities == Infinities::ieee || f.nans == Nans::ieee; }

Code magnitude_bits(const Format& f) { return one_shifted(f.exponent_bits + f.fraction_bits) - 1; }

Code largest_finite_code(const Format& f) {
  if (top_exponent_is_special(f)) return magnitude_bits(f) - one_shifted(f.fraction_bits);
  return magnitude_bits(f) - (f.nans == Nans::top ? 1 : 0);
}

/// Codes of exponent field 0 stand for zero where there are no subnormals but a zero.
bool zero_exponent_is_zero(const Format& f) { return f.has_zero && !f.has_subnormals; }

double magnitude_of(const Format& f, Code code) {
  const int m = f.fraction_bits;
  const auto exponent = static_cast<int>(code >> m);
  const Code fraction = code & (one_shifted(m) - 1);
  if (exponent == 0 && f.has_zero) {
    return f.has_subnormals ? scaled(static_cast<double>(fraction), f.emin() - m) : 0.0;
  }
  return scaled(static_cast<double>(one_shifted(m) + fraction), exponent - f.bias - m);
}

/// Code of the largest magnitude of `f` that is <= a. `a` >= min_positive(), or >= 0 where `f` has a zero.
Code floor_code(const Format& f, double a) {
  const int m = f.fraction_bits;
  if (a >= f.max_finite()) return largest_finite_code(f);
  if (a < f.min_normal()) return f.has_subnormals && m > 0 ? static_cast<Code>(scaled(a, m - f.emin())) : 0;
  const int exponent = exponent_of(a);
  const auto significand = static_cast<Code>(scaled(a, m - exponent));  // exact below 2^53, cut to an integer
  return (static_cast<Code>(exponent + f.bias) << m) + (significand - one_shifted(m));
}

/// Rank of a magnitude: its place among the non-negative values, zero being 0.
std::int64_t rank_of_code(const Format& f, Code code) {
  if (!f.has_zero) return static_cast<std::int64_t>(code) + 1;
  if (zero_exponent_is_zero(f)) {
    const auto below = static_cast<std::int64_t>(one_shifted(f.fraction_bits));
    return std::max<std::int64_t>(0, static_cast<std::int64_t>(code) - below + 1);
  }
  return static_cast<std::int64_t>(code);
}

Code code_of_rank(const Format& f, std::int64_t rank) {
  if (!f.has_zero) return static_cast<Code>(rank - 1);
  if (zero_exponent_is_zero(f) && rank > 0) return static_cast<Code>(rank - 1) + one_shifted(f.fraction_bits);
  return static_cast<Code>(rank);
}

double value_of_rank(const Format& f, std::int64_t rank) {
  const double a = rank == 0 ? 0.0 : magnitude_of(f, code_of_rank(f, rank < 0 ? -rank : rank));
  return rank < 0 ? -a : a;
}

std::int64_t largest_rank(const Format& f) { return rank_of_code(f, largest_finite_code(f)); }
std::int64_t smallest_rank(const Format& f) { return f.has_sign ? -largest_rank(f) : f.has_zero ? 0 : 1; }

/// Rank of the largest magnitude <= a, 0 for a below every positive one (zero exists or not).
std::int64_t floor_magnitude_rank(const Format& f, double a) {
  return a < f.min_positive() ? 0 : rank_of_code(f, floor_code(f, a));
}

/// Largest rank with value <= x, not limited to the values that exist below the smallest one.
std::int64_t floor_rank(const Format& f, double x) {
  const double a = std::fabs(x);
  const std::int64_t below = floor_magnitude_rank(f, a);
  if (x >= 0) return below;
  if (!f.has_sign) return f.has_zero ? -1 : 0;
  if (a > f.max_finite()) return -below - 1;
  return value_of_rank(f, below) == a ? -below : -below - 1;
}

std::int64_t ceil_rank(const Format& f, double x) {
  const std::int64_t below = floor_rank(f, x);
  const bool exists = below >= smallest_rank(f) && below <= largest_rank(f);
  return exists && value_of_rank(f, below) == x ? below : below + 1;
}

std::string parameters_text(const Format& f) {
  std::string s = "float<e=" + std::to_string(f.exponent_bits) + ", m=" + std::to_string(f.fraction_bits);
  if (f.bias != (1 << (f.exponent_bits - 1)) - 1) s += ", bias=" + std::to_string(f.bias);
  if (!f.has_sign) s += ", sign=no";
  if (f.infinities == Infinities::none) s += ", inf=none";
  if (f.nans != Nans::ieee) s += f.nans == Nans::top ? ", nan=top" : f.nans == Nans::negzero ? ", nan=negzero" : ", nan=none";
  if (!f.has_subnormals) s += ", subnormals=no";
  return s + ">";
}

}  // namespace

int Format::emin() const { return has_zero ? 1 - bias : -bias; }

int Format::emax() const { return static_cast<int>(largest_finite_code(*this) >> fraction_bits) - bias; }

double Format::min_normal() const { return scaled(1.0, emin()); }

double Format::min_positive() const { return has_subnormals ? scaled(1.0, emin() - fraction_bits) : min_normal(); }

double Format::max_finite() const { return magnitude_of(*this, largest_finite_code(*this)); }

double Format::lowest() const { return has_sign ? -max_finite() : has_zero ? 0.0 : min_positive(); }

double Format::unit_roundoff() const { return scaled(1.0, -precision()); }

bool Format::operator==(const Format& o) const {
  return exponent_bits == o.exponent_bits && fraction_bits == o.fraction_bits && bias == o.bias && has_sign == o.has_sign &&
         has_subnormals == o.has_subnormals && has_zero == o.has_zero && infinities == o.infinities && nans == o.nans;
}

Format make_format(const FormatParameters& p) {
  auto wrong = [](const std::string& what) { throw Error(what); };
  if (p.e < 1 || p.e > 11) wrong("float<e=" + std::to_string(p.e) + ">: e, the number of exponent bits, is 1 to 11");
  if (p.m < 0 || p.m > 52) wrong("float<m=" + std::to_string(p.m) + ">: m, the number of fraction bits, is 0 to 52");
  Format f;
  f.exponent_bits = p.e;
  f.fraction_bits = p.m;
  f.bias = p.bias.value_or((1 << (p.e - 1)) - 1);
  f.has_sign = p.sign;
  f.has_subnormals = p.subnormals;
  f.infinities = p.inf;
  f.nans = p.nan;
  f.name = parameters_text(f);
  f.source = "written in the spec";
  if (f.bias < -4096 || f.bias > 4096) wrong(f.name + ": bias is -4096 to 4096");
  if (p.nan == Nans::negzero && !p.sign) wrong(f.name + ": nan=negzero takes the code of -0, which needs sign=yes");
  if (p.m == 0 && p.inf == Infinities::ieee && (p.nan == Nans::ieee || p.nan == Nans::top)) {
    wrong(f.name + ": with m=0 infinity and NaN would share one code; write inf=none, nan=none or nan=negzero");
  }
  if (largest_finite_code(f) < one_shifted(p.m)) {
    wrong(f.name + ": no code is left for a normal number; raise e, or write inf=none and nan=negzero or nan=none");
  }
  if (f.emax() > 1023) {
    wrong(f.name + ": its largest values, 2^" + std::to_string(f.emax()) + ", exceed float64; every value has to be a float64 (raise bias)");
  }
  if (f.emin() - p.m < -1074) {
    wrong(f.name + ": its smallest values, multiples of 2^" + std::to_string(f.emin() - p.m) +
          ", are below float64; every value has to be a float64 (lower bias)");
  }
  for (const Format& named : all_formats())
    if (named == f) return named;
  return f;
}

bool contains(const Format& outer, const Format& inner) {
  if (outer == inner) return true;
  if ((inner.has_sign && !outer.has_sign) || (inner.has_zero && !outer.has_zero)) return false;
  if ((inner.has_infinity() && !outer.has_infinity()) || (inner.has_nan() && !outer.has_nan()) ||
      (inner.has_negative_zero() && !outer.has_negative_zero())) {
    return false;
  }
  if (inner.max_finite() > outer.max_finite()) return false;
  // Binade by binade: the significand bits that inner uses at this exponent against those that outer has there.
  const int lowest = inner.has_subnormals ? inner.emin() - inner.fraction_bits : inner.emin();
  for (int e = lowest; e <= inner.emax(); ++e) {
    const int lost = std::max(0, inner.emin() - e);
    const bool only_power = inner.max_finite() == scaled(1.0, e);  // the top binade may hold nothing else
    const int needed = only_power ? 1 : inner.precision() - lost;
    const int there = e >= outer.emin() ? outer.precision() : outer.has_subnormals ? outer.precision() - (outer.emin() - e) : 0;
    if (there < needed) return false;
  }
  return true;
}

bool is_value(const Format& f, double x) {
  if (!std::isfinite(x)) return false;
  if (x == 0) return f.has_zero;
  const double a = std::fabs(x);
  if ((x < 0 && !f.has_sign) || a > f.max_finite() || a < f.min_positive()) return false;
  return magnitude_of(f, floor_code(f, a)) == a;
}

double decode(const Format& f, std::uint64_t bits) {
  const Code code = bits & magnitude_bits(f);
  const bool negative = f.has_sign && (bits & one_shifted(f.width() - 1));
  if (negative && code == 0 && f.nans == Nans::negzero) return nan_value;
  if (code > largest_finite_code(f)) {
    const Code infinite = magnitude_bits(f) - (one_shifted(f.fraction_bits) - 1);
    if (f.has_infinity() && code == infinite) return negative ? -infinity : infinity;
    return nan_value;  // a NaN, or a code without a meaning
  }
  const double a = magnitude_of(f, code);
  if (a == 0 && f.nans == Nans::negzero) return 0.0;
  return negative ? -a : a;
}

std::uint64_t encode(const Format& f, double value) {
  const Code sign = f.has_sign ? one_shifted(f.width() - 1) : 0;
  const Code top = magnitude_bits(f) - (one_shifted(f.fraction_bits) - 1);  // exponent all ones, fraction 0
  if (std::isnan(value) && f.has_nan()) {
    if (f.nans == Nans::negzero) return sign;
    if (f.nans == Nans::top) return magnitude_bits(f);
    return top + (f.fraction_bits > 0 ? one_shifted(f.fraction_bits - 1) : 0);  // quiet
  }
  if (std::isinf(value) && f.has_infinity() && (value > 0 || f.has_sign)) return top | (value < 0 ? sign : 0);
  if (!is_value(f, value)) throw Bug("encode: not a value of " + f.name);
  const bool negative = std::signbit(value) && (value != 0 || f.has_negative_zero());
  return floor_code(f, std::fabs(value)) | (negative ? sign : 0);
}

double next_up(const Format& f, double x) {
  if (std::isnan(x) || x == infinity || x >= f.max_finite()) return std::isnan(x) ? x : infinity;
  if (x < f.lowest()) return f.lowest();
  return value_of_rank(f, floor_rank(f, x) + 1);
}

double next_down(const Format& f, double x) {
  if (std::isnan(x) || x == -infinity || x <= f.lowest()) return std::isnan(x) ? x : -infinity;
  if (x > f.max_finite()) return f.max_finite();
  return value_of_rank(f, ceil_rank(f, x) - 1);
}

double steps_away(const Format& f, double value, std::int64_t steps) {
  if (steps == 0 || std::isnan(value)) return value;
  if (std::isinf(value)) return (value > 0) == (steps > 0) ? value : steps_away(f, value > 0 ? f.max_finite() : f.lowest(), steps - (steps > 0 ? 1 : -1));
  const std::int64_t from = floor_rank(f, value), first = smallest_rank(f), last = largest_rank(f);
  // ranks have fewer than 63 bits, so this difference cannot overflow
  if (steps > 0 ? last - from < steps : from - first < -steps) return steps > 0 ? infinity : -infinity;
  return value_of_rank(f, from + steps);
}

double count_values(const Format& f, double lo, double hi) {
  if (!(lo <= hi)) return 0;
  const std::int64_t first = lo <= f.lowest() ? smallest_rank(f) : lo > f.max_finite() ? largest_rank(f) + 1 : ceil_rank(f, lo);
  const std::int64_t last = hi >= f.max_finite() ? largest_rank(f) : hi < f.lowest() ? smallest_rank(f) - 1 : floor_rank(f, hi);
  if (last < first) return 0;
  const std::uint64_t between = static_cast<std::uint64_t>(last) - static_cast<std::uint64_t>(first);
  return static_cast<double>(between) + 1;
}

double steps_between(const Format& f, double a, double b) {
  if (std::isnan(a) || std::isnan(b)) return nan_value;
  if (a > b) return -steps_between(f, b, a);
  if (a == b) return 0;
  if (std::isinf(a) || std::isinf(b)) return infinity;
  auto limited = [&](std::int64_t r) { return std::clamp(r, smallest_rank(f), largest_rank(f)); };
  const std::int64_t from = limited(ceil_rank(f, a)), to = limited(floor_rank(f, b));
  if (to <= from) return 0;
  return static_cast<double>(static_cast<std::uint64_t>(to) - static_cast<std::uint64_t>(from));
}

}  // namespace erx
