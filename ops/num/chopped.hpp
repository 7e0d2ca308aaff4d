// Doubles around a real that is known by its first 64 bits.
//   lower_of(c) <= x <= upper_of(c), equal if x is a double
#pragma once
#include <cmath>
#include <limits>

#include "ops/rounding.hpp"

namespace erx {

inline double magnitude_of(const Chopped& c, bool away) {
  constexpr double infinity = std::numeric_limits<double>::infinity();
  if (c.significand == 0) return 0;
  if (c.exponent > 1023) return away ? infinity : std::numeric_limits<double>::max();
  const int kept = c.exponent >= -1022 ? 53 : 53 - (-1022 - c.exponent);  // bits that fit
  if (kept <= 0) return away ? 0x1p-1074 : 0;
  const std::uint64_t top = c.significand >> (64 - kept);
  const bool cut = c.sticky || (top << (64 - kept)) != c.significand;
  return std::ldexp(static_cast<double>(top + (cut && away)), c.exponent - kept + 1);
}

inline double lower_of(const Chopped& c) { return c.negative ? -magnitude_of(c, true) : magnitude_of(c, false); }
inline double upper_of(const Chopped& c) { return c.negative ? -magnitude_of(c, false) : magnitude_of(c, true); }

}  // namespace erx
