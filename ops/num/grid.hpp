// The lowest set bit of a double: the grid that a value lies on.
//   lowest_bit(0.75) == 0.25
#pragma once
#include <bit>
#include <cstdint>
#include <limits>

namespace erx {

/// The lowest set bit of a finite double as a power of two; infinity for 0.
inline double lowest_bit(double x) {  // without branches: loops over it are vectorised
  const std::uint64_t bits = std::bit_cast<std::uint64_t>(x) & 0x7fffffffffffffff;
  const std::uint64_t has_fraction = -static_cast<std::uint64_t>((bits & 0xfffffffffffff) != 0);
  const double lowest = std::bit_cast<double>(bits) - std::bit_cast<double>(bits & (bits - 1) & has_fraction);
  const std::uint64_t is_zero = -static_cast<std::uint64_t>(bits == 0);
  constexpr std::uint64_t infinite = std::bit_cast<std::uint64_t>(std::numeric_limits<double>::infinity());
  return std::bit_cast<double>((std::bit_cast<std::uint64_t>(lowest) & ~is_zero) | (infinite & is_zero));
}

}  // namespace erx
