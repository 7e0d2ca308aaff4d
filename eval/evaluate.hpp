// The set of every element of every result of a graph, for concrete inputs.
// Bulk float64 enclosures over tiles; elements that stay undecided climb alone (ladder.hpp); what each tier decided is counted.
//   Evaluation e(graph, inputs);   const SetTensor& s = e.result(0);
#pragma once
#include <atomic>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "eval/set_tensor.hpp"
#include "eval/tensor.hpp"
#include "ir/graph.hpp"
#include "ops/num/f64.hpp"

namespace erx {

/// How many elements each tier decided, over all materialised nodes.
struct Counters {
  std::int64_t bulk = 0;   // float64 enclosure
  std::int64_t compensated = 0;  // dot products in twice the precision
  std::int64_t big = 0;    // MPFR
  std::int64_t exact = 0;  // exact rationals
  std::int64_t open = 0;   // no tier: the hull of the last enclosure was taken
  std::int64_t rejected = 0;  // panels of a matrix product whose checksum failed: done again leaf by leaf

  Counters& operator+=(const Counters& o) { return add(o, 1); }
  Counters operator-(const Counters& o) const { return Counters(*this).add(o, -1); }

 private:
  Counters& add(const Counters& o, std::int64_t times) {
    for (std::int64_t Counters::*field : {&Counters::bulk, &Counters::compensated, &Counters::big, &Counters::exact, &Counters::open, &Counters::rejected})
      this->*field += times * (o.*field);
    return *this;
  }
};

struct EvaluateOptions {
  int threads = 0;                  // 0: all cores
  const std::atomic<bool>* stop = nullptr;  // set by Ctrl-C; evaluation then throws Interrupted
  void (*poll)() = nullptr;         // called between steps, in whatever thread; may throw Interrupted
  void (*progress)(double fraction, void*) = nullptr;
  void* progress_data = nullptr;
  // Tests compare what the tiers make of the same elements, and tiles of other sizes.
  enum class Tier { f64, big, exact };
  Tier lowest = Tier::f64;    // every element climbs from here; exact: what is not decided there, by MPFR
  Tier highest = Tier::exact;  // and what is open here keeps its enclosure
  std::int64_t tile = 0;      // elements at a time, rows of a matrix product; 0: as many as are fast
};

struct Interrupted {};

class Evaluation {
 public:
  /// `inputs` in the order of graph.inputs, with the types and extents of those nodes.
  /// errors: Error if a size limit is exceeded. Throws Interrupted.
  Evaluation(std::shared_ptr<const Graph> graph, std::vector<Tensor> inputs, EvaluateOptions = {});
  ~Evaluation();
  Evaluation(Evaluation&&) noexcept;
  Evaluation& operator=(Evaluation&&) noexcept;

  /// One run per assignment of the labelled choices (any_of<"name">, choose, the number of parts of a split sum); 1 without, at most 64.
  std::size_t runs() const;
  std::string run_name(std::size_t run) const;  // "name = alternative 2, s = 128"; "" without labels

  /// The text of the first assumption of the spec that these inputs do not meet; nothing if they meet all.
  /// errors: Error where it cannot be told.
  std::optional<std::string> failed_assumption();

  /// Sets of result i; `store`: rounded once (to nearest even) into this format first.
  const SetTensor& result(std::size_t i, const std::optional<Format>& store = {}, std::size_t run = 0);

  /// One element under each alternative of the choice nearest to the result, as expressions of the graph and sets.
  struct Alternatives {
    std::vector<NodeId> nodes = {};
    const Graph* graph = nullptr;  // that they are nodes of: with loops written out it is not that of the spec
    std::vector<Set<F64>> sets = {};
    std::vector<Set<F64>> imag = {};  // imaginary parts of a complex element
  };
  Alternatives alternatives(std::size_t i, const std::optional<Format>& store, std::size_t run, std::int64_t flat);

  class Parts;  // parts.hpp

  const Counters& counters() const;
  const Graph& graph() const;
  std::shared_ptr<const Graph> shared_graph() const;
  const EvaluateOptions& options() const;
  const std::vector<Tensor>& inputs() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace erx
