// Steps of a `fold` as one node: what a step is by itself, how its numbers follow the variable, and the loop that is made of it.
#include <algorithm>

#include "grammar/fold.hpp"
#include "grammar/words.hpp"
#include "ops/loop.hpp"

namespace erx {

/// Step k lowered behind all nodes and taken off again. Nothing where it has a mistake: written out, it will be told.
std::optional<Lowering::Fold::Step> Lowering::Fold::alone(const std::vector<Kind>& kinds, std::size_t k) {
  if (l_.looked_at_ > max_nodes) return {};
  const Mark before = mark();
  Graph& g = l_.graph;
  std::vector<Value> states;
  std::vector<NodeId> inputs;
  for (std::size_t i = 0; i < kinds.size(); ++i) {
    const std::function<NodeId(NodeId)> copy = [&](NodeId id) {  // of a literal, its sign and its shape
      Node node = g[id];
      for (NodeId& o : node.operands) o = copy(o);
      node.name.clear();
      return g.append(std::move(node));
    };
    Node node;
    node.op = &op("input");
    node.type = kinds[i].type;
    node.shape = kinds[i].shape;
    node.scalar_parameter = kinds[i].scalar_parameter;
    node.freedom = kinds[i].freedom;
    inputs.push_back(kinds[i].literal ? copy(*kinds[i].literal) : g.append(std::move(node)));
    g.store(inputs.back(), l_.unique(order_[i]));
    Value v = Value::unknown(declared_.at(order_[i]));
    v.node = inputs.back();
    states.push_back(std::move(v));
  }
  l_.unique(variable());
  const auto after = next(states, at_step(k));
  std::vector<NodeId> results;
  if (after)
    for (const Value& v : *after)
      if (v.node) results.push_back(*v.node);
  const bool is_right = l_.errors_.size() == before.errors && g.assumptions.size() == before.assumptions && results.size() == order_.size();
  std::optional<Step> step;
  if (is_right) step = taken_off(before.nodes, inputs, results);
  l_.looked_at_ += g.size() - before.nodes;
  back_to(before, is_right);
  return step;
}

Lowering::Fold::Step Lowering::Fold::taken_off(std::size_t from, const std::vector<NodeId>& states, const std::vector<NodeId>& next) const {
  const Graph& g = l_.graph;
  std::vector<bool> needed(g.size(), false);
  for (const NodeId id : next) needed[id] = true;
  const auto is_input = [&](NodeId id) { return id < from || std::find(states.begin(), states.end(), id) != states.end(); };
  for (auto id = static_cast<NodeId>(g.size()); id-- > 0;)
    if (needed[id] && !is_input(id))
      for (const NodeId o : g[id].operands) needed[o] = true;
  Step step;
  std::map<NodeId, NodeId> at;
  const auto input = [&](NodeId id) {
    Node node;
    node.op = &op("input");
    node.type = g[id].type;
    node.shape = g[id].shape;
    node.name = node.attributes.text = g[id].name;
    node.scalar_parameter = g[id].scalar_parameter;
    node.freedom = g.has_freedom(id);
    at[id] = step.body.append(std::move(node));
    step.body.inputs.push_back(at[id]);
  };
  for (const NodeId id : states) input(id);
  for (NodeId id = 0; id < from; ++id) {
    if (!needed[id]) continue;
    input(id);
    step.outside.push_back(id);
  }
  for (NodeId id = static_cast<NodeId>(from); id < g.size(); ++id) {
    if (!needed[id] || is_input(id)) continue;
    Node node = g[id];
    for (NodeId& o : node.operands) o = at.at(o);
    at[id] = step.body.append(std::move(node));
  }
  for (const NodeId id : next) step.body.results.push_back({"", at.at(id), {}});
  step.numbers = movable_numbers(step.body);
  return step;
}

std::vector<Lowering::Fold::Kind> Lowering::Fold::kinds_after(const Step& step, const std::vector<Kind>& before) const {
  std::vector<Kind> kinds;
  for (std::size_t k = 0; k < order_.size(); ++k) {
    const NodeId id = step.body.results[k].node;
    kinds.push_back({step.body[id].type, step.body[id].shape, false, before[k].freedom || step.body.has_freedom(id)});
  }
  return kinds;
}

/// A number as written, or a pair of them.
bool Lowering::Fold::is_written(NodeId id) const {
  if (l_.literal_leaf(id)) return true;
  const Node& node = l_.graph[id];
  return node.op == &op("complex") && std::all_of(node.operands.begin(), node.operands.end(), [&](NodeId part) { return l_.literal_leaf(part).has_value(); });
}

/// And a value of this type?
bool Lowering::Fold::is_written_in(NodeId id, const Type& type) const {
  if (!is_written(id) || !type.part().is_floating()) return false;
  if (const auto number = l_.literal_leaf(id)) return holds_literal(type.format, l_.graph[*number].attributes.text);
  const auto& parts = l_.graph[id].operands;
  return std::all_of(parts.begin(), parts.end(), [&](NodeId part) { return is_written_in(part, type.part()); });
}

/// Is the start value one of the type and, in every element, of the shape that the state has from then on?
bool Lowering::Fold::fits(NodeId start, const Kind& kind) const {
  const Node& node = l_.graph[start];
  if (node.type.is_complex != kind.type.is_complex) return false;
  if (!contains(kind.type, node.type) && !is_written_in(start, kind.type)) return false;
  const auto both = erx::broadcast(node.shape, kind.shape);
  return both && *both == kind.shape;
}

/// The number of steps from k on that became one node; 0: step k has to be written out.
std::size_t Lowering::Fold::as_one_node(std::size_t k) {
  if (steps_.parts.size() - k < 2) return 0;
  std::vector<Kind> started;
  for (const Value& v : states_) {
    if (!v.node) return 0;
    const Node& node = l_.graph[*v.node];
    const bool is_literal = is_written(*v.node);
    started.push_back({node.type, node.shape, node.scalar_parameter, l_.graph.has_freedom(*v.node), is_literal ? v.node : std::nullopt});
  }
  const auto as_started = alone(started, k);
  if (!as_started) return 0;
  std::vector<Kind> kinds = kinds_after(*as_started, started);
  std::optional<Step> first;
  std::size_t changes = 0;
  for (bool settles = false; !settles;) {  // freedom only grows; a type goes from state to state
    first = alone(kinds, k);
    if (!first) return 0;
    const std::vector<Kind> after = kinds_after(*first, kinds);
    settles = after == kinds;
    if (!settles && ++changes > kinds.size()) return 0;
    for (std::size_t i = 0; i < kinds.size(); ++i) {
      if (!fits(*states_[i].node, after[i])) return 0;
      settles = settles && kinds[i].freedom == after[i].freedom;
      kinds[i] = after[i];
    }
  }
  if (!same_operations(as_started->body, first->body) || as_started->outside != first->outside || as_started->numbers != first->numbers) return 0;
  const Way way = way_of(*first, k, kinds);
  if (way.count) append(*first, k, way, kinds);
  return way.count;
}

/// The steps from k on that are of the form of the first one and whose numbers follow the variable, straight or in turns.
Lowering::Fold::Way Lowering::Fold::way_of(const Step& first, std::size_t k, const std::vector<Kind>& kinds) {
  const bool may_turn = !steps_.are_tiles && !has_looked_for_turns_;  // which costs a look at all steps
  std::vector<std::vector<std::int64_t>> numbers(first.numbers.size());
  std::size_t straight = 0, count = 0;  // steps that go straight, and that are of this form
  for (; k + count < steps_.parts.size(); ++count) {
    const auto step = count ? alone(kinds, k + count) : std::optional(first);
    if (!step || step->outside != first.outside || !same_but_for_numbers(step->body, first.body)) break;
    bool is_straight = straight == count, is_literal_right = true, moves_literal = false;
    for (std::size_t n = 0; n < numbers.size(); ++n) {
      const std::int64_t here = step->numbers[n].value, there = first.numbers[n].value;
      if (count > 1) is_straight = is_straight && here - there == (numbers[n][1] - there) * static_cast<std::int64_t>(count);
      moves_literal = moves_literal || (first.numbers[n].is_literal && here != there);
      if (first.numbers[n].is_literal && here != there)
        is_literal_right = is_literal_right && !steps_.are_tiles && here == number_of(k + count) && there == number_of(k);
    }
    if (!is_literal_right || (!is_straight && (!may_turn || moves_literal))) break;  // i as period * j + r would be other operations
    for (std::size_t n = 0; n < numbers.size(); ++n) numbers[n].push_back(step->numbers[n].value);
    if (is_straight) straight = count + 1;
  }
  Way way;
  const auto follow = [&](std::size_t steps) {
    way = {steps};
    for (const auto& n : numbers) {
      const auto course = course_of({n.begin(), n.begin() + static_cast<std::ptrdiff_t>(steps)}, number_of(k));
      if (!course || (course->period > 1 && way.period > 1 && course->period != way.period)) return false;
      way.period = std::max(way.period, course->period);
      way.courses.push_back(*course);
    }
    return true;
  };
  if (straight < count) {
    has_looked_for_turns_ = true;
    if (follow(count) && number_of(k) % way.period == 0 && count / static_cast<std::size_t>(way.period) > 1) {
      way.count -= count % static_cast<std::size_t>(way.period);
      return way;
    }
  }
  if (straight < 2 || (straight == 2 && (k > 1 || k + straight + 1 < steps_.parts.size()))) return {};  // any two numbers are linear
  follow(straight);
  return way;
}

/// A body that is a loop.
Graph Lowering::Fold::around(Loop inner, const Span& at) {
  Graph body;
  for (const NodeId id : inner.body.inputs) body.inputs.push_back(body.append(inner.body[id]));
  const std::size_t states = inner.states();
  const NodeId fold = build_fold(body, std::make_shared<const Loop>(std::move(inner)), body.inputs, at);
  for (std::size_t i = 0; i < states; ++i) body.results.push_back({"", build_state(body, fold, i, at), {}});
  return body;
}

/// Steps that go in turns are a loop over the turns around one over the steps of a turn: i is period * j + r.
void Lowering::Fold::append(const Step& first, std::size_t k, const Way& way, const std::vector<Kind>& kinds) {
  std::vector<std::int64_t> at_zero, turns, steps;
  for (const Course& c : way.courses) {
    at_zero.push_back(c.at_zero);
    turns.push_back(c.period == 1 ? c.turn * way.period : c.turn);
    steps.push_back(c.period == 1 ? c.turn : c.each);
  }
  std::vector<NodeId> operands;
  for (std::size_t i = 0; i < order_.size(); ++i) {
    NodeId start = *states_[i].node;
    if (!(l_.graph[start].shape == kinds[i].shape)) {
      Attributes same;
      same.shape = kinds[i].shape;
      start = erx::build(l_.graph, op("broadcast"), {start}, std::move(same), l_.span(s_));
    }
    operands.push_back(start);
  }
  operands.insert(operands.end(), first.outside.begin(), first.outside.end());
  const Mark before = mark();
  Loop loop;
  loop.variable = l_.unique(variable());
  loop.first = number_of(k) / way.period;
  loop.count = static_cast<std::int64_t>(way.count) / way.period;
  loop.body = moved(first.body, loop.variable, at_zero, turns);
  if (way.period > 1) {
    Loop turn;
    turn.variable = l_.unique(variable());
    turn.count = way.period;
    turn.body = moved(loop.body, turn.variable, at_zero, steps);
    loop.body = around(std::move(turn), l_.span(s_));
  }
  back_to(before, true);
  const NodeId node = build_fold(l_.graph, std::make_shared<const Loop>(std::move(loop)), std::move(operands), l_.span(s_));
  for (std::size_t i = 0; i < order_.size(); ++i) {
    Value v = Value::unknown(l_.span(s_));
    v.node = build_state(l_.graph, node, i, l_.span(s_));
    states_[i] = std::move(v);
  }
}

}  // namespace erx
