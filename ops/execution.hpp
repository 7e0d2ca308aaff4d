// One of the executions that a graph allows, with every choice made the plain way, so that a wrong kernel can be written as a spec.
// The first alternative of any_of and choose; sr and faithful to nearest even; what may be flushed is not; sums and recurrences from left
// to right (height: pairwise; split: the first number of parts), each product rounded by itself; operations of `within` and functions known by their
// error rounded to nearest. What has no plain choice stays free: tensor_core, which is a bound, a cast of a value that does not fit.
//   const Graph one = one_execution(graph);   one has the inputs and results of graph
#pragma once
#include "ops/op.hpp"

namespace erx {

/// The values of the result are members of the sets of `graph`, element by element.
Graph one_execution(const Graph& graph);

/// Is there a rule for the freedom of this row? (A test asks it of every row.)
bool has_execution_rule(const Op&);

}  // namespace erx
