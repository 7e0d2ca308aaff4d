// Loops as the evaluator takes them: step by step, or written out where the steps have to be seen together.
//   auto graph = with_loops_to_step(graph);   every fold that is left is one for run_loop
#pragma once
#include <memory>

#include "eval/engine.hpp"
#include "ir/loop.hpp"

namespace erx {

/// The graph without the loops that are not evaluated step by step: whose states are not values of a format (their ends are no
/// doubles, and correlate with those of the next step), or depend on choices that a few steps keep apart.
std::shared_ptr<const Graph> with_loops_to_step(std::shared_ptr<const Graph>);

/// The states of a fold after its last step. Each step is a run of its own over the body, which keeps the states alone: memory is that of
/// one step, whatever their number. What a step allows for a state is the hull, or a few planes, of what it allows with the others.
/// errors: as Evaluation. Throws Interrupted.
std::vector<Stored> run_loop(Engine&, NodeId fold);

}  // namespace erx
