// The texts of a node's attributes as they are written between < and >, in an index, and as arguments.
//   rounding_text(a) is "bf16, rtz, sat"      accumulation_text(a) is "f32, split({1, 2}, store=bf16)"
#pragma once
#include <set>
#include <string>

#include "ir/graph.hpp"

namespace erx {

std::string number_text(double);              // shortest that reads back; nan, inf, -inf
std::string quoted(const std::string& text);  // with escapes
std::string rounding_text(const Attributes&);
std::string accumulation_text(const Attributes&);
std::string shape_argument(const Shape&);  // "(M, 4)"
/// `tiles`: the loop variables that stand for a slice themselves.
std::string slices_text(const Attributes&, const Shape& operand, const std::set<std::string>& tiles = {});
std::string moving_text(const Attributes&, int slice, std::int64_t number);  // "2*i + 3": the number where the variables are 0, and how it moves

}  // namespace erx
