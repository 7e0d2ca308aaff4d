// The words of a command line as specs, inputs and outputs: "gemm.erx:NAME", "A=a.npy", "alpha=3/10", "inputs.npz".
//   LoadedSpec s = load_spec("gemm.erx:gemm");   auto inputs = read_inputs(s.spec(), {"A=a.npy", "alpha=0.3"});
#pragma once
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "eval/tensor.hpp"
#include "grammar/program.hpp"

namespace erx {

/// What "-" is called in messages, and in front of ":NAME".
constexpr const char* standard_input = "<stdin>";

struct LoadedSpec {
  std::shared_ptr<const Program> program;
  std::string name;  // "" where the file has one
  const Spec& spec() const { return program->spec(name); }
};

/// A path, a path with the name of a spec after the last ".erx:", or "-" for standard input. errors: those of load and Program::spec.
LoadedSpec load_spec(const std::string& place);

/// The program in a file or, for "-", on standard input; its warnings go to standard error.
std::shared_ptr<const Program> load_program(const std::string& path);

/// A number is the nearest double, "3/10" an exact fraction, "true" and "false" booleans; anything else is no number.
/// An integer for an integer type stays exact. errors: Error for a number past the range of double, or a division by 0.
std::optional<Tensor> number_argument(const std::string& text, const std::optional<Type>& declared);

/// NAME=value, NAME=file, or an archive of all inputs.
std::map<std::string, Tensor> read_inputs(const Spec&, const std::vector<std::string>& words);

/// One tensor for each result of the graph, in order: a file for the only result, NAME=file for several, or an archive.
std::vector<Tensor> read_outputs(const Graph&, const std::vector<std::string>& words);

}  // namespace erx
