#include "bindings/examples.hpp"

#include <doctest/doctest.h>

#include <vector>

using namespace erx;

namespace {

struct Outcomes {
  ExamplesRun run;
  std::vector<ExampleOutcome> all;
};

Outcomes outcomes(const std::string& text) {
  Outcomes o;
  const auto program = parse(text, "x.erx");
  o.run = run_examples(*program, {}, [&](const ExampleOutcome& one) { o.all.push_back(one); });
  return o;
}

const std::string spec = "spec s(x: f32[N], alpha: real = 1) -> bf16[N] {\n  return round<bf16>(alpha * x)\n}\n";

}  // namespace

TEST_CASE("examples: covers has to be covered, rejects to be rejected") {
  const auto o = outcomes(spec + R"(
example "halves" {
  x = [0.5, 1.00390625]
  covers [0.5, 1]
  rejects [0.5, 1.0078125]
  rejects [0.5, 1]
  covers [0.5, 1.0078125]
}
)");
  CHECK(o.run.examples == 1);
  CHECK(o.run.passed == 2);
  CHECK(o.run.failed == 2);
  REQUIRE(o.all.size() == 4);
  CHECK(o.all[0].claim == "covers [0.5, 1]");
  CHECK(o.all[0].passed);
  CHECK(o.all[1].passed);
  CHECK(!o.all[2].passed);
  CHECK(o.all[2].why.find("allows this output") != std::string::npos);
  CHECK(!o.all[3].passed);
  CHECK(o.all[3].why.find("1.0078125") != std::string::npos);
  CHECK(o.all[3].span.text().substr(0, 6) == "covers");
}

TEST_CASE("examples: fractions are exact, and inputs that do not fit are errors of the example") {
  const auto o = outcomes(spec + R"(
example "a third" {
  x = [3]
  alpha = 1/3
  covers [1]
}
example "no f32 value" {
  x = [0.3]
  covers [0.3]
}
example "no claim" {
  x = [1]
}
)");
  REQUIRE(o.all.size() == 3);
  CHECK(o.all[0].passed);
  for (int i : {1, 2}) CHECK(o.all[static_cast<std::size_t>(i)].wrong);
  CHECK(o.all[1].why.find("x[0] is 0.3, which is no f32 value") != std::string::npos);
  CHECK(o.all[1].why.find("x.erx:") != std::string::npos);
  CHECK(o.all[2].why.find("claims nothing") != std::string::npos);
  CHECK(o.run.wrong == 2);
}

TEST_CASE("examples: several results are one output, or one by one") {
  const auto o = outcomes(R"(spec s(x: f32[N]) -> (double: f32[N], half: f32[N]) {
  return (round<f32>(2 * x), round<f32>(x / 2))
}
example "both" {
  x = [1, 3]
  covers double = [2, 6]
  covers half = [0.5, 1.5]
  rejects half = [0.5, 2]
}
)");
  REQUIRE(o.all.size() == 2);
  CHECK(o.all[0].claim == "covers double = [2, 6], half = [0.5, 1.5]");
  CHECK(o.all[0].passed);
  CHECK(o.all[1].passed);
}

TEST_CASE("examples: a spec that zeros would pass is warned of") {
  const auto typed = "spec s(x: f32[N]) -> f32[N] {\n  return round<f32>(any_of(x, 0 * x))\n}\nexample \"e\" {\n  x = [1, 2, 3]\n  covers [1, 2, 3]\n}\n";
  const auto o = outcomes(typed);
  REQUIRE(o.all.size() == 1);
  CHECK(o.all[0].passed);
  REQUIRE(o.all[0].warnings.size() == 1);
  CHECK(o.all[0].warnings[0] == "vacuous: a kernel that writes only zeros would pass: 0 is allowed for 3 of 3 elements");
  const auto tight = outcomes(spec + "example \"e\" {\n  x = [1, 2, 3]\n  covers [1, 2, 3]\n}\n");
  CHECK(tight.all.at(0).warnings.empty());
}

TEST_CASE("examples: a spec that allows both signs is warned of, and one that has to is not") {
  const std::string head = "(x: f32[N]) -> f32[N] {\n  return ";
  const auto warnings = [&](const std::string& body, const std::string& x, const std::string& claim) {
    const auto o = outcomes("spec s" + head + body + "\n}\nexample \"e\" {\n  x = " + x + "\n  " + claim + "\n}\n");
    REQUIRE(o.all.size() == 1);
    CHECK(o.all[0].passed);
    return o.all[0].warnings;
  };
  REQUIRE(warnings("any_of(x, -x)", "[1, 2, 3]", "covers [1, 2, 3]").size() == 1);
  CHECK(warnings("any_of(x, -x)", "[1, 2, 3]", "covers [1, 2, 3]")[0] == "vacuous: a kernel that loses the sign would pass: both signs are allowed for 3 of 3 elements");
  CHECK(warnings("approx<f32, abs=0.1>(x)", "[0.0078125, -0.015625, 3]", "covers [0.0078125, -0.015625, 3]")[0] ==
        "vacuous: a kernel that writes only zeros would pass: 0 is allowed for 2 of 3 elements");
  CHECK(warnings("approx<f32, abs=0.1>(x)", "[0.0078125, 2, 3]", "covers [0.0078125, 2, 3]").empty());           // most elements are bounded away from 0
  CHECK(warnings("any_of(x, -x)", "[0, 0, 3]", "covers [0, 0, 3]").empty());                            // zeros are what has to be written
  CHECK(warnings("any_of(x, -x)", "[1, 2, 3]", "rejects [1, 2, 3.5]").empty());                          // what is refused is no evidence of slack
  CHECK(warnings("approx<f32, ulp=2>(exp(x))", "[-1, 0, 1]", "rejects [0, 0, 0]").empty());
}
