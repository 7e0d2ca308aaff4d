// Is everything that any tree over the steps so far computes a value of the format? Then all trees give the exact state.
// Factors of one value, states and products of factors on a grid: a sum of multiples of q whose magnitudes add up to less than 2^p q
// is a value. With the factors fixed a tree is monotone in every b, so its extremes are at their ends, and these have to be on the grid.
//   ExactStates exact(rule);   exact.step(1, 3, 3);   exact.holds()
#pragma once
#include <algorithm>
#include <cmath>
#include <limits>

#include "ops/num/grid.hpp"
#include "ops/planted.hpp"
#include "ops/scan.hpp"

namespace erx {

class ExactStates {
 public:
  explicit ExactStates(const ScanRule& rule)
      : least_(rule.flushes() || !rule.format.has_subnormals ? rule.format.min_normal() : rule.format.min_positive()),
        steps_(std::ldexp(1.0, rule.format.precision())), largest_(rule.format.max_finite()) {}

  /// h_0, a value between two ends.
  void start(double lo, double hi) {
    lo_ = lo;
    hi_ = hi;
    grid_ = std::min(lowest_bit(lo), lowest_bit(hi));
    check(std::max(std::fabs(lo), std::fabs(hi)));
  }
  /// One step: h = a h + b.
  void step(double a, double lo, double hi) {
    if (!holds_) return;
    const double g = lowest_bit(a), none = std::numeric_limits<double>::infinity(), size = std::fabs(a);
    const bool zero = a == 0;
    odd_ = zero ? 0 : size / g * std::max(1.0, odd_);
    product_ = size * std::max(1.0, product_);
    product_grid_ = zero ? none : g * std::min(1.0, product_grid_);
    grid_ = std::min({zero ? none : g * grid_, lowest_bit(lo), lowest_bit(hi)});
    sum_ = size * sum_;
    holds_ = (odd_ < steps_ && product_ <= largest_ && product_grid_ >= least_) || planted(Mistake::scan_grid_of_states);
    check(std::max(std::fabs(lo), std::fabs(hi)));
    const double below = a * (a < 0 ? hi_ : lo_), above = a * (a < 0 ? lo_ : hi_);  // exact where all holds: less than 2^53 of the grid
    lo_ = below + lo;
    hi_ = above + hi;
  }
  void lose() { holds_ = false; }
  bool holds() const { return holds_; }
  double lo() const { return lo_; }
  double hi() const { return hi_; }

 private:
  double least_, steps_, largest_;
  double lo_ = 0, hi_ = 0;
  double grid_ = std::numeric_limits<double>::infinity(), sum_ = 0;  // of the states: all terms are multiples of it, their magnitudes add up to `sum_`
  double odd_ = 1, product_ = 1, product_grid_ = std::numeric_limits<double>::infinity();  // of products of factors that end here
  bool holds_ = true;

  /// Strictly below, so that a sum that was rounded to the limit does not pass.
  void check(double magnitude) {
    sum_ += magnitude;
    holds_ = holds_ && grid_ >= least_ && sum_ <= largest_ && (std::isinf(grid_) || sum_ < steps_ * grid_);
  }
};

}  // namespace erx
