#include "eval/profile.hpp"
#include "ir/ieee.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace erx {
namespace {

using Values = std::vector<double>;

std::size_t last_used(const Values& p) {
  std::size_t end = p.size();
  while (end > 0 && p[end - 1] == 0) --end;
  return end;
}

struct Line {
  double slope = 0, explained = 0, t = 0;  // explained: share of the variance; t: slope in units of its own deviation
};

Line line_through(const double* y, std::size_t n) {
  double mx = 0, my = 0, xx = 0, yy = 0, xy = 0;
  for (std::size_t i = 0; i < n; ++i) mx += static_cast<double>(i), my += y[i];
  mx /= static_cast<double>(n), my /= static_cast<double>(n);
  for (std::size_t i = 0; i < n; ++i) {
    const double dx = static_cast<double>(i) - mx, dy = y[i] - my;
    xx += dx * dx, yy += dy * dy, xy += dx * dy;
  }
  if (xx == 0 || yy == 0) return {};
  const double explained = xy * xy / (xx * yy);
  return {xy / xx, explained, std::sqrt(explained * static_cast<double>(n - 2) / std::max(1 - explained, 1e-12))};
}

/// Does it start high and fall steadily until it is (nearly) gone? Returns the number of places in which it does.
std::size_t falls(const double* y, std::size_t n) {
  const double top = *std::max_element(y, y + n), low = *std::min_element(y, y + n);
  std::size_t length = 1;
  while (length < n && y[length] > top / 20) ++length;
  if (length < 3) return 0;
  const std::size_t head = std::max<std::size_t>(1, length / 8);
  if (*std::max_element(y, y + head) < top - (top - low) / 8 || top - y[length - 1] < 0.5) return 0;
  const Line line = line_through(y, length);
  const double wanted = length < 6 ? 2.5 : 5;
  return line.slope < 0 && line.explained > 0.66 && line.t > wanted ? length : 0;
}

/// The mean of p over the blocks of `period` from `start`.
Values folded(const Values& p, std::size_t start, std::size_t end, std::size_t period) {
  Values sum(period, 0), count(period, 0);
  for (std::size_t i = start; i < end; ++i) sum[(i - start) % period] += p[i], count[(i - start) % period] += 1;
  for (std::size_t k = 0; k < period; ++k) sum[k] /= std::max(count[k], 1.0);
  return sum;
}

/// How much of the changes of p between start and end a saw explains that falls from one multiple of `period` to the next.
Line saw(const Values& p, std::size_t start, std::size_t end, std::size_t period) {
  const double n = static_cast<double>(end - start);
  double mx = 0, my = 0, xx = 0, yy = 0, xy = 0;
  std::size_t phase = 0;
  for (std::size_t i = start; i < end; ++i, phase = phase + 1 == period ? 0 : phase + 1) {
    const double x = static_cast<double>(phase);
    mx += x, my += p[i], xx += x * x, yy += p[i] * p[i], xy += x * p[i];
  }
  xx -= mx * mx / n, yy -= my * my / n, xy -= mx * my / n;
  if (xx <= 0 || yy <= 0) return {};
  const double explained = std::min(xy * xy / (xx * yy), 1.0);
  return {xy / xx, explained, std::sqrt(explained * (n - 2) / std::max(1 - explained, 1e-12))};
}

/// The periods that are tried: all, or, where that would cost too much, those that end where the distances start.
std::vector<std::size_t> candidates(std::size_t start, std::size_t n) {
  std::vector<std::size_t> periods;
  for (std::size_t period = 4; period * 5 <= n * 4; ++period) {
    const bool power = (period & (period - 1)) == 0;
    if (n <= 1 << 13 || (start > 0 ? start % period == 0 : power)) periods.push_back(period);
  }
  return periods;
}

/// The period whose saw explains most. 0: none does by more than chance, or than one fall along the whole.
std::size_t reset_period(const Values& p, std::size_t start, std::size_t end) {
  end = std::min(end, start + (std::size_t{1} << 18));  // a longer line shows its period there
  const Line whole = saw(p, start, end, end - start);
  std::size_t best = 0;
  Line most, own;
  for (const std::size_t period : candidates(start, end - start)) {
    const Line line = saw(p, start, end, period);
    if (line.slope >= 0) continue;
    if (period == start) own = line;
    if (line.explained > most.explained) most = line, best = period;
  }
  if (most.t < 7 || (whole.slope < 0 && most.explained < whole.explained + 0.1)) return 0;
  return own.explained > most.explained - 0.03 ? start : best;  // the first block is right: it has the length of the others
}

/// Do the rises at the resets stand out? What changes slowly has a saw that explains much of it, but no edges.
bool has_edges(const Values& p, std::size_t start, std::size_t end, std::size_t period, double drop) {
  double at = 0, all = 0, squares = 0, resets = 0, square_at = 0;
  for (std::size_t i = start + 1; i < end; ++i) {
    const double r = p[i] - p[i - 1];
    all += r, squares += r * r;
    if ((i - start) % period == 0) at += r, square_at += r * r, resets += 1;
  }
  const double others = static_cast<double>(end - start - 1) - resets;
  if (resets == 0 || others < 3) return false;
  const double mean = at / resets, other = (all - at) / others;
  const double deviation = std::sqrt(std::max((squares - square_at) / others - other * other, 0.0)) + 1e-9;
  return mean > 0.4 * drop && (mean - other) * std::sqrt(resets) > 3 * deviation;
}

std::optional<Decay> forward_decay(const Values& p, const Values& bits, const std::vector<std::int64_t>& hits) {
  const std::size_t end = last_used(p);
  if (end == 0) return {};
  const double top = *std::max_element(p.begin(), p.end());
  std::size_t start = 0;
  while (p[start] < top / 10) ++start;  // a few stray violations before do not move it
  if (end - start < 8) return {};
  Decay decay;
  std::size_t period = reset_period(p, start, end), length = 0;
  if (period) {
    const Values shape = folded(p, start, end, period);
    length = falls(shape.data(), period);
    if (!length || !has_edges(p, start, end, period, shape[0] - shape[length - 1])) period = 0;
  }
  if (!period) {
    length = falls(p.data() + start, end - start);
    if (length < 8) return {};
  }
  // Means over the violations themselves, at the first and the last place of all decays.
  const auto mean = [&](std::size_t phase) {
    double sum = 0, count = 0;
    for (std::size_t i = start + phase; i < end; i += period ? period : end) sum += bits[i], count += static_cast<double>(hits[i]);
    return count > 0 ? sum / count : 0.0;
  };
  decay.start = static_cast<std::int64_t>(start);
  decay.period = static_cast<std::int64_t>(period);
  decay.length = static_cast<std::int64_t>(length);
  decay.resets = period ? static_cast<std::int64_t>((end - 1 - start) / period) : 0;
  decay.from = mean(0), decay.to = mean(length - 1);
  if (decay.from - decay.to < 0.5 || (!period && decay.from - decay.to < 3)) return {};
  return decay;
}

Values mean_distance(const AxisCount& axis) {
  const double slice = static_cast<double>(std::max<std::int64_t>(1, *std::max_element(axis.hits.begin(), axis.hits.end())));
  Values p = axis.bits;
  for (double& x : p) x /= slice;
  return p;
}

}  // namespace

