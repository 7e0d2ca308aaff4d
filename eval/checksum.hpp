// Is a float64 product of matrices what it should be? An independent sum over each row tells, in O(n^2).
// With signs x_j: sum_j x_j C_ij is sum_k A_ik (sum_j x_j B_kj), up to rounding. A BLAS that is wrong on some CPU is found; so are
// lost blocks and stale buffers. Nothing is concluded from agreement but that the product is no worse than its proven bound allows.
// bound: |difference of row i| <= (2 depth + 2 columns + 32) 2^-53 |row i| sum_j |column j| (upper bounds of norms), where both
//   the product and the sums here are sums of float64 products in any order; rows and columns with norms outside 2^(+-400) do not
//   take part, so underflow is far below the bound.
//   Checksum sum(depth, column_norms);   sum.combine(b, 0, depth);   sum.agrees(a, row_norms, c)
#pragma once
#include <vector>

#include "ops/gemm.hpp"

namespace erx {

class Checksum {
 public:
  /// The norm of a column that does not take part is infinite.
  Checksum(std::int64_t depth, const std::vector<double>& column_norms);

  /// Sums `count` rows of b from `first` on; each once, in any thread, before the first product is judged.
  void combine(const MatrixView& b, std::int64_t first, std::int64_t count);

  /// c: row-major, contiguous, a.rows x b.columns. Rows whose norm is infinite do not take part.
  bool agrees(const MatrixView& a, const std::vector<double>& row_norms, const double* c) const;

 private:
  std::vector<double> signs_;     // +1, -1, or 0 for a column that does not take part
  std::vector<double> combined_;  // B x
  double norms_ = 0;              // sum of the norms of the columns
};

}  // namespace erx
