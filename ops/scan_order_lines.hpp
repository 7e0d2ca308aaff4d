// The steps of one line among others in their order: the least and the greatest result of a product and an addition, rounded.
// A fused sum is rounded once: to float64 with an odd last bit where that is inexact, and again into the format. Quick: where it is
// exact in float64, or does not lie in the middle of two values of the format, any rounding to float64 will do.
// source: Boldo & Melquiond, IEEE Trans. Computers 57 (2008) 462.
#pragma once
#include <limits>

#include "ir/graph.hpp"
#include "ops/scan_rounding.hpp"
#include "ops/scan_tile.hpp"

namespace erx::scan {

struct OrderState {
  double *lo, *hi, *worst;
};
struct NoNumbers {};

/// The sum of two doubles with an odd last bit where it is inexact.
[[gnu::always_inline]] inline double odd_sum(double a, double b) {
  const double s = a + b, t = s - a, residual = (a - (s - t)) + (b - t);
  const std::int64_t bits = std::bit_cast<std::int64_t>(s);
  const std::int64_t away = (std::bit_cast<std::int64_t>(residual) ^ bits) >> 63;  // 0: the rest has the sign of s, -1: not
  const std::int64_t needed = -static_cast<std::int64_t>(residual != 0) & ((bits & 1) - 1);
  return std::bit_cast<double>(bits + (needed & (1 | away)));
}

/// quick: no value is subnormal, no set holds 0, and no fused sum is rounded twice. Results are watched, not what they come from: what
/// lies between two results of one sign is as large as the smaller one.
template <Contraction contraction, bool single, bool quick, class Rounding>
struct OrderLine {
  static constexpr bool one_value = single && contraction != Contraction::free, is_double = Rounding::is_double;
  static constexpr bool is_f32 = !Rounding::few_bits && !is_double;
  double lo, hi, worst;  // worst: the largest magnitude so far; of what is not yet rounded, where rounding does not show it
  double least = std::numeric_limits<double>::infinity();
  std::int64_t from_middle = std::numeric_limits<std::int64_t>::max();
  std::uint64_t rest = 0, crossing = 0;

  [[gnu::always_inline]] OrderLine(const OrderState& s, std::size_t i) : lo(s.lo[i]), hi(one_value ? lo : s.hi[i]), worst(s.worst[i]) {}
  [[gnu::always_inline]] void store(const OrderState& s, std::size_t i) const {
    s.lo[i] = lo;
    if constexpr (!one_value) s.hi[i] = hi;
    s.worst[i] = worst;
  }
  [[gnu::always_inline]] std::uint64_t doubt(const Rounding& round) const {
    return std::uint64_t{!(least >= round.least)} | std::uint64_t{from_middle == 0} | rest | crossing >> 63;
  }

  [[gnu::always_inline]] void watch(double x) { worst = larger_size(bulk::magnitude(x), worst); }
  [[gnu::always_inline]] void watch_result(double x) {
    const double size = bulk::magnitude(x);
    worst = larger_size(size, worst);
    least = smaller_size(size, least);
  }

  /// A product, or a sum of values, to nearest. A product that overflows may be lost in a result where rounding shows no infinity.
  template <bool is_product>
  [[gnu::always_inline]] double near(double x, const Rounding& round) {
    if constexpr (quick && is_f32) return ToF32{}.near(x);
    if constexpr (!quick) watch(x);
    if constexpr (quick && is_product && !is_double) watch_result(x);
    return round.near(x);
  }

  /// The exact sum of a x, which is p but in float64, and b, to nearest.
  [[gnu::always_inline]] double fused_step(double a, double x, double p, double b, const Rounding& round) {
    if constexpr (is_double) {
      const double s = std::fma(a, x, b);
      if constexpr (!quick) watch(s);
      return s;
    } else if constexpr (!quick) {
      const double s = planted(Mistake::scan_rounded_twice) ? p + b : odd_sum(p, b);
      watch(s);
      return round.near(s);
    } else {
      const double s = p + b;
      if constexpr (Rounding::few_bits) {  // middles are common, inexact sums are not
        const double t = s - p, residual = (p - (s - t)) + (b - t);
        if (!planted(Mistake::scan_rounded_twice) && !planted(Mistake::scan_middle_unseen)) rest |= std::bit_cast<std::uint64_t>(residual);
        return round.near(s);
      } else {
        const std::int64_t middle = round.from_middle(s);
        if (!planted(Mistake::scan_rounded_twice) && !planted(Mistake::scan_middle_unseen)) from_middle = middle < from_middle ? middle : from_middle;
        return round.near_unless_middle(s);
      }
    }
  }

  /// a x + b: fused, separately, or the end of both. p: the product in float64.
  template <bool below>
  [[gnu::always_inline]] double one(double a, double x, double p, double b, const Rounding& round) {
    double separate = 0, fused = 0;
    if constexpr (contraction != Contraction::always) separate = near<false>(near<true>(p, round) + b, round);
    if constexpr (contraction != Contraction::never) fused = fused_step(a, x, p, b, round);
    if constexpr (contraction == Contraction::always) return fused;
    if constexpr (contraction == Contraction::never) return separate;
    return below ? smaller(separate, fused) : larger(separate, fused);
  }

  [[gnu::always_inline]] void step(const ScanStepRow& row, const NoNumbers&, const Rounding& round, std::size_t i, double& low_end, double& high_end) {
    const double a = row.a_lo[i], b = row.b_lo[i], a_hi = single ? a : row.a_hi[i], b_hi = single ? b : row.b_hi[i];
    if constexpr (one_value) {
      lo = hi = one<true>(a, lo, a * lo, b, round);
    } else if constexpr (is_double) {  // products are not exact: the step is done at each pair of ends
      const double x = lo, y = hi;
      lo = smaller(one<true>(a, x, a * x, b, round), one<true>(a, y, a * y, b, round));
      hi = larger(one<false>(a, x, a * x, b_hi, round), one<false>(a, y, a * y, b_hi, round));
      if constexpr (!single) {
        lo = smaller(lo, smaller(one<true>(a_hi, x, a_hi * x, b, round), one<true>(a_hi, y, a_hi * y, b, round)));
        hi = larger(hi, larger(one<false>(a_hi, x, a_hi * x, b_hi, round), one<false>(a_hi, y, a_hi * y, b_hi, round)));
      }
    } else {  // a step is monotone in the product
      const double p = a * lo, q = a * hi;
      double least_product = smaller(p, q), greatest_product = larger(p, q);
      if constexpr (!single) {
        const double r = a_hi * lo, t = a_hi * hi;
        least_product = smaller(least_product, smaller(r, t));
        greatest_product = larger(greatest_product, larger(r, t));
      }
      lo = one<true>(a, lo, least_product, b, round);
      hi = one<false>(a, hi, greatest_product, b_hi, round);
    }
    if constexpr (quick) {
      watch_result(lo);
      if constexpr (!one_value) {
        watch_result(hi);
        crossing |= std::bit_cast<std::uint64_t>(lo) ^ std::bit_cast<std::uint64_t>(hi);
      }
    }
    low_end = lo;
    high_end = hi;
  }
};

}  // namespace erx::scan
