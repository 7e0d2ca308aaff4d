#include "ir/print.hpp"

#include <algorithm>
#include <set>

#include "ir/attribute_text.hpp"
#include "ir/loop.hpp"

namespace erx {
namespace {

// How tightly an operator binds; a call binds tightest.
enum Level { level_or = 1, level_and, level_not, level_comparison, level_sum, level_product, level_sign, level_power, level_operand };

Level level_of(std::string_view symbol, std::size_t operands) {
  if (symbol == "or") return level_or;
  if (symbol == "and") return level_and;
  if (symbol == "not") return level_not;
  if (symbol == "**") return level_power;
  if (symbol == "+" || symbol == "-") return operands == 1 ? level_sign : level_sum;
  if (symbol == "*" || symbol == "/" || symbol == "//" || symbol == "%" || symbol == "@") return level_product;
  return level_comparison;
}

bool is_operator(const Node& n) { return !n.op->symbol.empty() && n.op->symbol != "within" && n.operands.size() <= 2; }
bool is(const Node& n, std::string_view name) { return n.op->name == name; }
bool is_reduced_sum(const Node& n) { return is(n, "sum") || is(n, "cumsum"); }
bool is_sum_part(const Node& n) { return is(n, "add") || is(n, "sub") || is(n, "mul") || is(n, "matmul") || is_reduced_sum(n); }

bool is_name(const std::string& s) {
  return std::all_of(s.begin(), s.end(), [](char c) { return std::isalnum(static_cast<unsigned char>(c)) || c == '_'; });
}

bool is_same_within(const Attributes& a, const Attributes& b) { return *a.format == *b.format && a.rounding.flush == b.rounding.flush; }

/// Where an expression stands: what binds around it, and whether a `within` around it would widen what is written here.
struct Around {
  int level = 0;
  const Attributes* within = nullptr;  // the format and ftz of the enclosing within<F>
  bool elide = false;              // the parent is an operation of that `within`, so its own mark may be left out
};

/// What the body of a loop sees of the text around it.
struct Outside {
  std::set<std::string> names;           // those that mean something there
  std::vector<std::string> operands;     // what stands for each input of the body
  std::set<std::string> tiles;           // loop variables that are tiles
  std::size_t indent = 0;
};

class Printer {
 public:
  explicit Printer(const Graph& g, Outside outside = {})
      : graph_(g), outside_(std::move(outside)), uses_(g.size()), weight_(g.size(), 1), open_(g.size()), read_as_(g.size()) {
    if (!g.name.empty()) outside_.indent = 2;
    prepare();
  }

  std::string whole() {
    std::string out;
    const bool bare = graph_.name.empty();
    std::string lets = definitions(bare ? ";\n" : "\n");
    std::string values;
    // Where they name all they need, they stand behind it.
    for (const Assumption& a : graph_.assumptions) lets += (bare ? "assume " : "  assume ") + expression(a.node) + (bare ? ";\n" : "\n");
    for (std::size_t i = 0; i < graph_.results.size(); ++i) values += (i ? ", " : "") + expression(graph_.results[i].node);
    if (graph_.results.size() > 1) values = "(" + values + ")";
    if (bare) return lets + values;
    return "spec " + graph_.name + "(" + parameters() + ") -> " + result_types() + " {\n" + lets + "  return " + values + "\n}\n";
  }

  /// A step of a loop, with braces: what it names, then the next states.
  std::string step() {
    outside_.indent += 2;
    const std::string margin(outside_.indent, ' '), lets = definitions("\n");
    std::string next;
    for (std::size_t i = 0; i < graph_.results.size(); ++i) next += (i ? ", " : "") + expression(graph_.results[i].node);
    if (graph_.results.size() > 1) next = "(" + next + ")";
    if (lets.empty()) return "{ next " + next + " }";
    return "{\n" + lets + margin + "next " + next + "\n" + std::string(outside_.indent - 2, ' ') + "}";
  }

  void at_end() { now_ = static_cast<NodeId>(graph_.size()); }

  std::string expression(NodeId id) {
    std::string out;
    write(id, {}, out);
    return out;
  }
  std::string definition(NodeId id) {
    std::string out;
    write_node(id, {}, out);
    return out;
  }

