#include "grammar/course.hpp"

namespace erx {
namespace {

/// As // and % are: towards minus infinity.
std::int64_t turns(std::int64_t i, std::int64_t period) { return i / period - (i % period < 0 ? 1 : 0); }

}  // namespace

std::int64_t Course::at(std::int64_t i) const {
  const std::int64_t q = turns(i, period);
  return at_zero + turn * q + each * (i - q * period);
}

std::optional<Course> course_of(const std::vector<std::int64_t>& numbers, std::int64_t first) {
  if (numbers.empty()) return {};
  const auto fits = [&](const Course& c) {
    for (std::size_t k = 0; k < numbers.size(); ++k)
      if (c.at(first + static_cast<std::int64_t>(k)) != numbers[k]) return false;
    return true;
  };
  const auto through_first = [&](std::int64_t turn, std::int64_t period, std::int64_t each) {
    Course c{0, turn, period, each};
    c.at_zero = numbers[0] - c.at(first);
    return c;
  };
  std::vector<std::int64_t> growth;
  for (std::size_t k = 1; k < numbers.size(); ++k) growth.push_back(numbers[k] - numbers[k - 1]);
  const Course straight = through_first(growth.empty() ? 0 : growth[0], 1, 0);
  if (fits(straight)) return straight;
  for (std::size_t within = 0; within < 2 && within < growth.size(); ++within) {  // one of the first two does not end a turn
    std::vector<std::int64_t> begins;
    std::int64_t jump = 0;
    for (std::size_t k = 0; k < growth.size() && begins.size() < 2; ++k) {
      if (growth[k] == growth[within]) continue;
      begins.push_back(first + static_cast<std::int64_t>(k) + 1);
      jump = growth[k];
    }
    const std::int64_t period = begins.size() < 2 ? begins[0] : begins[1] - begins[0];
    if (period < 2) continue;
    const Course course = through_first(jump + growth[within] * (period - 1), period, growth[within]);
    if (fits(course)) return course;
  }
  return {};
}

}  // namespace erx
