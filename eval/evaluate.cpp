#include "eval/evaluate.hpp"

#include "eval/choice_label.hpp"
#include "eval/evaluation_state.hpp"
#include "eval/float_guard.hpp"
#include "eval/loops.hpp"
#include "ops/op.hpp"
#include "ops/planted.hpp"

namespace erx {

namespace {

constexpr std::size_t max_runs = 64;

}  // namespace

/// any_of<"name"> and choose: one choice for the whole call, whatever the place.
void Evaluation::State::add_label(const Node& node) {
  const ChoiceLabel label = choice_label(node.attributes.text);
  Choice choice{label.name, choice_key(node), {}};
  for (std::size_t k = 0; k < node.operands.size(); ++k)
    choice.values.push_back(k < label.values.size() ? label.values[k] : "alternative " + std::to_string(k + 1));
  for (Choice& c : choices) {
    if (c.key != choice.key) continue;
    if (c.values.size() != choice.values.size())
      throw Error(Diagnostic{node.span, "any_of<\"" + label.name + "\"> has " + std::to_string(choice.values.size()) + " alternatives here and " + std::to_string(c.values.size()) + " elsewhere", ""});
    if (label.values.empty()) return;
    const bool has_numbers = c.values[0].rfind("alternative ", 0) != 0;
    if (has_numbers && c.values != choice.values)
      throw Error(Diagnostic{node.span, "`choose " + label.name + "` has other numbers here than elsewhere", "one choice has one set of numbers"});
    c.values = std::move(choice.values);
    return;
  }
  choices.push_back(std::move(choice));
  if (const std::size_t count = assignments(); count > max_runs)
    throw Error(Diagnostic{node.span, "the labelled choices have more than 64 assignments", "this label makes it " + std::to_string(count)});
}

void Evaluation::State::add_labels(const Graph& g) {
  for (NodeId id = 0; id < g.size(); ++id) {
    if (row(g[id]).is_choice && !g[id].attributes.text.empty()) add_label(g[id]);
    if (is_fold(g[id])) add_labels(g[id].attributes.loop->body);
  }
}

/// The number of parts of a split sum is one choice for the whole call too. Where assignments become too many, the hull has to do.
void Evaluation::State::add_splits() {
  if (planted(Mistake::split_by_element)) return;
  int count = 0;
  for (NodeId id = 0; id < split.graph->size(); ++id) {  // of what is evaluated: its nodes are the engine's
    const Node& node = (*split.graph)[id];
    const auto& numbers = node.attributes.order.numbers;
    if (row(node).gather != Gather::accumulate || node.attributes.order.kind != OrderKind::split || numbers.size() < 2) continue;
    ++count;
    if (assignments() * numbers.size() > max_runs) continue;
    const std::string name = node.name.empty() ? count == 1 ? "s" : "s of sum " + std::to_string(count) : "s of `" + node.name + "`";
    Choice choice{name, split_key(id), {}};
    for (const std::int64_t s : numbers) choice.values.push_back(std::to_string(s));
    choices.push_back(std::move(choice));
  }
}

Evaluation::Evaluation(std::shared_ptr<const Graph> graph, std::vector<Tensor> inputs, EvaluateOptions options)
    : state_(std::make_unique<State>()) {
  state_->graph = std::move(graph);
  state_->inputs = std::move(inputs);
  state_->whole = with_loops_to_step(state_->graph);
  state_->split = split_complex(state_->whole, state_->inputs);
  state_->options = options;
  state_->add_labels(*state_->whole);
  state_->add_splits();
}

Evaluation::~Evaluation() = default;
Evaluation::Evaluation(Evaluation&&) noexcept = default;
Evaluation& Evaluation::operator=(Evaluation&&) noexcept = default;

std::size_t Evaluation::runs() const { return state_->assignments(); }

std::string Evaluation::run_name(std::size_t run) const {
  std::string text;
  const auto branches = state_->branches(run);
  for (const auto& c : state_->choices)
    text += (text.empty() ? "" : ", ") + c.name + " = " + c.values[static_cast<std::size_t>(branches.at(c.key))];
  return text;
}

std::optional<std::string> Evaluation::failed_assumption() {
  const FloatGuard guard;
  for (const Assumption& a : state_->split.graph->assumptions) {
    const Plane& p = state_->run(0).ensure(a.node).hull;
    bool holds = true;
    for (std::size_t i = 0; i < p.lo_d->size(); ++i) {
      if ((*p.lo_d)[i] != (*p.hi_u)[i])
        throw Error(Diagnostic{a.span, "the assumption `" + a.text + "` cannot be decided", "true or false, as far as can be computed"});
      holds &= (*p.lo_d)[i] != 0;
    }
    if (!holds) return a.text;
  }
  return {};
}

NodeId result_node(Engine& engine, std::size_t i, const std::optional<Format>& store) {
  const NodeId node = engine.graph().results.at(i).node;
  if (!store) return node;
  const auto key = std::pair{i, store->name};
  auto& made = engine.stored_results;
  const auto it = made.find(key);
  return it != made.end() ? it->second : made[key] = engine.stored_in(node, *store);
}

bool has_result(const Engine& engine, std::size_t i, const std::optional<Format>& store) {
  if (!store) return engine.is_stored(engine.graph().results.at(i).node);
  const auto it = engine.stored_results.find({i, store->name});
  return it != engine.stored_results.end() && engine.is_stored(it->second);
}

const SetTensor& Evaluation::result(std::size_t i, const std::optional<Format>& store, std::size_t run) {
  const FloatGuard guard;
  Engine& engine = state_->run(run);
  const Counters before = engine.counters;
  const SetTensor& tensor = engine.ensure(result_node(engine, i, store)).tensor;
  state_->counters += engine.counters - before;
  return tensor;
}

Evaluation::Alternatives Evaluation::alternatives(std::size_t i, const std::optional<Format>& store, std::size_t run, std::int64_t flat) {
  const FloatGuard guard;
  Engine& engine = state_->run(run);
  return state_->named(engine.alternatives(result_node(engine, i, store), flat));
}

Evaluation::Alternatives Evaluation::State::named(const Engine::Alternatives& a) const {
  if (a.sets.empty()) return {};
  return {(*whole)[split.origin.at(a.choice)].operands, whole.get(), a.sets, a.imag};
}

const Counters& Evaluation::counters() const { return state_->counters; }
const EvaluateOptions& Evaluation::options() const { return state_->options; }
const Graph& Evaluation::graph() const { return *state_->graph; }
std::shared_ptr<const Graph> Evaluation::shared_graph() const { return state_->graph; }
const std::vector<Tensor>& Evaluation::inputs() const { return state_->inputs; }

}  // namespace erx
