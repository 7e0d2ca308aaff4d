#include "ops/rounding.hpp"

#include <bit>
#include <cmath>
#include <limits>

#include "ir/error.hpp"
#include "ir/ieee.hpp"
#include "ir/power.hpp"
#include "ops/planted.hpp"

namespace erx {
namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();
constexpr double nan_value = std::numeric_limits<double>::quiet_NaN();

/// |x| = (kept + half/2 + below/2 or less) * 2^quantum, `kept` an integer of at most the precision of the format.
struct Cut {
  std::uint64_t kept = 0;
  int quantum = 0;
  bool half = false;
  bool below = false;
  bool inexact() const { return half || below; }
  bool odd() const { return kept & 1; }
};

/// The range of exponents is taken as unbounded above.
Cut cut(const Chopped& x, const Format& f) {
  const int m = f.fraction_bits, emin = f.emin();
  Cut c;
  if (x.exponent >= emin) {
    c.quantum = x.exponent - m;
  } else {
    c.quantum = f.has_subnormals ? emin - m : emin;  // without subnormals the neighbours are 0 and 2^emin
  }
  const int drop = 63 - x.exponent + c.quantum;  // at least 11
  const std::uint64_t s = x.significand;
  if (drop > 64) {
    c.below = s != 0;
  } else if (drop == 64) {
    c.half = s >> 63;
    c.below = (s << 1) != 0;
  } else {
    c.kept = s >> drop;
    c.half = (s >> (drop - 1)) & 1;
    c.below = (s & ((std::uint64_t{1} << (drop - 1)) - 1)) != 0;
  }
  c.below = c.below || x.sticky;
  return c;
}

bool goes_away_from_zero(const Cut& c, bool negative, Mode mode) {
  switch (mode) {
    case Mode::rne: return c.half && (c.below || c.odd());
    case Mode::rna: return c.half;
    case Mode::rtz: return false;
    case Mode::rtp: return c.inexact() && !negative;
    case Mode::rtn: return c.inexact() && negative;
    case Mode::rto: return c.inexact() && !c.odd();
    case Mode::sr:
    case Mode::faithful: break;
  }
  throw Bug("a rounding with two results needs a direction");
}

bool is_nearest(Mode m) { return m == Mode::rne || m == Mode::rna; }

double magnitude(const Cut& c, std::uint64_t up) { return scaled(static_cast<double>(c.kept + up), c.quantum); }

bool is_zero(const Chopped& x) { return x.significand == 0; }

bool saturates(const Rounding& r) { return r.overflow == Overflow::sat || r.overflow == Overflow::sat_finite; }

bool overflows(const Chopped& x, const Cut& c, const Format& f, const Rounding& r) {
  if (is_zero(x)) return !f.has_zero && !saturates(r);
  const bool nearest = is_nearest(r.mode);
  if (x.negative && !f.has_sign) {
    if (!f.has_zero || !nearest) return true;
    return magnitude(c, goes_away_from_zero(c, true, r.mode)) > 0;
  }
  if (x.exponent < f.emin()) return false;
  if (planted(Mistake::closed_where_even) && r.mode == Mode::rne) return magnitude(c, c.half) > f.max_finite();
  if ((planted(Mistake::open_where_odd) && r.mode == Mode::rne) || (planted(Mistake::open_for_away) && r.mode == Mode::rna) ||
      (planted(Mistake::nearest_point_for_up) && (r.mode == Mode::rtp || r.mode == Mode::rtn)))
    return magnitude(c, c.half && c.below) > f.max_finite();
  if (nearest) return magnitude(c, goes_away_from_zero(c, x.negative, r.mode)) > f.max_finite();
  const double below = magnitude(c, 0);
  return below > f.max_finite() || (below == f.max_finite() && c.inexact());
}

/// The last finite value before overflow on this side.
double last_value(bool negative, const Format& f) { return negative ? f.lowest() : f.max_finite(); }

/// Does the mode lead past the largest finite value, where toward zero it would stay?
bool leaves_range(bool negative, Mode mode) {
  switch (mode) {
    case Mode::rne:
    case Mode::rna:
    case Mode::sr:
    case Mode::faithful: return true;
    case Mode::rtz:
    case Mode::rto: return false;
    case Mode::rtp: return !negative;
    case Mode::rtn: return negative;
  }
  throw Bug("unknown rounding mode");
}

}  // namespace

Chopped chop(double x) {
  if (!std::isfinite(x)) throw Bug("chop: not a finite number");
  const auto bits = std::bit_cast<std::uint64_t>(x);
  Chopped c;
  c.negative = bits >> 63;
  const std::uint64_t fraction = bits << 12;
  const int exponent = static_cast<int>((bits >> 52) & 0x7ff);
  if (exponent != 0) {
    c.significand = (std::uint64_t{1} << 63) | (fraction >> 1);
    c.exponent = exponent - 1023;
  } else if (fraction != 0) {
    const int zeros = std::countl_zero(fraction);
    c.significand = fraction << zeros;
    c.exponent = -1023 - zeros;
  }
  return c;
}

double overflow_result(bool negative, const Format& f, const Rounding& r) {
  if (saturates(r)) return last_value(negative, f);
  const bool has_infinity = f.has_infinity() && (!negative || f.has_sign);
  if (r.overflow == Overflow::by_format) {
    const bool stays = (!f.has_zero && negative) ? false : !leaves_range(negative, r.mode);
    if (stays || (!has_infinity && !f.has_nan())) return last_value(negative, f);
  }
  return has_infinity ? (negative ? -infinity : infinity) : nan_value;
}

bool overflows(const Chopped& x, const Format& f, const Rounding& r) { return overflows(x, cut(x, f), f, r); }

double finite_end(const Chopped& x, const Format& f) { return last_value(x.negative || is_zero(x), f); }

double round_infinity(bool negative, const Format& f, const Rounding& r) {
  if (f.has_infinity() && (!negative || f.has_sign) && r.overflow != Overflow::sat) return negative ? -infinity : infinity;
  if (r.overflow == Overflow::sat || (r.overflow != Overflow::nosat && !f.has_nan())) return last_value(negative, f);
  return nan_value;
}

double round_to(const Chopped& x, const Format& f, const Rounding& r) {
  const Cut c = cut(x, f);
  if (overflows(x, c, f, r)) return overflow_result(x.negative || is_zero(x), f, r);
  const bool up = goes_away_from_zero(c, x.negative, r.mode);
  if (!f.has_zero && (is_zero(x) || x.exponent < f.emin())) return f.min_positive();
  double result = magnitude(c, up);
  if constexpr (planted_build)  // an overflow that was not seen stays the largest value
    if (result > f.max_finite()) result = f.max_finite();
  if (r.flush == Flush::yes && f.has_zero && result < f.min_normal()) result = 0;
  return x.negative && (result != 0 || f.has_negative_zero()) ? -result : result;
}

double round_to(double finite, const Format& f, const Rounding& r) { return round_to(chop(finite), f, r); }

}  // namespace erx
