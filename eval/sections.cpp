#include "eval/sections.hpp"

#include <algorithm>

#include "eval/engine.hpp"

namespace erx {
namespace {

constexpr std::int64_t mib = std::int64_t{1} << 20;
constexpr std::int64_t small = 48 * mib;    // is evaluated at once
constexpr std::int64_t section = 16 * mib;  // stays near the processors
constexpr std::int64_t half = 48 * mib;     // where much is read whole: for that, and for the section
constexpr std::int64_t most_sections_of_tests = 64;
constexpr std::size_t most_nodes = 1000;  // of a graph that is copied for each section, and for each element that a report looks at again

bool follows(const AxisTrace& t, NodeId id) { return t.axis[id] >= 0; }

Tensor slice(Tensor t, std::size_t axis, std::int64_t first, std::int64_t count) {
  if (t.imag) t.imag = std::make_shared<const Tensor>(slice(*t.imag, axis, first, count));
  t.data += first * t.byte_strides[axis];
  t.extents[axis] = count;
  return t;
}

}  // namespace

Extents Section::extents(const Extents& whole) const {
  Extents e = whole;
  for (const Range& r : ranges) e[r.axis] = r.count;
  return e;
}

namespace {

/// The flat index, in a tensor of extents `to`, of the element that is `flat` in one of extents `from` and lies `shift` further along each axis.
std::int64_t moved(std::int64_t flat, const Extents& from, const Extents& to, const Extents& shift) {
  std::int64_t at = 0, stride = 1;
  for (std::size_t k = from.size(); k-- > 0;) {
    at += (flat % from[k] + shift[k]) * stride;
    flat /= from[k];
    stride *= to[k];
  }
  return at;
}

Extents shift_of(const Section& s, std::size_t rank, std::int64_t sign) {
  Extents shift(rank, 0);
  for (const Range& r : s.ranges) shift[r.axis] = sign * r.first;
  return shift;
}

}  // namespace

std::int64_t Section::place(std::int64_t flat, const Extents& whole) const {
  return is_all() ? flat : moved(flat, extents(whole), whole, shift_of(*this, whole.size(), 1));
}

std::int64_t Section::inside(std::int64_t place, const Extents& whole) const {
  return is_all() ? place : moved(place, whole, extents(whole), shift_of(*this, whole.size(), -1));
}

Tensor Section::of(Tensor t) const {
  for (const Range& r : ranges) t = slice(std::move(t), r.axis, r.first, r.count);
  return t;
}

Sectioning::Sectioning(const Graph& graph, const std::vector<Tensor>& inputs, std::vector<std::size_t> results, const EvaluateOptions& options)
    : graph_(graph), inputs_(inputs), results_(std::move(results)), sections_{Section{}} {
  double all = 0;  // of sizes that nothing has looked at yet
  for (NodeId id = 0; id < graph.size(); ++id) {
    double size = 1;
    for (const std::int64_t extent : extents_of(graph[id].shape)) size *= static_cast<double>(extent);
    all += size;
  }
  if (options.tile == 0 && (16 * all <= static_cast<double>(small) || graph.size() > most_nodes)) return;
  // What would be stored, were it evaluated at once.
  std::vector<std::pair<NodeId, std::int64_t>> stored;
  Engine engine(graph, inputs, options, {});
  for (const std::size_t r : results_)
    for (const NodeId id : engine.to_store(graph.results[r].node)) stored.emplace_back(id, graph.has_freedom(id) ? 2 : 1);
  std::sort(stored.begin(), stored.end());
  stored.erase(std::unique(stored.begin(), stored.end()), stored.end());
  if (options.tile == 0 && bytes(stored, 0, 0) <= small) return;

  const std::size_t rank = graph[graph.results[results_[0]].node].shape.size();
  const auto add = [&](std::size_t axis) {
    std::optional<AxisTrace> trace = trace_axis(graph, results_, axis);
    if (!trace) return false;
    for (const Axis& other : axes_)
      for (NodeId id = 0; id < graph.size(); ++id)
        if (follows(*trace, id) && trace->axis[id] == other.trace.axis[id]) return false;
    axes_.push_back({axis, std::move(*trace)});
    return true;
  };
  std::size_t first = 0;
  while (first < rank && !add(first)) ++first;
  if (axes_.empty()) return;
  for (std::size_t last = rank; last-- > first + 1;)
    if (add(last)) break;
  const std::int64_t n = axes_[0].trace.extent, m = axes_.size() > 1 ? axes_[1].trace.extent : 1;
  if (options.tile > 0) {  // tests: many small ones
    std::int64_t rows = std::min(options.tile, n), columns = std::min(options.tile, m);
    while ((n + rows - 1) / rows * ((m + columns - 1) / columns) > most_sections_of_tests) (rows < n ? rows : columns) *= 2;
    cut(rows, columns);
    return;
  }
  const auto of_row = [&](std::int64_t columns) { return std::max<std::int64_t>(1, bytes(stored, 2, columns) - bytes(stored, 1, columns)); };
  std::int64_t columns = m;
  std::int64_t whole = bytes(stored, 0, m) == 0 ? 0 : bytes(stored, 1, m) - of_row(m);
  if (whole <= section) {
    cut(std::clamp<std::int64_t>(std::max(section - whole, 4 * whole) / of_row(m), 1, n), m);
    return;
  }
  while (columns > 256 && whole > half) {
    columns = (columns + 1) / 2;
    whole = bytes(stored, 1, columns) - of_row(columns);
  }
  cut(std::clamp<std::int64_t>(half / of_row(columns), 1, n), columns);
}

/// Of arrays of these nodes, each with how many doubles an element has; a count of 0 means all.
std::int64_t Sectioning::bytes(const std::vector<std::pair<NodeId, std::int64_t>>& nodes, std::int64_t first_count, std::int64_t last_count) const {
  std::int64_t sum = 0;
  for (const auto& [id, doubles] : nodes) {
    std::int64_t size = size_of(extents_of(graph_[id].shape));
    if (first_count > 0 && follows(axes_[0].trace, id)) size = size / axes_[0].trace.extent * first_count;
    if (last_count > 0 && axes_.size() > 1 && follows(axes_[1].trace, id)) size = size / axes_[1].trace.extent * last_count;
    sum += 8 * doubles * size;
  }
  return sum;
}

void Sectioning::cut(std::int64_t rows, std::int64_t columns) {
  sections_.clear();
  const std::int64_t n = axes_[0].trace.extent, m = axes_.size() > 1 ? axes_[1].trace.extent : 1;
  // What does not depend on the first axis is decoded once for all of its ranges.
  for (std::int64_t j = 0; j < m; j += columns)
    for (std::int64_t i = 0; i < n; i += rows) {
      Section s;
      if (rows < n) s.ranges.push_back({axes_[0].axis, i, std::min(rows, n - i)});
      if (columns < m) s.ranges.push_back({axes_[1].axis, j, std::min(columns, m - j)});
      sections_.push_back(std::move(s));
    }
}

Part Sectioning::part(const Section& s) const {
  Part part;
  part.graph.name = graph_.name;
  for (NodeId id = 0; id < graph_.size(); ++id) {
    Node node = graph_[id];
    std::vector<Range> of;
    for (const Range& r : s.ranges)
      for (const Axis& a : axes_) {
        if (a.axis != r.axis || !follows(a.trace, id)) continue;
        of.push_back({static_cast<std::size_t>(a.trace.axis[id]), r.first, r.count});
        node = shortened(std::move(node), a.trace.axis[id], r.count);
      }
    part.graph.append(std::move(node));
    part.of_node.push_back(std::move(of));
  }
  for (const std::size_t r : results_) part.graph.results.push_back(graph_.results[r]);
  part.graph.inputs = graph_.inputs;
  for (std::size_t k = 0; k < inputs_.size(); ++k) part.inputs.push_back(Section{part.of_node[graph_.inputs[k]]}.of(inputs_[k]));
  return part;
}

Section Sectioning::around(const Extents& result, std::int64_t flat) const {
  Section s;
  for (std::size_t k = result.size(); k-- > 0;) {
    for (const Axis& a : axes_)
      if (a.axis == k) s.ranges.push_back({k, flat % result[k], 1});
    flat /= result[k];
  }
  return s;
}

}  // namespace erx
