// exp, log and their kin on one double, with a proved bound, free of branches: the same bits in every loop that uses them. An FMA is always one
// (by the C library where the processor has none), so no compiler contracts anything; the bounds below count it as two roundings.
// Each gives the enclosure of the function at x, and whether x lies where the bound holds (`_domain`). `_value` is the double that it is built around, whose
// relative error is below 0.8 `_bound`. Notation: v = 2^-53; Horner's rule of
// degree n on sum c_i r^i errs by at most 2n v sum |c_i r^i| / (1 - 2n v) [Higham, Accuracy and Stability, 5.1].
// No result of exp, exp2, expm1, sin, cos, tanh, erf and sigmoid is an end of its enclosure, unless the enclosure is one number: none of a double is a
// double but at 0 (Lindemann; |erf| < 1 and the slack of its bound), and at the integers for exp2.
//   elementary::exp(1.0)   {d, u, good} around 2.718281828..., 5 units wide
#pragma once
#include <bit>
#include <cmath>
#include <cstdint>

namespace erx::elementary {

struct Value {
  double d, u;
  bool good;
};

#define ERX_INLINE [[gnu::always_inline]] inline

ERX_INLINE double select(bool condition, double yes, double no) {
  const std::uint64_t mask = -static_cast<std::uint64_t>(condition);
  return std::bit_cast<double>((std::bit_cast<std::uint64_t>(yes) & mask) | (std::bit_cast<std::uint64_t>(no) & ~mask));
}
ERX_INLINE double magnitude(double x) { return std::bit_cast<double>(std::bit_cast<std::uint64_t>(x) & 0x7fffffffffffffffu); }
ERX_INLINE bool both(bool a, bool b) { return static_cast<bool>(a & b); }

/// The nearest integer to |x| < 2^51 (any neighbour would do).
ERX_INLINE double nearest(double x) { return (x + 0x1.8p52) - 0x1.8p52; }
/// x * 2^k for integers |k| <= 1021 and a result that is normal.
ERX_INLINE double scale(double x, double k) {
  const auto bits = std::bit_cast<std::uint64_t>(k + 0x1.8p52);  // k in its low bits
  return x * std::bit_cast<double>((bits + 1023) << 52);
}

ERX_INLINE double fma(double x, double y, double z) { return __builtin_fma(x, y, z); }

/// value with |error| <= error_bound: both ends rounded once more, which the factor pays for.
ERX_INLINE Value around(double value, double error, bool good) { return {value - error, value + error, good}; }

/// An increasing function that is `edge` at 0 lies on the side of it that x lies on.
ERX_INLINE Value beside(double edge, double x, const Value& v) {
  return {select(both(x > 0, v.d < edge), edge, v.d), select(both(x < 0, v.u > edge), edge, v.u), v.good};
}
/// A function that lies between -1 and 1.
ERX_INLINE Value within_one(const Value& v) { return {select(v.d < -1, -1.0, v.d), select(v.u > 1, 1.0, v.u), v.good}; }

/// A function whose magnitude is at most |x| (tanh, sin).
ERX_INLINE Value at_most_x(double x, const Value& v) {
  const double m = magnitude(x);
  return {select(v.d < -m, -m, v.d), select(v.u > m, m, v.u), v.good};
}

/// What is x at x = +-0, sign included.
ERX_INLINE Value at_zero(double x, const Value& elsewhere) {
  const bool zero = x == 0;
  return {select(zero, x, elsewhere.d), select(zero, x, elsewhere.u), static_cast<bool>(zero | elsewhere.good)};
}

/// (e^r - 1 - r) / r^2 for |r| <= 0.347: Taylor to r^11 / 13!. Truncation below 0.347^12 / 14! * 1.1 < 2^-54.6,
/// rounding below 22 v * 0.59 < 13 v.
ERX_INLINE double exp_rest(double r) {
  double q = 1.0 / 6227020800;
  q = fma(q, r, 1.0 / 479001600);
  q = fma(q, r, 1.0 / 39916800);
  q = fma(q, r, 1.0 / 3628800);
  q = fma(q, r, 1.0 / 362880);
  q = fma(q, r, 1.0 / 40320);
  q = fma(q, r, 1.0 / 5040);
  q = fma(q, r, 1.0 / 720);
  q = fma(q, r, 1.0 / 120);
  q = fma(q, r, 1.0 / 24);
  q = fma(q, r, 1.0 / 6);
  return fma(q, r, 0.5);
}

/// e^r for |r| <= 0.347, given within 2^-54.9: r^2 q errs by 0.121 (14 + 2) v, r + . by 0.42 v, 1 + . by v (the sum is below 2),
/// r by 0.3 v * 1.42: together 3.8 v, and e^r >= 0.706: a relative error below 5.4 v < 2^-50.
ERX_INLINE double exp_near_zero(double r) { return 1 + fma(r * r, exp_rest(r), r); }

constexpr double log2_e = 0x1.71547652b82fep+0;
constexpr double ln2_high = 0x1.62e42fefa3800p-1;  // 42 bits: times an integer of 11 bits it is exact
constexpr double ln2_low = 0x1.ef35793c76730p-45;  // the rest, within 2^-101

/// x - k ln 2: the first difference is exact (both are multiples of 2^-53 of magnitude below 0.36 once k is not 0), the second
/// product errs by 2^-87, its subtraction by 2^-55.
ERX_INLINE double reduced(double x, double k) { return fma(-k, ln2_low, fma(-k, ln2_high, x)); }

/// bound: relative error 2^-50. exp(0) is 1.
constexpr double exp_bound = 0x1.4p-50;
ERX_INLINE bool exp_domain(double x) { return magnitude(x) <= 700; }
ERX_INLINE double exp_value(double x) {
  const double k = nearest(x * log2_e);
  return scale(exp_near_zero(reduced(x, k)), k);
}
ERX_INLINE Value exp(double x) {
  const double y = exp_value(x);
  return beside(1, x, around(y, select(x == 0, 0.0, y * exp_bound), exp_domain(x)));
}

/// bound: relative error 2^-49 (r = f ln 2 adds 0.7 v); integers exactly.
constexpr double exp2_bound = 0x1.4p-49;
ERX_INLINE bool exp2_domain(double x) { return magnitude(x) <= 1000; }
ERX_INLINE double exp2_value(double x) {
  const double k = nearest(x), f = x - k;
  return scale(exp_near_zero(f * 0x1.62e42fefa39efp-1), k);
}
ERX_INLINE Value exp2(double x) {
  const double y = exp2_value(x);
  return beside(1, x, around(y, select(nearest(x) == x, 0.0, y * exp2_bound), exp2_domain(x)));
}

/// bound: relative error 2^-48. Near 0 the terms r + r^2 q err by (0.347 * 16 + 1) v |r| < 2^-50 |y|; elsewhere exp(x) - 1 by
/// 2^-50 e^x + v |y| with e^x <= 3.5 |y|.
ERX_INLINE double expm1_value(double x) {
  const double k = nearest(x * log2_e), r = reduced(x, k);  // near 0 k is 0 and r is x
  const double p = fma(r * r, exp_rest(r), r);
  return select(magnitude(x) <= 0.34, p, scale(1 + p, k) - 1);
}
constexpr double expm1_bound = 0x1.4p-48;
ERX_INLINE bool expm1_domain(double x) { return both(magnitude(x) <= 700, magnitude(x) >= 0x1p-900); }
ERX_INLINE Value expm1(double x) {
  const double y = expm1_value(x);
  const Value v = around(y, magnitude(y) * expm1_bound, expm1_domain(x));
  const double least = x > -1 ? x : -1;  // e^x - 1 >= x
  return at_zero(x, {select(v.d < least, least, v.d), v.u, v.good});
}

/// 1 / (1 + e^-x). bound: relative error 2^-50 + 2 v < 2^-49.
constexpr double sigmoid_bound = 0x1.4p-49;
ERX_INLINE bool sigmoid_domain(double x) { return magnitude(x) <= 700; }
ERX_INLINE double sigmoid_value(double x) { return 1 / (1 + exp_value(-x)); }
ERX_INLINE Value sigmoid(double x) {
  const double y = sigmoid_value(x);
  return beside(0.5, x, within_one(around(y, select(x == 0, 0.0, y * sigmoid_bound), sigmoid_domain(x))));
}

ERX_INLINE double with_sign_of(double x, double t) { return std::bit_cast<double>(std::bit_cast<std::uint64_t>(t) | (std::bit_cast<std::uint64_t>(x) & 0x8000000000000000u)); }

/// e / (e + 2) with e = expm1(2x). bound: 2^-48 + 2 v < 2^-47 relative.
constexpr double tanh_bound = 0x1.4p-47;
ERX_INLINE bool tanh_domain(double x) { return both(magnitude(x) <= 350, magnitude(x) >= 0x1p-900); }
ERX_INLINE double tanh_value(double x) {
  const double e = expm1_value(2 * magnitude(x));
  return with_sign_of(x, e / (e + 2));
}
ERX_INLINE Value tanh(double x) {
  const double y = tanh_value(x);
  return at_zero(x, at_most_x(x, within_one(around(y, magnitude(y) * tanh_bound, tanh_domain(x)))));
}

/// log((1 + f)) = 2 atanh(s), s = f / (2 + f), for |s| <= 0.172: 2s + s R. s errs by 2 v (relative), R by 2^-50 of its 0.02, the sum
/// by v; terms to s^21, so truncation below 2^-59: together below 2^-51 (relative).
ERX_INLINE double log_near_one(double f, double two_plus_f) {
  const double s = f / two_plus_f, z = s * s;
  double r = 2.0 / 21;
  r = fma(r, z, 2.0 / 19);
  r = fma(r, z, 2.0 / 17);
  r = fma(r, z, 2.0 / 15);
  r = fma(r, z, 2.0 / 13);
  r = fma(r, z, 2.0 / 11);
  r = fma(r, z, 2.0 / 9);
  r = fma(r, z, 2.0 / 7);
  r = fma(r, z, 2.0 / 5);
  r = fma(r, z, 2.0 / 3);
  return fma(s, r * z, 2 * s);
}

/// x = m 2^e with m in [0.707, 1.415], for normal x > 0.
struct Split {
  double m, e;
};
ERX_INLINE Split split(double x) {
  const auto bits = std::bit_cast<std::uint64_t>(x);
  const std::uint64_t shifted = bits - std::bit_cast<std::uint64_t>(0.70710678118654752);  // exponents change at sqrt(1/2)
  const auto e = static_cast<std::uint64_t>(shifted + (std::uint64_t{1024} << 52)) >> 52;  // biased, without a signed shift
  const double m = std::bit_cast<double>(bits - ((e - 1024) << 52));
  return {m, std::bit_cast<double>(e | 0x4330000000000000u) - (0x1p52 + 1024)};
}

/// bound: relative error 2^-49: with e = 0 that of log m; else e ln2_high is exact, the rest errs by 2^-52.5 + 2^-54.3 + v |y|,
/// and |y| > 0.346.
ERX_INLINE double log_value(double x, double* exponent) {
  const Split s = split(x);
  *exponent = s.e;
  return fma(s.e, ln2_high, fma(s.e, ln2_low, log_near_one(s.m - 1, s.m + 1)));
}
ERX_INLINE bool is_normal_positive(double x) { return both(x >= 0x1p-1022, x <= 0x1.fffffffffffffp1023); }
constexpr double log_bound = 0x1.4p-49;
ERX_INLINE bool log_domain(double x) { return is_normal_positive(x); }
ERX_INLINE double log_value(double x) {
  double e;
  return log_value(x, &e);
}
ERX_INLINE Value log(double x) {
  const double y = log_value(x);
  return around(y, magnitude(y) * log_bound, log_domain(x));
}
/// bound: two more roundings, 2^-48; powers of 2 exactly.
constexpr double log2_bound = 0x1.4p-48;
ERX_INLINE bool log2_domain(double x) { return is_normal_positive(x); }
ERX_INLINE double log2_value(const Split& s) { return fma(log_near_one(s.m - 1, s.m + 1), log2_e, s.e); }
ERX_INLINE double log2_value(double x) { return log2_value(split(x)); }
ERX_INLINE Value log2(double x) {
  const Split s = split(x);
  const double y = log2_value(s);
  return around(y, select(s.m == 1, 0.0, magnitude(y) * log2_bound), log2_domain(x));
}
constexpr double log10_bound = 0x1.4p-48;
ERX_INLINE bool log10_domain(double x) { return is_normal_positive(x); }
ERX_INLINE double log10_value(double x) { return log_value(x) * 0x1.bcb7b1526e50ep-2; }
ERX_INLINE Value log10(double x) {
  const double y = log10_value(x);
  return around(y, magnitude(y) * log10_bound, log10_domain(x));
}
/// 2^p with p = y log2 x, for x > 0 and y that is no integer. p errs by |p| (2^-48 + v), which costs expm1(ln 2 |p| 1.05 2^-48) < 0.74 |p| 2^-48
/// for |p| <= 1000; 2^p as exp2. bound: relative error 2^-49 + 0.74 |p| 2^-48; 1^y is 1.
ERX_INLINE Value pow(double x, double y) {
  const Split s = split(x);
  const double p = y * log2_value(s), k = nearest(p), f = p - k;
  const double v = scale(exp_near_zero(f * 0x1.62e42fefa39efp-1), k);
  const double error = select(both(s.m == 1, s.e == 0), 0.0, v * fma(magnitude(p), 0x1p-48, 0x1.4p-49));
  const bool fraction = both(magnitude(y) < 0x1p50, nearest(y) != y);
  return around(v, error, both(both(is_normal_positive(x), magnitude(p) <= 1000), fraction));
}
/// Near 0 as log(1 + f) with f = x; elsewhere 1 + x rounds, which adds v to a result of at least 0.28. bound: relative error 2^-48.
constexpr double log1p_bound = 0x1.4p-48;
ERX_INLINE bool log1p_domain(double x) { return both(both(x > -1 + 0x1p-20, x <= 0x1p1000), magnitude(x) >= 0x1p-900); }
ERX_INLINE double log1p_value(double x) {
  const bool near = both(x >= -0.25, x <= 0.4);
  const Split s = split(1 + x);
  const double p = log_near_one(select(near, x, s.m - 1), select(near, 2 + x, s.m + 1));
  return select(near, p, fma(s.e, ln2_high, fma(s.e, ln2_low, p)));
}
ERX_INLINE Value log1p(double x) {
  const double y = log1p_value(x);
  return at_zero(x, around(y, magnitude(y) * log1p_bound, log1p_domain(x)));
}

/// bound: one rounding each. source: IEEE 754.
constexpr double sqrt_bound = 0x1.4p-53, rsqrt_bound = 0x1.4p-52;
ERX_INLINE bool sqrt_domain(double x) { return is_normal_positive(x); }
ERX_INLINE bool rsqrt_domain(double x) { return is_normal_positive(x); }
ERX_INLINE double sqrt_value(double x) { return __builtin_sqrt(x); }
ERX_INLINE double rsqrt_value(double x) { return 1 / __builtin_sqrt(x); }

// pi / 2 in parts of 33, 33 and 53 bits, the rest below 2^-122
constexpr double half_pi_1 = 0x1.921fb54400000p+0, half_pi_2 = 0x1.0b4611a600000p-34, half_pi_3 = 0x1.3198a2e037073p-69;

/// sin r for |r| <= 0.786: relative error below 2^-51; Taylor to r^17.
ERX_INLINE double sin_near_zero(double r) {
  const double z = r * r;
  double s = 1.0 / 355687428096000;
  s = fma(s, z, -1.0 / 1307674368000);
  s = fma(s, z, 1.0 / 6227020800);
  s = fma(s, z, -1.0 / 39916800);
  s = fma(s, z, 1.0 / 362880);
  s = fma(s, z, -1.0 / 5040);
  s = fma(s, z, 1.0 / 120);
  s = fma(s, z, -1.0 / 6);
  return fma(r, z * s, r);
}
/// cos r for |r| <= 0.786: error below 3 v; Taylor to r^18.
ERX_INLINE double cos_near_zero(double r) {
  const double z = r * r;
  double c = -1.0 / 6402373705728000;
  c = fma(c, z, 1.0 / 20922789888000);
  c = fma(c, z, -1.0 / 87178291200);
  c = fma(c, z, 1.0 / 479001600);
  c = fma(c, z, -1.0 / 3628800);
  c = fma(c, z, 1.0 / 40320);
  c = fma(c, z, -1.0 / 720);
  c = fma(c, z, 1.0 / 24);
  c = fma(c, z, -0.5);
  return fma(z, c, 1);
}

/// sin(x + quarter pi/2). r = x for k = 0. Else |k| < 2^20: k half_pi_1, k half_pi_2 and the first difference t1 are exact; the second one, t2, is a
/// multiple of 2^-66, so exact below 2^-13, elsewhere within v |t2| and |t2| <= 1.001 |r|; r errs by v |r| more, and by 2^-102 for what is left out of
/// pi/2, at most v |r| where |r| >= 2^-49: together by 3.01 v |r|. Of sin r that is as much (r cot r <= 1), and 4 v for the polynomial; of cos r
/// (0.71 * 0.786 * 3.01 + 3) v / 0.707. bound: 2^-50, relative where |sin| >= 2^-48 or k = 0, else absolute.
constexpr double wave_bound = 0x1.4p-50;
ERX_INLINE bool wave_domain(double x) { return both(magnitude(x) <= 0x1p20, magnitude(x) >= 0x1p-900); }
ERX_INLINE bool wave_is_relative(double x, double value) { return !both(magnitude(value) < 0x1p-48, magnitude(x) > 0.75); }
ERX_INLINE double wave_value(double x, double quarter) {
  const double k = nearest(x * 0x1.45f306dc9c883p-1);
  const double r = fma(-k, half_pi_3, fma(-k, half_pi_2, fma(-k, half_pi_1, x)));
  const auto turn = std::bit_cast<std::uint64_t>(k + quarter + 0x1.8p52);
  const double y = select(turn & 1, cos_near_zero(r), sin_near_zero(r));
  return select(turn & 2, -y, y);
}
ERX_INLINE Value wave(double x, double quarter) {
  const double value = wave_value(x, quarter);
  return within_one(around(value, select(wave_is_relative(x, value), magnitude(value), 1.0) * wave_bound, wave_domain(x)));
}
ERX_INLINE Value sin(double x) { return at_zero(x, at_most_x(x, wave(x, 0))); }
ERX_INLINE Value cos(double x) { return wave(x, 1); }

/// erf at the multiples of 1/128 in [0, 6] and 2 / sqrt(pi) exp(-c^2) there, each the nearest double, or one beside it on a near tie.
struct ErfTable {
  static constexpr int count = 6 * 128 + 1;
  struct Entry {
    double value, slope;  // side by side: looked up at once
  } at[count];
};
const ErfTable& erf_table();  // made at first use

/// erf(c + h) with c = k / 128 nearest to |x|, |h| <= 2^-8: E + s (h + h^2 q), q + 1/h + .. the Taylor terms -c h^0 + (2c^2 - 1)/3 h - .. to h^6
/// (Hermite polynomials). Truncation: by Cramer's |H_n(c)| <= 1.09 sqrt(2^n n!) e^(c^2 / 2) below 2^-60, of a result above 2^-8 (or relative to
/// it: h^7 / 42) 1.5 v. The sum h + h^2 q errs by v and |h q| <= 0.025 times 9 v, its product with s by 2 v more, E and the last sum by v each:
/// bound: relative error 7 v < 2^-50. From 6 on erf is within 2^-55 of 1. erf(+-0) is +-0.
constexpr double erf_bound = 0x1.4p-50;
ERX_INLINE bool erf_domain(double x) { return magnitude(x) >= 0x1p-900; }
ERX_INLINE double erf_step(double x) {  // |x| in steps of 1/128, rounded
  const double m = magnitude(x);
  return nearest((m < 6 ? m : 6) * 128);  // of NaN 6, and not good
}
ERX_INLINE std::int64_t erf_index(double step) { return static_cast<std::int64_t>(std::bit_cast<std::uint64_t>(step + 0x1.8p52) & 1023); }
ERX_INLINE double erf_value(double x, double step, double at_c, double slope) {  // of |x|
  const double m = magnitude(x), a = m < 6 ? m : 6;
  const double c = step * 0x1p-7, h = a - c, z = c * c;
  double q = fma(fma(-4.0 / 90, z, 20.0 / 90), z, -15.0 / 90) * c;
  q = fma(q, h, fma(fma(4.0 / 30, z, -12.0 / 30), z, 3.0 / 30));
  q = fma(q, h, fma(-2.0 / 6, z, 3.0 / 6) * c);
  q = fma(q, h, fma(2.0 / 3, z, -1.0 / 3));
  q = fma(q, h, -c);
  return fma(slope, fma(h * h, q, h), at_c);
}
ERX_INLINE Value erf(double x, const ErfTable& table) {
  const double step = erf_step(x);
  const ErfTable::Entry& entry = table.at[erf_index(step)];
  const double y = erf_value(x, step, entry.value, entry.slope), error = y * erf_bound;
  const double d = y - error, u = y + error < 1 ? y + error : 1;
  const bool negative = x < 0;
  const bool zero = x == 0;
  return {select(zero, x, select(negative, -u, d)), select(zero, x, select(negative, -d, u)), static_cast<bool>(zero | erf_domain(x))};
}

#undef ERX_INLINE

}  // namespace erx::elementary
