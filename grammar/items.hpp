// The items of a file by name, those of imported files included: what an expression may refer to beside its own names.
//   auto items = collect_items(ast, errors);   items->functions.at("relu").syntax
#pragma once
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "grammar/ast.hpp"
#include "ir/error.hpp"
#include "ir/format.hpp"

namespace erx {

struct Items {
  struct Item {
    const Syntax* syntax;
    const Items* home;  // of the file that defines it: its body sees the names of that file
  };

  const Ast* ast = nullptr;
  std::map<std::string, Item> functions;
  std::map<std::string, Item> formats;
  std::map<std::string, Item> specs;  // of this file only
  std::vector<std::unique_ptr<const Items>> imported;
};

/// errors: two items of one name.
std::unique_ptr<const Items> collect_items(const Ast&, std::vector<Diagnostic>& errors);

}  // namespace erx
