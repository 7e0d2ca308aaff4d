#include <algorithm>
#include <map>

#include "eval/loops.hpp"
#include "eval/parallel.hpp"
#include "ops/op.hpp"
#include "ops/planted.hpp"

namespace erx {
namespace {

/// With choices that correlate from step to step, loops up to this size are seen as a whole.
constexpr std::size_t most_nodes_together = 2048;

/// Alternatives of complex states, of all elements, that are kept apart from step to step; of more the hull.
constexpr std::int64_t most_values_apart = std::int64_t{1} << 20;

/// Values that a step leaves are doubles.
bool is_kept(const Type& t) { return (t.is_floating() || t.is_boolean() || (t.is_integer() && t.bits > 0 && t.bits <= 32)); }

bool is_stepwise(const Node& fold) {
  const Loop& loop = *fold.attributes.loop;
  bool is_free = false;
  for (const Result& r : loop.body.results) {
    if (!is_kept(loop.body[r.node].type.part())) return false;
    is_free = is_free || loop.body.has_freedom(r.node);
  }
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
    if (is_fold(graph[id]) && (!is_stepwise(graph[id]) || has_loop_to_write_out(graph[id].attributes.loop->body))) return true;
  return false;
}

/// Inner loops too: a choice of complex numbers has to be written out before its two parts are told apart.
Graph without_loops_to_write_out(const Graph& graph) {
  Graph result = written_out(graph, all_but_stepwise());
  for (NodeId id = 0; id < result.size(); ++id) {
    if (!is_fold(result[id]) || !has_loop_to_write_out(result[id].attributes.loop->body)) continue;
    Loop loop = *result[id].attributes.loop;
    loop.body = without_loops_to_write_out(loop.body);
    result.attributes(id).loop = std::make_shared<const Loop>(std::move(loop));
  }
  return result;
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
  values.joint = s.joint;
  return values;
}

/// The parts of a complex state. Plane k of one belongs to plane k of the other: `joint` is not 0 where there are several.
void take_apart(const Stored& pair, NodeId joint, std::vector<Stored>& to) {
  const auto values = static_cast<std::int64_t>(pair.tensor.planes.size()) * pair.tensor.size();
  for (const std::vector<Plane>* planes : {&pair.tensor.planes, &pair.tensor.imag}) {
    Stored part;
    part.tensor.planes = *planes;
    part.tensor.type = pair.tensor.type.part();
    part.tensor.extents = pair.tensor.extents;
    part.tensor.settled = pair.tensor.settled;
    finish(part);
    if (planes->size() > 1 && values > most_values_apart) {
      part.tensor.planes = {part.hull};
      finish(part);
    }
    part.joint = part.tensor.planes.size() > 1 ? joint : 0;
    to.push_back(std::move(part));
  }
}

/// Names of joint tensors in the engine around a step, as those of the step: each is the last input of its parts, which is not node 0.
void rename_joint(std::vector<Stored>& given, const std::vector<NodeId>& inputs) {
  std::map<NodeId, NodeId> names;
  for (std::size_t i = 0; i < given.size(); ++i)
    if (given[i].joint) names[given[i].joint] = inputs[i];
  for (Stored& s : given)
    if (s.joint) s.joint = names.at(s.joint);
}

}  // namespace

std::shared_ptr<const Graph> with_loops_to_step(std::shared_ptr<const Graph> graph) {
  return has_loop_to_write_out(*graph) ? std::make_shared<const Graph>(without_loops_to_write_out(*graph)) : graph;
}

std::vector<Stored> run_loop(Engine& engine, NodeId fold) {
  const Node& node = engine.graph()[fold];
  const Loop& loop = *node.attributes.loop;
  std::vector<Stored> given;
  for (const NodeId o : node.operands) given.push_back(values_of(engine.stored(o)));
  rename_joint(given, loop.body.inputs);
  std::size_t states = 0;
  for (const Result& r : loop.body.results) states += loop.body[r.node].type.is_complex ? 2 : 1;
  static const std::vector<Tensor> none;
  const std::int64_t count = planted(Mistake::loop_without_last_step) ? loop.count - 1 : loop.count;
  std::vector<Stored> before;
  for (std::int64_t k = 0; k < count; ++k) {
    stop_if_asked(engine.options());
    const std::int64_t value = loop.first + (planted(Mistake::loop_one_place_behind) && k > 0 ? k - 1 : k);
    Engine step(with_freedom(step_of(loop, value), given), none, engine.options(), engine.labels());
    for (std::size_t i = 0; i < given.size(); ++i) {
      Engine::Outside outside;
      if (i >= states) outside = {&engine, node.operands[i]};
      step.give(loop.body.inputs[i], given[i], outside);
    }
    std::vector<Stored> after;
    for (const Result& r : loop.body.results) {
      const Stored& state = step.ensure(r.node);
      if (loop.body[r.node].type.is_complex) take_apart(state, loop.body.inputs[after.size() + 1], after);
      else after.push_back(values_of(state));
    }
    engine.counters += step.counters;
    if (planted(Mistake::loop_of_old_state) && !before.empty()) after[0] = before[0];
    before = after;
    std::move(after.begin(), after.end(), given.begin());
  }
  given.resize(states);
  return given;
}

}  // namespace erx
