#include "eval/magnitudes.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "eval/parallel.hpp"
#include "ops/clones.hpp"
#include "ops/lane_sum.hpp"
#include "ops/planted.hpp"

namespace erx {
namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();
constexpr std::size_t lanes = 32;

ERX_VECTOR_CLONES void magnitudes_of(const double* x, double* y, std::size_t n) {
  for (std::size_t i = 0; i < n; ++i) y[i] = std::fabs(x[i]);
}
ERX_VECTOR_CLONES void magnitudes_of(const double* x, float* y, std::size_t n) {
  for (std::size_t i = 0; i < n; ++i) y[i] = static_cast<float>(std::fabs(x[i]));
}

/// What does not take part may be infinite or NaN.
template <bool magnitudes, class T>
[[gnu::always_inline]] inline double sum_of(const T* c, const double* takes_part, std::size_t n) {
  double sum[lanes] = {};
  std::size_t j = 0;
  for (; j + lanes <= n; j += lanes)
    for (std::size_t l = 0; l < lanes; ++l) {
      const double x = magnitudes ? std::fabs(static_cast<double>(c[j + l])) : static_cast<double>(c[j + l]);
      sum[l] += takes_part[j + l] == 0 ? 0 : x;
    }
  double total = 0;
  for (; j < n; ++j) total += takes_part[j] == 0 ? 0 : magnitudes ? std::fabs(static_cast<double>(c[j])) : static_cast<double>(c[j]);
  return total + sum_of_lanes(sum);
}
ERX_VECTOR_CLONES double row_sum(const double* c, const double* takes_part, std::size_t n) { return sum_of<false>(c, takes_part, n); }
ERX_VECTOR_CLONES double row_sum(const float* c, const double* takes_part, std::size_t n) { return sum_of<false>(c, takes_part, n); }
ERX_VECTOR_CLONES double row_sum_of_magnitudes(const double* c, const double* takes_part, std::size_t n) { return sum_of<true>(c, takes_part, n); }

template <class T>
[[gnu::always_inline]] inline double dot_of(const T* a, const double* x, std::size_t n) {
  double sum[lanes] = {};
  std::size_t k = 0;
  for (; k + lanes <= n; k += lanes)
    for (std::size_t l = 0; l < lanes; ++l) sum[l] += static_cast<double>(a[k + l]) * x[k + l];
  double total = 0;
  for (; k < n; ++k) total += static_cast<double>(a[k]) * x[k];
  return total + sum_of_lanes(sum);
}
ERX_VECTOR_CLONES double row_dot(const double* a, const double* x, std::size_t n) { return dot_of(a, x, n); }
ERX_VECTOR_CLONES double row_dot(const float* a, const double* x, std::size_t n) { return dot_of(a, x, n); }

ERX_VECTOR_CLONES void add_magnitudes(double* y, const double* b, std::size_t n) {
  for (std::size_t k = 0; k < n; ++k) y[k] += std::fabs(b[k]);
}

template <class T>
double unit_roundoff() {
  return static_cast<double>(std::numeric_limits<T>::epsilon()) / 2;
}

/// Terms that one product of float32 sums: pieces are added here, so the bound knows how long each sum is.
constexpr std::int64_t piece = 64;

template <class T>
double relative_error(std::int64_t depth) {
  if (planted(Mistake::float64_bound_in_float32) && sizeof(T) == 4) return relative_error<double>(depth);
  const std::int64_t additions = sizeof(T) == 8 || depth <= piece ? depth : piece + (depth + piece - 1) / piece;
  return static_cast<double>(planted(Mistake::error_without_terms) ? 0 : additions + 4) * unit_roundoff<T>() * (1 + 0x1p-20);
}

ERX_VECTOR_CLONES void add_to(float* sum, const float* x, std::size_t n) {
  for (std::size_t i = 0; i < n; ++i) sum[i] += x[i];
}

/// Ctrl-C waits for one piece.
void multiply_in_pieces(const MatrixOf<double>& a, const MatrixOf<double>& b, Doubles& c, const EvaluateOptions& options) {
  const std::int64_t width = std::max<std::int64_t>((std::int64_t{1} << 32) / std::max<std::int64_t>(a.rows * a.columns, 1), 64);
  for (std::int64_t j = 0; j < b.columns; j += width) {
    stop_if_asked(options);
    gemm(a, {b.data + j * b.column_stride, b.rows, std::min(width, b.columns - j), b.row_stride, b.column_stride}, c.data() + j, b.columns);
  }
}
void multiply_in_pieces(const MatrixOf<float>& a, const MatrixOf<float>& b, Floats& c, const EvaluateOptions& options) {
  Floats part(a.columns > piece ? c.size() : 0);
  for (std::int64_t first = 0; first == 0 || first < a.columns; first += piece) {
    stop_if_asked(options);
    const std::int64_t n = std::min(piece, a.columns - first);
    gemm({a.data + first * a.column_stride, a.rows, n, a.row_stride, a.column_stride},
         {b.data + first * b.row_stride, n, b.columns, b.row_stride, b.column_stride}, first == 0 ? c.data() : part.data());
    if (first > 0) add_to(c.data(), part.data(), c.size());
  }
}

template <class T>
double absolute_error(std::int64_t depth) {
  return static_cast<double>(depth) * static_cast<double>(std::numeric_limits<T>::denorm_min());
}

template <class Values>
using ValueOf = typename std::decay_t<Values>::value_type;

}  // namespace

