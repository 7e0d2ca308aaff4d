// A real number enclosed by two doubles, d <= x <= u. Bulk tier.
// Directed bounds come from the residual of round-to-nearest (TwoSum, FMA), never from a rounding-mode switch; an exact result
// stays one number.
//   add(F64::exact(1), F64::exact(2))   d == u == 3
#pragma once
#include <string_view>

#include "ops/num/set.hpp"

namespace erx {

struct F64 {
  double d = 0;
  double u = 0;
  static F64 exact(double x, Context = {}) { return {x, x}; }
  static F64 literal(std::string_view, Context = {});
};

}  // namespace erx
