// Text to syntax tree. All mistakes of a file are reported at once: parsing goes on at the next statement and the next item.
//   std::vector<Diagnostic> errors;  auto ast = parse_syntax(source, errors);
#pragma once
#include <memory>
#include <vector>

#include "grammar/ast.hpp"
#include "ir/error.hpp"

namespace erx {

/// What parsed; statements and items that did not are left out or of form `error`.
std::shared_ptr<const Ast> parse_syntax(const std::shared_ptr<const Source>& source, std::vector<Diagnostic>& errors);

}  // namespace erx
