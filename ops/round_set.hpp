// Rounding a set into a format, and widening it by what an unspecified implementation may do.
// A rounding is monotone where it does not overflow: an end inside the range is rounded, an end past it becomes the largest finite
// value and adds what overflow gives. An enclosure whose two sides round differently stays one, between the two rounded values.
// bound: round_set of a point is one value or undecided; source: IEEE 754-2019 4.3, 7.4; 2-numerics.md sections 1, 8, 9.
//   round_set(Set<F64>::point(F64::exact(1.00390625)), *find_format("bf16"), {}, {})   {1.0}
#pragma once
#include <cmath>
#include <limits>
#include <optional>

#include "ir/format.hpp"
#include "ops/planted.hpp"
#include "ops/set_rules.hpp"

namespace erx {

/// One real, rounded: the finite values it may become, and what overflow gives.
struct Rounded {
  double low = 0, high = 0;
  bool over = false;         // surely
  bool positive = false;     // the side of the overflow
  std::uint8_t special = 0;  // of the overflow; 0 where that saturates
};

Rounded round_real(const Chopped& x, const Format&, const Rounding&);

/// A real whose lower (upper) bound is 0 but which is not 0: beyond every format's smallest value.
inline Chopped next_to_zero(Chopped x, bool negative) {
  if (x.significand == 0) x = {negative, std::uint64_t{1} << 63, -(1 << 20), true};
  return x;
}

template <class R>
Set<R> round_set(const Set<R>& x, const Format& format, const Rounding& rounding, Context c) {
  const Parts p = parts(x);
  SetBuilder<R> r;
  r.flag(x.flags & (has_nan | undecided));
  for (bool negative : {false, true}) {
    if (!(negative ? p.ninf : p.pinf)) continue;
    const double v = round_infinity(negative, format, rounding);
    if (std::isfinite(v)) {
      r.real(R::exact(v, c));
      r.zeros(v == 0, false);  // the lowest value of an unsigned format
    } else
      r.flag(std::isnan(v) ? has_nan : v > 0 ? has_pinf : has_ninf);
  }
  const bool single = x.is_point && !rounds_freely(rounding);
  if (x.has_reals()) {
    Chopped sides[4] = {chop_lower(x.lo), chop_upper(x.lo), chop_lower(x.hi), chop_upper(x.hi)};
    if (!p.zero()) {  // a bound of 0 is not reached
      const bool point = x.is_point;
      if (!(point && is_exact(x.lo))) {
        sides[0] = next_to_zero(sides[0], false);
        sides[1] = next_to_zero(sides[1], !is_exact(x.lo));
        sides[2] = next_to_zero(sides[2], is_exact(x.hi));
        sides[3] = next_to_zero(sides[3], true);
      }
    }
    Rounded ends[4];
    bool all_over = true;
    std::uint8_t special = 0;
    for (int k = 0; k < 4; ++k) {
      ends[k] = k > 1 && x.is_point ? ends[k - 2] : k % 2 == 1 && sides[k] == sides[k - 1] ? ends[k - 1] : round_real(sides[k], format, rounding);
      special |= ends[k].special;
      all_over = all_over && ends[k].over && ends[k].special && ends[k].positive == ends[0].positive;
    }
    r.flag(special);
    // whether an end overflows is not told by its enclosure
    for (int k : {0, 2})
      r.flag(undecided, ends[k].special != ends[k + 1].special || (ends[k].special && ends[k].positive != ends[k + 1].positive));
    if (!all_over && !(planted(Mistake::ends_only) && ends[0].special && ends[3].special)) {
      const R lo = R::between(ends[0].low, ends[1].low, c);
      const R hi = R::between(ends[2].high, ends[3].high, c);
      r.reals(lo, hi, single);
      const bool minus = p.nz || p.neg, plus = p.pz || p.pos;
      const bool signs = format.has_negative_zero();
      r.zeros(plus || (minus && !signs), minus && signs);
    }
  }
  Set<R> rounded = r.finish(x.is_point && !rounds_freely(rounding));
  // 0 of either sign, from a single value that is not known to be on one side of 0
  if (single && p.neg && p.pos && rounded.has_reals() && (rounded.flags & any_zero) == any_zero) rounded.flags |= undecided;
  return rounded;
}

/// The unit in the last place of the format at |x|, a power of two in its upper binade; at least the smallest value.
template <class R>
R ulp_of(const Format& format, const R& x, Context c) {
  const R magnitude = abs_of(x);
  const auto unit = [&](double m) {
    if (!(m <= f64::largest)) return f64::infinity;
    if (planted(Mistake::ulp_below_power_of_two)) m = std::nextafter(m, 0);
    const bool floored = !planted(Mistake::ulp_without_eta);
    const int e = m == 0 ? format.emin() : std::max(std::ilogb(m), floored ? format.emin() : -1000);
    return std::fmax(std::ldexp(1.0, e - format.fraction_bits), floored ? format.min_positive() : 0);
  };
  return R::between(unit(lower(magnitude)), unit(upper(magnitude)), c);
}

/// Of a result that does not lie at the ends of its enclosure (Op::open_ends): where the outer end is a power of two, a double a little below it, in
/// the binade where the result is. (tanh(26) is in [1 - 2^-53, 1], and less than 1: the doubt would need a thousand bits to end.)
template <class R>
R inside(const R& x, Context c) {
  if (is_exact(x) && !planted(Mistake::exact_result_open)) return x;
  const auto ends_binade = [](double outer, double inner) {
    return std::fabs(outer) >= 0x1p-900 && std::fabs(outer) <= f64::largest && f64::is_power_of_two(outer) && (outer != inner || planted(Mistake::exact_result_open));
  };
  const double d = lower(x), u = upper(x);
  if (u > 0 && ends_binade(u, d)) return min_of(x, R::exact(u * (1 - 0x1p-50), c));
  if (d < 0 && ends_binade(d, u)) return max_of(x, R::exact(d * (1 - 0x1p-50), c));
  return x;
}

/// The larger magnitude of a set, for the unit in its last place.
template <class R>
R largest_magnitude(const Set<R>& x, const Attributes& a, Context c) {
  const bool open = a.open_ends && !(x.flags & undecided);
  const R least = abs_of(open ? inside(x.lo, c) : x.lo), most = x.is_point ? least : abs_of(open ? inside(x.hi, c) : x.hi);
  return planted(Mistake::ulp_of_smaller_end) ? min_of(least, most) : max_of(least, most);
}

/// x moved by `count` ulps of its own magnitude, that may be past the doubles: an ulp is at most 2^(1-p) |x|, so what is left is more than half of it.
/// Empty where x is no such number.
template <class R>
std::optional<R> moved_far_out(const Format& format, const R& x, double count, bool up, Context c) {
  const double share = std::ldexp(count, 1 - format.precision());
  if (upper(abs_of(x)) <= f64::largest || !(lower(abs_of(x)) >= 0x1p1000) || !(share <= 0.5) || format.min_positive() > 1) return {};
  return either(x, mul(x, R::exact(up == (lower(x) > 0) ? 1 + share : 1 - share, c)));
}

/// What an implementation may return in place of the exact result x of one operation: see the row `within`.
template <class R>
Set<R> widen(const Set<R>& x, const Attributes& attributes, Context c) {
  const Format& format = *attributes.format;
  const Parts p = parts(x);
  SetBuilder<R> r;
  r.flag(x.flags & (has_nan | any_infinity | undecided));
  if (!x.has_reals()) return r.finish(false);
  const auto is_kept = [&](const R& end) {  // every rounding to nearest at this precision or better keeps a value of the format
    return attributes.ulp == 0 && is_exact(end) && lower(end) == upper(end) && is_value(format, lower(end));
  };
  // |x| u + eta / 2; or ulps of the largest magnitude
  const auto radius = [&](const R& end) -> R {
    if (attributes.ulp == 0) {
      const double unit = format.unit_roundoff() * (planted(Mistake::half_unit_in_within) ? 0.5 : 1);
      return add(mul(abs_of(end), R::exact(unit, c)), mul(R::exact(format.min_positive(), c), R::exact(planted(Mistake::no_eta_in_within) ? 0 : 0.5, c)));
    }
    const R largest = largest_magnitude(x, attributes, c);
    if (!(upper(largest) <= std::numeric_limits<double>::max())) return R::between(0, f64::infinity, c);
    return mul(ulp_of(format, largest, c), R::exact(attributes.ulp, c));
  };
  const auto moved = [&](const R& end, bool up) -> R {
    if (is_kept(end)) return end;
    if (attributes.ulp != 0 && x.is_point)
      if (const auto far = moved_far_out(format, end, attributes.ulp, up, c)) return *far;
    return up ? add(end, radius(end)) : sub(end, radius(end));
  };
  R lo = moved(x.lo, false), hi = moved(x.hi, true);
  // A wider format may have no overflow where F has one: the finite values stay
  const Rounding nearest{};
  for (const Rounded& end : {round_real(chop_lower(lo), format, nearest), round_real(chop_upper(hi), format, nearest)}) r.flag(end.special);
  bool flushed = false;
  if (attributes.rounding.flush != Flush::no && !planted(Mistake::kept_subnormals_in_within)) {
    const double nu = format.min_normal();
    flushed = lower(lo) < nu && upper(hi) > -nu;
  }
  r.reals(std::move(lo), std::move(hi), false);
  if (flushed) r.real(R::exact(0, c));
  const bool minus = p.nz || p.neg, plus = p.pz || p.pos;
  r.zeros(plus || flushed || attributes.ulp != 0, minus || flushed || attributes.ulp != 0);
  return r.finish(false);
}

}  // namespace erx
