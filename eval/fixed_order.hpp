// Sums in one order (seq, rseq, pairwise, blocked) of exactly known elements, or products of two, rounded as hardware does: float32 and
// float64 by its own additions, other formats by a rounding of each double. Elements side by side go in step.
//   ops/adder.hpp evaluates the same order on sets; this is the same for plain numbers, a hundred times as fast.
// Sums that may overflow, and sums that are 0, whose sign has a rule of its own, are left to it.
#pragma once
#include <functional>

#include "eval/engine.hpp"
#include "eval/ladder.hpp"
#include "eval/sum_plane.hpp"

namespace erx {

bool has_fixed_order(const Engine&, const SumNode&);

/// As run_matrix_sum: what is left goes to `bulk`, and then to `finer` where the node settles.
void run_fixed_order(Engine&, const SumNode&, SumPlane& out, bool settle, const Node* then, const std::function<Set<F64>(std::int64_t)>& bulk,
                     const std::function<Climbed(std::int64_t)>& finer);

}  // namespace erx
