#include "eval/picture.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "eval/number_text.hpp"

namespace erx {
namespace {

std::int64_t ceil_div(std::int64_t a, std::int64_t b) { return (a + b - 1) / b; }

/// So many that at most `most` bins cover the extent; a divisor of the extent where one is near, so that bins and blocks fit together.
std::int64_t bin_of(std::int64_t extent, std::int64_t most) {
  const std::int64_t least = ceil_div(extent, most);
  for (std::int64_t bin = least; bin < 2 * least; ++bin)
    if (extent % bin == 0) return bin;
  return least;
}

}  // namespace

Picture picture_of(const ResultReport& r, const PictureLimits& limits) {
  Picture p;
  const std::size_t rank = r.extents.size();
  if (rank >= 1) p.columns = r.extents[rank - 1];
  if (rank >= 2) p.rows = r.extents[rank - 2];
  const Extents leading(r.extents.begin(), r.extents.begin() + static_cast<std::ptrdiff_t>(rank >= 2 ? rank - 2 : 0));
  const std::int64_t planes = size_of(leading), plane = p.rows * p.columns;
  if (planes * plane == 0) return p;
  p.row_bin = bin_of(p.rows, limits.rows), p.column_bin = bin_of(p.columns, limits.columns);
  p.cell_rows = ceil_div(p.rows, p.row_bin), p.cell_columns = ceil_div(p.columns, p.column_bin);
  const std::int64_t together = ceil_div(planes, limits.panels), cells = p.cell_rows * p.cell_columns;
  for (std::int64_t first = 0; first < planes; first += together) {
    const std::int64_t last = std::min(first + together, planes) - 1;
    std::string title = index_text(unravel(first, leading));
    if (last > first) title += " to " + index_text(unravel(last, leading));
    p.panels.push_back({planes == 1 ? "" : title, std::vector<float>(static_cast<std::size_t>(cells), 0)});
  }
  std::vector<double> bits(static_cast<std::size_t>(p.cell_columns), 0), hits = bits;
  for (std::size_t k = 0; k < r.outside.size(); ++k) {
    const std::int64_t flat = r.outside[k], in_plane = flat % plane;
    const std::int64_t row = in_plane / p.columns / p.row_bin, column = in_plane % p.columns / p.column_bin;
    float& cell = p.panels[static_cast<std::size_t>(flat / plane / together)].cells[static_cast<std::size_t>(row * p.cell_columns + column)];
    const float d = r.distances[k];
    cell = std::max(cell, d);
    if (std::isinf(d)) {
      p.has_special = true;
      continue;
    }
    p.largest = std::max(p.largest, static_cast<double>(d));
    bits[static_cast<std::size_t>(column)] += std::log2(1 + static_cast<double>(d));
    hits[static_cast<std::size_t>(column)] += 1;
  }
  p.smallest = p.largest;
  for (const Panel& panel : p.panels)
    for (const float d : panel.cells)
      if (d > 0 && !std::isinf(d)) p.smallest = std::min(p.smallest, static_cast<double>(d));
  for (std::size_t c = 0; c < bits.size(); ++c) p.by_column.push_back(hits[c] > 0 ? bits[c] / hits[c] : std::numeric_limits<double>::quiet_NaN());
  return p;
}

}  // namespace erx
