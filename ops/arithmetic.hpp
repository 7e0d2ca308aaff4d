// The formulas of + - * / and of maximum, on sets: used by their own rows and by formulas built from them.
//   Set<F64> s = Add::of<F64>({x, y}, {}, {});
#pragma once
#include <array>

#include "ops/bulk.hpp"
#include "ops/set_rules.hpp"

namespace erx {

template <class R>
using Operands = std::span<const Set<R>>;

struct Neg {
  template <class R>
  static Set<R> of(Operands<R> x, const Attributes&, Context) {
    const Set<R>& a = x[0];
    std::uint8_t flags = a.flags & (has_nan | no_reals | undecided);
    flags |= flag_if(a.flags & has_pinf, has_ninf) | flag_if(a.flags & has_ninf, has_pinf);
    flags |= flag_if(a.flags & has_pzero, has_nzero) | flag_if(a.flags & has_nzero, has_pzero);
    if (!a.has_reals()) return Set<R>::special(flags);
    R lo = neg(a.hi);
    return a.is_point ? Set<R>::point(lo, flags) : Set<R>::between(lo, neg(a.lo), flags);
  }
};

struct Add {
  static constexpr const lanes::Loops& loops = lanes::sum;
  static constexpr bool specials_go_by_sign = true;
  template <class R>
  static Set<R> of(Operands<R> x, const Attributes&, Context) {
    const Parts a = parts(x[0]), b = parts(x[1]);
    SetBuilder<R> r;
    r.flag(undecided_of(x));
    r.flag(has_nan, a.nan || b.nan || (a.pinf && b.ninf) || (a.ninf && b.pinf));
    r.flag(has_pinf, (a.pinf && (b.pinf || x[1].has_reals())) || (b.pinf && x[0].has_reals()));
    r.flag(has_ninf, (a.ninf && (b.ninf || x[1].has_reals())) || (b.ninf && x[0].has_reals()));
    if (x[0].has_reals() && x[1].has_reals()) {
      const bool point = x[0].is_point && x[1].is_point;
      R lo = add(x[0].lo, x[1].lo);
      R hi = point ? lo : add(x[0].hi, x[1].hi);
      r.reals(std::move(lo), std::move(hi), point);
      // exact cancellation gives +0 under round to nearest; -0 comes only from -0 and -0
      const bool cancels = (a.neg && b.pos) || (a.pos && b.neg);
      r.zeros(cancels || (a.zero() && b.zero() && (a.pz || b.pz)), a.nz && b.nz);
    }
    return r.finish(all_points(x));
  }
};

struct Sub {
  static constexpr const lanes::Loops& loops = lanes::difference;
  static constexpr bool specials_go_by_sign = true;
  template <class R>
  static Set<R> of(Operands<R> x, const Attributes& attributes, Context c) {
    const std::array<Set<R>, 2> y = {x[0], Neg::of<R>(x.subspan(1, 1), attributes, c)};
    return Add::of<R>(y, attributes, c);
  }
};

struct Mul {
  static constexpr const lanes::Loops& loops = lanes::product;
  static constexpr bool specials_go_by_sign = true;
  template <class R>
  static Set<R> of(Operands<R> x, const Attributes& attributes, Context c) {
    const Parts a = parts(x[0]), b = parts(x[1]);
    // An exact scalar parameter that is 0 makes the product absent: a zero, whatever the other factor holds. Its sign is free:
    // implementations leave the term out, or multiply.
    for (int k = 0; k < 2; ++k) {
      const Parts& p = k ? b : a;
      if ((attributes.scales >> k & 1) && p.zero() && !p.neg && !p.pos) return exactly<R>(0, c, any_zero);
    }
    SetBuilder<R> r;
    r.flag(undecided_of(x));
    r.flag(has_nan, a.nan || b.nan || (a.infinite() && b.zero()) || (b.infinite() && a.zero()));
    r.flag(undecided, (a.infinite() && b.unsure) || (b.infinite() && a.unsure));
    r.flag(has_pinf, (a.pinf && (b.pos || b.pinf)) || (a.ninf && (b.neg || b.ninf)) || (b.pinf && a.pos) || (b.ninf && a.neg));
    r.flag(has_ninf, (a.pinf && (b.neg || b.ninf)) || (a.ninf && (b.pos || b.pinf)) || (b.pinf && a.neg) || (b.ninf && a.pos));
    if (x[0].has_reals() && x[1].has_reals()) {
      if (x[0].is_point && x[1].is_point) {
        r.real(mul(x[0].lo, x[1].lo));
      } else {
        const R p = mul(x[0].lo, x[1].lo), q = mul(x[0].lo, x[1].hi), s = mul(x[0].hi, x[1].lo), t = mul(x[0].hi, x[1].hi);
        r.reals(min_of(min_of(p, q), min_of(s, t)), max_of(max_of(p, q), max_of(s, t)), false);
      }
      const bool a_plus = a.pos || a.pz, a_minus = a.neg || a.nz, b_plus = b.pos || b.pz, b_minus = b.neg || b.nz;
      r.zeros((a.pz && b_plus) || (a.nz && b_minus) || (b.pz && a_plus) || (b.nz && a_minus),
              (a.pz && b_minus) || (a.nz && b_plus) || (b.pz && a_minus) || (b.nz && a_plus));
    }
    return r.finish(all_points(x));
  }
};

struct Div {
  static constexpr const lanes::Loops& loops = lanes::quotient;
  static constexpr bool specials_go_by_sign = true;
  template <class R>
  static Set<R> of(Operands<R> x, const Attributes&, Context c) {
    const Parts a = parts(x[0]), b = parts(x[1]);
    SetBuilder<R> r;
    r.flag(undecided_of(x));
    r.flag(has_nan, a.nan || b.nan || (a.zero() && b.zero()) || (a.infinite() && b.infinite()));
    r.flag(undecided, b.unsure || (b.zero() && a.unsure));
    const bool a_plus = a.pos || a.pinf, a_minus = a.neg || a.ninf;
    const bool b_plus = b.pos || b.pz, b_minus = b.neg || b.nz;
    r.flag(has_pinf, (a_plus && b.pz) || (a_minus && b.nz) || (a.pinf && b_plus) || (a.ninf && b_minus));
    r.flag(has_ninf, (a_plus && b.nz) || (a_minus && b.pz) || (a.pinf && b_minus) || (a.ninf && b_plus));
    // the sign of a zero quotient, from 0 / real and real / inf
    const bool a_pos = a.pos || a.pz, a_neg = a.neg || a.nz;
    const bool b_pos = b.pos || b.pinf, b_neg = b.neg || b.ninf;
    const bool b_inf = b.infinite() && x[0].has_reals();
    const auto zero_from = [&](bool ap, bool bp, bool an, bool bn) { return (ap && bp) || (an && bn); };
    const bool plus = zero_from(a.pz, b_pos, a.nz, b_neg) || (b_inf && zero_from(a_pos, b.pinf, a_neg, b.ninf));
    const bool minus = zero_from(a.pz, b_neg, a.nz, b_pos) || (b_inf && zero_from(a_pos, b.ninf, a_neg, b.pinf));
    if (x[0].has_reals() && (b.neg || b.pos)) quotients(x[0], x[1], b, r, c);
    if (b_inf) r.real(R::exact(0, c));
    r.zeros(plus, minus);
    return r.finish(all_points(x));
  }

