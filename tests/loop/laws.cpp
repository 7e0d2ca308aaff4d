#include <doctest/doctest.h>

#include "tests/loop/checks.hpp"

using namespace erx::test;

TEST_CASE("loops: step by step is what the steps written out are") {
  Figures figures;
  for (const Check& check : loop_checks()) {
    const auto found = check.run(40, figures);
    CHECK_MESSAGE(!found, *found);
  }
  MESSAGE(figures.cases << " loops, " << figures.values << " values");
  CHECK(figures.cases > 50);
}
