// The subscripts of an einsum: which letter stands for which axis.
//   Subscripts s = read_subscripts("ij,jk->ik", 2, place);  s.operands[0] == "ij", *s.result == "ik"
#pragma once
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "ir/error.hpp"

namespace erx {

/// Letters, and one '.' for `...`.
struct Subscripts {
  std::vector<std::string> operands;
  std::optional<std::string> result;  // empty: implicit
};

/// parameters: the text between the quotes; `place(first, last)` is its part from one character up to another.
/// errors: Error with a caret inside the text.
Subscripts read_subscripts(const std::string& text, std::size_t operands, const std::function<Span(std::size_t, std::size_t)>& place);

/// The letters of an implicit result: `...` first, then those that stand once, in the order of the alphabet.
std::string implicit_result(const Subscripts&);

}  // namespace erx
