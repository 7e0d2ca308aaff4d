#include "eval/locate.hpp"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <numeric>

#include "eval/index_pattern.hpp"
#include "eval/number_text.hpp"
#include "eval/profile.hpp"
#include "ir/ieee.hpp"

namespace erx {
namespace {

/// Two significant digits of 2^bits - 1: these are means.
std::string ulps_text(double bits) {
  const double x = std::exp2(bits) - 1;
  if (x > 9e15) return "infinitely many";
  const double unit = x < 10 ? 1 : std::pow(10, std::floor(std::log10(x)) - 1);
  return grouped(static_cast<std::int64_t>(std::llround(x / unit) * static_cast<std::int64_t>(unit)));
}

std::string percent(double share) {
  char text[16];
  std::snprintf(text, sizeof text, share > 0.9 || share < 0.1 ? "%.1f %%" : "%.0f %%", 100 * std::min(share, 0.999));
  return text;
}

std::vector<AxisCount> count_axes(const Violations& v) {
  std::vector<AxisCount> axes;
  for (const std::int64_t extent : v.extents) axes.push_back({std::vector<std::int64_t>(static_cast<std::size_t>(extent), 0), std::vector<double>(static_cast<std::size_t>(extent), 0), {}});
  for (std::size_t k = 0; k < v.outside.size(); ++k) {
    const double d = v.distances[k], bits = std::isfinite(d) ? std::log2(1 + d) : 64;
    std::int64_t rest = v.outside[k];
    for (std::size_t axis = axes.size(); axis-- > 0; rest /= v.extents[axis]) {
      const std::size_t i = static_cast<std::size_t>(rest % v.extents[axis]);
      ++axes[axis].hits[i];
      axes[axis].bits[i] += bits;
    }
  }
  for (AxisCount& axis : axes)
    for (std::size_t i = 0; i < axis.hits.size(); ++i)
      if (axis.hits[i] > 0) axis.used.push_back(static_cast<std::int64_t>(i));
  return axes;
}

/// Elements looked at whose index along each axis is in the range of its pattern.
std::int64_t elements_in(const Violations& v, const std::vector<std::optional<IndexPattern>>& patterns, const std::vector<AxisCount>& axes) {
  std::vector<std::vector<bool>> inside;
  std::int64_t product = 1;
  for (std::size_t axis = 0; axis < axes.size(); ++axis) {
    const auto& p = patterns[axis];
    std::vector<bool> in(axes[axis].hits.size(), !p);
    if (p && p->indices == p->stop - p->start) std::fill(in.begin() + p->start, in.begin() + p->stop, true);
    else if (p)
      for (const std::int64_t i : axes[axis].used) in[static_cast<std::size_t>(i)] = true;
    product *= std::count(in.begin(), in.end(), true);
    inside.push_back(std::move(in));
  }
  if (v.mask.empty()) return product;
  std::int64_t count = 0;
  for (std::size_t e = 0; e < v.mask.size(); ++e) {
    if (!v.mask[e]) continue;
    std::int64_t rest = static_cast<std::int64_t>(e);
    bool in = true;
    for (std::size_t axis = axes.size(); axis-- > 0; rest /= v.extents[axis]) in = in && inside[axis][static_cast<std::size_t>(rest % v.extents[axis])];
    count += in;
  }
  return count;
}

/// "every element of ", "97.1 % of the elements of ", or "only in .. (12 % of the elements there)".
std::string there(const std::string& place, double share) {
  if (share >= 1) return "every element of " + place;
  if (share >= 0.9) return percent(share) + " of the elements of " + place;
  return "only in " + place + " (" + percent(share) + " of the elements there)";
}

/// The box that the patterns of all axes make.
std::vector<Finding> find_box(const Violations& v, const std::vector<AxisCount>& axes) {
  std::vector<std::optional<IndexPattern>> patterns;
  std::vector<std::size_t> with;
  for (std::size_t axis = 0; axis < axes.size(); ++axis) {
    // Slices that are outside as a whole are no chance, however many there are.
    const std::int64_t slice = size_of(v.extents) / v.extents[axis];
    const bool whole = slice >= 4 && std::all_of(axes[axis].hits.begin(), axes[axis].hits.end(), [&](std::int64_t hits) { return hits == 0 || hits == slice; });
    patterns.push_back(pattern_of(axis, axes.size(), v.extents[axis], axes[axis].used, whole ? std::int64_t{1} << 40 : std::ssize(v.outside)));
    if (patterns.back()) with.push_back(axis);
  }
  if (with.empty()) return {};
  const double share = static_cast<double>(v.outside.size()) / static_cast<double>(std::max<std::int64_t>(1, elements_in(v, patterns, axes)));
  std::vector<Finding> found;
  std::string places;
  for (const std::size_t axis : with) {
    const IndexPattern& p = *patterns[axis];
    if (with.size() == 1) return {{"axis", there(p.text, share), static_cast<int>(axis), p.start, p.stop, p.period, share}};
    places += (axis == with.front() ? "" : axis == with.back() ? " and " : ", ") + p.text;
    found.push_back({"axis", "", static_cast<int>(axis), p.start, p.stop, p.period, share});
  }
  found.insert(found.begin(), {"block", there("the block of " + places, share), -1, -1, -1, 0, share});
  return found;
}

/// Most violations fill some slices, and a few lie elsewhere.
std::optional<Finding> find_dense(const Violations& v, const std::vector<AxisCount>& axes) {
  if (!v.mask.empty()) return {};
  for (std::size_t axis = 0; axis < axes.size(); ++axis) {
    const std::int64_t extent = v.extents[axis], slice = size_of(v.extents) / extent;
    std::vector<std::int64_t> dense;
    std::int64_t in = 0;
    for (const std::int64_t i : axes[axis].used) {
      if (axes[axis].hits[static_cast<std::size_t>(i)] * 10 < slice * 9) continue;
      dense.push_back(i);
      in += axes[axis].hits[static_cast<std::size_t>(i)];
    }
    const std::int64_t n = std::ssize(v.outside), size = std::ssize(dense);
    if (slice < 4 || size == 0 || size * 2 > extent || in * 5 < n * 4) continue;
    const auto p = pattern_of(axis, axes.size(), extent, dense, in);
    if (!p) continue;
    return Finding{"axis", there(p->text, static_cast<double>(in) / static_cast<double>(slice * size)) + ", and " + grouped(n - in) + " elsewhere", static_cast<int>(axis), p->start, p->stop, p->period,
                   static_cast<double>(in) / static_cast<double>(slice * size)};
  }
  return {};
}

/// Diagonals of the last two axes (column - row), and the triangles beside one.
std::optional<Finding> find_diagonal(const Violations& v, const std::vector<AxisCount>& axes) {
  const std::size_t rank = v.extents.size();
  if (rank < 2 || !v.mask.empty()) return {};
  const std::int64_t rows = v.extents[rank - 2], columns = v.extents[rank - 1], n = std::ssize(v.outside);
  if (rows < 4 || columns < 4) return {};
  std::vector<std::int64_t> hits(static_cast<std::size_t>(rows + columns - 1), 0);
  for (const std::int64_t flat : v.outside) ++hits[static_cast<std::size_t>(flat % columns - flat / columns % rows + rows - 1)];
  std::int64_t planes = 1;
  std::string of_planes;
  for (std::size_t axis = 0; axis + 2 < rank; ++axis) {
    const auto p = pattern_of(axis, rank, v.extents[axis], axes[axis].used, n);
    planes *= p ? p->indices : v.extents[axis];
    if (p) of_planes += (of_planes.empty() ? " of " : ", ") + p->text;
  }
  const auto length = [&](std::int64_t d) { return std::max<std::int64_t>(0, std::min(rows, columns - d) - std::max<std::int64_t>(0, -d)); };
  const auto name = [](std::int64_t d) { return d == 0 ? std::string("column = row") : "column = row " + std::string(d > 0 ? "+ " : "- ") + std::to_string(std::abs(d)); };
  std::vector<std::int64_t> used;
  for (std::int64_t d = 1 - rows; d < columns; ++d)
    if (hits[static_cast<std::size_t>(d + rows - 1)] > 0) used.push_back(d);
  const std::int64_t low = used.front(), high = used.back();
  if (used.size() <= 2 && n >= 4) {
    double chance = 2 * std::log(static_cast<double>(rows + columns)), all = 0, size = 0;
    for (const std::int64_t d : used) all += static_cast<double>(length(d)), size += static_cast<double>(length(d) * planes);
    chance += static_cast<double>(n) * std::log(all / static_cast<double>(rows * columns));
    const double share = static_cast<double>(n) / size;
    if (chance > std::log(1e-3)) return {};
    const std::string place = (used.size() == 1 ? "the diagonal " : "the diagonals ") + name(low) + (used.size() == 1 ? "" : " and " + name(high)) + of_planes;
    return Finding{"diagonal", there(place, share), -1, low, high + 1, 0, share};
  }
  for (const bool above : {true, false}) {
    const std::int64_t from = above ? low : 1 - rows, to = above ? columns - 1 : high;
    std::int64_t size = 0;
    for (std::int64_t d = from; d <= to; ++d) size += length(d) * planes;
    if (n < 16 || size * 10 > rows * columns * planes * 9 || n * 10 < size * 9) continue;
    const std::int64_t edge = above ? low : high;
    const std::string name = std::string("the triangle column ") + (above ? ">= " : "<= ") + "row" + (edge == 0 ? "" : (edge > 0 ? " + " : " - ") + std::to_string(std::abs(edge))) + of_planes;
    const double share = static_cast<double>(n) / static_cast<double>(size);
    return Finding{"triangle", there(name, share), -1, from, to + 1, 0, share};
  }
  return {};
}

/// What a decay along an axis means: a fact, and where it fits, a cause.
void append_decay(std::vector<Finding>& found, const Violations& v, std::size_t axis, const Decay& d) {
  const std::size_t rank = v.extents.size();
  const std::int64_t extent = v.extents[axis];
  const std::string one = axis_word(axis, rank, false), many = axis_word(axis, rank, true), suffix = axis_suffix(axis, rank);
  const std::string start = std::to_string(d.start), magnitudes = ", from about " + ulps_text(d.from) + " ulps to about " + ulps_text(d.to);
  Finding fact{"decay", "", static_cast<int>(axis), d.start, -1, d.period, 0};
  fact.text = (d.backward ? "last violation in " : "first violation in ") + one + " " + start + suffix + "; ";
  if (d.period)
    fact.text += "the distance repeats with period " + std::to_string(d.period) + " and decays within each block" + (d.backward ? ", toward the start" : "") + magnitudes;
  else
    fact.text += std::string("the distance is largest there and decays ") + (d.backward ? "toward the start" : "behind it") + magnitudes;
  found.push_back(fact);
  if (d.from < 4) return;  // fifteen ulps
  const std::int64_t before = d.backward ? extent - 1 - d.start : d.start;  // what is right
  const std::string from_end = d.backward ? " (the scan runs from the end)" : "";
  std::string cause;
  if (before == 0 && d.period)
    cause = "consistent with a wrong state at the start of each block, not with rounding: blocks of " + std::to_string(d.period) + " " + many + from_end;
  else if (before == 0)  // what becomes smaller along the axis, but does not die out, may have any reason
    cause = d.length == extent ? "" : "consistent with a wrong state at the " + std::string(d.backward ? "end" : "start") + ", not with rounding";
  else if (d.period && before % d.period == 0)
    cause = "consistent with a lost carry, not with rounding: blocks of " + std::to_string(d.period) + " " + many + " that start without the state of the one before" + from_end;
  else if (!d.period)
    cause = "consistent with a lost carry, not with rounding: the state before " + one + " " + start + " is missing" + from_end;
  if (!cause.empty()) found.push_back({"cause", cause, static_cast<int>(axis), d.start, -1, d.period, 0});
}

}  // namespace

std::vector<Finding> locate(const Violations& v) {
  const std::int64_t n = std::ssize(v.outside);
  if (n == 0) return {};
  std::vector<Finding> found;
  const std::vector<AxisCount> axes = count_axes(v);
  if (n == v.checked) found.push_back({"everywhere", "every element checked", -1, -1, -1, 0, 1});
  else if (n == 1) return {{"single", "a single element", -1, -1, -1, 0, 0}};
  else found = find_box(v, axes);
  const bool narrow = std::any_of(found.begin(), found.end(), [](const Finding& f) { return f.share >= 0.9; });
  if (!narrow) {
    if (const auto diagonal = find_diagonal(v, axes)) found = {*diagonal};
    else if (const auto dense = find_dense(v, axes)) found = {*dense};
  }
  bool decays = false;
  for (std::size_t axis = 0; axis < axes.size(); ++axis)
    if (const auto decay = decay_of(axes[axis])) append_decay(found, v, axis, *decay), decays = true;
  for (std::size_t axis = 0; axis < axes.size() && !decays; ++axis) {
    const std::int64_t period = repeat_of(axes[axis]);
    const bool said = std::any_of(found.begin(), found.end(), [&](const Finding& f) { return f.period == period && f.axis == static_cast<int>(axis); });
    if (!period || said) continue;
    found.push_back({"period", "the distance repeats with period " + std::to_string(period) + " along the " + axis_word(axis, axes.size(), true) + axis_suffix(axis, axes.size()), static_cast<int>(axis), -1, -1, period, 0});
  }
  const double share = static_cast<double>(n) / static_cast<double>(v.checked);
  if (found.empty() && share >= 0.9) found.push_back({"everywhere", percent(share) + " of all elements checked", -1, -1, -1, 0, share});
  if (found.empty()) found.push_back({"scattered", n <= 6 ? std::to_string(n) + " single elements" : "scattered over the whole tensor", -1, -1, -1, 0, 0});
  return found;
}

}  // namespace erx
