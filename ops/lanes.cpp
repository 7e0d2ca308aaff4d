#include "ops/lanes.hpp"

#include <algorithm>
#include <bit>
#include <cmath>

#include "ops/clones.hpp"
#include "ops/num/elementary.hpp"

namespace erx::lanes {

namespace {

constexpr std::size_t block = 16;                    // a loop of constant length is vectorised at -O2 too
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

struct Sum {
  [[gnu::always_inline]] static Enclosure at(double a, double b) {
    const double s = a + b, t = s - a;
    return around(s, (a - (s - t)) + (b - t), true);
  }
};
struct Product {
  [[gnu::always_inline]] static Enclosure at(double a, double b) {
    const double p = a * b;
    return around(p, __builtin_fma(a, b, -p), true);
  }
};
struct Quotient {
  [[gnu::always_inline]] static Enclosure at(double a, double b) {
    const double q = a / b;
    const double r = __builtin_fma(-q, b, a);
    return around(q, select(b < 0, -r, r), both(ordinary(a), ordinary(b)));
  }
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

struct Larger {
  [[gnu::always_inline]] static Enclosure at(double a_d, double a_u, double b_d, double b_u) {
    return {larger_of(a_d, b_d), larger_of(a_u, b_u), true};
  }
};
struct Smaller {
  [[gnu::always_inline]] static Enclosure at(double a_d, double a_u, double b_d, double b_u) {
    return {smaller_of(a_d, b_d), smaller_of(a_u, b_u), true};
  }
};

/// A function of elementary.hpp; open enclosures only where it increases.
template <auto function, bool exact>
struct Function {
  [[gnu::always_inline]] static Enclosure at(double a_d, double a_u, double, double) {
    const elementary::Value low = function(a_d);
    if constexpr (exact) return {low.d, low.u, low.good};
    const elementary::Value high = function(a_u);
    return {low.d, high.u, both(low.good, high.good)};
  }
};

template <class Kernel, bool unary = false>
[[gnu::always_inline]] inline void loop_of(const Ends& e) {
  const double *a_d = e.a_d, *a_u = e.a_u, *b_d = unary ? e.a_d : e.b_d, *b_u = unary ? e.a_u : e.b_u;
  double *d = e.d, *u = e.u;
  std::uint64_t* bad = e.bad;
  std::size_t i = 0;
  for (; i + block <= e.n; i += block) {
    ERX_INDEPENDENT
    for (std::size_t j = i; j < i + block; ++j) {
      const Enclosure r = Kernel::at(a_d[j], a_u[j], b_d[j], b_u[j]);
      d[j] = r.d;
      u[j] = r.u;
      bad[j] |= -static_cast<std::uint64_t>(!r.good);
    }
  }
  for (; i < e.n; ++i) {
    const Enclosure r = Kernel::at(a_d[i], a_u[i], b_d[i], b_u[i]);
    d[i] = r.d;
    u[i] = r.u;
    bad[i] |= -static_cast<std::uint64_t>(!r.good);
  }
}

ERX_VECTOR_CLONES void sum_exact(const Ends& e) { loop_of<Monotone<Sum, true>>(e); }
ERX_VECTOR_CLONES void sum_open(const Ends& e) { loop_of<Monotone<Sum, false>>(e); }
ERX_VECTOR_CLONES void product_exact(const Ends& e) { loop_of<Corners<Product, true, true, false>>(e); }
ERX_VECTOR_CLONES void product_left(const Ends& e) { loop_of<Corners<Product, true, false, false>>(e); }
ERX_VECTOR_CLONES void product_right(const Ends& e) { loop_of<Corners<Product, false, true, false>>(e); }
ERX_VECTOR_CLONES void product_open(const Ends& e) { loop_of<Corners<Product, false, false, false>>(e); }
ERX_VECTOR_CLONES void quotient_exact(const Ends& e) { loop_of<Corners<Quotient, true, true, true>>(e); }
ERX_VECTOR_CLONES void quotient_left(const Ends& e) { loop_of<Corners<Quotient, true, false, true>>(e); }
ERX_VECTOR_CLONES void quotient_right(const Ends& e) { loop_of<Corners<Quotient, false, true, true>>(e); }
ERX_VECTOR_CLONES void quotient_open(const Ends& e) { loop_of<Corners<Quotient, false, false, true>>(e); }
ERX_VECTOR_CLONES void root_exact(const Ends& e) { loop_of<Root<true>, true>(e); }
ERX_VECTOR_CLONES void root_open(const Ends& e) { loop_of<Root<false>, true>(e); }
ERX_VECTOR_CLONES void larger_loop(const Ends& e) { loop_of<Larger>(e); }
ERX_VECTOR_CLONES void smaller_loop(const Ends& e) { loop_of<Smaller>(e); }
ERX_VECTOR_CLONES void exp_exact(const Ends& e) { loop_of<Function<elementary::exp, true>, true>(e); }
ERX_VECTOR_CLONES void exp_open(const Ends& e) { loop_of<Function<elementary::exp, false>, true>(e); }
ERX_VECTOR_CLONES void exp2_exact(const Ends& e) { loop_of<Function<elementary::exp2, true>, true>(e); }
ERX_VECTOR_CLONES void exp2_open(const Ends& e) { loop_of<Function<elementary::exp2, false>, true>(e); }
ERX_VECTOR_CLONES void expm1_exact(const Ends& e) { loop_of<Function<elementary::expm1, true>, true>(e); }
ERX_VECTOR_CLONES void expm1_open(const Ends& e) { loop_of<Function<elementary::expm1, false>, true>(e); }
ERX_VECTOR_CLONES void log_exact(const Ends& e) { loop_of<Function<elementary::log, true>, true>(e); }
ERX_VECTOR_CLONES void log_open(const Ends& e) { loop_of<Function<elementary::log, false>, true>(e); }
ERX_VECTOR_CLONES void log2_exact(const Ends& e) { loop_of<Function<elementary::log2, true>, true>(e); }
ERX_VECTOR_CLONES void log2_open(const Ends& e) { loop_of<Function<elementary::log2, false>, true>(e); }
ERX_VECTOR_CLONES void log10_exact(const Ends& e) { loop_of<Function<elementary::log10, true>, true>(e); }
ERX_VECTOR_CLONES void log10_open(const Ends& e) { loop_of<Function<elementary::log10, false>, true>(e); }
ERX_VECTOR_CLONES void log1p_exact(const Ends& e) { loop_of<Function<elementary::log1p, true>, true>(e); }
ERX_VECTOR_CLONES void log1p_open(const Ends& e) { loop_of<Function<elementary::log1p, false>, true>(e); }
ERX_VECTOR_CLONES void tanh_exact(const Ends& e) { loop_of<Function<elementary::tanh, true>, true>(e); }
ERX_VECTOR_CLONES void tanh_open(const Ends& e) { loop_of<Function<elementary::tanh, false>, true>(e); }
ERX_VECTOR_CLONES void sigmoid_exact(const Ends& e) { loop_of<Function<elementary::sigmoid, true>, true>(e); }
ERX_VECTOR_CLONES void sigmoid_open(const Ends& e) { loop_of<Function<elementary::sigmoid, false>, true>(e); }
ERX_VECTOR_CLONES void sin_exact(const Ends& e) { loop_of<Function<elementary::sin, true>, true>(e); }
ERX_VECTOR_CLONES void cos_exact(const Ends& e) { loop_of<Function<elementary::cos, true>, true>(e); }

/// Elements that may be 0 (or are NaN) are hard too.
ERX_VECTOR_CLONES void mark_zeros(const double* low, const double* high, std::uint64_t* hard, std::size_t n) {
  std::size_t i = 0;
  for (; i + block <= n; i += block)
    for (std::size_t j = i; j < i + block; ++j) hard[j] |= -static_cast<std::uint64_t>(!((low[j] > 0) | (high[j] < 0)));
  for (; i < n; ++i) hard[i] |= -static_cast<std::uint64_t>(!((low[i] > 0) | (high[i] < 0)));
}

/// The hull of [lo, hi] and of the corner whose enclosure is [a_d, a_u].
ERX_VECTOR_CLONES void extend(const Ends& e, double* hi_d, double* hi_u) {
  const auto one = [&](std::size_t i) {
    e.d[i] = smaller_of(e.d[i], e.a_d[i]);
    e.u[i] = smaller_of(e.u[i], e.a_u[i]);
    hi_d[i] = larger_of(hi_d[i], e.a_d[i]);
    hi_u[i] = larger_of(hi_u[i], e.a_u[i]);
  };
  std::size_t i = 0;
  for (; i + block <= e.n; i += block) {
    ERX_INDEPENDENT
    for (std::size_t j = i; j < i + block; ++j) one(j);
  }
  for (; i < e.n; ++i) one(i);
}

/// One end of an operand as arrays of n elements: a single element is repeated, a negated one copied.
struct Operand {
  const double *d, *u;
  std::array<double, tile_size> store_d, store_u;

