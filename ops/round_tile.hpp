// Rounding a whole tile: both sides of both ends in branch-free loops; elements with special values, overflow or an uncertain
// zero go through the formula of the row.
//   if (round_tile(x, out, n, format, rounding)) ...   hard elements by round_set
#pragma once
#include <cstddef>

#include "ir/format.hpp"
#include "ir/rounding.hpp"
#include "ops/tile.hpp"

namespace erx {

/// returns: false if this rounding has no fast path. Elements for which `hard` is called are left to the caller.
bool round_tile(const Tile& x, const Tile& out, std::size_t n, const Format&, const Rounding&, void (*hard)(std::size_t i, void*), void* data);

}  // namespace erx
