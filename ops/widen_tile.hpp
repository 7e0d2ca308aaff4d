// Widening a tile (the row `within`): ordinary elements with the constants of the format at hand, the rest by the formula.
//   widen_tile(x, out, n, attributes, [&](std::size_t i) { ... });
#pragma once
#include "ops/bulk.hpp"
#include "ops/round_bulk.hpp"

namespace erx {

/// returns: false if the format or the attributes need the formula for every element.
template <class Hard>
bool widen_tile(const Tile& x, const Tile& out, std::size_t n, const Attributes& a, Hard hard) {
  const Format& f = *a.format;
  const BulkRounding round(f, {});
  if (!round.is_fast() || x.scalar || out.is_point || a.rounding.flush != Flush::no || f.min_positive() < 0x1p-900) return false;
  const double u = f.unit_roundoff(), half_eta = f.min_positive() / 2, safe = f.max_finite() / 4;
  const double nu = f.min_normal(), ulp_scale = 2 * u * a.ulp;
  const bool function = a.ulp != 0;
  const auto kept = [&](double d, double e) { return !function && d == e && bulk::round_one<Mode::rne>(d, round.constants()) == d; };
  for (std::size_t i = 0; i < n; ++i) {
    const F64 lo{x.lo_d[i], x.lo_u[i]}, hi = x.is_point ? lo : F64{x.hi_d[i], x.hi_u[i]};
    const std::uint8_t flags = x.plain ? 0 : x.flags[i];
    double largest = std::fmax(std::fabs(lo.d), std::fabs(hi.u));
    const double at_least = std::fmax(lo.d > 0 ? lo.d : -lo.u, hi.d > 0 ? hi.d : -hi.u);  // the same magnitude, from below
    if (a.open_ends && at_least < largest && f64::is_power_of_two(largest)) largest *= 1 - 0x1p-50;  // see `inside`
    const bool one_binade = !function || ((std::bit_cast<std::uint64_t>(largest) ^ std::bit_cast<std::uint64_t>(at_least)) >> 52) == 0;
    const bool one_sign = lo.d >= 0x1p-900 || hi.u <= -0x1p-900;
    if ((flags & ~any_zero) || !one_sign || !one_binade || !(largest <= safe)) {
      hard(i);
      continue;
    }
    // a power of two: the product is exact
    const double ulp =
        function ? std::bit_cast<double>(std::bit_cast<std::uint64_t>(std::fmax(largest, nu)) & 0x7ff0000000000000u) * ulp_scale : 0;
    const auto radius = [&](const F64& end) -> F64 {
      if (function) return {ulp, ulp};
      const F64 m = abs_of(end);
      return {f64::sum(m.d * u, half_eta).d, f64::sum(m.u * u, half_eta).u};
    };
    const F64 below = kept(lo.d, lo.u) ? lo : sub(lo, radius(lo));
    const F64 above = kept(hi.d, hi.u) ? hi : add(hi, radius(hi));
    if (!(below.d > 0 || above.u < 0)) {
      hard(i);
      continue;
    }
    out.lo_d[i] = below.d;
    out.lo_u[i] = below.u;
    out.hi_d[i] = above.d;
    out.hi_u[i] = above.u;
    out.flags[i] = 0;
  }
  return true;
}

}  // namespace erx
