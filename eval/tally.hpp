// Which tier decided how many elements, counted by all threads of a loop and added to the engine's counters at its end.
//   Tally tally;   tally.add(climbed.by);   tally.into(engine.counters);
#pragma once
#include <atomic>

#include "eval/engine.hpp"
#include "eval/ladder.hpp"

namespace erx {

struct Tally {
  std::atomic<std::int64_t> bulk{0}, big{0}, exact{0}, open{0};
  void add(Climbed::By by) {
    ++(by == Climbed::By::big ? big : by == Climbed::By::exact ? exact : by == Climbed::By::bulk ? bulk : open);
  }
  void into(Counters& c) const {
    c.bulk += bulk;
    c.big += big;
    c.exact += exact;
    c.open += open;
  }
};

}  // namespace erx
