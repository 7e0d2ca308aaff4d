// Exact operations on the elements of tensors of one (broadcast) shape, special values as in IEEE 754.
#include "ops/families.hpp"
#include "ops/row.hpp"

namespace erx::families {

using namespace rules;

std::span<const Op* const> elementwise() {
  constexpr std::string_view ieee = "IEEE 754-2019, 5.4.1 and 6.1 to 6.3";
  constexpr std::string_view compared = "IEEE 754-2019, 5.11";
  static const Op rows[] = {
      make_row({.name = "add", .symbol = "+", .doc = "x + y", .source = ieee, .operands = 2, .type = arithmetic_type, .arithmetic = true}, Gather::map),
      make_row({.name = "sub", .symbol = "-", .doc = "x - y", .source = ieee, .operands = 2, .type = arithmetic_type, .arithmetic = true}, Gather::map),
      make_row({.name = "mul", .symbol = "*", .doc = "x * y; absent where an exact scalar parameter is 0", .source = ieee, .operands = 2,
                .type = arithmetic_type, .arithmetic = true, .product = true}, Gather::map),
      make_row({.name = "div", .symbol = "/", .doc = "x / y", .source = ieee, .operands = 2, .arithmetic = true}, Gather::map),
      make_row({.name = "floordiv", .symbol = "//", .doc = "floor(x / y)", .source = "NumPy floor_divide", .operands = 2,
                .type = arithmetic_type, .arithmetic = true}, Gather::map),
      make_row({.name = "mod", .symbol = "%", .doc = "x - y * floor(x / y), with the sign of y", .source = "NumPy remainder", .operands = 2,
                .type = arithmetic_type, .arithmetic = true}, Gather::map),
      make_row({.name = "fma", .doc = "fma(x, y, z): x * y + z", .source = ieee, .operands = 3, .type = arithmetic_type, .arithmetic = true}, Gather::map),
      make_row({.name = "neg", .symbol = "-", .doc = "-x", .source = "IEEE 754-2019, 5.5.1", .type = negated_type}, Gather::map),
      make_row({.name = "abs", .doc = "|x|", .source = "IEEE 754-2019, 5.5.1", .type = magnitude_type}, Gather::map),
      make_row({.name = "sign", .doc = "-1, 0 or 1; of a zero a zero of either sign", .source = "NumPy sign, StableHLO sign", .arithmetic = true}, Gather::map),
      make_row({.name = "floor", .doc = "the largest integer <= x", .source = "IEEE 754-2019, 5.9", .arithmetic = true}, Gather::map),
      make_row({.name = "ceil", .doc = "the smallest integer >= x", .source = "IEEE 754-2019, 5.9", .arithmetic = true}, Gather::map),
      make_row({.name = "trunc", .doc = "the nearest integer towards 0", .source = "IEEE 754-2019, 5.9", .arithmetic = true}, Gather::map),
      make_row({.name = "rint", .doc = "the nearest integer, ties to even", .source = "IEEE 754-2019, 5.9", .arithmetic = true}, Gather::map),
      make_row({.name = "minimum", .doc = "minimum(x, y): NaN if either is; -0 < +0", .source = "IEEE 754-2019, 9.6", .operands = 2, .type = join_type}, Gather::map),
      make_row({.name = "maximum", .doc = "maximum(x, y): NaN if either is; -0 < +0", .source = "IEEE 754-2019, 9.6", .operands = 2, .type = join_type}, Gather::map),
      make_row({.name = "fmin", .doc = "fmin(x, y): drops NaN; of two zeros either", .source = "IEEE 754-2008, 5.3.1 minNum", .operands = 2, .type = join_type}, Gather::map),
      make_row({.name = "fmax", .doc = "fmax(x, y): drops NaN; of two zeros either", .source = "IEEE 754-2008, 5.3.1 maxNum", .operands = 2, .type = join_type}, Gather::map),
      make_row({.name = "clamp", .doc = "clamp(x, lo, hi): minimum(maximum(x, lo), hi)", .source = "NumPy clip", .operands = 3, .type = join_type}, Gather::map),
      make_row({.name = "lt", .symbol = "<", .doc = "x < y; false for NaN", .source = compared, .operands = 2, .type = bool_type}, Gather::map),
      make_row({.name = "le", .symbol = "<=", .doc = "x <= y; false for NaN", .source = compared, .operands = 2, .type = bool_type}, Gather::map),
      make_row({.name = "gt", .symbol = ">", .doc = "x > y; false for NaN", .source = compared, .operands = 2, .type = bool_type}, Gather::map),
      make_row({.name = "ge", .symbol = ">=", .doc = "x >= y; false for NaN", .source = compared, .operands = 2, .type = bool_type}, Gather::map),
      make_row({.name = "eq", .symbol = "==", .doc = "x == y; false for NaN, -0 == +0", .source = compared, .operands = 2, .type = bool_type}, Gather::map),
      make_row({.name = "ne", .symbol = "!=", .doc = "x != y; true for NaN, -0 == +0", .source = compared, .operands = 2, .type = bool_type}, Gather::map),
      make_row({.name = "and", .symbol = "and", .doc = "x and y, for bools", .source = "logic", .operands = 2, .type = logic_type}, Gather::map),
      make_row({.name = "or", .symbol = "or", .doc = "x or y, for bools", .source = "logic", .operands = 2, .type = logic_type}, Gather::map),
      make_row({.name = "not", .symbol = "not", .doc = "not x, for bools", .source = "logic", .type = logic_type}, Gather::map),
      make_row({.name = "where", .doc = "where(c, x, y): x where c, else y; reads only the branch taken", .source = "NumPy where", .operands = 3, .type = choice_type}, Gather::map),
  };
  static const std::vector<const Op*> all = pointers(rows);
  return all;
}

}  // namespace erx::families