 private:
  template <class R>
  static void quotients(const Set<R>& a, const Set<R>& b, const Parts& sign, SetBuilder<R>& r, Context c) {
    if (a.is_point && b.is_point) return r.real(div(a.lo, b.lo));
    if (!reaches_zero(b)) {
      const R p = div(a.lo, b.lo), q = div(a.lo, b.hi), s = div(a.hi, b.lo), t = div(a.hi, b.hi);
      return r.reals(min_of(min_of(p, q), min_of(s, t)), max_of(max_of(p, q), max_of(s, t)), false);
    }
    const R everything = R::between(-f64::infinity, f64::infinity, c);
    const R top = R::between(f64::infinity, f64::infinity, c), bottom = R::between(-f64::infinity, -f64::infinity, c);
    if (a.is_point) {
      const Parts p = parts(a);
      if (p.zero() && !p.neg && !p.pos) return r.real(R::exact(0, c));
    }
    if (sign.neg && sign.pos) return r.reals(bottom, top, false);
    // b has one sign and comes near 0: the quotient has no bound on one side
    const R& far = sign.pos ? b.hi : b.lo;
    const Parts p = parts(a);
    const bool up = sign.pos ? !p.neg : !p.pos, down = sign.pos ? !p.pos : !p.neg;
    if (may_be_zero(far)) return r.reals(everything, everything, false);
    if (up) return r.reals(sign.pos ? div(a.lo, far) : div(a.hi, far), top, false);
    if (down) return r.reals(bottom, sign.pos ? div(a.hi, far) : div(a.lo, far), false);
    r.reals(bottom, top, false);
  }
};

/// IEEE 754-2019 maximum: NaN wins, +0 is above -0.
struct Maximum {
  static constexpr const lanes::Loops& loops = lanes::larger;
  template <class R>
  static Set<R> of(Operands<R> x, const Attributes&, Context) {
    SetBuilder<R> r;
    r.flag(undecided_of(x));
    r.flag(has_nan, x[0].may_be(has_nan) || x[1].may_be(has_nan));
    larger(x, r, false);
    return r.finish(all_points(x));
  }

