#include <functional>
#include <set>

#include "helpers.hpp"

namespace erx::test {
namespace {

bool is_given_by_printer(const std::string& name) {
  return name.size() > 1 && name[0] == 't' && name.find_first_not_of("0123456789", 1) == name.npos;
}

}  // namespace

bool same(const Graph& a, const Graph& b, std::string& why) {
  std::map<NodeId, NodeId> choices, back;
  std::set<std::pair<NodeId, NodeId>> done;
  std::function<bool(NodeId, NodeId)> equal = [&](NodeId x, NodeId y) {
    if (!done.insert({x, y}).second) return true;
    const Node &n = a[x], &m = b[y];
    auto differ = [&](const char* what) {
      why = std::string(what) + " of " + std::string(n.op->name) + " (%" + std::to_string(x) + ") and " + std::string(m.op->name) + " (%" +
            std::to_string(y) + ")";
      return false;
    };
    if (n.op != m.op) return differ("op");
    if (!(n.attributes == m.attributes)) return differ("attributes");
    if (!(n.type == m.type)) return differ("type");
    if (!(n.shape == m.shape)) return differ("shape");
    if (n.scalar_parameter != m.scalar_parameter) return differ("scalar_parameter");
    if (n.freedom != m.freedom) return differ("freedom");
    if (n.name != m.name && !(n.name.empty() && is_given_by_printer(m.name))) return differ("name");
    if (n.operands.size() != m.operands.size()) return differ("operand count");
    if (n.freedom) {
      if (!choices.emplace(x, y).second && choices[x] != y) return differ("sharing");
      if (!back.emplace(y, x).second && back[y] != x) return differ("sharing");
    }
    for (std::size_t i = 0; i < n.operands.size(); ++i) {
      if (!equal(n.operands[i], m.operands[i])) return false;
    }
    return true;
  };
  if (a.results.size() != b.results.size()) return why = "number of results", false;
  if (a.inputs.size() != b.inputs.size()) return why = "number of inputs", false;
  for (std::size_t i = 0; i < a.inputs.size(); ++i) {
    if (!equal(a.inputs[i], b.inputs[i])) return false;
  }
  for (std::size_t i = 0; i < a.results.size(); ++i) {
    if (a.results[i].name != b.results[i].name || a.results[i].declared != b.results[i].declared) return why = "results", false;
    if (!equal(a.results[i].node, b.results[i].node)) return false;
  }
  return true;
}

}  // namespace erx::test
