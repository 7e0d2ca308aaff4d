// A formula with branch-free loops, and the rounding of its result, over tiles: lanes::rounded, and the two formulas where that cannot tell.
//   op.rounded = &rounded_formula<Add>;
#pragma once
#include "ops/bulk.hpp"
#include "ops/plateaus.hpp"
#include "ops/round_set.hpp"
#include "ops/rounded_lanes.hpp"

namespace erx {

/// A formula of one operand that never falls says so: `static constexpr bool increases = true`.
template <class F>
concept Increases = requires { requires F::increases; };

template <class F>
RoundedTile rounded_formula(std::span<const Tile> x, const Tile& out, std::size_t n, const Attributes& attributes, const Attributes& rounding) {
  for (std::size_t k = 0; k < x.size(); ++k)  // a scalar parameter that is 0 makes a product absent
    if ((attributes.scales >> k & 1) && !(x[k].scalar && x[k].lo_d[0] != 0)) return RoundedTile::none;
  struct Hard {
    std::span<const Tile> x;
    const Tile& out;
    const Attributes &attributes, &rounding;
    SpecialResults special = {};
    Plateaus plateaus = {};
  } hard{x, out, attributes, rounding};
  return lanes::rounded(
      F::loops, x, out, n, BulkRounding(*rounding.format, rounding.rounding),
      [](std::size_t i, void* data) {
        Hard& h = *static_cast<Hard*>(data);
        std::array<Set<F64>, 2> operands;
        for (std::size_t k = 0; k < h.x.size(); ++k) operands[k] = read(h.x[k], i);
        const bool on_plateau = Increases<F> && operands[0].has_reals() && operands[0].is_point && operands[0].lo.d == operands[0].lo.u && operands[0].lo.d != 0;
        if (on_plateau)
          if (const Set<F64>* known = h.plateaus.find(operands[0].lo.d)) return write(h.out, i, *known);
        write(h.out, i, h.special(std::span<const Set<F64>>(operands).first(h.x.size()), SpecialsGoBySign<F>, [&](std::span<const Set<F64>> some) {
          return round_set(F::template of<F64>(some, h.attributes, Context{}), *h.rounding.format, h.rounding.rounding, Context{});
        }));
        if (on_plateau) h.plateaus.add(operands[0].lo.d, read(h.out, i));
      },
      &hard);
}

}  // namespace erx
