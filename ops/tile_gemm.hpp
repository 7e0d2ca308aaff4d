// A product of matrices of doubles by the tiles of ops/tile_product.hpp, one thread: for where there is no BLAS, or one that does not know the
// processor and runs what it has for an old one.
//   if (has_tile_gemm()) tile_gemm({a, m, k, k, 1}, {b, k, n, n, 1}, c, n);
#pragma once
#include "ops/gemm.hpp"

namespace erx {

/// Has the processor the instructions?
bool has_tile_gemm();

/// c[i * row_stride + j] = (a b)(i, j), each a sum of fused products in some order.
void tile_gemm(const MatrixView& a, const MatrixView& b, double* c, std::int64_t row_stride);

}  // namespace erx
