// A sum to be evaluated: its terms, its rule, and how the leaves of one element are visited.
#pragma once
#include <vector>

#include "ops/accumulate.hpp"
#include "ops/terms.hpp"

namespace erx {

struct SumNode {
  NodeId node;
  SumRule rule;
  std::vector<Term> terms;      // without the absent ones
  std::vector<bool> is_product;  // per term: enters like a product, rounded or fused
  std::vector<std::pair<int, int>> least_exponents;  // per term: exponent fields of zero and subnormal factors
  Extents extents;
  std::int64_t leaves = 0;
  std::vector<std::pair<double, double>> flushed_below = {};  // per term: factors of smaller magnitude may be read as 0; empty: none
};

/// Visits each leaf of the element at `flat`, but not of the terms to `skip`: visit(term, offset of a, offset of b).
template <class Visit>
void for_each_leaf(const SumNode& sum, std::int64_t flat, const std::vector<bool>& skip, Visit visit) {
  const std::size_t rank = sum.extents.size();
  Extents index(rank);
  for (std::size_t k = rank; k-- > 0;) {
    index[k] = flat % sum.extents[k];
    flat /= sum.extents[k];
  }
  Extents at;
  for (std::size_t t = 0; t < sum.terms.size(); ++t) {
    if (!skip.empty() && skip[t]) continue;
    const Term& term = sum.terms[t];
    std::int64_t a = 0, b = 0;
    for (std::size_t k = 0; k < rank; ++k) {
      a += index[k] * term.a.out_strides[k];
      if (term.b) b += index[k] * term.b->out_strides[k];
    }
    const std::int64_t count = term.leaves();
    const std::size_t depth = term.reduced.size();
    at.assign(depth, 0);
    for (std::int64_t n = 0; n < count; ++n) {
      visit(t, a, b);
      for (std::size_t k = depth; k-- > 0;) {
        a += term.a.reduced_strides[k];
        if (term.b) b += term.b->reduced_strides[k];
        if (++at[k] < term.reduced[k]) break;
        a -= term.a.reduced_strides[k] * term.reduced[k];
        if (term.b) b -= term.b->reduced_strides[k] * term.reduced[k];
        at[k] = 0;
      }
    }
  }
}

template <class Visit>
void for_each_leaf(const SumNode& sum, std::int64_t flat, Visit visit) {
  for_each_leaf(sum, flat, {}, visit);
}

}  // namespace erx
