// Products of matrices.
#include "ops/families.hpp"
#include "ops/row.hpp"

namespace erx::families {

namespace {

/// NumPy: the last axis of x meets the second to last of y, axes before them broadcast; a 1-d operand counts as a row or column.
Shape matmul_shape(std::span<const Shape> shapes, const Attributes&) {
  const Shape& x = shapes[0];
  const Shape& y = shapes[1];
  for (int i = 0; i < 2; ++i)
    if (shapes[i].empty()) throw RuleBroken{"@ needs at least one dimension; multiply by a number with *", i, "has shape []"};
  const Dim& inner_x = x.back();
  const Dim& inner_y = y[y.size() >= 2 ? y.size() - 2 : 0];
  if (!(inner_x == inner_y))
    throw RuleBroken{"the inner dimensions of @ differ: " + inner_x.to_string() + " and " + inner_y.to_string() + " (shapes " +
                         to_string(x) + " and " + to_string(y) + ")",
                     1, to_string(y)};
  const Shape batch_x(x.begin(), x.end() - std::min<std::size_t>(x.size(), 2));
  const Shape batch_y(y.begin(), y.end() - std::min<std::size_t>(y.size(), 2));
  Clash clash{};
  auto result = broadcast(batch_x, batch_y, &clash);
  if (!result)
    throw RuleBroken{"the batch dimensions of @ do not broadcast: " + clash.left.to_string() + " and " + clash.right.to_string() +
                         " differ (shapes " + to_string(x) + " and " + to_string(y) + ")",
                     1, to_string(y)};
  if (x.size() >= 2) result->push_back(x[x.size() - 2]);
  if (y.size() >= 2) result->push_back(y.back());
  return *result;
}

}  // namespace

std::span<const Op* const> linalg() {
  static const Op matmul = make_row({.name = "matmul",
                                     .symbol = "@",
                                     .doc = "x[..., M, K] @ y[..., K, N] -> [..., M, N]: exact sums of products",
                                     .source = "NumPy matmul (shapes)",
                                     .operands = 2,
                                     .type = rules::arithmetic_type,
                                     .shape = matmul_shape,
                                     .arithmetic = true,
                                     .sum_role = SumRole::contraction,
                                     .complex = on_complex::product},
                                    Gather::sum);
  static const Op* const rows[] = {&matmul};
  return rows;
}

}  // namespace erx::families
