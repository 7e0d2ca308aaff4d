// What the loops of lanes.cpp do with one element: an operation on enclosures of exact or open operands, free of branches.
//   Monotone<Sum, true>::at(a, a, b, b)   {d, u, good} around a + b
#pragma once
#include <bit>
#include <cmath>
#include <cstdint>

#include "ir/ieee.hpp"
#include "ops/num/elementary.hpp"

namespace erx::lanes::kernels {

constexpr double largest = 0x1.fffffffffffffp1023;
constexpr double roundable = 0x1p960;  // the constant that rounds it is finite
constexpr double least = 0x1p-960, most = 0x1p1000;  // no residual of operands and results in between goes wrong

[[gnu::always_inline]] inline double select(bool condition, double yes, double no) {
  const std::uint64_t mask = -static_cast<std::uint64_t>(condition);
  return std::bit_cast<double>((std::bit_cast<std::uint64_t>(yes) & mask) | (std::bit_cast<std::uint64_t>(no) & ~mask));
}
[[gnu::always_inline]] inline double magnitude(double x) {
  return std::bit_cast<double>(std::bit_cast<std::uint64_t>(x) & 0x7fffffffffffffffu);
}
[[gnu::always_inline]] inline double smaller_of(double x, double y) { return x < y ? x : y; }
[[gnu::always_inline]] inline double larger_of(double x, double y) { return x > y ? x : y; }
[[gnu::always_inline]] inline bool both(bool a, bool b) { return static_cast<bool>(static_cast<int>(a) & static_cast<int>(b)); }  // without a branch
[[gnu::always_inline]] inline bool ordinary(double x) { return both(magnitude(x) >= least, magnitude(x) <= most); }

struct Enclosure {
  double d, u;
  bool good;
};

/// x and its neighbour on the side of the residual. source: Rump, Zimmermann, Boldo, Melquiond, BIT 49 (2009) 419: x +- fl(phi |x|)
/// with phi = 2^-53 (1 + 2^-52) is the neighbour of a normal x.
[[gnu::always_inline]] inline Enclosure around(double x, double residual, bool good) {
  constexpr double phi = 0x1.0000000000001p-53;
  const double step = phi * magnitude(x);
  return {x - select(residual < 0, step, 0.0), x + select(residual > 0, step, 0.0), both(good, ordinary(x))};
}

/// x, or its neighbour on the side of the residual where x is inexact and even.
[[gnu::always_inline]] inline Enclosure to_odd(double x, double residual, bool good) {
  const std::uint64_t bits = std::bit_cast<std::uint64_t>(x), inward = (bits ^ std::bit_cast<std::uint64_t>(residual)) >> 63;
  const std::uint64_t moves = -static_cast<std::uint64_t>(residual != 0) & (~bits & 1);
  const double odd = std::bit_cast<double>(bits + ((1 - 2 * inward) & -moves));
  return {odd, odd, both(good, magnitude(x) <= roundable)};
}

// What each returns: by `around`, or by `to_odd`; zeros count as good for the latter.
struct Sum {
  [[gnu::always_inline]] static double value(double a, double b, double* residual) {
    const double s = a + b, t = s - a;
    *residual = (a - (s - t)) + (b - t);
    return s;
  }
  [[gnu::always_inline]] static Enclosure at(double a, double b) {
    double r;
    const double s = value(a, b, &r);
    return around(s, r, true);
  }
  [[gnu::always_inline]] static double nearest(double a, double b) { return a + b; }
  /// A residual of a sum cannot underflow.
  [[gnu::always_inline]] static Enclosure odd(double a, double b) {
    double r;
    const double s = value(a, b, &r);
    return to_odd(s, r, true);
  }
};
struct Product {
  [[gnu::always_inline]] static Enclosure at(double a, double b) {
    const double p = a * b;
    return around(p, __builtin_fma(a, b, -p), true);
  }
  [[gnu::always_inline]] static Enclosure odd(double a, double b) {
    const double p = a * b;
    return to_odd(p, __builtin_fma(a, b, -p), ordinary(p) | (a == 0) | (b == 0));
  }
  [[gnu::always_inline]] static double nearest(double a, double b) { return a * b; }
};
struct Quotient {
  [[gnu::always_inline]] static Enclosure at(double a, double b) {
    const double q = a / b;
    const double r = __builtin_fma(-q, b, a);
    return around(q, select(b < 0, -r, r), both(ordinary(a), ordinary(b)));
  }
  [[gnu::always_inline]] static Enclosure odd(double a, double b) {
    const double q = a / b;
    const double r = __builtin_fma(-q, b, a);
    return to_odd(q, select(b < 0, -r, r), both(ordinary(b), static_cast<bool>(static_cast<int>(both(ordinary(a), ordinary(q))) | static_cast<int>(a == 0))));
  }
  [[gnu::always_inline]] static double nearest(double a, double b) { return a / b; }
};

/// Increasing in both operands.
template <class Op, bool exact>
struct Monotone {
  [[gnu::always_inline]] static Enclosure at(double a_d, double a_u, double b_d, double b_u) {
    const Enclosure low = Op::at(a_d, b_d);
    if constexpr (exact) return low;
    const Enclosure high = Op::at(a_u, b_u);
    return {low.d, high.u, both(low.good, high.good)};
  }
};

/// The extremes lie at corners.
template <class Op, bool a_exact, bool b_exact, bool divides>
struct Corners {
  [[gnu::always_inline]] static Enclosure at(double a_d, double a_u, double b_d, double b_u) {
    Enclosure r = Op::at(a_d, b_d);
    const auto add = [&r](const Enclosure& c) { r = {smaller_of(r.d, c.d), larger_of(r.u, c.u), both(r.good, c.good)}; };
    if constexpr (!b_exact) add(Op::at(a_d, b_u));
    if constexpr (!a_exact) add(Op::at(a_u, b_d));
    if constexpr (!a_exact && !b_exact) add(Op::at(a_u, b_u));
    if constexpr (divides) r.good &= (b_d > 0) | (b_u < 0);
    return r;
  }
};

template <bool exact>
struct Root {
  [[gnu::always_inline]] static Enclosure of(double a) {
    const double s = __builtin_sqrt(a);
    return around(s, __builtin_fma(-s, s, a), ordinary(a) & (a > 0));
  }
  [[gnu::always_inline]] static Enclosure at(double a_d, double a_u, double, double) {
    const Enclosure low = of(a_d);
    if constexpr (exact) return low;
    const Enclosure high = of(a_u);
    return {low.d, high.u, both(low.good, high.good)};
  }
};

struct Power {
  [[gnu::always_inline]] static Enclosure at(double a, double b) {
    const elementary::Value v = elementary::pow(a, b);
    return {v.d, v.u, v.good};
  }
};

struct RootNearest {
  [[gnu::always_inline]] static Enclosure at(double a, double, double, double) {
    const double s = __builtin_sqrt(a);
    return {s, s, magnitude(s) <= largest};
  }
};
struct Same {
  [[gnu::always_inline]] static Enclosure at(double a_d, double a_u, double, double) { return {a_d, a_u, true}; }
};
struct SameOdd {
  [[gnu::always_inline]] static Enclosure at(double a, double, double, double) { return {a, a, magnitude(a) <= roundable}; }
};
struct RootOdd {
  [[gnu::always_inline]] static Enclosure at(double a, double, double, double) {
    const double s = __builtin_sqrt(a);
    return to_odd(s, __builtin_fma(-s, s, a), (ordinary(a) & (a > 0)) | (a == 0));
  }
};
template <class Op>
struct Odd {
  [[gnu::always_inline]] static Enclosure at(double a, double, double b, double) { return Op::odd(a, b); }
};
/// As the hardware rounds, subnormal results included; NaN and overflow are left out.
template <class Op>
struct Nearest {
  [[gnu::always_inline]] static Enclosure at(double a, double, double b, double) {
    const double r = Op::nearest(a, b);
    return {r, r, magnitude(r) <= largest};
  }
};

/// The upper end of an open enclosure, where the function has an exact value at that end of the argument: moved, so that no result reaches it.
[[gnu::always_inline]] inline double unreached(double d, double u, bool open) { return select(both(open, both(d == u, u > 0)), u + u * 0x1p-52, u); }

/// As wave of elementary.cpp: |f'| <= 1 and |f| <= 1.
template <auto function>
struct WaveOpen {
  /// May an argument between these be one where sin or cos is 1 or -1?
  [[gnu::always_inline]] static bool turns(double a_d, double a_u) { return !both(both(a_d > -1.5, a_u < 1.5), (a_d > 0) | (a_u < 0)); }
  [[gnu::always_inline]] static Enclosure at(double a_d, double a_u, double, double) {
    const elementary::Value v = function(a_d);
    const Enclosure width = Sum::at(a_u, -a_d), low = Sum::at(v.d, -width.u), high = Sum::at(v.u, width.u);
    const bool exact = a_d == a_u, good = both(both(width.good, a_d != 0), both(low.good, high.good));
    const double most = select(turns(a_d, a_u), 1 + 0x1p-52, 1);
    return {select(exact, v.d, larger_of(low.d, -most)), select(exact, v.u, smaller_of(high.u, most)), both(v.good, exact | good)};
  }
};

/// As rsqrt_of: the root's enclosure, and the quotients of its ends.
template <bool exact>
struct ReciprocalRoot {
  [[gnu::always_inline]] static Enclosure at(double a_d, double a_u, double, double) {
    const Enclosure top = Root<true>::at(a_d, a_d, 0, 0), bottom = exact ? top : Root<true>::at(a_u, a_u, 0, 0);
    const Enclosure low = Quotient::at(1, bottom.u), high = Quotient::at(1, top.d);
    return {low.d, high.u, both(both(top.good, bottom.good), both(low.good, high.good))};
  }
};

template <bool exact>
struct Erf {
  const elementary::ErfTable& table = elementary::erf_table();
  [[gnu::always_inline]] Enclosure at(double a_d, double a_u, double, double) const {
    const elementary::Value low = elementary::erf(a_d, table);
    if constexpr (exact) return {low.d, low.u, low.good};
    const elementary::Value high = elementary::erf(a_u, table);
    return {low.d, high.u, both(low.good, high.good)};
  }
};

// Of two zeros +0 is the larger one.
struct Larger {
  [[gnu::always_inline]] static double of(double a, double b) {
    const double same = std::bit_cast<double>(std::bit_cast<std::uint64_t>(a) & std::bit_cast<std::uint64_t>(b));
    return select(a == b, same, larger_of(a, b));
  }
  [[gnu::always_inline]] static Enclosure at(double a_d, double a_u, double b_d, double b_u) {
    return {of(a_d, b_d), of(a_u, b_u), true};
  }
};
struct Smaller {
  [[gnu::always_inline]] static double of(double a, double b) {
    const double same = std::bit_cast<double>(std::bit_cast<std::uint64_t>(a) | std::bit_cast<std::uint64_t>(b));
    return select(a == b, same, smaller_of(a, b));
  }
  [[gnu::always_inline]] static Enclosure at(double a_d, double a_u, double b_d, double b_u) {
    return {of(a_d, b_d), of(a_u, b_u), true};
  }
};

/// A function of elementary.hpp; open enclosures only where it increases.
template <auto function, bool exact>
struct Function {
  [[gnu::always_inline]] static Enclosure at(double a_d, double a_u, double, double) {
    const elementary::Value low = function(a_d);
    if constexpr (exact) return {low.d, low.u, low.good};
    const elementary::Value high = function(a_u);
    return {low.d, unreached(high.d, high.u, a_d != a_u), both(low.good, high.good)};
  }
};

}  // namespace erx::lanes::kernels
