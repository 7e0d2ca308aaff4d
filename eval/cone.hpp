// The elementwise part of a graph above what is stored: the steps that lead from stored tensors to one element of a node.
// A choice (any_of, a rounding to either neighbour, a stored tensor of several planes) is a variable; an element is evaluated once per assignment, so every
// use of a choice means the same member.
//   Cone cone = make_cone(graph, root, is_stored, ...);   cone.assignments()
#pragma once
#include <functional>
#include <vector>

#include "eval/set_tensor.hpp"
#include "ir/graph.hpp"
#include "ops/op.hpp"

namespace erx {

struct Cone {
  /// A stored tensor read at the cone's extents.
  struct Load {
    NodeId node;
    View view;
    int variable = -1;  // its planes, when there are several
  };
  struct Step {
    NodeId node;
    std::vector<int> operands;  // slots
    int variable = -1;          // any_of: which operand it is; else which of `alternatives`
    int branch = -1;            // any_of with a label: the operand of this run
    std::vector<Attributes> alternatives = {};  // of a rounding to either neighbour whose value is used twice
  };

  NodeId root = 0;
  Extents extents;
  std::vector<Load> loads;  // slots 0, 1, ...
  std::vector<Step> steps;  // the slots after them, operands first; the last one is the root
  std::vector<int> alternatives;  // per variable
  bool is_rational = true;        // every step is: the exact tier always ends

  /// Choices kept apart per element; with more, the rest take their hull.
  static constexpr int max_assignments = 64;

  int assignments() const;
  int branch(int variable, int assignment) const;
  /// The operand that a step passes on; -1: it computes.
  int passes(const Step& step, int assignment) const {
    if (step.branch >= 0) return step.branch;
    return step.variable >= 0 && step.alternatives.empty() ? branch(step.variable, assignment) : -1;
  }
  const Attributes& attributes(const Step& step, const Node& node, int assignment) const {
    return step.variable >= 0 && !step.alternatives.empty() ? step.alternatives[static_cast<std::size_t>(branch(step.variable, assignment))] : node.attributes;
  }
  int slots() const { return static_cast<int>(loads.size() + steps.size()); }
  /// Slots that matter under an assignment, in order.
  std::vector<int> needed(int assignment) const;
};

/// How a cone meets what is stored.
struct ConeSource {
  std::function<bool(NodeId)> is_stored;          // a leaf of cones
  std::function<int(NodeId)> planes;              // of a stored node
  std::function<NodeId(NodeId)> joint;            // of a stored part: its complex node; 0: its planes are its own
  std::function<std::pair<NodeId, View>(NodeId)> view;  // a view node's stored base and how it is read
  std::function<int(const Node&)> labelled_branch;  // -1: an unlabelled choice
};
Cone make_cone(const Graph&, NodeId root, const ConeSource&);

}  // namespace erx
