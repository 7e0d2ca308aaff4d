// |A| |B|, panel by panel: how far rounding can move each sum of a matrix product. Half the price in float32, for those whose
// users round coarsely; the bound of its error is proved either way.
// bound: |computed - exact| <= r exact + absolute <= r / (1 - r) computed + 2 absolute, with r = (n + 4) u (1 + 2^-20) <= 1/2 and
//   absolute = depth * (smallest subnormal), u = 2^-53 or 2^-24: sums of non-negative products in any order, fused or not.
//   n is the depth; in float32, where sums are made in pieces of 64 terms, 64 + the number of pieces.
// A BLAS that is wrong is found by a sum over each row that is known to (n + 4) u of itself, plus a few roundings in float64.
//   MagnitudeProduct m(b_data, coarse, options);  m.prepare(batch, view, norms);  m.multiply(batch, a, view, norms, panel, options);
#pragma once
#include <span>
#include <variant>
#include <vector>

#include "eval/buffer.hpp"
#include "eval/evaluate.hpp"
#include "ops/gemm.hpp"

namespace erx {

using Floats = std::vector<float, PageAllocator<float>>;

/// One panel, row-major.
class MagnitudePanel {
 public:
  /// Row i as doubles; `buffer` has room for `columns`.
  const double* row(std::int64_t i, std::int64_t columns, std::vector<double>& buffer) const;
  double at(std::int64_t flat) const {
    return std::visit([&](const auto& values) { return static_cast<double>(values[static_cast<std::size_t>(flat)]); }, values_);
  }

 private:
  friend class MagnitudeProduct;
  std::variant<Doubles, Floats> values_;
};

class MagnitudeProduct {
 public:
  /// b: all elements of the right operand. `coarse`: float32; needs fits_float32.
  MagnitudeProduct(const Doubles& b, std::int64_t batches, bool coarse, const EvaluateOptions&);

  /// Do products of values of float32 stay far below its overflow? Norms are upper bounds; infinite ones do not count.
  static bool fits_float32(std::int64_t depth, std::span<const double> row_norms, std::span<const double> column_norms);

  /// The checksum of one batch: first its columns, then all rows of `b`, which views the data given before, piece by piece in any thread.
  void prepare(std::int64_t batch, std::int64_t depth, std::span<const double> column_norms);
  void combine(std::int64_t batch, const MatrixView& b, std::int64_t first, std::int64_t count);

  /// returns: false if the checksum finds the product wrong.
  bool multiply(std::int64_t batch, const MatrixView& a, const MatrixView& b, std::span<const double> row_norms, MagnitudePanel& out,
                const EvaluateOptions&) const;

  /// The bound of the error, relative to the computed magnitude, and what is added to it.
  double relative(std::int64_t depth) const;
  double absolute(std::int64_t depth) const;
  bool is_coarse() const { return std::holds_alternative<Floats>(b_); }

 private:
  const double* data_;
  std::variant<Doubles, Floats> b_;
  struct Checksum {
    std::vector<double> takes_part;  // 1, or 0 for a column whose norm is infinite
    std::vector<double> combined;    // |B| takes_part
  };
  std::vector<Checksum> checksums_;
};

}  // namespace erx
