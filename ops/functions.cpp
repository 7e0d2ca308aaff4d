// Functions of one element, and powers. Each is monotone on its domain (sin and cos piece by piece); only the special values and
// the signs of zeros differ.
#include <bit>
#include <cmath>

#include "ops/arithmetic.hpp"
#include "ops/families.hpp"
#include "ops/row.hpp"

namespace erx::families {

namespace {

/// What a function does outside the reals. `at_*`: the real it tends to, an infinity, or NaN.
struct Tails {
  double at_ninf, at_pinf;
  bool odd = false;  // f(+-0) = +-0
};
constexpr double inf = f64::infinity;

template <class R>
void at_infinity(SetBuilder<R>& r, bool possible, double value, Context c) {
  if (!possible) return;
  if (value != value)
    r.flag(has_nan);
  else if (value - value != 0)
    r.flag(value > 0 ? has_pinf : has_ninf);
  else {
    r.real(R::exact(value, c));
    r.zeros(value == 0, false);
  }
}

/// Increasing on all reals.
template <class F>
struct Increasing {
  static constexpr const lanes::Loops& loops = F::loops;
  static constexpr bool increases = true;
  template <class R>
  static Set<R> of(Operands<R> x, const Attributes&, Context c) {
    const Set<R>& a = x[0];
    const Parts p = parts(a);
    SetBuilder<R> r;
    r.flag(a.flags & (has_nan | undecided));
    if (a.has_reals()) {
      R lo = F::template at<R>(a.lo);
      R hi = a.is_point ? lo : F::template at<R>(a.hi);
      r.reals(std::move(lo), std::move(hi), a.is_point);
      if (F::tails.odd) r.zeros(p.pz, p.nz);
    }
    at_infinity(r, p.ninf, F::tails.at_ninf, c);
    at_infinity(r, p.pinf, F::tails.at_pinf, c);
    return r.finish(a.is_point);
  }
};

/// The part of x at and above `least`, and whether x may be below it, or at it.
template <class R>
struct Domain {
  bool below = false, at = false, inside = false, unsure = false;
  R lo{}, hi{};

