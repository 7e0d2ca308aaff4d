// A spec with its inputs, ready to be evaluated: what the command line, the examples and the Python package share.
//   Call call = make_call(spec, {{"A", a}, {"alpha", Tensor::scalar(0.3)}});   Evaluation e(call.graph, call.inputs);
#pragma once
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "eval/tensor.hpp"
#include "grammar/program.hpp"

namespace erx {

struct Call {
  std::shared_ptr<const Graph> graph;
  std::vector<Tensor> inputs;  // in the order of graph->inputs, with their types
};

/// Checks that every argument is exactly representable in its declared type, lowers the spec and orders the inputs.
/// errors: Error for an argument that does not fit, and those of Spec::lower.
Call make_call(const Spec&, std::map<std::string, Tensor> arguments);

/// The same for an expression of an example in place of what the spec returns (Spec::lower_variant).
Call make_call(const Spec&, std::map<std::string, Tensor> arguments, const Syntax& expression, const std::string& result);

/// What a tensor is to a spec: its type, extents and, for a 0-d one, its value.
Binding binding_of(const Tensor&);

/// The declared type of a parameter by name; none where it has none or where there is no such parameter.
std::optional<Type> declared_type(const Spec&, const std::string& name);

/// An output as the declared result's type where that holds every element (bf16 values kept in a float32 file), so that distances are
/// counted in ulps of the format that the spec names. The verdict is the same either way.
Tensor as_output(const Graph&, const Result&, Tensor output);

/// What results are called in files and messages: their names, "output" for the only one without a name.
std::string result_name(const std::string& name);

}  // namespace erx
