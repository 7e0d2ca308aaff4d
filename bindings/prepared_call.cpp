#include "bindings/prepared_call.hpp"

#include <algorithm>

#include "bindings/call.hpp"
#include "bindings/composition.hpp"

namespace erx {
namespace {

constexpr std::size_t most_calls = 8;     // of a spec
constexpr std::size_t most_nodes = 4096;  // of a graph: evaluating more takes so long that lowering does not count

/// Formats of equal values may have names of their own, which the texts show.
bool is_same(const Type& a, const Type& b) { return a == b && a.is_signed == b.is_signed && a.format.name == b.format.name; }

bool is_same(const Binding& a, const Binding& b) { return is_same(a.type, b.type) && a.extents == b.extents && a.value == b.value; }

bool are_same(const std::map<std::string, Binding>& a, const std::map<std::string, Binding>& b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(), [](const auto& x, const auto& y) { return x.first == y.first && is_same(x.second, y.second); });
}

std::shared_ptr<const PreparedCall> prepared(const Spec& spec, std::map<std::string, Binding> bindings) {
  auto call = std::make_shared<PreparedCall>();
  call->graph = spec.lower(bindings);
  call->bindings = std::move(bindings);
  const Graph& graph = *call->graph;
  if (graph.size() > most_nodes) return call;
  // Inputs of one call are never merged, so no element of theirs counts.
  const auto token = std::make_shared<const int>();
  std::vector<PiecePtr> inputs;
  for (const NodeId id : graph.inputs) {
    Tensor tensor;
    tensor.type = graph[id].type;
    tensor.extents = extents_of(graph[id].shape);
    inputs.push_back(input(graph[id].attributes.text, std::move(tensor), graph[id].scalar_parameter, token));
  }
  const Composition composition = compose(pieces_of(graph, inputs), graph.name);
  call->composed = composition.graph;
  for (const Piece* piece : composition.pieces) {
    const auto found = std::find_if(inputs.begin(), inputs.end(), [&](const PiecePtr& p) { return p.get() == piece; });
    call->order.push_back(static_cast<std::size_t>(found - inputs.begin()));
  }
  return call;
}

}  // namespace

std::shared_ptr<const PreparedCall> PreparedCalls::of(const Spec& spec, std::map<std::string, Binding> bindings) {
  for (auto& [name, binding] : bindings) {
    const auto declared = declared_type(spec, name);
    if (!(declared ? *declared : binding.type).is_integer()) binding.value.reset();  // so the graph cannot depend on it
  }
  {
    const std::lock_guard lock(mutex_);
    const auto found = std::find_if(calls_.begin(), calls_.end(), [&](const auto& call) { return are_same(call->bindings, bindings); });
    if (found != calls_.end()) {
      calls_.splice(calls_.begin(), calls_, found);
      return *found;
    }
  }
  auto call = prepared(spec, std::move(bindings));
  if (!call->composed) return call;
  const std::lock_guard lock(mutex_);
  calls_.push_front(call);
  if (calls_.size() > most_calls) calls_.pop_back();
  return call;
}

}  // namespace erx
