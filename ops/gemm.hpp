// Matrix products in float64 or float32, one thread: OpenBLAS through Eigen where it is present, Eigen's own product elsewhere; of doubles by
// tiles of our own where those would leave out what the processor can do (ops/tile_gemm.hpp).
// The only home of Eigen and BLAS. The result carries the rounding errors of n-term sums in unknown order, nothing else.
//   gemm({a, m, k, k, 1}, {b, k, n, n, 1}, c);   c[i*n + j]
#pragma once
#include <cstdint>

#include "ir/ieee.hpp"

namespace erx {

/// Element (i, j) is data[i * row_stride + j * column_stride]; one of the strides is 1.
template <class T>
struct MatrixOf {
  const T* data;
  std::int64_t rows, columns;
  std::int64_t row_stride, column_stride;
};
using MatrixView = MatrixOf<double>;

/// c (row-major, rows x columns) = a * b. row_stride: of c; 0: contiguous.
void gemm(const MatrixOf<double>& a, const MatrixOf<double>& b, double* c, std::int64_t row_stride = 0);
void gemm(const MatrixOf<float>& a, const MatrixOf<float>& b, float* c, std::int64_t row_stride = 0);

/// Is the library's product made for processors much older than this one?
bool library_is_behind();

/// Both kernels multiply a small matrix of integers exactly, in every corner of its blocking; checked once per process.
bool gemm_is_sane();

}  // namespace erx