const double* MagnitudePanel::row(std::int64_t i, std::int64_t columns, std::vector<double>& buffer) const {
  if (const Doubles* exact = std::get_if<Doubles>(&values_)) return exact->data() + i * columns;
  const float* from = std::get<Floats>(values_).data() + i * columns;
  std::copy(from, from + columns, buffer.begin());
  return buffer.data();
}

MagnitudeProduct::MagnitudeProduct(const Doubles& b, std::int64_t batches, bool coarse, const EvaluateOptions& options)
    : data_(b.data()), checksums_(static_cast<std::size_t>(batches)) {
  if (coarse) b_.emplace<Floats>();
  std::visit(
      [&](auto& values) {
        values.resize(b.size());
        const std::int64_t n = static_cast<std::int64_t>(b.size()), block = 1 << 16;
        parallel_blocks((n + block - 1) / block, options, [&](std::int64_t k) {
          const std::int64_t first = k * block;
          magnitudes_of(b.data() + first, values.data() + first, static_cast<std::size_t>(std::min(block, n - first)));
        });
      },
      b_);
}

bool MagnitudeProduct::fits_float32(std::int64_t depth, std::span<const double> row_norms, std::span<const double> column_norms) {
  const auto largest = [](std::span<const double> norms) {
    double most = 0;
    for (const double n : norms) most = n < infinity ? std::max(most, n) : most;
    return most;
  };
  return depth <= 1 << 20 && largest(row_norms) * largest(column_norms) < 0x1p120;
}

void MagnitudeProduct::prepare(std::int64_t batch, std::int64_t depth, std::span<const double> column_norms) {
  Checksum& sum = checksums_[static_cast<std::size_t>(batch)];
  sum.takes_part.resize(column_norms.size());
  for (std::size_t j = 0; j < column_norms.size(); ++j) sum.takes_part[j] = column_norms[j] < infinity ? 1 : 0;
  sum.combined.assign(static_cast<std::size_t>(depth), 0);
}

