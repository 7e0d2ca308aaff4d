// Panels of a matrix product of which one float64 product would decide little: all elements in twice the precision at once, and the few that stay
// open then from exact sums.
//   if (pairs_pay(rows, columns, goal, ...)) counts = settle_by_pairs(panel, goal, magnitude_row, out, options, leave);
#pragma once
#include <functional>

#include "eval/evaluate.hpp"
#include "eval/matrix_row.hpp"
#include "eval/norms.hpp"
#include "eval/sum_plane.hpp"
#include "ops/anchored_product.hpp"

namespace erx {

/// Rows of A, from `first` of its batch on, and all columns of B, with the profile of each.
struct PairPanel {
  MatrixView a, b;
  const Profile &rows, &columns;
  bool negative;  // the product is subtracted
};

/// What elements become: the exact sum rounded to nearest into `format` (by `fast`, unless that is float64); or, where there is a `rule`, the
/// set of its sums in float64 in any order.
struct PairGoal {
  const Format* format = nullptr;
  const BulkRounding* fast = nullptr;
  const MatrixRowRule* rule = nullptr;
  Rounding rounding = {};  // into `format`: its overflow
};

/// A few lines of one side, side by side, with their profile.
struct LineSample {
  std::vector<double> values;  // line after line
  Profile profile;
  static constexpr std::int64_t most = 16;
  /// The place of the k-th of at most `most` among `lines`.
  static std::int64_t place(std::int64_t k, std::int64_t lines, std::int64_t most_of_them = most) { return lines <= most_of_them ? k : k * lines / most_of_them; }
  static std::int64_t size(std::int64_t lines, std::int64_t most_of_them = most) { return lines < most_of_them ? lines : most_of_them; }
};
LineSample sample(const MatrixView& lines, const Profile&);  // of the rows of the view

/// Would one float64 product, with these errors as in MatrixRow, leave so many elements open that pairs are faster? Asks those of the sample.
bool pairs_pay(const LineSample& rows, const LineSample& columns, const PairGoal&, const MatrixRowRule&, double relative, double absolute, bool negative);

/// Which stage decided how many elements.
struct PairCounts {
  std::int64_t pairs = 0, exact = 0;
};

/// Puts the elements of a panel at `start` and the places after it, but those that it leaves to the caller: `leave(flat)`.
/// bounds(i): of the sums of a row, without their centre, where the goal has a rule.
PairCounts settle_by_pairs(const PairPanel&, const PairGoal&, const LinePowers& column_powers, std::int64_t start, SumPlane& out, const EvaluateOptions&,
                           const std::function<MatrixRow(std::int64_t i)>& bounds, const std::function<void(std::int64_t flat)>& leave);

}  // namespace erx
