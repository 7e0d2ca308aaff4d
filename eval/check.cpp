#include "eval/check.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>

#include "eval/judge.hpp"
#include "eval/locate.hpp"
#include "eval/number_text.hpp"
#include "eval/parallel.hpp"
#include "ir/loop.hpp"
#include "ir/print.hpp"
#include "ops/op.hpp"
#include "ops/planted.hpp"

namespace erx {
namespace {

std::string type_error(const std::string& name, const Type& output, const Type& result) {
  return "output" + (name.empty() ? std::string() : " '" + name + "'") + " has type " + to_string(output) + ", but the result is " + to_string(result);
}

OutputRule output_rule(const Graph& graph, const Result& result, const Tensor& output) {
  const Type declared = result.declared ? *result.declared : graph[result.node].type;
  OutputRule c;
  if (declared.is_boolean() != output.type.is_boolean() || declared.is_complex != output.type.is_complex)
    throw Error(type_error(result.name, output.type, declared));
  const Type type = declared.part(), node_type = graph[result.node].type.part();
  if (output.type.is_integer() && !type.is_integer())
    throw Error(type_error(result.name, output.type, type) + ": a real result is stored in a floating-point format");
  if (!output.type.is_floating()) return c;
  if (!result.declared && !contains(output.type.part(), type)) {
    c.store = output.type.format;
    c.counted = c.store;
    return c;
  }
  c.counted = node_type.is_floating() && contains(output.type.part(), node_type) ? node_type.format : output.type.format;
  if (node_type.is_floating() && !contains(node_type, output.type.part())) c.members = node_type.format;
  return c;
}

void require_extents(const Result& result, const Extents& expected, const Tensor& output) {
  if (output.extents == expected) return;
  throw Error("output" + (result.name.empty() ? std::string() : " '" + result.name + "'") + " has shape " + to_string(shape_of(output.extents)) +
              ", but the result has shape " + to_string(shape_of(expected)));
}

/// Only elements where the mask is true; the mask is broadcast to the output.
std::vector<std::uint8_t> mask_of(const CheckOptions& options, const Extents& extents) {
  std::vector<std::uint8_t> mask;
  if (!options.where) return mask;
  const Tensor& where = *options.where;
  if (!where.type.is_boolean()) throw Error("the mask of 'where' has type " + to_string(where.type) + ", not bool");
  const std::optional<Shape> both = broadcast(shape_of(where.extents), shape_of(extents));
  if (!both || extents_of(*both) != extents)
    throw Error("the mask of 'where' has shape " + to_string(shape_of(where.extents)) + ", which does not broadcast to the output's " + to_string(shape_of(extents)));
  mask.resize(static_cast<std::size_t>(size_of(extents)));
  const std::size_t shift = extents.size() - where.extents.size();
  const Extents strides = contiguous_strides(where.extents);
  for (std::size_t i = 0; i < mask.size(); ++i) {
    std::int64_t rest = static_cast<std::int64_t>(i), at = 0;
    for (std::size_t k = extents.size(); k-- > 0;) {
      const std::int64_t index = rest % extents[k];
      rest /= extents[k];
      if (k >= shift && where.extents[k - shift] != 1) at += index * strides[k - shift];
    }
    mask[i] = where.at(at) != 0;
  }
  return mask;
}

/// The provenance (src=) of every approximate function that these nodes depend on, the last ones first.
void add_sources(const Graph& graph, const std::vector<Result>& roots, std::vector<std::string>& sources) {
  std::vector<bool> needed(graph.size(), false);
  for (const Result& r : roots) needed[r.node] = true;
  for (auto id = static_cast<NodeId>(graph.size()); id-- > 0;) {
    if (!needed[id]) continue;
    for (NodeId o : graph[id].operands) needed[o] = true;
    const Node& node = graph[id];
    if (is_fold(node)) add_sources(node.attributes.loop->body, node.attributes.loop->body.results, sources);
    if (node.op != &op("approx") || node.attributes.text.empty()) continue;
    if (std::find(sources.begin(), sources.end(), node.attributes.text) == sources.end()) sources.push_back(node.attributes.text);
  }
}

std::vector<std::string> sources_of(const Graph& graph, NodeId root) {
  std::vector<std::string> sources;
  add_sources(graph, {{"", root, {}}}, sources);
  std::reverse(sources.begin(), sources.end());
  return sources;
}

ResultReport check_result(Evaluation& evaluation, std::size_t r, std::size_t run, const Tensor& output, const CheckOptions& options,
                          std::vector<bool>* covered) {
  const Graph& graph = evaluation.graph();
  const Result& result = graph.results[r];
  ResultReport report;
  report.name = result.name;
  report.spec = expression_text(graph, result.node);
  report.sources = sources_of(graph, result.node);
  report.type = output.type;
  report.extents = output.extents;
  require_extents(result, extents_of(graph[result.node].shape), output);
  const OutputRule how = output_rule(graph, result, output);
  const SetTensor& set = evaluation.result(r, how.store, run);
  const std::vector<std::uint8_t> mask = mask_of(options, output.extents);
  const std::int64_t n = output.size();
  if (covered) covered->assign(static_cast<std::size_t>(n), true);

  // Blocks are gathered in order, so the report does not depend on the number of threads.
  const bool is_complex = output.is_complex();
  const Tensor re = output.real_part(), im = is_complex ? output.imag_part() : re;
  const auto got = [&](std::int64_t flat) { return Got{re.at(flat), is_complex ? im.at(flat) : 0}; };
  const std::optional<Format> format = output.type.is_floating() ? std::optional(output.type.format) : std::nullopt;
  const Judge judge(set, how, format, options.signed_zero);
  constexpr std::int64_t block = 1 << 13;
  struct Part {
    std::vector<std::int64_t> outside;
    std::vector<float> distances;
    std::int64_t checked = 0;
    double members = 0, max_ulps = 0;
  };
  const auto measure = [&](Part& part) {
    for (const std::int64_t flat : part.outside) {
      const double ulps = judge.distance(static_cast<std::size_t>(flat), got(flat)).ulps();
      part.distances.push_back(static_cast<float>(ulps));
      part.max_ulps = std::max(part.max_ulps, ulps);
    }
  };
  std::vector<Part> parts(static_cast<std::size_t>((n + block - 1) / block));
  parallel_blocks(static_cast<std::int64_t>(parts.size()), evaluation.options(), [&](std::int64_t k) {
    Part& part = parts[static_cast<std::size_t>(k)];
    const std::int64_t first = k * block, count = std::min(block, n - first);
    Doubles values(static_cast<std::size_t>(count)), imaginary(is_complex ? values.size() : 0);
    re.decode(first, count, values.data());
    if (is_complex) im.decode(first, count, imaginary.data());
    if (mask.empty() && judge.is_plain(first, count)) {
      judge.check_plain(first, values, part.members, part.outside);
      part.checked += count;
      measure(part);
      return;
    }
    for (std::int64_t i = 0; i < count; ++i) {
      const std::size_t at = static_cast<std::size_t>(i), e = static_cast<std::size_t>(first + i);
      if (!mask.empty() && !mask[e]) continue;
      ++part.checked;
      part.members += judge.count(e);
      if (!judge.covers(e, {values[at], is_complex ? imaginary[at] : 0})) part.outside.push_back(first + i);
    }
    measure(part);
  });
  double members = 0;
  for (const Part& part : parts) {
    report.checked += part.checked;
    members += part.members;
    report.max_ulps = std::max(report.max_ulps, part.max_ulps);
    report.outside.insert(report.outside.end(), part.outside.begin(), part.outside.end());
    report.distances.insert(report.distances.end(), part.distances.begin(), part.distances.end());
  }
  report.violations = static_cast<std::int64_t>(report.outside.size());
  report.tightness = report.checked ? members / static_cast<double>(report.checked) : 0;
  if (covered) {
    for (const std::int64_t flat : report.outside) (*covered)[static_cast<std::size_t>(flat)] = false;
    return report;
  }
  for (std::size_t k = 0; k < std::min(options.show, report.outside.size()); ++k) {
    const std::int64_t flat = report.outside[k];
    const Got v = got(flat);
    const Distance d = judge.distance(static_cast<std::size_t>(flat), v);
    Violation violation;
    violation.index = unravel(flat, output.extents);
    violation.got = got_text(v, is_complex);
    violation.allowed = judge.allowed(static_cast<std::size_t>(flat));
    violation.ulps = d.ulps();
    if (is_complex) violation.parts = {d.re, d.im};
    violation.nearest = -1;
    const auto alternatives = evaluation.alternatives(r, how.store, run, flat);
    if (alternatives.sets.size() > 1) {
      double best = std::numeric_limits<double>::infinity();
      for (std::size_t a = 0; a < alternatives.sets.size(); ++a) {
        const double away = judge.distance(alternatives.sets[a], is_complex ? &alternatives.imag[a] : nullptr, v).ulps();
        if (away < best) {
          best = away;
          violation.nearest = static_cast<int>(a);
        }
      }
      if (report.alternatives.empty())
        for (const NodeId id : alternatives.nodes) report.alternatives.push_back(expression_text(*alternatives.graph, id));
    }
    report.first.push_back(std::move(violation));
  }
  const Violations violations{report.extents, report.outside, report.distances, report.checked, mask};
  report.findings = locate(violations);
  const OutputValues values{[&](std::int64_t flat) { return re.at(flat); }, [&](std::int64_t at, std::int64_t flat, bool negated) {
    const Got v = got(flat);
    return judge.covers(static_cast<std::size_t>(at), negated ? Got{-v.re, -v.im} : v);
  }};
  for (Finding& f : explain_values(violations, values)) report.findings.push_back(std::move(f));
  std::stable_partition(report.findings.begin(), report.findings.end(), [](const Finding& f) { return f.kind != "cause"; });
  return report;
}

}  // namespace

bool Report::ok() const { return applicable && violations() == 0; }

std::int64_t Report::violations() const {
  std::int64_t count = 0;
  for (const ResultReport& r : results) count += r.violations;
  return count;
}

Report check(Evaluation& evaluation, const std::vector<Tensor>& outputs, const CheckOptions& options) {
  const FloatGuard guard;
  const auto start = std::chrono::steady_clock::now();
  const std::size_t results = evaluation.graph().results.size();
  if (outputs.size() != results)
    throw Error("the spec has " + std::to_string(results) + (results == 1 ? " result" : " results") + ", but " + std::to_string(outputs.size()) +
                (outputs.size() == 1 ? " output was given" : " outputs were given"));
  if (const auto failed = evaluation.failed_assumption()) {
    Report report;
    report.applicable = false;
    report.assumption = *failed;
    return report;
  }
  // A labelled choice is one choice for all results: the run with the fewest violations is reported.
  Report best;
  for (std::size_t run = 0; run < (planted(Mistake::first_run_only) ? 1 : evaluation.runs()); ++run) {
    Report report;
    report.run = evaluation.run_name(run);
    for (std::size_t r = 0; r < results; ++r) report.results.push_back(check_result(evaluation, r, run, outputs[r], options, nullptr));
    if (planted(Mistake::mixed_results))
      for (std::size_t r = 0; r < best.results.size(); ++r)
        if (best.results[r].violations < report.results[r].violations) report.results[r] = best.results[r];
    if (run == 0 || report.violations() < best.violations()) best = std::move(report);
    if (best.ok()) break;
  }
  best.counters = evaluation.counters();
  best.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  return best;
}

std::vector<bool> covers(Evaluation& evaluation, std::size_t i, const Tensor& output, const CheckOptions& options) {
  const FloatGuard guard;
  if (evaluation.failed_assumption()) return std::vector<bool>(static_cast<std::size_t>(output.size()), false);
  std::vector<bool> best;
  std::int64_t fewest = -1;
  for (std::size_t run = 0; run < evaluation.runs(); ++run) {
    std::vector<bool> covered;
    CheckOptions quiet = options;
    quiet.show = 0;
    const ResultReport report = check_result(evaluation, i, run, output, quiet, &covered);
    if (fewest >= 0 && report.violations >= fewest) continue;
    fewest = report.violations;
    best = std::move(covered);
    if (fewest == 0) break;
  }
  return best;
}

}  // namespace erx
