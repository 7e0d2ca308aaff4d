// Norm and grid of the lines of a matrix: what bounds the error of a float64 product, or certifies that it is exact.
// source: 2-norms and Cauchy-Schwarz; a sum of multiples of g that stays below 2^53 g is exact
//   Profile rows = profile(data, flags, lines, line_stride, terms, term_stride);
#pragma once
#include <cstdint>
#include <vector>

namespace erx {

/// Norm (an upper bound) and grid of each row of a rows x columns view; the norm is infinite where a bound cannot be given.
struct Profile {
  std::vector<double> norm, grid;
};

/// `flags` may be null: no special values and no zeros.
Profile profile(const double* data, const std::uint8_t* flags, std::int64_t lines, std::int64_t line_stride, std::int64_t terms, std::int64_t term_stride);

/// The norm of a line of `terms` terms from the sum of their squares, which may be infinite or NaN.
double norm_of(double square, std::int64_t terms);

}  // namespace erx
