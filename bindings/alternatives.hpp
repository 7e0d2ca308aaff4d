// A lint for the examples of a file: alternatives of an any_of that have the same values on all of its inputs.
// Either one is superfluous, or no example shows what it is there for.
//   Alternatives lint;   lint.see(graph, inputs, options);  ..   lint.warnings()
#pragma once
#include <map>
#include <set>
#include <utility>
#include <vector>

#include "eval/evaluate.hpp"
#include "ir/error.hpp"

namespace erx {

class Alternatives {
 public:
  /// Compares the alternatives of every any_of that is written in the text, for the inputs of one example.
  /// What is not known exactly counts as different, and so do more than 65536 elements, 16 alternatives or 16 instances in a loop.
  void see(const Graph&, const std::vector<Tensor>& inputs, const EvaluateOptions&);

  /// One for each alternative that no example tells from an earlier one.
  std::vector<Diagnostic> warnings() const;

 private:
  using Place = std::pair<const Source*, std::uint32_t>;  // where it is written
  struct Choice {
    Span at;
    std::size_t count = 0;  // of alternatives
    std::set<std::pair<std::size_t, std::size_t>> differ;  // told apart by an example
    bool is_open = false;                                  // too much to compare
  };
  std::map<Place, Choice> choices_;
};

}  // namespace erx