 private:
  /// The `let` of every name, in order.
  std::string definitions(const char* end) {
    std::string lets;
    const std::string margin(outside_.indent, ' ');
    for (NodeId id = 0; id < graph_.size(); ++id) {
      if (!uses_[id] || is_parameter(id)) continue;
      now_ = id;
      const bool many = is_fold(graph_[id]) && graph_[id].attributes.loop->states() > 1;
      if (many) lets += margin + "let " + states_text(id) + " = " + definition(id) + end;
      else if (!names_[id].empty() && !is_state(graph_[id])) lets += margin + "let " + names_[id] + " = " + definition(id) + end;
      if (!read_as_[id].empty()) lets += margin + "let " + read_as_[id] + " = " + definition(id) + end;
    }
    now_ = static_cast<NodeId>(graph_.size());
    return lets;
  }

  /// The names of all states of a loop; what nobody reads has one too.
  std::string states_text(NodeId fold) {
    std::vector<std::string> states(graph_[fold].attributes.loop->states());
    states[0] = names_[fold];
    for (NodeId id = fold + 1; id < graph_.size(); ++id)
      if (is_state(graph_[id]) && graph_[id].operands[0] == fold) states[static_cast<std::size_t>(graph_[id].attributes.axes[0])] = names_[id];
    std::string out;
    for (std::size_t k = 0; k < states.size(); ++k) out += (k ? ", " : "(") + (states[k].empty() ? fresh("unused", taken_) : states[k]);
    return out + ")";
  }

  static std::string fresh(const std::string& name, std::set<std::string>& taken) {
    std::string candidate = name;
    for (int k = 2; !taken.insert(candidate).second; ++k) candidate = name + "_" + std::to_string(k);
    return candidate;
  }

  bool is_parameter(NodeId id) const { return is(graph_[id], "input") || (graph_[id].scalar_parameter && !graph_[id].name.empty()); }

