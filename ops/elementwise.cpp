// Exact arithmetic on the elements of tensors of one (broadcast) shape, special values as in IEEE 754.
#include "ops/arithmetic.hpp"
#include "ops/families.hpp"
#include "ops/row.hpp"

namespace erx::families {

namespace {

struct Fma {
  template <class R>
  static Set<R> of(Operands<R> x, const Attributes& a, Context c) {
    const std::array<Set<R>, 2> sum = {Mul::of<R>(x.first(2), {}, c), x[2]};
    return Add::of<R>(sum, a, c);
  }
};

struct Abs {
  template <class R>
  static Set<R> of(Operands<R> x, const Attributes&, Context c) {
    const Set<R>& a = x[0];
    SetBuilder<R> r;
    r.flag(undecided_of(x));
    r.flag(a.flags & has_nan);
    r.flag(has_pinf, a.may_be(any_infinity));
    if (a.has_reals()) {
      if (a.is_point) {
        r.real(abs_of(a.lo));
      } else {
        const R low = abs_of(a.lo), high = abs_of(a.hi);
        // the least magnitude is 0 where the ends have different signs
        const bool crosses = may_be_below_zero(a.lo) && may_be_above_zero(a.hi);
        const bool surely = !may_be_above_zero(a.lo) && !may_be_below_zero(a.hi);
        const R least = min_of(low, high), none = R::exact(0, c);
        r.reals(!crosses ? least : surely ? none : either(least, none), max_of(low, high), false);
      }
      r.zeros(a.may_be(any_zero), false);
    }
    return r.finish(all_points(x));
  }
};

struct Sign {
  template <class R>
  static Set<R> of(Operands<R> x, const Attributes&, Context c) {
    const Set<R>& a = x[0];
    const Parts p = parts(a);
    SetBuilder<R> r;
    r.flag(undecided_of(x));
    r.flag(has_nan, p.nan);
    if (a.has_reals()) {
      r.reals(of_end<R>(a.lo, p, c), of_end<R>(a.hi, p, c), a.is_point);
      r.zeros(true, true);
    }
    if (p.pinf) r.real(R::exact(1, c));
    if (p.ninf) r.real(R::exact(-1, c));
    return r.finish(all_points(x));
  }
  template <class R>
  static R of_end(const R& end, const Parts& p, Context c) {
    const bool below = may_be_below_zero(end), above = may_be_above_zero(end), zero = p.zero() && may_be_zero(end);
    return R::between(below ? -1 : zero ? 0 : 1, above ? 1 : zero ? 0 : -1, c);
  }
};

struct Clamp {
  template <class R>
  static Set<R> of(Operands<R> x, const Attributes& a, Context c) {
    const std::array<Set<R>, 2> y = {Maximum::of<R>(x.first(2), a, c), x[2]};
    return Minimum::of<R>(y, a, c);
  }
};

}  // namespace

std::span<const Op* const> elementwise() {
  using namespace rules;
  constexpr std::string_view ieee = "IEEE 754-2019, 5.4.1 and 6.1 to 6.3";
  constexpr std::string_view sign_bit = "IEEE 754-2019, 5.5.1";
  constexpr std::string_view ordered = "IEEE 754-2019, 9.6";
  static const Op rows[] = {
      map_row<Add>({.name = "add",
                    .symbol = "+",
                    .doc = "x + y",
                    .source = ieee,
                    .operands = 2,
                    .type = arithmetic_type,
                    .arithmetic = true,
                    .sum_role = SumRole::plus,
                    .complex = on_complex::parts}),
      map_row<Sub>({.name = "sub",
                    .symbol = "-",
                    .doc = "x - y",
                    .source = ieee,
                    .operands = 2,
                    .type = arithmetic_type,
                    .arithmetic = true,
                    .sum_role = SumRole::minus,
                    .complex = on_complex::parts}),
      map_row<Mul>({.name = "mul",
                    .symbol = "*",
                    .doc = "x * y; absent where an exact scalar parameter is 0",
                    .source = ieee,
                    .operands = 2,
                    .type = arithmetic_type,
                    .arithmetic = true,
                    .product = true,
                    .sum_role = SumRole::product,
                    .complex = on_complex::product}),
      map_row<Div>({.name = "div", .symbol = "/", .doc = "x / y", .source = ieee, .operands = 2, .arithmetic = true, .complex = on_complex::quotient}),
      map_row<Fma>(
          {.name = "fma", .doc = "fma(x, y, z): x * y + z", .source = ieee, .operands = 3, .type = arithmetic_type, .arithmetic = true}),
      map_row<Neg>({.name = "neg", .symbol = "-", .doc = "-x", .source = sign_bit, .type = negated_type, .selects = true, .complex = on_complex::parts}),
      map_row<Abs>({.name = "abs", .doc = "|x|; of a complex number hypot of its parts", .source = sign_bit, .type = magnitude_type, .selects = true, .complex = on_complex::magnitude}),
      map_row<Sign>({.name = "sign",
                     .doc = "sign(x): -1, 0 or 1; of a zero a zero of either sign",
                     .source = "NumPy sign, StableHLO sign",
                     .arithmetic = true}),
      map_row<Minimum>(
          {.name = "minimum", .doc = "minimum(x, y): NaN if either is; -0 < +0", .source = ordered, .operands = 2, .type = join_type, .selects = true}),
      map_row<Maximum>(
          {.name = "maximum", .doc = "maximum(x, y): NaN if either is; -0 < +0", .source = ordered, .operands = 2, .type = join_type, .selects = true}),
      map_row<FMin>({.name = "fmin",
                     .doc = "fmin(x, y): drops NaN; of two zeros either",
                     .source = "IEEE 754-2008, 5.3.1 minNum",
                     .operands = 2,
                     .type = join_type,
                     .selects = true}),
      map_row<FMax>({.name = "fmax",
                     .doc = "fmax(x, y): drops NaN; of two zeros either",
                     .source = "IEEE 754-2008, 5.3.1 maxNum",
                     .operands = 2,
                     .type = join_type,
                     .selects = true}),
      map_row<Clamp>({.name = "clamp",
                      .doc = "clamp(x, lo, hi): minimum(maximum(x, lo), hi)",
                      .source = "NumPy clip",
                      .operands = 3,
                      .type = join_type,
                     .selects = true}),
  };
  static const std::vector<const Op*> all = pointers(rows);
  return all;
}

}  // namespace erx::families
