// Numbers written in a text, as tensors: exact, or an Error at their place.
//   Tensor t = tensor_of(literal, Type::of(*find_format("bf16")), "A");
#pragma once
#include <optional>
#include <string>

#include "eval/tensor.hpp"
#include "grammar/program.hpp"

namespace erx {

/// errors: Error with the span of the literal where an element is no value of `type`. Without a type a single number stays exact
/// and every element of a list has to be a double.
Tensor tensor_of(const LiteralTensor&, const std::optional<Type>& type, const std::string& name);

/// The literal as text, "[[1, 2], [3, 4]]", cut after `limit` characters.
std::string literal_text(const LiteralTensor&, std::size_t limit = 60);

}  // namespace erx
