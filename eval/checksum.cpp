#include "eval/checksum.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>

#include "ops/clones.hpp"
#include "ops/lane_sum.hpp"

namespace erx {
namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();
constexpr std::size_t lanes = 32;  // several vector sums at a time: additions have a latency

/// What does not take part may be infinite.
[[gnu::always_inline]] inline double term(double a, double x) {
  const double product = a * x;
  return x == 0 ? 0 : product;
}

ERX_VECTOR_CLONES double dot(const double* a, const double* x, std::size_t n) {
  double sum[lanes] = {};
  std::size_t i = 0;
  for (; i + lanes <= n; i += lanes)
    for (std::size_t l = 0; l < lanes; ++l) sum[l] += term(a[i + l], x[i + l]);
  double total = 0;
  for (; i < n; ++i) total += term(a[i], x[i]);
  return total + sum_of_lanes(sum);
}

ERX_VECTOR_CLONES void add_scaled(double* y, const double* a, double x, std::size_t n) {
  for (std::size_t i = 0; i < n; ++i) y[i] += a[i] * x;
}

/// y = m x for a matrix that is contiguous along its rows or its columns. A column with x = 0 may hold anything.
void times(const MatrixView& m, const std::vector<double>& x, double* y) {
  if (m.column_stride == 1) {
    for (std::int64_t i = 0; i < m.rows; ++i) y[i] = dot(m.data + i * m.row_stride, x.data(), x.size());
    return;
  }
  std::fill_n(y, m.rows, 0);
  for (std::int64_t j = 0; j < m.columns; ++j)
    if (x[static_cast<std::size_t>(j)] != 0) add_scaled(y, m.data + j * m.column_stride, x[static_cast<std::size_t>(j)], static_cast<std::size_t>(m.rows));
}

}  // namespace

Checksum::Checksum(std::int64_t depth, const std::vector<double>& column_norms) : signs_(column_norms.size()), combined_(static_cast<std::size_t>(depth)) {
  std::uint64_t state = 0x9e3779b97f4a7c15u;
  for (std::size_t j = 0; j < signs_.size(); ++j) {
    state = state * 6364136223846793005u + 1442695040888963407u;
    signs_[j] = column_norms[j] < infinity ? (state >> 63 ? 1 : -1) : 0;
    if (signs_[j] != 0) norms_ += column_norms[j];
  }
}

void Checksum::combine(const MatrixView& b, std::int64_t first, std::int64_t count) {
  times({b.data + first * b.row_stride, count, b.columns, b.row_stride, b.column_stride}, signs_, combined_.data() + first);
}

bool Checksum::agrees(const MatrixView& a, const std::vector<double>& row_norms, const double* c) const {
  const std::size_t columns = signs_.size();
  const double factor = static_cast<double>(2 * a.columns + 2 * static_cast<std::int64_t>(columns) + 32) * 0x1p-53 * norms_ * (1 + 0x1p-20);
  std::vector<double> expected(static_cast<std::size_t>(a.rows));
  times(a, combined_, expected.data());
  for (std::int64_t i = 0; i < a.rows; ++i) {
    const std::size_t row = static_cast<std::size_t>(i);
    if (!(row_norms[row] < infinity)) continue;
    const double found = dot(c + row * columns, signs_.data(), columns);
    if (!(std::fabs(found - expected[row]) <= factor * row_norms[row])) return false;
  }
  return true;
}

}  // namespace erx
