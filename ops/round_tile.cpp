#include "ops/round_tile.hpp"

#include <algorithm>
#include <cmath>

#include "ir/ieee.hpp"
#include "ops/clones.hpp"
#include "ops/num/set.hpp"
#include "ops/planted.hpp"
#include "ops/round_bulk.hpp"

namespace erx {

namespace {

struct Ends {
  const double *lo, *hi, *from_lo, *from_hi;
  const std::uint8_t* flags;
};

/// Is every element a number in range, away from zero, without special values?
ERX_VECTOR_CLONES bool all_plain(const Ends& e, double largest, std::size_t n) {
  std::uint64_t odd = 0;
  for (std::size_t i = 0; i < n; ++i) {
    const bool in_range = (std::fabs(e.lo[i]) <= largest) & (std::fabs(e.hi[i]) <= largest) & (std::fabs(e.from_lo[i]) <= largest) & (std::fabs(e.from_hi[i]) <= largest);
    odd |= static_cast<std::uint64_t>(!(in_range & ((e.lo[i] > 0) | (e.hi[i] < 0)))) | (e.flags[i] & static_cast<std::uint8_t>(~any_zero));
  }
  return odd == 0;
}

/// Is every element an interval in range, without special values, that holds numbers of both signs?
ERX_VECTOR_CLONES bool all_straddle_zero(const Ends& e, const double* inner_lo, const double* inner_hi, double largest, std::size_t n) {
  std::uint64_t odd = 0;
  for (std::size_t i = 0; i < n; ++i) {
    const bool in_range = (std::fabs(e.lo[i]) <= largest) & (std::fabs(e.hi[i]) <= largest) & (std::fabs(e.from_lo[i]) <= largest) & (std::fabs(e.from_hi[i]) <= largest);
    odd |= static_cast<std::uint64_t>(!(in_range & (inner_lo[i] < 0) & (inner_hi[i] > 0))) | (e.flags[i] & static_cast<std::uint8_t>(~any_zero));
  }
  return odd == 0;
}

}  // namespace

bool round_tile(const Tile& x, const Tile& out, std::size_t n, const Format& format, const Rounding& rounding, void (*hard)(std::size_t i, void*),
                void* data) {
  if (x.scalar || rounding.mode == Mode::sr || rounding.mode == Mode::faithful || rounding.flush != Flush::no) return false;
  const BulkRounding round(format, rounding);
  if (!round.is_fast()) return false;
  round(x.lo_d, out.lo_d, n);
  if (x.lo_u == x.lo_d || planted(Mistake::lower_side_only)) std::copy(out.lo_d, out.lo_d + n, out.lo_u);
  else round(x.lo_u, out.lo_u, n);
  if (!out.is_point) {
    if (x.hi_d == x.lo_d && x.hi_u == x.lo_u) {
      std::copy(out.lo_d, out.lo_d + n, out.hi_d);
      std::copy(out.lo_u, out.lo_u + n, out.hi_u);
    } else {
      round(x.hi_d, out.hi_d, n);
      if (x.hi_u == x.hi_d) std::copy(out.hi_d, out.hi_d + n, out.hi_u);
      else round(x.hi_u, out.hi_u, n);
    }
  }
  const double largest = format.max_finite();
  const double *top = out.is_point ? out.lo_u : out.hi_u, *x_top = x.is_point ? x.lo_u : x.hi_u;
  // Most results are plain numbers away from zero; the others are listed without branches, and looked at one by one.
  static constexpr std::uint8_t no_flags[tile_size] = {};
  const std::uint8_t* flags = x.plain ? no_flags : x.flags;
  const auto is_regular = [&](std::size_t i) {
    return (std::fabs(out.lo_d[i]) <= largest) & (std::fabs(top[i]) <= largest) & (std::fabs(x.lo_d[i]) <= largest) & (std::fabs(x_top[i]) <= largest) &
           ((flags[i] & ~any_zero) == 0);
  };
  std::uint16_t odd[tile_size + 1];
  std::size_t n_odd = 0;
  const std::uint8_t either_zero = format.has_negative_zero() ? any_zero : std::uint8_t{has_pzero};
  std::fill_n(out.flags, n, std::uint8_t{0});
  constexpr std::size_t block = 32;
  for (std::size_t first = 0; first < n; first += block) {
    const std::size_t count = std::min(block, n - first);
    const Ends ends{out.lo_d + first, top + first, x.lo_d + first, x_top + first, flags + first};
    if (all_plain(ends, largest, count)) continue;
    if (!x.is_point && all_straddle_zero(ends, x.lo_u + first, x.hi_d + first, largest, count)) {
      std::fill_n(out.flags + first, count, either_zero);
      continue;
    }
    for (std::size_t i = first; i < first + count; ++i) {
      odd[n_odd] = static_cast<std::uint16_t>(i);
      n_odd += !(is_regular(i) & ((out.lo_d[i] > 0) | (top[i] < 0)));
    }
  }
  for (std::size_t k = 0; k < n_odd; ++k) {
    const std::size_t i = odd[k];
    if (is_regular(i) && x.lo_d[i] == 0 && x_top[i] == 0) {
      out.flags[i] = format.has_negative_zero() || !(flags[i] & any_zero) ? flags[i] & any_zero : std::uint8_t{has_pzero};
    } else if (is_regular(i) && !x.is_point && x.lo_u[i] < 0 && x.hi_d[i] > 0) {
      // Both signs are there, so a zero may have either.
      out.flags[i] = either_zero;
    } else {
      hard(i, data);
    }
  }
  return true;
}

}  // namespace erx
