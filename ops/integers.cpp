// Integer parts, and division with a floor.
#include "ops/arithmetic.hpp"
#include "ops/families.hpp"
#include "ops/row.hpp"

namespace erx::families {

namespace {

/// An integer part: monotone; infinities stay; a zero keeps its sign, other zeros have the sign of where they come from.
struct Floor {
  static constexpr bool zero_from_below = false;
  template <class R>
  static R part(const R& x) {
    return floor_of(x);
  }
};
struct Ceil {
  static constexpr bool zero_from_below = true;
  template <class R>
  static R part(const R& x) {
    return ceil_of(x);
  }
};
struct Trunc {
  static constexpr bool zero_from_below = true;
  template <class R>
  static R part(const R& x) {
    return trunc_of(x);
  }
};
struct Rint {
  static constexpr bool zero_from_below = true;
  template <class R>
  static R part(const R& x) {
    return rint_of(x);
  }
};

template <class P>
struct IntegerPart {
  template <class R>
  static Set<R> of(Operands<R> x, const Attributes&, Context) {
    const Set<R>& a = x[0];
    const Parts p = parts(a);
    SetBuilder<R> r;
    r.flag(a.flags & (has_nan | any_infinity | undecided));
    if (a.has_reals()) {
      R lo = P::template part<R>(a.lo);
      R hi = a.is_point ? lo : P::template part<R>(a.hi);
      r.reals(std::move(lo), std::move(hi), a.is_point);
      r.zeros(p.pz || p.pos, p.nz || (P::zero_from_below && p.neg));
    }
    return r.finish(a.is_point);
  }
};

/// floor(x / y). inf // y: NumPy gives NaN, others inf; x // inf is 0, or -1 where the signs differ.
struct FloorDiv {
  template <class R>
  static Set<R> of(Operands<R> x, const Attributes& attributes, Context c) {
    const Parts a = parts(x[0]), b = parts(x[1]);
    const std::array<Set<R>, 1> q = {Div::of<R>(x, attributes, c)};
    const Set<R> quotient = IntegerPart<Floor>::of<R>(q, attributes, c);
    SetBuilder<R> r;
    r.flag(quotient.flags & (has_nan | any_infinity | undecided));
    r.flag(has_nan, a.infinite() && (b.pos || b.neg));
    r.reals_of(quotient);
    r.zeros(quotient.may_be(has_pzero), quotient.may_be(has_nzero));
    const bool opposite = (b.pinf && a.neg) || (b.ninf && a.pos);
    if (!opposite) return r.finish(all_points(x));
    const bool only = !(b.pinf && (a.pos || a.zero())) && !(b.ninf && (a.neg || a.zero())) && !x[1].has_reals();
    if (only) {
      SetBuilder<R> below;
      below.flag(r.finish(true).flags & (has_nan | any_infinity | undecided));
      below.real(R::exact(-1, c));
      return below.finish(all_points(x));
    }
    r.real(R::exact(-1, c));
    return r.finish(all_points(x));
  }
};

/// x - y * floor(x / y): between 0 and y. x % inf is x, or inf where the signs differ.
struct Mod {
  template <class R>
  static Set<R> of(Operands<R> x, const Attributes& attributes, Context c) {
    const Parts a = parts(x[0]), b = parts(x[1]);
    SetBuilder<R> r;
    r.flag(undecided_of(x));
    r.flag(has_nan, a.nan || b.nan || a.infinite() || b.zero());
    r.flag(undecided, b.unsure);
    r.flag(has_pinf, b.pinf && a.neg);
    r.flag(has_ninf, b.ninf && a.pos);
    if (x[0].has_reals() && (b.pos || b.neg)) remainders(x, b, r, attributes, c);
    // beside an infinite divisor x stays
    if ((b.pinf && (a.pos || a.zero())) || (b.ninf && (a.neg || a.zero()))) r.reals_of(x[0]);
    r.zeros(true, true);  // NumPy takes the sign of y, PyTorch that of fmod
    return r.finish(all_points(x));
  }

 private:
  template <class R>
  static void remainders(Operands<R> x, const Parts& b, SetBuilder<R>& r, const Attributes& attributes, Context c) {
    const R zero = R::exact(0, c);
    const bool point = x[0].is_point && x[1].is_point;
    const std::array<Set<R>, 1> q = {Div::of<R>(x, attributes, c)};
    const Set<R> n = IntegerPart<Floor>::of<R>(q, attributes, c);
    if (n.has_reals() && compare(n.lo, n.hi) == Comparison::equal) {  // one multiple of y
      const auto end = [&](const R& p, const R& d) { return sub(p, mul(n.lo, d)); };
      if (point) return r.real(end(x[0].lo, x[1].lo));
      const bool grows = !may_be_below_zero(n.lo);  // in -y
      r.reals(end(x[0].lo, grows ? x[1].hi : x[1].lo), end(x[0].hi, grows ? x[1].lo : x[1].hi), false);
      return;
    }
    const R least = b.neg ? min_of(zero, x[1].lo) : zero, most = b.pos ? max_of(zero, x[1].hi) : zero;
    if (point) return r.real(either(least, most));
    r.reals(least, most, false);
  }
};

}  // namespace

std::span<const Op* const> integers() {
  constexpr std::string_view ieee = "IEEE 754-2019, 5.9";
  static const Op rows[] = {
      map_row<IntegerPart<Floor>>({.name = "floor", .doc = "floor(x): the largest integer <= x", .source = ieee, .arithmetic = true}),
      map_row<IntegerPart<Ceil>>({.name = "ceil", .doc = "ceil(x): the smallest integer >= x", .source = ieee, .arithmetic = true}),
      map_row<IntegerPart<Trunc>>({.name = "trunc", .doc = "trunc(x): the nearest integer towards 0", .source = ieee, .arithmetic = true}),
      map_row<IntegerPart<Rint>>({.name = "rint", .doc = "rint(x): the nearest integer, ties to even", .source = ieee, .arithmetic = true}),
      map_row<FloorDiv>({.name = "floordiv",
                         .symbol = "//",
                         .doc = "floor(x / y)",
                         .source = "NumPy floor_divide",
                         .operands = 2,
                         .type = rules::arithmetic_type,
                         .arithmetic = true}),
      map_row<Mod>({.name = "mod",
                    .symbol = "%",
                    .doc = "x - y * floor(x / y), between 0 and y",
                    .source = "NumPy remainder",
                    .operands = 2,
                    .type = rules::arithmetic_type,
                    .arithmetic = true}),
  };
  static const std::vector<const Op*> all = pointers(rows);
  return all;
}

}  // namespace erx::families
