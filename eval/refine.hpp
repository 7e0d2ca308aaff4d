// One element of a product of matrices again, from its factors, in twice the precision.
//   if (const auto s = refine(row.at(j), x, y, depth, rounds, rule)) ...   nothing where the rule needs every leaf
#pragma once
#include <cstddef>
#include <optional>

#include "eval/matrix_row.hpp"
#include "ir/graph.hpp"

namespace erx {

/// The sum of |x_k y_k|, with the bound of magnitude_in_float64.
double magnitude_dot(const double* x, const double* y, std::size_t n);

/// What the bound of a magnitude in float64 is: a sum of non-negative products in order.
void magnitude_in_float64(MatrixRow&, std::size_t depth);

/// The centre of one element in twice the precision, under the same rule. x, y: its factors.
/// returns: nothing where the rule needs every leaf.
std::optional<Set<F64>> refine(MatrixRow one, const double* x, const double* y, std::size_t depth, bool rounds, const MatrixRowRule&);

/// The element rounded to nearest into float64, which no enclosure by doubles decides; 0 and special values are not decided here.
std::optional<Set<F64>> rounded_to_double(const MatrixRow& one, const double* x, const double* y, std::size_t depth);

/// Rounding to nearest into the format of a double?
bool rounds_to_double(const Node&);

}  // namespace erx
