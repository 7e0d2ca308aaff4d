// Which indices of an axis have violations: one, a run, runs at a period, a few; and whether that can be chance.
//   pattern_of(2, 2, 64, {5, 13, 21, 29, 37, 45, 53, 61}, 400)->text   // "columns 5, 13, ..., 61 (period 8)"
#pragma once
#include <optional>

#include "eval/finding.hpp"

namespace erx {

struct IndexPattern {
  std::string text;
  std::int64_t start = 0, stop = 0;  // from the first to one past the last
  std::int64_t period = 0;
  std::int64_t indices = 0;          // how many it stands for
};

/// Of `used` (increasing) of an axis with `extent` indices. Nothing if all are used, or if `count` elements placed at random would show such
/// a pattern more often than once in 1000: (number of patterns of its kind) * (used / extent)^count.
std::optional<IndexPattern> pattern_of(std::size_t axis, std::size_t rank, std::int64_t extent, const std::vector<std::int64_t>& used, std::int64_t count);

}  // namespace erx
