// The laws of roundings that the planted mistakes are held against.
#include <doctest/doctest.h>

#include <cstdio>

#include "tests/round/checks.hpp"

using namespace erx::test;

TEST_CASE("roundings: no legal result of one rounding or one widened operation is left out") {
  Figures figures;
  for (const Check& check : rounding_checks()) {
    INFO(check.name);
    const std::optional<std::string> found = check.run(100, figures);
    CHECK_MESSAGE(!found, found.value_or(""));
  }
  CHECK(figures.values > 100000);
  Figures functions;
  for (const Check& check : function_checks()) {
    INFO(check.name);
    const std::optional<std::string> found = check.run(100, functions);
    CHECK_MESSAGE(!found, found.value_or(""));
  }
  CHECK(functions.values > 100000);
  std::printf("roundings: %ld cases, %ld legal results\n", figures.cases, figures.values);
}
