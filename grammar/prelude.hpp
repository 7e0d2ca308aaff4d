// The standard functions of the language, parsed once: every file sees them, and may define functions of the same names.
//   prelude().functions.at("softmax")        is_prelude(diagnostic.span)
#pragma once
#include <string>
#include <vector>

#include "grammar/items.hpp"

namespace erx {

const Items& prelude();
bool is_prelude(const Span&);

/// A function as users call it, and what it is: {"softmax(x, axis=-1)", "exp(x) / sum(exp(x)) along ..."}.
struct PreludeFunction {
  std::string call, meaning;
};
std::vector<PreludeFunction> prelude_functions();

}  // namespace erx
