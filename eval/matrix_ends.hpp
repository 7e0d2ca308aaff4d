// What a product of matrices gave, block by block, becomes sets: rows of centres with what bounds their errors, then the few elements
// that stay open again from their factors, and those that still do leaf by leaf or more finely.
//   MatrixEnds ends(engine, sum, out, ...);   ends.settle(block);   ends.count_into(engine.counters);
#pragma once
#include <atomic>
#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include "eval/engine.hpp"
#include "eval/ladder.hpp"
#include "eval/magnitudes.hpp"
#include "eval/matrix_row.hpp"
#include "eval/open_elements.hpp"
#include "eval/sum_plane.hpp"

namespace erx {

/// Rows of a product, and columns side by side.
struct MatrixBlock {
  std::int64_t batch = 0, first = 0, first_column = 0;  // its first row, in its batch, and its first column
  std::int64_t rows = 0, columns = 0;
  std::int64_t start = 0, width = 0;      // where its first element lies in the result, and how far the next row is
  const double* centre = nullptr;
  std::int64_t centre_width = 0;
  const double *row_norm = nullptr, *row_grid = nullptr, *column_norm = nullptr, *column_grid = nullptr;
  bool agrees = true;                     // false: the product is wrong, and nothing is taken from it
  // Of a sum that is rounded: the magnitudes as a panel, or as rows of doubles like those of the centre.
  const MagnitudePanel* panel = nullptr;
  const double* magnitude = nullptr;
  /// The factors of row i and of column j, side by side; valid until the next call.
  std::function<const double*(std::int64_t)> row_factors, column_factors;
  bool by_columns = false;                // columns are read cheaply in order only
};

class MatrixEnds {
 public:
  /// What the elements become: the sum, or what `then`, a map of one operand, makes of it.
  struct Goal {
    const Node* then = nullptr;
    bool settle = false;
    std::function<Set<F64>(std::int64_t)> bulk;   // leaf by leaf
    std::function<Climbed(std::int64_t)> finer;   // where the node settles
  };

  /// depth: terms of the product. chain: additions that a term may go through in the float64 product. others: the terms beside it.
  /// negative: the product is subtracted.
  MatrixEnds(Engine&, const SumNode&, SumPlane& out, Goal, std::int64_t depth, std::int64_t chain, std::vector<const Term*> others, bool negative);

  /// The error of a magnitude, as in MatrixRow; coarse: in float32.
  void bound_magnitudes(double relative, double absolute, bool coarse);

  const MatrixRowRule& rule() const { return rule_; }
  double relative() const { return relative_; }
  double absolute() const { return absolute_; }
  bool is_rounded_to_double() const { return to_double_; }
  bool is_in_float64() const { return in_float64_; }
  /// The rounding that follows an exact sum without other terms at once, if one does.
  const BulkRounding* at_once() const { return at_once_ && others_.empty() ? &*at_once_ : nullptr; }
  /// Can results be rounded in bulk as soon as exact sums are there?
  static std::optional<BulkRounding> rounds_at_once(const Node& then);

  /// A row without its centre.
  MatrixRow row(const MatrixBlock&, std::int64_t i, const double* magnitudes) const;

  /// What `settle` works with; one for each thread, used again.
  class Work;
  std::unique_ptr<Work, void (*)(Work*)> work() const;
  void settle(const MatrixBlock&, Work&);
  /// Elements that `settle` does not see.
  void leave(std::int64_t flat);
  void count(std::int64_t refined, std::int64_t exact);
  void count_into(Counters&) const;

 private:
  Engine& engine_;
  const SumNode& sum_;
  SumPlane& out_;
  Goal goal_;
  std::vector<const Term*> others_;
  std::int64_t depth_;
  bool negative_, rounds_, users_round_, to_double_, in_float64_, coarse_ = false;
  MatrixRowRule rule_;
  std::optional<BulkRounding> at_once_;  // of sums that are exact
  std::optional<BulkRounding> after_;    // of sums that are rounded
  bool ends_together_ = false;           // rows of their ends are worked out at once where that decides all
  double relative_, absolute_, magnitude_relative_ = 0, magnitude_absolute_ = 0;
  std::atomic<std::int64_t> decided_{0}, refined_{0}, big_{0}, exact_{0}, open_{0};

  Set<F64> after(const Set<F64>&) const;
  std::optional<Set<F64>> rounded_after(const Set<F64>&) const;  // where every end rounds one way
  const double* magnitudes_of_row(const MatrixBlock&, std::int64_t i, Work&) const;
  void enclose(Work&, const MatrixRow&, const Tile& ends) const;
  void enclose_rows(const MatrixBlock&, Work&);
  bool round_with_others(const MatrixBlock&, std::int64_t i, const ColumnRange&, Work&);
  void decide_by_magnitudes(const MatrixBlock&, Work&);
  /// by_sum: whether the exact sum was needed.
  Set<F64> from_factors(const MatrixBlock&, const OpenElement&, bool& by_sum) const;
  Set<F64> from_parts(const MatrixBlock&, const OpenElement&) const;
  Set<F64> climb(std::int64_t flat);
};

}  // namespace erx
