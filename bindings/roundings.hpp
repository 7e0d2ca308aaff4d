// Every node of a spec that rounds or has a choice, in words, in the order of the text; those of the functions it calls behind them.
//   for (const RoundingInWords& r : roundings(ast, item)) r.line, r.what, r.written
#pragma once
#include <cstddef>
#include <string>
#include <vector>

#include "grammar/ast.hpp"

namespace erx {

struct RoundingInWords {
  std::string file;      // where it is written
  std::size_t line = 0;  // counted from 1
  std::string written;   // on one line, cut where it is long
  std::string what;      // "rounded once to bf16, to nearest even"
};

std::vector<RoundingInWords> roundings(const Ast&, const Syntax& item);

}  // namespace erx
