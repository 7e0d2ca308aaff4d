// The checks of recurrences that the tests run once, and the planted mistakes one by one: each returns the first legal state that
// is left out, or nothing.
#pragma once
#include "tests/sum/checks.hpp"

namespace erx::test {

const std::vector<Check>& scan_checks();
const std::vector<Check>& scan_tile_checks();  // ops: float64 loops against exact rationals

}  // namespace erx::test
