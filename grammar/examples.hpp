// The example blocks of a file as numbers.
//   example "two by two" { A = [[1, 2], [3, 4]]  covers [[1, 2], [3, 4]] }
#pragma once
#include <vector>

#include "grammar/ast.hpp"
#include "grammar/program.hpp"

namespace erx {

/// errors: a ragged list, something that is no number, a name that is no input or result of the spec.
Example read_example(const Ast&, const Syntax& item, const std::vector<Spec>& specs, std::vector<Diagnostic>& errors);

}  // namespace erx
