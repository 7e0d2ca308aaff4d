#include "ops/terms.hpp"

#include <algorithm>

#include "ops/op.hpp"

namespace erx {
namespace {

constexpr int fixed = -1;

/// For each axis of a node, the loop that drives it: a dimension of the result, then the reduced ones; `fixed` is index 0.
using Axes = std::vector<int>;

bool opens(const Node& node) {
  const SumRole role = row(node).sum_role;
  return node.name.empty() && role != SumRole::none;
}

class Opener {
 public:
  Opener(const Graph& graph, std::size_t out_rank) : graph_(graph), out_rank_(out_rank) {}

  /// The left spine of a chain in a list of its own in place of recursion: it may be long.
  void open(NodeId root, const Axes& root_axes, bool root_negative, bool is_root) {
    struct Part {
      NodeId id;
      Axes axes;
      bool negative, is_root;
    };
    std::vector<Part> parts = {{root, root_axes, root_negative, is_root}};
    while (!parts.empty()) {
      const Part part = std::move(parts.back());
      parts.pop_back();
      const Node& node = graph_[part.id];
      const SumRole role = part.is_root || opens(node) ? row(node).sum_role : SumRole::none;
      switch (role) {
        case SumRole::plus:
        case SumRole::minus: {
          const NodeId a = node.operands[0], b = node.operands[1];
          parts.push_back({b, broadcast_axes(part.id, b, part.axes), part.negative != (role == SumRole::minus), false});
          parts.push_back({a, broadcast_axes(part.id, a, part.axes), part.negative, false});
          break;
        }
        case SumRole::product: {
          const NodeId a = node.operands[0], b = node.operands[1];
          emit(part.negative, node.attributes.scales, a, broadcast_axes(part.id, a, part.axes), b, broadcast_axes(part.id, b, part.axes));
          break;
        }
        case SumRole::reduction: open_reduction(node, part.axes, part.negative); break;
        case SumRole::contraction: open_contraction(node, part.axes, part.negative); break;
        case SumRole::none: emit(part.negative, 0, part.id, part.axes); break;
      }
    }
  }

  std::vector<Term> take() { return std::move(terms_); }

 private:
  const Graph& graph_;
  std::size_t out_rank_;
  Extents reduced_;           // loops opened on the way down
  std::vector<int> bounds_;   // of each of them
  std::vector<int> loops_;    // which they are
  int opened_ = 0;
  struct Mask {
    NodeId node;
    Axes axes;
  };
  std::vector<Mask> masks_;   // of the reductions on the way down
  std::vector<Term> terms_;

  Extents extents(NodeId id) const { return extents_of(graph_[id].shape); }

  Axes broadcast_axes(NodeId parent, NodeId child, const Axes& axes) const { return aligned_axes(graph_[parent].shape.size(), child, axes); }

  /// The axes of `child` broadcast to `rank` dimensions driven by `axes`.
  Axes aligned_axes(std::size_t rank, NodeId child, const Axes& axes) const {
    const Extents to = extents(child);
    Axes result(to.size());
    for (std::size_t k = 0; k < to.size(); ++k) {
      const std::size_t at = k + rank - to.size();
      result[k] = to[k] == 1 ? fixed : axes[at];
    }
    return result;
  }

  int push(std::int64_t extent, int bound = Term::whole) {
    reduced_.push_back(extent);
    bounds_.push_back(bound);
    loops_.push_back(opened_++);
    return static_cast<int>(out_rank_ + reduced_.size() - 1);
  }

  void open_reduction(const Node& node, const Axes& axes, bool negative) {
    const NodeId child = node.operands[0];
    const Extents inner = extents(child);
    const auto& over = node.attributes.axes;
    const std::size_t depth = reduced_.size();
    const bool prefix = row(node).is_prefix;
    Axes result(inner.size());
    std::size_t at = 0;
    for (std::size_t k = 0; k < inner.size(); ++k) {
      if (std::find(over.begin(), over.end(), static_cast<std::int64_t>(k)) != over.end()) {
        // Along a broadcast axis, of one element, the index is 0.
        result[k] = prefix && axes[at] != fixed ? push(inner[k], axes[at]) : push(inner[k]);
        at += node.attributes.keepdims || prefix ? 1 : 0;
      } else {
        result[k] = axes[at++];
      }
    }
    if (node.attributes.masked) masks_.push_back({node.operands[1], aligned_axes(inner.size(), node.operands[1], result)});
    open(child, result, negative, false);
    if (node.attributes.masked) masks_.pop_back();
    close(depth);
  }

  void close(std::size_t depth) {
    reduced_.resize(depth);
    bounds_.resize(depth);
    loops_.resize(depth);
  }

