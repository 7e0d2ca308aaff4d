// Runs the `example` blocks of a file: `covers` must be covered, `rejects` and every `mutant` must be rejected.
//   ExamplesRun run = run_examples(*program);   run.failed == 0
#pragma once
#include <functional>
#include <string>
#include <vector>

#include "eval/evaluate.hpp"
#include "grammar/program.hpp"

namespace erx {

/// One `covers`, `rejects` or `mutant` line (several results: the lines that make one output).
struct ExampleOutcome {
  std::string example;   // its title
  std::string claim;     // "covers [[1, 2], [3, 4]]"
  Span span;
  bool passed = false;
  bool wrong = false;    // the example itself is wrong: an Error
  std::string why = {};  // of a failure: the report, or the diagnostics
  std::string note = {};  // of an expression that passed: "refuted in 3 of 8 elements"
  std::vector<std::string> warnings = {};
};

struct ExamplesRun {
  std::size_t examples = 0, passed = 0, failed = 0, wrong = 0;
  std::vector<Diagnostic> warnings = {};  // of all examples together
};

/// Calls `each` after every claim. Throws Interrupted.
ExamplesRun run_examples(const Program&, const EvaluateOptions&, const std::function<void(const ExampleOutcome&)>& each);

}  // namespace erx