  Domain(const Set<R>& x, double least, Context c) {
    if (!x.has_reals()) return;
    const R edge = R::exact(least, c);
    const Comparison low = compare(x.lo, edge), high = compare(x.hi, edge);
    below = low == Comparison::less || low == Comparison::unknown;
    inside = high == Comparison::greater || high == Comparison::unknown;
    at = low != Comparison::greater && high != Comparison::less;
    unsure = low == Comparison::unknown || high == Comparison::unknown;
    lo = below ? max_of(x.lo, edge) : x.lo;
    hi = high == Comparison::unknown ? max_of(x.hi, edge) : x.hi;
  }
};

/// log and its kin: a pole at the edge of the domain.
template <class F>
struct Logarithm {
  static constexpr const lanes::Loops& loops = F::loops;
  static constexpr bool increases = true;
  template <class R>
  static Set<R> of(Operands<R> x, const Attributes&, Context c) {
    const Set<R>& a = x[0];
    const Parts p = parts(a);
    const Domain<R> d(a, F::edge, c);
    const bool at_edge = d.at && (F::edge != 0 || p.zero());
    SetBuilder<R> r;
    r.flag(a.flags & (has_nan | has_pinf | undecided));
    r.flag(has_nan, d.below || p.ninf);
    r.flag(has_ninf, at_edge);
    // an enclosure that only touches the edge from above, where the edge itself is impossible, is no doubt
    r.flag(undecided, d.unsure && (d.below || at_edge));
    if (d.inside) {
      R lo = F::template at<R>(d.lo);
      R hi = a.is_point ? lo : F::template at<R>(d.hi);
      r.reals(std::move(lo), std::move(hi), a.is_point);
      if (F::edge == 0)
        r.zeros(true, false);  // log(1) is +0
      else
        r.zeros(p.pz, p.nz);
    }
    return r.finish(a.is_point);
  }
};

struct Sqrt {
  static constexpr const lanes::Loops& loops = lanes::root;
  static constexpr bool increases = true;
  template <class R>
  static Set<R> of(Operands<R> x, const Attributes&, Context c) {
    const Set<R>& a = x[0];
    const Parts p = parts(a);
    const Domain<R> d(a, 0, c);
    SetBuilder<R> r;
    r.flag(a.flags & (has_nan | has_pinf | undecided));
    r.flag(has_nan, d.below || p.ninf);
    r.flag(undecided, d.unsure && d.below);
    if (d.inside || d.at) {
      R lo = sqrt_of(d.lo);
      R hi = a.is_point ? lo : sqrt_of(d.hi);
      r.reals(std::move(lo), std::move(hi), a.is_point);
      r.zeros(p.pz, p.nz);
    }
    return r.finish(a.is_point);
  }
};

struct Rsqrt {
  static constexpr const lanes::Loops& loops = lanes::rsqrt;
  template <class R>
  static Set<R> of(Operands<R> x, const Attributes&, Context c) {
    const Set<R>& a = x[0];
    const Parts p = parts(a);
    const Domain<R> d(a, 0, c);
    SetBuilder<R> r;
    r.flag(a.flags & (has_nan | undecided));
    r.flag(has_nan, d.below || p.ninf);
    r.flag(has_pinf, p.pz);
    r.flag(has_ninf, p.nz);
    r.flag(undecided, d.unsure && (d.below || p.zero()));
    if (d.inside) {
      R lo = rsqrt_of(d.hi);
      R hi = a.is_point ? lo : rsqrt_of(d.lo);
      r.reals(std::move(lo), std::move(hi), a.is_point);
    }
    at_infinity(r, p.pinf, 0, c);
    return r.finish(a.is_point);
  }
};

/// sin and cos: monotone between their turning points pi * (k - shift), k an integer.
template <class F>
struct Wave {
  static constexpr const lanes::Loops& loops = F::loops;
  template <class R>
  static Set<R> of(Operands<R> x, const Attributes&, Context c) {
    const Set<R>& a = x[0];
    const Parts p = parts(a);
    SetBuilder<R> r;
    r.flag(a.flags & (has_nan | undecided));
    r.flag(has_nan, p.infinite());
    if (a.has_reals()) {
      if (a.is_point)
        r.real(F::template at<R>(a.lo));
      else
        range(a, r, c);
      // no zero of these is rational but sin 0; the enclosure of another value may reach 0
      const bool other = !a.is_point || p.unsure || !(p.zero() && !p.neg && !p.pos);
      if (F::shift == 0)
        r.zeros(true, true);
      else
        r.zeros(p.pz || other, p.nz || other);
    }
    return r.finish(a.is_point);
  }

