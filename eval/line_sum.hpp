// Sums in any order of exactly known elements, or products of two, that are no matrix product: centre, magnitude and grid of every element
// by vector loops over its leaves, in pieces that threads share; the rule of matrix_row.hpp makes sets of them, many elements at a time.
#pragma once
#include <functional>

#include "eval/engine.hpp"
#include "eval/ladder.hpp"
#include "eval/sum_plane.hpp"

namespace erx {

bool is_line_sum(const Engine&, const SumNode&);

/// As run_matrix_sum: what the loops cannot decide goes to `bulk`, and then to `finer` where the node settles.
void run_line_sum(Engine&, const SumNode&, SumPlane& out, bool settle, const Node* then, const std::function<Set<F64>(std::int64_t)>& bulk,
                  const std::function<Climbed(std::int64_t)>& finer);

}  // namespace erx
