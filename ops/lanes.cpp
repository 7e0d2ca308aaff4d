#include "ops/lanes.hpp"

#include <algorithm>

#include "ops/clones.hpp"
#include "ops/function_run.hpp"
#include "ops/lane_kernels.hpp"

namespace erx::lanes {

using namespace kernels;

namespace {

constexpr std::size_t block = 16;                    // a loop of constant length is vectorised at -O2 too

template <class Kernel, bool unary = false>
[[gnu::always_inline]] inline void loop_of(const Ends& e) {
  const Kernel kernel;
  const double *a_d = e.a_d, *a_u = e.a_u, *b_d = unary ? e.a_d : e.b_d, *b_u = unary ? e.a_u : e.b_u;
  double *d = e.d, *u = e.u;
  std::uint64_t* bad = e.bad;
  std::size_t i = 0;
  for (; i + block <= e.n; i += block) {
    ERX_INDEPENDENT
    for (std::size_t j = i; j < i + block; ++j) {
      const Enclosure r = kernel.at(a_d[j], a_u[j], b_d[j], b_u[j]);
      d[j] = r.d;
      u[j] = r.u;
      bad[j] |= -static_cast<std::uint64_t>(!r.good);
    }
  }
  for (; i < e.n; ++i) {
    const Enclosure r = kernel.at(a_d[i], a_u[i], b_d[i], b_u[i]);
    d[i] = r.d;
    u[i] = r.u;
    bad[i] |= -static_cast<std::uint64_t>(!r.good);
  }
}

/// As loop_of, with the one result of `odd`.
template <class Kernel, bool unary = false>
[[gnu::always_inline]] inline void loop_of_odd(const Ends& e) {
  const double *a = e.a_d, *b = unary ? e.a_d : e.b_d;
  double* d = e.d;
  std::uint64_t* bad = e.bad;
  std::size_t i = 0;
  for (; i + block <= e.n; i += block) {
    ERX_INDEPENDENT
    for (std::size_t j = i; j < i + block; ++j) {
      const Enclosure r = Kernel::at(a[j], a[j], b[j], b[j]);
      d[j] = r.d;
      bad[j] = -static_cast<std::uint64_t>(!r.good);
    }
  }
  for (; i < e.n; ++i) {
    const Enclosure r = Kernel::at(a[i], a[i], b[i], b[i]);
    d[i] = r.d;
    bad[i] = -static_cast<std::uint64_t>(!r.good);
  }
}

ERX_VECTOR_CLONES void same_exact(const Ends& e) { loop_of<Same, true>(e); }
ERX_VECTOR_CLONES void same_odd(const Ends& e) { loop_of_odd<SameOdd, true>(e); }
ERX_VECTOR_CLONES void same_nearest(const Ends& e) { loop_of_odd<Same, true>(e); }
ERX_VECTOR_CLONES void sum_nearest(const Ends& e) { loop_of_odd<Nearest<Sum>>(e); }
ERX_VECTOR_CLONES void product_nearest(const Ends& e) { loop_of_odd<Nearest<Product>>(e); }
ERX_VECTOR_CLONES void quotient_nearest(const Ends& e) { loop_of_odd<Nearest<Quotient>>(e); }
ERX_VECTOR_CLONES void root_nearest(const Ends& e) { loop_of_odd<RootNearest, true>(e); }
ERX_VECTOR_CLONES void sum_odd(const Ends& e) { loop_of_odd<Odd<Sum>>(e); }
ERX_VECTOR_CLONES void product_odd(const Ends& e) { loop_of_odd<Odd<Product>>(e); }
ERX_VECTOR_CLONES void quotient_odd(const Ends& e) { loop_of_odd<Odd<Quotient>>(e); }
ERX_VECTOR_CLONES void root_odd(const Ends& e) { loop_of_odd<RootOdd, true>(e); }
ERX_VECTOR_CLONES void sum_exact(const Ends& e) { loop_of<Monotone<Sum, true>>(e); }
ERX_VECTOR_CLONES void sum_open(const Ends& e) { loop_of<Monotone<Sum, false>>(e); }
/// By which operands are exact.
#define ERX_CORNER_LOOPS(name, Op, divides)                                                                        \
  ERX_VECTOR_CLONES void name##_exact(const Ends& e) { loop_of<Corners<Op, true, true, divides>>(e); }             \
  ERX_VECTOR_CLONES void name##_left(const Ends& e) { loop_of<Corners<Op, true, false, divides>>(e); }             \
  ERX_VECTOR_CLONES void name##_right(const Ends& e) { loop_of<Corners<Op, false, true, divides>>(e); }            \
  ERX_VECTOR_CLONES void name##_open(const Ends& e) { loop_of<Corners<Op, false, false, divides>>(e); }
ERX_CORNER_LOOPS(product, Product, false)
ERX_CORNER_LOOPS(quotient, Quotient, true)
ERX_CORNER_LOOPS(pow, Power, false)
#undef ERX_CORNER_LOOPS
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
ERX_VECTOR_CLONES void erf_exact(const Ends& e) { loop_of<Erf<true>, true>(e); }
ERX_VECTOR_CLONES void erf_open(const Ends& e) { loop_of<Erf<false>, true>(e); }
ERX_VECTOR_CLONES void rsqrt_exact(const Ends& e) { loop_of<ReciprocalRoot<true>, true>(e); }
ERX_VECTOR_CLONES void rsqrt_open(const Ends& e) { loop_of<ReciprocalRoot<false>, true>(e); }
ERX_VECTOR_CLONES void sin_exact(const Ends& e) { loop_of<Function<elementary::sin, true>, true>(e); }
ERX_VECTOR_CLONES void cos_exact(const Ends& e) { loop_of<Function<elementary::cos, true>, true>(e); }
ERX_VECTOR_CLONES void sin_open(const Ends& e) { loop_of<WaveOpen<elementary::sin>, true>(e); }
ERX_VECTOR_CLONES void cos_open(const Ends& e) { loop_of<WaveOpen<elementary::cos>, true>(e); }

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

}  // namespace

void Operand::set(const double* from_d, const double* from_u, bool scalar, bool negate, std::size_t n) {
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

const Loops same{.exact = same_exact, .left_exact = same_exact, .right_exact = same_exact, .open = same_exact,
                 .odd = same_odd, .nearest = same_nearest};
const Loops sum{.exact = sum_exact, .left_exact = sum_open, .right_exact = sum_open, .open = sum_open, .odd = sum_odd, .nearest = sum_nearest};
const Loops difference{.exact = sum_exact, .left_exact = sum_open, .right_exact = sum_open, .open = sum_open,
                       .negate_second = true, .odd = sum_odd, .nearest = sum_nearest};
const Loops product{.exact = product_exact, .left_exact = product_left, .right_exact = product_right, .open = product_open,
                    .monotone = false, .odd = product_odd, .nearest = product_nearest};
const Loops quotient{.exact = quotient_exact, .left_exact = quotient_left, .right_exact = quotient_right, .open = quotient_open,
                     .monotone = false, .divides = true, .odd = quotient_odd, .nearest = quotient_nearest};
const Loops root{.exact = root_exact, .left_exact = root_exact, .right_exact = root_open, .open = root_open,
                 .odd = root_odd, .nearest = root_nearest, .run = &run_sqrt};
const Loops larger{.exact = larger_loop, .left_exact = larger_loop, .right_exact = larger_loop, .open = larger_loop};
const Loops smaller{.exact = smaller_loop, .left_exact = smaller_loop, .right_exact = smaller_loop, .open = smaller_loop};
const Loops exp{.exact = exp_exact, .left_exact = exp_exact, .right_exact = exp_open, .open = exp_open, .run = &run_exp};
const Loops exp2{.exact = exp2_exact, .left_exact = exp2_exact, .right_exact = exp2_open, .open = exp2_open, .run = &run_exp2};
const Loops expm1{.exact = expm1_exact, .left_exact = expm1_exact, .right_exact = expm1_open, .open = expm1_open, .run = &run_expm1};
const Loops log{.exact = log_exact, .left_exact = log_exact, .right_exact = log_open, .open = log_open, .run = &run_log};
const Loops log2{.exact = log2_exact, .left_exact = log2_exact, .right_exact = log2_open, .open = log2_open, .run = &run_log2};
const Loops log10{.exact = log10_exact, .left_exact = log10_exact, .right_exact = log10_open, .open = log10_open, .run = &run_log10};
const Loops log1p{.exact = log1p_exact, .left_exact = log1p_exact, .right_exact = log1p_open, .open = log1p_open, .run = &run_log1p};
const Loops tanh{.exact = tanh_exact, .left_exact = tanh_exact, .right_exact = tanh_open, .open = tanh_open, .run = &run_tanh};
const Loops sigmoid{.exact = sigmoid_exact, .left_exact = sigmoid_exact, .right_exact = sigmoid_open, .open = sigmoid_open, .run = &run_sigmoid};
const Loops erf{.exact = erf_exact, .left_exact = erf_exact, .right_exact = erf_open, .open = erf_open, .run = &run_erf};
const Loops rsqrt{.exact = rsqrt_exact, .left_exact = rsqrt_exact, .right_exact = rsqrt_open, .open = rsqrt_open, .monotone = false, .run = &run_rsqrt};
const Loops pow{.exact = pow_exact, .left_exact = pow_left, .right_exact = pow_right, .open = pow_open, .monotone = false, .points = true};
const Loops sin{.exact = sin_exact, .left_exact = sin_exact, .right_exact = sin_open, .open = sin_open, .points = true, .run = &run_sin};
const Loops cos{.exact = cos_exact, .left_exact = cos_exact, .right_exact = cos_open, .open = cos_open, .points = true, .run = &run_cos};

bool loop(const Loops& loops, std::span<const Tile> x, const Tile& out, std::size_t n, std::uint64_t* hard) {
  bool points = true;
  for (const Tile& t : x) points = points && t.is_point;
  if (loops.points && !points) return false;
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
