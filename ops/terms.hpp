// The leaves of a sum: what `sum`, `@` and chains of + and - add up, as one flat list.
// Each term is +-a or +-a*b, summed over its reduced dimensions; factors are read through strides on the (contiguous) node.
//   A @ B + C   ->   {+A*B over K}, {+C}
#pragma once
#include <algorithm>
#include <optional>
#include <vector>

#include "ir/graph.hpp"

namespace erx {

struct Factor {
  NodeId node;
  Extents out_strides;      // one per dimension of the result, in elements of the node; 0 where it is broadcast
  Extents reduced_strides;  // one per reduced dimension of the term
};

struct Term {
  bool negative = false;
  std::uint8_t scales = 0;  // bit 0: factor a is an exact scalar parameter, bit 1: factor b; a 0 there makes the term absent
  Factor a;
  std::optional<Factor> b;  // a product leaf
  Extents reduced;          // extents of the reduced dimensions; empty: one leaf
  std::vector<int> bounds = {};     // of each reduced dimension: `whole`, or the loop whose index is its last one (cumsum); loops
                                    // are the dimensions of the result, then the reduced ones before
  std::vector<int> loops = {};      // which loop each reduced dimension is: terms inside one sum share its loops
  std::vector<Factor> masks = {};   // a leaf is absent where one of them is false
  static constexpr int whole = -1;
  std::int64_t leaves() const { return size_of(reduced); }  // at most
  bool is_plain() const { return masks.empty() && std::all_of(bounds.begin(), bounds.end(), [](int b) { return b == whole; }); }
};

/// What makes a sum's operand not a sum of elements and two-factor products: `node` is to be pointed at.
struct NotASum {
  NodeId node;
  std::string what;  // "a division at the top", "a three-factor product"
};

/// Structure only (works on symbolic shapes): empty if `root` is a sum, a product or a chain of + and - of these and of plain terms.
std::optional<NotASum> not_a_sum(const Graph&, NodeId root);

/// Nodes that are leaves or factors of the sum at `root`, in C order of the text, and the masks that say which leaves are there.
struct LeafNode {
  NodeId node;
  bool in_product;
  bool is_mask = false;
};
std::vector<LeafNode> leaf_nodes(const Graph&, NodeId root);

/// The terms of the sum at `root` of a graph with concrete shapes. A named node (let, parameter), a rounding and any other op is a leaf.
/// `root` itself is always opened when it is a sum, a product or a chain.
std::vector<Term> terms_of(const Graph&, NodeId root);

}  // namespace erx
