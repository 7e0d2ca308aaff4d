// Loops step by step: beside the same loops written out, and beside loops of plain float arithmetic.
#pragma once
#include "tests/sum/checks.hpp"

namespace erx::test {

const std::vector<Check>& loop_checks();

}  // namespace erx::test
