// Every construct inside every other, in every place it offers: constructs combine freely, and what results prints and parses back.
#include <doctest/doctest.h>

#include "helpers.hpp"
#include "ir/print.hpp"
#include "ops/op.hpp"

using namespace erx;
using namespace erx::test;

namespace {

/// Constructs with a hole `@0` for a tensor; those whose hole has to hold values of f32 say so.
struct Construct {
  std::string text;
  bool stored = false;  // the hole is a leaf of acc, or a name of an `in`
};

const std::vector<Construct> constructs = {
    {"x"},
    {"(@0)"},
    {"-@0"},
    {"@0 + y"},
    {"y - @0"},
    {"@0 * y"},
    {"y / @0"},
    {"@0 // 2 % 3"},
    {"@0 @ y.T"},
    {"@0 ** 2"},
    {"abs(@0)"},
    {"where(x < y, @0, 0)"},
    {"where(@0 < y and not x == 0, x, y)"},
    {"maximum(@0, 0)"},
    {"y + max(@0, axis=-1, keepdims=true)"},
    {"y - sum(@0, axis=1, keepdims=true)"},
    {"y * mean(@0, axis=0)"},
    {"(@0)[::-1, 0:2]"},
    {"y + (@0)[None, 0][0]"},
    {"(@0).T"},
    {"y * reshape(@0, (-1,))[0]"},
    {"broadcast(@0, (2, 2))"},
    {"transpose(@0, (1, 0))"},
    {"round<f16, rtz, sat>(@0)"},
    {"bf16(@0)"},
    {"round<float<e=5, m=7>>(@0)"},
    {"in f32, contract { y * x + f32(@0) }"},
    {"in f32 { let t = f32(@0); t * y - t }"},
    {"in f32, ulp=2 { exp(f32(@0)) }"},
    {"in f64, ftz, daz { y * exact(@0) }"},
    {"y - acc<f32>(sum(@0 * y, axis=1, keepdims=true))", true},
    {"acc<f32, seq, fma=never>(@0 @ y + y)", true},
    {"acc<f32, split({1, 2}, store=f16), ftz=free>(y - @0 + x * y)", true},
    {"within<f32>(@0)"},
    {"within<f32>(@0 * y + x @ y)"},
    {"within<f32>(exp(y - @0))"},
    {"approx<f32, ulp=2>(tanh(@0))"},
    {"approx<bf16, steps=1, rel=2**-10, abs=y, lo=0, hi=1, sat, ftz, src=\"table 3\">(exp(@0))"},
    {"within<f32, ftz>(exp(y - @0) * y + x @ y)"},
    {"in f32, ftz=free, daz { f32(@0) * y + f32(y) }"},
    {"any_of(@0, x)"},
    {"any_of<\"way\">(y, @0)"},
    {"twice(@0)"},
    {"exact(@0)"},
};

std::string fill(const std::string& text, const std::string& hole) {
  std::string out = text;
  const auto at = out.find("@0");
  if (at != out.npos) out.replace(at, 2, hole);
  return out;
}

/// A filling in parentheses where it is not a call or name by itself.
std::string operand(const std::string& text) { return "(" + text + ")"; }

}  // namespace

TEST_CASE("constructs: every one inside every other") {
  const std::vector<std::string> inputs = {"x=f32[2,2]", "y=f32[2,2]"};

  int combined = 0;
  for (const Construct& outer : constructs) {
    for (const Construct& inner : constructs) {
      std::string filling = operand(fill(inner.text, "x"));
      if (outer.stored) filling = "round<f32>" + filling;
      const std::string text = fill(outer.text, filling);
      INFO(text);
      std::shared_ptr<const Graph> g;
      std::string whole;
      try {
        // The type of the result follows from its shape and values; f64 holds them once rounded.
        whole = "fn twice(v) = v + v\nspec s(x: f32[2, 2], y: f32[2, 2]) -> f64[...] {\n  return round<f64>(" + text + ")\n}\n";
        g = lower(whole, inputs);
      } catch (const Error& e) {
        FAIL(render(e.diagnostics));
      }
      ++combined;
      const std::string printed = to_erx(*g);
      INFO(printed);
      std::string why;
      try {
        const auto again = lower(printed, inputs);
        const bool equal = same(*g, *again, why);
        INFO(why);
        CHECK(equal);
      } catch (const Error& e) {
        FAIL(render(e.diagnostics));
      }
      // Once with names for dimensions too, and laid out.
      const auto program = parse(format_source({"x", whole}));
      CHECK(program->specs.size() == 1);
    }
  }
  CHECK(combined == static_cast<int>(constructs.size() * constructs.size()));
}

TEST_CASE("constructs: every row that is called") {
  int called = 0;
  for (const Op* op : all_ops()) {
    if (op->gather != Gather::map || !op->symbol.empty() || op->is_choice) continue;
    if (op->name == "round" || op->name == "within" || op->name == "approx" || op->name == "cast" || op->name == "wrap" || op->name == "saturate") continue;
    std::string arguments = op->name == "where" ? "x < 1, x, x" : "x";
    for (int i = 1; i < op->operands_min && op->name != "where"; ++i) arguments += ", x";
    const std::string text = std::string(op->name) + "(" + arguments + ")";
    INFO(text);
    for (const std::string& around :
         {text, "in f32, ulp=2 { " + text + " }", "within<f32>(" + text + ")", "acc<f32>(round<f32>(" + text + ") + x)"}) {
      const auto g = lower(around, {"x=f32[3]"});
      CHECK(!g->results.empty());
      std::string why;
      CHECK(same(*g, *lower(to_erx(*g), {"x=f32[3]"}), why));
    }
    ++called;
  }
  CHECK(called > 25);
}
