// Choices counted out: every output of small specs, legal or not, under every choice that an implementation has.
#pragma once
#include "tests/sum/checks.hpp"

namespace erx::test {

const std::vector<Check>& choice_checks();  // grammar to check: any_of, labels, split, sr, complex parts, flushed operands

}  // namespace erx::test
