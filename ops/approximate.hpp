// What a function known only by its error may return: the exact value, widened by the bounds, its ends rounded once into the format.
// bound: f in [l, h]: rel = r: min(l - r|l|, h - r|h|) .. max(l + r|l|, h + r|h|); abs = a: l - a .. h + a; ulp = k: k units of the
// largest magnitude (a power of two counts in its upper binade; at least the smallest value); several add up. Then steps = k: k values
// further, beyond the largest finite value comes overflow. lo and hi cut the result. Infinities and NaN of f stay.
// source: 2-numerics.md section 8.
//   approximate<F64>({exp(1)}, {format f32, ulp 2}, {})   the values of f32 within 2 ulp of e
#pragma once
#include <algorithm>
#include <optional>
#include <span>

#include "ops/num/ends.hpp"
#include "ops/planted.hpp"
#include "ops/round_set.hpp"

namespace erx {

enum class Bound { rel, abs, lo, hi };

/// The operand that holds a bound, or null.
template <class R>
const Set<R>* bound_of(std::span<const Set<R>> x, const Attributes& a, Bound b) {
  std::size_t at = 1;
  for (int k = 0; k < static_cast<int>(b); ++k) at += a.bounds >> k & 1;
  return a.bounds >> static_cast<int>(b) & 1 ? &x[at] : nullptr;
}

/// A number of ulps as written: decimals are pushed up to the next double.
inline double at_least(double written) { return written * 0x1p20 == std::trunc(written * 0x1p20) ? written : f64::next_above(written); }

/// Largest magnitude that a bound may have; nothing if it may be infinite or NaN.
template <class R>
std::optional<R> magnitude_of(const Set<R>& bound) {
  if (!bound.has_reals() || bound.may_be(has_nan | any_infinity)) return {};
  return max_of(abs_of(bound.lo), abs_of(bound.hi));
}

/// May `inside` stand for a result where it is moved by ulps and then rounded? The result v lies between inside(v) and a power of two 2^k, 2^(k-50)
/// apart, in a format of precision p an ulp is 2^(k-p) or more, `ulp` a multiple of 2^-20, and at most a quarter of v: so v + ulp and inside(v) + ulp are on
/// the same side of each value of the format and of each middle between two, all of them multiples of 2^(k-p-2).
inline bool stands_for(const Attributes& a, std::uint8_t flags) {
  const int p = a.format->precision();
  return a.open_ends && !(flags & undecided) && a.bounds == 0 && p <= 28 && a.ulp == at_least(a.ulp) && a.ulp <= std::ldexp(1, p - 3);
}

/// An end moved by a number of values of the format, overflow being one place past the largest; `over`: what that gives.
struct Stepped {
  double value;
  bool over = false;
  std::uint8_t special = 0;
};

inline Stepped step_from(const Rounded& r, double value, std::int64_t by, const Format& format, const Rounding& rounding) {
  double at = r.over && r.special ? (r.positive ? f64::infinity : -f64::infinity) : value;
  if (std::isinf(at) && by != 0 && (at > 0) != (by > 0)) {  // back from overflow
    at = at > 0 ? format.max_finite() : format.lowest();
    by += by > 0 ? -1 : 1;
  }
  const double from = at;
  at = steps_away(format, at, by);
  if (planted(Mistake::overflow_no_step) && std::isfinite(from) && std::isinf(at)) at = at > 0 ? format.max_finite() : format.lowest();
  if (planted(Mistake::own_negative_zero) && from * at < 0) at = steps_away(format, at, from > 0 ? 1 : -1);
  if (!std::isinf(at)) return {at};
  const double gives = overflow_result(at < 0, format, rounding);
  const double end = at < 0 ? format.lowest() : format.max_finite();
  if (std::isfinite(gives)) return {gives};
  return {end, true, std::isnan(gives) ? has_nan : gives > 0 ? has_pinf : has_ninf};
}

/// lo= and hi= of the spec, where they are numbers: nothing lies beyond them.
template <class R>
struct Cut {
  std::optional<R> least, most;

