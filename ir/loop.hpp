// A bounded loop as one node: `fold` holds its body once, whatever the number of steps.
// The operands of the node are the start values of the states, then what the body reads from outside. The value of the node is its first
// state after the last step; `state` nodes (attributes.axes[0] says which) read the others. Every step is an execution of its own: a
// choice in the body is made anew in each. What depends on the step are starts of slices and whole literals, which are linear in the
// variable (Attributes::moving); steps of any other form are not in one loop.
//   const Loop& loop = *g[id].attributes.loop;   Graph step = step_of(loop, loop.first + 3);
#pragma once
#include <functional>
#include <string>
#include <vector>

#include "ir/graph.hpp"

namespace erx {

struct Loop {
  Graph body;            // inputs: the states, then what is read from outside; results: the states after the step
  std::string variable;  // its name
  std::int64_t first = 0, count = 0;

  std::size_t states() const { return body.results.size(); }
  bool operator==(const Loop&) const;  // but for names
};

inline bool is_fold(const Node& n) { return static_cast<bool>(n.attributes.loop); }
bool is_state(const Node&);

/// The body where the variable is `value`. Loops inside may still depend on their own variables.
Graph step_of(const Loop&, std::int64_t value);

/// The numbers of a graph that a variable of a loop can move, in order: starts of slices, whole literals; those of inner loops too.
struct Movable {
  std::int64_t value = 0;
  bool is_literal = false;
  bool operator==(const Movable&) const = default;
};
std::vector<Movable> movable_numbers(const Graph&);
/// Are two graphs one but for these numbers, names and places?
bool same_but_for_numbers(const Graph&, const Graph&);
/// And but for types, and the shapes of inputs?
bool same_operations(const Graph&, const Graph&);
/// The graph with its numbers following `variable`: they are `at_zero` where it is 0.
Graph moved(const Graph&, const std::string& variable, const std::vector<std::int64_t>& at_zero, const std::vector<std::int64_t>& strides);

void rename_variable(Graph& body, const std::string& from, const std::string& to);
/// The length of the tiles, if that is all that the variable is: slices one after the other from 0. 0: it is more.
std::int64_t length_of_tiles(const Graph& body, const std::string& variable);

/// Which loops are written out; names: a name for the instance of a node in the step at this value.
struct WriteOut {
  std::function<bool(const Node& fold)> chosen = [](const Node&) { return true; };
  std::function<std::string(const std::string& name, std::int64_t value)> names =
      [](const std::string& name, std::int64_t value) { return name + "_" + std::to_string(value); };
};

/// A graph with the chosen loops, inner ones included, written out step by step.
Graph written_out(const Graph&, const WriteOut& = {});
/// The same within a graph, for what `root` needs: appends copies of the nodes that depend on a loop, but of none that `keep` needs.
NodeId write_out(Graph&, NodeId root, NodeId keep, const WriteOut& = {});
/// Nodes of a graph with all loops written out, counted up to `limit`.
std::size_t written_out_size(const Graph&, std::size_t limit);

}  // namespace erx
