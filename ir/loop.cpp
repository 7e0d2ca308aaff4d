#include "ir/loop.hpp"

#include <algorithm>
#include <charconv>
#include <map>
#include <set>
#include <tuple>

#include "ir/error.hpp"

namespace erx {
namespace {

/// The number of a literal that is written as std::to_string writes it.
std::optional<std::int64_t> whole(const Node& n) {
  if (n.op->name != "literal" || !n.type.is_real()) return {};
  const std::string& text = n.attributes.text;
  std::int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size() || std::to_string(value) != text) return {};
  return value;
}

/// A slice that runs backwards ends before an index that may be no number, so it stays where it is.
bool can_move(const Slice& s) { return s.kind == Slice::Kind::index || (s.kind == Slice::Kind::range && s.step > 0 && s.count > 0); }

/// What no variable moves.
Attributes fixed(const Node& n) {
  Attributes a = n.attributes;
  for (Slice& s : a.slices)
    if (can_move(s)) s.start = 0;
  if (whole(n)) a.text.clear();
  a.loop = nullptr;
  return a;
}

enum class Alike { but_numbers, operations };

bool same_steps(const Loop& a, const Loop& b) { return a.variable == b.variable && a.first == b.first && a.count == b.count; }

bool alike(const Graph& a, const Graph& b, Alike how) {
  if (a.size() != b.size() || a.inputs != b.inputs || a.results.size() != b.results.size() || a.assumptions.size() != b.assumptions.size()) return false;
  for (std::size_t k = 0; k < a.results.size(); ++k)
    if (a.results[k].node != b.results[k].node) return false;
  for (NodeId id = 0; id < a.size(); ++id) {
    const Node &x = a[id], &y = b[id];
    const auto is_input = [&](NodeId k) { return a[k].op->name == "input" && std::find(a.inputs.begin(), a.inputs.end(), k) != a.inputs.end(); };
    const bool is_parameter = is_input(id), is_part = (x.op->name == "real" || x.op->name == "imag") && is_input(x.operands[0]);
    const bool typed = how != Alike::operations;
    if (x.op != y.op || x.operands != y.operands || (typed && !(x.type == y.type)) || ((typed || !(is_parameter || is_part)) && !(x.shape == y.shape)) ||
        x.name.empty() != y.name.empty() || is_fold(x) != is_fold(y))
      return false;
    if (is_parameter) continue;  // its text is its name
    if (is_fold(x)) {
      const Loop &one = *x.attributes.loop, &other = *y.attributes.loop;
      if (!same_steps(one, other) || !alike(one.body, other.body, how)) return false;
    }
    if (whole(x).has_value() != whole(y).has_value() || !(fixed(x) == fixed(y))) {
      return false;
    }
  }
  return true;
}

/// Is what the results need the same, wherever it stands?
bool same_results(const Graph& a, const Graph& b) {
  std::map<NodeId, NodeId> partner, back;  // of nodes with a choice: they are shared in the same way
  std::set<std::pair<NodeId, NodeId>> met;
  std::vector<std::pair<NodeId, NodeId>> pending;
  const auto meet = [&](NodeId x, NodeId y) {
    if (met.insert({x, y}).second) pending.emplace_back(x, y);
    if (!a[x].freedom) return true;
    return partner.emplace(x, y).first->second == y && back.emplace(y, x).first->second == x;
  };
  if (a.inputs.size() != b.inputs.size() || a.results.size() != b.results.size()) return false;
  for (std::size_t k = 0; k < a.inputs.size(); ++k)
    if (!meet(a.inputs[k], b.inputs[k]) || !(a[a.inputs[k]].type == b[b.inputs[k]].type) || !(a[a.inputs[k]].shape == b[b.inputs[k]].shape)) return false;
  std::map<NodeId, std::size_t> inputs;
  for (std::size_t k = 0; k < a.inputs.size(); ++k) inputs[a.inputs[k]] = k;
  for (std::size_t k = 0; k < a.results.size(); ++k)
    if (!meet(a.results[k].node, b.results[k].node)) return false;
  while (!pending.empty()) {
    const auto [x, y] = pending.back();
    pending.pop_back();
    const Node &n = a[x], &m = b[y];
    if (const auto k = inputs.find(x); k != inputs.end()) {
      if (b.inputs[k->second] != y) return false;
      continue;
    }
    if (n.op != m.op || !(n.type == m.type) || !(n.shape == m.shape) || !(n.attributes == m.attributes) || n.operands.size() != m.operands.size()) return false;
    for (std::size_t k = 0; k < n.operands.size(); ++k)
      if (!meet(n.operands[k], m.operands[k])) return false;
  }
  return true;
}

/// By slice and name: i + j is j + i.
void in_order(Attributes& a) {
  std::sort(a.moving.begin(), a.moving.end(), [](const Moving& x, const Moving& y) { return std::tie(x.slice, x.variable) < std::tie(y.slice, y.variable); });
}

/// Calls `at(number)` with each number in order and takes what it returns for it; a node's `moving` may grow.
template <class Numbers>
void each_number(Graph& g, const Numbers& at) {
  for (NodeId id = 0; id < g.size(); ++id) {
    Attributes& a = g.attributes(id);
    if (const auto number = whole(g[id])) a.text = std::to_string(at(*number, a, -1));
    for (std::size_t k = 0; k < a.slices.size(); ++k)
      if (can_move(a.slices[k])) a.slices[k].start = at(a.slices[k].start, a, static_cast<int>(k));
    if (!a.loop) continue;
    Loop inner = *a.loop;
    each_number(inner.body, at);
    a.loop = std::make_shared<const Loop>(std::move(inner));
  }
}

bool follows(const Graph& g, const std::string& variable) {
  for (NodeId id = 0; id < g.size(); ++id) {
    const Attributes& a = g[id].attributes;
    for (const Moving& m : a.moving)
      if (m.variable == variable) return true;
    if (a.loop && follows(a.loop->body, variable)) return true;
  }
  return false;
}

void set(Attributes& a, const std::string& variable, std::int64_t value) {
  for (const Moving& m : a.moving) {
    if (m.variable != variable) continue;
    if (m.slice >= 0) a.slices[static_cast<std::size_t>(m.slice)].start += m.stride * value;
    else a.text = std::to_string(std::stoll(a.text) + m.stride * value);
  }
  std::erase_if(a.moving, [&](const Moving& m) { return m.variable == variable; });
  if (!a.loop || !follows(a.loop->body, variable)) return;
  Loop inner = *a.loop;
  for (NodeId id = 0; id < inner.body.size(); ++id) set(inner.body.attributes(id), variable, value);
  a.loop = std::make_shared<const Loop>(std::move(inner));
}

/// Copies nodes to the end of a graph, loops that are chosen step by step.
class Copier {
 public:
  Copier(Graph& to, const WriteOut& how) : to_(to), how_(how) {}

