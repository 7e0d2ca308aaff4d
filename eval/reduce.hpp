// Reductions that combine two elements at a time in exact arithmetic (max, min, any, all), in any number type.
#pragma once
#include <algorithm>

#include "eval/sum_parts.hpp"

namespace erx {

/// The elements that one element of a reduction combines, as the one term of a sum.
inline SumNode reduction_of(const Graph& graph, NodeId id) {
  const Node& node = graph[id];
  const Extents from = extents_of(graph[node.operands[0]].shape), strides = contiguous_strides(from);
  const auto& axes = node.attributes.axes;
  Term term{false, 0, {node.operands[0], {}, {}}, std::nullopt, {}};
  for (std::size_t k = 0; k < from.size(); ++k) {
    if (std::find(axes.begin(), axes.end(), static_cast<std::int64_t>(k)) != axes.end()) {
      term.reduced.push_back(from[k]);
      term.a.reduced_strides.push_back(strides[k]);
      if (node.attributes.keepdims) term.a.out_strides.push_back(0);
    } else {
      term.a.out_strides.push_back(strides[k]);
    }
  }
  SumNode reduction{id, {}, {term}, {false}, {}, extents_of(node.shape), term.leaves(), {}};
  return reduction;
}

template <class R, class Reader>
Set<R> reduce_element(const Node& node, const SumNode& reduction, std::int64_t flat, Reader& reader, Context c) {
  const Op& op = row(node);
  if (reduction.leaves == 0) {
    if (op.empty != op.empty) return Set<R>::special(has_nan);
    if (std::isinf(op.empty)) return Set<R>::special(op.empty > 0 ? has_pinf : has_ninf);
    return Set<R>::point(R::exact(op.empty, c), op.empty == 0 ? has_pzero : 0);
  }
  Set<R> total;
  bool first = true;
  for_each_leaf(reduction, flat, [&](std::size_t, std::int64_t at, std::int64_t) {
    const Set<R> x = reader.load(reduction.terms[0].a.node, at);
    total = first ? x : apply<R>(op, {total, x}, node.attributes, c);
    first = false;
  });
  return total;
}

}  // namespace erx
