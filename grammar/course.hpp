// How a number follows the variable i of a loop, over all its steps: straight, or in turns (i // 4 and i % 4).
//   course_of({0, 0, 1, 1, 2}, 0)   at_zero 0, turn 1, period 2, each 0: i // 2
#pragma once
#include <cstdint>
#include <optional>
#include <vector>

namespace erx {

/// at_zero + turn (i // period) + each (i % period); straight where the period is 1.
struct Course {
  std::int64_t at_zero = 0, turn = 0, period = 1, each = 0;
  std::int64_t at(std::int64_t i) const;
};

/// The course of numbers at i = first, first + 1, ..; nothing where they follow none.
std::optional<Course> course_of(const std::vector<std::int64_t>& numbers, std::int64_t first);

}  // namespace erx
