// Violations by their values: what is 0 or NaN everywhere was never written or comes from elsewhere; what another element may be was misplaced.
#include <algorithm>
#include <cmath>

#include "eval/locate.hpp"
#include "eval/number_text.hpp"
#include "ir/ieee.hpp"

namespace erx {
namespace {

constexpr std::size_t most_asked = 1000;  // of the violations, evenly spread
constexpr std::size_t fewest = 4;         // that can be evidence

std::vector<std::int64_t> sample_of(const std::vector<std::int64_t>& outside) {
  std::vector<std::int64_t> sample;
  const std::size_t n = outside.size(), count = std::min(n, most_asked);
  for (std::size_t k = 0; k < count; ++k) sample.push_back(outside[k * n / count]);
  return sample;
}

/// Is each of the sample, read at the place that `place` gives, a member there? Places that do not exist (-1) are left out.
template <class Place>
bool all_fit(const std::vector<std::int64_t>& sample, const OutputValues& values, bool negated, const Place& place) {
  std::size_t asked = 0;
  for (const std::int64_t flat : sample) {
    const std::int64_t set = place(flat);
    if (set < 0) continue;
    if (!values.fits(set, flat, negated)) return false;
    ++asked;
  }
  return asked >= fewest && asked * 2 >= sample.size();
}

Finding fact(std::string text) { return {"values", std::move(text), -1, -1, -1, 0, 0}; }
Finding cause(std::string text, int axis = -1) { return {"cause", "consistent with " + std::move(text), axis, -1, -1, 0, 0}; }

/// The two indices of an axis that hold all violations; empty if there are more.
std::vector<std::int64_t> two_of(const Violations& v, std::size_t axis, std::int64_t below) {
  std::vector<std::int64_t> two;
  for (const std::int64_t flat : v.outside) {
    const std::int64_t i = flat / below % v.extents[axis];
    if (std::find(two.begin(), two.end(), i) != two.end()) continue;
    two.push_back(i);
    if (two.size() > 2) return {};
  }
  std::sort(two.begin(), two.end());
  return two.size() == 2 ? two : std::vector<std::int64_t>{};
}

/// Elements that are what another may be: two slices exchanged, all moved by one, the last two axes exchanged.
void append_moves(std::vector<Finding>& found, const Violations& v, const OutputValues& values, const std::vector<std::int64_t>& sample) {
  const std::size_t rank = v.extents.size();
  std::int64_t below = 1;
  for (std::size_t axis = rank; axis-- > 0; below *= v.extents[axis]) {
    const std::int64_t extent = v.extents[axis], step = below;
    const std::string suffix = axis_suffix(axis, rank), many = axis_word(axis, rank, true);
    const auto two = two_of(v, axis, below);
    if (!two.empty() && all_fit(sample, values, false, [&](std::int64_t flat) { return flat + (flat / step % extent == two[0] ? two[1] - two[0] : two[0] - two[1]) * step; })) {
      found.push_back(fact("each of the " + many + " " + std::to_string(two[0]) + " and " + std::to_string(two[1]) + suffix + " holds what the other may hold"));
      found.push_back(cause("two " + many + " exchanged", static_cast<int>(axis)));
      return;
    }
    for (const std::int64_t by : {-1, 1}) {
      const auto moved = [&](std::int64_t flat) {
        const std::int64_t i = flat / step % extent + by;
        return i < 0 || i >= extent ? -1 : flat + by * step;
      };
      if (!all_fit(sample, values, false, moved)) continue;
      found.push_back(fact("each is what the element one " + axis_word(axis, rank, false) + (by < 0 ? " before" : " further") + suffix + " may be, where there is one"));
      found.push_back(cause("an index that is off by one", static_cast<int>(axis)));
      return;
    }
  }
  if (rank < 2 || v.extents[rank - 1] != v.extents[rank - 2]) return;
  const std::int64_t n = v.extents[rank - 1];
  if (!all_fit(sample, values, false, [&](std::int64_t flat) { return flat / (n * n) * n * n + flat % n * n + flat / n % n; })) return;
  found.push_back(fact("each is what the element with its row and column exchanged may be"));
  found.push_back(cause("a transposed result"));
}

}  // namespace

std::vector<Finding> explain_values(const Violations& v, const OutputValues& values) {
  std::vector<Finding> found;
  if (v.outside.size() < fewest) return found;
  const auto all = [&](const auto& is) { return std::all_of(v.outside.begin(), v.outside.end(), [&](std::int64_t flat) { return is(values.value(flat)); }); };
  if (all([](double x) { return x == 0; })) {
    found.push_back(fact("each of them is 0"));
    found.push_back(cause("elements that were never written"));
    return found;
  }
  if (all([](double x) { return std::isnan(x); })) return {fact("each of them is NaN")};
  const std::vector<std::int64_t> sample = sample_of(v.outside);
  if (all_fit(sample, values, true, [](std::int64_t flat) { return flat; })) return {fact("each of them has the sign of an allowed value changed"), cause("a wrong sign")};
  append_moves(found, v, values, sample);
  return found;
}

}  // namespace erx
