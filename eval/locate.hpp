// Where violations lie and how far away they are: whole tensor, rows, columns, a block, a diagonal, from an index on, at a period, decaying.
// Facts come first; a cause is named only where the evidence is for it. Differences that look like rounding (scattered, of any size) stay
// "scattered": what is called structure shows less than once in 1000 times by chance.
//   locate({{512, 384}, outside, distances})   {"only in column 5 (3 of 512 elements there)"}
#pragma once
#include <functional>
#include <string>
#include <vector>

#include "eval/finding.hpp"

namespace erx {

struct Violations {
  const Extents& extents;
  const std::vector<std::int64_t>& outside;   // flat indices, increasing
  const std::vector<float>& distances;        // of each to its set, in ulps; infinite for a special value
  std::int64_t checked = 0;                   // elements looked at
  const std::vector<std::uint8_t>& mask;      // nonzero: looked at; empty: all are
};

/// The most telling finding first.
std::vector<Finding> locate(const Violations&);

/// What the values say: `value(flat)` is the output there (of a complex one, its real part), `fits(set, value)` whether the output at flat
/// index `value`, negated if asked, is a member of the set at flat index `set`.
struct OutputValues {
  std::function<double(std::int64_t flat)> value;
  std::function<bool(std::int64_t set, std::int64_t value, bool negated)> fits;
};

/// Violations that are all 0 or NaN, have the wrong sign, or are what another element may be: exchanged rows, an index that is off by one.
std::vector<Finding> explain_values(const Violations&, const OutputValues&);

}  // namespace erx
