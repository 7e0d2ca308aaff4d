// One thing that is known of where violations lie, as a sentence and as numbers.
//   Finding{.kind = "axis", .text = "every element of columns from 128 on (axis 3)", .axis = 3, .start = 128, .stop = 1024}
#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "ir/shape.hpp"

namespace erx {

struct Finding {
  std::string kind;         // everywhere, single, scattered, axis, block, diagonal, triangle, decay, period, values; cause: what it is consistent with
  std::string text;
  int axis = -1;            // that start, stop and period are counted along; -1: none
  std::int64_t start = -1;  // first index
  std::int64_t stop = -1;   // one past the last index
  std::int64_t period = 0;  // 0: it does not repeat
  double share = 0;         // of the elements there, how many are outside (0: not counted)
};

/// "row", "columns", "index" of an axis; and " (axis 2)" where there are more than two.
std::string axis_word(std::size_t axis, std::size_t rank, bool plural);
std::string axis_suffix(std::size_t axis, std::size_t rank);

/// Along one axis: how many violations each index has, and the sum of log2(1 + distance) of them (a special value counts as 64).
struct AxisCount {
  std::vector<std::int64_t> hits;
  std::vector<double> bits;
  std::vector<std::int64_t> used;  // the indices with violations
};

}  // namespace erx
