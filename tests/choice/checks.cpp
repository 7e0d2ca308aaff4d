#include "tests/choice/checks.hpp"

#include <cmath>
#include <functional>
#include <set>

#include "bindings/call.hpp"
#include "eval/check.hpp"

namespace erx::test {
namespace {

using Values = std::vector<double>;  // of all results, one after the other; of a complex one its parts in turn

/// A spec with all its executions, and outputs to ask for.
struct Case {
  const char* name;
  const char* text;
  std::map<std::string, Values> inputs;      // f32
  int ways;                                  // executions
  std::function<Values(int)> execution;      // each of them
  std::function<std::vector<Values>()> more = {};  // candidates for each place beside those of the executions; nothing: 0, and neighbours
};

bool bit(int way, int k) { return way >> k & 1; }

// Where the evaluator takes a hull, the candidates leave its inside out: that is no mistake, and tightness tells it.
const Case cases[] = {
    {"a choice used twice is one", "spec s(x: f32[N]) -> f32[N] { let y = any_of(x, 3 * x)\n return round<f32>(y - y + y) }", {{"x", {1, 5}}}, 4,
     [](int w) { return Values{bit(w, 0) ? 3.0 : 1, bit(w, 1) ? 15.0 : 5}; }},
    {"a choice written twice is two", "spec s(x: f32[N]) -> f32[N] { return round<f32>(any_of(x, 3 * x) - any_of(x, 3 * x)) }", {{"x", {1, 5}}}, 16,
     [](int w) { return Values{(bit(w, 0) ? 3.0 : 1) - (bit(w, 1) ? 3 : 1), (bit(w, 2) ? 15.0 : 5) - (bit(w, 3) ? 15 : 5)}; }},
    {"a function's body is instantiated anew", "fn f(x) = any_of(x, 2 * x)\nspec s(x: f32[N]) -> f32[N] { return round<f32>(f(x) + 10 * f(x)) }", {{"x", {1}}}, 4,
     [](int w) { return Values{(bit(w, 0) ? 2.0 : 1) + 10 * (bit(w, 1) ? 2 : 1)}; }},
    {"a label is one choice at every element", "spec s(x: f32[N]) -> f32[N] { return round<f32>(any_of<\"k\">(x, 3 * x)) }", {{"x", {1, 5, 7}}}, 2,
     [](int w) { return w ? Values{3, 15, 21} : Values{1, 5, 7}; }},
    {"a label is one choice for all results", "spec s(x: f32[N]) -> (a: f32[N], b: f32[N]) { let y = any_of<\"k\">(x, 3 * x)\n return (round<f32>(y), round<f32>(y + 1)) }",
     {{"x", {2}}}, 2, [](int w) { return w ? Values{6, 7} : Values{2, 3}; }},
    {"the last of 64 assignments",
     "spec s(x: f32[N]) -> f32[N] { return round<f32>(any_of<\"a\">(0, 1) + any_of<\"b\">(0, 2) + any_of<\"c\">(0, 4) + any_of<\"d\">(0, 8) + any_of<\"e\">(0, 16) + any_of<\"f\">(0, 32) + 0 * x) }",
     {{"x", {1, 1}}}, 64, [](int w) { return Values{double(w), double(w)}; }},
    {"choose is one number for the whole call", "spec s(x: f32[N]) -> f32[N] { return choose k in {1, 2, 4} { round<f32>(k * x) } }", {{"x", {3, 5}}}, 3,
     [](int w) { return Values{3.0 * (1 << w), 5.0 * (1 << w)}; }},
    // s = 1: 257 is stored as 256. s = 2: parts 256 and 1 are kept. bf16 holds 8 bits, f32 all.
    {"the number of parts is one choice", "spec s(x: f32[M, 2]) -> f32[M] { return acc<f32, split({1, 2}, store=bf16)>(sum(x, axis=1)) }",
     {{"x", {256, 1, 512, 1}}}, 2, [](int w) { return w ? Values{257, 513} : Values{256, 512}; }},
    {"a stochastic value that is read twice", "spec s(x: f32[N]) -> f32[N] { let y = round<f8e4m3fn, sr>(x)\n return round<f32>(y - y + 16 * y) }", {{"x", {1.0625, 2.125}}}, 4,
     [](int w) { return Values{bit(w, 0) ? 18.0 : 16, bit(w, 1) ? 36.0 : 32}; }},
    {"stochastic values that are drawn apart", "spec s(x: f32[N]) -> f32[N] { return round<f32>(round<f8e4m3fn, sr>(x) - round<f8e4m3fn, sr>(x)) }", {{"x", {1.0625}}}, 4,
     [](int w) { return Values{(bit(w, 0) ? 1.125 : 1) - (bit(w, 1) ? 1.125 : 1)}; }, [] { return std::vector<Values>{{0.25, -0.25}}; }},
    {"the parts of a complex number share their choice", "spec s(x: f32[N], y: f32[N]) -> complex<f32>[N] { let z = any_of(complex(x, y), complex(2 * x, 2 * y))\n return round<f32>(z + z) }",
     {{"x", {1, 3}}, {"y", {5, 7}}}, 4,
     [](int w) { return Values{bit(w, 0) ? 4.0 : 2, bit(w, 0) ? 20.0 : 10, bit(w, 1) ? 12.0 : 6, bit(w, 1) ? 28.0 : 14}; }},
    {"terms of one sum take turns at each place", "spec s(x: f32[N], y: f32[N]) -> f32 { return acc<f32, seq>(sum(x - y)) }", {{"x", {0x1p24, 1}}, {"y", {0x1p24, 0}}}, 1,
     [](int) { return Values{1}; }},
    {"and sums one after the other do not", "spec s(x: f32[N], y: f32[N]) -> f32 { return acc<f32, seq>(sum(x) - sum(y)) }", {{"x", {0x1p24, 1}}, {"y", {0x1p24, 0}}}, 1,
     [](int) { return Values{0}; }},
    {"a subnormal factor of a sum may be flushed", "spec s(x: f32[N], y: f32[N]) -> f32 { return acc<f32, ftz=free>(sum(x * y)) }", {{"x", {0x1p-130, 1}}, {"y", {0x1p20, 0x1p-110}}}, 2,
     [](int w) { return w ? Values{0x1p-110} : Values{0x1p-109}; }, [] { return std::vector<Values>{{0, 0x1p-108, -0x1p-110}}; }},
    {"a subnormal operand of within may be flushed", "spec s(x: f32[N]) -> f32[N] { return round<f32>(within<f32, ftz>(x * 1048576)) }", {{"x", {0x1p-130}}}, 2,
     [](int w) { return w ? Values{0} : Values{0x1p-110}; }, [] { return std::vector<Values>{{0x1p-109, -0x1p-110}}; }},
    {"a subnormal literal is flushed under daz", "spec s(x: f32[N]) -> float<e=3, m=2>[N] { return in float<e=3, m=2>, daz { round<float<e=3, m=2>>(x) * 0.0625 } }", {{"x", {8}}}, 1,
     [](int) { return Values{0}; }, [] { return std::vector<Values>{{0.5}}; }},
};

std::string text_of(const Values& v) {
  std::string text;
  for (const double x : v) text += (text.empty() ? "" : ", ") + std::to_string(x);
  return "(" + text + ")";
}

/// Outputs cut into the results' tensors.
std::vector<Tensor> tensors(const Graph& graph, const Values& values) {
  const Type f32 = Type::of(*find_format("f32"));
  std::vector<Tensor> all;
  std::size_t at = 0;
  for (const Result& r : graph.results) {
    const Extents extents = extents_of(graph[r.node].shape);
    const bool is_complex = graph[r.node].type.is_complex;
    Values parts[2];
    for (std::int64_t i = 0; i < size_of(extents); ++i)
      for (int p = 0; p <= is_complex; ++p) parts[p].push_back(values[at++]);
    Tensor re = Tensor::of(f32, extents, parts[0]);
    all.push_back(is_complex ? Tensor::complex(re, Tensor::of(f32, extents, parts[1])) : re);
  }
  return all;
}

std::optional<std::string> count_out(const Case& c, Figures& figures) {
  const auto program = parse(c.text);
  std::map<std::string, Tensor> inputs;
  for (const auto& [name, values] : c.inputs) {
    const auto n = static_cast<std::int64_t>(values.size());
    const bool matrix = std::string(c.text).find(name + ": f32[M, 2]") != std::string::npos;
    inputs[name] = Tensor::of(Type::of(*find_format("f32")), matrix ? Extents{n / 2, 2} : Extents{n}, values);
  }
  const Call call = make_call(program->spec(), inputs);
  Evaluation evaluation(call.graph, call.inputs);
  std::set<Values> legal;
  for (int w = 0; w < c.ways; ++w) legal.insert(c.execution(w));
  // Everything that places hold in some execution, in every combination, and a step to each side.
  const std::size_t places = legal.begin()->size();
  std::vector<std::set<double>> candidates(places);
  for (const Values& v : legal)
    for (std::size_t i = 0; i < places; ++i) {
      candidates[i].insert(v[i]);
      if (!c.more)
        for (const double x : {0.0, double(std::nextafterf(float(v[i]), 1e30f)), double(std::nextafterf(float(v[i]), -1e30f))}) candidates[i].insert(x);
    }
  if (c.more) {
    const std::vector<Values> more = c.more();
    for (std::size_t i = 0; i < places; ++i) candidates[i].insert(more[i].begin(), more[i].end());
  }
  if (places > 1 && legal.size() > 16)  // of many executions each place alone, beside an execution
    for (auto& s : candidates) s = {0, 1, 62, 63};
  std::vector<Values> outputs{{}};
  for (const auto& s : candidates) {
    std::vector<Values> longer;
    for (const Values& v : outputs)
      for (const double x : s) {
        longer.push_back(v);
        longer.back().push_back(x);
      }
    outputs = std::move(longer);
  }
  for (const Values& v : legal) outputs.push_back(v);
  for (const Values& v : outputs) {
    ++figures.values;
    const bool allowed = check(evaluation, tensors(*call.graph, v)).ok();
    if (allowed == (legal.count(v) > 0)) continue;
    return std::string(c.name) + ": " + text_of(v) + (allowed ? " is no execution and is allowed" : " is an execution and is refused");
  }
  ++figures.cases;
  return {};
}

std::optional<std::string> all_cases(int, Figures& figures) {
  for (const Case& c : cases)
    if (const auto found = count_out(c, figures)) return found;
  return {};
}

}  // namespace

const std::vector<Check>& choice_checks() {
  static const std::vector<Check> all = {{"choices", all_cases}};
  return all;
}

}  // namespace erx::test
