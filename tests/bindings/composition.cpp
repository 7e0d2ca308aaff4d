#include "bindings/composition.hpp"

#include <doctest/doctest.h>

#include "eval/evaluate.hpp"
#include "grammar/program.hpp"
#include "ir/error.hpp"
#include "ir/print.hpp"

namespace erx {
namespace {

const Type bf16 = Type::of(*find_format("bf16"));
const Type f32 = Type::of(*find_format("f32"));

Tensor numbers(std::vector<double> values, Type type = f32) {
  const auto n = static_cast<std::int64_t>(values.size());
  return Tensor::of(std::move(type), {n}, values);
}

PiecePtr rounded(PiecePtr x, const char* format) {
  Attributes a;
  a.format = *find_format(format);
  return apply("round", {std::move(x)}, std::move(a));
}

std::string text(PiecePtr p) { return to_erx(*compose({{"", std::move(p), {}}}).graph); }

TEST_CASE("composition: a piece used twice is one node, equal inputs are one input") {
  const auto x = input("x", numbers({1, 2}));
  const auto same = input("y", numbers({1, 2}));
  const auto other = input("x", numbers({1, 3}));
  const auto choice = apply("any_of", {x, other});
  const Composition c = compose({{"", apply("add", {apply("sub", {choice, choice}), same}), {}}});
  CHECK(c.inputs.size() == 2);
  CHECK(c.graph->inputs.size() == 2);
  CHECK(c.graph->size() == 5);  // two inputs, any_of, sub, add
  Evaluation e(c.graph, c.inputs);
  const SetTensor& set = e.result(0);
  for (const Plane& p : set.planes) {  // the same member on both sides
    CHECK(p.lo()[1] == 2);
    CHECK(p.hi()[1] == 2);
  }
}

TEST_CASE("composition: inputs of one name stay apart, and so do a scale and plain data") {
  CHECK(text(apply("add", {input("x", numbers({1})), input("x", numbers({2}))})) ==
        text(apply("add", {input("x", numbers({1})), input("x_2", numbers({2}))})));
  const auto scale = input("a", Tensor::scalar(0.0), true), plain = input("a", Tensor::scalar(0.0));
  CHECK(compose({{"", apply("add", {scale, plain}), {}}}).inputs.size() == 2);
  // NaN and the sign of zero are compared bit for bit.
  const auto minus = input("x", numbers({-0.0})), plus = input("x", numbers({0.0}));
  CHECK(compose({{"", apply("add", {minus, plus}), {}}}).inputs.size() == 2);
}

TEST_CASE("composition: equal inputs of one call stay apart, since its text names both") {
  const auto call = std::make_shared<const int>(), other = std::make_shared<const int>();
  const auto A = input("A", numbers({1}), false, call), B = input("B", numbers({1}), false, call);
  CHECK(text(apply("add", {A, B})) == text(apply("add", {input("A", numbers({1})), input("B", numbers({2}))})));
  CHECK(compose({{"", apply("add", {A, input("A", numbers({1}), false, other)}), {}}}).inputs.size() == 1);
}

TEST_CASE("composition: the graph is that of the text") {
  const auto A = input("A", Tensor::of(f32, {2, 2}, {1, 2, 3, 4})), B = input("B", Tensor::of(f32, {2, 2}, {4, 3, 2, 1}));
  const auto composed = apply("add", {apply("matmul", {rounded(A, "bf16"), B}), A});
  const auto parsed = parse("round<bf16>(A) @ B + A")->spec().lower({{"A", {f32, {2, 2}}}, {"B", {f32, {2, 2}}}});
  CHECK(text(composed) == to_erx(*parsed));
  // And back: the pieces of a lowered graph make it again.
  const auto pieces = pieces_of(*parsed, {A, B});
  CHECK(to_erx(*compose(pieces).graph) == to_erx(*parsed));
}

TEST_CASE("composition: an innocuous within stands only where a compute format is asked for") {
  const auto x = input("x", numbers({1}));
  const auto sum = apply("add", {x, x});
  const auto loose = rounded(apply_within(sum, *find_format("f32"), false), "bf16");
  const auto sharp = rounded(apply_within(sum, *find_format("f32"), true), "bf16");
  CHECK(text(loose).find("within<f32>") != std::string::npos);
  CHECK(text(sharp).find("within") == std::string::npos);
  const auto in_f16 = to_erx(*compose({{"", sharp, {}}}, "", *find_format("f16")).graph);
  CHECK(in_f16.find("within<f16>") != std::string::npos);
  CHECK(to_erx(*compose({{"", loose, {}}}, "", *find_format("f16")).graph) == in_f16);
  CHECK_THROWS_AS(compose({{"", sum, {}}}, "", *find_format("f16")), Error);
}

TEST_CASE("composition: a labelled choice is one choice within its call, and another one in another call") {
  const auto x = input("x", numbers({1}));
  const auto call = [&] {
    const auto graph = parse("any_of<\"way\">(x, x + 1)")->spec().lower({{"x", {f32, {1}}}});
    return pieces_of(*graph, {x})[0].piece;
  };
  const auto hull = [](PiecePtr p) {
    const Composition c = compose({{"", std::move(p), {}}});
    Evaluation e(c.graph, c.inputs);
    std::pair<double, double> ends{1e9, -1e9};
    for (std::size_t run = 0; run < e.runs(); ++run) {
      for (const Plane& plane : e.result(0, {}, run).planes) {
        ends = {std::min(ends.first, plane.lo()[0]), std::max(ends.second, plane.hi()[0])};
      }
    }
    return ends;
  };
  const auto first = call(), second = call();
  CHECK(hull(apply("sub", {first, first})) == std::pair(0.0, 0.0));
  CHECK(hull(apply("sub", {first, second})) == std::pair(-1.0, 1.0));
}

TEST_CASE("composition: a broken rule is the user's error") {
  CHECK_THROWS_WITH_AS(apply("add", {input("x", numbers({1, 2})), input("y", numbers({1, 2, 3}))}),
                       doctest::Contains("2 and 3 differ"), Error);
  CHECK_THROWS_AS(apply("add", {input("x", numbers({1}))}), Error);
}

TEST_CASE("composition: a literal takes its type from the other operand") {
  Attributes one;
  one.text = "1";
  const auto i = input("i", Tensor::integer(3));
  CHECK(apply("add", {i, apply("literal", {}, one)})->node.type == Type::integer());
  CHECK(apply("add", {i, apply("neg", {apply("literal", {}, one)})})->node.type == Type::integer());
  one.text = "0.5";
  CHECK(apply("add", {i, apply("literal", {}, one)})->node.type == Type::real());
}

TEST_CASE("composition: a named node is opaque, and remains the same node") {
  const auto x = input("x", numbers({1, 2}));
  const auto product = apply("mul", {x, x});
  CHECK(opaque(product) == product);
  CHECK(product->node.name == "t");
  CHECK(opaque(rounded(x, "bf16"))->node.name.empty());  // a rounding is closed anyway
}

TEST_CASE("composition: a chain of a million pieces is built and taken apart without recursion") {
  auto y = input("y", numbers({0}));
  const PiecePtr negated = apply("neg", {y});
  for (int k = 0; k < 1'000'000; ++k) {
    auto next = std::make_shared<Piece>();
    next->node = negated->node;
    next->operands = {y};
    y = next;
  }
  CHECK(compose({{"", y, {}}}).graph->size() == 1'000'001);
  y.reset();
}

}  // namespace
}  // namespace erx