  void prepare() {
    std::vector<NodeId> pending, roots;
    for (const Result& r : graph_.results) roots.push_back(r.node);
    for (const Assumption& a : graph_.assumptions) roots.push_back(a.node);
    for (const NodeId root : roots) {
      ++uses_[root];
      pending.push_back(root);
    }
    std::vector<bool> seen(graph_.size());
    while (!pending.empty()) {
      const NodeId id = pending.back();
      pending.pop_back();
      if (seen[id]) continue;
      seen[id] = true;
      for (NodeId o : graph_[id].operands) {
        ++uses_[o];
        pending.push_back(o);
      }
    }
    std::set<std::string>& taken = taken_;
    taken = outside_.names;
    names_.resize(graph_.size());
    for (std::size_t k = 0; k < outside_.operands.size(); ++k) names_[graph_.inputs[k]] = outside_.operands[k];
    for (NodeId id = 0; id < graph_.size(); ++id) {
      const Node& n = graph_[id];
      // In the body of a loop a name that means something outside is another one.
      if (names_[id].empty() && !n.name.empty()) {
        const bool is_size = is(n, "input") && std::find(graph_.inputs.begin(), graph_.inputs.end(), id) == graph_.inputs.end();
        names_[id] = outside_.operands.empty() || is_size ? n.name : fresh(n.name, taken);
      }
      taken.insert(names_[id]);
      if (is_fold(n)) weight_[id] = 1000;
      for (NodeId o : n.operands) weight_[id] = std::min<std::size_t>(weight_[id] + (names_[o].empty() ? weight_[o] : 1), 1000);
    }
    // What a sum opens keeps its form: a name would make it a leaf.
    for (NodeId id = static_cast<NodeId>(graph_.size()); id-- > 0;) {
      const Node& n = graph_[id];
      const bool opens = is(n, "acc") || is(n, "within_sum") || (open_[id] && is_sum_part(n));
      for (NodeId o : n.operands) open_[o] = open_[o] || (opens && names_[o].empty());
    }
    // How often each node would be written: a choice may be written once only, and nothing large twice.
    std::vector<std::size_t> times(graph_.size());
    std::vector<bool> stored(graph_.size());
    for (const NodeId root : roots) ++times[root];
    for (NodeId id = static_cast<NodeId>(graph_.size()); id-- > 0;) {
      const Node& n = graph_[id];
      if (!uses_[id]) continue;
      const bool may = names_[id].empty() && !is(n, "literal") && !(open_[id] && is_sum_part(n));
      stored[id] = may && times[id] > 1 && (n.freedom || weight_[id] > 16);
      const std::size_t each = stored[id] || !names_[id].empty() ? 1 : std::min<std::size_t>(times[id], 1000);
      for (NodeId o : n.operands) times[o] += each;
    }
    // What the body of a loop reads has a name; so has each of several states.
    for (NodeId id = 0; id < graph_.size(); ++id) {
      const Node& n = graph_[id];
      const auto needs_name = [&](NodeId o) {
        if (!names_[o].empty() || stored[o]) return;
        if (open_[o] && is_sum_part(graph_[o])) {
          if (read_as_[o].empty()) read_as_[o] = fresh("t", taken);
        } else {
          stored[o] = true;
        }
      };
      if (is_fold(n) && uses_[id])
        for (std::size_t k = n.attributes.loop->states(); k < n.operands.size(); ++k) needs_name(n.operands[k]);
      if ((is_fold(n) && n.attributes.loop->states() > 1 && uses_[id]) || (is_state(n) && uses_[n.operands[0]])) {
        if (!names_[id].empty()) continue;
        const Loop& loop = *graph_[is_state(n) ? n.operands[0] : id].attributes.loop;
        names_[id] = fresh(loop.body[loop.body.inputs[is_state(n) ? static_cast<std::size_t>(n.attributes.axes[0]) : 0]].name, taken);
      }
    }
    // What nests deeply gets a name on the way; the parts of one chain do not nest.
    std::vector<int> depth(graph_.size());
    for (NodeId id = 0; id < graph_.size(); ++id) {
      const Node& n = graph_[id];
      for (std::size_t k = 0; k < n.operands.size(); ++k) {
        const NodeId o = n.operands[k];
        if (!names_[o].empty() || stored[o]) continue;
        const Node& inner = is(graph_[o], "within") ? graph_[graph_[o].operands[0]] : graph_[o];
        const bool chained = is(n, "within") || (k == 0 && is_operator(n) && is_operator(inner));
        depth[id] = std::max(depth[id], depth[o] + (chained ? 0 : 1));
      }
      const bool may = names_[id].empty() && !is(n, "literal") && !is(n, "within") && !(open_[id] && is_sum_part(n));
      if (may && depth[id] > 60 && uses_[id]) stored[id] = true;
    }
    int count = 0;
    for (NodeId id = 0; id < graph_.size(); ++id) {
      if (!stored[id] || !names_[id].empty()) continue;
      do names_[id] = "t" + std::to_string(++count);
      while (!taken.insert(names_[id]).second);
    }
  }

  std::string parameters() {
    std::string out;
    for (NodeId id : graph_.inputs) {
      const Node& n = graph_[id];
      out += (out.empty() ? "" : ", ") + n.name + ": " + to_string(n.type) + (n.shape.empty() ? "" : to_string(n.shape));
    }
    for (NodeId id = 0; id < graph_.size(); ++id) {
      if (!uses_[id] || is(graph_[id], "input") || !is_parameter(id)) continue;
      out += (out.empty() ? "" : ", ") + graph_[id].name + ": " + to_string(graph_[id].type.is_complex ? graph_[id].type : Type::real()) + " = " + definition(id);
    }
    return out;
  }

  std::string result_types() const {
    std::string out;
    for (const Result& r : graph_.results) {
      const Node& n = graph_[r.node];
      if (!out.empty()) out += ", ";
      if (!r.name.empty()) out += r.name + ": ";
      out += to_string(r.declared ? *r.declared : n.type) + (n.shape.empty() ? "" : to_string(n.shape));
    }
    const bool named = graph_.results.size() > 1 || (graph_.results.size() == 1 && !graph_.results[0].name.empty());
    return named ? "(" + out + ")" : out;
  }

  void write(NodeId id, Around around, std::string& out) {
    if (!names_[id].empty()) {
      const std::string& name = names_[id];  // a formula of dimensions stands for itself
      out += is_name(name) ? name : "(" + name + ")";
      return;
    }
    write_node(id, around, out);
  }

