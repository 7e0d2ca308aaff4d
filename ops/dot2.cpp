#include "ops/dot2.hpp"

#include <cmath>

#include "ops/clones.hpp"


namespace erx {

ERX_VECTOR_CLONES Doubled dot2_pair(const double* a, const double* b, std::size_t n) {
  constexpr std::size_t lanes = 16;
  double sum[lanes] = {}, error[lanes] = {};
  std::size_t i = 0;
  for (; i + lanes <= n; i += lanes) {
    for (std::size_t l = 0; l < lanes; ++l) {
      const double p = a[i + l] * b[i + l], product_error = std::fma(a[i + l], b[i + l], -p);
      const double s = sum[l] + p, t = s - sum[l];
      error[l] += ((sum[l] - (s - t)) + (p - t)) + product_error;
      sum[l] = s;
    }
  }
  double total = 0, rest = 0;
  const auto add = [&](double p) {
    const double s = total + p, t = s - total;
    rest += (total - (s - t)) + (p - t);
    total = s;
  };
  for (; i < n; ++i) {
    const double p = a[i] * b[i];
    rest += std::fma(a[i], b[i], -p);
    add(p);
  }
  for (std::size_t l = 0; l < lanes; ++l) {
    add(sum[l]);
    rest += error[l];
  }
  const double high = total + rest, t = high - total;
  return {high, (total - (high - t)) + (rest - t)};
}

bool rounds_to_high(const Doubled& x, double error) {
  const double size = std::fabs(x.high);
  if (!(size > 0x1p-1000 && size < 0x1p1000)) return false;
  const double above = std::nextafter(size, 0x1p1023) - size, below = size - std::nextafter(size, 0.0);
  const double low = x.high < 0 ? -x.low : x.low, reach = error * (1 + 0x1p-50);
  // Half a spacing is a double; sums of this size err by less than the margin.
  constexpr double margin = 1 - 0x1p-50;
  return low + reach < above / 2 * margin && reach - low < below / 2 * margin;
}

}  // namespace erx