  /// The larger of two numbers; `any_sign`: of two zeros either may be taken.
  template <class R>
  static void larger(Operands<R> x, SetBuilder<R>& r, bool any_sign) {
    const Parts a = parts(x[0]), b = parts(x[1]);
    const bool real_a = x[0].has_reals(), real_b = x[1].has_reals();
    r.flag(has_pinf, (a.pinf && (b.infinite() || real_b)) || (b.pinf && (a.infinite() || real_a)));
    r.flag(has_ninf, a.ninf && b.ninf);
    if (real_a && real_b) {
      const bool point = x[0].is_point && x[1].is_point;
      R lo = max_of(x[0].lo, x[1].lo);
      R hi = point ? lo : max_of(x[0].hi, x[1].hi);
      r.reals(std::move(lo), std::move(hi), point);
    }
    if (b.ninf) r.reals_of(x[0]);
    if (a.ninf) r.reals_of(x[1]);
    const bool a_below = a.neg || a.ninf, b_below = b.neg || b.ninf;
    const bool plus = (a.pz && (b.zero() || b_below)) || (b.pz && (a.zero() || a_below));
    bool minus = (a.nz && (b.nz || b_below)) || (b.nz && (a.nz || a_below));
    if (any_sign) minus = minus || (a.zero() && b.zero() && (a.nz || b.nz));
    r.zeros(plus, minus);
  }
};

/// IEEE 754-2008 maxNum: a NaN operand is dropped.
struct FMax {
  template <class R>
  static Set<R> of(Operands<R> x, const Attributes&, Context) {
    SetBuilder<R> r;
    r.flag(undecided_of(x));
    r.flag(has_nan, x[0].may_be(has_nan) && x[1].may_be(has_nan));
    Maximum::larger(x, r, true);
    for (int k = 0; k < 2; ++k) {
      const Set<R>& kept = x[k];
      if (!x[1 - k].may_be(has_nan)) continue;
      r.flag(kept.flags & any_infinity);
      r.reals_of(kept);
      const Parts p = parts(kept);
      r.zeros(p.pz, p.nz);
    }
    return r.finish(all_points(x));
  }
};

/// f(x, y) as -g(-x, -y).
template <class G>
struct Mirrored {
  template <class R>
  static Set<R> of(Operands<R> x, const Attributes& attributes, Context c) {
    const std::array<Set<R>, 2> y = {Neg::of<R>(x.subspan(0, 1), attributes, c), Neg::of<R>(x.subspan(1, 1), attributes, c)};
    const std::array<Set<R>, 1> z = {G::template of<R>(y, attributes, c)};
    return Neg::of<R>(z, attributes, c);
  }
};
struct Minimum : Mirrored<Maximum> {
  static constexpr const lanes::Loops& loops = lanes::smaller;
};
using FMin = Mirrored<FMax>;

}  // namespace erx