 private:
  template <class R>
  static void range(const Set<R>& a, SetBuilder<R>& r, Context c) {
    const double first = lower(a.lo), last = upper(a.hi);
    const R one = R::exact(1, c), minus_one = R::exact(-1, c);
    if (!(last - first < 7) || std::fabs(first) > 0x1p40) return r.reals(minus_one, one, false);
    const double from = half_turns(first, F::shift), to = half_turns(last, F::shift);
    if (half_turns(upper(a.lo), F::shift) != from || half_turns(lower(a.hi), F::shift) != to || to - from > 2)
      return r.reals(minus_one, one, false);  // an end beside a turning point
    const R u = F::template at<R>(a.lo), v = F::template at<R>(a.hi);
    R lo = min_of(u, v), hi = max_of(u, v);
    for (double k = from + 1; k <= to; ++k) {  // turning points inside: cos has its maxima at even k, sin at odd k
      if ((std::fmod(k, 2) == 0) == (F::shift == 0))
        hi = one;
      else
        lo = minus_one;
    }
    r.reals(std::move(lo), std::move(hi), false);
  }
};

/// The function of the number types that a formula applies.
template <auto function>
struct Applies {
  template <class R>
  static R at(const R& x) {
    return function(x);
  }
};

struct ExpOf : Applies<[](const auto& x) { return exp_of(x); }> {
  static constexpr Tails tails{0, inf};
  static constexpr const lanes::Loops& loops = lanes::exp;
};
struct Exp2Of : Applies<[](const auto& x) { return exp2_of(x); }> {
  static constexpr Tails tails{0, inf};
  static constexpr const lanes::Loops& loops = lanes::exp2;
};
struct Expm1Of : Applies<[](const auto& x) { return expm1_of(x); }> {
  static constexpr Tails tails{-1, inf, true};
  static constexpr const lanes::Loops& loops = lanes::expm1;
};
struct TanhOf : Applies<[](const auto& x) { return tanh_of(x); }> {
  static constexpr Tails tails{-1, 1, true};
  static constexpr const lanes::Loops& loops = lanes::tanh;
};
struct ErfOf : Applies<[](const auto& x) { return erf_of(x); }> {
  static constexpr Tails tails{-1, 1, true};
  static constexpr const lanes::Loops& loops = lanes::erf;
};
struct SigmoidOf : Applies<[](const auto& x) { return sigmoid_of(x); }> {
  static constexpr Tails tails{0, 1};
  static constexpr const lanes::Loops& loops = lanes::sigmoid;
};
struct LogOf : Applies<[](const auto& x) { return log_of(x); }> {
  static constexpr double edge = 0;
  static constexpr const lanes::Loops& loops = lanes::log;
};
struct Log2Of : Applies<[](const auto& x) { return log2_of(x); }> {
  static constexpr double edge = 0;
  static constexpr const lanes::Loops& loops = lanes::log2;
};
struct Log10Of : Applies<[](const auto& x) { return log10_of(x); }> {
  static constexpr double edge = 0;
  static constexpr const lanes::Loops& loops = lanes::log10;
};
struct Log1pOf : Applies<[](const auto& x) { return log1p_of(x); }> {
  static constexpr double edge = -1;
  static constexpr const lanes::Loops& loops = lanes::log1p;
};
struct SinOf : Applies<[](const auto& x) { return sin_of(x); }> {
  static constexpr double shift = 0.5;
  static constexpr const lanes::Loops& loops = lanes::sin;
};
struct CosOf : Applies<[](const auto& x) { return cos_of(x); }> {
  static constexpr double shift = 0;
  static constexpr const lanes::Loops& loops = lanes::cos;
};

/// x ** n for an integer n; for another exponent where x > 0.
struct Pow {
  static constexpr const lanes::Loops& loops = lanes::pow;  // integers are left to the formula
  template <class R>
  static Set<R> of(Operands<R> x, const Attributes& attributes, Context c) {
    const Set<R>& y = x[1];
    if (y.is_point && y.has_reals() && !y.may_be(has_nan | any_infinity) && is_exact(y.lo) && lower(y.lo) == upper(y.lo) &&
        std::fabs(lower(y.lo)) < 0x1p62 && std::trunc(lower(y.lo)) == lower(y.lo)) {
      const long n = static_cast<long>(lower(y.lo));
      if (n == 0) return exactly<R>(1, c);  // also of NaN
      const Set<R> power = integer(x[0], n < 0 ? -n : n, c);
      if (n > 0) return power;
      if (x[0].is_point && x[0].has_reals() && !may_be_zero(x[0].lo)) {  // one operation, not two
        Set<R> direct = power;
        direct.lo = direct.hi = pow_of(x[0].lo, n);
        return direct;
      }
      const std::array<Set<R>, 2> quotient = {exactly<R>(1, c), power};
      return Div::of<R>(quotient, attributes, c);
    }
    const Parts p = parts(x[0]), q = parts(y);
    SetBuilder<R> r;
    r.flag(undecided_of(x));
    if (!p.nan && !p.infinite() && !p.neg && !p.zero() && p.pos && !q.nan && !q.infinite() && y.has_reals()) {
      if (all_points(x)) {
        r.real(pow_of(x[0].lo, y.lo));
      } else {
        const R s = pow_of(x[0].lo, y.lo), t = pow_of(x[0].lo, y.hi), u = pow_of(x[0].hi, y.lo), v = pow_of(x[0].hi, y.hi);
        r.reals(min_of(min_of(s, t), min_of(u, v)), max_of(max_of(s, t), max_of(u, v)), false);
      }
      return r.finish(all_points(x));
    }
    if (is_fraction(y)) return fraction(x[0], y, c);
    if (is_huge(y)) return fraction(magnitude(x[0], c), y, c);  // an even integer
    if (!y.has_reals() && std::has_single_bit(static_cast<unsigned>(y.flags & ~no_reals))) return special_exponent(x[0], y, c);
    // an exponent that may be an integer, or infinite: nothing is said here
    r.flag(has_nan | any_infinity | undecided);
    const R everything = R::between(-inf, inf, c);
    r.reals(everything, everything, false);
    r.zeros(true, true);
    return r.finish(all_points(x));
  }

