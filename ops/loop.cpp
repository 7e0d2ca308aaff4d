// A bounded loop: its body is a graph of its own (ir/loop.hpp).
#include "ops/loop.hpp"

#include <set>

#include "ops/families.hpp"
#include "ops/row.hpp"

namespace erx {
namespace {

const Node& state_of(const Attributes& a, std::size_t k) {
  if (!a.loop) throw Bug("a fold without a loop");
  return a.loop->body[a.loop->body.results.at(k).node];
}

}  // namespace

NodeId build_fold(Graph& g, std::shared_ptr<const Loop> loop, std::vector<NodeId> operands, const Span& span) {
  if (operands.size() != loop->body.inputs.size()) throw Bug("a fold with other operands than its body reads");
  Node node;
  node.op = &op("fold");
  node.operands = std::move(operands);
  node.span = span;
  std::set<NodeId> inputs(loop->body.inputs.begin(), loop->body.inputs.end());  // these may have the freedom of what they stand for
  for (NodeId id = 0; id < loop->body.size(); ++id) node.freedom = node.freedom || (loop->body[id].freedom && !inputs.contains(id));
  node.attributes.loop = std::move(loop);
  node.type = state_of(node.attributes, 0).type;
  node.shape = state_of(node.attributes, 0).shape;
  return g.append(std::move(node));
}

NodeId build_state(Graph& g, NodeId fold, std::size_t k, const Span& span) {
  if (k == 0) return fold;
  const Node& state = state_of(g[fold].attributes, k);
  Node node;
  node.op = &op("state");
  node.operands = {fold};
  node.attributes.axes = {static_cast<std::int64_t>(k)};
  node.type = state.type;
  node.shape = state.shape;
  node.span = span;
  return g.append(std::move(node));
}

namespace families {

std::span<const Op* const> loop() {
  static const Op fold = make_row({.name = "fold",
                                   .doc = "fold (s = start, ..) over i in 0..N { ..; next .. }: the state after N steps",
                                   .source = "erx",
                                   .operands = 1,
                                   .operands_max = -1},
                                  Gather::loop);
  static const Op state = make_row({.name = "state", .doc = "the second or a later state of a fold of several", .source = "erx"}, Gather::loop);
  static const Op* const rows[] = {&fold, &state};
  return rows;
}

}  // namespace families
}  // namespace erx
