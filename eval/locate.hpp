// Where violations lie: whole tensor, some rows or columns, from an index on, at a period.
//   locate({512, 384}, {5, 389, 773})   {"column 5 of axis 1 only (3 of 512 elements there)"}
#pragma once
#include <string>
#include <vector>

#include "ir/shape.hpp"

namespace erx {

/// Plain sentences, most telling first; `outside` are flat indices in increasing order, `checked` elements were looked at.
std::vector<std::string> locate(const Extents& extents, const std::vector<std::int64_t>& outside, std::int64_t checked);

}  // namespace erx
