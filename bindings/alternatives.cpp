#include "bindings/alternatives.hpp"

#include <algorithm>
#include <memory>
#include <string>

#include "ir/loop.hpp"
#include "ops/op.hpp"

namespace erx {
namespace {

// Beyond these the alternatives count as different.
constexpr std::int64_t max_elements = 65536;
constexpr std::size_t max_alternatives = 16, max_instances = 16, max_nodes = 65536;

bool is_number(const Plane& p, std::size_t i) { return (*p.lo_d)[i] == (*p.lo_u)[i] && (*p.hi_d)[i] == (*p.hi_u)[i]; }

/// Do both hold the same values, for certain?
bool same(const Plane& a, const Plane& b, std::int64_t n) {
  for (std::int64_t at = 0; at < n; ++at) {
    const auto i = static_cast<std::size_t>(at);
    const std::uint8_t fa = a.flags ? (*a.flags)[i] : 0, fb = b.flags ? (*b.flags)[i] : 0;
    if (fa != fb || (fa & undecided)) return false;
    if (fa & no_reals) continue;
    if (!is_number(a, i) || !is_number(b, i) || (*a.lo_d)[i] != (*b.lo_d)[i] || (*a.hi_d)[i] != (*b.hi_d)[i]) return false;
  }
  return true;
}

bool same(const SetTensor& a, const SetTensor& b) {
  if (a.extents != b.extents || a.planes.size() != b.planes.size() || !a.imag.empty() || !b.imag.empty()) return false;
  for (std::size_t p = 0; p < a.planes.size(); ++p)
    if (!same(a.planes[p], b.planes[p], a.size())) return false;
  return true;
}

bool is_small(const Graph& graph, const Node& node) {
  for (const NodeId x : node.operands)
    if (!is_concrete(graph[x].shape) || size_of(extents_of(graph[x].shape)) > max_elements || graph[x].type.is_complex) return false;
  return true;
}

}  // namespace

void Alternatives::see(const Graph& spec, const std::vector<Tensor>& inputs, const EvaluateOptions& options) {
  const bool is_open = written_out_size(spec, max_nodes + 1) > max_nodes;  // then what stands in loops is not looked at
  const Graph graph = is_open ? spec : erx::written_out(spec);
  std::map<Place, std::vector<NodeId>> written;  // of a loop or a function: its instances
  for (NodeId id = 0; id < graph.size(); ++id) {
    const Node& node = graph[id];
    if (row(node).is_choice && node.operands.size() > 1 && node.span && node.span.text().starts_with("any_of"))
      written[{node.span.source.get(), node.span.begin}].push_back(id);
  }
  for (const auto& [place, instances] : written) {
    Choice& choice = choices_[place];
    for (const NodeId id : instances) {
      const Node& node = graph[id];
      const std::size_t count = node.operands.size();
      choice.at = node.span;
      choice.is_open = choice.is_open || count > max_alternatives || instances.size() > max_instances || !is_small(graph, node);
      if (choice.is_open) break;
      choice.count = std::max(choice.count, count);
      Graph each = graph;
      each.results.clear();
      for (const NodeId x : node.operands) each.results.push_back({"", x, {}});
      Evaluation evaluation(std::make_shared<const Graph>(std::move(each)), inputs, options);
      for (std::size_t i = 0; i < count; ++i)
        for (std::size_t j = 0; j < i; ++j)
          if (!choice.differ.contains({j, i}) && !same(evaluation.result(j), evaluation.result(i))) choice.differ.insert({j, i});
    }
  }
}

std::vector<Diagnostic> Alternatives::warnings() const {
  std::vector<Diagnostic> all;
  for (const auto& [place, choice] : choices_) {
    for (std::size_t i = 1; i < choice.count && !choice.is_open; ++i) {
      for (std::size_t j = 0; j < i; ++j) {
        if (choice.differ.contains({j, i})) continue;
        const std::string number = std::to_string(i + 1);
        Diagnostic d{choice.at, "no example tells alternative " + number + " of this `any_of` from alternative " + std::to_string(j + 1),
                     "the same values on every input of the examples"};
        d.severity = Severity::warning;
        all.push_back(std::move(d));
        break;
      }
    }
  }
  return all;
}

}  // namespace erx