 private:
  /// A single number, and no integer.
  template <class R>
  static bool is_fraction(const Set<R>& y) {
    if (!y.is_point || !y.has_reals() || y.may_be(has_nan | any_infinity)) return false;
    const double below = std::floor(lower(y.lo));
    return lower(y.lo) > below && upper(y.lo) < below + 1;
  }

  /// A double from 2^62 on is an even integer.
  template <class R>
  static bool is_huge(const Set<R>& y) {
    return y.is_point && y.has_reals() && !y.may_be(has_nan | any_infinity) && is_exact(y.lo) && lower(y.lo) == upper(y.lo) && std::fabs(lower(y.lo)) >= 0x1p62 &&
           std::fabs(lower(y.lo)) < inf;
  }

  template <class R>
  static Set<R> magnitude(const Set<R>& x, Context c) {
    Set<R> m = x;
    m.flags = static_cast<std::uint8_t>((x.flags & ~(any_infinity | any_zero)) | (x.may_be(any_infinity) ? has_pinf : 0) | (x.may_be(any_zero) ? has_pzero : 0));
    if (!x.has_reals()) return m;
    const R low = abs_of(x.lo), high = abs_of(x.is_point ? x.lo : x.hi), zero = R::exact(0, c);
    const bool crosses = !x.is_point && !may_be_above_zero(x.lo) && !may_be_below_zero(x.hi);
    m.hi = max_of(low, high);
    m.lo = x.is_point ? low : crosses ? zero : may_be_below_zero(x.lo) && may_be_above_zero(x.hi) ? either(min_of(low, high), zero) : min_of(low, high);
    if (x.is_point) m.hi = m.lo;
    return m;
  }

  /// IEEE 754-2019, 9.2.1: NaN below 0; at 0, and at -inf, as the magnitude (no odd integer has a sign to give).
  template <class R>
  static Set<R> fraction(const Set<R>& x, const Set<R>& y, Context c) {
    const Parts p = parts(x);
    const bool grows = lower(y.lo) > 0;
    const R zero = R::exact(0, c), top = R::between(inf, inf, c);
    SetBuilder<R> r;
    r.flag(x.flags & (has_nan | undecided));
    r.flag(has_nan, p.neg);
    r.flag(undecided, p.unsure || (x.is_point && p.neg && p.pos));
    r.flag(has_pinf, grows ? p.infinite() : p.zero());
    if (grows ? p.zero() : p.infinite()) r.real(zero);
    if (p.pos) {
      const R& high = x.is_point ? x.lo : x.hi;
      const bool apart = lower(x.lo) > 0;
      const R far = lower(high) > 0 ? pow_of(high, y.lo) : upper(high) < inf ? pow_of(R::exact(upper(high), c), y.lo) : grows ? top : zero;
      const R near = apart ? pow_of(x.lo, y.lo) : grows ? zero : top;
      if (x.is_point && apart) r.real(far);
      else if (x.is_point) r.real(either(far, near));
      else r.reals(grows ? near : far, grows ? far : near, false);
    }
    r.zeros(true, false);
    return r.finish(x.is_point && y.is_point);
  }

  /// IEEE 754-2019, 9.2.1: an infinite exponent tells magnitudes below 1 from those above, and gives 1 for 1 and -1; 1 to the power of NaN is 1.
  template <class R>
  static Set<R> special_exponent(const Set<R>& x, const Set<R>& y, Context c) {
    const Parts p = parts(x);
    bool above = p.infinite(), below = false, one = false, minus_one = false;
    if (x.has_reals()) {
      const R low_less = add(x.lo, R::exact(-1, c)), low_more = add(x.lo, R::exact(1, c)), high = x.is_point ? x.lo : x.hi;
      const R high_less = add(high, R::exact(-1, c)), high_more = add(high, R::exact(1, c));
      above = above || may_be_above_zero(high_less) || may_be_below_zero(low_more);
      below = may_be_below_zero(low_less) && may_be_above_zero(high_more);
      one = (may_be_zero(low_less) || may_be_below_zero(low_less)) && (may_be_zero(high_less) || may_be_above_zero(high_less));
      minus_one = (may_be_zero(low_more) || may_be_below_zero(low_more)) && (may_be_zero(high_more) || may_be_above_zero(high_more));
    }
    SetBuilder<R> r;
    r.flag(x.flags & (has_nan | undecided));
    r.flag(undecided, p.unsure || (x.is_point && above + below + one + minus_one > 1));
    bool zero = false;
    if (y.flags & has_nan) {
      r.flag(has_nan, above || below || minus_one);
    } else {
      const bool grows = y.flags & has_pinf;
      r.flag(has_pinf, grows ? above : below);
      zero = grows ? below : above;
      one = one || minus_one;
    }
    const R nothing = R::exact(0, c), unit = R::exact(1, c);
    if (zero && one) r.reals(nothing, unit, false);
    else if (zero || one) r.real(zero ? nothing : unit);
    r.zeros(true, false);
    return r.finish(x.is_point);
  }

