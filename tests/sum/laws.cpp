// The laws of rounded sums: no legal execution is left out, and the sets stay as sharp as they are.
#include <doctest/doctest.h>

#include <cstdio>

#include "tests/sum/checks.hpp"

using namespace erx::test;

namespace {

void run(const std::vector<Check>& checks, int effort, Figures& figures) {
  for (const Check& check : checks) {
    INFO(check.name);
    figures.rule = check.name;
    const std::optional<std::string> found = check.run(effort, figures);
    CHECK_MESSAGE(!found, found.value_or(""));
  }
}

/// Values of the format in the set, for each value between the least and the greatest legal result: recorded. A change that makes
/// sets wider has to say so here and in docs/soundness.md; the cases are the same on every machine.
struct Recorded {
  const char* rule;
  double mean, largest, needless;  // needless: share of the sums with one result whose set is wider
};

void check_sharpness(const Figures& figures, const std::vector<Recorded>& recorded) {
  std::printf("  %-28s %6s %8s %9s  %s\n", "rule", "sums", "mean", "largest", "one result, wider set");
  for (const Recorded& r : recorded) {
    INFO(r.rule);
    const auto found = figures.widths.find(r.rule);
    REQUIRE(found != figures.widths.end());
    const Figures::Width& w = found->second;
    const double mean = w.sum / static_cast<double>(w.count), needless = w.single ? static_cast<double>(w.needless) / static_cast<double>(w.single) : 0;
    std::printf("  %-28s %6ld %8.3f %9.1f  %.1f %%\n", r.rule, w.count, mean, w.largest, 100 * needless);
    CHECK(w.count > 100);
    CHECK(mean <= r.mean);
    CHECK(w.largest <= r.largest);
    CHECK(needless <= r.needless);
  }
}

}  // namespace

TEST_CASE("sums: every execution is in the set, and sets stay sharp") {
  Figures figures;
  run(order_checks(), 150, figures);
  CHECK(figures.cases > 30000);
  std::printf("sums in small formats: %ld cases, %ld legal results; width of the set in values of the format, over that of the results\n", figures.cases, figures.values);
  check_sharpness(figures, {
      {"any, hull", 1, 1, 0},
      {"any, hull, ftz", 1, 1, 0},
      {"any, chain rule", 3.985, 63, 0.43},
      {"any, chain rule, ftz", 8.426, 449, 0.557},
      {"any, closed bound", 7.981, 413, 0.53},
      {"any, closed bound, ftz", 21.629, 721, 0.66},
      {"any, grid rule", 1, 1, 0},
      {"assoc", 1, 1, 0},
      {"assoc, ftz", 1, 1, 0},
      {"assoc, chain rule", 5.137, 63, 0.488},
      {"assoc, chain rule, ftz", 9.616, 449, 0.592},
      {"seq, rseq", 1, 1, 0},
      {"seq, rseq, ftz", 1, 1, 0},
      {"pairwise", 1, 1, 0},
      {"pairwise, ftz", 1, 1, 0},
      {"blocked, hull", 1.796, 68, 0.163},
      {"blocked, hull, ftz", 1.664, 61, 0.172},
      {"blocked, bounds", 6.11, 481, 0.426},
      {"blocked, bounds, ftz", 9.453, 141, 0.481},
      {"split, hull", 1, 1, 0},
      {"split, hull, ftz", 1.08, 9, 0.041},
      {"split, bounds", 28.659, 14419, 0.637},
      {"split, bounds, ftz", 78.118, 12459, 0.83},
      {"height, hull", 1.006, 2, 0.003},
      {"height, hull, ftz", 1.004, 1.55, 0},
      {"height, chain rule", 4.328, 121.25, 0.393},
      {"height, chain rule, ftz", 38.657, 5312, 0.511},
      {"height, closed bound", 7.793, 359, 0.533},
      {"height, closed bound, ftz", 79.338, 8109.55, 0.64},
      {"within, chain rule", 4.649, 451, 0.226},
      {"within, closed bound", 8.52, 643, 0.288},
      {"blocked, from the right", 1, 1, 0},
      {"blocked, from the right, ftz", 1, 1, 0},
  });
}

TEST_CASE("sums: tensor cores in any grouping and order") {
  Figures figures;
  run(tensor_core_checks(), 150, figures);
  check_sharpness(figures, {{"tensor core", 178.78, 1726, 1}});
}

TEST_CASE("sums: matrix products, element by element and exactly") {
  Figures figures;
  run(matrix_checks(), 1, figures);
  std::printf("matrix sums: %ld products, %ld elements\n", figures.cases, figures.values);
}

TEST_CASE("sums: of enclosures and reductions in vectors, against exact sums and multiple precision") {
  Figures figures;
  run(enclosed_checks(), 20, figures);
  CHECK(figures.cases > 800);
  std::printf("sums of enclosures: %ld sums and graphs, %ld sets\n", figures.cases, figures.values);
}

TEST_CASE("sums: along lines in vectors, in any order and in one, as leaf by leaf") {
  Figures figures;
  run(line_checks(), 1, figures);
  CHECK(figures.cases > 80);
  std::printf("line sums: %ld graphs\n", figures.cases);
}

TEST_CASE("sums: in sequence, in segments, are bit for bit one addition after another") {
  Figures figures;
  run(chain_checks(), 100, figures);
  CHECK(figures.values > 1000);
  std::printf("sums in segments: %ld chains, %ld leaves not added one by one\n", figures.cases, figures.values);
}
