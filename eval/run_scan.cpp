// Linear recurrences, line by line; what the bulk tier leaves open of a line in one order climbs with the whole line.
#include <algorithm>

#include "eval/engine.hpp"
#include "eval/ladder.hpp"
#include "eval/parallel.hpp"
#include "eval/scan_node.hpp"
#include "eval/scan_tiles.hpp"

namespace erx {

ScanNode scan_node(const Graph& graph, NodeId id) {
  const Node& node = graph[id];
  ScanNode scan;
  scan.node = id;
  scan.rule = scan_rule(node.attributes);
  const auto axis = static_cast<std::size_t>(node.attributes.axes.at(0));
  const Extents all = extents_of(node.shape);
  scan.steps = all[axis];
  scan.lines = all;
  scan.lines.erase(scan.lines.begin() + static_cast<std::ptrdiff_t>(axis));
  const bool reverse = node.attributes.reverse;
  const auto read = [&](NodeId operand, bool has_axis) {
    const Extents own = extents_of(graph[operand].shape), strides = contiguous_strides(own), &shape = has_axis ? all : scan.lines;
    ScanNode::Read r{operand, Extents(shape.size(), 0), 0, 0};
    const std::size_t shift = shape.size() - own.size();
    for (std::size_t k = 0; k < own.size(); ++k) r.strides[k + shift] = own[k] == 1 ? 0 : strides[k];
    if (!has_axis) return r;
    r.step = reverse ? -r.strides[axis] : r.strides[axis];
    r.first = reverse ? r.strides[axis] * std::max<std::int64_t>(scan.steps - 1, 0) : 0;
    r.strides.erase(r.strides.begin() + static_cast<std::ptrdiff_t>(axis));
    return r;
  };
  scan.a = read(node.operands[0], true);
  scan.b = read(node.operands[1], true);
  if (node.operands.size() > 2) scan.init = read(node.operands[2], false);
  scan.out = read(id, true);
  // Short lines get the hull over all trees; the choice depends on shapes only.
  const double lines = std::max<double>(1, static_cast<double>(size_of(scan.lines))), n = static_cast<double>(scan.steps);
  const double budget = scan.rule.format.precision() > 32 ? 1 << 16 : 1 << 21;
  if (lines * n * n * n <= budget) scan.rule.hull_steps = std::max(scan.rule.hull_steps, scan.steps);
  else if (lines * n * n * n > 16 * budget) scan.rule.hull_steps = 0;
  return scan;
}

Stored run_scan(Engine& engine, NodeId id) {
  const ScanNode scan = scan_node(engine.graph(), id);
  const Node& node = engine.graph()[id];
  Stored s;
  s.tensor.type = node.type;
  s.tensor.extents = extents_of(node.shape);
  const auto size = static_cast<std::size_t>(s.tensor.size());
  const auto array = [&] { return std::make_shared<Doubles>(size); };
  Plane p{array(), nullptr, nullptr, array(), std::make_shared<FlagBytes>(size)};
  p.lo_u = p.lo_d;
  p.hi_d = p.hi_u;
  const bool forced = engine.options().lowest != EvaluateOptions::Tier::f64;
  std::atomic<std::int64_t> big{0}, exact{0}, open{0};
  const auto run_line = [&](std::int64_t line) {
    std::vector<Climbed> states;
    if (!forced) states = scan_in_float64(engine, scan, line);
    if (forced || std::any_of(states.begin(), states.end(), [](const Climbed& c) { return c.flags & undecided; })) states = climb_line(engine, scan, line);
    std::int64_t at = scan.out.at(scan.lines, line);
    for (const Climbed& c : states) {
      const auto i = static_cast<std::size_t>(at);
      (*p.lo_d)[i] = c.flags & no_reals ? 0 : c.lo;
      (*p.hi_u)[i] = c.flags & no_reals ? 0 : c.hi;
      (*p.flags)[i] = c.flags;
      big += c.by == Climbed::By::big;
      exact += c.by == Climbed::By::exact;
      open += c.by == Climbed::By::open;
      at += scan.out.step;
    }
  };
  if (!forced && is_scan_of_tiles(scan)) {
    run_scan_tiles(engine, scan, p, run_line);
  } else {
    const std::int64_t lines = scan.steps > 0 ? size_of(scan.lines) : 0;
    const std::int64_t block = std::clamp<std::int64_t>((1 << 12) / std::max<std::int64_t>(scan.steps, 1), 1, 4096);
    parallel_blocks((lines + block - 1) / block, engine.options(), [&](std::int64_t k) {
      for (std::int64_t line = k * block; line < std::min(lines, (k + 1) * block); ++line) {
        stop_if_asked(engine.options());
        run_line(line);
      }
    });
  }
  engine.counters.bulk += static_cast<std::int64_t>(size) - big - exact - open;
  engine.counters.big += big;
  engine.counters.exact += exact;
  engine.counters.open += open;
  s.is_point = !engine.graph().has_freedom(id) && *p.lo_d == *p.hi_u;
  s.tensor.planes = {std::move(p)};
  finish(s);
  return s;
}

}  // namespace erx
