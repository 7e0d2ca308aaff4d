#include "eval/cone.hpp"

#include <algorithm>
#include <map>

#include "ops/planted.hpp"

namespace erx {
namespace {

/// The view read at `extents`, to which it is broadcast.
View broadcast_view(const View& view, const Extents& extents) {
  View result{extents, Extents(extents.size(), 0), view.offset};
  const std::size_t shift = extents.size() - view.extents.size();
  for (std::size_t k = 0; k < view.extents.size(); ++k)
    if (view.extents[k] != 1) result.strides[k + shift] = view.strides[k];
  return result;
}

/// In how many ways the value of each node reaches elementwise users, counted up to 1000.
std::vector<int> ways_out(const Graph& graph) {
  std::vector<int> ways(graph.size(), 0);
  for (NodeId id = static_cast<NodeId>(graph.size()); id-- > 0;) {
    const Node& user = graph[id];
    const Gather gather = row(user).gather;
    const int each = gather == Gather::map || gather == Gather::view ? std::max(ways[id], 1) : 0;
    for (NodeId o : user.operands) ways[o] = std::min(ways[o] + each, 1000);
  }
  return ways;
}

}  // namespace

int Cone::assignments() const {
  int count = 1;
  for (int n : alternatives) count *= n;
  return count;
}

int Cone::branch(int variable, int assignment) const {
  for (int v = 0; v < variable; ++v) assignment /= alternatives[v];
  return assignment % alternatives[variable];
}

std::vector<int> Cone::needed(int assignment) const {
  std::vector<bool> wanted(slots(), false);
  wanted.back() = true;
  const int first_step = static_cast<int>(loads.size());
  for (int slot = slots() - 1; slot >= first_step; --slot) {
    if (!wanted[slot]) continue;
    const Step& step = steps[slot - first_step];
    const int only = passes(step, assignment);
    for (std::size_t k = 0; k < step.operands.size(); ++k)
      if (only < 0 || only == static_cast<int>(k)) wanted[step.operands[k]] = true;
  }
  std::vector<int> result;
  for (int slot = 0; slot < slots(); ++slot)
    if (wanted[slot]) result.push_back(slot);
  return result;
}

Cone make_cone(const Graph& graph, NodeId root, const ConeSource& source) {
  Cone cone;
  cone.root = root;
  cone.extents = extents_of(graph[root].shape);

  // Nodes of the cone, operands first (ids are ordered so), without recursion: chains may be long.
  std::vector<NodeId> inner, pending{root};
  std::vector<bool> seen(graph.size(), false);
  const auto is_leaf = [&](NodeId id) { return id != root && (source.is_stored(id) || row(graph[id]).gather == Gather::view); };
  seen[root] = true;
  while (!pending.empty()) {
    const NodeId id = pending.back();
    pending.pop_back();
    inner.push_back(id);
    for (NodeId operand : graph[id].operands)
      if (!seen[operand] && !is_leaf(operand)) {
        seen[operand] = true;
        pending.push_back(operand);
      }
  }
  std::sort(inner.begin(), inner.end());

  struct Key {
    NodeId node;
    Extents strides;
    std::int64_t offset;
    bool operator<(const Key& o) const { return std::tie(node, strides, offset) < std::tie(o.node, o.strides, o.offset); }
  };
  std::map<Key, int> load_slots;
  std::map<NodeId, int> slot_of;
  const auto load = [&](NodeId id) {
    std::pair<NodeId, View> base{id, {}};
    if (row(graph[id]).gather == Gather::view && !source.is_stored(id)) base = source.view(id);
    else base.second = View::contiguous(extents_of(graph[id].shape));
    const View view = broadcast_view(base.second, cone.extents);
    const auto [at, is_new] = load_slots.try_emplace({base.first, view.strides, view.offset}, static_cast<int>(cone.loads.size()));
    if (is_new) cone.loads.push_back({base.first, view, -1});
    return at->second;
  };

  const bool root_is_view = row(graph[root]).gather == Gather::view;
  if (root_is_view) {
    const auto [base, view] = source.view(root);
    cone.loads.push_back({base, broadcast_view(view, cone.extents), -1});
  } else {
    for (NodeId id : inner)
      for (NodeId operand : graph[id].operands)
        if (is_leaf(operand) && !slot_of.count(operand)) slot_of[operand] = load(operand);
    for (NodeId id : inner) {
      Cone::Step step{id, {}, -1, -1, {}};
      for (NodeId operand : graph[id].operands) step.operands.push_back(slot_of.at(operand));
      cone.is_rational &= row(graph[id]).is_rational;
      slot_of[id] = static_cast<int>(cone.loads.size() + cone.steps.size());
      cone.steps.push_back(std::move(step));
    }
  }

  // Choices nearest to the root are kept apart first.
  std::int64_t count = 1;
  const auto variable = [&](int alternatives) {
    if (alternatives < 2 || count * alternatives > Cone::max_assignments || planted(Mistake::no_correlation)) return -1;
    count *= alternatives;
    cone.alternatives.push_back(alternatives);
    return static_cast<int>(cone.alternatives.size()) - 1;
  };
  std::map<std::uint32_t, int> choices;  // shared by the parts of complex numbers
  for (auto step = cone.steps.rbegin(); step != cone.steps.rend(); ++step) {
    const Node& node = graph[step->node];
    if (!row(node).is_choice) continue;
    step->branch = source.labelled_branch(node);
    if (step->branch >= 0) continue;
    const std::uint32_t number = planted(Mistake::shared_choices) ? 1 : node.attributes.choice;
    const auto same = number ? choices.find(number) : choices.end();
    if (same != choices.end()) {
      step->variable = same->second;
      continue;
    }
    step->variable = variable(static_cast<int>(step->operands.size()));
    if (number) choices[number] = step->variable;
  }
  std::map<Key, int> joint;  // parts of one complex tensor, read at the same places
  for (Cone::Load& l : cone.loads) {
    const NodeId whole = source.joint(l.node);
    const Key key{whole, l.view.strides, l.view.offset};
    const auto same = whole ? joint.find(key) : joint.end();
    l.variable = same != joint.end() ? same->second : variable(source.planes(l.node));
    if (whole) joint.emplace(key, l.variable);
  }
  std::vector<int> ways;
  for (auto step = cone.steps.rbegin(); step != cone.steps.rend(); ++step) {
    const Node& node = graph[step->node];
    if (!row(node).alternatives) continue;
    auto alternatives = row(node).alternatives(node.attributes);
    if (alternatives.empty()) continue;
    if (ways.empty()) ways = ways_out(graph);
    if (ways[step->node] < 2) continue;  // nothing to correlate with
    step->variable = variable(static_cast<int>(alternatives.size()));
    if (planted(Mistake::one_alternative)) std::fill(alternatives.begin(), alternatives.end(), alternatives[0]);
    if (step->variable >= 0) step->alternatives = std::move(alternatives);
  }
  return cone;
}

}  // namespace erx
