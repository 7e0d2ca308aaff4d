// Functions of float64 enclosures: elementary.hpp where its bounds hold, MPFR elsewhere.
#include "ops/num/elementary.hpp"

#include <algorithm>
#include <array>

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
  if (!at.good || !f64::is_finite(a.u)) return slow(a);
  if (a.d == a.u) return {at.d, at.u};
  const double width = f64::sum(a.u, -a.d).u;
  return {std::max(-1.0, f64::sum(at.d, -width).d), std::min(1.0, f64::sum(at.u, width).u)};
}

/// erf near the middle of each eighth of [0, 6]: Taylor coefficients, from MPFR at first use.
/// The n-th one is below 54 * 2^(1-n) (Cauchy on a circle of radius 2), so for |h| <= 1/16 what follows h^13 is below 2^-58.
struct ErfPieces {
  static constexpr int count = 48, degree = 13;
  std::array<std::array<double, degree + 1>, count> coefficient;

  ErfPieces() {
    const Context c{160};
    const auto nearest = [](const Big& x) { return lower(x) + (upper(x) - lower(x)) / 2; };
    const Big two = Big::exact(2, c);
    for (int j = 0; j < count; ++j) {
      const Big at = Big::exact((2 * j + 1) / 16.0, c);
      // erf' = g with g' = -2 x g and g(0) = 2 / sqrt(pi); g_n are the Taylor coefficients of g
      const Big pi = Big::literal("3.14159265358979323846264338327950288419716939937510582097494", c);
      Big before = Big::exact(0, c), g = mul(div(two, sqrt_of(pi)), exp_of(neg(mul(at, at))));
      coefficient[j][0] = nearest(erf_of(at));
      for (int n = 0; n < degree; ++n) {
        const Big order = Big::exact(n + 1, c);
        coefficient[j][n + 1] = nearest(div(g, order));
        const Big next = div(neg(mul(two, add(mul(at, g), before))), order);
        before = g;
        g = next;
      }
    }
  }
};

/// bound: near 0 (a series in x^2 to x^15 / 7!) relative error 2^-50; to 6 error 2^-50: half a unit each for the leading
/// coefficient, its product and the sum, and the tail; from 6 on erf is within 2^-55 of 1.
Value erf(double x) {
  static const ErfPieces pieces;
  const double a = elementary::magnitude(x);
  if (!(a >= 0x1p-900)) return {0, 0, false};
  double y = 1, error = 0x1p-53;
  if (a < 0.125) {
    const double z = x * x;
    double s = -1.0 / 75600;
    s = s * z + 1.0 / 9360;
    s = s * z - 1.0 / 1320;
    s = s * z + 1.0 / 216;
    s = s * z - 1.0 / 42;
    s = s * z + 1.0 / 10;
    s = s * z - 1.0 / 3;
    constexpr double slope = 0x1.20dd750429b6dp+0;  // 2 / sqrt(pi)
    y = a * (slope + slope * (z * s));
    error = y * 0x1.4p-50;
  } else if (a < 6) {
    const int j = static_cast<int>(a * 8);
    const auto& c = pieces.coefficient[static_cast<std::size_t>(j)];
    const double h = a - (2 * j + 1) / 16.0;  // exact
    double s = c[ErfPieces::degree];
    for (int n = ErfPieces::degree - 1; n >= 1; --n) s = s * h + c[static_cast<std::size_t>(n)];
    y = c[0] + h * s;
    error = 0x1.4p-50;
  }
  const Value v{y - error, std::min(1.0, y + error), true};
  return x < 0 ? Value{-v.u, -v.d, true} : v;
}

constexpr double none = std::numeric_limits<double>::quiet_NaN();

}  // namespace

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
