// A formula with branch-free loops, and the rounding of its result, over tiles: lanes::rounded, and the two formulas where that cannot tell.
//   op.rounded = &rounded_formula<Add>;
#pragma once
#include "ops/bulk.hpp"
#include "ops/round_set.hpp"
#include "ops/rounded_lanes.hpp"

namespace erx {

template <class F>
RoundedTile rounded_formula(std::span<const Tile> x, const Tile& out, std::size_t n, const Attributes& attributes, const Attributes& rounding) {
  for (std::size_t k = 0; k < x.size(); ++k)  // a scalar parameter that is 0 makes a product absent
    if ((attributes.scales >> k & 1) && !(x[k].scalar && x[k].lo_d[0] != 0)) return RoundedTile::none;
  struct Hard {
    std::span<const Tile> x;
    const Tile& out;
    const Attributes &attributes, &rounding;
    SpecialResults special = {};
  } hard{x, out, attributes, rounding};
  return lanes::rounded(
      F::loops, x, out, n, BulkRounding(*rounding.format, rounding.rounding),
      [](std::size_t i, void* data) {
        Hard& h = *static_cast<Hard*>(data);
        std::array<Set<F64>, 2> operands;
        for (std::size_t k = 0; k < h.x.size(); ++k) operands[k] = read(h.x[k], i);
        write(h.out, i, h.special(std::span<const Set<F64>>(operands).first(h.x.size()), SpecialsGoBySign<F>, [&](std::span<const Set<F64>> some) {
          return round_set(F::template of<F64>(some, h.attributes, Context{}), *h.rounding.format, h.rounding.rounding, Context{});
        }));
      },
      &hard);
}

}  // namespace erx
