// The fast path of sums that hold a matrix product of exactly known operands.
// dgemm gives centre and magnitude of a panel; norms of rows and columns bound its error, or certify that it is exact.
#pragma once
#include "eval/matrix_ends.hpp"

namespace erx {

bool is_matrix_sum(const Engine&, const SumNode&);

/// Fills `out`. `precision`: what the users of the sum keep of it. Elements that a block cannot decide go to the goal's `bulk` and `finer`.
void run_matrix_sum(Engine&, const SumNode&, SumPlane& out, int precision, MatrixEnds::Goal);

}  // namespace erx
