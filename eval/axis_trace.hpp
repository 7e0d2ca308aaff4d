// Which axis of every node an axis of the results is: what the results hold at some of its indices follows from those indices there alone.
//   std::optional<AxisTrace> rows = trace_axis(graph, {0}, 0);   rows->axis[id]   // of round(A @ B): A has axis 0, B is read whole
#pragma once
#include <optional>
#include <vector>

#include "ir/graph.hpp"

namespace erx {

struct AxisTrace {
  static constexpr int whole = -1;   // all of the node is read
  static constexpr int unused = -2;  // no result reads it
  std::int64_t extent = 0;           // of the axis
  std::vector<int> axis;             // by node
};

/// parameters: a graph with concrete shapes and no complex nodes but pairs; `results`: which ones are asked for; `axis`: counted from the
/// front, the same of all of them.
/// returns: nothing if the axis has not one extent above 1 in all results, or some op mixes its elements.
std::optional<AxisTrace> trace_axis(const Graph&, const std::vector<std::size_t>& results, std::size_t axis);

/// A node of which only `count` indices of an axis are left (axis < 0: as it is).
Node shortened(Node, int axis, std::int64_t count);

}  // namespace erx
