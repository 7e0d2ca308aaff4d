// The laws of recurrences: no legal execution is left out, and the sets stay as sharp as they are.
#include <doctest/doctest.h>

#include <cstdio>

#include "ops/scan.hpp"
#include "tests/scan/checks.hpp"

using namespace erx;
using namespace erx::test;

namespace {

/// Values of the format in the set, for each value between the least and the greatest legal result: recorded. A change that makes
/// sets wider has to say so here and in docs/soundness.md; the cases are the same on every machine.
struct Recorded {
  const char* rule;
  double mean, largest, needless;  // needless: share of the states with one result whose set is wider
};

void check(const std::vector<Check>& checks, int effort, const std::vector<Recorded>& recorded) {
  Figures figures;
  for (const Check& c : checks) {
    INFO(c.name);
    figures.rule = c.name;
    const auto found = c.run(effort, figures);
    CHECK_MESSAGE(!found, found.value_or(""));
  }
  std::printf("recurrences: %ld lines, %ld results; width of the set in values of the format, over that of the results\n", figures.cases, figures.values);
  for (const Recorded& r : recorded) {
    INFO(std::string(r.rule));
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

TEST_CASE("recurrences: every execution is in the set, and sets stay sharp") {
  check(scan_checks(), 150, {
      {"seq", 1, 1, 0},
      {"seq, sets", 1, 1, 0},
      {"seq, flushed, ftz", 1, 1, 0},
      {"any, hull", 1.004, 4.6, 0},
      {"any, hull, sets", 1.0084, 3, 0},
      {"any, hull, flushed, ftz", 1.003, 2.7, 0},
      {"any, bound", 19.46, 927, 0.538},
      {"any, bound, sets", 4.89, 84, 0.355},
      {"any, bound, flushed, ftz", 58.49, 890, 0.567},
  });
}

TEST_CASE("recurrences: loops over many lines, beside exact rationals") {
  check(scan_tile_checks(), 100, {{"any, tiles", 1.233, 5.9, 0}, {"any, tiles, sets", 1.034, 101, 0}});
}

TEST_CASE("recurrences: intervals taken in order do not hold other associations") {
  // 3 bits: in order -0.0625, as (a_3 a_2) h_1 + .. -0.0546875
  ScanRule rule;
  rule.format = make_format({.e = 6, .m = 2});
  ScanLine<F64> line;
  for (const double a : {-7.0 / 32, -3.0 / 8, -3.0}) line.a.push_back(Set<F64>::point(F64::exact(a)));
  for (const double b : {-7.0 / 128, 0.0, 0.0}) line.b.push_back(Set<F64>::point(F64::exact(b), b == 0 ? has_pzero : 0));
  rule.in_order = true;
  const Set<F64> one = scan_states(line, rule, {}).back();
  CHECK(one.lo.d == -0.0625);
  CHECK(one.hi.u == -0.0625);
  rule.in_order = false;
  for (const std::int64_t steps : {0, 3}) {
    rule.hull_steps = steps;
    const Set<F64> any = scan_states(line, rule, {}).back();
    CHECK(any.lo.d <= -0.0625);
    CHECK(any.hi.u >= -0.0546875);
  }
}
