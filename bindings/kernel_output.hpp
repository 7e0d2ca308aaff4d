// The output of a kernel that is written as an expression: of a `mutant`, or of `covers` and `rejects` without numbers.
// Where the expression leaves a choice, one execution is taken (ops/execution.hpp).
//   auto outputs = kernel_outputs(spec, line, inputs, options);
#pragma once
#include <map>
#include <string>
#include <vector>

#include "eval/evaluate.hpp"
#include "grammar/program.hpp"

namespace erx {

/// In the order of the results, or of the one that the line names.
/// errors: Error for an expression that does not fit the inputs, or has several values after every choice is made.
std::vector<Tensor> kernel_outputs(const Spec&, const ExampleLine&, const std::map<std::string, Tensor>& inputs, const EvaluateOptions&);

}  // namespace erx
