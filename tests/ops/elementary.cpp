// The proved bounds of the float64 functions against MPFR at 120 bits: where they are used, and how much of a bound is spent.
#include <doctest/doctest.h>

#include "ops/num/elementary.hpp"
#include "ops/num/f64.hpp"
#include "tests/ops/support.hpp"

using namespace erx;
using namespace erx::test;

namespace {

struct Function {
  const char* name;
  F64 (*f)(const F64&);
  int (*exact)(mpfr_ptr, mpfr_srcptr, mpfr_rnd_t);
  double least, most;  // arguments, on a logarithmic scale of magnitudes
  bool negative;
  double width;  // of the enclosure, relative to 1 (waves, erf) or to the result
  bool absolute;
};

int logistic(mpfr_ptr y, mpfr_srcptr x, mpfr_rnd_t) {
  mpfr_neg(y, x, MPFR_RNDN);
  mpfr_exp(y, y, MPFR_RNDN);
  mpfr_add_ui(y, y, 1, MPFR_RNDN);
  return mpfr_ui_div(y, 1, y, MPFR_RNDN);
}

}  // namespace

TEST_CASE("elementary functions: the truth lies well inside the bound") {
  const Function functions[] = {
      {"exp", exp_of, mpfr_exp, 0x1p-60, 700, true, 0x1p-48, false},
      {"exp2", exp2_of, mpfr_exp2, 0x1p-60, 1000, true, 0x1p-47, false},
      {"expm1", expm1_of, mpfr_expm1, 0x1p-300, 700, true, 0x1p-46, false},
      {"sigmoid", sigmoid_of, logistic, 0x1p-60, 700, true, 0x1p-47, false},
      {"tanh", tanh_of, mpfr_tanh, 0x1p-300, 350, true, 0x1p-45, false},
      {"log", log_of, mpfr_log, 0x1p-1022, 0x1p1023, false, 0x1p-47, false},
      {"log2", log2_of, mpfr_log2, 0x1p-1022, 0x1p1023, false, 0x1p-46, false},
      {"log10", log10_of, mpfr_log10, 0x1p-1022, 0x1p1023, false, 0x1p-46, false},
      {"log1p", log1p_of, mpfr_log1p, 0x1p-300, 0x1p999, true, 0x1p-46, false},
      {"sin", sin_of, mpfr_sin, 0x1p-300, 0x1p20, true, 0x1p-48, true},
      {"cos", cos_of, mpfr_cos, 0x1p-300, 0x1p20, true, 0x1p-48, true},
      {"erf", erf_of, mpfr_erf, 0x1p-300, 6, true, 0x1p-48, true},
  };
  Doubles random(20260111);
  mpfr_t in, y;
  mpfr_inits2(120, in, y, static_cast<mpfr_ptr>(nullptr));
  for (const Function& f : functions) {
    double spent = 0;  // of the half width
    for (int round = 0; round < 40000; ++round) {
      const double t = double(random.bits() >> 11) * 0x1p-53;
      double x = round % 2 ? std::exp(std::log(f.least) * (1 - t) + std::log(f.most) * t) : std::min(f.most, 8.0) * t;
      if (std::string_view(f.name).substr(0, 4) == "log" && round % 4 == 0) x = 1 + (t - 0.5) * std::ldexp(1.0, -int(random.bits() % 40));
      if (f.negative && random.bits() % 2) x = -x;
      if (std::string_view(f.name) == "log1p" && x <= -1) x = -x;
      if (std::string_view(f.name).substr(0, 3) == "sin" && round % 8 == 0)
        x = std::nextafter(double(random.bits() % 500000) * 1.5707963267948966, 0);
      if (x == 0 || std::fabs(x) < 0x1p-890) continue;
      mpfr_set_d(in, x, MPFR_RNDN);
      f.exact(y, in, MPFR_RNDN);
      const F64 e = f.f({x, x});
      CAPTURE(std::string(f.name));
      CAPTURE(hex(x));
      CAPTURE(hex(e.d));
      CAPTURE(hex(e.u));
      CHECK(mpfr_cmp_d(y, e.d) >= 0);
      CHECK(mpfr_cmp_d(y, e.u) <= 0);
      const double value = std::fabs(mpfr_get_d(y, MPFR_RNDN));
      CHECK(e.u - e.d <= f.width * (f.absolute ? 1 : value) + 0x1p-1073);
      const double half = (e.u - e.d) / 2;
      // Some are cut where the function cannot be: there the other end alone tells.
      const auto is_cut = [&](double end) { return std::fabs(end) == 1 || end == 0.5 || std::fabs(end) == std::fabs(x); };
      if (half > value * 0x1p-51 && !is_cut(e.d) && !is_cut(e.u)) {
        mpfr_sub_d(y, y, e.d + half, MPFR_RNDN);
        spent = std::max(spent, std::fabs(mpfr_get_d(y, MPFR_RNDN)) / half);
      }
    }
    MESSAGE(std::string(f.name), " spends ", spent, " of its bound");
    CHECK(spent < 0.9);
  }
  mpfr_clears(in, y, static_cast<mpfr_ptr>(nullptr));
}
