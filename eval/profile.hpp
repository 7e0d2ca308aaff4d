// How the distance of violations changes along an axis: does it decay, and does it start again at a period?
// A lost carry of a blocked scan shows in nearly every element behind the first block, but not evenly: the distance is largest where a block
// starts and dies out within it. Distances are compared as log2(1 + ulps), averaged over the other axes.
//   decay_of(count)   // {.start = 128, .period = 128, ..}
#pragma once
#include <optional>

#include "eval/finding.hpp"

namespace erx {

struct Decay {
  bool backward = false;     // from the end of the axis to its start: the state of a scan that runs so
  std::int64_t start = 0;    // the first index with a large distance (backward: the last)
  std::int64_t period = 0;   // 0: the distance is large once
  std::int64_t resets = 0;   // how often it becomes large again
  std::int64_t length = 0;   // indices in which it decays
  double from = 0, to = 0;   // log2(1 + ulps), the mean over violations, at the start of a decay and at its end
};

/// Nothing unless a saw explains the distances by more than chance, the rises at the resets stand out from all other rises, and the distance decays
/// steadily between them: a line through it explains two thirds of what it does.
std::optional<Decay> decay_of(const AxisCount&);

/// The period with which the distance repeats, in whatever shape: the least one that explains nearly as much of its changes as any, and more than
/// four fifths of them. 0: none.
std::int64_t repeat_of(const AxisCount&);

}  // namespace erx
