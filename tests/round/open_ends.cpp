// Functions beside a power of two (tanh far out, exp and cos at almost 0) within ulps: which binade the result lies in, against MPFR with so many bits
// that it is no doubt; and that nothing decided so is left out where the result is the power itself.
#include <mpfr.h>

#include <cmath>
#include <limits>
#include <sstream>

#include "ops/approximate.hpp"
#include "tests/format/judge.hpp"
#include "tests/round/checks.hpp"

namespace erx::test {
namespace {

using Found = std::optional<std::string>;

int logistic(mpfr_ptr y, mpfr_srcptr x, mpfr_rnd_t rnd) {
  mpfr_t e;
  mpfr_init2(e, 16000);
  mpfr_neg(e, x, MPFR_RNDN);
  mpfr_exp(e, e, MPFR_RNDN);
  mpfr_add_ui(e, e, 1, MPFR_RNDN);
  const int inexact = mpfr_ui_div(y, 1, e, rnd);
  mpfr_clear(e);
  return inexact;
}

struct Function {
  const char* name;
  F64 (*f64)(const F64&);
  Big (*big)(const Big&);
  int (*exact)(mpfr_ptr, mpfr_srcptr, mpfr_rnd_t);
};

const Function functions[] = {
    {"exp", exp_of, exp_of, mpfr_exp},       {"exp2", exp2_of, exp2_of, mpfr_exp2}, {"expm1", expm1_of, expm1_of, mpfr_expm1},
    {"tanh", tanh_of, tanh_of, mpfr_tanh},   {"erf", erf_of, erf_of, mpfr_erf},     {"sigmoid", sigmoid_of, sigmoid_of, logistic},
    {"cos", cos_of, cos_of, mpfr_cos},
};

const double arguments[] = {0, 0x1p-1074, 0x1p-149, 0x1.8p-60, 0x1p-40, 26, 40.5, 500, 720, 900, 5000};

/// f(x) as a rational number, to 3200 bits and toward 0: below 1 where f(x) is.
mpq_class value_of(const Function& f, double x) {
  mpfr_t in, y;
  mpfr_inits2(3200, in, y, static_cast<mpfr_ptr>(nullptr));
  mpfr_set_d(in, x, MPFR_RNDN);
  f.exact(y, in, MPFR_RNDZ);
  mpq_class q;
  mpfr_get_q(q.get_mpq_t(), y);
  mpfr_clears(in, y, static_cast<mpfr_ptr>(nullptr));
  return q;
}

mpq_class ulp_of(const Format& f, const mpq_class& x) {
  const mpq_class m = abs(x);
  mpq_class unit = judging::exactly(f.min_positive());
  const mpq_class steps = mpq_class(1) / judging::exactly(std::ldexp(1.0, f.precision() - 1));
  mpq_class power = judging::exactly(f.min_normal());
  if (m < power) return unit;
  mpz_class quotient = m.get_num() * power.get_den() / (m.get_den() * power.get_num());
  mpz_class top;
  mpz_mul_2exp(top.get_mpz_t(), mpz_class(1).get_mpz_t(), mpz_sizeinbase(quotient.get_mpz_t(), 2) - 1);
  return power * top * steps;
}

/// To the nearest value of an IEEE format, ties to even, from the definition.
double nearest(const Format& f, const mpq_class& x) {
  if (x == 0) return 0;
  const mpq_class unit = ulp_of(f, x), steps = abs(x) / unit;
  mpz_class n = steps.get_num() / steps.get_den();
  const mpq_class rest = steps - n, half(1, 2);
  if (rest > half || (rest == half && n % 2 != 0)) ++n;
  const mpq_class r = n * unit;
  const double magnitude = r > judging::exactly(f.max_finite()) ? std::numeric_limits<double>::infinity() : r.get_d();
  return x < 0 ? -magnitude : magnitude;
}

/// The least and the largest result that the bound allows.
struct Legal {
  double least, most;
};
Legal legal(const Format& f, const mpq_class& q, double ulps) {
  const mpq_class reach = judging::exactly(ulps) * ulp_of(f, q);
  return {nearest(f, q - reach), nearest(f, q + reach)};
}

template <class R>
bool allows(const Set<R>& s, double v) {
  if (std::isinf(v)) return s.flags & (v > 0 ? has_pinf : has_ninf);
  return s.has_reals() && lower(s.lo) <= v && v <= upper(s.is_point ? s.lo : s.hi);
}

template <class R>
Found left_out(const Set<R>& s, const Legal& legal, const std::string& what) {
  for (const double v : {legal.least, legal.most})
    if (!allows(s, v)) return what + ": " + judging::hex(v) + " is legal and left out";
  return {};
}

/// Does the set end at the two values, known without doubt?
template <class R>
Found too_wide(const Set<R>& s, const Legal& legal, const std::string& what) {
  const R& hi = s.is_point ? s.lo : s.hi;
  const bool tight = std::isinf(legal.least)  ? !s.has_reals()
                     : std::isinf(legal.most) ? lower(s.lo) == legal.least && upper(s.lo) == legal.least
                                              : lower(s.lo) == legal.least && upper(s.lo) == legal.least && lower(hi) == legal.most && upper(hi) == legal.most;
  return tight && !(s.flags & undecided) ? Found() : what + ": the set is not " + judging::hex(legal.least) + " .. " + judging::hex(legal.most);
}

Attributes within_ulps(const Format& f, double ulps) {
  Attributes a;
  a.format = f;
  a.ulp = ulps;
  a.open_ends = true;
  return a;
}

Found widened(const Function& f, double x, const Attributes& a, const mpq_class& q) {
  const mpq_class reach = judging::exactly(a.ulp) * ulp_of(*a.format, q);
  if (abs(q) > judging::exactly(a.format->max_finite())) return {};
  const Set<Big> s = widen(Set<Big>::point(f.big(Big::exact(x, {}))), a, {});
  if (judging::exactly(lower(s.lo)) <= q - reach && q + reach <= judging::exactly(upper(s.hi))) return {};
  return std::string("within ") + a.format->name + " of " + f.name + " of " + judging::hex(x) + ": an end is left out";
}

Found beside_powers(int, Figures& figures) {
  for (const Format& format : {*find_format("f32"), *find_format("bf16"), *find_format("f16"), make_format({.e = 8, .m = 30})}) {
    for (const Function& f : functions)
      for (const double m : arguments)
        for (const double x : {m, -m}) {
          const mpq_class q = value_of(f, x);
          for (const double ulps : {0.5, 1.0, 1.5, 2.0, 3.0, 4.0, 7.0}) {
            const Attributes a = within_ulps(format, ulps);
            std::ostringstream what;
            what << "approx<" << format.name << ", ulp=" << ulps << ">(" << f.name << "(" << judging::hex(x) << "))";
            const Legal ends = legal(format, q, ulps);
            const Set<F64> one = Set<F64>::point(f.f64(F64::exact(x)));
            const Set<Big> two = Set<Big>::point(f.big(Big::exact(x, {})));
            const Set<F64> fast = approximate<F64>({&one, 1}, a, {});
            const Set<Big> slow = approximate<Big>({&two, 1}, a, {});
            ++figures.cases;
            figures.values += 4;
            if (Found g = left_out(fast, ends, what.str())) return g;
            if (Found g = left_out(slow, ends, what.str() + " in multiple precision")) return g;
            if (Found g = widened(f, x, a, q)) return g;
            if (!stands_for(a, 0) || ulps != std::floor(ulps)) continue;  // halves: just above a power the end may be a tie, which more bits tell
            if (Found g = too_wide(fast, ends, what.str())) return g;
          }
        }
  }
  return {};
}

/// sin and cos of an enclosure around a turning point reach 1 there.
Found turning_points(int, Figures& figures) {
  const Format format = *find_format("f32");
  const Attributes a = within_ulps(format, 1);
  const Legal ends = legal(format, 1, 1);
  const double half_pi = 0x1.921fb54442d18p+0;
  for (const int k : {0, 1, 2, 4}) {  // quarters of a turn
    const F64 x = k == 0 ? F64{-0x1p-40, 0x1p-40} : F64{k * half_pi, f64::next_above(k * half_pi)};
    const Big y = Big::between(x.d, x.u, {});
    const Set<F64> one = Set<F64>::point(k == 1 ? sin_of(x) : cos_of(x));
    const Set<Big> two = Set<Big>::point(k == 1 ? sin_of(y) : cos_of(y));
    ++figures.cases;
    figures.values += 4;
    const Legal at = k == 2 ? Legal{-ends.most, -ends.least} : ends;
    const std::string what = std::string(k == 1 ? "sin" : "cos") + " of " + judging::hex(x.d) + " .. " + judging::hex(x.u);
    if (Found g = left_out(approximate<F64>({&one, 1}, a, {}), at, what)) return g;
    if (Found g = left_out(approximate<Big>({&two, 1}, a, {}), at, what + " in multiple precision")) return g;
  }
  return {};
}

/// Arguments known by an enclosure that ends at 0, where the result is a power of two: both ends are possible.
Found open_arguments(int, Figures& figures) {
  const Format format = *find_format("f32");
  for (const Function& f : functions)
    for (const double m : {0x1p-149, 0x1p-60, 0x1p-30})
      for (const F64 x : {F64{-m, 0}, F64{0, m}}) {
        const Set<F64> one = Set<F64>::point(f.f64(x));
        const Set<Big> two = Set<Big>::point(f.big(Big::between(x.d, x.u, {})));
        for (const double ulps : {1.0, 2.0, 3.0})
          for (const double end : {x.d, x.u}) {
            const Attributes a = within_ulps(format, ulps);
            const Legal ends = legal(format, value_of(f, end), ulps);
            const std::string what = std::string(f.name) + " of " + judging::hex(x.d) + " .. " + judging::hex(x.u);
            ++figures.cases;
            figures.values += 4;
            if (Found g = left_out(approximate<F64>({&one, 1}, a, {}), ends, what)) return g;
            if (Found g = left_out(approximate<Big>({&two, 1}, a, {}), ends, what + " in multiple precision")) return g;
          }
      }
  return {};
}

}  // namespace

const std::vector<Check>& open_end_checks() {
  static const std::vector<Check> all = {{"beside powers of two", beside_powers}, {"beside powers of two, open arguments", open_arguments}, {"turning points", turning_points}};
  return all;
}

}  // namespace erx::test
