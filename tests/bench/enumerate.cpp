// The loops of the elementary functions over all float32 numbers, or every k-th: does each enclosure hold the value, how often do its
// ends round apart, and does what is rounded on the way from array to array (ops/function_run.hpp) round as they do? The judge is the C library in extended precision (64 bits); where its value lies in the outer tenth of an enclosure, or
// outside, MPFR at 160 bits decides. Run by hand; docs/soundness.md keeps the figures.
//   build/tests/erx_enumerate [k [offset [function ..]]]      exits with the number of enclosures that miss
#include <mpfr.h>

#include <bit>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <string_view>
#include <vector>

#include "ir/format.hpp"
#include "ops/function_run.hpp"
#include "ops/lanes.hpp"
#include "ops/round_bulk.hpp"

using namespace erx;

namespace {

int logistic(mpfr_ptr y, mpfr_srcptr x, mpfr_rnd_t) {
  mpfr_neg(y, x, MPFR_RNDN);
  mpfr_exp(y, y, MPFR_RNDN);
  mpfr_add_ui(y, y, 1, MPFR_RNDN);
  return mpfr_ui_div(y, 1, y, MPFR_RNDN);
}

template <int numerator, int denominator>
int power(mpfr_ptr y, mpfr_srcptr x, mpfr_rnd_t rounding) {
  mpfr_t e;
  mpfr_init2(e, 53);
  mpfr_set_d(e, static_cast<double>(numerator) / denominator, MPFR_RNDN);
  const int ternary = mpfr_pow(y, x, e, rounding);
  mpfr_clear(e);
  return ternary;
}

struct Function {
  const char* name;
  const lanes::Loops& loops;
  long double (*judge)(long double);
  int (*exact)(mpfr_ptr, mpfr_srcptr, mpfr_rnd_t);
  double exponent = 0;  // of pow
};
const Function functions[] = {
    {"exp", lanes::exp, std::exp, mpfr_exp},       {"exp2", lanes::exp2, std::exp2, mpfr_exp2},    {"expm1", lanes::expm1, std::expm1, mpfr_expm1},
    {"log", lanes::log, std::log, mpfr_log},       {"log2", lanes::log2, std::log2, mpfr_log2},    {"log10", lanes::log10, std::log10, mpfr_log10},
    {"log1p", lanes::log1p, std::log1p, mpfr_log1p}, {"sin", lanes::sin, std::sin, mpfr_sin},      {"cos", lanes::cos, std::cos, mpfr_cos},
    {"tanh", lanes::tanh, std::tanh, mpfr_tanh},   {"erf", lanes::erf, std::erf, mpfr_erf},
    {"sigmoid", lanes::sigmoid, [](long double x) { return 1 / (1 + std::exp(-x)); }, logistic},
    {"sqrt", lanes::root, std::sqrt, mpfr_sqrt},   {"rsqrt", lanes::rsqrt, [](long double x) { return 1 / std::sqrt(x); }, mpfr_rec_sqrt},
    {"pow 0.3", lanes::pow, [](long double x) { return std::pow(x, static_cast<long double>(0.3)); }, power<3, 10>, 0.3},
    {"pow -2.5", lanes::pow, [](long double x) { return std::pow(x, -2.5L); }, power<-5, 2>, -2.5},
};

constexpr std::size_t block = 4096;

struct Counts {
  std::uint64_t numbers = 0, formula = 0, mpfr = 0, missed = 0, apart[2] = {0, 0}, on_the_way[2] = {0, 0};
};

bool holds(const Function& f, double x, double d, double u) {
  static mpfr_t in, y;
  static const bool made = (mpfr_inits2(160, in, y, static_cast<mpfr_ptr>(nullptr)), true);
  (void)made;
  mpfr_set_d(in, x, MPFR_RNDN);
  const int ternary = f.exact(y, in, MPFR_RNDN);
  // A value that 160 bits do not hold lies within a unit of y: beside a double of y's last bits the sign of the error decides.
  const int low = mpfr_cmp_d(y, d), high = mpfr_cmp_d(y, u);
  return (low > 0 || (low == 0 && ternary <= 0)) && (high < 0 || (high == 0 && ternary >= 0));
}

Counts enumerate(const Function& f, std::uint64_t step, std::uint64_t offset) {
  Counts c;
  const BulkRounding roundings[] = {{*find_format("f32"), {}}, {*find_format("bf16"), {}}};
  std::vector<double> x(block), e(block, f.exponent), d(block), u(block), lo(block), hi(block);
  std::vector<std::uint64_t> bad(block);
  std::size_t n = 0, kept = 0;
  /// What is decided on the way has to be what both ends are rounded to.
  const auto compare = [&](int k) {
    for (std::size_t i = 0; f.loops.run && i < kept; ++i) {
      double quick;
      if (!function_run(*f.loops.run, roundings[k], &x[i], &quick, 1, false)) continue;
      ++c.on_the_way[k];
      if ((quick != lo[i] || quick != hi[i]) && c.missed++ < 10) std::printf("%s(%a) is rounded to %a on the way, its ends to %a and %a\n", f.name, x[i], quick, lo[i], hi[i]);
    }
  };
  const auto work = [&] {
    std::fill_n(bad.begin(), n, 0);
    f.loops.exact({x.data(), x.data(), e.data(), e.data(), d.data(), u.data(), bad.data(), n});
    kept = 0;
    for (std::size_t i = 0; i < n; ++i) {
      if (bad[i]) continue;
      const long double t = f.judge(x[i]), margin = (static_cast<long double>(u[i]) - d[i]) / 20;
      if (!(t - d[i] > margin && u[i] - t > margin)) {
        ++c.mpfr;
        if (!holds(f, x[i], d[i], u[i])) {
          if (c.missed++ < 10) std::printf("%s(%a) is not in [%a, %a]\n", f.name, x[i], d[i], u[i]);
        }
      }
      x[kept] = x[i];
      d[kept] = d[i];
      u[kept++] = u[i];
    }
    c.numbers += n;
    c.formula += n - kept;
    for (int k = 0; k < 2; ++k) c.apart[k] += roundings[k].enclosures(d.data(), u.data(), lo.data(), hi.data(), kept), compare(k);
    n = 0;
  };
  for (std::uint64_t bits = offset; bits < std::uint64_t{1} << 32; bits += step) {
    const float value = std::bit_cast<float>(static_cast<std::uint32_t>(bits));
    if (!std::isfinite(value)) continue;
    x[n++] = value;
    if (n == block) work();
  }
  if (n > 0) work();
  return c;
}

}  // namespace

