// The items of a file by name: what an expression may refer to beside its own names.
//   Items items = collect_items(ast, errors);   items.functions.at("relu")
#pragma once
#include <map>
#include <string>
#include <vector>

#include "grammar/ast.hpp"
#include "ir/error.hpp"
#include "ir/format.hpp"

namespace erx {

struct Items {
  std::map<std::string, const Syntax*> functions;
  std::map<std::string, const Syntax*> formats;
  std::map<std::string, const Syntax*> specs;
};

/// errors: two items of one name.
Items collect_items(const Ast&, std::vector<Diagnostic>& errors);

}  // namespace erx
