// What is added to a product of matrices, row by row of the result: A @ B + C.
//   OtherTerms other(engine, sum, terms, columns);   other.read(batch, i, column, row);   if (other.is_special(j)) ...
#pragma once
#include <vector>

#include "eval/engine.hpp"
#include "eval/matrix_row.hpp"

namespace erx {

/// The terms beside the product, for one row: their sum, magnitude and grid. A term that is special, or a sum that is not
/// exact in float64, is left to the scalar rule.
class OtherTerms {
 public:
  OtherTerms(const Engine&, const SumNode&, const std::vector<const Term*>& terms, std::size_t columns);

  /// Of columns from `column` on.
  void read(std::int64_t batch, std::int64_t row_index, std::int64_t column, MatrixRow& row);
  bool is_special(std::size_t j) const { return special_[j]; }

  /// sign * centre and what is added to it, each sum off by at most `lost`. returns: nullptr where something special is added.
  const double* sums(std::int64_t batch, std::int64_t row_index, std::int64_t column, const double* centre, double sign, double& lost);

 private:
  const Engine& engine_;
  const SumNode& sum_;
  const std::vector<const Term*>& terms_;
  std::vector<double> value_, magnitude_, grid_, sums_;
  std::vector<std::uint8_t> special_;

  std::int64_t at(const Factor&, std::int64_t batch, std::int64_t row_index, std::int64_t column) const;
  const double* values(std::int64_t batch, std::int64_t row_index, std::int64_t column);
  const double* values_of_one(std::int64_t batch, std::int64_t row_index, std::int64_t column);
};

}  // namespace erx
