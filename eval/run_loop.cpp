#include <algorithm>

#include "eval/loops.hpp"
#include "eval/parallel.hpp"
#include "ops/op.hpp"
#include "ops/planted.hpp"

namespace erx {
namespace {

/// With choices that correlate from step to step, loops up to this size are seen as a whole.
constexpr std::size_t most_nodes_together = 2048;

/// Values that a step leaves are doubles.
bool is_kept(const Type& t) { return !t.is_complex && (t.is_floating() || t.is_boolean() || (t.is_integer() && t.bits > 0 && t.bits <= 32)); }

bool is_stepwise(const Node& fold) {
  const Loop& loop = *fold.attributes.loop;
  bool is_free = false;
  for (const Result& r : loop.body.results) {
    if (!is_kept(loop.body[r.node].type)) return false;
    is_free = is_free || loop.body.has_freedom(r.node);
  }
  for (NodeId id = 0; id < loop.body.size(); ++id)
    if (loop.body[id].type.is_complex) return false;
  const std::size_t body = written_out_size(loop.body, most_nodes_together);
  return !is_free || body * static_cast<std::size_t>(loop.count) > most_nodes_together;
}

WriteOut all_but_stepwise() {
  WriteOut how;
  how.chosen = [](const Node& fold) { return !is_stepwise(fold); };
  return how;
}

bool has_loop_to_write_out(const Graph& graph) {
  for (NodeId id = 0; id < graph.size(); ++id)
    if (is_fold(graph[id]) && !is_stepwise(graph[id])) return true;
  return false;
}

/// The same graph, whose inputs have a choice where what stands for them has several values.
Graph with_freedom(const Graph& step, const std::vector<Stored>& given) {
  Graph graph;
  for (NodeId id = 0; id < step.size(); ++id) {
    Node node = step[id];
    const auto k = std::find(step.inputs.begin(), step.inputs.end(), id);
    if (k != step.inputs.end()) node.freedom = !given[static_cast<std::size_t>(k - step.inputs.begin())].is_point;
    graph.append(std::move(node));
  }
  graph.results = step.results;  // no inputs: they are given
  return graph;
}

/// What is stored, without how it came to be.
Stored values_of(const Stored& s) {
  Stored values;
  values.tensor = s.tensor;
  values.hull = s.hull;
  values.is_point = s.is_point;
  values.is_exact = s.is_exact;
  return values;
}

}  // namespace

std::shared_ptr<const Graph> with_loops_to_step(std::shared_ptr<const Graph> graph) {
  return has_loop_to_write_out(*graph) ? std::make_shared<const Graph>(written_out(*graph, all_but_stepwise())) : graph;
}

std::vector<Stored> run_loop(Engine& engine, NodeId fold) {
  const Node& node = engine.graph()[fold];
  Loop loop = *node.attributes.loop;
  if (has_loop_to_write_out(loop.body)) loop.body = written_out(loop.body, all_but_stepwise());
  std::vector<Stored> given;
  for (const NodeId o : node.operands) given.push_back(values_of(engine.stored(o)));
  static const std::vector<Tensor> none;
  const std::int64_t count = planted(Mistake::loop_without_last_step) ? loop.count - 1 : loop.count;
  std::vector<Stored> before;
  for (std::int64_t k = 0; k < count; ++k) {
    stop_if_asked(engine.options());
    const std::int64_t value = loop.first + (planted(Mistake::loop_one_place_behind) && k > 0 ? k - 1 : k);
    Engine step(with_freedom(step_of(loop, value), given), none, engine.options(), engine.labels());
    for (std::size_t i = 0; i < given.size(); ++i) {
      Engine::Outside outside;
      if (i >= loop.states()) outside = {&engine, node.operands[i]};
      step.give(loop.body.inputs[i], given[i], outside);
    }
    std::vector<Stored> after;
    for (const Result& r : loop.body.results) after.push_back(values_of(step.ensure(r.node)));
    engine.counters += step.counters;
    if (planted(Mistake::loop_of_old_state) && !before.empty()) after[0] = before[0];
    before = after;
    std::move(after.begin(), after.end(), given.begin());
  }
  given.resize(loop.states());
  return given;
}

}  // namespace erx
