#include "eval/index_pattern.hpp"
#include "ir/ieee.hpp"

#include <algorithm>
#include <cmath>

namespace erx {
namespace {

struct Run {
  std::int64_t start, stop;
};

std::vector<Run> runs_of(const std::vector<std::int64_t>& used) {
  std::vector<Run> runs;
  for (const std::int64_t i : used) {
    if (!runs.empty() && runs.back().stop == i) ++runs.back().stop;
    else runs.push_back({i, i + 1});
  }
  return runs;
}

/// The distance of runs of one width that follow each other evenly; only the last may be cut off by the end of the axis. 0: they do not.
std::int64_t period_of(const std::vector<Run>& runs, std::int64_t extent) {
  if (runs.size() < 3) return 0;
  const std::int64_t width = runs[0].stop - runs[0].start, period = runs[1].start - runs[0].start;
  for (std::size_t k = 1; k < runs.size(); ++k) {
    if (runs[k].start - runs[k - 1].start != period) return 0;
    const bool cut = k + 1 == runs.size() && runs[k].stop == extent && runs[k].stop - runs[k].start < width;
    if (runs[k].stop - runs[k].start != width && !cut) return 0;
  }
  return period;
}

std::string text_of(const Run& r) {
  return r.stop - r.start == 1 ? std::to_string(r.start) : std::to_string(r.start) + " to " + std::to_string(r.stop - 1);
}

std::string list(const std::vector<Run>& runs) {
  std::string text;
  for (std::size_t k = 0; k < runs.size(); ++k) text += (k == 0 ? "" : k + 1 == runs.size() ? " and " : ", ") + text_of(runs[k]);
  return text;
}

double log_choose(double n, double k) { return std::lgamma(n + 1) - std::lgamma(k + 1) - std::lgamma(n - k + 1); }

}  // namespace

std::string axis_word(std::size_t axis, std::size_t rank, bool plural) {
  if (rank >= 2 && axis + 2 == rank) return plural ? "rows" : "row";
  if (rank >= 2 && axis + 1 == rank) return plural ? "columns" : "column";
  return plural ? "indices" : "index";
}

std::string axis_suffix(std::size_t axis, std::size_t rank) { return rank > 2 ? " (axis " + std::to_string(axis) + ")" : ""; }

std::optional<IndexPattern> pattern_of(std::size_t axis, std::size_t rank, std::int64_t extent, const std::vector<std::int64_t>& used, std::int64_t count) {
  const std::int64_t n = static_cast<std::int64_t>(used.size());
  if (n == 0 || n == extent) return {};
  const std::vector<Run> runs = runs_of(used);
  const double size = static_cast<double>(extent);
  IndexPattern p{"", used.front(), used.back() + 1, 0, n};
  double patterns = std::log(size);  // of this kind, as a logarithm
  // A run with a few gaps is a run: its share tells.
  const bool run = runs.size() == 1 || (n >= 20 && n * 20 >= (p.stop - p.start) * 19);
  if (run && p.start == 0 && p.stop == extent) return {};
  if (n == 1) {
    p.text = axis_word(axis, rank, false) + " " + std::to_string(p.start);
  } else if (run) {
    p.indices = p.stop - p.start;
    p.text = axis_word(axis, rank, true) + (p.stop == extent ? " from " + std::to_string(p.start) + " on" : " " + text_of({p.start, p.stop}));
    patterns *= p.stop == extent ? 1 : 2;
  } else if ((p.period = period_of(runs, extent)) != 0) {
    p.text = axis_word(axis, rank, true) + " " + text_of(runs[0]) + ", " + text_of(runs[1]) + ", ..., " + text_of(runs.back()) + " (period " + std::to_string(p.period) + ")";
    patterns *= 3;
  } else if (runs.size() <= 6) {
    p.text = axis_word(axis, rank, true) + " " + list(runs);
    patterns = std::min(log_choose(size, static_cast<double>(n)), log_choose(size, 2 * static_cast<double>(runs.size())) + std::log(2));
  } else if (n * 4 < extent) {
    p.text = std::to_string(n) + " of " + std::to_string(extent) + " " + axis_word(axis, rank, true);
    patterns = log_choose(size, static_cast<double>(n));
  } else {
    return {};
  }
  const double chance = patterns + static_cast<double>(count) * std::log(static_cast<double>(p.indices) / size);
  if (chance > std::log(1e-3)) return {};
  p.text += axis_suffix(axis, rank);
  return p;
}

}  // namespace erx
