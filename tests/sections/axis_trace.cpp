// Which axis of its inputs an axis of the results is, or that an op mixes what lies along it.
#include "eval/axis_trace.hpp"

#include <doctest/doctest.h>

#include "grammar/program.hpp"

using namespace erx;

namespace {

constexpr int whole = AxisTrace::whole, unused = AxisTrace::unused;

struct Case {
  std::string text;
  std::map<std::string, Extents> inputs;  // all of f32
  std::size_t axis;
  std::optional<std::map<std::string, int>> expected;  // nothing: the results do not come apart along it
};

const std::vector<Case> cases = {
    {"round<bf16>(A @ B)", {{"A", {5, 7}}, {"B", {7, 6}}}, 0, {{{"A", 0}, {"B", whole}}}},
    {"round<bf16>(A @ B)", {{"A", {5, 7}}, {"B", {7, 6}}}, 1, {{{"A", whole}, {"B", 1}}}},
    {"A @ A", {{"A", {6, 6}}}, 0, {}},
    {"A @ transpose(B)", {{"A", {5, 7}}, {"B", {6, 7}}}, 1, {{{"A", whole}, {"B", 0}}}},
    {"A @ B", {{"A", {3, 5, 7}}, {"B", {7, 6}}}, 0, {{{"A", 0}, {"B", whole}}}},
    {"A @ B", {{"A", {3, 5, 7}}, {"B", {3, 7, 6}}}, 0, {{{"A", 0}, {"B", 0}}}},
    {"A @ B", {{"A", {1, 5, 7}}, {"B", {3, 7, 6}}}, 0, {{{"A", whole}, {"B", 0}}}},
    {"A @ x", {{"A", {5, 7}}, {"x", {7}}}, 0, {{{"A", 0}, {"x", whole}}}},
    {"x @ A", {{"A", {5, 7}}, {"x", {5}}}, 0, {{{"A", 1}, {"x", whole}}}},
    {"round<f32>(softmax(x))", {{"x", {5, 7}}}, 0, {{{"x", 0}}}},
    {"round<f32>(softmax(x))", {{"x", {5, 7}}}, 1, {}},
    {"x - max(x)", {{"x", {5, 7}}}, 0, {}},
    {"x - max(y)", {{"x", {5, 7}}, {"y", {5, 7}}}, 0, {{{"x", 0}, {"y", whole}}}},
    {"x + y", {{"x", {5, 7}}, {"y", {7}}}, 0, {{{"x", 0}, {"y", whole}}}},
    {"x + y", {{"x", {5, 7}}, {"y", {5, 1}}}, 1, {{{"x", 1}, {"y", whole}}}},
    {"sum(x, axis=0)", {{"x", {5, 7}}}, 0, {{{"x", 1}}}},
    {"sum(x, axis=1, keepdims=true)", {{"x", {5, 7}}}, 0, {{{"x", 0}}}},
    {"sum(x where m, axis=1)", {{"x", {5, 7}}, {"m", {7}}}, 0, {{{"x", 0}, {"m", whole}}}},
    {"cumsum(x, axis=1)", {{"x", {5, 7}}}, 0, {{{"x", 0}}}},
    {"cumsum(x, axis=0)", {{"x", {5, 7}}}, 0, {}},
    {"x[:, 2:5]", {{"x", {5, 7}}}, 0, {{{"x", 0}}}},
    {"x[:, 2:5]", {{"x", {5, 7}}}, 1, {}},
    {"x[::-1]", {{"x", {5, 7}}}, 0, {}},
    {"x[:, ::-1]", {{"x", {5, 7}}}, 0, {{{"x", 0}}}},
    {"x[:, None] * y[None, :]", {{"x", {5}}, {"y", {7}}}, 0, {{{"x", 0}, {"y", whole}}}},
    {"x[:, None] * x[None, :]", {{"x", {5}}}, 0, {}},
    {"reshape(x, (5, 2, 3))", {{"x", {5, 6}}}, 0, {{{"x", 0}}}},
    {"reshape(x, (5, 2, 3))", {{"x", {5, 6}}}, 2, {}},
    {"reshape(x, (6, 5))", {{"x", {5, 6}}}, 0, {}},
    {"concat(x, y, axis=1)", {{"x", {5, 6}}, {"y", {5, 2}}}, 0, {{{"x", 0}, {"y", 0}}}},
    {"concat(x, y, axis=0)", {{"x", {5, 6}}, {"y", {5, 6}}}, 0, {}},
    {"scan<f32>(a, b, axis=1)", {{"a", {5, 6}}, {"b", {5, 6}}}, 0, {{{"a", 0}, {"b", 0}}}},
    {"scan<f32>(a, b, axis=0)", {{"a", {5, 6}}, {"b", {5, 6}}}, 0, {}},
    {"diagonal(x)", {{"x", {6, 6}}}, 0, {}},
    {"repeat(x, 2, axis=1)", {{"x", {5, 3}}}, 0, {{{"x", 0}}}},
};

}  // namespace

TEST_CASE("sections: axes are traced to the inputs") {
  for (const Case& c : cases) {
    CAPTURE(c.text);
    CAPTURE(c.axis);
    std::map<std::string, Binding> types;
    for (const auto& [name, extents] : c.inputs) types[name] = {name == "m" ? Type::boolean() : *find_type("f32"), extents};
    const auto graph = parse(c.text, "<text>")->spec().lower(types);
    const auto trace = trace_axis(*graph, {0}, c.axis);
    REQUIRE(trace.has_value() == c.expected.has_value());
    if (!trace) continue;
    for (const NodeId id : graph->inputs) {
      CAPTURE((*graph)[id].attributes.text);
      CHECK(trace->axis[id] == c.expected->at((*graph)[id].attributes.text));
    }
  }
}
