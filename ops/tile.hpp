// A run of at most 1024 elements of one operand as float64 enclosures: arrays of the ends, and flags (ops/num/set.hpp).
// lo_d <= lower end <= lo_u, hi_d <= upper end <= hi_u. A tile without freedom has one end: hi_* are lo_*.
//   row.bulk({tile_a, tile_b}, out, n, attributes);
#pragma once
#include <cstddef>
#include <cstdint>

namespace erx {

constexpr std::size_t tile_size = 1024;

struct Tile {
  double* lo_d = nullptr;
  double* lo_u = nullptr;  // may be lo_d in an operand: the ends are exact
  double* hi_d = nullptr;
  double* hi_u = nullptr;
  std::uint8_t* flags = nullptr;
  bool is_point = true;  // then hi_* == lo_*
  bool plain = false;    // all flags are 0
  bool scalar = false;   // an operand of one element, used for all (broadcast)
  bool numbers = false;  // every element is one finite number, lo_d == lo_u; a zero has the one sign of lo_d
};

/// What a tile holds after an operation and its rounding.
enum class RoundedTile : std::uint8_t {
  none,     // nothing was written: the two have to be done one after the other
  nonzero,  // one number in each element, none of them 0; only lo_d is written
  numbers,  // one number in each element, zeros with their sign; lo_d and flags are written
  sets,     // anything; lo_d, lo_u and flags are written
};

}  // namespace erx