std::optional<Decay> decay_of(const AxisCount& axis) {
  if (axis.hits.size() < 8) return {};
  Values p = mean_distance(axis);
  if (const auto decay = forward_decay(p, axis.bits, axis.hits)) return decay;
  AxisCount turned = axis;
  std::reverse(p.begin(), p.end());
  std::reverse(turned.bits.begin(), turned.bits.end());
  std::reverse(turned.hits.begin(), turned.hits.end());
  auto decay = forward_decay(p, turned.bits, turned.hits);
  if (!decay) return {};
  decay->backward = true;
  decay->start = static_cast<std::int64_t>(p.size()) - 1 - decay->start;
  return decay;
}

std::int64_t repeat_of(const AxisCount& axis) {
  if (axis.used.empty()) return 0;
  const std::size_t start = static_cast<std::size_t>(axis.used.front()), end = static_cast<std::size_t>(axis.used.back()) + 1, n = end - start;
  if (n < 12 || n > 1 << 13) return 0;  // the search costs the square of the length
  const Values p = mean_distance(axis);
  double mean = 0, all = 0;
  for (std::size_t i = start; i < end; ++i) mean += p[i] / static_cast<double>(n);
  for (std::size_t i = start; i < end; ++i) all += (p[i] - mean) * (p[i] - mean);
  const auto [low, high] = std::minmax_element(p.begin() + static_cast<std::ptrdiff_t>(start), p.begin() + static_cast<std::ptrdiff_t>(end));
  if (*high - *low < 0.5) return 0;  // even, within half a binade
  Values explained(n / 3 + 1, -1);
  for (std::size_t period = 2; period <= n / 3; ++period) {
    const Values shape = folded(p, start, end, period);
    double rest = 0;
    for (std::size_t i = start; i < end; ++i) rest += (p[i] - shape[(i - start) % period]) * (p[i] - shape[(i - start) % period]);
    explained[period] = 1 - rest / static_cast<double>(n - period) / (all / static_cast<double>(n - 1));
  }
  const double best = *std::max_element(explained.begin(), explained.end());
  if (best < 0.8) return 0;
  std::size_t period = 2;
  while (explained[period] < best - 0.05) ++period;
  return static_cast<std::int64_t>(period);
}

}  // namespace erx
