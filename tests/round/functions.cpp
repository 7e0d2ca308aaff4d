// Functions rounded on their way from array to array (ops/function_run.hpp) against MPFR: what they decide, near midpoints above all.
#include <mpfr.h>

#include <bit>
#include <cmath>
#include <random>
#include <sstream>

#include "eval/buffer.hpp"
#include "ops/function_run.hpp"
#include "ops/stream_copy.hpp"
#include "tests/round/checks.hpp"

namespace erx::test {
namespace {

using Found = std::optional<std::string>;

int logistic(mpfr_ptr y, mpfr_srcptr x, mpfr_rnd_t) {
  mpfr_neg(y, x, MPFR_RNDN);
  mpfr_exp(y, y, MPFR_RNDN);
  mpfr_add_ui(y, y, 1, MPFR_RNDN);
  return mpfr_ui_div(y, 1, y, MPFR_RNDN);
}

long double erf_inverse(long double y) {
  long double x = std::tan(y);
  for (int i = 0; i < 60; ++i) x -= (std::erf(x) - y) / (1.1283791670955125739L * std::exp(-x * x) + 1e-30L);
  return x;
}

struct Function {
  const char* name;
  const FunctionRun& run;
  int (*exact)(mpfr_ptr, mpfr_srcptr, mpfr_rnd_t);
  long double (*inverse)(long double);
  int low, high;   // results of magnitudes 2^low .. 2^high, as far as the format has them
  bool negative;
};

const Function functions[] = {
    {"exp", lanes::run_exp, mpfr_exp, std::log, -120, 120, false},
    {"exp2", lanes::run_exp2, mpfr_exp2, std::log2, -120, 120, false},
    {"expm1", lanes::run_expm1, mpfr_expm1, std::log1p, -100, 100, false},
    {"log", lanes::run_log, mpfr_log, std::exp, -30, 6, true},
    {"log2", lanes::run_log2, mpfr_log2, std::exp2, -30, 6, true},
    {"log10", lanes::run_log10, mpfr_log10, [](long double y) { return std::pow(10.0L, y); }, -30, 5, true},
    {"log1p", lanes::run_log1p, mpfr_log1p, std::expm1, -100, 5, false},
    {"tanh", lanes::run_tanh, mpfr_tanh, std::atanh, -100, -1, true},
    {"sigmoid", lanes::run_sigmoid, logistic, [](long double y) { return std::log(y / (1 - y)); }, -100, -1, false},
    {"erf", lanes::run_erf, mpfr_erf, erf_inverse, -20, -1, true},
    {"sin", lanes::run_sin, mpfr_sin, std::asin, -40, -1, true},
    {"cos", lanes::run_cos, mpfr_cos, std::acos, -40, -1, true},
    {"sqrt", lanes::run_sqrt, mpfr_sqrt, [](long double y) { return y * y; }, -60, 60, false},
    {"rsqrt", lanes::run_rsqrt, mpfr_rec_sqrt, [](long double y) { return 1 / (y * y); }, -60, 60, false},
};

/// An argument whose result lies beside a midpoint of the format, beside a power of two, or anywhere.
double argument(const Function& f, const Format& format, std::mt19937_64& random) {
  const int low = std::max(f.low, format.emin() - 1), high = std::min(f.high, format.emax()), p = format.precision();
  const int e = low + static_cast<int>(random() % static_cast<std::uint64_t>(high - low + 1));
  const bool wave = f.run.f64.plain == lanes::run_sin.f64.plain || f.run.f64.plain == lanes::run_cos.f64.plain;
  if (wave && random() % 2) {  // around a multiple of pi / 2 the error is that of the argument: just above a power of two, or anywhere
    const long double turn = static_cast<long double>(1 + random() % 400000) * 1.57079632679489661923132169L;
    const long double offset = std::ldexp(1.0L + (random() % 2 ? std::ldexp(static_cast<long double>(random() % 1024), -p - 9) : static_cast<long double>(random() % 1024) / 1024), e);
    return static_cast<double>(random() % 2 ? turn + offset : turn - offset);
  }
  const std::uint64_t fraction = random() % 6 == 0 ? 0 : random() & ((std::uint64_t{1} << p) - 1);
  long double y = std::ldexp(1.0L + std::ldexp(static_cast<long double>(fraction | (fraction ? 1 : 0)), -p), e);  // p + 1 bits, the last one set
  if (f.negative && random() % 2) y = -y;
  const double x = static_cast<double>(f.inverse(y));
  const std::int64_t steps = static_cast<std::int64_t>(random() % 9) - 4;
  return random() % 4 ? std::bit_cast<double>(std::bit_cast<std::int64_t>(x) + steps) : static_cast<double>(static_cast<float>(x));
}

Found wrong(const Function& f, const Format& format, double x, double got, mpfr_ptr in, mpfr_ptr y, mpfr_ptr rounded) {
  mpfr_set_d(in, x, MPFR_RNDN);
  f.exact(y, in, MPFR_RNDN);
  mpfr_set_prec(rounded, format.precision());
  mpfr_set(rounded, y, MPFR_RNDN);  // 200 bits do not lie on a midpoint unless they are exact
  const double r = mpfr_get_d(rounded, MPFR_RNDN);
  if (r == got && std::fabs(r) >= format.min_normal() && std::fabs(r) <= format.max_finite()) return {};
  std::ostringstream text;
  text << std::hexfloat << f.name << "(" << x << ") into " << format.name << " is " << r << ", not " << got;
  return text.str();
}

template <class T>
bool runs(const Function& f, const BulkRounding& round, const std::vector<double>& x, double* out, bool past_caches) {
  const std::vector<T> in(x.begin(), x.end());
  const bool decided = function_run(f.run, round, in.data(), out, in.size(), past_caches);
  end_of_stream();
  return decided;
}

Found runs_alike(const Function& f, const BulkRounding& round, const std::vector<double>& x, const std::vector<double>& expected, bool floats) {
  for (const bool past_caches : {false, true}) {
    Doubles out(x.size());
    const bool decided = floats ? runs<float>(f, round, x, out.data(), past_caches) : runs<double>(f, round, x, out.data(), past_caches);
    if (!decided) return std::string(f.name) + ": a number is decided alone and not beside others";
    for (std::size_t i = 0; i < x.size(); ++i)
      if (out[i] != expected[i]) return std::string(f.name) + ": a number is rounded otherwise beside others";
  }
  return {};
}

Found rounded_functions(int effort, Figures& figures) {
  std::mt19937_64 random(37);
  mpfr_t in, y, rounded;
  mpfr_inits2(200, in, y, rounded, static_cast<mpfr_ptr>(nullptr));
  struct Clear {
    mpfr_ptr a, b, c;
    ~Clear() { mpfr_clears(a, b, c, static_cast<mpfr_ptr>(nullptr)); }
  } clear{in, y, rounded};
  for (const Function& f : functions)
    for (const char* name : {"f32", "bf16", "f16", "f8e4m3fn", "f8e5m2", "e8m30"}) {
      const Format format = std::string(name) == "e8m30" ? make_format({.e = 8, .m = 30}) : *find_format(name);
      const BulkRounding round(format, {});
      if (!can_function_run(round)) return std::string(name) + " has no function_run";
      std::vector<double> kept[2], results[2];
      for (int i = 0; i < effort * 40; ++i) {
        const double x = argument(f, format, random);
        const bool is_float = static_cast<double>(static_cast<float>(x)) == x;
        double got = 0;
        ++figures.cases;
        if (!function_run(f.run, round, &x, &got, 1, false)) continue;
        ++figures.values;
        if (Found g = wrong(f, format, x, got, in, y, rounded)) return g;
        kept[is_float].push_back(x);
        results[is_float].push_back(got);
      }
      for (const bool floats : {false, true})
        if (Found g = runs_alike(f, round, kept[floats], results[floats], floats)) return g;
    }
  return {};
}

/// Ordinary numbers are decided: no more than a few in a thousand are left to the tiles.
Found ordinary_functions(int, Figures& figures) {
  std::mt19937_64 random(38);
  std::normal_distribution<double> normal(0, 3);
  for (const Function& f : functions)
    for (const char* name : {"f32", "bf16"}) {
      const BulkRounding round(*find_format(name), {});
      int left = 0;
      for (int i = 0; i < 4000; ++i) {
        const double x = std::fabs(normal(random)) + 1e-6;
        double got;
        ++figures.cases;
        left += !function_run(f.run, round, &x, &got, 1, false);
      }
      if (left > 12) return std::string(f.name) + " into " + name + ": " + std::to_string(left) + " of 4000 are not decided";
    }
  return {};
}

}  // namespace

const std::vector<Check>& function_checks() {
  static const std::vector<Check> all = {{"functions, rounded on the way", rounded_functions}, {"functions, decided", ordinary_functions}};
  return all;
}

}  // namespace erx::test
