#include "bindings/examples.hpp"

#include <cctype>
#include <set>

#include "bindings/alternatives.hpp"
#include "bindings/call.hpp"
#include "bindings/kernel_output.hpp"
#include "bindings/literals.hpp"
#include "eval/bind.hpp"
#include "eval/check.hpp"
#include "eval/judge.hpp"
#include "eval/number_text.hpp"
#include "grammar/ast.hpp"
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
    const bool joins = !claims.empty() && claims.back().kind == line.kind && line.kind != ExampleLine::Kind::mutant && !line.name.empty() && !claims.back().lines.back()->name.empty() &&
                       !names.count(line.name);
    if (!joins) {
      claims.push_back({line.kind, {}});
      names.clear();
    }
    claims.back().lines.push_back(&line);
    names.insert(line.name);
  }
  return claims;
}

/// On one line, cut where it is long.
std::string value_text(const ExampleLine& line) {
  constexpr std::size_t limit = 60;
  if (!line.expression) return literal_text(line.value, limit);
  std::string text;
  for (const char c : Span{line.span.source, line.expression->begin, line.expression->end}.text()) {
    const bool space = std::isspace(static_cast<unsigned char>(c));
    if (!space || (!text.empty() && text.back() != ' ')) text += space ? ' ' : c;
  }
  return text.size() > limit ? text.substr(0, limit) + "..." : text;
}

std::string text_of(const Claim& claim) {
  if (claim.kind == ExampleLine::Kind::mutant) return "mutant \"" + claim.lines.front()->name + "\"";
  std::string text = claim.kind == ExampleLine::Kind::covers ? "covers" : "rejects";
  for (const ExampleLine* line : claim.lines)
    text += (line == claim.lines.front() ? " " : ", ") + (line->name.empty() ? "" : line->name + " = ") + value_text(*line);
  return text;
}

std::map<std::string, Tensor> inputs_of(const Spec& spec, const Example& example) {
  std::map<std::string, Tensor> inputs;
  for (const ExampleLine& line : example.lines) {
    if (line.kind != ExampleLine::Kind::input) continue;
    if (inputs.count(line.name)) throw Error(Diagnostic{line.span, "input `" + line.name + "` is given twice", "second value"});
    inputs[line.name] = tensor_of(line.value, declared_type(spec, line.name), line.name);
  }
  return inputs;
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
  std::int64_t outside = 0, checked = 0;
  std::string text;
};

/// What an example brings: its spec, its inputs, and the sets that the spec allows for them.
struct Subject {
  const Spec& spec;
  const std::map<std::string, Tensor>& inputs;
  Evaluation& evaluation;
};

/// The outputs that a claim speaks of, by the number of their result.
std::map<std::size_t, Tensor> outputs_of(const Subject& subject, const Claim& claim) {
  const Graph& graph = subject.evaluation.graph();
  std::map<std::size_t, Tensor> given;
  for (const ExampleLine* line : claim.lines) {
    const bool whole = claim.kind == ExampleLine::Kind::mutant || line->name.empty();
    if (!line->expression) {
      const std::size_t i = result_of(graph, *line);
      given[i] = output_of(graph, i, *line);
      continue;
    }
    std::vector<Tensor> made = kernel_outputs(subject.spec, *line, subject.inputs, subject.evaluation.options());
    if (whole)
      for (std::size_t i = 0; i < made.size(); ++i) given[i] = std::move(made[i]);
    else
      given[result_of(graph, *line)] = std::move(made.at(0));
  }
  return given;
}

// Every result has a line: one joint check. Otherwise each result that has one by itself.
Verdict verdict_of(const Subject& subject, const Claim& claim, std::vector<std::string>& warnings) {
  Evaluation& evaluation = subject.evaluation;
  const Graph& graph = evaluation.graph();
  const std::map<std::size_t, Tensor> given = outputs_of(subject, claim);
  if (claim.kind == ExampleLine::Kind::covers)
    for (const auto& [i, output] : given)
      if (auto warning = vacuous(evaluation, i, output)) warnings.push_back(*warning);
  if (given.size() == graph.results.size()) {
    std::vector<Tensor> outputs;
    for (auto& [i, t] : given) outputs.push_back(t);
    const Report report = check(evaluation, outputs);
    std::int64_t checked = 0;
    for (const ResultReport& r : report.results) checked += r.checked;
    return {report.applicable, report.ok(), report.violations(), checked, report.text()};
  }
  Verdict verdict;
  for (const auto& [i, t] : given) {
    const std::vector<bool> inside = covers(evaluation, i, t);
    verdict.checked += static_cast<std::int64_t>(inside.size());
    for (std::size_t k = 0; k < inside.size(); ++k) {
      if (inside[k]) continue;
      ++verdict.outside;
      if (verdict.covered)
        verdict.text = result_name(graph.results[i].name) + index_text(unravel(static_cast<std::int64_t>(k), t.extents)) + " is " +
                       got_text({t.at(static_cast<std::int64_t>(k)), t.is_complex() ? t.imag->at(static_cast<std::int64_t>(k)) : 0}, t.is_complex()) + ", which is not allowed\n";
      verdict.covered = false;
    }
  }
  return verdict;
}

void judge(const Subject& subject, const Claim& claim, ExampleOutcome& outcome) {
  const Verdict verdict = verdict_of(subject, claim, outcome.warnings);
  const bool wanted = claim.kind == ExampleLine::Kind::covers;
  outcome.passed = verdict.applicable && verdict.covered == wanted;
  if (outcome.passed) {
    if (!wanted && claim.lines.front()->expression)
      outcome.note = "refuted in " + std::to_string(verdict.outside) + " of " + counted(verdict.checked, "element");
    return;
  }
  if (!verdict.applicable || wanted)
    outcome.why = verdict.text;
  else if (claim.kind == ExampleLine::Kind::mutant)
    outcome.why = "this mutant survives: the spec allows " + std::string(verdict.checked == 1 ? "the" : "each of the") + " " + counted(verdict.checked, "element") + " that it computes\n" +
                  "either the spec allows more than it should, or these inputs do not show the mistake\n";
  else
    outcome.why = "the spec allows this output: no element is outside its set\n";
}

// An error without a place of its own is shown at the line or the example.
std::string rendered(Error error, const Span& at) {
  for (Diagnostic& d : error.diagnostics)
    if (!d.span) d.span = at;
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
  Alternatives lint;
  for (const Example& example : program.examples) {
    ++run.examples;
    const std::vector<Claim> claims = claims_of(example);
    try {
      if (claims.empty()) throw Error(Diagnostic{example.span, "the example claims nothing: add a line `covers ..`, `rejects ..` or `mutant \"..\": ..`", ""});
      const Spec& spec = program.spec(example.spec);
      const std::map<std::string, Tensor> inputs = inputs_of(spec, example);
      Call call = make_call(spec, inputs);
      lint.see(*call.graph, call.inputs, options);
      Evaluation evaluation(call.graph, std::move(call.inputs), options);
      const Subject subject{spec, inputs, evaluation};
      for (const Claim& claim : claims) {
        ExampleOutcome outcome{example.text, text_of(claim), claim.lines.front()->span};
        try {
          judge(subject, claim, outcome);
        } catch (const Error& error) {
          outcome.wrong = true;
          outcome.why = rendered(error, claim.lines.front()->span);
        }
        report(outcome);
      }
    } catch (const Error& error) {
      ExampleOutcome outcome{example.text, "", example.span};
      outcome.wrong = true;
      outcome.why = rendered(error, example.span);
      report(outcome);
    }
  }
  run.warnings = lint.warnings();
  return run;
}

}  // namespace erx
