#include "bindings/examples.hpp"

#include <set>

#include "bindings/call.hpp"
#include "bindings/literals.hpp"
#include "eval/bind.hpp"
#include "eval/check.hpp"
#include "eval/judge.hpp"
#include "eval/number_text.hpp"
#include "ir/error.hpp"

namespace erx {
namespace {

// The lines of an example that stand for one output: one line per result, of the same kind.
struct Claim {
  ExampleLine::Kind kind;
  std::vector<const ExampleLine*> lines;
};

std::vector<Claim> claims_of(const Example& example) {
  std::vector<Claim> claims;
  std::set<std::string> names;
  for (const ExampleLine& line : example.lines) {
    if (line.kind == ExampleLine::Kind::input) continue;
    const bool joins = !claims.empty() && claims.back().kind == line.kind && !line.name.empty() && !names.count(line.name);
    if (!joins) {
      claims.push_back({line.kind, {}});
      names.clear();
    }
    claims.back().lines.push_back(&line);
    names.insert(line.name);
  }
  return claims;
}

std::string text_of(const Claim& claim) {
  std::string text = claim.kind == ExampleLine::Kind::covers ? "covers" : "rejects";
  for (const ExampleLine* line : claim.lines)
    text += (line == claim.lines.front() ? " " : ", ") + (line->name.empty() ? "" : line->name + " = ") + literal_text(line->value);
  return text;
}

Call call_of(const Spec& spec, const Example& example) {
  std::map<std::string, Tensor> inputs;
  for (const ExampleLine& line : example.lines) {
    if (line.kind != ExampleLine::Kind::input) continue;
    if (inputs.count(line.name)) throw Error(Diagnostic{line.span, "input `" + line.name + "` is given twice", "second value"});
    inputs[line.name] = tensor_of(line.value, declared_type(spec, line.name), line.name);
  }
  return make_call(spec, std::move(inputs));
}

std::size_t result_of(const Graph& graph, const ExampleLine& line) {
  std::vector<std::string> names;
  for (std::size_t i = 0; i < graph.results.size(); ++i) {
    if (graph.results[i].name == line.name || (graph.results.size() == 1 && line.name.empty())) return i;
    names.push_back(graph.results[i].name);
  }
  std::string known;
  for (const auto& n : names) known += (known.empty() ? "" : ", ") + n;
  if (line.name.empty()) throw Error(Diagnostic{line.span, "the spec has several results (" + known + "): name one, `covers " + names.front() + " = ..`", ""});
  const std::string near = did_you_mean(line.name, names);
  throw Error(Diagnostic{line.span, "the spec has no result `" + line.name + "`", near.empty() ? "" : "did you mean `" + near + "`?"});
}

Tensor output_of(const Graph& graph, std::size_t i, const ExampleLine& line) {
  const Result& result = graph.results[i];
  const Node& node = graph[result.node];
  std::optional<Type> type = result.declared;
  if (!type && !node.type.is_real()) type = node.type;
  Tensor t = tensor_of(line.value, type, result_name(result.name));
  if (t.is_complex()) {
    const Type part = t.type.is_real() ? Type::of(*find_format("f64")) : t.type.part();
    require_representable(t, Type::complex(part), result_name(result.name));
    return as_declared(std::move(t), Type::complex(part));
  }
  if (t.storage != Storage::rational) return t;
  // A number that is stored has to be a double at least.
  const CloseDouble x = close_double(t.text);
  if (!x.exact) throw Error(Diagnostic{line.value.span, t.text + " is no double, so it cannot be an output", ""});
  return Tensor::of(Type::of(*find_format("f64")), {}, {x.value});
}

// An output of which most elements may be 0 is passed by a kernel that writes nothing, and one of either sign by a kernel that
// has lost it: such an example shows little.
std::optional<std::string> vacuous(Evaluation& evaluation, std::size_t i, const Tensor& output) {
  const SetTensor& sets = evaluation.result(i);
  const std::int64_t n = sets.size();
  std::int64_t zeros = 0, signs = 0, written = 0;
  for (std::int64_t k = 0; k < n; ++k) {
    const std::size_t at = static_cast<std::size_t>(k);
    bool zero = false, negative = false, positive = false;
    for (const Plane& p : sets.planes) {
      const std::uint8_t flags = p.flags ? (*p.flags)[at] : 0;
      if (flags & no_reals) continue;
      zero = zero || (p.lo()[k] <= 0 && p.hi()[k] >= 0);
      negative = negative || p.lo()[k] < 0;
      positive = positive || p.hi()[k] > 0;
    }
    if (output.is_complex()) zero = zero && Judge(sets, {}, {}, false).covers(at, {0, 0});
    zeros += zero;
    signs += negative && positive && !output.is_complex();
    written += output.at(k) != 0 || (output.is_complex() && output.imag->at(k) != 0);
  }
  if (n == 0 || 2 * written <= n) return {};
  const std::string of = " of " + counted(n, "element");
  if (2 * zeros > n) return "vacuous: a kernel that writes only zeros would pass: 0 is allowed for " + std::to_string(zeros) + of;
  if (2 * signs > n) return "vacuous: a kernel that loses the sign would pass: both signs are allowed for " + std::to_string(signs) + of;
  return {};
}

struct Verdict {
  bool applicable = true;
  bool covered = true;
  std::string text;
};

// Every result has a line: one joint check. Otherwise each result that has one by itself.
Verdict verdict_of(Evaluation& evaluation, const Claim& claim, std::vector<std::string>& warnings) {
  const Graph& graph = evaluation.graph();
  std::map<std::size_t, Tensor> given;
  for (const ExampleLine* line : claim.lines) {
    const std::size_t i = result_of(graph, *line);
    given[i] = output_of(graph, i, *line);
    if (claim.kind != ExampleLine::Kind::covers) continue;
    if (auto warning = vacuous(evaluation, i, given[i])) warnings.push_back(*warning);
  }
  if (given.size() == graph.results.size()) {
    std::vector<Tensor> outputs;
    for (auto& [i, t] : given) outputs.push_back(t);
    const Report report = check(evaluation, outputs);
    return {report.applicable, report.ok(), report.text()};
  }
  Verdict verdict;
  for (const auto& [i, t] : given) {
    const std::vector<bool> inside = covers(evaluation, i, t);
    for (std::size_t k = 0; k < inside.size(); ++k) {
      if (inside[k]) continue;
      if (verdict.covered)
        verdict.text = result_name(graph.results[i].name) + index_text(unravel(static_cast<std::int64_t>(k), t.extents)) + " is " +
                       got_text({t.at(static_cast<std::int64_t>(k)), t.is_complex() ? t.imag->at(static_cast<std::int64_t>(k)) : 0}, t.is_complex()) + ", which is not allowed\n";
      verdict.covered = false;
    }
  }
  return verdict;
}

void judge(Evaluation& evaluation, const Claim& claim, ExampleOutcome& outcome) {
  const Verdict verdict = verdict_of(evaluation, claim, outcome.warnings);
  const bool wanted = claim.kind == ExampleLine::Kind::covers;
  outcome.passed = verdict.applicable && verdict.covered == wanted;
  if (outcome.passed) return;
  outcome.why = !verdict.applicable || wanted ? verdict.text : "the spec allows this output: no element is outside its set\n";
}

// An error without a place of its own is shown at the example.
std::string rendered(Error error, const Example& example) {
  for (Diagnostic& d : error.diagnostics)
    if (!d.span) d.span = example.span;
  return render(error.diagnostics);
}

}  // namespace

ExamplesRun run_examples(const Program& program, const EvaluateOptions& options, const std::function<void(const ExampleOutcome&)>& each) {
  ExamplesRun run;
  const auto report = [&](const ExampleOutcome& outcome) {
    run.passed += outcome.passed;
    run.wrong += outcome.wrong;
    run.failed += !outcome.passed && !outcome.wrong;
    each(outcome);
  };
  for (const Example& example : program.examples) {
    ++run.examples;
    const std::vector<Claim> claims = claims_of(example);
    try {
      if (claims.empty()) throw Error(Diagnostic{example.span, "the example claims nothing: add a line `covers ..` or `rejects ..`", ""});
      Call call = call_of(program.spec(example.spec), example);
      Evaluation evaluation(call.graph, std::move(call.inputs), options);
      for (const Claim& claim : claims) {
        ExampleOutcome outcome{example.text, text_of(claim), claim.lines.front()->span};
        try {
          judge(evaluation, claim, outcome);
        } catch (const Error& error) {
          outcome.wrong = true;
          outcome.why = rendered(error, example);
        }
        report(outcome);
      }
    } catch (const Error& error) {
      ExampleOutcome outcome{example.text, "", example.span};
      outcome.wrong = true;
      outcome.why = rendered(error, example);
      report(outcome);
    }
  }
  return run;
}

}  // namespace erx
