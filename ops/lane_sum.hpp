// Sums kept in lanes, which compilers vectorise: additions have a latency, so several run at a time. The number of lanes is that of the
// code, not of the machine, and so is the order in which they are added at the end.
//   double sum[16] = {};  ... sum[l] += x[i + l];  ...   fold_lanes(sum, [](double a, double b) { return a + b; })
#pragma once
#include <cstddef>

namespace erx {

/// The lanes joined by halves.
template <std::size_t lanes, class Join>
[[gnu::always_inline]] inline double fold_lanes(double (&x)[lanes], const Join& join) {
  static_assert((lanes & (lanes - 1)) == 0);
  for (std::size_t half = lanes / 2; half > 0; half /= 2)
    for (std::size_t l = 0; l < half; ++l) x[l] = join(x[l], x[l + half]);
  return x[0];
}

template <std::size_t lanes>
[[gnu::always_inline]] inline double sum_of_lanes(double (&x)[lanes]) {
  return fold_lanes(x, [](double a, double b) { return a + b; });
}

}  // namespace erx
