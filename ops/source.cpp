// Ops without operands.
#include "ops/families.hpp"
#include "ops/row.hpp"

namespace erx::families {

std::span<const Op* const> source() {
  static const Op input = make_row(
      {.name = "input", .doc = "an input of the spec: attributes.text is its name", .source = "erx", .operands = 0}, Gather::source);
  static const Op literal =
      make_row({.name = "literal", .doc = "exactly the number as written: 0.3 is 3/10; also nan, inf", .source = "erx", .operands = 0},
               Gather::source);
  static const Op iota = make_row({.name = "iota",
                                   .doc = "iota(n): the whole numbers 0, 1 .. n-1",
                                   .source = "NumPy arange, StableHLO iota",
                                   .operands = 0,
                                   .type = [](std::span<const Type>, const Attributes&) { return Type::integer(); },
                                   .element = [](std::int64_t at) { return static_cast<double>(at); }},
                                  Gather::source);
  static const Op* const rows[] = {&input, &literal, &iota};
  return rows;
}

}  // namespace erx::families
