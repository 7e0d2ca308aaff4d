#include "ops/gemm.hpp"

#ifdef ERX_OPENBLAS
#define EIGEN_USE_BLAS
extern "C" void openblas_set_num_threads(int);
extern "C" char* openblas_get_corename();
#endif
#define EIGEN_DONT_PARALLELIZE
#include <Eigen/Core>
#include <algorithm>
#include <mutex>
#include <string>
#include <vector>

#include "ops/tile_gemm.hpp"

namespace erx {
namespace {

template <class T>
using RowMajor = Eigen::Matrix<T, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
template <class T>
using ColumnMajor = Eigen::Matrix<T, Eigen::Dynamic, Eigen::Dynamic, Eigen::ColMajor>;

void one_thread() {
#ifdef ERX_OPENBLAS
  static std::once_flag once;
  std::call_once(once, [] { openblas_set_num_threads(1); });
#endif
}

template <class T, class A>
void multiply(const A& a, const MatrixOf<T>& b, T* c, std::int64_t rows, std::int64_t row_stride) {
  Eigen::Map<RowMajor<T>, 0, Eigen::OuterStride<>> out(c, rows, b.columns, Eigen::OuterStride<>(row_stride));
  if (b.column_stride == 1)
    out.noalias() = a * Eigen::Map<const RowMajor<T>, 0, Eigen::OuterStride<>>(b.data, b.rows, b.columns, Eigen::OuterStride<>(b.row_stride));
  else
    out.noalias() = a * Eigen::Map<const ColumnMajor<T>, 0, Eigen::OuterStride<>>(b.data, b.rows, b.columns, Eigen::OuterStride<>(b.column_stride));
}

#ifdef ERX_OPENBLAS
void blas(char* ta, char* tb, int* m, int* n, int* k, const double* a, int* lda, const double* b, int* ldb, double* c, int* ldc) {
  const double one = 1, zero = 0;
  BLASFUNC(dgemm)(ta, tb, m, n, k, &one, a, lda, b, ldb, &zero, c, ldc);
}
void blas(char* ta, char* tb, int* m, int* n, int* k, const float* a, int* lda, const float* b, int* ldb, float* c, int* ldc) {
  const float one = 1, zero = 0;
  BLASFUNC(sgemm)(ta, tb, m, n, k, &one, a, lda, b, ldb, &zero, c, ldc);
}
#endif

template <class T>
void library_product(const MatrixOf<T>& a, const MatrixOf<T>& b, T* c, std::int64_t row_stride = 0) {
  if (row_stride == 0) row_stride = b.columns;
  one_thread();
#ifdef ERX_OPENBLAS
  // Eigen's expression clears c and adds to it; its binding of BLAS does not have to. Row-major c = a b is column-major c' = b' a'.
  if (a.rows > 0 && a.columns > 0 && b.columns > 0) {
    const auto operand = [](const MatrixOf<T>& m, char& trans, int& leading) {
      const bool by_rows = m.column_stride == 1;
      trans = by_rows ? 'N' : 'T';
      leading = static_cast<int>(std::max<std::int64_t>(by_rows ? m.row_stride : m.column_stride, by_rows ? m.columns : m.rows));
    };
    char trans_a, trans_b;
    int leading_a, leading_b;
    operand(a, trans_a, leading_a);
    operand(b, trans_b, leading_b);
    int rows = static_cast<int>(b.columns), columns = static_cast<int>(a.rows), depth = static_cast<int>(a.columns), leading_c = static_cast<int>(row_stride);
    blas(&trans_b, &trans_a, &rows, &columns, &depth, b.data, &leading_b, a.data, &leading_a, c, &leading_c);
    return;
  }
#endif
  if (a.column_stride == 1)
    multiply(Eigen::Map<const RowMajor<T>, 0, Eigen::OuterStride<>>(a.data, a.rows, a.columns, Eigen::OuterStride<>(a.row_stride)), b, c, a.rows, row_stride);
  else
    multiply(Eigen::Map<const ColumnMajor<T>, 0, Eigen::OuterStride<>>(a.data, a.rows, a.columns, Eigen::OuterStride<>(a.column_stride)), b, c, a.rows, row_stride);
}

template <class T>
void product(const MatrixOf<T>& a, const MatrixOf<T>& b, T* c, std::int64_t row_stride = 0) {
  if constexpr (sizeof(T) == 8)
    if (library_is_behind()) return tile_gemm(a, b, c, row_stride == 0 ? b.columns : row_stride);
  library_product(a, b, c, row_stride);
}

/// Sums of integers that T holds exactly.
template <class T>
bool is_sane() {
  const std::uint64_t values = sizeof(T) == 8 ? 4001 : 257;
  for (const std::int64_t n : {1, 7, 64, 131}) {
    std::vector<T> a(static_cast<std::size_t>(n * n)), b(a.size()), c(a.size(), -1);
    std::uint64_t state = 88172645463325252u + static_cast<std::uint64_t>(n);
    const auto next = [&] {
      state ^= state << 13;
      state ^= state >> 7;
      state ^= state << 17;
      return static_cast<T>(state % values) - static_cast<T>(values / 2);
    };
    for (T& x : a) x = next();
    for (T& x : b) x = next();
    product<T>({a.data(), n, n, n, 1}, {b.data(), n, n, n, 1}, c.data());
    for (std::int64_t i = 0; i < n; ++i)
      for (std::int64_t j = 0; j < n; ++j) {
        T exact = 0;
        for (std::int64_t k = 0; k < n; ++k) exact += a[static_cast<std::size_t>(i * n + k)] * b[static_cast<std::size_t>(k * n + j)];
        if (c[static_cast<std::size_t>(i * n + j)] != exact) return false;
      }
  }
  return true;
}

}  // namespace

void gemm(const MatrixOf<double>& a, const MatrixOf<double>& b, double* c, std::int64_t row_stride) { product(a, b, c, row_stride); }
void gemm(const MatrixOf<float>& a, const MatrixOf<float>& b, float* c, std::int64_t row_stride) { product(a, b, c, row_stride); }

bool library_is_behind() {
  static const bool behind = [] {
    if (!has_tile_gemm()) return false;
#ifdef ERX_OPENBLAS
    // Kernels for processors without fused products, which a library also takes for one that is newer than itself.
    const std::string name = openblas_get_corename();
    for (const char* old : {"Katmai", "Coppermine", "Northwood", "Prescott", "Banias", "Atom", "Core2", "Penryn", "Dunnington", "Nehalem", "Sandybridge", "Athlon", "Opteron", "Opteron_SSE3",
                            "Barcelona", "Bobcat", "Nano"})
      if (name == old) return true;
    return false;
#else
    return true;  // Eigen's, for whatever this file was compiled for
#endif
  }();
  return behind;
}

bool gemm_is_sane() {
  static const bool sane = is_sane<double>() && is_sane<float>();
  return sane;
}

}  // namespace erx