void MagnitudeProduct::combine(std::int64_t batch, const MatrixView& b, std::int64_t first, std::int64_t count) {
  Checksum& sum = checksums_[static_cast<std::size_t>(batch)];
  double* to = sum.combined.data() + first;
  if (b.column_stride == 1)
    for (std::int64_t k = 0; k < count; ++k) to[k] = row_sum_of_magnitudes(b.data + (first + k) * b.row_stride, sum.takes_part.data(), sum.takes_part.size());
  else
    for (std::int64_t j = 0; j < b.columns; ++j)
      if (sum.takes_part[static_cast<std::size_t>(j)] != 0) add_magnitudes(to, b.data + first * b.row_stride + j * b.column_stride, static_cast<std::size_t>(count));
}

bool MagnitudeProduct::multiply(std::int64_t batch, const MatrixView& a, const MatrixView& b, std::span<const double> row_norms, MagnitudePanel& out,
                                const EvaluateOptions& options) const {
  const Checksum& sum = checksums_[static_cast<std::size_t>(batch)];
  return std::visit(
      [&](const auto& all) {
        using Values = std::decay_t<decltype(all)>;
        using T = ValueOf<Values>;
        if (!std::holds_alternative<Values>(out.values_)) out.values_.template emplace<Values>();
        Values &values = std::get<Values>(out.values_), lines(static_cast<std::size_t>(a.rows * a.columns));
        values.resize(static_cast<std::size_t>(a.rows * b.columns));
        // Magnitudes keep the layout of the operand.
        const std::int64_t outer = a.column_stride == 1 ? a.rows : a.columns, inner = a.column_stride == 1 ? a.columns : a.rows;
        const std::int64_t step = a.column_stride == 1 ? a.row_stride : a.column_stride;
        for (std::int64_t i = 0; i < outer; ++i) magnitudes_of(a.data + i * step, lines.data() + i * inner, static_cast<std::size_t>(inner));
        const MatrixOf<T> left = a.column_stride == 1 ? MatrixOf<T>{lines.data(), a.rows, a.columns, a.columns, 1} : MatrixOf<T>{lines.data(), a.rows, a.columns, 1, a.rows};
        const MatrixOf<T> right{all.data() + (b.data - data_), b.rows, b.columns, b.row_stride, b.column_stride};
        multiply_in_pieces(left, right, values, options);
        if (planted_fault()) values[values.size() / 2] *= 2;

        const double few = static_cast<double>(2 * a.columns + 2 * b.columns + 32) * 0x1p-53;
        const double relative = (relative_error<T>(a.columns) + few) * (1 + 0x1p-20);
        const double absolute = absolute_error<T>(a.columns) * static_cast<double>(b.columns);
        std::vector<double> expected(static_cast<std::size_t>(a.rows), 0);
        if (left.column_stride == 1)
          for (std::int64_t i = 0; i < a.rows; ++i)
            expected[static_cast<std::size_t>(i)] = row_dot(left.data + i * left.row_stride, sum.combined.data(), sum.combined.size());
        else
          for (std::int64_t k = 0; k < a.columns; ++k)
            for (std::int64_t i = 0; i < a.rows; ++i)
              expected[static_cast<std::size_t>(i)] += static_cast<double>(left.data[k * left.column_stride + i]) * sum.combined[static_cast<std::size_t>(k)];
        for (std::int64_t i = 0; i < a.rows; ++i) {
          const std::size_t at = static_cast<std::size_t>(i);
          if (!(row_norms[at] < infinity)) continue;
          const double found = row_sum(values.data() + i * b.columns, sum.takes_part.data(), sum.takes_part.size());
          if (!(std::fabs(found - expected[at]) <= relative * expected[at] + absolute)) return false;
        }
        return true;
      },
      b_);
}

double MagnitudeProduct::relative(std::int64_t depth) const {
  const double r = std::visit([&](const auto& b) { return relative_error<ValueOf<decltype(b)>>(depth); }, b_);
  return r / (1 - r) * (1 + 0x1p-20);
}

double MagnitudeProduct::absolute(std::int64_t depth) const {
  return 2 * std::visit([&](const auto& b) { return absolute_error<ValueOf<decltype(b)>>(depth); }, b_);
}

}  // namespace erx
