#include "bindings/call.hpp"

#include <doctest/doctest.h>

#include <functional>

#include "eval/check.hpp"
#include "eval/evaluate.hpp"
#include "ir/error.hpp"

using namespace erx;

namespace {

Type type(const char* name) { return Type::of(*find_format(name)); }
Tensor row(const char* format, std::vector<double> v) {
  const auto n = static_cast<std::int64_t>(v.size());
  return Tensor::of(type(format), {n}, v);
}

std::string message(const std::function<void()>& call) {
  try {
    call();
  } catch (const Error& e) {
    return render(e.diagnostics);
  }
  return "no error";
}

bool has(const std::string& text, const std::string& part) {
  INFO(text);
  CHECK(text.find(part) != std::string::npos);
  return true;
}

const char* text = R"(spec s(x: bf16[N], y: bf16[N], alpha: real = 1) -> bf16[N] {
  return round<bf16>(alpha * x + y)
})";

}  // namespace

TEST_CASE("call: inputs come in the order of the graph, with its types, whatever they were stored in") {
  const auto program = parse(text);
  const Call call = make_call(program->spec(), {{"y", row("f64", {1, 2})}, {"x", row("f32", {3, 4})}, {"alpha", Tensor::integer(2)}});
  REQUIRE(call.inputs.size() == call.graph->inputs.size());
  for (std::size_t i = 0; i < call.inputs.size(); ++i) {
    const Node& node = (*call.graph)[call.graph->inputs[i]];
    CHECK(call.inputs[i].type == node.type);
    CHECK(call.inputs[i].extents == extents_of(node.shape));
    CHECK(call.inputs[i].at(0) == std::map<std::string, double>{{"x", 3}, {"y", 1}, {"alpha", 2}}.at(node.attributes.text));
  }
  Evaluation e(call.graph, call.inputs);
  CHECK(check(e, {row("bf16", {7, 10})}).ok());
  CHECK(!check(e, {row("bf16", {7, 10.0625})}).ok());
}

TEST_CASE("call: defaults need no argument; a fraction stays exact") {
  const auto program = parse("spec s(x: real, c: real = 1/3) -> f64 { return round<f64, rtp>(x + c) }");
  const Call call = make_call(program->spec(), {{"x", Tensor::rational("1/3")}});
  Evaluation e(call.graph, call.inputs);
  const double above = 0x1.5555555555556p-1;  // 2/3 rounded up
  CHECK(check(e, {Tensor::of(type("f64"), {}, {above})}).ok());
  CHECK(!check(e, {Tensor::of(type("f64"), {}, {0x1.5555555555555p-1})}).ok());
}

TEST_CASE("call: what does not fit is an Error that names the argument") {
  const auto program = parse(text);
  const Spec& spec = program->spec();
  has(message([&] { make_call(spec, {{"x", row("f32", {0.3f})}, {"y", row("f32", {1})}}); }), "input `x` is declared bf16, but x[0] is");
  has(message([&] { make_call(spec, {{"x", row("f32", {1})}}); }), "y");
  has(message([&] { make_call(spec, {{"x", row("f32", {1})}, {"y", row("f32", {1})}, {"z", row("f32", {1})}}); }), "z");
  has(message([&] { make_call(spec, {{"x", row("f32", {1, 2})}, {"y", row("f32", {1, 2, 3})}}); }), "N");
  has(message([&] { make_call(spec, {{"x", row("f32", {1})}, {"y", Tensor::boolean(true)}}); }), "`y`");
}

TEST_CASE("call: a bare expression takes the types that are bound") {
  const auto program = parse("round<bf16>(alpha*A) @ B");
  const Tensor a = Tensor::of(type("f32"), {1, 2}, {1, 2}), b = Tensor::of(type("f32"), {2, 1}, {3, 4});
  const Call call = make_call(program->spec(), {{"A", a}, {"B", b}, {"alpha", Tensor::scalar(0.5)}});
  Evaluation e(call.graph, call.inputs);
  CHECK(check(e, {Tensor::of(type("f32"), {1, 1}, {5.5})}).ok());
}
