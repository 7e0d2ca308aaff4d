// A graph with complex numbers as the evaluator reads it: only real nodes, complex inputs and choices in two parts. A complex result
// is a pair of them, and so is a complex state in the body of a loop; a fold has an operand, and a number of its states, for each part.
//   Split s = split_complex(graph, inputs);   s.graph, s.inputs;   s.origin[id] is the node of `graph` that node id comes from
#pragma once
#include <memory>
#include <vector>

#include "eval/tensor.hpp"
#include "ir/graph.hpp"

namespace erx {

struct Split {
  std::shared_ptr<const Graph> graph;
  std::vector<Tensor> inputs;
  std::vector<NodeId> origin;
};

/// Without complex nodes the graph itself.
Split split_complex(std::shared_ptr<const Graph> graph, std::vector<Tensor> inputs);

}  // namespace erx
