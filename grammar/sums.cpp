// `acc` and `within` over sums: the chain of + and -, sums and products is lowered exactly, and named as one sum.
#include <utility>

#include "grammar/lower.hpp"
#include "grammar/words.hpp"
#include "ops/rules.hpp"
#include "ops/op.hpp"
#include "ops/terms.hpp"

namespace erx {
namespace {

SumRole role_of_step(const Syntax& chain) {
  const Op* op = operator_of(chain.children.back().text, 2);
  return op ? op->sum_role : SumRole::none;
}

SumRole role_of_call(const Syntax& s) {
  const Op* found = s.is(Form::call) ? find_op(s.text) : nullptr;
  return found ? found->sum_role : SumRole::none;
}

/// A chain without its last step: a * b of a * b * c.
Syntax without_last(const Syntax& chain) {
  if (chain.size() == 2) return chain[0];
  Syntax left = chain;
  left.children.pop_back();
  left.end = left.children.back().end;
  return left;
}

}  // namespace

bool Lowering::is_sum(const Syntax& s) const {
  const SumRole role = s.is(Form::chain)                                      ? role_of_step(s)
                       : s.is(Form::call) && !items_->functions.count(s.text) ? role_of_call(s)
                                                                              : SumRole::none;
  return role == SumRole::plus || role == SumRole::minus || role == SumRole::reduction || role == SumRole::contraction;
}

Value Lowering::sum(const Syntax& s, const Manner& mode) {
  Value v = Value::unknown(span(s));
  if (is_too_long(s)) return v;
  if (s.is(Form::chain)) {
    const SumRole role = role_of_step(s);
    if (role == SumRole::plus || role == SumRole::minus) {
      v = sum(s[0], mode);
      for (std::size_t i = 1; i < s.size(); ++i) {
        Value right = sum(s[i][0], mode);
        Value next;
        next.at = {ast().source, s.begin, s[i].end};
        if (v.dim && right.dim) next.dim = s[i].text == "+" ? *v.dim + *right.dim : *v.dim - *right.dim;
        next.node = exactly(*operator_of(s[i].text, 2), {v, right}, {}, next.at);
        v = next;
      }
      return v;
    }
    if (role == SumRole::product || role == SumRole::contraction) {
      Value left = expression(without_last(s), mode);
      Value right = expression(s.children.back()[0], mode);
      if (left.dim && right.dim && role == SumRole::product) v.dim = *left.dim * *right.dim;
      v.node = exactly(*operator_of(s.children.back().text, 2), {left, right}, {}, span(s));
      return v;
    }
  }
  const SumRole role = items_->functions.count(s.text) ? SumRole::none : role_of_call(s);
  if (role == SumRole::contraction) return contraction(s, mode);
  if (role == SumRole::reduction) return reduction(*find_op(s.text), s, mode, true);
  return expression(s, mode);
}

Value Lowering::within_sum(const Syntax& s, const Manner& mode) {
  Value v = sum(s, mode);
  v.at = span(s);
  if (!v.node || v.dim || graph[*v.node].type.is_integer()) return v;
  Attributes attributes;
  attributes.format = mode.format;
  attributes.rounding.flush = mode.flush;
  v.node = build(op("within_sum"), {*v.node}, std::move(attributes), {v.at}, v.at);
  return v;
}

/// A literal, or the negation of one, everywhere in a tensor too.
std::optional<NodeId> Lowering::literal_leaf(NodeId id) const {
  const Node* node = &graph[id];
  if (node->op == &op("broadcast")) id = node->operands[0], node = &graph[id];
  if (node->op == &op("neg")) id = node->operands[0], node = &graph[id];
  return node->op == &op("literal") ? std::optional(id) : std::nullopt;
}

/// Every value of the node is a number as written, and one of the format: a literal, views of it, choices among several (eye).
bool Lowering::is_written_in(NodeId id, const Format& format) const {
  const Node& node = graph[id];
  if (const auto number = literal_leaf(id)) return holds_literal(format, graph[*number].attributes.text);
  if (!node.name.empty()) return false;
  const auto type = row(node).type;
  const std::size_t from = type == rules::choice_type ? 1 : 0;
  if (row(node).gather == Gather::reduce) return false;  // of nothing it may be an infinity
  if (type != rules::choice_type && type != rules::join_type && type != rules::same_type) return false;
  const std::size_t to = node.operands.size() - (node.attributes.masked ? 1 : 0);
  for (std::size_t k = from; k < to; ++k)
    if (!contains(Type::of(format), graph[node.operands[k]].type) && !is_written_in(node.operands[k], format)) return false;
  return true;
}

bool Lowering::check_leaves(NodeId root, const Format& format, const Syntax& head) {
  const Syntax& operand = head[1][0];
  const std::string acc_text(Span{ast().source, head.begin, head[0].end}.text());
  auto text = [&](const Syntax& s) { return std::string(span(s).text()); };
  auto place = [&](NodeId id) {
    if (graph[id].operands.size() == 1 && graph[graph[id].operands[0]].type.is_complex) id = graph[id].operands[0];  // A, whose real part is a leaf
    auto used = used_.find(id);
    return used != used_.end() && !graph[id].name.empty() ? used->second : graph[id].span;
  };
  if (auto wrong = not_a_sum(graph, root)) {
    const Node& node = graph[wrong->node];
    Diagnostic d{place(wrong->node), "`acc` adds up a sum, and this is not one", ""};
    const Format& f = format;
    if (wrong->node != root) {
      d = Diagnostic{place(wrong->node), "a product of three factors is not a leaf of a sum", "round the first two"}.suggest(
          place(wrong->node), "round<" + f.name + ">(" + std::string(place(wrong->node).text()) + ")");
    } else if (operand.is(Form::prefix)) {
      d.label = "negate the result instead";
      std::move(d).suggest(span(head), operand.text + acc_text + "(" + text(operand[0]) + ")");
    } else if (operand.is(Form::chain) && (is_sum(without_last(operand)) || is_sum(operand.children.back()[0]))) {
      const Syntax left = without_last(operand), &right = operand.children.back()[0];
      const bool is_left = is_sum(left);
      const std::string first = is_left ? acc_text + "(" + text(left) + ")" : text(left);
      const std::string second = is_left ? text(right) : acc_text + "(" + text(right) + ")";
      d.label = "scale or divide the result instead";
      std::move(d).suggest(span(head), "in " + f.name + " { " + first + " " + operand.children.back().text + " " + second + " }");
    } else if (operand.is(Form::call) && operand.text == "mean") {
      d.label = "divide the sum instead";
      const std::string arguments_text = text(operand).substr(text(operand).find('('));
      const Node* quotient = &node;  // inside an `in` it is rounded
      while (quotient->operands.size() == 1) quotient = &graph[quotient->operands[0]];
      std::string count = graph[quotient->operands.back()].attributes.text;
      if (count.empty()) {  // a formula of dimensions
        const Node& sum = graph[quotient->operands.front()];
        Dim elements(1);
        for (const std::int64_t axis : sum.attributes.axes) elements = elements * graph[sum.operands[0]].shape[static_cast<std::size_t>(axis)];
        count = elements.to_string();
      }
      if (count.find_first_of("+-*/ ") != count.npos) count = "(" + count + ")";
      std::move(d).suggest(span(head), "in " + f.name + " { " + acc_text + "(sum" + arguments_text + ") / " + count + " }");
    } else if (!node.name.empty()) {
      d.label = "a stored value: write the sum inside `acc`";
    } else {
      d.label = "one operation: round<" + f.name + "> rounds it";
      std::move(d).suggest(span(head), "round<" + f.name + ">(" + text(operand) + ")");
    }
    error(std::move(d));
    return false;
  }
  bool ok = true;
  for (const LeafNode& leaf : leaf_nodes(graph, root)) {
    const Node& node = graph[leaf.node];
    if (leaf.is_mask || contains(Type::of(format), node.type)) continue;
    if (is_written_in(leaf.node, format)) continue;
    const Span at = place(leaf.node);
    const std::string what = leaf.in_product ? "factor" : "leaf";
    const std::string type = node.type.is_real() ? "not rounded" : to_string(node.type);
    Diagnostic d{at, "a " + what + " of this sum is " + type + ", and `acc` adds values of " + format.name,
                 "not a value of " + format.name};
    if (!node.type.is_boolean()) std::move(d).suggest(at, "round<" + format.name + ">(" + std::string(at.text()) + ")");
    error(std::move(d));
    ok = false;
  }
  return ok;
}

Value Lowering::acc(const Syntax& s, const Manner& mode) {
  Attributes attributes;
  attributes.format = format_of_head(s);
  const bool ok = accumulation(s[0], attributes);
  Arguments given = arguments(s, {}, 1, 1);
  Value v = Value::unknown(span(s));
  if (!given.ok) return v;
  const Syntax* const outer = std::exchange(acc_, &s);
  Value x = sum(*given.positional[0], mode);
  acc_ = outer;
  if (x.is_tuple) {
    error({x.at, "a tuple is not a sum", "expected one value"});
    return v;
  }
  if (!x.node || !attributes.format || !ok) {
    is_complete = false;
    return v;
  }
  // Each part of a complex sum is a sum of its own.
  const bool is_pair = row(graph[*x.node]).gather == Gather::pair && graph[*x.node].name.empty();
  const std::vector<NodeId> sums = is_pair ? graph[*x.node].operands : std::vector{*x.node};
  for (const NodeId sum : sums) {
    if (!check_leaves(sum, *attributes.format, s)) return v;
  }
  v.node = build(op("acc"), {*x.node}, std::move(attributes), {x.at}, span(s));
  return v;
}

}  // namespace erx