  Cut(std::span<const Set<R>> x, const Attributes& a) {
    const auto known = [](const Set<R>* bound) { return bound && bound->has_reals() && !bound->may_be(has_nan | any_infinity); };
    if (const Set<R>* bound = bound_of(x, a, Bound::lo); known(bound)) least = bound->lo;
    if (const Set<R>* bound = bound_of(x, a, Bound::hi); known(bound)) most = bound->is_point ? bound->lo : bound->hi;
  }
  /// The bounds as values of the format; one that overflows there bounds nothing.
  void round(const Format& format, Context c) {
    for (std::optional<R>* end : {&least, &most}) {
      std::uint8_t overflow = 0;
      if (*end) *end = round_end(**end, format, {}, c, overflow);
      if (overflow) end->reset();
    }
  }
  R operator()(R x) const {
    if (least) x = max_of(x, *least);
    return most ? min_of(x, *most) : x;
  }
};

/// The reals [lo, hi] rounded into the format and `steps` values further on both sides.
template <class R>
Set<R> stepped(const R& lo, const R& hi, std::span<const Set<R>> x, const Attributes& a, Context c) {
  const Format& format = *a.format;
  Rounding rounding = a.rounding;
  rounding.flush = Flush::no;
  const Chopped sides[4] = {chop_lower(lo), chop_upper(lo), chop_lower(hi), chop_upper(hi)};
  Stepped ends[4];
  for (int k = 0; k < 4; ++k) {
    const Rounded r = round_real(sides[k], format, rounding);
    ends[k] = step_from(r, k < 2 ? r.low : r.high, k < 2 ? -a.steps : a.steps, format, rounding);
    // sr and faithful may overflow or not
    if (r.special && !r.over) ends[k].special |= r.special;
  }
  Cut<R> cut(x, a);  // steps lead beyond what was cut before
  cut.round(format, c);
  SetBuilder<R> s;
  bool all_over = true, overflows = false;
  for (const Stepped& e : ends) {
    const bool is_cut = e.value > 0 ? cut.most.has_value() : cut.least.has_value();
    if (!is_cut) s.flag(e.special);
    overflows = overflows || (e.over && !is_cut);
    all_over = all_over && e.over && !is_cut && (e.value > 0) == (ends[0].value > 0);
  }
  if (all_over) return s.finish(false);
  R low = cut(R::between(ends[0].value, ends[1].value, c)), high = cut(R::between(ends[2].value, ends[3].value, c));
  s.flag(undecided, overflows && (ends[0].special != ends[1].special || ends[2].special != ends[3].special));
  if (a.rounding.flush != Flush::no) {  // a subnormal value, or one that was subnormal before it was rounded, may become 0
    const R nu = R::exact(format.min_normal(), c), zero = R::exact(0, c);
    if (compare(abs_of(low), nu) != Comparison::greater) low = min_of(low, zero);
    if (compare(abs_of(high), nu) != Comparison::greater) high = max_of(high, zero);
  }
  s.reals(low, high, false);
  s.zeros(true, format.has_negative_zero());
  return s.finish(false);
}

template <class R>
Set<R> approximate(std::span<const Set<R>> x, const Attributes& a, Context c) {
  const Format& format = *a.format;
  const Set<R>& f = x[0];
  Set<R> result = Set<R>::special(f.flags & (has_nan | any_infinity));
  for (const Set<R>& operand : x) result.flags |= operand.flags & undecided;
  if (f.has_reals()) {
    R lo = f.lo, hi = f.is_point ? f.lo : f.hi;
    bool is_bounded = true;
    if (const Set<R>* rel = bound_of(x, a, Bound::rel)) {
      if (const auto r = magnitude_of(*rel)) {
        const R below = mul(*r, abs_of(lo)), above = mul(*r, abs_of(hi));  // x - r|x| is concave, x + r|x| convex: the ends suffice
        const R low = min_of(sub(lo, below), sub(hi, above)), high = max_of(add(lo, below), add(hi, above));
        lo = low;
        hi = high;
      } else {
        is_bounded = false;
      }
    }
    if (const Set<R>* absolute = bound_of(x, a, Bound::abs)) {
      if (const auto r = magnitude_of(*absolute)) {
        lo = sub(lo, *r);
        hi = add(hi, *r);
      } else {
        is_bounded = false;
      }
    }
    if (a.ulp > 0) {
      if (stands_for(a, f.flags)) {
        lo = inside(lo, c);
        hi = inside(hi, c);
      }
      const double ulps = at_least(a.ulp);
      const auto low = f.is_point ? moved_far_out(format, lo, ulps, false, c) : std::nullopt, high = low ? moved_far_out(format, hi, ulps, true, c) : std::nullopt;
      const R radius = mul(ulp_of(format, largest_magnitude(f, a, c), c), R::exact(ulps, c));
      lo = low ? *low : sub(lo, radius);
      hi = high ? *high : add(hi, radius);
    }
    if (!is_bounded) {  // a bound that is NaN or infinite: any value
      result.flags |= has_nan | any_infinity;
      lo = R::between(-f64::infinity, -f64::infinity, c);
      hi = R::between(f64::infinity, f64::infinity, c);
    }
    const Cut<R> cut(x, a);
    lo = cut(lo);
    hi = cut(hi);
    const std::uint8_t special = result.flags & (has_nan | any_infinity | undecided);
    if (a.steps > 0) {
      const Set<R> steps = stepped(lo, hi, x, a, c), kept = round_set(Set<R>::special(special), format, a.rounding, c);
      SetBuilder<R> both;
      for (const Set<R>* s : {&steps, &kept}) {
        both.flag(s->flags & (has_nan | any_infinity | undecided));
        both.reals_of(*s);
      }
      both.zeros(true, format.has_negative_zero());
      result = both.finish(false);
    } else {
      if (planted(Mistake::ends_inward)) {
        std::uint8_t overflow = 0;
        lo = round_end(lo, format, {.mode = Mode::rtp}, c, overflow);
        hi = round_end(hi, format, {.mode = Mode::rtn}, c, overflow);
      }
      Set<R> wide = Set<R>::between(lo, hi, special);
      if (reaches_zero(wide)) wide.flags |= any_zero;
      result = round_set(wide, format, a.rounding, c);
    }
  } else {
    result = round_set(result, format, a.rounding, c);
  }
  result.is_point = false;
  if (reaches_zero(result)) result.flags |= format.has_negative_zero() ? any_zero : std::uint8_t{has_pzero};  // of either sign
  return result;
}

}  // namespace erx
