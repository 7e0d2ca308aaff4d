// An operation and the rounding of its result in one pass over tiles of single numbers: where an element has one value, that alone is
// written. Exact operands of + - * / and sqrt are rounded to odd first, so one rounding decides: a result rounded to odd with 53 bits
// rounds to p <= 51 bits as the result itself does, in every mode. source: Boldo and Melquiond, IEEE Trans. Computers 57 (2008) 462.
//   lanes::rounded(lanes::sum, x, out, n, round, hard, data)   out.lo_d[i] is x[0] + x[1], rounded
#pragma once
#include <cstdint>
#include <span>

#include "ops/lanes.hpp"
#include "ops/round_bulk.hpp"

namespace erx {

namespace lanes {

/// `hard(i, data)` writes element i of `out` by the formulas: where the loops cannot tell, or where the two sides of an enclosure round apart.
/// `round`: a mode with one result.
RoundedTile rounded(const Loops&, std::span<const Tile> x, const Tile& out, std::size_t n, const BulkRounding& round, void (*hard)(std::size_t i, void*),
                    void* data);

}  // namespace lanes
}  // namespace erx
