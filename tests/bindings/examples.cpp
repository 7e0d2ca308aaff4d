#include "bindings/examples.hpp"

#include <doctest/doctest.h>

#include <cmath>
#include <vector>

#include "bindings/draw.hpp"
#include "ops/execution.hpp"

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

TEST_CASE("examples: a mutant has to be refuted, and one that the spec covers fails") {
  const auto o = outcomes(R"(spec s(A: bf16[M, K], B: bf16[K, N]) -> bf16[M, N] {
  let ab = acc<f32>(A @ B)
  return round<bf16>(ab)
}
example "drawn" {
  A = normal(seed=1, 4, 64)
  B = normal(seed=2, 64, 8)
  covers round<bf16>(ab)
  rejects round<bf16, rtz>(ab)
  mutant "a bf16 accumulator": round<bf16>(acc<bf16>(A @ B))
  mutant "the last column": round<bf16>(acc<f32>(A[:, :-1] @ B[:-1]))
  mutant "none": round<bf16>(acc<f32, rseq, fma=always>(A @ B))
}
)");
  REQUIRE(o.all.size() == 5);
  CHECK(o.run.wrong == 0);
  for (std::size_t i : {0, 1, 2, 3}) {
    INFO(o.all[i].claim << " " << o.all[i].why);
    CHECK(o.all[i].passed);
  }
  CHECK(o.all[0].claim == "covers round<bf16>(ab)");
  CHECK(o.all[1].note == "refuted in 22 of 32 elements");
  CHECK(o.all[2].claim == "mutant \"a bf16 accumulator\"");
  CHECK(o.all[2].note == "refuted in 27 of 32 elements");
  CHECK(!o.all[4].passed);
  CHECK(o.all[4].why.find("this mutant survives: the spec allows each of the 32 elements") == 0);
}

TEST_CASE("examples: a mutant of several results is one output; an expression may stand for one of them") {
  const auto o = outcomes(R"(spec s(x: f32[N]) -> (double: f32[N], half: f32[N]) {
  return (round<f32>(2 * x), round<f32>(x / 2))
}
example "both" {
  x = uniform(seed=1, 8, lo=1, hi=2)
  covers (round<f32>(x + x), round<f32>(0.5 * x))
  covers half = round<f32>(x / 2)
  rejects double = round<f32>(x / 2)
  mutant "exchanged": (round<f32>(x / 2), round<f32>(2 * x))
  mutant "half is right": (round<f32>(3 * x), round<f32>(x / 2))
}
)");
  REQUIRE(o.all.size() == 5);
  for (const auto& one : o.all) {
    INFO(one.claim << " " << one.why);
    CHECK(one.passed);
  }
  CHECK(o.all[3].note == "refuted in 16 of 16 elements");
  CHECK(o.all[4].note == "refuted in 8 of 16 elements");
}

TEST_CASE("examples: the execution that is taken is one that the expression allows") {
  // Each body is claimed to cover itself: one execution of it has to be in its own set.
  for (const char* body : {
           "round<bf16>(acc<f32>(A @ B))", "round<bf16>(acc<f32, assoc>(A @ B))", "round<bf16>(acc<f32, height(7)>(A @ B))",
           "round<bf16>(acc<f32, blocked(8, inner=any, outer=any), fma=always>(A @ B))", "round<bf16>(acc<f32, split({3, 2}, store=bf16)>(A @ B))",
           "acc<bf16, split({2, 4})>(A @ B)", "round<bf16, sr>(acc<f32, ftz=free>(A @ B))",
           "round<bf16, faithful>(exact(A @ B))", "round<bf16>(within<f32>((A @ B) * 3 + 1))", "round<bf16>(within<f32, ftz>(exp(A @ B)))",
           "round<bf16>(approx<f32, ulp=2, lo=0, hi=1>(sigmoid(A @ B)))", "round<bf16>(approx<f32, rel=0.01, abs=1>(A @ B))",
           "any_of(round<bf16>(A @ B), round<bf16, rtz>(A @ B))", "any_of<\"way\">(round<bf16>(A @ B), round<bf16, rtz>(A @ B))",
           "choose s in {2, 4} { round<bf16>(acc<f32, blocked(s)>(A @ B)) }", "round<bf16>(in f32, contract, ftz=free, daz=free { (A @ B)[0, 0] * A[0, 0] + B[0] })",
           "round<bf16>(wrap<i32>(acc<f32>(A @ B) * 1000))", "round<bf16>(acc<f32>(sum(A * A, axis=1) + A[:, 0] + 1))"}) {
    const auto o = outcomes("spec s(A: bf16[M, K], B: bf16[K, N]) -> bf16[...] {\n  return " + std::string(body) +
                            "\n}\nexample \"itself\" {\n  A = normal(seed=5, 3, 40)\n  B = normal(seed=6, 40, 2)\n  covers " + body + "\n}\n");
    INFO(body);
    for (const auto& one : o.all) {
      INFO(one.why);
      CHECK(one.passed);
    }
    CHECK(o.all.size() == 1);
  }
}

TEST_CASE("examples: an expression that keeps several values is an error that says which element") {
  const auto o = outcomes(R"(spec s(A: f16[M, K], B: f16[K, N]) -> f32[M, N] {
  return acc<f32, tensor_core(L=16, F=25)>(A @ B)
}
example "a tensor core" {
  A = normal(seed=1, 2, 40)
  B = normal(seed=2, 40, 2)
  covers acc<f32, tensor_core(L=16, F=25)>(A @ B)
}
)");
  REQUIRE(o.all.size() == 1);
  CHECK(o.all[0].wrong);
  CHECK(o.all[0].why.find("this expression has several values") != std::string::npos);
  CHECK(o.all[0].why.find("element [0, 0] is [") != std::string::npos);
}

