// The fast path of sums that hold a matrix product of exactly known operands.
// dgemm gives centre and magnitude of a panel; norms of rows and columns bound its error, or certify that it is exact.
#pragma once
#include <functional>

#include "eval/engine.hpp"
#include "eval/ladder.hpp"
#include "eval/sum_plane.hpp"

namespace erx {

bool is_matrix_sum(const Engine&, const SumNode&);

/// Fills `out` with the sum, or with what `then`, a map of one operand, makes of it. `precision`: what its users keep of the sum.
/// Elements that the panel cannot decide go to `bulk` (leaf by leaf) and then, where the node settles, to `finer`; both include `then`.
void run_matrix_sum(Engine&, const SumNode&, SumPlane& out, bool settle, int precision, const Node* then,
                    const std::function<Set<F64>(std::int64_t)>& bulk, const std::function<Climbed(std::int64_t)>& finer);

}  // namespace erx
