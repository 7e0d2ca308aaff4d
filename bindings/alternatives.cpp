#include "bindings/alternatives.hpp"

#include <memory>

#include "ops/op.hpp"

namespace erx {
namespace {

constexpr std::int64_t max_elements = 65536;

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

void Alternatives::see(const Graph& graph, const std::vector<Tensor>& inputs, const EvaluateOptions& options) {
  for (NodeId id = 0; id < graph.size(); ++id) {
    const Node& node = graph[id];
    if (!row(node).is_choice || node.operands.size() < 2 || !node.span || !node.span.text().starts_with("any_of")) continue;
    Choice& choice = choices_[{node.span.source.get(), node.span.begin}];
    for (std::size_t i = choice.alternatives.size(); i < node.operands.size(); ++i) choice.alternatives.push_back(graph[node.operands[i]].span);
    Graph each = graph;
    each.results.clear();
    for (const NodeId x : node.operands) each.results.push_back({"", x, {}});
    const bool small = is_small(graph, node);
    Evaluation evaluation(std::make_shared<const Graph>(std::move(each)), inputs, options);
    for (std::size_t i = 0; i < node.operands.size(); ++i)
      for (std::size_t j = 0; j < i; ++j)
        if (!choice.differ.contains({j, i}) && !(small && same(evaluation.result(j), evaluation.result(i)))) choice.differ.insert({j, i});
  }
}

std::vector<Diagnostic> Alternatives::warnings() const {
  std::vector<Diagnostic> all;
  for (const auto& [at, choice] : choices_) {
    for (std::size_t i = 1; i < choice.alternatives.size(); ++i) {
      for (std::size_t j = 0; j < i; ++j) {
        if (choice.differ.contains({j, i})) continue;
        Diagnostic d{choice.alternatives[i], "no example tells this alternative of `any_of` from another", "the same values on every input of the examples"};
        d.severity = Severity::warning;
        all.push_back(std::move(d).note(choice.alternatives[j], "the other alternative"));
        break;
      }
    }
  }
  return all;
}

}  // namespace erx
