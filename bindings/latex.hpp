// An expression of the text as a formula in LaTeX, as the reader of a paper would write it.
// round<bf16>(e) is \operatorname{bf16}(e), `in f32 { e }` is [e]_{f32}, any_of(a, b) a list with "or"; parentheses are those needed.
//   latex(syntax)   x / y + 1  ->  \frac{x}{y} + 1
#pragma once
#include <string>

#include "grammar/ast.hpp"

namespace erx {

std::string latex(const Syntax& expression);
/// A name: alpha is \alpha, c1 is c_{1}, ab is \mathit{ab}.
std::string latex_name(const std::string& name);

}  // namespace erx
