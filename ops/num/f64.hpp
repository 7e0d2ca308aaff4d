// A real number enclosed by two doubles, d <= x <= u. Bulk tier.
// Directed bounds come from the residual of round-to-nearest (TwoSum, FMA), never from a rounding-mode switch; an exact result
// stays one number. d = -inf or u = inf: no bound. Functions (exp, ...) have proved bounds of a few units (elementary.hpp), or MPFR.
//   add(F64::exact(1), F64::exact(2))   d == u == 3
#pragma once
#ifdef __FAST_MATH__
#error "enclosures need IEEE 754 arithmetic as written: compile without -ffast-math"
#endif
#include <bit>
#include <cmath>
#include <limits>
#include <string_view>

#include "ops/num/set.hpp"

namespace erx {

struct F64 {
  double d = 0;
  double u = 0;
  static F64 exact(double x, Context = {}) { return {x, x}; }
  static F64 between(double d, double u, Context = {}) { return {d, u}; }
  static F64 literal(std::string_view, Context = {});
};

namespace f64 {

constexpr double infinity = std::numeric_limits<double>::infinity();
constexpr double largest = std::numeric_limits<double>::max();

inline double next_above(double x) {
  if (!(x < infinity)) return x;                           // inf and NaN stay
  const auto bits = std::bit_cast<std::int64_t>(x + 0.0);  // -0 becomes +0
  return std::bit_cast<double>(bits + (bits >= 0 ? 1 : -1));
}
inline double next_below(double x) { return -next_above(-x); }

/// Of a normal double, whatever its sign.
inline bool is_power_of_two(double x) { return std::bit_cast<std::uint64_t>(x) << 12 == 0; }

/// Error of s = fl(a + b): a + b - s, exact unless something overflows (then it may be NaN). source: Knuth, TAOCP 2, 4.2.2.
inline double sum_residual(double a, double b, double s) {
  const double t = s - a;
  return (a - (s - t)) + (b - t);
}

/// Signs of a*b - p, a/b - q and sqrt(a) - s where the residual could underflow: on scaled significands.
int product_residual_sign(double a, double b, double p);
int quotient_residual_sign(double a, double b, double q);
int root_residual_sign(double a, double s);

// Bounds of one operation. `sign` < 0: the exact value is below the computed one. A computed infinity is an overflow unless an
// operand was unbounded; NaN (0 times unbounded is 0; else unknown) gives no bound.
inline double bounded_below(double x, double residual) { return residual >= 0 ? x : next_below(x); }
inline double bounded_above(double x, double residual) { return residual <= 0 ? x : next_above(x); }

inline F64 unusual(double x, bool unbounded_operand) {
  if (x != x) return {-infinity, infinity};
  if (unbounded_operand) return {x, x};
  return x > 0 ? F64{largest, infinity} : F64{-infinity, -largest};
}

inline bool is_finite(double x) { return std::fabs(x) <= largest; }

inline F64 sum(double a, double b) {
  const double s = a + b;
  if (!is_finite(s)) [[unlikely]]
    return unusual(s, !is_finite(a) || !is_finite(b));
  const double r = sum_residual(a, b, s);
  return {bounded_below(s, r), bounded_above(s, r)};
}

/// Below this a residual of products, quotients and squares may underflow.
constexpr double safe_product = 0x1p-960;

inline F64 product(double a, double b) {
  const double p = a * b;
  if (std::fabs(p) >= safe_product) [[likely]] {
    if (!is_finite(p)) [[unlikely]]
      return unusual(p, !is_finite(a) || !is_finite(b));
    const double r = std::fma(a, b, -p);
    return {bounded_below(p, r), bounded_above(p, r)};
  }
  if (a == 0 || b == 0) return {0, 0};
  if (p != p) return {-infinity, infinity};
  const int r = product_residual_sign(a, b, p);
  return {bounded_below(p, r), bounded_above(p, r)};
}

inline F64 quotient(double a, double b) {
  const double q = a / b;
  if (std::fabs(q) >= 0x1p-1000 && std::fabs(a) >= safe_product && std::fabs(a) <= largest && std::fabs(b) <= largest) [[likely]] {
    if (!is_finite(q)) [[unlikely]]
      return unusual(q, false);
    const double r = std::fma(-q, b, a);
    const double sign = b < 0 ? -r : r;
    return {bounded_below(q, sign), bounded_above(q, sign)};
  }
  if (a == 0) return {0, 0};
  if (!is_finite(a) || !is_finite(b)) {
    if (!is_finite(a) && !is_finite(b)) return {-infinity, infinity};
    return is_finite(a) ? F64{0, 0} : F64{q, q};  // a bound only: the unbounded end itself is no number
  }
  if (!is_finite(q)) return unusual(q, b == 0);
  const int r = quotient_residual_sign(a, b, q);
  return {bounded_below(q, r), bounded_above(q, r)};
}

inline F64 root(double a) {
  const double s = std::sqrt(a);
  if (a >= safe_product && a <= largest) [[likely]] {
    const double r = std::fma(-s, s, a);
    return {bounded_below(s, r), bounded_above(s, r)};
  }
  if (a == 0) return {0, 0};
  if (!is_finite(a)) return {a, a};
  const int r = root_residual_sign(a, s);
  return {bounded_below(s, r), bounded_above(s, r)};
}

inline bool is_point(const F64& x) { return x.d == x.u; }

}  // namespace f64

inline F64 add(const F64& a, const F64& b) {
  const F64 lo = f64::sum(a.d, b.d);
  if (f64::is_point(a) && f64::is_point(b)) return lo;
  return {lo.d, f64::sum(a.u, b.u).u};
}
inline F64 neg(const F64& a) { return {-a.u, -a.d}; }
inline F64 sub(const F64& a, const F64& b) { return add(a, neg(b)); }

inline F64 mul(const F64& a, const F64& b) {
  const F64 p = f64::product(a.d, b.d);
  const bool one_a = f64::is_point(a), one_b = f64::is_point(b);
  if (one_a && one_b) return p;
  if (one_a || one_b) {
    const F64 q = f64::product(a.u, b.u);
    return {std::fmin(p.d, q.d), std::fmax(p.u, q.u)};
  }
  const F64 q = f64::product(a.d, b.u), r = f64::product(a.u, b.d), s = f64::product(a.u, b.u);
  return {std::fmin(std::fmin(p.d, q.d), std::fmin(r.d, s.d)), std::fmax(std::fmax(p.u, q.u), std::fmax(r.u, s.u))};
}

/// A divisor that may be 0 gives no bound.
inline F64 div(const F64& a, const F64& b) {
  if (b.d <= 0 && b.u >= 0) return {-f64::infinity, f64::infinity};
  const F64 p = f64::quotient(a.d, b.d);
  if (f64::is_point(a) && f64::is_point(b)) return p;
  const F64 q = f64::quotient(a.d, b.u), r = f64::quotient(a.u, b.d), s = f64::quotient(a.u, b.u);
  return {std::fmin(std::fmin(p.d, q.d), std::fmin(r.d, s.d)), std::fmax(std::fmax(p.u, q.u), std::fmax(r.u, s.u))};
}

inline F64 abs_of(const F64& a) {
  if (a.d >= 0) return a;
  if (a.u <= 0) return neg(a);
  return {0, std::fmax(-a.d, a.u)};
}
inline F64 min_of(const F64& a, const F64& b) { return {a.d < b.d ? a.d : b.d, a.u < b.u ? a.u : b.u}; }
inline F64 max_of(const F64& a, const F64& b) { return {a.d > b.d ? a.d : b.d, a.u > b.u ? a.u : b.u}; }
inline F64 either(const F64& a, const F64& b) { return {a.d < b.d ? a.d : b.d, a.u > b.u ? a.u : b.u}; }

inline F64 sqrt_of(const F64& a) {
  const F64 lo = f64::root(a.d);
  return f64::is_point(a) ? lo : F64{lo.d, f64::root(a.u).u};
}
inline F64 floor_of(const F64& a) { return {std::floor(a.d), std::floor(a.u)}; }
inline F64 ceil_of(const F64& a) { return {std::ceil(a.d), std::ceil(a.u)}; }
inline F64 trunc_of(const F64& a) { return {std::trunc(a.d), std::trunc(a.u)}; }
inline F64 rint_of(const F64& a) { return {std::nearbyint(a.d), std::nearbyint(a.u)}; }

/// Two roundings: a few units wide.
inline F64 rsqrt_of(const F64& a) {
  const F64 top = f64::root(a.d), bottom = f64::is_point(a) ? top : f64::root(a.u);  // near 0 the bound is missing
  return {bottom.u > 0 ? f64::quotient(1, bottom.u).d : 0, top.d > 0 ? f64::quotient(1, top.d).u : f64::infinity};
}
F64 exp_of(const F64&);
F64 exp2_of(const F64&);
F64 expm1_of(const F64&);
F64 log_of(const F64&);
F64 log2_of(const F64&);
F64 log10_of(const F64&);
F64 log1p_of(const F64&);
F64 sin_of(const F64&);
F64 cos_of(const F64&);
F64 tanh_of(const F64&);
F64 erf_of(const F64&);
F64 sigmoid_of(const F64&);
F64 pow_of(const F64&, long n);      // n < 0: the base cannot be 0
F64 pow_of(const F64&, const F64&);  // x > 0

inline Comparison compare(const F64& a, const F64& b) {
  if (a.u < b.d) return Comparison::less;
  if (a.d > b.u) return Comparison::greater;
  return a.d == a.u && b.d == b.u ? Comparison::equal : Comparison::unknown;
}
inline double lower(const F64& a) { return a.d; }
inline double upper(const F64& a) { return a.u; }
inline Chopped chop_lower(const F64& a) { return chop_end(a.d); }
inline Chopped chop_upper(const F64& a) { return chop_end(a.u); }
inline bool is_exact(const F64& a) { return a.d == a.u; }
inline bool may_be_zero(const F64& a) { return a.d <= 0 && a.u >= 0; }
inline bool may_be_below_zero(const F64& a) { return a.d < 0; }
inline bool may_be_above_zero(const F64& a) { return a.u > 0; }

}  // namespace erx