  struct Step {
    const std::string* variable = nullptr;
    std::int64_t value = 0;
  };
  using Places = std::map<NodeId, std::vector<NodeId>>;  // of a node; of a loop that is written out one for each state

  void copy(const Graph& from, NodeId id, Places& places, const Step& step) {
    Node node = from[id];
    if (is_state(node)) {
      const auto& states = places.at(node.operands[0]);
      if (states.size() > 1 || !is_fold(to_[states[0]])) {
        places[id] = {states.at(static_cast<std::size_t>(node.attributes.axes[0]))};
        return;
      }
    }
    for (NodeId& o : node.operands) o = places.at(o)[0];
    if (step.variable) set(node.attributes, *step.variable, step.value);
    if (step.variable && !node.name.empty()) node.name = how_.names(node.name, step.value);
    if (is_fold(node) && how_.chosen(node))
      places[id] = steps(*node.attributes.loop, node.operands);
    else
      places[id] = {to_.append(std::move(node))};
  }

 private:
  Graph& to_;
  const WriteOut& how_;

  std::vector<NodeId> steps(const Loop& loop, const std::vector<NodeId>& operands) {
    std::vector<NodeId> states(operands.begin(), operands.begin() + static_cast<std::ptrdiff_t>(loop.states()));
    const auto stored = [&](NodeId id, std::size_t k, std::int64_t value) {  // a state is one stored tensor
      if (to_[id].name.empty()) to_.store(id, how_.names(loop.body[loop.body.inputs[k]].name, value));
    };
    for (std::size_t k = 0; k < states.size() && loop.count > 0; ++k) stored(states[k], k, loop.first);
    for (std::int64_t value = loop.first; value < loop.first + loop.count; ++value) {
      Places places;
      for (std::size_t k = 0; k < loop.body.inputs.size(); ++k) places[loop.body.inputs[k]] = {k < states.size() ? states[k] : operands[k]};
      for (NodeId id = 0; id < loop.body.size(); ++id)
        if (!places.contains(id)) copy(loop.body, id, places, {&loop.variable, value});
      std::vector<NodeId> next;
      for (std::size_t k = 0; k < states.size(); ++k) {
        next.push_back(places.at(loop.body.results[k].node)[0]);
        stored(next.back(), k, value + 1);
      }
      states = std::move(next);
    }
    return states;
  }
};

}  // namespace

bool is_state(const Node& n) { return n.op->name == "state"; }

bool LoopPtr::operator==(const LoopPtr& o) const { return get() == o.get() || (get() && o.get() && **this == *o); }

bool Loop::operator==(const Loop& o) const {
  return same_steps(*this, o) && same_results(body, o.body);
}

bool same_but_for_numbers(const Graph& a, const Graph& b) {
  return alike(a, b, Alike::but_numbers);
}

bool same_operations(const Graph& a, const Graph& b) { return alike(a, b, Alike::operations); }

