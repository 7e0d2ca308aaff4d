// The laws of rounded sums: no legal execution is left out, and the sets stay as sharp as they are.
#include <doctest/doctest.h>

#include <cstdio>

#include "tests/sum/checks.hpp"

using namespace erx::test;

namespace {

void run(const std::vector<Check>& checks, int effort, Figures& figures) {
  for (const Check& check : checks) {
    INFO(check.name);
    const std::optional<std::string> found = check.run(effort, figures);
    CHECK_MESSAGE(!found, found.value_or(""));
  }
}

}  // namespace

TEST_CASE("sums: every execution is in the set, and sets stay sharp") {
  Figures figures;
  run(order_checks(), 150, figures);
  CHECK(figures.cases > 30000);
  std::printf("sums in small formats: %ld cases, %ld legal results\n", figures.cases, figures.values);
  // Values of the format in the set, for each legal value between the least and the greatest result.
  struct Row {
    const char* name;
    const Figures::Width& width;
    double mean, needless;  // recorded; a change that makes sets wider has to say so here
  };
  for (const Row& r : {Row{"exact hull", figures.hull, 1, 0}, Row{"fixed order", figures.fixed, 1, 0}, Row{"stored parts", figures.split, 1.1, 0.02},
                       Row{"chain rule", figures.chain, 6, 0.5}, Row{"closed bound", figures.closed, 13, 0.6}, Row{"within", figures.within, 5, 0.25}}) {
    const double mean = r.width.sum / static_cast<double>(r.width.count), needless = static_cast<double>(r.width.needless) / static_cast<double>(r.width.single);
    std::printf("  %-13s width/hull mean %.3f, largest %.0f; %.1f %% of sums with one result get a wider set\n", r.name, mean, r.width.largest, 100 * needless);
    CHECK_MESSAGE(r.width.count > 100, r.name);
    CHECK_MESSAGE(mean <= r.mean, r.name);
    CHECK_MESSAGE(needless <= r.needless, r.name);
  }
}

TEST_CASE("sums: tensor cores in any grouping and order") {
  Figures figures;
  run(tensor_core_checks(), 150, figures);
}

TEST_CASE("sums: matrix products, element by element and exactly") {
  Figures figures;
  run(matrix_checks(), 1, figures);
  std::printf("matrix sums: %ld products, %ld elements\n", figures.cases, figures.values);
}
