// A report as a picture (SVG text): where the violations of each result lie, coloured by their distance, and the mean distance by column.
// Colours are those of viridis, dark for far, so they can be told apart without colour vision and in print.
//   write_file("where.svg", to_svg(report));
#pragma once
#include <string>

#include "eval/check.hpp"

namespace erx {

std::string to_svg(const Report&);

}  // namespace erx
