// Axes along which factors are read, as few as there are: those that follow on one another in memory are one. And where an element lies.
//   merge_axes(term.reduced, factors);   // each factor has `reduced`: its strides along them
#pragma once
#include <algorithm>
#include <vector>

#include "ir/shape.hpp"

namespace erx {

/// An axis is merged into the one before it where it is that for every factor.
template <class Factor>
void merge_axes(Extents& reduced, std::vector<Factor>& factors) {
  for (std::size_t k = reduced.size(); k-- > 1;) {
    if (!std::all_of(factors.begin(), factors.end(), [&](const Factor& f) { return f.reduced[k - 1] == f.reduced[k] * reduced[k]; })) continue;
    reduced[k - 1] *= reduced[k];
    reduced.erase(reduced.begin() + static_cast<std::ptrdiff_t>(k));
    for (Factor& f : factors) {
      f.reduced[k - 1] = f.reduced[k];
      f.reduced.erase(f.reduced.begin() + static_cast<std::ptrdiff_t>(k));
    }
  }
}

/// Of the element at `flat` in C order.
inline std::int64_t strided_offset(const Extents& extents, const Extents& strides, std::int64_t flat) {
  std::int64_t at = 0;
  for (std::size_t k = extents.size(); k-- > 0; flat /= extents[k]) at += flat % extents[k] * strides[k];
  return at;
}

}  // namespace erx
