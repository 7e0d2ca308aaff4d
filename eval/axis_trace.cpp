#include "eval/axis_trace.hpp"

#include <algorithm>

#include "ops/op.hpp"

namespace erx {
namespace {

using Axis = std::optional<int>;  // nothing: the op mixes what lies along it

/// Of an operand that is broadcast to `rank` dimensions.
int aligned(const Extents& operand, std::size_t rank, std::int64_t extent, int axis) {
  const int own = axis - static_cast<int>(rank - operand.size());
  return own < 0 || operand[static_cast<std::size_t>(own)] != extent ? AxisTrace::whole : own;
}

/// Of a reduction: the axes that stay keep their order. The mask is broadcast to the operand.
Axis reduced(const Graph& graph, const Node& node, std::size_t k, std::int64_t extent, int axis) {
  const Extents inner = extents_of(graph[node.operands[0]].shape);
  const auto& over = node.attributes.axes;
  const bool keeps = node.attributes.keepdims || row(node).is_prefix;
  int at = 0;
  for (std::size_t i = 0; i < inner.size(); ++i) {
    const bool is_over = std::find(over.begin(), over.end(), static_cast<std::int64_t>(i)) != over.end();
    if (is_over && !keeps) continue;
    if (at++ != axis) continue;
    if (is_over) return {};
    return k == 0 ? static_cast<int>(i) : aligned(extents_of(graph[node.operands[k]].shape), inner.size(), extent, static_cast<int>(i));
  }
  return {};
}

/// Of [batch.., rows, columns] = a @ b, where an operand of one dimension has no row or no column.
Axis contracted(const Graph& graph, const Node& node, std::size_t k, std::int64_t extent, int axis) {
  const Extents a = extents_of(graph[node.operands[0]].shape), b = extents_of(graph[node.operands[1]].shape);
  const int has_row = a.size() > 1, has_column = b.size() > 1;
  const int batch = static_cast<int>(node.shape.size()) - has_row - has_column;
  const Extents& own = k == 0 ? a : b;
  const int rank = static_cast<int>(own.size());
  if (axis < batch) {
    const int at = axis - (batch - (rank - 2));
    return rank < 2 || at < 0 || own[static_cast<std::size_t>(at)] != extent ? AxisTrace::whole : at;
  }
  const bool is_row = has_row && axis == batch;
  if (k == 0) return is_row ? rank - 2 : AxisTrace::whole;
  return is_row ? AxisTrace::whole : rank - 1;
}

/// Of a recurrence: h_0 has no axis of steps.
Axis recurrent(const Graph& graph, const Node& node, std::size_t k, std::int64_t extent, int axis) {
  const int steps = static_cast<int>(node.attributes.axes[0]);
  if (axis == steps) return {};
  const Extents own = extents_of(graph[node.operands[k]].shape);
  if (k < 2) return aligned(own, node.shape.size(), extent, axis);
  return aligned(own, node.shape.size() - 1, extent, axis - (axis > steps));
}

/// Of a view: one axis of the operand, walked from its first element to its last, while the others stay off it.
Axis viewed(const Graph& graph, const Node& node, std::int64_t extent, int axis) {
  const Extents own = extents_of(graph[node.operands[0]].shape), strides = contiguous_strides(own);
  const std::optional<View> view = row(node).view(View::contiguous(own), node);
  if (!view) return {};
  const std::int64_t along = view->strides[static_cast<std::size_t>(axis)];
  if (along == 0) return AxisTrace::whole;
  for (std::size_t d = 0; d < own.size(); ++d) {
    if (own[d] != extent || strides[d] != along) continue;
    const std::int64_t all = strides[d] * own[d];
    std::int64_t least = view->offset % all, most = least;
    for (std::size_t k = 0; k < view->extents.size(); ++k) {
      const std::int64_t step = view->strides[k] * (view->extents[k] - 1);
      if (static_cast<int>(k) == axis || view->strides[k] % all == 0) continue;
      (step < 0 ? least : most) += step;
    }
    if (least >= 0 && most < strides[d]) return static_cast<int>(d);
  }
  return {};
}

Axis operand_axis(const Graph& graph, const Node& node, std::size_t k, std::int64_t extent, int axis) {
  const Op& op = row(node);
  const auto alike = [&] { return aligned(extents_of(graph[node.operands[k]].shape), node.shape.size(), extent, axis); };
  switch (op.gather) {
    case Gather::map:
    case Gather::pair:
    case Gather::accumulate: return alike();
    case Gather::view: return viewed(graph, node, extent, axis);
    case Gather::reduce: return reduced(graph, node, k, extent, axis);
    case Gather::sum:
      if (op.sum_role == SumRole::reduction) return reduced(graph, node, k, extent, axis);
      if (op.sum_role == SumRole::contraction) return contracted(graph, node, k, extent, axis);
      return alike();
    case Gather::recurrence: return recurrent(graph, node, k, extent, axis);
    case Gather::join: return axis == static_cast<int>(node.attributes.axes[0]) ? Axis{} : Axis{axis};
    case Gather::source:
    case Gather::loop:
    case Gather::composed: return {};
  }
  return {};
}

/// Is a view of a part of the operand that part of the view?
bool views_alike(const Graph& graph, NodeId id, const AxisTrace& trace, std::int64_t count) {
  const NodeId operand = graph[id].operands[0];
  const Node part = shortened(graph[id], trace.axis[id], count);
  const Extents own = extents_of(graph[operand].shape);
  const auto of_whole = row(part).view(View::contiguous(own), graph[id]);
  const auto of_part = row(part).view(View::contiguous(extents_of(shortened(graph[operand], trace.axis[operand], count).shape)), part);
  if (!of_whole || !of_part || of_part->extents != extents_of(part.shape)) return false;
  const int d = trace.axis[operand];
  const std::int64_t below = d < 0 ? 0 : contiguous_strides(own)[static_cast<std::size_t>(d)];
  const auto moved = [&](std::int64_t stride) {  // places before the axis lie closer
    return d < 0 ? stride : stride / (below * own[static_cast<std::size_t>(d)]) * (below * count) + stride % (below * own[static_cast<std::size_t>(d)]);
  };
  if (of_part->offset != moved(of_whole->offset)) return false;
  for (std::size_t k = 0; k < of_part->extents.size(); ++k)
    if (of_part->extents[k] > 1 && of_part->strides[k] != moved(of_whole->strides[k])) return false;
  return true;
}

/// Do the rules of shapes and views say the same of a graph with `count` indices? (A slice with numbers of its own does not.)
bool fits(const Graph& graph, const AxisTrace& trace, std::int64_t count) {
  for (NodeId id = 0; id < graph.size(); ++id) {
    const Node& node = graph[id];
    if (trace.axis[id] < 0 || node.operands.empty()) continue;
    const Node part = shortened(node, trace.axis[id], count);
    std::vector<Shape> shapes;
    for (const NodeId operand : node.operands) shapes.push_back(shortened(graph[operand], trace.axis[operand], count).shape);
    try {
      if (row(node).gather != Gather::pair && row(node).shape(shapes, part.attributes) != part.shape) return false;
    } catch (const RuleBroken&) {
      return false;
    }
    if (row(node).gather == Gather::view && !views_alike(graph, id, trace, count)) return false;
  }
  return true;
}

}  // namespace

Node shortened(Node node, int axis, std::int64_t count) {
  if (axis < 0) return node;
  const bool names_shape = node.attributes.shape == node.shape;
  node.shape[static_cast<std::size_t>(axis)] = Dim(count);
  if (names_shape) node.attributes.shape = node.shape;
  return node;
}

std::optional<AxisTrace> trace_axis(const Graph& graph, const std::vector<std::size_t>& results, std::size_t axis) {
  AxisTrace trace{0, std::vector<int>(graph.size(), AxisTrace::unused)};
  for (const std::size_t r : results) {
    const Shape& shape = graph[graph.results.at(r).node].shape;
    if (axis >= shape.size() || (trace.extent != 0 && shape[axis].value() != trace.extent)) return {};
    trace.extent = shape[axis].value();
    trace.axis[graph.results[r].node] = static_cast<int>(axis);
  }
  if (trace.extent < 2) return {};
  for (auto id = static_cast<NodeId>(graph.size()); id-- > 0;) {
    const int own = trace.axis[id];
    if (own == AxisTrace::unused) continue;
    const Node& node = graph[id];
    if (own >= 0 && node.operands.empty() && std::find(graph.inputs.begin(), graph.inputs.end(), id) == graph.inputs.end()) return {};
    for (std::size_t k = 0; k < node.operands.size(); ++k) {
      const Axis found = own == AxisTrace::whole ? own : operand_axis(graph, node, k, trace.extent, own);
      if (!found) return {};
      int& known = trace.axis[node.operands[k]];
      if (known != AxisTrace::unused && known != *found) return {};  // read in two ways
      known = *found;
    }
  }
  for (const std::int64_t count : {std::int64_t{1}, std::int64_t{2}, trace.extent - 1})
    if (!fits(graph, trace, count)) return {};
  return trace;
}

}  // namespace erx
