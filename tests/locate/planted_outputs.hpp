// Violations made by hand for the tests of eval/locate.hpp: an array of distances, 0 where an element is allowed.
//   Planted y({8, 256}); y.at({3, 7}) = 12; CHECK(y.text() == "..");
#pragma once
#include <limits>
#include <random>

#include "eval/locate.hpp"
#include "eval/number_text.hpp"

namespace erx::test {

struct Planted {
  Extents extents;
  std::vector<float> ulps;
  std::vector<std::uint8_t> mask;

  explicit Planted(Extents e) : extents(std::move(e)), ulps(static_cast<std::size_t>(size_of(extents)), 0) {}

  std::int64_t size() const { return static_cast<std::int64_t>(ulps.size()); }
  Extents index(std::int64_t flat) const { return unravel(flat, extents); }

  /// distance(index) at each element.
  template <class F>
  Planted& fill(const F& distance) {
    for (std::int64_t i = 0; i < size(); ++i) ulps[static_cast<std::size_t>(i)] = static_cast<float>(distance(index(i)));
    return *this;
  }

  std::vector<std::int64_t> outside() const {
    std::vector<std::int64_t> flat;
    for (std::int64_t i = 0; i < size(); ++i)
      if (ulps[static_cast<std::size_t>(i)] > 0 && (mask.empty() || mask[static_cast<std::size_t>(i)])) flat.push_back(i);
    return flat;
  }

  std::vector<Finding> findings() const {
    const auto flat = outside();
    std::vector<float> distances;
    for (const std::int64_t i : flat) distances.push_back(ulps[static_cast<std::size_t>(i)]);
    std::int64_t checked = size();
    if (!mask.empty()) checked = std::count_if(mask.begin(), mask.end(), [](std::uint8_t m) { return m != 0; });
    return locate({extents, flat, distances, checked, mask});
  }

  /// Lines as in a report.
  std::string text() const {
    std::string lines;
    for (const Finding& f : findings())
      if (!f.text.empty()) lines += f.text + "\n";
    return lines;
  }
};

}  // namespace erx::test
