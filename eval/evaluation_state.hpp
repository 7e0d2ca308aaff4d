// What an evaluation holds: the graph as it is evaluated, its choices for the whole call, one engine for each assignment of them.
//   state.run(0).ensure(node)
#pragma once
#include "eval/engine.hpp"
#include "eval/evaluate.hpp"
#include "eval/split.hpp"

namespace erx {

struct Evaluation::State {
  std::shared_ptr<const Graph> graph;
  std::shared_ptr<const Graph> whole;  // with the loops written out that are not evaluated step by step
  std::vector<Tensor> inputs;
  Split split;  // what is evaluated
  EvaluateOptions options;
  struct Choice {
    std::string name, key;            // key: as the engine asks for it
    std::vector<std::string> values;  // what each alternative is called
  };
  std::vector<Choice> choices;
  std::vector<std::unique_ptr<Engine>> runs;        // one per assignment of the labels, made when asked for
  Counters counters;

  Engine& run(std::size_t k) {
    if (runs.size() <= k) runs.resize(k + 1);
    if (!runs[k]) runs[k] = std::make_unique<Engine>(*split.graph, split.inputs, options, branches(k));
    return *runs[k];
  }
  std::map<std::string, int> branches(std::size_t k) const {
    std::map<std::string, int> result;
    for (const Choice& c : choices) {
      result[c.key] = static_cast<int>(k % c.values.size());
      k /= c.values.size();
    }
    return result;
  }
  std::size_t assignments() const {
    std::size_t count = 1;
    for (const Choice& c : choices) count *= c.values.size();
    return count;
  }
  /// What an engine says of alternatives, in nodes of the graph with its loops.
  Alternatives named(const Engine::Alternatives&) const;
  void add_label(const Node&);
  void add_labels(const Graph&);
  void add_splits();
};

/// The node of a result as it is asked for: rounded into `store` first, if there is one. `i`: among the results of the engine's graph.
NodeId result_node(Engine&, std::size_t i, const std::optional<Format>& store);
bool has_result(const Engine&, std::size_t i, const std::optional<Format>& store);  // stored already

}  // namespace erx