  void set(const double* from_d, const double* from_u, bool scalar, bool negate, std::size_t n) {
    const bool exact = from_d == from_u;
    d = negate ? from_u : from_d;
    u = negate ? from_d : from_u;
    const double sign = negate ? -1.0 : 1.0;
    if (!scalar && !negate) return;
    const auto fill = [&](std::array<double, tile_size>& store, const double* from) {
      if (scalar)
        std::fill_n(store.data(), n, sign * from[0]);
      else
        std::transform(from, from + n, store.data(), [](double x) { return -x; });
      return store.data();
    };
    const double* low = fill(store_d, d);
    u = exact ? low : fill(store_u, u);
    d = low;
  }
};

}  // namespace

const Loops sum{sum_exact, sum_open, sum_open, sum_open};
const Loops difference{sum_exact, sum_open, sum_open, sum_open, true};
const Loops product{product_exact, product_left, product_right, product_open, false, false};
const Loops quotient{quotient_exact, quotient_left, quotient_right, quotient_open, false, false, true};
const Loops root{root_exact, root_exact, root_open, root_open};
const Loops larger{larger_loop, larger_loop, larger_loop, larger_loop};
const Loops smaller{smaller_loop, smaller_loop, smaller_loop, smaller_loop};
const Loops exp{exp_exact, exp_exact, exp_open, exp_open};
const Loops exp2{exp2_exact, exp2_exact, exp2_open, exp2_open};
const Loops expm1{expm1_exact, expm1_exact, expm1_open, expm1_open};
const Loops log{log_exact, log_exact, log_open, log_open};
const Loops log2{log2_exact, log2_exact, log2_open, log2_open};
const Loops log10{log10_exact, log10_exact, log10_open, log10_open};
const Loops log1p{log1p_exact, log1p_exact, log1p_open, log1p_open};
const Loops tanh{tanh_exact, tanh_exact, tanh_open, tanh_open};
const Loops sigmoid{sigmoid_exact, sigmoid_exact, sigmoid_open, sigmoid_open};
const Loops sin{sin_exact, sin_exact, nullptr, nullptr, false, false};
const Loops cos{cos_exact, cos_exact, nullptr, nullptr, false, false};

bool loop(const Loops& loops, std::span<const Tile> x, const Tile& out, std::size_t n, std::uint64_t* hard) {
  bool points = true;
  for (const Tile& t : x) points = points && t.is_point;
  if (!loops.open && (!points || x[0].lo_d != x[0].lo_u)) return false;
  std::fill_n(hard, n, 0);
  for (const Tile& t : x) {
    if (t.plain) continue;
    if (t.scalar) {
      if (t.flags[0] & ~any_zero) return false;
      continue;
    }
    for (std::size_t i = 0; i < n; ++i) hard[i] |= t.flags[i] & static_cast<std::uint8_t>(~any_zero);
  }
  const Tile &s = x[0], &t = x.back();
  const bool unary = x.size() == 1;
  Operand a, b;
  const auto one_end = [&](bool s_high, bool t_high, double* d, double* u) {
    a.set(s_high ? s.hi_d : s.lo_d, s_high ? s.hi_u : s.lo_u, s.scalar, false, n);
    if (!unary) b.set(t_high ? t.hi_d : t.lo_d, t_high ? t.hi_u : t.lo_u, t.scalar, loops.negate_second, n);
    const bool a_exact = a.d == a.u, b_exact = unary || b.d == b.u;
    const Loop chosen = a_exact ? (b_exact ? loops.exact : loops.left_exact) : b_exact ? loops.right_exact : loops.open;
    chosen({a.d, a.u, b.d, b.u, d, u, hard, n});
  };
  one_end(false, loops.negate_second, out.lo_d, out.lo_u);
  const double* top = out.lo_u;
  if (!out.is_point) {
    if (!points && loops.monotone) {
      one_end(true, !loops.negate_second, out.hi_d, out.hi_u);
    } else {
      std::copy_n(out.lo_d, n, out.hi_d);
      std::copy_n(out.lo_u, n, out.hi_u);
    }
    top = out.hi_u;
  }
  if (!points && !loops.monotone) {  // the other corners
    std::array<double, tile_size> d, u;
    for (int corner = 1; corner < 4; ++corner) {
      const bool s_high = corner & 1, t_high = corner & 2;
      if ((s_high && s.is_point) || (t_high && t.is_point)) continue;
      one_end(s_high, t_high, d.data(), u.data());
      extend({d.data(), u.data(), nullptr, nullptr, out.lo_d, out.lo_u, nullptr, n}, out.hi_d, out.hi_u);
    }
    if (loops.divides && !t.is_point) {
      if (!t.scalar)
        mark_zeros(t.lo_d, t.hi_u, hard, n);
      else if (!(t.lo_d[0] > 0 || t.hi_u[0] < 0))
        std::fill_n(hard, n, 1);
    }
  }
  mark_zeros(out.lo_d, top, hard, n);
  std::fill_n(out.flags, n, 0);
  return true;
}

}  // namespace erx::lanes
