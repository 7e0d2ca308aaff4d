// The any-order rule of ops/accumulate.hpp for a whole row of a matrix product at once, in float64, without branches.
// It encloses exactly the ends that sum_of_parts would; elements it cannot treat (specials, overflow, the edge of the grid
// rule) are marked and go through sum_of_parts itself.
#pragma once
#include <cstdint>
#include <optional>
#include <vector>

#include "eval/pair_row.hpp"
#include "ops/accumulate.hpp"
#include "ops/dot2.hpp"
#include "ops/round_bulk.hpp"

namespace erx {

/// One row: what the product gave and what bounds its error.
struct MatrixRow {
  std::size_t columns;
  const double* centre;      // of the product
  const double* magnitude;   // may be null for exact sums
  const double* norm;        // of each column
  const double* grid;        // of each column
  double row_norm, row_grid;
  double relative, absolute;  // error of the centre: relative * (magnitude, or norms where there is none) + absolute
  double magnitude_relative, magnitude_absolute;  // error of the magnitude, relative to what was computed
  bool magnitude_may_be_exact;  // where the certificate holds: the magnitude has the centre's precision
  bool negative;              // the product is subtracted
  bool users_round = false;   // ends need not be values of F: it is enough to enclose the values they round to
  const double* other = nullptr;            // sum of the terms beside the product, with its magnitude and grid
  const double* other_magnitude = nullptr;
  const double* other_grid = nullptr;

  /// Some elements of the product; the terms beside it are set by the caller.
  MatrixRow part(std::size_t first, std::size_t n) const {
    MatrixRow some = *this;
    some.columns = n;
    if (centre) some.centre += first;
    if (magnitude) some.magnitude += first;
    some.norm += first;
    some.grid += first;
    return some;
  }
  MatrixRow at(std::size_t j) const { return part(j, 1); }
};

/// What holds for all columns of a block.
struct ColumnRange {
  double most_norm = 0, least_norm = 0, least_grid = 0, most_grid = 0;

  static ColumnRange of(const double* norms, const double* grids, std::size_t n);
};

/// What loops over a row need, in registers.
struct RowConstants {
  double max_finite, eta, least_grid, significands;
  double end_relative, end_absolute;  // from an end to the value of F that it rounds to, at most
  ClosedBound exact, inexact;
  std::uint64_t fits, sign_of_zero_with_exact_products;
  std::uint64_t over, under;  // flags of partial sums that overflow on either side; none where the set has to be told otherwise
};

class MatrixRowRule {
 public:
  MatrixRowRule(const SumRule& rule, std::int64_t leaves);

  /// The set of one element whose sum is rounded in float64, from its exact sum, known to `error`: ends that no enclosure by doubles decides.
  /// returns: nothing where the grid rule may hold, near overflow, with other terms, or where an end stays open.
  std::optional<Set<F64>> in_float64(const MatrixRow& one, const Doubled& sum, double error) const;
  /// The same for the sums of a row without other terms; `open`: where it returns nothing.
  void in_float64(const MatrixRow& row, const PairRow& sums, double* lo, double* hi, std::uint8_t* flags, std::uint8_t* open) const;

  /// Rounds all sums of a row at once by one margin for all of them. lost: what may be missing in each centre besides, at most; the terms beside
  /// the product are in it already. returns: whether all are decided and ordinary numbers; else `out` means nothing.
  bool rounded_together(const MatrixRow& row, const ColumnRange& range, double lost, const BulkRounding& to, double* out) const;

  /// A sum that is not rounded itself, rounded to nearest by `to`, which has to be fast and not to flush: the results that are decided and
  /// ordinary numbers, and which are not. For a row without other terms, and columns in `range`. returns: whether any is open; where none
  /// is, `open` is not filled.
  bool rounded(const MatrixRow& row, const ColumnRange& range, const BulkRounding& to, double* out, std::uint8_t* open) const;

  /// The ends of sums that are rounded in any order, in a format of their own or (`then`) rounded to nearest by it, for a row without other
  /// terms: all of them by one straight line in the magnitude, `ends_block` at a time. `undecided`: the first elements of blocks in which an
  /// element is open, not finite or perhaps exact; there the arrays mean nothing.
  static constexpr std::size_t ends_block = 128;  // few enough that most have no such element
  void ends_together(const MatrixRow& row, const ColumnRange& range, const BulkRounding* then, double* lo, double* hi, std::uint8_t* flags, std::vector<std::uint32_t>& undecided) const;

  /// Fills the ends (where the sum is not rounded, hi_* may be lo_*) and flags; `hard[j]` is set where the scalar rule has to decide.
  void operator()(const MatrixRow& row, double* lo_d, double* lo_u, double* hi_d, double* hi_u, std::uint8_t* flags, std::uint8_t* hard) const;

 private:
  SumRule rule_;
  ClosedBound exact_, inexact_;  // with exact and with inexact products
  double eta_, least_grid_, significands_;
  BulkRounding up_, down_;

  RowConstants constants_[2];  // by whether users round

  RowConstants row_constants(bool users_round) const;
};

}  // namespace erx
