// Results in parts that need little memory: ranges of one or two axes of all results, one after the other.
//   for (const Section& s : sections(graph, inputs, {0}, options)) { Part part = part_of(graph, inputs, {0}, s); .. }
#pragma once
#include <vector>

#include "eval/axis_trace.hpp"
#include "eval/evaluate.hpp"
#include "eval/tensor.hpp"

namespace erx {

/// Some indices of one axis of every result.
struct Range {
  std::size_t axis;
  std::int64_t first, count;
  bool operator==(const Range&) const = default;
};

/// Where a section lies in each result; without ranges it is all there is.
struct Section {
  std::vector<Range> ranges = {};

  bool is_all() const { return ranges.empty(); }
  Extents extents(const Extents& whole) const;
  /// The flat index in the result of the section's element at `flat`; `whole`: the result's extents.
  std::int64_t place(std::int64_t flat, const Extents& whole) const;
  std::int64_t inside(std::int64_t place, const Extents& whole) const;  // and back
  Tensor of(Tensor) const;  // the section of a tensor of the shape of the results, in place
};

/// A graph of the same nodes, whose results are those asked for, and inputs that give one section of them.
struct Part {
  Graph graph;
  std::vector<Tensor> inputs;
  std::vector<std::vector<Range>> of_node;  // what each node is of the whole: nothing if it is all of it
};

/// The axes by which results may be evaluated apart, traced once.
class Sectioning {
 public:
  /// `results` of `graph`, which like `inputs` outlives this.
  Sectioning(const Graph& graph, const std::vector<Tensor>& inputs, std::vector<std::size_t> results, const EvaluateOptions& options);

  const std::vector<Section>& sections() const { return sections_; }
  Part part(const Section&) const;
  /// The smallest section that holds one element of one of the results.
  Section around(const Extents& result, std::int64_t flat) const;

 private:
  struct Axis {
    std::size_t axis;
    AxisTrace trace;
  };
  const Graph& graph_;
  const std::vector<Tensor>& inputs_;
  std::vector<std::size_t> results_;
  std::vector<Axis> axes_;  // a node has no axis in two of them
  std::vector<Section> sections_;

  void cut(std::int64_t first_count, std::int64_t last_count);
  std::int64_t bytes(const std::vector<std::pair<NodeId, std::int64_t>>& nodes, std::int64_t first_count, std::int64_t last_count) const;
};

}  // namespace erx