  template <class R>
  static Set<R> integer(const Set<R>& x, long n, Context c) {
    const Parts p = parts(x);
    const bool odd = n % 2 != 0;
    SetBuilder<R> r;
    r.flag(x.flags & (has_nan | undecided));
    r.flag(has_pinf, p.pinf || (p.ninf && !odd));
    r.flag(has_ninf, p.ninf && odd);
    if (x.has_reals()) {
      if (x.is_point) {
        r.real(pow_of(x.lo, n));
      } else if (odd) {
        r.reals(pow_of(x.lo, n), pow_of(x.hi, n), false);
      } else {
        const R u = pow_of(x.lo, n), v = pow_of(x.hi, n), zero = R::exact(0, c);
        const bool crosses = may_be_below_zero(x.lo) && may_be_above_zero(x.hi);
        const bool surely = !may_be_above_zero(x.lo) && !may_be_below_zero(x.hi);
        r.reals(!crosses ? min_of(u, v) : surely ? zero : either(min_of(u, v), zero), max_of(u, v), false);
      }
      r.zeros(p.pz || (p.nz && !odd), p.nz && odd);
    }
    return r.finish(x.is_point);
  }
};

constexpr std::string_view nine_two = "IEEE 754-2019, 9.2";

template <class F>
Op function_row(std::string_view name, std::string_view doc, std::string_view source = nine_two) {
  return map_row<F>({.name = name, .doc = doc, .source = source, .rational = false, .function = true});
}

/// A function of which no value at a double is a double but at 0 (exp2: at the integers), where it is known exactly.
template <class F>
Op transcendental_row(std::string_view name, std::string_view doc, std::string_view source = nine_two) {
  return map_row<F>({.name = name, .doc = doc, .source = source, .rational = false, .function = true, .open_ends = true});
}

}  // namespace

std::span<const Op* const> functions() {
  static const Op rows[] = {
      function_row<Sqrt>("sqrt", "sqrt(x): square root; NaN below 0", "IEEE 754-2019, 5.4.1"),
      function_row<Rsqrt>("rsqrt", "rsqrt(x): 1 / sqrt(x)"),
      transcendental_row<Increasing<ExpOf>>("exp", "exp(x): e to the x"),
      transcendental_row<Increasing<Exp2Of>>("exp2", "exp2(x): 2 to the x"),
      transcendental_row<Increasing<Expm1Of>>("expm1", "expm1(x): exp(x) - 1"),
      function_row<Logarithm<LogOf>>("log", "log(x): natural logarithm; -inf at 0, NaN below"),
      function_row<Logarithm<Log2Of>>("log2", "log2(x): logarithm to base 2"),
      function_row<Logarithm<Log10Of>>("log10", "log10(x): logarithm to base 10"),
      function_row<Logarithm<Log1pOf>>("log1p", "log1p(x): log(1 + x)"),
      transcendental_row<Wave<SinOf>>("sin", "sin(x): sine of x in radians"),
      transcendental_row<Wave<CosOf>>("cos", "cos(x): cosine of x in radians"),
      transcendental_row<Increasing<TanhOf>>("tanh", "tanh(x): hyperbolic tangent"),
      transcendental_row<Increasing<ErfOf>>("erf", "erf(x): error function", "C 7.12.8.1"),
      transcendental_row<Increasing<SigmoidOf>>("sigmoid", "sigmoid(x): 1 / (1 + exp(-x))", "StableHLO logistic"),
      map_row<Pow>({.name = "pow",
                    .symbol = "**",
                    .doc = "x ** y: the power; NaN for x < 0 unless y is an integer",
                    .source = nine_two,
                    .operands = 2,
                    .rational = false,
                    .arithmetic = true}),
  };
  static const std::vector<const Op*> all = pointers(rows);
  return all;
}

}  // namespace erx::families
