#include "eval/locate.hpp"

#include <algorithm>

#include "ir/ieee.hpp"

namespace erx {
namespace {

std::string axis_name(std::size_t axis, std::size_t rank, bool plural) {
  if (rank == 1) return plural ? "indices" : "index";
  if (rank >= 2 && axis + 2 == rank) return plural ? "rows" : "row";
  if (rank >= 2 && axis + 1 == rank) return plural ? "columns" : "column";
  return plural ? "indices" : "index";
}

std::string suffix(std::size_t axis, std::size_t rank) { return rank > 2 ? " (axis " + std::to_string(axis) + ")" : ""; }

std::string list(const std::vector<std::int64_t>& items) {
  std::string text;
  for (std::size_t k = 0; k < items.size(); ++k) text += (k == 0 ? "" : k + 1 == items.size() ? " and " : ", ") + std::to_string(items[k]);
  return text;
}

std::string count_of(std::int64_t part, std::int64_t whole) { return std::to_string(part) + " of " + std::to_string(whole); }

/// What one axis shows, or "".
std::string axis_finding(const Extents& extents, const std::vector<std::int64_t>& outside, std::size_t axis) {
  const std::int64_t extent = extents[axis], slice = size_of(extents) / extent;
  std::int64_t below = 1;
  for (std::size_t k = axis + 1; k < extents.size(); ++k) below *= extents[k];
  std::vector<std::int64_t> hits(static_cast<std::size_t>(extent), 0), used;
  for (const std::int64_t flat : outside) ++hits[static_cast<std::size_t>(flat / below % extent)];
  bool full = true;
  for (std::int64_t i = 0; i < extent; ++i) {
    const std::int64_t n = hits[static_cast<std::size_t>(i)];
    if (n > 0) used.push_back(i);
    if (n > 0 && n < slice) full = false;
  }
  const std::int64_t n = static_cast<std::int64_t>(used.size());
  if (n == extent || extent == 1) return "";
  const std::string where = suffix(axis, extents.size()), every = full ? "every element of " : "only in ";
  if (n == 1) return every + axis_name(axis, extents.size(), false) + " " + std::to_string(used[0]) + where;
  const bool run = used.back() - used.front() + 1 == n;
  if (run && used.back() == extent - 1)
    return every + axis_name(axis, extents.size(), true) + " from " + std::to_string(used.front()) + " on" + where;
  if (run) return every + axis_name(axis, extents.size(), true) + " " + std::to_string(used.front()) + " to " + std::to_string(used.back()) + where;
  const std::int64_t period = used[1] - used[0];
  bool periodic = n > 2 && period > 1;
  for (std::size_t k = 1; k < used.size(); ++k) periodic &= used[k] - used[k - 1] == period;
  if (periodic)
    return every + axis_name(axis, extents.size(), true) + " " + std::to_string(used[0]) + ", " + std::to_string(used[1]) + ", ... (period " +
           std::to_string(period) + ")" + where;
  if (n <= 6) return every + axis_name(axis, extents.size(), true) + " " + list(used) + where;
  if (n * 4 < extent) return "only in " + count_of(n, extent) + " " + axis_name(axis, extents.size(), true) + where;
  return "";
}

}  // namespace

std::vector<std::string> locate(const Extents& extents, const std::vector<std::int64_t>& outside, std::int64_t checked) {
  std::vector<std::string> found;
  if (outside.empty()) return found;
  const std::int64_t n = static_cast<std::int64_t>(outside.size());
  if (n == checked) {
    found.push_back("every element checked");
    return found;
  }
  for (std::size_t axis = 0; axis < extents.size(); ++axis) {
    const std::string finding = axis_finding(extents, outside, axis);
    if (!finding.empty()) found.push_back(finding);
  }
  if (found.empty()) found.push_back(n == 1 ? "a single element" : "scattered over the whole tensor");
  return found;
}

}  // namespace erx
