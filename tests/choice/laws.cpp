#include <doctest/doctest.h>

#include "tests/choice/checks.hpp"

using namespace erx::test;

TEST_CASE("choices: small specs allow their executions and nothing else") {
  Figures figures;
  for (const Check& check : choice_checks()) {
    const auto found = check.run(1, figures);
    CHECK_MESSAGE(!found, *found);
  }
  MESSAGE(figures.cases << " specs, " << figures.values << " outputs");
  CHECK(figures.cases > 10);
}
