// A graph as a list of nodes and as DOT.
#include "ir/attribute_text.hpp"
#include "ir/loop.hpp"
#include "ir/print.hpp"

namespace erx {
namespace {

std::string range_text(const Loop& loop) {
  return " over " + loop.variable + " in " + std::to_string(loop.first) + ".." + std::to_string(loop.first + loop.count);
}

std::string one_line(const Graph& g, NodeId id) {
  const Node& n = g[id];
  std::string out(n.op->name);
  if (n.attributes.format) out += "<" + n.attributes.format->name + ">";
  if (n.attributes.whole) out += "<" + to_string(*n.attributes.whole) + ">";
  if (!n.attributes.text.empty()) out += " " + n.attributes.text;
  if (is_state(n)) out += " " + std::to_string(n.attributes.axes[0]) + " of";
  if (is_fold(n)) out += range_text(*n.attributes.loop);
  for (std::size_t i = 0; i < n.operands.size(); ++i) out += (i ? ", %" : " %") + std::to_string(n.operands[i]);
  for (const Moving& m : n.attributes.moving) {
    const std::int64_t number = m.slice < 0 ? 0 : n.attributes.slices[static_cast<std::size_t>(m.slice)].start;
    out += " at " + moving_text(n.attributes, m.slice, number);
  }
  return out;
}

std::string type_text(const Node& n) { return to_string(n.type) + (n.shape.empty() ? "" : to_string(n.shape)); }

}  // namespace

namespace {

void list_nodes(const Graph& g, const std::string& margin, std::string& out) {
  for (NodeId id = 0; id < g.size(); ++id) {
    out += margin + "%" + std::to_string(id) + (g[id].name.empty() ? "" : " " + g[id].name) + " = " + one_line(g, id) + " : " + type_text(g[id]);
    if (g.has_freedom(id)) out += g[id].freedom ? "  a choice" : "  depends on a choice";
    out += "\n";
    if (!is_fold(g[id])) continue;
    const Graph& body = g[id].attributes.loop->body;
    list_nodes(body, margin + "  ", out);
    out += margin + "  next";
    for (std::size_t k = 0; k < body.results.size(); ++k) out += (k ? ", %" : " %") + std::to_string(body.results[k].node);
    out += "\n";
  }
}

}  // namespace

std::string to_list(const Graph& g) {
  std::string out;
  list_nodes(g, "", out);
  for (const Assumption& a : g.assumptions) out += "assume %" + std::to_string(a.node) + "\n";
  for (const Result& r : g.results) out += "return " + (r.name.empty() ? "" : r.name + " = ") + "%" + std::to_string(r.node) + "\n";
  return out;
}

namespace {

/// What a node does, with what stands between < and >, along which axes, or where its index lies.
std::string operation_text(const Graph& g, const Node& n) {
  const std::string_view name = n.op->name;
  const Attributes& a = n.attributes;
  if (name == "literal") return a.moving.empty() ? a.text : moving_text(a, -1, std::stoll(a.text));
  if (is_fold(n)) return "fold" + range_text(*a.loop);
  std::string text(n.op->symbol.empty() ? name : n.op->symbol);
  if (name == "acc") return text + "<" + accumulation_text(a) + ">";
  if (name == "index") return "[" + slices_text(a, g[n.operands[0]].shape) + "]";
  if (a.format) text += "<" + rounding_text(a) + ">";
  if (a.whole) text += "<" + to_string(*a.whole) + ">";
  if (name == "any_of" && !a.text.empty()) text += "<" + quoted(a.text) + ">";
  for (std::size_t i = 0; i < a.axes.size(); ++i) text += (i ? ", " : " axis ") + std::to_string(a.axes[i]);
  return text;
}

std::string dot_text(std::string text) {
  text = quoted(text);
  for (std::size_t at = 0; (at = text.find('\n', at)) != text.npos; at += 2) text.replace(at, 1, "\\n");
  return text;
}

/// Nodes and edges; the body of a loop stands in a box of its own. `prefix`: of the names of the nodes.
void draw_nodes(const Graph& g, const std::string& prefix, std::string& out) {
  for (NodeId id = 0; id < g.size(); ++id) {
    const Node& n = g[id];
    const bool is_input = n.op->name == "input", is_literal = n.op->name == "literal";
    std::string label = n.name.empty() ? "" : n.name + (is_input ? "" : " =") + "\n";
    if (!is_input) label += operation_text(g, n) + (is_literal ? "" : "\n");
    if (!is_literal) label += type_text(n);
    const bool rounds = n.type.is_floating() && n.attributes.format;
    out += "  " + prefix + std::to_string(id) + " [label=" + dot_text(label);
    if (is_input) out += ", style=\"filled,rounded\", fillcolor=gray93";
    if (is_literal) out += ", shape=plaintext, style=\"\"";
    if (n.freedom) out += ", fillcolor=lightyellow, color=darkgoldenrod";
    else if (rounds && !is_input) out += ", fillcolor=aliceblue, color=steelblue";
    out += "];\n";
    for (NodeId o : n.operands) out += "  " + prefix + std::to_string(o) + " -> " + prefix + std::to_string(id) + ";\n";
    if (!is_fold(n)) continue;
    const std::string inner = prefix + std::to_string(id) + "_";
    const Graph& body = n.attributes.loop->body;
    out += "  subgraph " + quoted("cluster_" + inner) + " {\n  label=" + quoted("fold" + range_text(*n.attributes.loop)) + ";\n  color=gray60;\n";
    draw_nodes(body, inner, out);
    out += "  }\n";
    for (std::size_t k = 0; k < body.results.size(); ++k)
      out += "  " + inner + std::to_string(body.results[k].node) + " -> " + prefix + std::to_string(id) + " [style=dashed, label=" + quoted("next") + "];\n";
  }
}

}  // namespace

/// Inputs are rounded boxes, what rounds is blue, what has a choice is yellow, a literal has no box; operands stand from left to right.
std::string to_dot(const Graph& g) {
  std::string out = "digraph " + quoted(g.name.empty() ? "erx" : g.name) +
                    " {\n  rankdir=TB;\n  ordering=in;\n  nodesep=0.2;\n  ranksep=0.35;\n"
                    "  node [shape=box, style=filled, fillcolor=white, color=gray40, fontname=\"monospace\", fontsize=11, margin=\"0.1,0.04\"];\n"
                    "  edge [color=gray40, arrowsize=0.6];\n";
  draw_nodes(g, "n", out);
  for (std::size_t i = 0; i < g.results.size(); ++i) {
    const std::string result = "result" + std::to_string(i);
    out += "  " + result + " [shape=plaintext, style=\"\", label=" + quoted(g.results[i].name.empty() ? "result" : g.results[i].name) + "];\n  n" +
           std::to_string(g.results[i].node) + " -> " + result + ";\n";
  }
  for (std::size_t i = 0; i < g.assumptions.size(); ++i) {
    const std::string assumption = "assume" + std::to_string(i);
    out += "  " + assumption + " [shape=plaintext, style=\"\", label=\"assume\"];\n  n" + std::to_string(g.assumptions[i].node) + " -> " + assumption + ";\n";
  }
  return out + "}\n";
}

}  // namespace erx
