// Which tiles hold single finite numbers whose doubles tell everything, the sign of a zero included (Tile::numbers).
//   fill_flags(values, flags, n)   // an input as it was decoded;   settle_point(tile, n)   // after a formula has written it
#pragma once
#include <cstddef>
#include <cstdint>

#include "ops/tile.hpp"

namespace erx {

/// What decoded values are.
enum class Decoded { nonzero, numbers, special };

/// Nonzero finite numbers have no flags, and none are written then; else every element gets its own. Special values become 0 with their flags.
Decoded fill_flags(double* values, std::uint8_t* flags, std::size_t n);
Decoded look_at(const double* values, std::size_t n);
void zero_flags(const double* x, std::uint8_t* flags, std::size_t n);  // of zeros by their signs; 0 for all else

/// Sets `plain` and `numbers` of a point whose arrays and flags are written: where every enclosure is one number, its two arrays become one.
/// Zeros of one sign get it in their double.
void settle_point(Tile&, std::size_t n);

/// Is a point whose two arrays are one made of finite numbers whose zeros have the sign of their double?
bool are_numbers(const Tile&, std::size_t n);

bool all_flags_zero(const std::uint8_t* flags, std::size_t n);

}  // namespace erx
