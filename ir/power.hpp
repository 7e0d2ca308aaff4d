// Scaling by powers of two and exponents by bits: what std::ldexp and std::ilogb give, without a call.
#pragma once
#include <bit>
#include <cmath>
#include <cstdint>

namespace erx {

/// x * 2^e, rounded once where that leaves the range of normal doubles.
inline double scaled(double x, int e) {
  if (e < -1022 || e > 1023) return std::ldexp(x, e);
  return x * std::bit_cast<double>(static_cast<std::uint64_t>(e + 1023) << 52);
}

/// floor(log2 |x|) of a finite x other than 0.
inline int exponent_of(double x) {
  const int field = static_cast<int>(std::bit_cast<std::uint64_t>(x) >> 52 & 0x7ff);
  return field ? field - 1023 : std::ilogb(x);
}

}  // namespace erx
