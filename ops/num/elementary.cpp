// Functions of float64 enclosures: elementary.hpp where its bounds hold, MPFR elsewhere.
#include "ops/num/elementary.hpp"

#include <algorithm>
#include <limits>

#include "ops/clones.hpp"
#include "ops/num/big.hpp"
#include "ops/num/f64_mpfr.hpp"
#include "ops/planted.hpp"

namespace erx {

namespace {

using elementary::Value;

// Compiled for each instruction set: without FMA in the processor one is a call of the C library.
#define ERX_AT(name) ERX_VECTOR_CLONES Value name##_at(double x) { return elementary::name(x); }
ERX_AT(exp) ERX_AT(exp2) ERX_AT(expm1) ERX_AT(log) ERX_AT(log2) ERX_AT(log10) ERX_AT(log1p) ERX_AT(sin) ERX_AT(cos) ERX_AT(tanh) ERX_AT(sigmoid)
#undef ERX_AT
ERX_VECTOR_CLONES Value pow_at(double x, double y) { return elementary::pow(x, y); }
ERX_VECTOR_CLONES Value erf_at(double x, const elementary::ErfTable& table) { return elementary::erf(x, table); }

/// An increasing function; `at_zero` is its exact value at 0, or NaN. No result reaches the upper end of what an open enclosure gives.
template <class Fast, class Slow>
F64 increasing(const F64& a, Fast fast, Slow slow, double at_zero) {
  if (a.d == 0 && a.u == 0 && at_zero == at_zero) return {at_zero, at_zero};
  const Value low = fast(a.d);
  if (a.d == a.u) return low.good ? F64{low.d, low.u} : slow(a);
  const Value high = fast(a.u);
  const bool reached = high.d == high.u && high.u > 0 && !planted(Mistake::exact_end_unmoved);
  return low.good && high.good ? F64{low.d, reached ? f64::next_above(high.u) : high.u} : slow(a);
}

/// |f'| <= 1 and |f| <= 1.
template <class Fast, class Slow>
F64 wave(const F64& a, Fast fast, Slow slow, double at_zero) {
  if (a.d == 0 && a.u == 0) return {at_zero, at_zero};
  const Value at = fast(a.d);
  if (!at.good || a.d == 0 || !f64::is_finite(a.u)) return slow(a);
  if (a.d == a.u) return {at.d, at.u};
  const double width = f64::sum(a.u, -a.d).u, most = f64::most_of_wave(a);
  return {std::max(-most, f64::sum(at.d, -width).d), std::min(most, f64::sum(at.u, width).u)};
}

constexpr double below_one = 0x1.fffffffffffffp-1;
bool are_finite(const F64& a) { return f64::is_finite(a.d) && f64::is_finite(a.u); }

constexpr double none = std::numeric_limits<double>::quiet_NaN();

elementary::ErfTable make_erf_table() {
  const Context c{80};
  const auto nearest = [](const Big& x) { return lower(x) + (upper(x) - lower(x)) / 2; };
  const Big slope = div(Big::exact(2, c), sqrt_of(Big::literal("3.14159265358979323846264338327950288419716939937510582097494", c)));
  elementary::ErfTable table;
  for (int k = 0; k < elementary::ErfTable::count; ++k) {
    const Big at = Big::exact(k / 128.0, c);
    table.at[k].value = k == 0 ? 0 : nearest(erf_of(at));
    table.at[k].slope = nearest(mul(slope, exp_of(neg(mul(at, at)))));
  }
  return table;
}

Value erf_from_table(double x) { return erf_at(x, elementary::erf_table()); }

}  // namespace

const elementary::ErfTable& elementary::erf_table() {
  static const ErfTable table = make_erf_table();
  return table;
}

// Past the doubles no function needs computing: e^709.8 > 2^1024, e^-745.2 < 2^-1075. Nor near 1: 1 - tanh 350, 1 - sigmoid 700 and e^-700 are below 2^-1000.
F64 exp_of(const F64& a) {
  if (are_finite(a)) {
    if (a.d >= 709.8) return {f64::largest, f64::infinity};
    if (a.u <= -745.2) return {0, 0x1p-1074};
  }
  return increasing(a, exp_at, f64::mpfr::exp, 1);
}
F64 exp2_of(const F64& a) {
  if (are_finite(a)) {
    if (a.d > 1024) return {f64::largest, f64::infinity};
    if (a.u < -1075) return {0, 0x1p-1074};
  }
  return increasing(a, exp2_at, f64::mpfr::exp2, 1);
}
F64 expm1_of(const F64& a) {
  if (are_finite(a)) {
    if (a.d >= 709.8) return {f64::largest, f64::infinity};
    if (a.u < -700) return {-1, -below_one};
  }
  return increasing(a, expm1_at, f64::mpfr::expm1, 0);
}
F64 log_of(const F64& a) { return increasing(a, log_at, f64::mpfr::log, none); }
F64 log2_of(const F64& a) { return increasing(a, log2_at, f64::mpfr::log2, none); }
F64 log10_of(const F64& a) { return increasing(a, log10_at, f64::mpfr::log10, none); }
F64 log1p_of(const F64& a) { return increasing(a, log1p_at, f64::mpfr::log1p, 0); }
F64 tanh_of(const F64& a) {
  if (are_finite(a)) {
    if (a.d > 350) return {below_one, 1};
    if (a.u < -350) return {-1, -below_one};
  }
  return increasing(a, tanh_at, f64::mpfr::tanh, 0);
}
F64 sigmoid_of(const F64& a) {
  if (are_finite(a)) {
    if (a.d > 700) return {below_one, 1};
    if (a.u <= -745.2) return {0, 0x1p-1074};
  }
  return increasing(a, sigmoid_at, f64::mpfr::sigmoid, 0.5);
}
F64 erf_of(const F64& a) { return increasing(a, erf_from_table, f64::mpfr::erf, 0); }
F64 sin_of(const F64& a) { return wave(a, sin_at, f64::mpfr::sin, 0); }
F64 cos_of(const F64& a) { return wave(a, cos_at, f64::mpfr::cos, 1); }

/// The extremes lie at corners.
F64 pow_of(const F64& a, const F64& b) {
  Value all = pow_at(a.d, b.d);
  const auto add = [&all](const Value& v) { all = {std::min(all.d, v.d), std::max(all.u, v.u), all.good && v.good}; };
  if (b.d != b.u) add(pow_at(a.d, b.u));
  if (a.d != a.u) add(pow_at(a.u, b.d));
  if (a.d != a.u && b.d != b.u) add(pow_at(a.u, b.u));
  return all.good ? F64{all.d, all.u} : f64::mpfr::pow(a, b);
}

}  // namespace erx
