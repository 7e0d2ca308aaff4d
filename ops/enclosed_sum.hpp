// The sum of many enclosures in twice the precision: the lower ends and the upper ends, leaf by leaf or products of two, in vector lanes.
//   EnclosedSum s;   s.add(d, u, n);   s.add_products(a, b, n);   F64 around = s.value();
// bound: additions leave residuals that are exact (two-sums) and in all at most n v P, v = 2^-53; products leave n v P more. They are summed in
// any order with an error of at most 2n v of that: together below (2n + 64)^2 v^2 P, which is added outward. source: Ogita, Rump and Oishi,
// SIAM J. Sci. Comput. 26 (2005) 1955. A sum without residuals is exact.
#pragma once
#include <cstddef>
#include <cstdint>

#include "ops/num/f64.hpp"

namespace erx {

class EnclosedSum {
 public:
  /// Leaves in [d[i], u[i]]. errors: none; an end that is not finite shows in is_ordinary.
  void add(const double* d, const double* u, std::size_t n);
  /// Products of one number in [a_d[i], a_u[i]] and one in [b_d[i], b_u[i]].
  void add_products(const double* a_d, const double* a_u, const double* b_d, const double* b_u, std::size_t n);
  /// All that has been added becomes its opposite.
  void negate();
  void add(const EnclosedSum&);

  /// Is P far from the ends of the range? Else the numbers below mean nothing.
  bool is_ordinary() const;
  /// The sum, enclosed; is_ordinary only.
  F64 value() const;
  /// The sum of the magnitudes, enclosed; is_ordinary only.
  F64 magnitude() const;

  static constexpr std::size_t lanes = 16;
  /// One end in lanes: what has been added, and the residuals.
  struct End {
    double high = 0, low = 0;
    bool exact = true;  // no residual
  };

 private:
  End ends_[2];  // lower, upper
  double magnitude_ = 0;
  double leaves_ = 0;

  double error() const;
};

/// The sum of max(|d[i]|, |u[i]|), rounded in any order.
double sum_of_magnitudes(const double* d, const double* u, std::size_t n);

}  // namespace erx
