// The bound of any association for one line among others, as ops/scan_bound.cpp, in float64.
// In formats of few bits G and its largest value are kept; elsewhere (1+u)^t B and (1+u)^t R S are as good, and E is kept without its
// growth: E_t <= (1+u)^t e_t, e_t = |a| (e_(t-1) + u B_(t-1)).
//   |a| (E + u/(1+u) B) (1+u) = (1+u)|a| E + u|a| B
#pragma once
#include <limits>

#include "ops/scan_rounding.hpp"
#include "ops/scan_tile.hpp"

namespace erx::scan {

struct BoundState {
  double *lo, *hi, *sums, *products, *total, *range, *largest, *grown, *peak;
};
/// Numbers of one step; all larger by what float64 loses of what they multiply.
struct BoundNumbers {
  double factor;      // of |a| in G and E: 1 + u where these are kept
  double u;           // of B in E
  double own;         // what float64 loses of the state, as a part of B
  double excess;      // of B, or G, in the radius
  double growth;      // of E in the radius
  double in_factors, in_states;  // what is lost near zero, of S and by itself
};

/// quick: no product of factors is larger than 1 (R = 1), and no end is subnormal.
template <bool single, bool quick, class Rounding>
struct BoundLine {
  static constexpr bool one_value = false, grows = Rounding::few_bits, owns = Rounding::is_double;
  double lo, hi, sums, products, total, range, largest, grown, peak;
  double least = std::numeric_limits<double>::infinity();  // magnitude of an end
  std::uint64_t crossing = 0;

  [[gnu::always_inline]] BoundLine(const BoundState& s, std::size_t i)
      : lo(s.lo[i]), hi(single ? lo : s.hi[i]), sums(s.sums[i]), products(s.products[i]), total(s.total[i]), range(quick ? 1 : s.range[i]),
        largest(s.largest[i]), grown(grows ? s.grown[i] : 0), peak(grows ? s.peak[i] : 0) {}

  [[gnu::always_inline]] void store(const BoundState& s, std::size_t i) const {
    s.lo[i] = lo;
    if constexpr (!single) s.hi[i] = hi;
    s.sums[i] = sums;
    s.products[i] = products;
    s.total[i] = total;
    s.range[i] = range;
    s.largest[i] = largest;
    if constexpr (grows) s.grown[i] = grown, s.peak[i] = peak;
  }

  [[gnu::always_inline]] std::uint64_t doubt(const Rounding& round) const {
    return std::uint64_t{!(least >= round.least)} | std::uint64_t{!(largest <= 1)};
  }

  [[gnu::always_inline]] void step(const ScanStepRow& row, const BoundNumbers& k, const Rounding& round, std::size_t i, double& low_end, double& high_end) {
    const double a = row.a_lo[i], b = row.b_lo[i];
    const double a_hi = single ? a : row.a_hi[i], b_hi = single ? b : row.b_hi[i];
    const double size = single ? bulk::magnitude(a) : larger_size(bulk::magnitude(a), bulk::magnitude(a_hi));
    const double term = single ? bulk::magnitude(b) : larger_size(bulk::magnitude(b), bulk::magnitude(b_hi));
    if constexpr (single) {
      lo = hi = std::fma(a, lo, b);
    } else {
      const double p = a * lo, q = a * hi, r = a_hi * lo, t = a_hi * hi;
      lo = smaller(smaller(p, q), smaller(r, t)) + b;
      hi = larger(larger(p, q), larger(r, t)) + b_hi;
    }
    const double factor = grows ? k.factor * size : size;
    products = factor * std::fma(k.u, sums, products);
    sums = std::fma(size, sums, term);
    if constexpr (owns) products = std::fma(k.own, sums, products);
    total += term;
    if constexpr (quick) {
      range = size;
      largest = larger_size(largest, size);
    } else {
      range = size * larger(1.0, range);
      largest = larger(largest, range);
    }
    if constexpr (grows) {
      grown = std::fma(factor, grown, term);
      peak = larger(peak, grown);
    }
    const double each = std::fma(k.in_factors, total, k.in_states), lost = quick ? each : largest * largest * each;
    const double radius = std::fma(k.excess, grows ? grown : sums, grows ? products + lost : std::fma(k.growth, products, lost));
    const double down = lo - radius, up = hi + radius;
    low_end = round.up(down);
    high_end = round.down(up);
    if constexpr (quick) {
      least = smaller_size(least, smaller_size(bulk::magnitude(down), bulk::magnitude(up)));
      crossing |= std::bit_cast<std::uint64_t>(down) ^ std::bit_cast<std::uint64_t>(up);
    }
  }
};

}  // namespace erx::scan
