// Products of matrices of doubles in about twice the precision, for panels of which one float64 product decides little: four operations
// for each term, on every instruction set, where Dot2 takes ten.
// A running sum S starts at 3 * 2^e, 2^e above the sum of the magnitudes: it never leaves its binade, so that t = fma(x, y, S) moves it by
// a q = t - S that is a double, and r = fma(x, y, -q), what t lost, is rounded once, far below. Sums are made in pieces of 128 terms.
// bound: |high + low - exact| <= error_factor(depth) * sum over pieces of (power of the row) * (power of the column), see docs/soundness.md;
//   the depth is at most 2^31. A row or column with a square norm beyond 2^800 or a value that is not finite gives nothing of use.
//   AnchoredProduct p(a, row_powers, b, column_powers, high, low);   p.add_piece(0);   p.normalize(0);   high[0] + low[0]
#pragma once
#include <cstdint>
#include <vector>

#include "ops/gemm.hpp"

namespace erx {

constexpr std::int64_t anchored_terms = 128;  // of a piece
inline std::int64_t anchored_pieces(std::int64_t depth) { return (depth + anchored_terms - 1) / anchored_terms; }

/// For each piece and line a power of two that is larger than the norm of the line's terms in the piece, at least 2^-450.
class LinePowers {
 public:
  LinePowers(std::int64_t lines, std::int64_t terms);
  /// Of `count` lines from `first` on. Element (line, term) of them is data[line * line_stride + term * term_stride].
  void measure(std::int64_t first, std::int64_t count, const double* data, std::int64_t line_stride, std::int64_t term_stride);

  std::int64_t lines() const { return lines_; }
  const double* of(std::int64_t piece) const { return power_.data() + piece * lines_; }

 private:
  std::int64_t lines_, terms_;
  std::vector<double> power_;  // [piece, line]
};

/// errors[j]: at least the distance of high + low from the exact sum, in row `line` of the left operand.
void anchored_errors(const LinePowers& rows, std::int64_t line, const LinePowers& columns, std::int64_t depth, double* errors);

/// a b as pairs high + low, row-major, in the caller's memory; both are kept as references.
class AnchoredProduct {
 public:
  AnchoredProduct(const MatrixView& a, const LinePowers& of_rows, const MatrixView& b, const LinePowers& of_columns, double* high, double* low);

  /// Adds the terms [128 piece, 128 (piece + 1)) of all elements. Each piece once.
  void add_piece(std::int64_t piece);

  /// After all pieces, in row i: |low| is at most half an ulp of high.
  void normalize(std::int64_t i);

 private:
  MatrixView a_, b_;
  const LinePowers &of_rows_, &of_columns_;
  double *high_, *low_;
  std::vector<double> packed_a_, packed_b_;
};

}  // namespace erx
