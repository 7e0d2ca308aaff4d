// Numbers as people read them: the shortest decimal that reads back as the same double.
//   number_text(0.3) == "0.3"    number_text(-INFINITY) == "-inf"    index_text({0, 3}) == "[0, 3]"
#pragma once
#include <string>
#include <string_view>

#include "ir/attribute_text.hpp"
#include "ir/shape.hpp"

namespace erx {

/// The index of an element counted in C order, and an index as text; "" for the only element of a 0-d tensor.
Extents unravel(std::int64_t flat, const Extents&);
std::string index_text(const Extents& index);

std::string grouped(std::int64_t n);  // "1,835,008"

/// 3, "violation" -> "3 violations"; 1 -> "1 violation".
std::string counted(std::int64_t n, std::string_view noun);

}  // namespace erx
