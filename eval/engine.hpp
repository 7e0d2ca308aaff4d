// One run over a graph: what is stored, how each stored node is computed, who decided what.
// Nodes that mix elements (sums, reductions), what they read, views and results are stored; elementwise nodes between them are
// evaluated in cones, tile by tile. A stored node whose values come from a format is settled: undecided elements have climbed.
#pragma once
#include <array>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <vector>

#include "eval/cone.hpp"
#include "eval/evaluate.hpp"
#include "eval/set_tensor.hpp"
#include "eval/sum_node.hpp"
#include "eval/sum_parts.hpp"

namespace erx {

/// Operands one after the other along an axis. An element is [outer, place along the axis, inner].
struct Join {
  std::vector<NodeId> nodes;
  Extents lengths;  // of the operands along the axis
  std::int64_t outer = 1, inner = 1;

  /// The operand that holds the element at `flat`, and where.
  std::pair<NodeId, std::int64_t> source(std::int64_t flat) const;
};

/// A stored node. `tensor.planes` keep alternatives apart; `hull` is what an op that mixes elements reads.
struct Stored {
  SetTensor tensor;
  Plane hull;
  bool is_point = false;  // one value per element: hi arrays are lo arrays
  bool is_exact = false;  // every end is one double
  std::optional<Cone> cone;      // of an elementwise node: how an element is computed again, more finely
  std::optional<SumNode> sum;
  NodeId joint = 0;  // the complex node that it is a part of, if the two parts' planes belong together
  std::optional<SumNode> reduction;  // of max, min ...: its one term says which elements are combined
  std::optional<Join> join;          // of concat: where its elements come from
  const Tensor* in_place = nullptr;  // an input that only elementwise nodes of its shape, long sums and small products read: decoded tile by tile, `tensor` and `hull` have no arrays
};

class Engine {
 public:
  /// `branches`: the alternative that each choice of the whole call takes in this run, by its key (choice_label.hpp).
  Engine(const Graph& graph, const std::vector<Tensor>& inputs, const EvaluateOptions& options, std::map<std::string, int> branches);

  const Stored& ensure(NodeId id);
  /// Nodes whose elements would be stored for this one.
  std::vector<NodeId> to_store(NodeId root);
  /// This evaluates a part of a larger graph of the same nodes: rules that depend on how many elements there are ask there. `to_keep`: nodes that
  /// the next part may adopt.
  void is_part_of(const Graph& whole, std::vector<bool> to_keep);
  std::int64_t elements_in_all(NodeId id) const;
  /// The values of a node that is the same in another engine of the same nodes.
  void adopt(const Engine& other, NodeId id);
  /// The node rounded once to nearest even into `format`, appended to this engine's copy of the graph.
  NodeId stored_in(NodeId id, const Format& format);

  /// The hull of one element for each alternative of the choice nearest to the node (one entry if there is none).
  struct Alternatives {
    NodeId choice = 0;
    std::vector<Set<F64>> sets;
    std::vector<Set<F64>> imag;  // of a complex node
  };
  Alternatives alternatives(NodeId id, std::int64_t flat);

  const Graph& graph() const { return graph_; }
  const Stored& stored(NodeId id) const { return *stored_.at(id); }
  bool is_stored(NodeId id) const { return id < stored_.size() && stored_[id]; }
  const Tensor* input(NodeId id) const;  // nullptr: not an input
  /// Gives a node that is read in place its arrays.
  void make_whole(NodeId id);
  int branch(const std::string& key) const;  // -1: not chosen for the whole call
  /// Is the node read by ops that mix elements only? Then its alternatives are not kept apart.
  bool hull_is_enough(NodeId id) const { return id < hull_is_enough_.size() && hull_is_enough_[id]; }
  std::map<std::string, int> labels() const;  // the branches of labelled choices: they are those of inner runs too

