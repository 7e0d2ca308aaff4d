#include "ops/execution.hpp"

#include <map>
#include <utility>

#include "ops/loop.hpp"

namespace erx {
namespace {

using Rule = NodeId (*)(Graph&, const std::vector<NodeId>&, const Attributes&, const Span&);

/// What stays: the value is single unless it does not fit, and then any value may come.
constexpr Rule as_it_is = nullptr;

NodeId first(Graph&, const std::vector<NodeId>& x, const Attributes&, const Span&) { return x[0]; }

Rounding plain(Rounding r) {
  if (r.mode == Mode::sr || r.mode == Mode::faithful) r.mode = Mode::rne;
  if (r.flush == Flush::free) r.flush = Flush::no;
  return r;
}

NodeId rounded(Graph& g, const std::vector<NodeId>& x, const Attributes& a, const Span& at) {
  Attributes nearest;
  nearest.format = a.format;
  nearest.rounding = plain(a.rounding);
  return build(g, op("round"), {x[0]}, nearest, at);
}

/// The exact value of the function, cut as the spec says, rounded once.
NodeId approximated(Graph& g, const std::vector<NodeId>& x, const Attributes& a, const Span& at) {
  constexpr std::uint8_t lo = 4, hi = 8;
  std::size_t next = x.size();
  NodeId value = x[0];
  if (a.bounds & hi) value = build(g, op("minimum"), {value, x[--next]}, {}, at);
  if (a.bounds & lo) value = build(g, op("maximum"), {value, x[--next]}, {}, at);
  return rounded(g, {value}, a, at);
}

OrderKind plain(OrderKind kind) { return kind == OrderKind::any || kind == OrderKind::assoc ? OrderKind::seq : kind; }

NodeId summed(Graph& g, const std::vector<NodeId>& x, const Attributes& a, const Span& at) {
  Attributes one = a;
  one.order.kind = plain(a.order.kind);
  one.order.inner = plain(a.order.inner);
  one.order.outer = plain(a.order.outer);
  if (a.order.kind == OrderKind::split) one.order.numbers.resize(1);
  if (a.order.kind == OrderKind::height) one.order = {.kind = OrderKind::pairwise, .numbers = {1}};
  if (a.contraction == Contraction::free) one.contraction = Contraction::never;
  one.rounding = plain(a.rounding);
  return build(g, op("acc"), x, one, at);
}

NodeId stepped(Graph& g, const std::vector<NodeId>& x, const Attributes& a, const Span& at) {
  Attributes one = a;
  one.order = {.kind = OrderKind::seq};
  if (a.contraction == Contraction::free) one.contraction = Contraction::never;
  one.rounding = plain(a.rounding);
  return build(g, op("scan"), x, one, at);
}

const std::map<std::string_view, Rule>& rules() {
  static const std::map<std::string_view, Rule> table = {
      {"any_of", first},
      {"round", rounded},
      {"within", rounded},
      {"acc", summed},
      {"within_sum", summed},
      {"scan", stepped},
      {"approx", approximated},
      {"cast", as_it_is},
      {"wrap", as_it_is},
      {"saturate", as_it_is},
  };
  return table;
}

}  // namespace

bool has_execution_rule(const Op& op) { return rules().contains(op.name); }

Graph one_execution(const Graph& graph) {
  Graph one;
  one.name = graph.name;
  std::vector<NodeId> at(graph.size());
  for (NodeId id = 0; id < graph.size(); ++id) {
    Node node = graph[id];
    for (NodeId& operand : node.operands) operand = at[operand];
    if (is_fold(node)) {
      Loop loop = *node.attributes.loop;
      loop.body = one_execution(loop.body);
      at[id] = build_fold(one, std::make_shared<const Loop>(std::move(loop)), std::move(node.operands), node.span);
      one.store(at[id], node.name);
      continue;
    }
    const auto rule = rules().find(node.op->name);
    if (!node.freedom || rule == rules().end() || rule->second == as_it_is) {
      at[id] = one.append(std::move(node));
      continue;
    }
    at[id] = rule->second(one, node.operands, node.attributes, node.span);
    if (!node.name.empty() && one[at[id]].name.empty()) one.store(at[id], node.name);  // still a stored tensor
  }
  for (const NodeId id : graph.inputs) one.inputs.push_back(at[id]);
  for (const Result& r : graph.results) one.results.push_back({r.name, at[r.node], r.declared});
  for (const Assumption& a : graph.assumptions) one.assumptions.push_back({at[a.node], a.text, a.span});
  return one;
}

}  // namespace erx
