// A recurrence to be evaluated: where the elements of each of its lines lie.
// Lines are numbered in C order of the shape without the axis; step t of a line is place t of the axis, or from its end.
//   ScanNode scan = scan_node(graph, id);   scan.a.at(scan.lines, line) + t * scan.a.step
#pragma once
#include <optional>

#include "ir/graph.hpp"
#include "ops/scan.hpp"

namespace erx {

struct ScanNode {
  /// One operand, or the result: contiguous in memory, read at the broadcast shape.
  struct Read {
    NodeId node = 0;
    Extents strides;          // one per dimension of the shape without the axis
    std::int64_t first = 0;   // of step 0
    std::int64_t step = 0;
    std::int64_t at(const Extents& lines, std::int64_t line) const {
      std::int64_t offset = first;
      for (std::size_t k = lines.size(); k-- > 0;) {
        offset += line % lines[k] * strides[k];
        line /= lines[k];
      }
      return offset;
    }
  };
  NodeId node = 0;
  ScanRule rule;
  Extents lines;  // the shape without the axis
  std::int64_t steps = 0;
  Read a, b, out;
  std::optional<Read> init;
};

ScanNode scan_node(const Graph&, NodeId);

}  // namespace erx
