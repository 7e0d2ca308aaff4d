// Functions without nodes of their own: the grammar writes their calls out in other rows, so that they mean what those mean.
#include "ops/families.hpp"
#include "ops/row.hpp"

namespace erx::families {

namespace {

Op composed_row(std::string_view name, std::string_view doc, std::string_view source, int operands, int operands_max = 0,
                SumRole role = SumRole::none) {
  return make_row({.name = name, .doc = doc, .source = source, .operands = operands, .operands_max = operands_max, .sum_role = role},
                  Gather::composed);
}

}  // namespace

std::span<const Op* const> composed() {
  static const Op rows[] = {
      composed_row("mean", "mean(x, axis=, keepdims=): the exact sum divided by the number of elements; of nothing NaN", "NumPy mean", 1),
      composed_row("dot", "dot(x, y): as x @ y, for one or two dimensions", "NumPy dot", 2, 0, SumRole::contraction),
      composed_row("einsum", "einsum(\"ij,jk->ik\", x, y): sums of products over the letters that the result lacks", "NumPy einsum", 1, -1,
                   SumRole::contraction),
      composed_row("stack", "stack(x, y, .., axis=0): one after the other along a new axis", "NumPy stack", 1, -1),
      composed_row("flip", "flip(x, axis=): in the opposite order along the axes, or along all", "NumPy flip", 1),
      composed_row("repeat", "repeat(x, n, axis=): each element n times in a row; without axis of x as one line", "NumPy repeat", 2),
      composed_row("zeros", "zeros(shape): 0 everywhere", "NumPy zeros", 1),
      composed_row("ones", "ones(shape): 1 everywhere", "NumPy ones", 1),
      composed_row("full", "full(shape, x): x everywhere", "NumPy full", 2),
      composed_row("eye", "eye(n, m=n): 1 where both indices are equal, else 0", "NumPy eye", 1, 2),
      composed_row("vjp", "vjp(e, wrt=x, grad=g): the exact gradient, the sum of g * de/dx", "the chain rule", 1),
      composed_row("len", "len(x, axis=0): the length of an axis", "Python len", 1),
  };
  static const std::vector<const Op*> all = pointers(rows);
  return all;
}

}  // namespace erx::families