int main(int argc, char** argv) {
  const std::uint64_t step = argc > 1 ? std::strtoull(argv[1], nullptr, 10) : 1, offset = argc > 2 ? std::strtoull(argv[2], nullptr, 10) : 0;
  std::uint64_t missed = 0;
  for (const Function& f : functions) {
    bool chosen = argc <= 3;
    for (int k = 3; k < argc; ++k) chosen = chosen || std::string_view(argv[k]) == f.name;
    if (!chosen || step == 0) continue;
    const Counts c = enumerate(f, step, offset);
    std::printf("%-9s %10llu numbers, %10llu left to the formula, %9llu judged by MPFR, %llu missed; undecided: f32 %llu, bf16 %llu; decided on the way: f32 %llu, bf16 %llu\n", f.name,
                static_cast<unsigned long long>(c.numbers), static_cast<unsigned long long>(c.formula), static_cast<unsigned long long>(c.mpfr),
                static_cast<unsigned long long>(c.missed), static_cast<unsigned long long>(c.apart[0]), static_cast<unsigned long long>(c.apart[1]),
                static_cast<unsigned long long>(c.on_the_way[0]), static_cast<unsigned long long>(c.on_the_way[1]));
    std::fflush(stdout);
    missed += c.missed;
  }
  return missed > 0;
}