  /// In a step of a loop: the node of the engine around it that an input stands for; a state has none.
  struct Outside {
    const Engine* engine = nullptr;
    NodeId node = 0;
  };
  /// The values of an input that no tensor holds.
  void give(NodeId id, Stored, Outside);
  const Outside* outside(NodeId id) const;  // nullptr: not given
  const EvaluateOptions& options() const { return options_; }
  Counters counters;
  std::map<std::pair<std::size_t, std::string>, NodeId> stored_results;  // result and format -> its rounding node

  /// The precision that is left of a node: the largest precision of the formats that its users round it to;
  /// unlimited where a user does anything else with it, or it is a result.
  int precision_of_users(NodeId id) const;
  /// The sum that only this rounding uses, if it is one.
  std::optional<NodeId> sum_before(NodeId rounding) const;

  bool adds_to_product(NodeId id, const Node& then) const;

  /// View nodes: the stored base and where its elements lie.
  std::pair<NodeId, View> view_of(NodeId id) const;

 private:
  Graph graph_;
  const Graph* of_whole_ = nullptr;
  std::vector<bool> to_keep_;
  const std::vector<Tensor>& inputs_;
  EvaluateOptions options_;
  std::map<std::string, int> branches_;
  std::vector<std::unique_ptr<Stored>> stored_;
  std::vector<bool> wanted_;  // is, or will be, stored
  std::vector<bool> whole_;   // its arrays are read: not by elementwise nodes of its shape alone
  std::map<NodeId, NodeId> fused_;  // rounding -> the sum that is evaluated with it
  std::set<NodeId> joining_;        // pairs whose parts are being computed
  std::map<NodeId, Outside> outside_;
  std::map<NodeId, std::vector<Stored>> states_;  // of loops, after the last step
  std::map<NodeId, NodeId> pairs_;  // parts that depend on choices -> their complex node

  std::vector<std::vector<NodeId>> readers_;  // of each node, what reads it on the way to any result
  std::vector<bool> hull_is_enough_;
  std::set<NodeId> packed_;  // right operands of products that read their inputs in place: packed, they take as much memory as arrays
  bool is_finding_readers_ = false;
  std::vector<bool> kept_;     // results and assumptions
  std::vector<NodeId> large_;  // stored, to be given back

  void plan(NodeId root);
  bool sums_in_place(NodeId leaf) const;
  std::optional<std::array<NodeId, 2>> multiplies_in_place(NodeId id, NodeId sum) const;
  bool reduces_in_place(NodeId reduction) const;
  void find_readers();
  bool has_been_read(NodeId id) const;
  void give_back(NodeId last);
  void compute(NodeId id);
  Stored store_state(NodeId id);
  void find_pairs(NodeId root);
  bool compute_jointly(NodeId id);
  bool compute_first(NodeId id, const std::vector<NodeId>& unless);
  ConeSource cone_source() const;
  Stored store_source(NodeId id) const;
};

/// What the ladder shares with the bulk tier.
Stored run_cone(Engine&, Cone cone);
/// `then`: the one user of the sum, a rounding, which is stored in its place.
Stored run_sum(Engine&, NodeId id, std::optional<NodeId> then);
Stored run_pair(Engine&, Cone cone);  // of a complex node
std::array<Stored, 2> run_parts(Engine&, const Cone& of_pair);  // its parts, plane by plane beside each other
Stored run_reduction(Engine&, NodeId id);
Stored run_join(Engine&, NodeId id);
Stored run_scan(Engine&, NodeId id);
/// Reads the masks of the sum's terms. errors: Error where a mask is not decided.
void read_masks(const Engine&, SumNode&);
void finish(Stored&);  // shares equal arrays, makes the hull

/// What sum_parts reads: exact doubles, if that is what is stored.
Line line_of(const Stored&);
bool known_at(const Plane&, std::int64_t at, Known&);

inline bool is_undecided(const Set<F64>& s) {
  return (s.flags & undecided) || (s.has_reals() && (s.lo.d != s.lo.u || (!s.is_point && s.hi.d != s.hi.u)));
}

/// Values of these types are taken from a discrete set, so undecided elements climb.
inline bool settles(const Type& type) { return !type.is_real(); }

}  // namespace erx
