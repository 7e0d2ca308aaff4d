// The sets of a result as plain arrays: the hull of each element and its flags, and one element as text.
//   Hull h = hull_of(evaluation.result(0));   h.lo[0], h.hi[0];    element_text(sets, 0) == "[1, 1.5] or {2} or NaN", "{1+2j}"
#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "eval/set_tensor.hpp"

namespace erx {

/// Infinities belong to the hull; NaN is an end only where nothing else is possible. `flags`: 1 NaN, 2 +inf, 4 -inf, 8 +0, 16 -0,
/// 32 no finite value.
struct Hull {
  std::vector<double> lo, hi;
  std::vector<std::uint8_t> flags;
};
Hull hull_of(const SetTensor&);  // of a complex result: of its real parts
Hull hull_of_imag(const SetTensor&);
void join(Hull& all, const Hull&);  // of the runs of a choice that is made once for the whole call

std::string element_text(const SetTensor&, std::int64_t flat);

}  // namespace erx