  void call(std::string_view name, const Node& n, Around around, std::string& out) {
    out += name;
    out += "(";
    for (std::size_t i = 0; i < n.operands.size(); ++i) {
      if (i) out += ", ";
      write(n.operands[i], around, out);
    }
    out += ")";
  }

  void write_node(NodeId id, Around around, std::string& out) {
    const Node& n = graph_[id];
    if (is(n, "literal")) {
      const std::string& text = n.attributes.text;
      if (!n.attributes.moving.empty())
        out += moving_text(n.attributes, -1, std::stoll(text));
      else if (n.type.is_boolean())
        out += text == "0" ? "false" : "true";
      else if (text.find_first_of("-/") != text.npos && text.find('e') == text.npos)
        out += "(" + text + ")";
      else
        out += text;
      return;
    }
    if (is(n, "approx")) return write_approx(n, out);
    if (n.attributes.whole) return call(std::string(n.op->name) + "<" + to_string(*n.attributes.whole) + ">", n, {0, around.within, true}, out);
    const Around inside{0, around.within, true};
    if (is(n, "round")) return call("round<" + rounding_text(n.attributes) + ">", n, inside, out);
    if (is(n, "any_of")) return call(n.attributes.text.empty() ? "any_of" : "any_of<" + quoted(n.attributes.text) + ">", n, inside, out);
    if (is(n, "acc")) {
      out += "acc<" + accumulation_text(n.attributes) + ">(";
      write_sum(n.operands[0], inside, out);
      out += ")";
      return;
    }
    if (is(n, "scan")) return write_scan(n, inside, out);
    if (is_fold(n)) return write_fold(n, out);
    if (is(n, "within") || is(n, "within_sum")) {
      const bool leaf = is(n, "within") && !is_sum_part(graph_[n.operands[0]]);  // a leaf of a sum, whose mark follows from its place
      const bool same = around.within && is_same_within(*around.within, n.attributes) && (around.elide || leaf);
      if (!same) out += "within<" + n.attributes.format->name + (n.attributes.rounding.flush == Flush::no ? "" : ", ftz") + ">(";
      const Around mark{same ? around.level : 0, &n.attributes, true};
      if (is(n, "within"))
        operation(n.operands[0], mark, out);
      else
        write_sum(n.operands[0], mark, out);
      if (!same) out += ")";
      return;
    }
    if (around.within && n.type.is_real() && !is(n, "input")) {  // exact, where the `within` around it would widen it
      out += "exact(";
      operation(id, {}, out);
      out += ")";
      return;
    }
    around.elide = false;
    operation(id, around, out);
  }

  void write_approx(const Node& n, std::string& out) {
    const Attributes& a = n.attributes;
    std::string bounds = a.ulp > 0 ? ", ulp=" + number_text(a.ulp) : "";
    if (a.steps > 0 || (a.ulp == 0 && !(a.bounds & 3))) bounds += ", steps=" + std::to_string(a.steps);
    std::size_t at = 1;
    const char* const words[] = {"rel", "abs", "lo", "hi"};
    for (std::size_t k = 0; k < std::size(words); ++k) {
      if (!(a.bounds >> k & 1)) continue;
      bounds += std::string(", ") + words[k] + "=";
      write(n.operands[at++], {level_sum, nullptr, false}, bounds);
    }
    if (!a.text.empty()) bounds += ", src=" + quoted(a.text);
    std::string head = rounding_text(a);
    head.insert(a.format->name.size(), bounds);
    out += "approx<" + head + ">(";
    write(n.operands[0], {}, out);
    out += ")";
  }

  void write_scan(const Node& n, Around inside, std::string& out) {
    const Attributes& a = n.attributes;
    Attributes written = a;  // the order is always said
    written.order = {};
    const std::string head = accumulation_text(written);
    out += "scan<" + a.format->name + (a.order.kind == OrderKind::seq ? ", seq" : ", any") + head.substr(a.format->name.size()) + ">(";
    for (std::size_t i = 0; i < n.operands.size(); ++i) {
      out += i == 0 ? "" : i == 1 ? ", " : ", init=";
      write(n.operands[i], inside, out);
    }
    if (a.axes[0] + 1 != static_cast<std::int64_t>(n.shape.size())) out += ", axis=" + std::to_string(a.axes[0]);
    out += a.reverse ? ", reverse=true)" : ")";
  }

