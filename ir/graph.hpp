// What a spec says: a graph of exact operations and explicit roundings.
// Everything is real arithmetic. A node's value is, per element, a set of numbers: deterministic nodes map one value to one
// value, nodes with freedom (any_of, acc, within, sr) have several. A node is one stored tensor: every use of it means the same
// member. Nodes with freedom are never merged. A graph is immutable once built; operands always precede their users.
//   Graph g; auto a = g.input("A", type, shape); auto r = g.add("round", {a}, attributes); g.result("", r);
#pragma once
#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "ir/rounding.hpp"
#include "ir/shape.hpp"
#include "ir/source.hpp"
#include "ir/type.hpp"

namespace erx {

/// What the printer knows of an op; the whole row is ops/op.hpp, `row(node)`.
struct OpName {
  std::string_view name;    // as written in a call, or the operator's word: add, matmul, round
  std::string_view symbol;  // "+", "@", "<=", or "" for a call
};

using NodeId = std::uint32_t;

enum class OrderKind { any, assoc, seq, rseq, pairwise, blocked, split, height, tensor_core };
enum class Contraction { free, always, never };

/// The order in which `acc` adds its leaves, with the numbers of the ordered kinds.
struct Order {
  OrderKind kind = OrderKind::any;
  std::vector<std::int64_t> numbers = {};  // pairwise(b), blocked(b), split({...}), height(h), tensor_core(L, F)
  OrderKind inner = OrderKind::seq;        // blocked
  OrderKind outer = OrderKind::any;        // blocked
  std::optional<Format> store = {};        // split
  bool operator==(const Order&) const = default;
};

/// One index of `A[i, j:k, ::2, None]`, resolved to numbers: start, step and the count that results; a new axis has no source axis.
struct Slice {
  enum class Kind { range, index, new_axis } kind = Kind::range;
  std::int64_t start = 0, step = 1, count = 0;
  bool operator==(const Slice&) const = default;
};

struct Loop;  // ir/loop.hpp

/// The loop of a `fold`. Two are equal where the loops are.
struct LoopPtr : std::shared_ptr<const Loop> {
  using std::shared_ptr<const Loop>::shared_ptr;
  LoopPtr(std::shared_ptr<const Loop> loop) : std::shared_ptr<const Loop>(std::move(loop)) {}
  bool operator==(const LoopPtr&) const;
};

/// A number of a node in the body of a loop that follows the loop's variable: it grows by `stride` where the variable grows by 1.
struct Moving {
  int slice = -1;  // the start of this slice; -1: the whole number of a literal
  std::string variable;
  std::int64_t stride = 0;
  bool operator==(const Moving&) const = default;
};

/// The compile-time parameters of a node; which ones an op reads is said in its row.
struct Attributes {
  std::optional<Format> format;           // round, acc, within
  Rounding rounding;                      // round; flush of acc
  Order order;                            // acc
  Contraction contraction = Contraction::free;  // acc
  double ulp = 0;                         // within, approx: units in the last place
  bool open_ends = false;                 // within, approx: the operand's results do not lie at the ends of their enclosures (set by build)
  std::int64_t steps = 0;                 // approx: values of the format
  std::uint8_t bounds = 0;                // approx: which of rel, abs, lo, hi (bits 0 to 3) its operands after the first are
  std::optional<Type> whole = {};         // cast, wrap, saturate: the type of integers
  std::vector<std::int64_t> axes;         // reductions, transpose (a permutation)
  bool keepdims = false;                  // reductions
  bool masked = false;                    // reductions: the last operand is a mask, elements where it is false are absent
  bool reverse = false;                   // scan: from the last element of the axis to the first
  Shape shape;                            // reshape, broadcast, iota
  std::vector<Slice> slices;              // index
  std::uint8_t scales = 0;                // mul: bit k is set if operand k is an exact scalar parameter (set by build)
  std::uint32_t choice = 0;               // any_of: choices of one number are one choice (the two parts of a complex number); 0: its own
  LoopPtr loop;                           // fold
  std::vector<Moving> moving = {};        // index, literal: in the body of a fold; the numbers beside it are those where the variables are 0
  std::string text;                       // literal: its exact decimal text; any_of: label; input: name; approx: src
  bool operator==(const Attributes&) const = default;
};

struct Node {
  const OpName* op = nullptr;
  std::vector<NodeId> operands;
  Attributes attributes;
  Type type;
  Shape shape;
  std::string name;  // of the `let`, parameter or result; a named node is an opaque leaf for acc and contract
  Span span;
  bool freedom = false;  // this node itself has a choice
  bool scalar_parameter = false;  // an exact `real` parameter: where it scales and is 0, its product is absent
};

struct Result {
  std::string name;               // "" for the only one
  NodeId node;
  std::optional<Type> declared;   // of a spec; a bare expression has none and is stored in the output's own format
};

/// What a spec requires of its inputs (`assume`): a bool, true in every element, else nothing is said about the outputs.
struct Assumption {
  NodeId node;
  std::string text;  // as it is written
  Span span;
};

class Graph {
 public:
  std::string name;  // of the spec; "" for a bare expression

  NodeId append(Node node);  // Bug if an operand does not precede it
  const Node& operator[](NodeId id) const { return nodes_[id]; }
  /// The name under which a node is stored (of a `let` or parameter); users appended before keep what they knew of it.
  void store(NodeId id, std::string as, bool scalar_parameter = false) {
    nodes_[id].name = std::move(as);
    nodes_[id].scalar_parameter |= scalar_parameter;
  }
  std::size_t size() const { return nodes_.size(); }
  Attributes& attributes(NodeId id) { return nodes_[id].attributes; }  // of a graph that is being built
  void cut(std::size_t size);  // takes the nodes from there on off again; nothing that stays may read them

  std::vector<NodeId> inputs;   // nodes of op "input", in the order of the signature
  std::vector<Result> results;
  std::vector<Assumption> assumptions;

  /// Does the value of this node depend on a choice (any_of, acc, within, sr ...)? One choice-free value otherwise.
  bool has_freedom(NodeId id) const { return freedom_[id]; }

 private:
  std::deque<Node> nodes_;  // a reference to a node stays valid while the graph grows
  std::vector<bool> freedom_;
};

}  // namespace erx