std::vector<Movable> movable_numbers(const Graph& graph) {
  std::vector<Movable> all;
  const std::function<void(const Graph&)> collect = [&](const Graph& g) {
    for (NodeId id = 0; id < g.size(); ++id) {
      if (const auto number = whole(g[id])) all.push_back({*number, true});
      for (const Slice& s : g[id].attributes.slices)
        if (can_move(s)) all.push_back({s.start, false});
      if (is_fold(g[id])) collect(g[id].attributes.loop->body);
    }
  };
  collect(graph);
  return all;
}

Graph moved(const Graph& graph, const std::string& variable, const std::vector<std::int64_t>& at_zero, const std::vector<std::int64_t>& strides) {
  Graph result = graph;
  std::size_t next = 0;
  each_number(result, [&](std::int64_t, Attributes& a, int slice) {
    const std::size_t k = next++;
    if (strides[k] != 0) a.moving.push_back({slice, variable, strides[k]});
    in_order(a);
    return at_zero[k];
  });
  return result;
}

void rename_variable(Graph& body, const std::string& from, const std::string& to) {
  for (NodeId id = 0; id < body.size(); ++id) {
    Attributes& a = body.attributes(id);
    for (Moving& m : a.moving)
      if (m.variable == from) m.variable = to;
    in_order(a);
    if (!a.loop) continue;
    Loop inner = *a.loop;
    rename_variable(inner.body, from, to);
    a.loop = std::make_shared<const Loop>(std::move(inner));
  }
}

std::int64_t length_of_tiles(const Graph& body, const std::string& variable) {
  std::int64_t tile = 0;
  for (NodeId id = 0; id < body.size(); ++id) {
    const Attributes& a = body[id].attributes;
    std::int64_t here = 0;
    for (const Moving& m : a.moving) {
      if (m.variable != variable) continue;
      if (m.slice < 0) return 0;
      const Slice& s = a.slices[static_cast<std::size_t>(m.slice)];
      const bool alone = std::count_if(a.moving.begin(), a.moving.end(), [&](const Moving& o) { return o.slice == m.slice; }) == 1;
      if (!alone || s.kind != Slice::Kind::range || s.start != 0 || s.step != 1 || s.count != m.stride) return 0;
      here = m.stride;
      if (tile && here != tile) return 0;
      tile = here;
    }
    if (!a.loop) continue;
    const std::int64_t inner = length_of_tiles(a.loop->body, variable);
    if (inner == 0 && follows(a.loop->body, variable)) return 0;
    if (inner > 0 && tile > 0 && inner != tile) return 0;
    tile = std::max(tile, inner);
  }
  return tile;
}

Graph step_of(const Loop& loop, std::int64_t value) {
  Graph step = loop.body;
  for (NodeId id = 0; id < step.size(); ++id) set(step.attributes(id), loop.variable, value);
  return step;
}

Graph written_out(const Graph& graph, const WriteOut& how) {
  Graph result;
  result.name = graph.name;
  Copier copier(result, how);
  Copier::Places places;
  for (NodeId id = 0; id < graph.size(); ++id) copier.copy(graph, id, places, {});
  for (const NodeId id : graph.inputs) result.inputs.push_back(places.at(id)[0]);
  for (const Result& r : graph.results) result.results.push_back({r.name, places.at(r.node)[0], r.declared});
  for (const Assumption& a : graph.assumptions) result.assumptions.push_back({places.at(a.node)[0], a.text, a.span});
  return result;
}

NodeId write_out(Graph& graph, NodeId root, NodeId keep, const WriteOut& how) {
  const auto size = static_cast<NodeId>(root + 1);
  std::vector<bool> looped(size, false), needed(size, false);
  for (NodeId id = 0; id < size; ++id) {
    looped[id] = id > keep && is_fold(graph[id]) && how.chosen(graph[id]);
    if (id <= keep) continue;
    for (const NodeId o : graph[id].operands) looped[id] = looped[id] || looped[o];
  }
  if (!looped[root]) return root;
  needed[root] = true;
  for (NodeId id = size; id-- > 0;)
    if (needed[id] && looped[id])
      for (const NodeId o : graph[id].operands) needed[o] = true;
  Copier copier(graph, how);
  Copier::Places places;
  for (NodeId id = 0; id < size; ++id) {
    if (!needed[id]) continue;
    if (looped[id]) copier.copy(graph, id, places, {});
    else places[id] = {id};
  }
  return places.at(root)[0];
}

std::size_t written_out_size(const Graph& graph, std::size_t limit) {
  std::size_t size = 0;
  for (NodeId id = 0; id < graph.size() && size < limit; ++id) {
    ++size;
    if (!is_fold(graph[id])) continue;
    const Loop& loop = *graph[id].attributes.loop;
    const std::size_t body = written_out_size(loop.body, limit), count = static_cast<std::size_t>(loop.count);
    size += body == 0 || count <= limit / body ? body * count : limit;
  }
  return std::min(size, limit);
}

}  // namespace erx