  void write_fold(const Node& n, std::string& out) {
    Loop loop = *n.attributes.loop;
    Outside inside{{}, {}, outside_.tiles, outside_.indent};
    // Names that are given before this place.
    inside.names = outside_.names;
    for (NodeId id = 0; id < now_; ++id) {
      if (!names_[id].empty() && uses_[id]) inside.names.insert(names_[id]);
      if (!read_as_[id].empty()) inside.names.insert(read_as_[id]);
    }
    for (NodeId id = 0; id < graph_.size(); ++id)
      if (is_parameter(id)) inside.names.insert(names_[id]);
    out += "fold (";
    for (std::size_t k = 0; k < n.operands.size(); ++k) {
      const NodeId o = n.operands[k];
      const NodeId parameter = loop.body.inputs[k];
      inside.operands.push_back(k < loop.states() ? fresh(loop.body[parameter].name, inside.names) : read_as_[o].empty() ? names_[o] : read_as_[o]);
      if (k >= loop.states()) continue;
      out += (k ? ", " : "") + inside.operands[k] + " = ";
      write(o, {}, out);
    }
    const std::string variable = fresh(loop.variable, inside.names);
    if (variable != loop.variable) rename_variable(loop.body, loop.variable, variable);
    const std::int64_t tile = loop.first == 0 ? length_of_tiles(loop.body, variable) : 0;
    if (tile > 1) inside.tiles.insert(variable);
    out += ") over " + variable + " in ";
    out += tile > 1 ? "tiles(" + std::to_string(tile * loop.count) + ", " + std::to_string(tile) + ")"
                    : std::to_string(loop.first) + ".." + std::to_string(loop.first + loop.count);
    out += " " + Printer(loop.body, std::move(inside)).step();
  }

  void operation(NodeId id, Around around, std::string& out) {
    const Node& n = graph_[id];
    if (is_operator(n)) return operators(id, around, out);
    const Around inside{0, around.within, around.elide};
    if (is(n, "transpose") || is(n, "index")) {
      std::vector<std::int64_t> reversed(n.attributes.axes.size());
      for (std::size_t i = 0; i < reversed.size(); ++i) reversed[i] = static_cast<std::int64_t>(reversed.size() - 1 - i);
      const bool postfix = is(n, "index") || n.attributes.axes == reversed;
      if (postfix) {
        write(n.operands[0], {level_operand, around.within, false}, out);
        out += is(n, "index") ? slices_text(n.attributes, graph_[n.operands[0]].shape, outside_.tiles) : ".T";
        return;
      }
    }
    out += n.op->name;
    out += "(";
    const Attributes& a = n.attributes;
    for (std::size_t i = 0; i < n.operands.size(); ++i) {
      if (i) out += a.masked && i + 1 == n.operands.size() ? " where " : ", ";
      write(n.operands[i], inside, out);
    }
    if (is(n, "iota")) {
      out += a.shape[0].to_string();
    } else if (is(n, "concat")) {
      out += ", axis=" + std::to_string(a.axes[0]);
    } else if (is(n, "diagonal")) {
      out += ", " + std::to_string(a.axes[0]) + ", " + std::to_string(a.axes[1]);
    } else if (is(n, "transpose")) {
      out += ", (";
      for (std::size_t i = 0; i < a.axes.size(); ++i) out += (i ? ", " : "") + std::to_string(a.axes[i]);
      out += ")";
    } else if (is(n, "reshape") || is(n, "broadcast")) {
      out += ", " + shape_argument(a.shape);
    } else {
      axes(n, out);
    }
    out += ")";
  }

  /// The axes of a reduction, unless they are all.
  void axes(const Node& n, std::string& out) const {
    const Attributes& a = n.attributes;
    const bool is_one = n.operands.size() == (a.masked ? 2 : 1);
    const std::size_t rank = is_one ? graph_[n.operands[0]].shape.size() : 0;
    const bool reduces = n.shape.size() != rank || a.keepdims || !a.axes.empty();
    if (is_one && a.axes.size() != rank && reduces) {
      out += a.axes.size() == 1 ? ", axis=" : ", axis=(";
      for (std::size_t i = 0; i < a.axes.size(); ++i) out += (i ? ", " : "") + std::to_string(a.axes[i]);
      if (a.axes.size() != 1) out += ")";
    }
    if (a.keepdims) out += ", keepdims=true";
  }

