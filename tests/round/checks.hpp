// Checks of one rounding, of sets that are rounded, and of widening, that the tests run once and the planted mistakes one by one.
// Each returns the first legal value that a rule leaves out (or the first wrong one), or nothing.
#pragma once
#include <vector>

#include "tests/sum/checks.hpp"

namespace erx::test {

const std::vector<Check>& rounding_checks();
const std::vector<Check>& open_end_checks();  // functions within ulps, beside a power of two
const std::vector<Check>& function_checks();  // functions and their rounding, from array to array

}  // namespace erx::test
