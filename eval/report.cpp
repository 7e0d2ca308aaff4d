// The text of a report: verdict first, then what a person needs to find the mistake.
#include <algorithm>
#include <cmath>
#include <cstdio>

#include "eval/check.hpp"
#include "eval/number_text.hpp"
#include "ir/loop.hpp"
#include "ir/print.hpp"
#include "ops/op.hpp"

namespace erx {
namespace {

/// The provenance (src=) of every approximate function that these nodes depend on, the last ones first.
void add_sources(const Graph& graph, const std::vector<Result>& roots, std::vector<std::string>& sources) {
  const Op& approx = op("approx");
  std::vector<bool> needed(graph.size(), false);
  for (const Result& r : roots) needed[r.node] = true;
  for (auto id = static_cast<NodeId>(graph.size()); id-- > 0;) {
    if (!needed[id]) continue;
    for (NodeId o : graph[id].operands) needed[o] = true;
    const Node& node = graph[id];
    if (is_fold(node)) add_sources(node.attributes.loop->body, node.attributes.loop->body.results, sources);
    if (node.op != &approx || node.attributes.text.empty()) continue;
    if (std::find(sources.begin(), sources.end(), node.attributes.text) == sources.end()) sources.push_back(node.attributes.text);
  }
}

std::string number(double x) {
  if (std::isinf(x)) return "infinitely many";
  char text[32];
  std::snprintf(text, sizeof text, x == std::floor(x) && x < 1e15 ? "%.0f" : "%.4g", x);
  return text;
}

std::string distance(double x) { return std::isinf(x) ? "not comparable" : number(x); }

std::string plural(std::int64_t n, const std::string& word) { return grouped(n) + " " + word + (n == 1 ? "" : "s"); }

void append(std::string& text, const ResultReport& r) {
  const std::string name = r.name.empty() ? "output" : r.name;
  text += "  " + name + ": " + to_string(r.type) + to_string(shape_of(r.extents)) + ", " + plural(r.checked, "element") + " checked, ";
  text += r.violations == 0 ? "none outside\n" : grouped(r.violations) + " outside\n";
  text += "  spec: " + r.spec() + "\n";
  for (const std::string& source : r.sources()) text += "  error bound from: " + source + "\n";
  for (const Violation& v : r.first) {
    text += (v.index.empty() ? std::string("    got ") : "    at " + index_text(v.index) + ": got ") + v.got + ", allowed " + v.allowed;
    text += std::isinf(v.ulps) ? ", not comparable" : ", " + number(v.ulps) + (v.ulps == 1 ? " ulp away" : " ulps away");
    if (!v.parts.empty()) text += " (real " + distance(v.parts[0]) + ", imaginary " + distance(v.parts[1]) + ")";
    if (v.nearest >= 0 && static_cast<std::size_t>(v.nearest) < r.alternatives.size())
      text += ", nearest to alternative " + std::to_string(v.nearest + 1) + ": " + r.alternatives[static_cast<std::size_t>(v.nearest)];
    text += "\n";
  }
  if (r.violations > static_cast<std::int64_t>(r.first.size()))
    text += "    and " + grouped(r.violations - static_cast<std::int64_t>(r.first.size())) + " more\n";
  for (const Finding& f : r.findings)
    if (!f.text.empty()) text += (f.kind == "cause" ? "  " : "  where: ") + f.text + "\n";
  if (r.violations > 0) text += "  largest distance: " + (std::isinf(r.max_ulps) ? std::string("a special value against a number") : number(r.max_ulps) + (r.max_ulps == 1 ? " ulp" : " ulps")) + "\n";
  if (r.checked > 0) text += "  tightness: " + number(r.tightness) + " allowed " + (r.tightness == 1 ? "value" : "values") + " per element on average\n";
}

// Nothing checked is nothing shown: that is said where the verdict is read.
std::string covered_text(const std::vector<ResultReport>& results) {
  bool masked = false;
  for (const ResultReport& r : results) {
    if (r.checked > 0) return "COVERED: every element is a value that the spec allows\n";
    masked |= size_of(r.extents) > 0;
  }
  return masked ? "COVERED, but no element was checked: the mask is false everywhere\n" : "COVERED, but there is no element to check: the output is empty\n";
}

}  // namespace

std::string ResultReport::spec() const { return graph ? expression_text(*graph, node) : ""; }

std::vector<std::string> ResultReport::sources() const {
  std::vector<std::string> sources;
  if (graph) add_sources(*graph, {{"", node, {}}}, sources);
  std::reverse(sources.begin(), sources.end());
  return sources;
}

std::string Report::text() const {
  std::string text;
  if (!applicable) return "INAPPLICABLE: the spec assumes `" + assumption + "`, which does not hold for these inputs\n";
  text += ok() ? covered_text(results) : "VIOLATION: " + plural(violations(), "element") + " cannot be produced under the spec\n";
  if (!run.empty()) text += "  choice: " + run + "\n";
  for (const ResultReport& r : results) append(text, r);
  text += "  decided by: float64 enclosure " + grouped(counters.bulk) + ", compensated " + grouped(counters.compensated) + ", multiple precision " + grouped(counters.big) + ", exact rationals " +
          grouped(counters.exact) + (counters.open ? ", left as an enclosure " + grouped(counters.open) : "") + "\n";
  if (counters.rejected)
    text += "  warning: " + plural(counters.rejected, "block") + " of a matrix product from this machine's BLAS failed the checksum and " +
            (counters.rejected == 1 ? "was" : "were") + " computed again without it\n";
  return text;
}

}  // namespace erx