TEST_CASE("examples: rows with a choice say which execution is taken") {
  for (const Op* op : all_ops()) {
    INFO(op->name);
    CHECK((op->freedom == nullptr || has_execution_rule(*op)));
  }
}

TEST_CASE("draw: the numbers that the header describes") {
  // SplitMix64 from 1234567; source: the reference values of its published implementations.
  const std::uint64_t words[] = {6457827717110365317u, 3203168211198807973u, 9817491932198370423u, 4593380528125082431u, 16408922859458223821u};
  const auto u = draw({.kind = Generator::Kind::uniform, .seed = 1234567, .first = 0, .second = 1}, 5);
  const auto whole = draw({.kind = Generator::Kind::integers, .seed = 1234567, .first = -3, .second = 4}, 5);
  for (std::size_t i = 0; i < 5; ++i) {
    CHECK(u[i] == static_cast<double>(words[i] >> 11) * 0x1p-53);
    CHECK(whole[i] == -3 + std::floor(7 * u[i]));
  }
  double mean = 0, square = 0;
  const auto z = draw({.kind = Generator::Kind::normal, .seed = 7}, 100000);
  for (const double x : z) {
    CHECK(std::abs(x) <= 6);
    mean += x / 100000;
    square += x * x / 100000;
  }
  CHECK(std::abs(mean) < 0.01);  // three standard deviations
  CHECK(std::abs(square - 1) < 0.015);
  CHECK(nearest_in(Type::of(*find_format("f8e4m3fn")), 1000) == 448);
  CHECK(nearest_in(Type::integer(8), -200.5) == -128);
  CHECK(nearest_in(Type::integer(8, false), 2.5) == 2);
  CHECK(nearest_in(Type::boolean(), 0.5) == 1);
}

TEST_CASE("examples: drawn inputs have the declared type, and a format rounds what is written") {
  const auto o = outcomes(R"(spec s<T: format>(x: T[N], n: i8[N], m: bool[N], z: complex<f32>[N]) -> T[N] {
  return where(m, x, round<T>(n + real(z)))
}
example "drawn" {
  x = bf16(normal(seed=1, 16))
  n = integers(seed=2, 16, lo=-3, hi=4)
  m = integers(seed=3, 16, lo=0, hi=2)
  z = normal(seed=4, 16)
  covers where(m, x, round<bf16>(n + real(z)))
  mutant "half": where(m, x, round<bf16>(n + imag(z)))
}
example "written" {
  x = bf16([0.1, 1/3])
  n = [0, 0]
  m = [true, true]
  z = [0, 0]
  covers  bf16([0.1, 1/3])
  covers  [0.10009765625, 0.333984375]
  rejects [0.1, 1/3]
}
)");
  REQUIRE(o.all.size() == 5);
  for (std::size_t i : {0, 1, 2, 3}) {
    INFO(o.all[i].claim << " " << o.all[i].why);
    CHECK(o.all[i].passed);
  }
  CHECK(o.all[2].claim == "covers bf16([0.1, 1/3])");
  CHECK(o.all[4].wrong);  // 0.1 is no double
}

TEST_CASE("examples: alternatives that no example tells apart are warned of") {
  const std::string body = "spec s(x: bf16[N], y: bf16[N]) -> bf16[N] {\n  return any_of(round<bf16>(x * y), round<bf16>(round<f32>(exact(x * y) + x)))\n}\n";
  const auto same = outcomes(body + "example \"e\" {\n  x = [0, 0]\n  y = [1, 2]\n  covers [0, 0]\n}\n");
  REQUIRE(same.run.warnings.size() == 1);
  CHECK(same.run.warnings[0].what == "no example tells alternative 2 of this `any_of` from alternative 1");
  CHECK(same.run.warnings[0].span.text().starts_with("any_of(round<bf16>(x * y)"));
  const auto told = outcomes(body + "example \"e\" {\n  x = [0, 0]\n  y = [1, 2]\n  covers [0, 0]\n}\nexample \"f\" {\n  x = [1]\n  y = [1]\n  covers [1]\n}\n");
  CHECK(told.run.warnings.empty());
  // In a loop each instance counts, and one that differs tells the alternatives apart.
  const std::string loop = "spec s(x: f32[N]) -> f32 {\n  return fold (a = 0) over i in 0..N {\n    next f32(any_of(a + x[i], a + 2 * x[i]))\n  }\n}\nexample \"e\" {\n  x = ";
  CHECK(outcomes(loop + "[0, 0]\n  covers 0\n}\n").run.warnings.size() == 1);
  CHECK(outcomes(loop + "[0, 1]\n  covers 1\n}\n").run.warnings.empty());
  CHECK(outcomes(loop + "integers(seed=1, 40, lo=0, hi=1)\n  covers 0\n}\n").run.warnings.empty());  // too many to say
  // What is known by an enclosure only may differ.
  const auto open = outcomes("spec s(x: f32[N]) -> f32[N] {\n  return round<f32>(any_of(exp(x), exp(1 * x)))\n}\nexample \"e\" {\n  x = [1]\n  rejects [3]\n}\n");
  CHECK(open.run.warnings.empty());
}
