#include "eval/evaluate.hpp"

#include "eval/engine.hpp"
#include "ops/op.hpp"

namespace erx {

struct Evaluation::State {
  std::shared_ptr<const Graph> graph;
  std::vector<Tensor> inputs;
  EvaluateOptions options;
  std::vector<std::pair<std::string, int>> labels;  // name, number of alternatives
  std::vector<std::unique_ptr<Engine>> runs;        // one per assignment of the labels, made when asked for
  Counters counters;

  Engine& run(std::size_t k) {
    if (runs.size() <= k) runs.resize(k + 1);
    if (!runs[k]) runs[k] = std::make_unique<Engine>(*graph, inputs, options, branches(k));
    return *runs[k];
  }
  std::map<std::string, int> branches(std::size_t k) const {
    std::map<std::string, int> result;
    for (const auto& [name, count] : labels) {
      result[name] = static_cast<int>(k) % count;
      k /= static_cast<std::size_t>(count);
    }
    return result;
  }
};

Evaluation::Evaluation(std::shared_ptr<const Graph> graph, std::vector<Tensor> inputs, EvaluateOptions options)
    : state_(std::make_unique<State>()) {
  constexpr std::size_t max_runs = 64;
  state_->graph = std::move(graph);
  state_->inputs = std::move(inputs);
  state_->options = options;
  std::size_t runs = 1;
  for (NodeId id = 0; id < state_->graph->size(); ++id) {
    const Node& node = (*state_->graph)[id];
    if (!row(node).is_choice || node.attributes.text.empty()) continue;
    const int count = static_cast<int>(node.operands.size());
    bool known = false;
    for (const auto& [name, n] : state_->labels) {
      if (name != node.attributes.text) continue;
      known = true;
      if (n != count)
        throw Error(Diagnostic{node.span, "any_of<\"" + name + "\"> has " + std::to_string(count) + " alternatives here and " + std::to_string(n) + " elsewhere", ""});
    }
    if (known) continue;
    state_->labels.emplace_back(node.attributes.text, count);
    runs *= static_cast<std::size_t>(count);
    if (runs > max_runs)
      throw Error(Diagnostic{node.span, "the labelled choices have more than 64 assignments", "this label makes it " + std::to_string(runs)});
  }
}

Evaluation::~Evaluation() = default;
Evaluation::Evaluation(Evaluation&&) noexcept = default;
Evaluation& Evaluation::operator=(Evaluation&&) noexcept = default;

std::size_t Evaluation::runs() const {
  std::size_t count = 1;
  for (const auto& label : state_->labels) count *= static_cast<std::size_t>(label.second);
  return count;
}

std::string Evaluation::run_name(std::size_t run) const {
  std::string text;
  for (const auto& [name, branch] : state_->branches(run))
    text += (text.empty() ? "" : ", ") + name + " = alternative " + std::to_string(branch + 1);
  return text;
}

NodeId Evaluation::root(std::size_t i, const std::optional<Format>& store, std::size_t run) {
  const NodeId node = state_->graph->results.at(i).node;
  if (!store) return node;
  Engine& engine = state_->run(run);
  const auto key = std::pair{i, store->name};
  auto& made = engine.stored_results;
  const auto it = made.find(key);
  return it != made.end() ? it->second : made[key] = engine.stored_in(node, *store);
}

const SetTensor& Evaluation::result(std::size_t i, const std::optional<Format>& store, std::size_t run) {
  const NodeId id = root(i, store, run);
  Engine& engine = state_->run(run);
  const Counters before = engine.counters;
  const SetTensor& tensor = engine.ensure(id).tensor;
  state_->counters.bulk += engine.counters.bulk - before.bulk;
  state_->counters.compensated += engine.counters.compensated - before.compensated;
  state_->counters.big += engine.counters.big - before.big;
  state_->counters.exact += engine.counters.exact - before.exact;
  state_->counters.open += engine.counters.open - before.open;
  state_->counters.rejected += engine.counters.rejected - before.rejected;
  return tensor;
}

Evaluation::Alternatives Evaluation::alternatives(std::size_t i, const std::optional<Format>& store, std::size_t run, std::int64_t flat) {
  const Engine::Alternatives a = state_->run(run).alternatives(root(i, store, run), flat);
  return {a.nodes, a.sets};
}

const Counters& Evaluation::counters() const { return state_->counters; }
const EvaluateOptions& Evaluation::options() const { return state_->options; }
const Graph& Evaluation::graph() const { return *state_->graph; }
const std::vector<Tensor>& Evaluation::inputs() const { return state_->inputs; }

}  // namespace erx
