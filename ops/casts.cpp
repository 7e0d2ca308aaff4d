// Conversions to integers. Where C++20 (7.3.11) and StableHLO leave the result open, any value of the type may come out.
#include <algorithm>
#include <cmath>

#include "ops/families.hpp"
#include "ops/planted.hpp"
#include "ops/row.hpp"
#include "ops/set_rules.hpp"

namespace erx::families {

namespace {

bool always(const Attributes&) { return true; }

Type whole_type(std::span<const Type> types, const Attributes& a) {
  if (!a.whole || a.whole->bits == 0) throw Bug("a cast without a type of integers");
  if (types[0].is_boolean()) throw RuleBroken{"a bool is no number", 0, "use where(m, 1, 0)"};
  return *a.whole;
}

/// The values of a type of integers: 2^bits of them, from `least` on.
template <class R>
struct Range {
  R least, most, count;
  Range(const Type& t, Context c)
      : least(R::exact(t.is_signed ? -std::ldexp(1.0, t.bits - 1) : 0, c)), count(R::exact(std::ldexp(1.0, t.bits), c)) {
    most = sub(add(least, count), R::exact(1, c));
  }
};

/// What the three have in common: an integer part, and what becomes of it.
template <class R>
class Cast {
 public:
  Cast(const Set<R>& x, const Attributes& a, Context c) : x_(x), range_(*a.whole, c), c_(c) { result_.flag(x.flags & undecided); }

  void anything() { result_.reals(range_.least, range_.most, false); }

  /// Values in the range stay; `outside` says what others become.
  template <class Outside>
  void in_range(const R& lo, const R& hi, Outside outside) {
    const Comparison low = compare(lo, range_.least), high = compare(range_.most, hi);
    if (low == Comparison::unknown || high == Comparison::unknown) result_.flag(undecided);
    const bool below = low == Comparison::less || low == Comparison::unknown, above = high == Comparison::less || high == Comparison::unknown;
    if (below || above) outside();
    else result_.reals(lo, hi, x_.is_point);
  }

  /// Modulo 2^bits: one piece of the numbers, or all of them.
  void wrapped(const R& lo, const R& hi) {
    const R one = R::exact(1, c_), per = div(one, range_.count);
    const R first = floor_of(mul(sub(lo, range_.least), per)), last = x_.is_point ? first : floor_of(mul(sub(hi, range_.least), per));
    if (!(is_exact(first) && is_exact(last))) {
      result_.flag(undecided);
      return anything();
    }
    if (!planted(Mistake::wrap_of_ends) && compare(first, last) != Comparison::equal) return anything();
    const R low = sub(lo, mul(first, range_.count)), high = x_.is_point ? low : sub(hi, mul(last, range_.count));
    result_.reals(min_of(low, high), max_of(low, high), x_.is_point);
  }

  void clamped(const R& lo, const R& hi) {
    const R low = min_of(max_of(lo, range_.least), range_.most);
    result_.reals(low, x_.is_point ? low : min_of(max_of(hi, range_.least), range_.most), x_.is_point);
  }
  void least() { result_.real(range_.least); }
  void most() { result_.real(range_.most); }

  Set<R> finish() {
    result_.zeros(true, false);
    return result_.finish(false);
  }

 private:
  const Set<R>& x_;
  Range<R> range_;
  Context c_;
  SetBuilder<R> result_;
};

/// A real is truncated, and what does not fit may become anything. (An integer keeps its low bits: that is `wrap`.)
struct Truncate {
  template <class R>
  static Set<R> of(std::span<const Set<R>> x, const Attributes& a, Context c) {
    Cast<R> cast(x[0], a, c);
    if (x[0].has_reals()) {
      const R lo = trunc_of(x[0].lo), hi = x[0].is_point ? lo : trunc_of(x[0].hi);
      cast.in_range(lo, hi, [&] { cast.anything(); });
    }
    if (x[0].may_be(has_nan | any_infinity)) cast.anything();
    return cast.finish();
  }
};

/// The low bits of the exact integer; a fraction is cut off first.
struct Wrap {
  template <class R>
  static Set<R> of(std::span<const Set<R>> x, const Attributes& a, Context c) {
    Cast<R> cast(x[0], a, c);
    if (x[0].has_reals()) {
      const R lo = trunc_of(x[0].lo), hi = x[0].is_point ? lo : trunc_of(x[0].hi);
      cast.wrapped(lo, hi);
    }
    if (x[0].may_be(has_nan | any_infinity)) cast.anything();
    return cast.finish();
  }
};

/// The nearest integer, ties to even, cut to the range; NaN may become anything.
struct Saturate {
  template <class R>
  static Set<R> of(std::span<const Set<R>> x, const Attributes& a, Context c) {
    Cast<R> cast(x[0], a, c);
    if (x[0].has_reals()) {
      const R lo = rint_of(x[0].lo), hi = x[0].is_point ? lo : rint_of(x[0].hi);
      cast.clamped(lo, hi);
    }
    if (x[0].may_be(has_ninf)) cast.least();
    if (x[0].may_be(has_pinf)) cast.most();
    if (x[0].may_be(has_nan)) cast.anything();
    return cast.finish();
  }
};

}  // namespace

std::span<const Op* const> casts() {
  static const Op rows[] = {
      map_row<Truncate>({.name = "cast",
                         .doc = "cast<i8>(x): x without its fraction; what does not fit may become any value",
                         .source = "C++20, 7.3.11; StableHLO convert",
                         .type = whole_type,
                         .freedom = always}),
      map_row<Wrap>({.name = "wrap",
                     .doc = "wrap<i32>(x): the exact integer x modulo 2^32",
                     .source = "C++20, 7.3.9; StableHLO add",
                     .type = whole_type,
                     .freedom = always}),
      map_row<Saturate>({.name = "saturate",
                         .doc = "saturate<i8>(x): the nearest integer, ties to even, cut to the range",
                         .source = "IEEE 754-2019, 5.8; ONNX QuantizeLinear",
                         .type = whole_type,
                         .freedom = always}),
  };
  static const std::vector<const Op*> all = pointers(rows);
  return all;
}

}  // namespace erx::families
