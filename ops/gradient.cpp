#include "ops/gradient.hpp"

#include <algorithm>
#include <map>

namespace erx {

NodeId GradientBuilder::call(std::string_view name, std::vector<NodeId> operands, Attributes attributes) {
  return build(graph_, op(name), std::move(operands), std::move(attributes), at_);
}

NodeId GradientBuilder::number(std::string text) {
  Attributes attributes;
  attributes.text = std::move(text);
  return call("literal", {}, std::move(attributes));
}

NodeId GradientBuilder::iota(const Dim& length) {
  Attributes attributes;
  attributes.shape = {length};
  return call("iota", {}, std::move(attributes));
}

NodeId GradientBuilder::indexed(NodeId x, std::vector<Slice> slices) {
  Attributes attributes;
  attributes.slices = std::move(slices);
  return call("index", {x}, std::move(attributes));
}

NodeId GradientBuilder::in_shape(std::string_view view, NodeId x, Shape to) {
  if (shape(x) == to) return x;
  Attributes attributes;
  attributes.shape = std::move(to);
  return call(view, {x}, std::move(attributes));
}

NodeId GradientBuilder::reshaped(NodeId x, Shape to) { return in_shape("reshape", x, std::move(to)); }

NodeId GradientBuilder::transposed(NodeId x, std::vector<std::int64_t> axes) {
  if (std::is_sorted(axes.begin(), axes.end())) return x;
  Attributes attributes;
  attributes.axes = std::move(axes);
  return call("transpose", {x}, std::move(attributes));
}

NodeId GradientBuilder::broadcast_to(NodeId x, Shape to) { return in_shape("broadcast", x, std::move(to)); }

NodeId GradientBuilder::reduced(std::string_view name, NodeId x, std::vector<std::int64_t> axes, bool keepdims, std::optional<NodeId> mask) {
  Attributes attributes;
  attributes.axes = std::move(axes);
  attributes.keepdims = keepdims;
  attributes.masked = mask.has_value();
  std::vector<NodeId> operands = {x};
  if (mask) operands.push_back(*mask);
  return call(name, std::move(operands), std::move(attributes));
}

NodeId GradientBuilder::zeros(Shape to) { return broadcast_to(number("0"), std::move(to)); }

NodeId GradientBuilder::fitted(NodeId x, Shape to) {
  const Shape from = shape(x);
  if (from == to) return x;
  std::vector<std::int64_t> axes;
  const std::size_t extra = from.size() > to.size() ? from.size() - to.size() : 0;
  for (std::size_t k = 0; k < from.size(); ++k) {
    const bool was_one = k >= extra && from.size() >= to.size() && to[k - extra] == Dim(1) && !(from[k] == Dim(1));
    if (k < extra || was_one) axes.push_back(static_cast<std::int64_t>(k));
  }
  if (!axes.empty()) x = reduced("sum", x, axes, true);
  if (extra > 0) {  // the kept axes of length 1 before those of the operand
    const Shape kept = shape(x);
    x = reshaped(x, Shape(kept.begin() + static_cast<std::ptrdiff_t>(extra), kept.end()));
  }
  return broadcast_to(x, to);
}

NodeId GradientBuilder::with_axes(NodeId x, NodeId of_node) {
  const Attributes a = attributes(of_node);
  if (a.keepdims) return x;
  std::vector<Slice> slices;
  for (std::size_t k = 0; k < rank(operand(of_node, 0)); ++k) {
    const bool gone = std::find(a.axes.begin(), a.axes.end(), static_cast<std::int64_t>(k)) != a.axes.end();
    slices.push_back(gone ? Slice{Slice::Kind::new_axis, 0, 1, 0} : Slice{Slice::Kind::range, 0, 1, -1});
  }
  return slices.empty() ? x : indexed(x, std::move(slices));
}

NodeId gradient(Graph& graph, NodeId root, NodeId wrt, NodeId upstream, const Span& at) {
  GradientBuilder b(graph, at);
  std::vector<bool> depends(root + 1, false), reached(root + 1, false);
  for (NodeId id = 0; id <= root; ++id) {
    depends[id] = id == wrt;
    if (id != wrt)
      for (NodeId operand : graph[id].operands) depends[id] = depends[id] || depends[operand];
  }
  std::map<NodeId, NodeId> flows = {{root, upstream}};
  if (wrt <= root && depends[root]) {
    for (NodeId id = root; id > wrt; --id) {
      const auto flow = flows.find(id);
      if (!depends[id] || flow == flows.end()) continue;
      const NodeId up = flow->second;
      const GradientRule rule = gradient_of(row(graph[id]));
      if (!rule.formula) throw NoGradient{id, rule.why_none};
      const std::vector<NodeId> operands = graph[id].operands;
      for (std::size_t k = 0; k < operands.size(); ++k) {
        if (!depends[operands[k]]) continue;
        const std::optional<NodeId> into = rule.formula(b, id, up, k);
        if (!into) continue;
        const NodeId fit = b.fitted(*into, graph[operands[k]].shape);
        const auto [at_operand, is_first] = flows.emplace(operands[k], fit);
        if (!is_first) at_operand->second = b.call("add", {at_operand->second, fit});
      }
    }
  }
  const auto found = flows.find(wrt);
  return found != flows.end() ? found->second : b.zeros(graph[wrt].shape);
}

}  // namespace erx
