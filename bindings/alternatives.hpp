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
  /// What is not known exactly, or has more than 65536 elements, counts as different.
  void see(const Graph&, const std::vector<Tensor>& inputs, const EvaluateOptions&);

  /// One for each alternative that no example tells from an earlier one.
  std::vector<Diagnostic> warnings() const;

 private:
  struct Choice {
    std::vector<Span> alternatives;
    std::set<std::pair<std::size_t, std::size_t>> differ;  // told apart by an example
  };
  std::map<std::pair<const Source*, std::uint32_t>, Choice> choices_;  // by where they are written
};

}  // namespace erx
