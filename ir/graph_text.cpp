// A graph as a list of nodes and as DOT.
#include "ir/attribute_text.hpp"
#include "ir/print.hpp"

namespace erx {
namespace {

std::string one_line(const Graph& g, NodeId id) {
  const Node& n = g[id];
  std::string out(n.op->name);
  if (n.attributes.format) out += "<" + n.attributes.format->name + ">";
  if (n.attributes.whole) out += "<" + to_string(*n.attributes.whole) + ">";
  if (!n.attributes.text.empty()) out += " " + n.attributes.text;
  for (std::size_t i = 0; i < n.operands.size(); ++i) out += (i ? ", %" : " %") + std::to_string(n.operands[i]);
  return out;
}

std::string type_text(const Node& n) { return to_string(n.type) + (n.shape.empty() ? "" : to_string(n.shape)); }

}  // namespace

std::string to_list(const Graph& g) {
  std::string out;
  for (NodeId id = 0; id < g.size(); ++id) {
    out += "%" + std::to_string(id) + (g[id].name.empty() ? "" : " " + g[id].name) + " = " + one_line(g, id) + " : " + type_text(g[id]);
    if (g.has_freedom(id)) out += g[id].freedom ? "  a choice" : "  depends on a choice";
    out += "\n";
  }
  for (const Assumption& a : g.assumptions) out += "assume %" + std::to_string(a.node) + "\n";
  for (const Result& r : g.results) out += "return " + (r.name.empty() ? "" : r.name + " = ") + "%" + std::to_string(r.node) + "\n";
  return out;
}

std::string to_dot(const Graph& g) {
  std::string out =
      "digraph " + quoted(g.name.empty() ? "erx" : g.name) + " {\n  rankdir=TB;\n  node [shape=box, fontname=\"monospace\"];\n";
  for (NodeId id = 0; id < g.size(); ++id) {
    const Node& n = g[id];
    std::string label = n.name.empty() ? "" : n.name + "\n";
    label += std::string(n.op->symbol.empty() ? n.op->name : n.op->symbol);
    if (n.attributes.format) label += "<" + n.attributes.format->name + ">";
    if (n.attributes.whole) label += "<" + to_string(*n.attributes.whole) + ">";
    if (n.op->name == "literal") label = n.attributes.text;
    label += "\n" + type_text(n);
    std::string text = quoted(label);
    for (std::size_t at = 0; (at = text.find('\n', at)) != text.npos; at += 2) text.replace(at, 1, "\\n");
    out += "  n" + std::to_string(id) + " [label=" + text + (n.freedom ? ", style=filled, fillcolor=lightyellow" : "") + "];\n";
    for (NodeId o : n.operands) out += "  n" + std::to_string(o) + " -> n" + std::to_string(id) + ";\n";
  }
  for (std::size_t i = 0; i < g.results.size(); ++i) {
    const std::string result = "result" + std::to_string(i);
    out += "  " + result + " [shape=plaintext, label=" + quoted(g.results[i].name.empty() ? "result" : g.results[i].name) + "];\n  n" +
           std::to_string(g.results[i].node) + " -> " + result + ";\n";
  }
  return out + "}\n";
}

}  // namespace erx