  /// The chain of + and -, sums and products that `acc` or `within` opens. Its leaves stand as they are, marks of an outer
  /// `within` included; the factors of its products are expressions again.
  void write_sum(NodeId id, Around around, std::string& out) {
    const Node& n = graph_[id];
    const Around leaf{around.level, around.within, false};
    if (!names_[id].empty() || !is_sum_part(n)) return write(id, leaf, out);
    if (is_reduced_sum(n)) {
      out += n.op->name;
      out += "(";
      write_sum(n.operands[0], {0, around.within, true}, out);
      if (n.attributes.masked) {
        out += " where ";
        write(n.operands[1], {0, around.within, true}, out);
      }
      axes(n, out);
      out += ")";
      return;
    }
    operators(id, {around.level, around.within, true}, out, !is(n, "mul") && !is(n, "matmul"));
  }

  /// The operator at `id` and, in a loop, the left spine of its chain, which may be long. `sums`: operands are parts of a sum.
  void operators(NodeId id, Around around, std::string& out, bool sums = false) {
    const Node& n = graph_[id];
    const Level level = level_of(n.op->symbol, n.operands.size());
    const bool parentheses = level < around.level;
    if (parentheses) out += "(";
    auto part = [&](NodeId operand, int inner) {
      const Around at{inner, around.within, around.elide};
      sums ? write_sum(operand, at, out) : write(operand, at, out);
    };
    if (n.operands.size() == 1) {
      out += n.op->symbol == "not" ? "not " : std::string(n.op->symbol);
      part(n.operands[0], level);
    } else if (level == level_power) {
      part(n.operands[0], level_operand);
      out += "**";
      part(n.operands[1], level_sign);
    } else {
      std::vector<NodeId> spine = {id};
      while (auto next = chained(spine.back(), level, around, sums)) spine.push_back(*next);
      part(graph_[spine.back()].operands[0], level == level_comparison ? level + 1 : level);
      for (auto it = spine.rbegin(); it != spine.rend(); ++it) {
        out += " " + std::string(graph_[*it].op->symbol) + " ";
        part(graph_[*it].operands[1], level + 1);
      }
    }
    if (parentheses) out += ")";
  }

  /// The left operand of `id`, if it is written as a part of the same chain.
  std::optional<NodeId> chained(NodeId id, Level level, Around around, bool sums) const {
    if (level == level_comparison) return {};
    NodeId left = graph_[id].operands[0];
    if (!names_[left].empty()) return {};
    const bool marked = is(graph_[left], "within");
    if (around.within && !sums) {
      // An operation of a `within` is followed by its mark, unless whole numbers are computed.
      const bool same = marked && around.elide && is_same_within(graph_[left].attributes, *around.within);
      if (!same && graph_[left].type.is_real()) return {};
      if (same) left = graph_[left].operands[0];
    } else if (marked || (sums && !is_sum_part(graph_[left]))) {
      return {};
    }
    const Node& l = graph_[left];
    if (!is_operator(l) || l.operands.size() != 2 || level_of(l.op->symbol, 2) != level) return {};
    return left;
  }

  const Graph& graph_;
  Outside outside_;
  std::set<std::string> taken_;
  NodeId now_ = 0;  // the node whose `let` is written; behind the last one the results are
  std::vector<std::size_t> uses_;
  std::vector<std::size_t> weight_;
  std::vector<bool> open_;
  std::vector<std::string> names_;
  std::vector<std::string> read_as_;  // by loops, where a name would close a sum that is opened elsewhere
};

}  // namespace

std::string to_erx(const Graph& g) { return Printer(g).whole(); }

std::string expression_text(const Graph& g, NodeId id) {
  Printer printer(g);
  printer.at_end();
  return is(g[id], "input") ? printer.expression(id) : printer.definition(id);
}

}  // namespace erx