  void open_contraction(const Node& node, const Axes& axes, bool negative) {
    const NodeId a = node.operands[0], b = node.operands[1];
    const Extents ea = extents(a), eb = extents(b);
    const std::size_t depth = reduced_.size();
    const int k = push(ea.back());
    // The result is [batch..., rows, columns]; a 1-D operand has no row (or column) and no batch.
    const std::size_t has_row = ea.size() > 1, has_column = eb.size() > 1;
    const std::size_t batch = axes.size() - has_row - has_column;
    const auto batch_axis = [&](const Extents& e, std::size_t i) {
      const std::size_t own = e.size() - 2;  // batch dimensions of the operand, aligned at the end
      return e[i] == 1 ? fixed : axes[batch - own + i];
    };
    Axes aa(ea.size()), bb(eb.size());
    for (std::size_t i = 0; i + 2 < ea.size(); ++i) aa[i] = batch_axis(ea, i);
    for (std::size_t i = 0; i + 2 < eb.size(); ++i) bb[i] = batch_axis(eb, i);
    aa.back() = k;
    if (has_row) aa[ea.size() - 2] = axes[batch];
    if (has_column) {
      bb[eb.size() - 2] = k;
      bb.back() = axes[batch + has_row];
    } else {
      bb.back() = k;
    }
    emit(negative, 0, a, aa, b, bb);
    close(depth);
  }

  Factor factor(NodeId id, const Axes& axes) const {
    const Extents e = extents(id), strides = contiguous_strides(e);
    Factor f{id, Extents(out_rank_, 0), Extents(reduced_.size(), 0)};
    for (std::size_t k = 0; k < e.size(); ++k) {
      if (axes[k] == fixed || e[k] == 1) continue;
      const std::size_t loop = static_cast<std::size_t>(axes[k]);
      (loop < out_rank_ ? f.out_strides[loop] : f.reduced_strides[loop - out_rank_]) += strides[k];
    }
    return f;
  }

  void emit(bool negative, std::uint8_t scales, NodeId a, const Axes& axes_a, std::optional<NodeId> b = {}, const Axes& axes_b = {}) {
    Term term{negative, scales, factor(a, axes_a), std::nullopt, reduced_, bounds_, loops_};
    for (const Mask& m : masks_) term.masks.push_back(factor(m.node, m.axes));
    if (b) term.b = factor(*b, axes_b);
    terms_.push_back(std::move(term));
  }
};

/// With a list of its own in place of recursion: a chain may be long.
void collect_leaves(const Graph& graph, NodeId root, std::vector<LeafNode>& leaves) {
  std::vector<NodeId> open = {root};
  while (!open.empty()) {
    const NodeId id = open.back();
    open.pop_back();
    const Node& node = graph[id];
    const SumRole role = id == root || opens(node) ? row(node).sum_role : SumRole::none;
    switch (role) {
      case SumRole::none: leaves.push_back({id, false}); break;
      case SumRole::product:
      case SumRole::contraction:
        leaves.push_back({node.operands[0], true});
        leaves.push_back({node.operands[1], true});
        break;
      case SumRole::reduction:
        if (node.attributes.masked) leaves.push_back({node.operands[1], false, true});
        open.push_back(node.operands[0]);
        break;
      default: open.insert(open.end(), node.operands.rbegin(), node.operands.rend());
    }
  }
}

}  // namespace

std::optional<NotASum> not_a_sum(const Graph& graph, NodeId root) {
  const Node& node = graph[root];
  const std::string name(node.op->name);
  if (!node.name.empty()) return NotASum{root, "'" + node.name + "' is a stored value, not a sum"};
  switch (row(node).sum_role) {
    case SumRole::none: return NotASum{root, "'" + name + "' is not a sum"};
    case SumRole::product: return NotASum{root, "a product alone is not a sum"};
    default: break;
  }
  for (const LeafNode& leaf : leaf_nodes(graph, root)) {
    const Node& n = graph[leaf.node];
    if (leaf.in_product && n.name.empty() && row(n).sum_role == SumRole::product)
      return NotASum{leaf.node, "a product of three factors is not a leaf of a sum"};
  }
  return std::nullopt;
}

std::vector<LeafNode> leaf_nodes(const Graph& graph, NodeId root) {
  std::vector<LeafNode> leaves;
  collect_leaves(graph, root, leaves);
  return leaves;
}

std::vector<Term> terms_of(const Graph& graph, NodeId root) {
  const std::size_t rank = graph[root].shape.size();
  Opener opener(graph, rank);
  Axes axes(rank);
  for (std::size_t i = 0; i < rank; ++i) axes[i] = static_cast<int>(i);
  opener.open(root, axes, false, true);
  return opener.take();
}

}  // namespace erx
