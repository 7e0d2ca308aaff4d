#include "ops/num/big.hpp"

#include <mpfr.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>
#include <utility>

#include "ops/num/f64_mpfr.hpp"
#include "ops/planted.hpp"

namespace erx {

namespace {

/// The widest exponents MPFR has, in each thread that computes; its caches go with the thread.
struct MpfrThread {
  MpfrThread() {
    mpfr_set_emin(mpfr_get_emin_min());
    mpfr_set_emax(mpfr_get_emax_max());
  }
  ~MpfrThread() { mpfr_free_cache(); }
};
void prepare_thread() { static thread_local const MpfrThread ready; }

/// One MPFR number.
class Number {
 public:
  explicit Number(mpfr_prec_t precision) {
    prepare_thread();
    mpfr_init2(x_, precision);
  }
  ~Number() { mpfr_clear(x_); }
  Number(const Number&) = delete;
  Number& operator=(const Number&) = delete;
  operator mpfr_ptr() { return x_; }
  operator mpfr_srcptr() const { return x_; }

 private:
  mpfr_t x_;
};

}  // namespace

struct Big::Ends {
  explicit Ends(mpfr_prec_t precision) : d(precision), u(precision) {}
  Number d, u;
  bool point = false;  // then u equals d

  mpfr_prec_t precision() const { return mpfr_get_prec(static_cast<mpfr_srcptr>(d)); }
};

/// Makes and opens values.
struct BigAccess {
  /// `fill` writes both ends; no number (unbounded ends met) is no bound.
  template <class Fill>
  static Big make(mpfr_prec_t precision, Fill fill) {
    auto ends = std::make_shared<Big::Ends>(precision);
    fill(*ends);
    if (mpfr_nan_p(static_cast<mpfr_srcptr>(ends->d))) mpfr_set_inf(ends->d, -1);
    if (mpfr_nan_p(static_cast<mpfr_srcptr>(ends->u))) mpfr_set_inf(ends->u, 1);
    ends->point = mpfr_equal_p(ends->d, ends->u);
    return Big(std::shared_ptr<const Big::Ends>(std::move(ends)));
  }
};

namespace {

using Ends = Big::Ends;
using mpfr_in = mpfr_srcptr;

mpfr_prec_t precision_of(Context c) { return std::max<mpfr_prec_t>(c.precision, 64); }
mpfr_prec_t common(const Big& a, const Big& b) { return std::max(a.ends().precision(), b.ends().precision()); }

/// f(x) rounded down and up, from one evaluation: `f(result, x, rounding)` is correctly rounded.
template <class F>
void both_sides(mpfr_ptr d, mpfr_ptr u, F f) {
  const int inexact = f(d, MPFR_RNDD);
  mpfr_set(u, d, MPFR_RNDU);  // same precision
  if (inexact && mpfr_number_p(static_cast<mpfr_in>(d)))
    mpfr_nextabove(u);
  else if (inexact)
    f(u, MPFR_RNDU);
}

/// A monotone function applied to both ends.
template <class F>
Big monotone(const Big& a, bool increasing, F f) {
  const Ends& x = a.ends();
  return BigAccess::make(x.precision(), [&](Ends& r) {
    if (x.point) {
      both_sides(r.d, r.u, [&](mpfr_ptr y, mpfr_rnd_t rnd) { return f(y, x.d, rnd); });
    } else {
      f(r.d, increasing ? x.d : x.u, MPFR_RNDD);
      f(r.u, increasing ? x.u : x.d, MPFR_RNDU);
    }
  });
}
template <class F>
Big increasing(const Big& a, F f) {
  return monotone(a, true, f);
}

/// f, rounded up above its value where that is exact: the upper end of an open enclosure, which no result reaches.
template <class F>
auto unreached(F f) {
  return [f](mpfr_ptr y, mpfr_in x, mpfr_rnd_t rnd) {
    const int inexact = f(y, x, rnd);
    if (!inexact && rnd == MPFR_RNDU && mpfr_number_p(x) && mpfr_sgn(mpfr_in(y)) > 0 && !planted(Mistake::exact_end_unmoved)) mpfr_nextabove(y);
    return inexact;
  };
}

/// |f'| <= 1 and |f| <= 1: the value at one end, widened by the width of the enclosure.
template <class F>
Big wave(const Big& a, F f) {
  const Ends& x = a.ends();
  return BigAccess::make(x.precision(), [&](Ends& r) {
    // reducing a gigantic argument takes as many bits of pi as it has
    const auto huge = [](mpfr_in e) { return !mpfr_number_p(e) || (!mpfr_zero_p(e) && mpfr_get_exp(e) > 1 << 16); };
    const auto all = [&] {
      mpfr_set_si(r.d, -1, MPFR_RNDD);
      mpfr_set_si(r.u, 1, MPFR_RNDU);
      if (x.point || (mpfr_cmp_d(x.d, -1.5) > 0 && mpfr_cmp_d(x.u, 1.5) < 0 && mpfr_sgn(mpfr_in(x.d)) * mpfr_sgn(mpfr_in(x.u)) > 0)) return;
      mpfr_nextbelow(r.d);  // a turning point may lie between
      mpfr_nextabove(r.u);
    };
    if (huge(x.d) || huge(x.u)) return all();
    both_sides(r.d, r.u, [&](mpfr_ptr y, mpfr_rnd_t rnd) { return f(y, x.d, rnd); });
    if (x.point) return;
    Number width(64);
    mpfr_sub(width, x.u, x.d, MPFR_RNDU);
    mpfr_sub(r.d, r.d, width, MPFR_RNDD);
    mpfr_add(r.u, r.u, width, MPFR_RNDU);
    Number d(x.precision()), u(x.precision());
    mpfr_swap(d, r.d);
    mpfr_swap(u, r.u);
    all();
    mpfr_max(r.d, r.d, d, MPFR_RNDD);
    mpfr_min(r.u, r.u, u, MPFR_RNDU);
  });
}

/// The smallest and largest of f over the corners of a box.
template <class F>
Big corners(const Big& a, const Big& b, F f) {
  const Ends &x = a.ends(), &y = b.ends();
  const mpfr_prec_t p = common(a, b);
  return BigAccess::make(p, [&](Ends& r) {
    if (x.point && y.point) return both_sides(r.d, r.u, [&](mpfr_ptr z, mpfr_rnd_t rnd) { return f(z, x.d, y.d, rnd); });
    mpfr_set_inf(r.d, 1);
    mpfr_set_inf(r.u, -1);
    Number d(p), u(p);
    for (mpfr_in i : {mpfr_in(x.d), mpfr_in(x.u)})
      for (mpfr_in j : {mpfr_in(y.d), mpfr_in(y.u)}) {
        f(d, i, j, MPFR_RNDD);
        f(u, i, j, MPFR_RNDU);
        if (mpfr_nan_p(mpfr_in(d))) mpfr_set_inf(d, -1);
        if (mpfr_nan_p(mpfr_in(u))) mpfr_set_inf(u, 1);
        mpfr_min(r.d, r.d, d, MPFR_RNDD);
        mpfr_max(r.u, r.u, u, MPFR_RNDU);
      }
  });
}

int product(mpfr_ptr z, mpfr_in x, mpfr_in y, mpfr_rnd_t rnd) {
  if (mpfr_zero_p(x) || mpfr_zero_p(y)) return mpfr_set_zero(z, 1), 0;  // also times an unbounded end
  return mpfr_mul(z, x, y, rnd);
}

int logistic(mpfr_ptr y, mpfr_in x, mpfr_rnd_t rnd) {
  if (mpfr_inf_p(x)) return mpfr_set_ui(y, mpfr_sgn(x) > 0, rnd);
  if (mpfr_zero_p(x)) return mpfr_set_d(y, 0.5, rnd);  // the only rational case
  // 1 / (1 + exp(-x)) with every step rounded away from the side that is asked for
  Number e(mpfr_get_prec(y) + 16), minus(mpfr_get_prec(x));
  const mpfr_rnd_t other = rnd == MPFR_RNDD ? MPFR_RNDU : MPFR_RNDD;
  mpfr_neg(minus, x, MPFR_RNDN);  // same precision: exact
  mpfr_exp(e, minus, other);
  mpfr_add_ui(e, e, 1, other);
  mpfr_ui_div(y, 1, e, rnd);
  return 1;
}
/// Both sides of the logistic function, which is not correctly rounded here.
Big sigmoid(const Big& a) {
  const Ends& x = a.ends();
  return BigAccess::make(x.precision(), [&](Ends& r) {
    logistic(r.d, x.d, MPFR_RNDD);
    x.point ? logistic(r.u, x.u, MPFR_RNDU) : unreached(logistic)(r.u, x.u, MPFR_RNDU);
  });
}

Big no_bound(mpfr_prec_t p) {
  return BigAccess::make(p, [](Ends& r) {
    mpfr_set_inf(r.d, -1);
    mpfr_set_inf(r.u, 1);
  });
}

Chopped chopped(mpfr_in x) {
  if (!mpfr_number_p(x)) return chop_end(mpfr_sgn(x) > 0 ? 1.0 / 0.0 : -1.0 / 0.0);
  Chopped c;
  c.negative = mpfr_signbit(x);
  if (mpfr_zero_p(x)) return c;
  Number top(64);
  c.sticky = mpfr_set(top, x, MPFR_RNDZ) != 0;
  long e = 0;
  // The top 64 bits as two doubles: 53 and the rest, both exact.
  const double high = mpfr_get_d_2exp(&e, top, MPFR_RNDZ);  // in [1/2, 1)
  Number rest(64);
  mpfr_set_d(rest, high, MPFR_RNDZ);
  mpfr_mul_2si(rest, rest, e, MPFR_RNDZ);
  mpfr_sub(rest, top, rest, MPFR_RNDZ);
  mpfr_mul_2si(rest, rest, 64 - e, MPFR_RNDZ);
  const auto high_bits = static_cast<std::uint64_t>(std::ldexp(std::fabs(high), 64));
  c.significand = high_bits + static_cast<std::uint64_t>(std::fabs(mpfr_get_d(rest, MPFR_RNDZ)));
  c.exponent = static_cast<int>(std::clamp<long>(e - 1, -(1 << 20), 1 << 20));
  return c;
}

int read(mpfr_ptr x, const std::string& text, mpfr_rnd_t rnd) {
  char* end = nullptr;
  const int inexact = mpfr_strtofr(x, text.c_str(), &end, 10, rnd);
  if (end == text.c_str() || *end || !mpfr_number_p(mpfr_in(x))) {
    if (end == text.c_str() || *end || mpfr_nan_p(mpfr_in(x))) throw Bug("not a number: " + text);
  }
  return inexact;
}

}  // namespace

Big::Big() {
  static const std::shared_ptr<const Ends> zero = [] {
    auto ends = std::make_shared<Ends>(64);
    mpfr_set_zero(ends->d, 1);
    mpfr_set_zero(ends->u, 1);
    ends->point = true;
    return ends;
  }();
  ends_ = zero;
}

Big Big::exact(double x, Context c) { return between(x, x, c); }
Big Big::between(double d, double u, Context c) {
  return BigAccess::make(precision_of(c), [&](Ends& r) {
    mpfr_set_d(r.d, d, MPFR_RNDD);
    mpfr_set_d(r.u, u, MPFR_RNDU);
  });
}
Big Big::literal(std::string_view text, Context c) {
  const auto slash = text.find('/');
  if (slash != text.npos) return div(literal(text.substr(0, slash), c), literal(text.substr(slash + 1), c));
  if (text == "pi")
    return BigAccess::make(precision_of(c), [](Ends& r) {
      mpfr_const_pi(r.d, MPFR_RNDD);
      mpfr_const_pi(r.u, MPFR_RNDU);
    });
  const std::string s(text);
  return BigAccess::make(precision_of(c), [&](Ends& r) {
    read(r.d, s, MPFR_RNDD);
    read(r.u, s, MPFR_RNDU);
  });
}
Big Big::scaled(const std::uint64_t* limbs, std::size_t count, bool negative, long exponent, Context c) {
  static_assert(sizeof(unsigned long) == 8);
  return BigAccess::make(std::max<mpfr_prec_t>(precision_of(c), 64 * static_cast<mpfr_prec_t>(count)), [&](Ends& r) {
    mpfr_set_zero(r.d, 1);
    Number limb(64);
    for (std::size_t i = count; i-- > 0;) {
      mpfr_set_ui_2exp(limb, limbs[i], exponent + 64 * static_cast<long>(i), MPFR_RNDZ);
      mpfr_add(r.d, r.d, limb, MPFR_RNDZ);  // exact: fits the precision
    }
    if (negative) mpfr_neg(r.d, r.d, MPFR_RNDZ);
    mpfr_set(r.u, r.d, MPFR_RNDZ);
  });
}

Big add(const Big& a, const Big& b) {
  const Ends &x = a.ends(), &y = b.ends();
  return BigAccess::make(common(a, b), [&](Ends& r) {
    if (x.point && y.point) return both_sides(r.d, r.u, [&](mpfr_ptr z, mpfr_rnd_t rnd) { return mpfr_add(z, x.d, y.d, rnd); });
    mpfr_add(r.d, x.d, y.d, MPFR_RNDD);
    mpfr_add(r.u, x.u, y.u, MPFR_RNDU);
  });
}
Big sub(const Big& a, const Big& b) { return add(a, neg(b)); }
Big mul(const Big& a, const Big& b) { return corners(a, b, product); }
Big div(const Big& a, const Big& b) {
  if (may_be_zero(b)) return no_bound(common(a, b));
  return corners(a, b, mpfr_div);
}
Big neg(const Big& a) {
  const Ends& x = a.ends();
  return BigAccess::make(x.precision(), [&](Ends& r) {
    mpfr_neg(r.d, x.u, MPFR_RNDD);
    mpfr_neg(r.u, x.d, MPFR_RNDU);
  });
}
Big abs_of(const Big& a) {
  const Ends& x = a.ends();
  if (mpfr_sgn(mpfr_in(x.d)) >= 0) return a;
  if (mpfr_sgn(mpfr_in(x.u)) <= 0) return neg(a);
  return BigAccess::make(x.precision(), [&](Ends& r) {
    mpfr_set_zero(r.d, 1);
    mpfr_neg(r.u, x.d, MPFR_RNDU);
    mpfr_max(r.u, r.u, x.u, MPFR_RNDU);
  });
}
Big min_of(const Big& a, const Big& b) {
  return BigAccess::make(common(a, b), [&](Ends& r) {
    mpfr_min(r.d, a.ends().d, b.ends().d, MPFR_RNDD);
    mpfr_min(r.u, a.ends().u, b.ends().u, MPFR_RNDU);
  });
}
Big max_of(const Big& a, const Big& b) {
  return BigAccess::make(common(a, b), [&](Ends& r) {
    mpfr_max(r.d, a.ends().d, b.ends().d, MPFR_RNDD);
    mpfr_max(r.u, a.ends().u, b.ends().u, MPFR_RNDU);
  });
}
Big either(const Big& a, const Big& b) {
  return BigAccess::make(common(a, b), [&](Ends& r) {
    mpfr_min(r.d, a.ends().d, b.ends().d, MPFR_RNDD);
    mpfr_max(r.u, a.ends().u, b.ends().u, MPFR_RNDU);
  });
}

Big floor_of(const Big& a) { return increasing(a, mpfr_rint_floor); }
Big ceil_of(const Big& a) { return increasing(a, mpfr_rint_ceil); }
Big trunc_of(const Big& a) { return increasing(a, mpfr_rint_trunc); }
Big rint_of(const Big& a) { return increasing(a, mpfr_rint_roundeven); }
Big sqrt_of(const Big& a) { return increasing(a, mpfr_sqrt); }
Big rsqrt_of(const Big& a) { return monotone(a, false, mpfr_rec_sqrt); }
Big exp_of(const Big& a) { return increasing(a, unreached(mpfr_exp)); }
Big exp2_of(const Big& a) { return increasing(a, unreached(mpfr_exp2)); }
Big expm1_of(const Big& a) { return increasing(a, mpfr_expm1); }
Big log_of(const Big& a) { return increasing(a, mpfr_log); }
Big log2_of(const Big& a) { return increasing(a, mpfr_log2); }
Big log10_of(const Big& a) { return increasing(a, mpfr_log10); }
Big log1p_of(const Big& a) { return increasing(a, mpfr_log1p); }
Big tanh_of(const Big& a) { return increasing(a, mpfr_tanh); }
Big erf_of(const Big& a) { return increasing(a, mpfr_erf); }
Big sigmoid_of(const Big& a) { return sigmoid(a); }
Big sin_of(const Big& a) { return wave(a, mpfr_sin); }
Big cos_of(const Big& a) { return wave(a, mpfr_cos); }

Big pow_of(const Big& a, long n) {
  const auto power = [n](mpfr_ptr y, mpfr_in x, mpfr_rnd_t rnd) { return mpfr_pow_si(y, x, n, rnd); };
  const bool odd = n % 2 != 0;
  if (n < 0 && may_be_zero(a)) return no_bound(a.ends().precision());
  return monotone(odd ? a : abs_of(a), n >= 0, power);
}
Big pow_of(const Big& a, const Big& b) { return corners(a, b, mpfr_pow); }

double half_turns(double x, double shift) {
  if (x == 0) return std::floor(shift);
  for (mpfr_prec_t p = 128;; p *= 2) {  // x / pi is irrational: it ends
    Number lo(p), hi(p);
    mpfr_const_pi(lo, MPFR_RNDD);
    mpfr_const_pi(hi, MPFR_RNDU);
    mpfr_d_div(lo, x, lo, x > 0 ? MPFR_RNDU : MPFR_RNDD);  // the far end
    mpfr_d_div(hi, x, hi, x > 0 ? MPFR_RNDD : MPFR_RNDU);  // the near end
    mpfr_add_d(lo, lo, shift, x > 0 ? MPFR_RNDU : MPFR_RNDD);
    mpfr_add_d(hi, hi, shift, x > 0 ? MPFR_RNDD : MPFR_RNDU);
    mpfr_floor(lo, lo);
    mpfr_floor(hi, hi);
    if (mpfr_equal_p(lo, hi)) return mpfr_get_d(lo, MPFR_RNDN);
  }
}

Comparison compare(const Big& a, const Big& b) {
  const Ends &x = a.ends(), &y = b.ends();
  if (mpfr_less_p(x.u, y.d)) return Comparison::less;
  if (mpfr_greater_p(x.d, y.u)) return Comparison::greater;
  return x.point && y.point ? Comparison::equal : Comparison::unknown;
}
double lower(const Big& a) { return mpfr_get_d(a.ends().d, MPFR_RNDD); }
double upper(const Big& a) { return mpfr_get_d(a.ends().u, MPFR_RNDU); }
Chopped chop_lower(const Big& a) { return chopped(a.ends().d); }
Chopped chop_upper(const Big& a) { return chopped(a.ends().u); }
bool may_be_zero(const Big& a) { return mpfr_sgn(mpfr_in(a.ends().d)) <= 0 && mpfr_sgn(mpfr_in(a.ends().u)) >= 0; }
bool is_exact(const Big& a) { return a.ends().point; }
bool may_be_below_zero(const Big& a) { return mpfr_sgn(mpfr_in(a.ends().d)) < 0; }
bool may_be_above_zero(const Big& a) { return mpfr_sgn(mpfr_in(a.ends().u)) > 0; }

// ---- float64 enclosures whose operations need MPFR ----

namespace {

/// f rounded to 53 bits and then outward into the range of doubles.
template <class F>
double side(double x, mpfr_rnd_t rnd, F f) {
  if (x != x) return rnd == MPFR_RNDD ? -f64::infinity : f64::infinity;
  Number in(53), out(53);
  mpfr_set_d(in, x, MPFR_RNDN);
  f(out, in, rnd);
  const double y = mpfr_get_d(out, rnd);
  return y == y ? y : rnd == MPFR_RNDD ? -f64::infinity : f64::infinity;
}

template <class F>
F64 monotone(const F64& a, bool increasing, F f) {
  if (a.d != a.u) return {side(increasing ? a.d : a.u, MPFR_RNDD, f), side(increasing ? a.u : a.d, MPFR_RNDU, f)};
  Number x(53), d(53), u(53);
  mpfr_set_d(x, a.d, MPFR_RNDN);
  both_sides(d, u, [&](mpfr_ptr y, mpfr_rnd_t rnd) { return f(y, x, rnd); });
  const F64 r{mpfr_get_d(d, MPFR_RNDD), mpfr_get_d(u, MPFR_RNDU)};
  return {r.d == r.d ? r.d : -f64::infinity, r.u == r.u ? r.u : f64::infinity};
}
template <class F>
F64 increasing(const F64& a, F f) {
  return monotone(a, true, f);
}

template <class F>
F64 wave(const F64& a, F f) {
  if (!f64::is_finite(a.d) || !f64::is_finite(a.u)) return {-f64::most_of_wave(a), f64::most_of_wave(a)};
  const F64 at = increasing({a.d, a.d}, f);
  if (a.d == a.u) return at;
  const double width = f64::sum(a.u, -a.d).u, most = f64::most_of_wave(a);
  return {std::max(-most, f64::sum(at.d, -width).d), std::min(most, f64::sum(at.u, width).u)};
}

}  // namespace

F64 F64::literal(std::string_view text, Context) {
  const Big x = Big::literal(text, {128});  // rounded outward twice in the same direction: rounded once
  return {lower(x), upper(x)};
}
namespace f64::mpfr {
F64 exp(const F64& a) { return increasing(a, unreached(mpfr_exp)); }
F64 exp2(const F64& a) { return increasing(a, unreached(mpfr_exp2)); }
F64 expm1(const F64& a) { return increasing(a, mpfr_expm1); }
F64 log(const F64& a) { return increasing(a, mpfr_log); }
F64 log2(const F64& a) { return increasing(a, mpfr_log2); }
F64 log10(const F64& a) { return increasing(a, mpfr_log10); }
F64 log1p(const F64& a) { return increasing(a, mpfr_log1p); }
F64 tanh(const F64& a) { return increasing(a, mpfr_tanh); }
F64 erf(const F64& a) { return increasing(a, mpfr_erf); }
F64 sin(const F64& a) { return wave(a, mpfr_sin); }
F64 cos(const F64& a) { return wave(a, mpfr_cos); }
F64 sigmoid(const F64& a) { return {side(a.d, MPFR_RNDD, logistic), a.d == a.u ? side(a.u, MPFR_RNDU, logistic) : side(a.u, MPFR_RNDU, unreached(logistic))}; }
F64 pow(const F64& a, const F64& b) {
  const Big x = pow_of(Big::between(a.d, a.u, {64}), Big::between(b.d, b.u, {64}));
  return {lower(x), upper(x)};
}
}  // namespace f64::mpfr

F64 pow_of(const F64& a, long n) {
  if (n < 0 && a.d <= 0 && a.u >= 0) return {-f64::infinity, f64::infinity};
  const auto power = [n](mpfr_ptr y, mpfr_in x, mpfr_rnd_t rnd) { return mpfr_pow_si(y, x, n, rnd); };
  return monotone(n % 2 != 0 ? a : abs_of(a), n >= 0, power);
}

}  // namespace erx
