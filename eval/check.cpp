#include "eval/check.hpp"

#include <chrono>
#include <numeric>

#include "eval/float_guard.hpp"
#include "eval/parts.hpp"
#include "eval/result_check.hpp"
#include "ops/planted.hpp"

namespace erx {
namespace {

/// The results `which` of one run against their outputs.
std::vector<ResultReport> check_run(Evaluation& evaluation, const std::vector<std::size_t>& which, std::size_t run, const std::vector<const Tensor*>& outputs,
                                    const CheckOptions& options, bool explained) {
  std::vector<ResultCheck> checks;
  std::vector<std::optional<Format>> stores;
  checks.reserve(which.size());
  for (std::size_t k = 0; k < which.size(); ++k) {
    checks.emplace_back(evaluation, which[k], *outputs[k], options);
    stores.push_back(checks.back().store());
  }
  Evaluation::Parts parts(evaluation, which, stores, run);
  for (const Section& section : parts.sections()) {
    Evaluation::Parts::At& at = parts.at(section);
    for (std::size_t k = 0; k < which.size(); ++k) checks[k].add(section, at.result(k));
  }
  std::vector<ResultReport> reports;
  for (std::size_t k = 0; k < which.size(); ++k) reports.push_back(explained ? checks[k].explained(parts, k) : checks[k].counted());
  return reports;
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
  std::vector<std::size_t> which(results);
  std::iota(which.begin(), which.end(), std::size_t{0});
  std::vector<const Tensor*> tensors;
  for (const Tensor& t : outputs) tensors.push_back(&t);
  // A labelled choice is one choice for all results: the run with the fewest violations is reported.
  Report best;
  for (std::size_t run = 0; run < (planted(Mistake::first_run_only) ? 1 : evaluation.runs()); ++run) {
    Report report;
    report.run = evaluation.run_name(run);
    report.results = check_run(evaluation, which, run, tensors, options, true);
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
    const ResultReport report = check_run(evaluation, {i}, run, {&output}, options, false)[0];
    if (fewest >= 0 && report.violations >= fewest) continue;
    fewest = report.violations;
    best.assign(static_cast<std::size_t>(output.size()), true);
    for (const std::int64_t flat : report.outside) best[static_cast<std::size_t>(flat)] = false;
    if (fewest == 0) break;
  }
  return best;
}

}  // namespace erx
