// Reductions in exact arithmetic, in any number type: two elements at a time (max, min, any, all), or all at once (argmax).
#pragma once
#include <algorithm>

#include "eval/sum_parts.hpp"

namespace erx {

/// The elements that one element of a reduction combines, as the one term of a sum.
inline SumNode reduction_of(const Graph& graph, NodeId id) {
  const Node& node = graph[id];
  const Extents from = extents_of(graph[node.operands[0]].shape), strides = contiguous_strides(from);
  const auto& axes = node.attributes.axes;
  // The mask is read as if it had the shape of the operand.
  Extents mask_strides(from.size(), 0);
  if (node.attributes.masked) {
    const Extents mask = extents_of(graph[node.operands[1]].shape), own = contiguous_strides(mask);
    const std::size_t shift = from.size() - mask.size();
    for (std::size_t k = 0; k < mask.size(); ++k) mask_strides[k + shift] = mask[k] == 1 ? 0 : own[k];
  }
  Term term{false, 0, {node.operands[0], {}, {}}, std::nullopt, {}};
  Factor mask{node.attributes.masked ? node.operands[1] : 0, {}, {}};
  const bool keeps = node.attributes.keepdims || row(node).is_prefix;
  for (std::size_t k = 0; k < from.size(); ++k) {
    if (std::find(axes.begin(), axes.end(), static_cast<std::int64_t>(k)) != axes.end()) {
      term.reduced.push_back(from[k]);
      term.bounds.push_back(row(node).is_prefix ? static_cast<int>(k) : Term::whole);
      term.a.reduced_strides.push_back(strides[k]);
      mask.reduced_strides.push_back(mask_strides[k]);
      if (!keeps) continue;
      term.a.out_strides.push_back(0);
      mask.out_strides.push_back(0);
    } else {
      term.a.out_strides.push_back(strides[k]);
      mask.out_strides.push_back(mask_strides[k]);
    }
  }
  if (node.attributes.masked) term.masks.push_back(mask);
  SumNode reduction{id, {}, {term}, {false}, {}, extents_of(node.shape), term.leaves(), {}, {}};
  return reduction;
}

/// All elements at once: those that the mask leaves out are empty sets, so that the others keep their places.
template <class R, class Reader>
Set<R> reduce_whole(const Node& node, const SumNode& reduction, std::int64_t flat, Reader& reader, Context c) {
  std::vector<Set<R>> all;
  bool some = false;
  SumNode unmasked = reduction;
  unmasked.terms[0].masks.clear();
  std::vector<std::int64_t> present;
  for_each_leaf(reduction, flat, [&](std::size_t, std::int64_t at, std::int64_t) { present.push_back(at); });
  std::size_t next = 0;
  for_each_leaf(unmasked, flat, [&](std::size_t, std::int64_t at, std::int64_t) {
    const bool is_present = next < present.size() && present[next] == at;
    all.push_back(is_present ? reader.load(reduction.terms[0].a.node, at) : Set<R>::special(0));
    next += is_present;
    some |= is_present;
  });
  if (!some) throw Error(Diagnostic{node.span, "`" + std::string(node.op->name) + "` of nothing", "the mask leaves no element here"});
  return formula_of<R>(row(node))(all, node.attributes, c);
}

template <class R, class Reader>
Set<R> reduce_element(const Node& node, const SumNode& reduction, std::int64_t flat, Reader& reader, Context c) {
  const Op& op = row(node);
  if (op.is_whole) return reduce_whole<R>(node, reduction, flat, reader, c);
  Set<R> total;
  bool first = true;
  for_each_leaf(reduction, flat, [&](std::size_t, std::int64_t at, std::int64_t) {
    const Set<R> x = reader.load(reduction.terms[0].a.node, at);
    total = first ? x : apply<R>(op, {total, x}, node.attributes, c);
    first = false;
  });
  if (first) {
    if (op.empty != op.empty) return Set<R>::special(has_nan);
    if (std::isinf(op.empty)) return Set<R>::special(op.empty > 0 ? has_pinf : has_ninf);
    return Set<R>::point(R::exact(op.empty, c), op.empty == 0 ? has_pzero : 0);
  }
  return total;
}

}  // namespace erx
