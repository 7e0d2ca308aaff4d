// The laws of roundings that the planted mistakes are held against.
#include <doctest/doctest.h>

#include <cstdio>

#include "tests/round/checks.hpp"

using namespace erx::test;

TEST_CASE("roundings: no legal result of one rounding or one widened operation is left out") {
  struct {
    const char* name;
    const std::vector<Check>& checks;
    long least;  // results, so that nothing passes by trying nothing
  } parts[] = {{"roundings", rounding_checks(), 100000}, {"functions", function_checks(), 100000}, {"beside powers of two", open_end_checks(), 10000}};
  for (const auto& [name, checks, least] : parts) {
    Figures figures;
    for (const Check& check : checks) {
      INFO(check.name);
      const std::optional<std::string> found = check.run(100, figures);
      CHECK_MESSAGE(!found, found.value_or(""));
    }
    CHECK(figures.values > least);
    std::printf("%s: %ld cases, %ld legal results\n", name, figures.cases, figures.values);
  }
}
