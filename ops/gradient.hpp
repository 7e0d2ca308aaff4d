// The exact gradient of an exact expression, written as an expression of the same graph.
// gradient_of(row) says what flows into its operands; the sweep adds up what flows into each node, from the root down.
//   NodeId dx = gradient(graph, root, x, upstream, place);   the sum over elements i of upstream_i * d root_i / d x
#pragma once
#include <optional>
#include <string>
#include <vector>

#include "ops/op.hpp"

namespace erx {

/// Appends the nodes of a gradient: short spellings for rows.
class GradientBuilder {
 public:
  GradientBuilder(Graph& graph, Span at) : graph_(graph), at_(std::move(at)) {}

  NodeId call(std::string_view op, std::vector<NodeId> operands, Attributes = {});
  NodeId number(std::string text);
  NodeId operand(NodeId node, std::size_t k) const { return graph_[node].operands[k]; }
  Attributes attributes(NodeId node) const { return graph_[node].attributes; }  // copies: a graph that grows moves its nodes
  Shape shape(NodeId node) const { return graph_[node].shape; }
  std::size_t rank(NodeId node) const { return graph_[node].shape.size(); }

  NodeId iota(const Dim& length);
  NodeId indexed(NodeId, std::vector<Slice>);
  NodeId reshaped(NodeId, Shape);
  NodeId transposed(NodeId, std::vector<std::int64_t> axes);
  NodeId broadcast_to(NodeId, Shape);
  NodeId reduced(std::string_view op, NodeId, std::vector<std::int64_t> axes, bool keepdims, std::optional<NodeId> mask = {});
  NodeId zeros(Shape);
  NodeId kept_if(NodeId condition, NodeId x) { return call("where", {condition, x, number("0")}); }
  /// Sums over what was broadcast, and repeats along axes of length 1: the same numbers with the shape of an operand.
  NodeId fitted(NodeId, Shape);
  /// A reduction's result with its axes kept.
  NodeId with_axes(NodeId reduced, NodeId of_node);

 private:
  NodeId in_shape(std::string_view view, NodeId, Shape);
  Graph& graph_;
  Span at_;
};

/// What flows into operand k of `node` where `up` flows into the node; empty: nothing.
using GradientFormula = std::optional<NodeId> (*)(GradientBuilder&, NodeId node, NodeId up, std::size_t k);

/// Of every row that a graph may hold: its formula, or why there is none.
struct GradientRule {
  GradientFormula formula = nullptr;
  std::string_view why_none = "";
};
const GradientRule& gradient_of(const Op&);

/// An operation on the way that has no gradient.
struct NoGradient {
  NodeId node;
  std::string_view why;
};

/// parameters: `upstream` has the shape of `root`. returns: a node of the shape of `wrt`. errors: NoGradient.
NodeId gradient(Graph&, NodeId root, NodeId wrt, NodeId upstream, const Span& at);

}  // namespace erx
