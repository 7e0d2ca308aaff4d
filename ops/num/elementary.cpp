// Functions of float64 enclosures: elementary.hpp where its bounds hold, MPFR elsewhere.
#include "ops/num/elementary.hpp"

#include <algorithm>
#include <limits>

#include "ops/num/big.hpp"
#include "ops/num/f64_mpfr.hpp"

namespace erx {

namespace {

using elementary::Value;

/// An increasing function; `at_zero` is its exact value at 0, or NaN.
template <class Fast, class Slow>
F64 increasing(const F64& a, Fast fast, Slow slow, double at_zero) {
  if (a.d == 0 && a.u == 0 && at_zero == at_zero) return {at_zero, at_zero};
  const Value low = fast(a.d);
  const Value high = a.d == a.u ? low : fast(a.u);
  return low.good && high.good ? F64{low.d, high.u} : slow(a);
}

/// |f'| <= 1 and |f| <= 1.
template <class Fast, class Slow>
F64 wave(const F64& a, Fast fast, Slow slow, double at_zero) {
  if (a.d == 0 && a.u == 0) return {at_zero, at_zero};
  const Value at = fast(a.d);
  if (!at.good || a.d == 0 || !f64::is_finite(a.u)) return slow(a);
  if (a.d == a.u) return {at.d, at.u};
  const double width = f64::sum(a.u, -a.d).u;
  return {std::max(-1.0, f64::sum(at.d, -width).d), std::min(1.0, f64::sum(at.u, width).u)};
}

constexpr double none = std::numeric_limits<double>::quiet_NaN();

elementary::ErfTable make_erf_table() {
  const Context c{80};
  const auto nearest = [](const Big& x) { return lower(x) + (upper(x) - lower(x)) / 2; };
  const Big slope = div(Big::exact(2, c), sqrt_of(Big::literal("3.14159265358979323846264338327950288419716939937510582097494", c)));
  elementary::ErfTable table;
  for (int k = 0; k < elementary::ErfTable::count; ++k) {
    const Big at = Big::exact(k / 128.0, c);
    table.value[k] = k == 0 ? 0 : nearest(erf_of(at));
    table.slope[k] = nearest(mul(slope, exp_of(neg(mul(at, at)))));
  }
  return table;
}

Value erf(double x) { return elementary::erf(x, elementary::erf_table()); }

}  // namespace

const elementary::ErfTable& elementary::erf_table() {
  static const ErfTable table = make_erf_table();
  return table;
}

F64 exp_of(const F64& a) { return increasing(a, elementary::exp, f64::mpfr::exp, 1); }
F64 exp2_of(const F64& a) { return increasing(a, elementary::exp2, f64::mpfr::exp2, 1); }
F64 expm1_of(const F64& a) { return increasing(a, elementary::expm1, f64::mpfr::expm1, 0); }
F64 log_of(const F64& a) { return increasing(a, elementary::log, f64::mpfr::log, none); }
F64 log2_of(const F64& a) { return increasing(a, elementary::log2, f64::mpfr::log2, none); }
F64 log10_of(const F64& a) { return increasing(a, elementary::log10, f64::mpfr::log10, none); }
F64 log1p_of(const F64& a) { return increasing(a, elementary::log1p, f64::mpfr::log1p, 0); }
F64 tanh_of(const F64& a) { return increasing(a, elementary::tanh, f64::mpfr::tanh, 0); }
F64 sigmoid_of(const F64& a) { return increasing(a, elementary::sigmoid, f64::mpfr::sigmoid, 0.5); }
F64 erf_of(const F64& a) { return increasing(a, erf, f64::mpfr::erf, 0); }
F64 sin_of(const F64& a) { return wave(a, elementary::sin, f64::mpfr::sin, 0); }
F64 cos_of(const F64& a) { return wave(a, elementary::cos, f64::mpfr::cos, 1); }

}  // namespace erx
