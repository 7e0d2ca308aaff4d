// Functions of one element, and powers.
#include "ops/families.hpp"
#include "ops/row.hpp"

namespace erx::families {

std::span<const Op* const> functions() {
  constexpr std::string_view ieee = "IEEE 754-2019, 9.2";
  static const Op rows[] = {
      make_row({.name = "sqrt", .doc = "square root; NaN below 0", .source = "IEEE 754-2019, 5.4.1", .rational = false, .function = true}, Gather::map),
      make_row({.name = "rsqrt", .doc = "1 / sqrt(x)", .source = ieee, .rational = false, .function = true}, Gather::map),
      make_row({.name = "exp", .doc = "e to the x", .source = ieee, .rational = false, .function = true}, Gather::map),
      make_row({.name = "exp2", .doc = "2 to the x", .source = ieee, .rational = false, .function = true}, Gather::map),
      make_row({.name = "expm1", .doc = "exp(x) - 1", .source = ieee, .rational = false, .function = true}, Gather::map),
      make_row({.name = "log", .doc = "natural logarithm; -inf at 0, NaN below", .source = ieee, .rational = false, .function = true}, Gather::map),
      make_row({.name = "log2", .doc = "logarithm to base 2", .source = ieee, .rational = false, .function = true}, Gather::map),
      make_row({.name = "log10", .doc = "logarithm to base 10", .source = ieee, .rational = false, .function = true}, Gather::map),
      make_row({.name = "log1p", .doc = "log(1 + x)", .source = ieee, .rational = false, .function = true}, Gather::map),
      make_row({.name = "sin", .doc = "sine of x in radians", .source = ieee, .rational = false, .function = true}, Gather::map),
      make_row({.name = "cos", .doc = "cosine of x in radians", .source = ieee, .rational = false, .function = true}, Gather::map),
      make_row({.name = "tanh", .doc = "hyperbolic tangent", .source = ieee, .rational = false, .function = true}, Gather::map),
      make_row({.name = "erf", .doc = "error function", .source = "C 7.12.8.1", .rational = false, .function = true}, Gather::map),
      make_row({.name = "sigmoid", .doc = "1 / (1 + exp(-x))", .source = "StableHLO logistic", .rational = false, .function = true}, Gather::map),
      make_row({.name = "pow", .symbol = "**", .doc = "x ** n, n an integer (any real where x > 0)", .source = ieee, .operands = 2, .rational = false,
                .arithmetic = true}, Gather::map),
  };
  static const std::vector<const Op*> all = pointers(rows);
  return all;
}

}  // namespace erx::families
