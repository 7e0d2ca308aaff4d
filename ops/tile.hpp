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
};

}  // namespace erx
