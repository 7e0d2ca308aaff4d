// One operation as the mode of its place says: exact, rounded once (fused or not), or widened to a tolerance.
#include <algorithm>

#include "grammar/lower.hpp"

namespace erx {

/// Points at the declarations of the dimensions that a broken rule names.
void Lowering::note_dims(Diagnostic& d, const std::vector<NodeId>& operands) const {
  std::vector<NodeId> open(operands), seen;
  std::set<std::string> shown;
  while (!open.empty() && seen.size() < 200) {
    const NodeId id = open.back();
    open.pop_back();
    if (std::find(seen.begin(), seen.end(), id) != seen.end()) continue;
    seen.push_back(id);
    const Node& node = graph[id];
    const bool is_input = std::find(graph.inputs.begin(), graph.inputs.end(), id) != graph.inputs.end();
    if (is_input && !node.shape.empty() && node.span && shown.insert(node.name).second) {
      d.notes.push_back({node.span, "`" + node.name + "` has shape " + to_string(node.shape)});
    }
    open.insert(open.end(), node.operands.begin(), node.operands.end());
  }
  std::sort(d.notes.begin(), d.notes.end(), [](const Note& a, const Note& b) { return a.span.begin < b.span.begin; });
}

void Lowering::broken(const RuleBroken& rule, const std::vector<NodeId>& operands, const std::vector<Span>& spans, const Span& at) {
  const bool one = rule.operand >= 0 && rule.operand < static_cast<int>(spans.size());
  Diagnostic d{one ? spans[static_cast<std::size_t>(rule.operand)] : at, rule.what, rule.label};
  const auto says = [&](const char* word) { return rule.what.find(word) != rule.what.npos; };
  if (says("shape") || says("dimension") || says("ax") || says("elements") || says("[")) {
    note_dims(d, operands);
  } else if (one) {  // its type is wrong: where it comes from, if that is one place
    Diagnostic declared = d;
    note_dims(declared, {operands.at(static_cast<std::size_t>(rule.operand))});
    if (declared.notes.size() == 1) d.notes.push_back({declared.notes[0].span, "declared here"});
  }
  error(std::move(d));
}

std::optional<NodeId> Lowering::build(const Op& op, const std::vector<NodeId>& operands, Attributes attributes,
                                      const std::vector<Span>& spans, const Span& at) {
  try {
    return erx::build(graph, op, operands, std::move(attributes), at);
  } catch (const RuleBroken& rule) {
    broken(rule, operands, spans, at);
    return {};
  }
}

std::optional<NodeId> Lowering::exactly(const Op& op, const std::vector<Value>& values, Attributes attributes, const Span& at) {
  std::vector<NodeId> operands;
  std::vector<Span> spans;
  bool known = true;
  for (const Value& v : values) {
    if (v.is_tuple) {
      error({v.at, "a tuple is not a number", "expected one value"});
      known = false;
      continue;
    }
    known = known && v.node;
    if (v.node) operands.push_back(*v.node);
    spans.push_back(v.at);
  }
  const int count = static_cast<int>(values.size()) - (attributes.masked ? 1 : 0);
  if (count < op.operands_min || (op.operands_max >= 0 && count > op.operands_max)) {
    const std::string name(op.name);
    std::string wanted = std::to_string(op.operands_min) + (op.operands_min == 1 ? " argument" : " arguments");
    if (op.operands_max < 0) wanted = "at least " + wanted;
    error({at, "`" + name + "` takes " + wanted + ", found " + std::to_string(count), std::string(op.doc)});
    return {};
  }
  if (!known) {
    is_complete = false;
    return {};
  }
  return build(op, operands, std::move(attributes), spans, at);
}

std::optional<NodeId> Lowering::rounded(std::optional<NodeId> exact, const Manner& mode, const Span& at) {
  if (!exact) return {};
  Attributes attributes;
  attributes.format = mode.format;
  attributes.rounding.flush = mode.flush;
  return build(op("round"), {*exact}, std::move(attributes), {at}, at);
}

std::optional<NodeId> Lowering::widened(std::optional<NodeId> exact, const Manner& mode, double ulp, const Span& at) {
  if (!exact) return {};
  Attributes attributes;
  attributes.format = mode.format;
  attributes.rounding.flush = mode.flush == Flush::no ? Flush::no : Flush::free;
  attributes.ulp = ulp;
  return build(op("within"), {*exact}, std::move(attributes), {at}, at);
}

/// A name wider than the format of the `in` around it: computing with it would hide a rounding or an excess of precision.
bool Lowering::refuse_wide(const Value& v, const Manner& mode) {
  if (!v.wide) return false;
  const std::string& format = mode.format.name;
  error(Diagnostic{v.wide, "`" + v.wide_name + "` is " + v.wide_type + ", wider than " + format,
                   "round it, or write exact( ) around the operation"}
            .suggest(v.wide, "round<" + format + ">(" + v.wide_name + ")"));
  return true;
}

/// Is this operand held in some format, so that hardware may read it as 0 where it is subnormal? A literal is, if it is a subnormal
/// of `format`: a number in the normal range is what it is, as in `mean`, whose divisor is not written.
std::optional<Format> Lowering::held_in(const Value& v, const Format& format) const {
  if (!v.node) return {};
  const Node& node = graph[*v.node];
  if (node.type.is_floating()) return node.type.format;
  if (node.op != &op("literal") || !node.type.is_real() || node.attributes.text.empty() || !std::isdigit(static_cast<unsigned char>(node.attributes.text.back()))) return {};
  const Exact x = Exact::literal(node.attributes.text, {});
  const double d = lower(x);
  return d == upper(x) && d > 0 && d < format.min_normal() && is_value(format, d) ? std::optional(format) : std::nullopt;
}

/// The operand as hardware reads it: 0 where it is a subnormal of its format. What only selects among values reads none of them, so
/// they are looked for below it.
NodeId Lowering::read(NodeId id, const Manner& mode, Flush flush, const Span& at) {
  Value v;
  v.node = id;
  if (const auto format = held_in(v, mode.format)) {
    const bool is_within = mode.kind == Manner::Kind::within;
    if (!format->has_subnormals || (!is_within && !contains(Type::of(mode.format), Type::of(*format)))) return id;
    const Node& node = graph[id];
    if (is_within && node.op == &op("round") && node.attributes.rounding.flush == Flush::free) return id;  // as the text of a graph writes it
    Manner reading = mode;  // a value rounds to itself, or to 0
    if (is_within) reading.format = *format;
    reading.flush = flush;
    return rounded(id, reading, at).value_or(id);
  }
  const Node& node = graph[id];
  const Gather gather = row(node).gather;
  if (!node.name.empty() || !node.type.is_real() || !(row(node).selects || gather == Gather::view || gather == Gather::join)) return id;
  std::vector<NodeId> operands = node.operands;
  for (NodeId& o : operands)
    if (!graph[o].type.is_boolean()) o = read(o, mode, flush, at);
  return operands == node.operands ? id : erx::build(graph, row(node), operands, node.attributes, at);
}

/// Hardware that flushes results reads subnormal operands as 0 too, each in its own format: `within<F, ftz>` allows both.
void Lowering::may_read_zero(Value& v, const Manner& mode) {
  if (mode.kind != Manner::Kind::within || mode.flush == Flush::no || !v.node) return;
  v.node = read(*v.node, mode, Flush::free, v.at);
}

Value Lowering::apply(const Op& written, std::vector<Value> values, Attributes attributes, const Span& at, const Manner& mode) {
  Value result;
  result.at = at;
  const bool is_integer = [&] {
    return std::all_of(values.begin(), values.end(), [&](const Value& v) {
      return v.node && (graph[*v.node].type.is_integer() || graph[*v.node].type.is_boolean() || v.dim);
    });
  }();
  const bool counts = written.arithmetic && !is_integer;
  if (mode.kind == Manner::Kind::rounded) {
    for (Value& v : values) {
      if (counts && refuse_wide(v, mode)) return result;
      if (!counts || mode.flush_operands == Flush::no) continue;
      if (v.node) v.node = read(*v.node, mode, mode.flush_operands, v.at);
    }
  }
  const bool on_complex = std::any_of(values.begin(), values.end(), [&](const Value& v) { return is_complex(v); });
  const bool all_complex = std::all_of(values.begin(), values.end(), [&](const Value& v) { return is_complex(v); });
  const bool is_sum = written.sum_role == SumRole::contraction || written.sum_role == SumRole::reduction || (written.sum_role == SumRole::product && all_complex);
  if (counts && !is_sum)  // a sum reads its leaves itself
    for (Value& v : values) may_read_zero(v, mode);
  if (on_complex && refuse_complex(written, values, at, mode)) return result;
  const std::size_t before = graph.size();
  const std::optional<NodeId> exact = exactly(written, values, attributes, at);
  if (!exact) return result;
  const bool is_whole = graph[*exact].type.is_integer() || graph[*exact].type.is_boolean();
  // abs of a complex number is an operation of its own, real(z) often none.
  const bool same = !on_complex || graph[*exact].type.is_complex;
  const Op& op = same ? written : row(graph[*exact]);
  if (!op.arithmetic || (!same && *exact < before) || is_whole || mode.kind == Manner::Kind::exact) {
    result.node = exact;
    if (mode.kind == Manner::Kind::rounded && !op.arithmetic && !is_whole) {
      for (const Value& v : values) {
        if (v.wide) {
          result.wide = v.wide;
          result.wide_name = v.wide_name;
          result.wide_type = v.wide_type;
        }
      }
    }
    return result;
  }
  if (mode.kind == Manner::Kind::within) {
    // A sum of many terms has many roundings, wherever it stands: `A @ B * c` as much as `(A @ B) * c`.
    // A complex product is one too, in each of its parts.
    const bool is_sum_of_products = op.sum_role == SumRole::product && all_complex;
    if (op.sum_role == SumRole::contraction || op.sum_role == SumRole::reduction || is_sum_of_products) {
      Attributes summed;
      summed.format = mode.format;
      summed.rounding.flush = mode.flush;
      result.node = build(erx::op("within_sum"), {*exact}, std::move(summed), {at}, at);
    } else {
      result.node = widened(exact, mode, op.is_function ? 2 : 0, at);
    }
    return result;
  }
  if (op.is_function) {
    // The square root is no function of a library: IEEE 754 requires it, correctly rounded.
    const bool is_required = op.source.starts_with("IEEE 754-2019, 5.4.1");
    if (mode.ulp == 0 && !is_required) {
      const std::string name(op.name);
      Diagnostic d{at, "`" + name + "` is taken as correctly rounded to " + mode.format.name, "hardware and libraries seldom are"};
      d.severity = Severity::warning;
      d.notes.push_back({{}, "write `in " + mode.format.name + ", ulp=2 { ... }` for a function with an error of up to 2 ulp"});
      warn(std::move(d));
    }
    if (mode.ulp > 0) {
      Attributes approximate;
      approximate.format = mode.format;
      approximate.ulp = mode.ulp;
      approximate.rounding.flush = mode.flush;
      result.node = build(erx::op("approx"), {*exact}, std::move(approximate), {at}, at);
    } else {
      result.node = rounded(exact, mode, at);
    }
    return result;
  }
  result.node = rounded(exact, mode, at);
  if (!mode.contract || !result.node) return result;
  if (op.sum_role == SumRole::product) {
    result.product = exact;
  } else if (op.sum_role == SumRole::plus || op.sum_role == SumRole::minus) {
    // Either product may enter this addition unrounded; the operands are shared, so their own choices stay the same.
    std::vector<NodeId> alternatives = {*result.node};
    std::vector<Span> spans = {at};
    for (std::size_t i = 0; i < values.size(); ++i) {
      if (!values[i].product) continue;
      std::vector<Value> fused = values;
      fused[i].node = values[i].product;
      if (auto node = rounded(exactly(op, fused, attributes, at), mode, at)) alternatives.push_back(*node);
      spans.push_back(at);
    }
    if (alternatives.size() > 1) result.node = build(erx::op("any_of"), alternatives, {}, spans, at);
  }
  return result;
}

void Lowering::warn(Diagnostic d) {
  const bool told = std::any_of(warnings_.begin(), warnings_.end(), [&](const Diagnostic& w) {
    return w.span.source == d.span.source && w.span.begin == d.span.begin && w.what == d.what;
  });
  if (!told) warnings_.push_back(std::move(d));
}

Value Lowering::one_operation(Value exact, const Manner& mode) {
  if (!exact.node || exact.is_tuple) return exact;
  const Type& type = graph[*exact.node].type;
  if (mode.kind == Manner::Kind::rounded && !type.is_integer() && !type.is_boolean()) exact.node = rounded(exact.node, mode, exact.at);
  return exact;
}

}  // namespace erx
