// The laws of recurrences: no legal execution is left out, and the sets stay as sharp as they are.
#include <doctest/doctest.h>

#include <cstdio>

#include "tests/scan/checks.hpp"

using namespace erx::test;

TEST_CASE("recurrences: every execution is in the set, and sets stay sharp") {
  Figures figures;
  for (const Check& check : scan_checks()) {
    INFO(check.name);
    figures.rule = check.name;
    const auto found = check.run(60, figures);
    CHECK_MESSAGE(!found, found.value_or(""));
  }
  CHECK(figures.cases > 3000);
  std::printf("recurrences in small formats: %ld lines, %ld legal results\n", figures.cases, figures.values);
  for (const auto& [rule, w] : figures.widths)
    std::printf("  %-28s %6ld %8.3f %9.1f  %.1f %%\n", rule.c_str(), w.count, w.sum / static_cast<double>(w.count), w.largest,
                w.single ? 100 * static_cast<double>(w.needless) / static_cast<double>(w.single) : 0);
}
