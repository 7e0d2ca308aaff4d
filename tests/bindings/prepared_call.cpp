#include "bindings/prepared_call.hpp"

#include <doctest/doctest.h>

#include "ir/error.hpp"
#include "ir/print.hpp"

namespace erx {
namespace {

Type type(const char* name) { return *find_type(name); }

Binding array(const char* of, Extents extents) { return {type(of), std::move(extents)}; }

Binding number(const char* of, double value) { return {type(of), {}, value}; }

using Bindings = std::map<std::string, Binding>;

TEST_CASE("prepared calls: one graph for the same types and shapes, whatever the values") {
  const auto program = parse("spec f(x: f32[N], s: real, n: int) -> f32[N] { return round<f32>(x * s + n) }");
  PreparedCalls calls;
  const auto of = [&](const Bindings& b) { return calls.of(program->spec(), b); };
  const Bindings first{{"x", array("f32", {3})}, {"s", number("real", 0.5)}, {"n", number("int", 2)}};
  const auto call = of(first);
  CHECK(of(first) == call);
  Bindings b = first;
  b["s"].value = 0;
  CHECK(of(b) == call);
  b["n"].value = 3;  // may be a dimension
  CHECK(of(b) != call);
  for (const Binding& x : {array("f32", {4}), array("bf16", {3}), array("i8", {3})}) {
    b = first;
    b["x"] = x;
    const auto other = of(b);
    CHECK(other != call);
    CHECK(of(b) == other);
    CHECK(to_erx(*other->graph) == to_erx(*program->spec().lower(b)));
  }
  CHECK(of(first) == call);
  b = first;
  b.erase("n");
  CHECK_THROWS_AS(of(b), Error);
  CHECK_THROWS_AS(of(b), Error);
  b["m"] = first.at("n");
  CHECK_THROWS_AS(of(b), Error);
  CHECK(of(first) == call);
}

TEST_CASE("prepared calls: an expression's whole numbers count, and formats of other names") {
  const auto program = parse("n + x[n:]");
  PreparedCalls calls;
  const auto of = [&](const char* format, double n) { return calls.of(program->spec(), {{"x", array(format, {9})}, {"n", number("int", n)}}); };
  const auto two = of("bf16", 2);
  CHECK(of("bf16", 2) == two);
  CHECK(of("bf16", 3) != two);
  CHECK(of("bf16", 3)->graph->results.size() == 1);
  Type same = type("bf16");
  same.format.name = "float<e=8, m=7>";
  CHECK(same == type("bf16"));
  const Bindings named{{"x", {same, {9}}}, {"n", number("int", 2)}};
  CHECK(calls.of(program->spec(), named) != two);
}

TEST_CASE("prepared calls: only the latest are kept, and large graphs are not") {
  const auto program = parse("x + 1");
  PreparedCalls calls;
  const auto of = [&](std::int64_t n) { return calls.of(program->spec(), {{"x", array("f32", {n})}}); };
  const auto first = of(1);
  for (std::int64_t n = 2; n <= 8; ++n) of(n);
  CHECK(of(1) == first);  // the latest now
  for (std::int64_t n = 2; n <= 8; ++n) of(n);
  of(9);
  CHECK(of(1) != first);
  std::string sum = "x";
  for (int k = 0; k < 3000; ++k) sum += " + x * 3";
  const auto large = parse(sum);
  const Bindings bindings{{"x", array("f32", {2})}};
  CHECK(calls.of(large->spec(), bindings)->composed == nullptr);
  CHECK(calls.of(large->spec(), bindings)->graph->size() > 4096);
}

TEST_CASE("prepared calls: the graph that is evaluated is that of the text, inputs in its order") {
  const auto program = parse("spec f(a: f32[N], unused: f32[2], b: f32[N]) -> f32[N] { return round<f32>(b - a) }");
  PreparedCalls calls;
  const auto call = calls.of(program->spec(), {{"a", array("f32", {3})}, {"b", array("f32", {3})}, {"unused", array("f32", {2})}});
  REQUIRE(call->graph->inputs.size() == 3);
  REQUIRE(call->composed->inputs.size() == call->order.size());
  CHECK(call->order.size() == 2);
  for (std::size_t k = 0; k < call->order.size(); ++k)
    CHECK((*call->composed)[call->composed->inputs[k]].attributes.text == (*call->graph)[call->graph->inputs[call->order[k]]].attributes.text);
}

}  // namespace
}  // namespace erx
