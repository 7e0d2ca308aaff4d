// Reductions: what they are written over, along which axes, and which elements a mask leaves out.
//   sum(x where m, axis=(0, -1), keepdims=true)   mean(x)   cumsum(x, axis=0)
#include <algorithm>

#include "grammar/lower.hpp"
#include "grammar/words.hpp"

namespace erx {

std::optional<std::int64_t> Lowering::axis_of(const Syntax& a, const Syntax& call, std::size_t rank) {
  const auto value = integer(a, "an axis");
  if (!value) return {};
  const auto n = static_cast<std::int64_t>(rank);
  if (*value < -n || *value >= n) {
    error({span(a), "axis " + std::to_string(*value) + " is out of range for " + plural(rank, "dimension"), "in `" + call.text + "`"});
    return {};
  }
  return *value < 0 ? *value + n : *value;
}

bool Lowering::axes_of(const Arguments& given, const Syntax& s, std::size_t rank, Attributes& attributes) {
  auto keep = given.named.find("keepdims");
  if (keep != given.named.end()) {
    const Syntax& k = *keep->second;
    const bool yes = k.text == "true" || k.text == "yes" || k.text == "True" || k.text == "1";
    if (!yes && k.text != "false" && k.text != "no" && k.text != "False" && k.text != "0") {
      error({span(k), "`keepdims` is true or false", ""});
      return false;
    }
    attributes.keepdims = yes;
  }
  auto axis = given.named.find("axis");
  if (axis == given.named.end() || axis->second->text == "None") {
    for (std::size_t i = 0; i < rank; ++i) attributes.axes.push_back(static_cast<std::int64_t>(i));
    return true;
  }
  std::vector<const Syntax*> list = {axis->second};
  if (axis->second->is(Form::tuple)) {
    list.clear();
    for (const Syntax& a : axis->second->children) list.push_back(&a);
  }
  if (list.empty()) {
    error({span(*axis->second), "an axis is missing", ""});
    return false;
  }
  for (const Syntax* a : list) {
    const auto value = axis_of(*a, s, rank);
    if (!value) return false;
    attributes.axes.push_back(*value);
  }
  std::sort(attributes.axes.begin(), attributes.axes.end());
  if (std::adjacent_find(attributes.axes.begin(), attributes.axes.end()) != attributes.axes.end()) {
    error({span(*axis->second), "an axis is named twice", ""});
    return false;
  }
  return true;
}

std::vector<Value> Lowering::Reduced::operands() const {
  std::vector<Value> all = {x};
  if (mask) all.push_back(*mask);
  return all;
}

Value Lowering::one_line(Value x) {
  if (!x.node) return x;
  Attributes line;
  Dim count(1);
  for (const Dim& d : graph[*x.node].shape) count = count * d;
  line.shape = {count};
  const Span at = x.at;
  return view(op("reshape"), std::move(x), std::move(line), at);
}

/// A mask that depends on a choice: the element that takes the place of an absent one says the same.
void Lowering::refuse_free_mask(const Op* row, const Syntax& masked, bool of_bools) {
  Diagnostic d{span(masked[1]), "a mask has single values, and this one depends on a choice", ""};
  std::string absent;
  if (row && row->sum_role == SumRole::reduction) absent = "0";
  else if (row && of_bools) absent = row->empty == 0 ? "false" : "true";
  else if (row && !row->is_whole) absent = row->empty == 1 ? "1" : row->empty < 0 ? "-inf" : "inf";
  if (!absent.empty())
    std::move(d).suggest(span(masked), "where(" + std::string(span(masked[1]).text()) + ", " + std::string(span(masked[0]).text()) + ", " + absent + ")");
  error(std::move(d));
}

std::optional<Lowering::Reduced> Lowering::reduced(const Syntax& s, const Op* row, const Manner& mode, bool opens) {
  const bool prefix = row && row->is_prefix;
  Arguments given = arguments(s, prefix ? std::vector<std::string>{"axis"} : std::vector<std::string>{"axis", "keepdims"}, 1, 1);
  if (!given.ok) {
    for (const Syntax* p : given.positional) expression(p->is(Form::masked) ? (*p)[0] : *p, mode);
    return {};
  }
  const Syntax& first = *given.positional[0];
  const bool masked = first.is(Form::masked);
  const Syntax& written = masked ? first[0] : first;
  Reduced r;
  r.x = opens ? sum(written, mode) : expression(written, mode);
  r.x.product.reset();
  if (masked) {
    r.mask = expression(first[1], mode);
    r.attributes.masked = true;
    if (r.mask->node && graph.has_freedom(*r.mask->node)) {
      refuse_free_mask(row, first, r.x.node && graph[*r.x.node].type.is_boolean());
      return {};
    }
  }
  const bool known = r.x.node && !r.x.is_tuple;
  if (r.x.is_tuple) error({r.x.at, "a tuple is not a number", "expected one value"});
  const std::size_t rank = known ? graph[*r.x.node].shape.size() : 64;
  if (!axes_of(given, s, rank, r.attributes) || !known || (masked && !r.mask->node)) {
    is_complete = is_complete && known && (!masked || r.mask->node);
    return {};
  }
  const bool has_axis = r.attributes.axes.size() == 1 && given.named.count("axis");
  if (prefix && !has_axis && rank != 1) {  // NumPy: without an axis the elements stand in one line
    if (given.named.count("axis") && given.named.at("axis")->is(Form::tuple)) {
      error({span(*given.named.at("axis")), "`" + s.text + "` goes along one axis", "found " + std::to_string(r.attributes.axes.size()) + " axes"});
      return {};
    }
    if (masked) {
      Attributes same;
      same.shape = graph[*r.x.node].shape;
      r.mask = one_line(view(op("broadcast"), *r.mask, std::move(same), r.mask->at));
    }
    r.x = one_line(r.x);
    r.attributes.axes = {0};
  }
  if (row && row->is_whole && r.attributes.axes.size() != rank && r.attributes.axes.size() != 1) {
    error({span(*given.named.at("axis")), "`" + s.text + "` goes along one axis, or over all elements", ""});
    return {};
  }
  return r;
}

Value Lowering::reduction(const Op& op, const Syntax& s, const Manner& mode, bool opens) {
  auto r = reduced(s, &op, mode, opens);
  if (!r) return Value::unknown(span(s));
  if (opens) {
    Value v;
    v.at = span(s);
    v.node = exactly(op, r->operands(), r->attributes, span(s));
    return v;
  }
  const bool multiplies = op.gather == Gather::reduce && op.arithmetic;
  if (multiplies && mode.kind == Manner::Kind::within && r->x.node && !graph[*r->x.node].type.is_integer()) {
    // Products of many round in each step, and may leave the range of the format in some orders only.
    Dim count(1);
    for (auto axis : r->attributes.axes) count = count * graph[*r->x.node].shape[static_cast<std::size_t>(axis)];
    if (!count.is_number() || count.value() > 2) {
      const std::string text(span(s).text());
      error(Diagnostic{span(s), "`within` does not say in which order a product of many factors is multiplied",
                       "write each product, as in fold (p = 1) over i in 0..len(x) { next p * x[i] }"}
                .suggest(span(s), "exact(" + text + ")"));
      return Value::unknown(span(s));
    }
  }
  return apply(op, r->operands(), std::move(r->attributes), span(s), mode);
}

Value Lowering::mean(const Syntax& s, const Manner& mode) {
  const bool tolerance = mode.kind == Manner::Kind::within;
  auto r = reduced(s, nullptr, mode, tolerance);
  if (!r) return Value::unknown(span(s));
  if (mode.kind == Manner::Kind::rounded && refuse_wide(r->x, mode)) return Value::unknown(span(s));
  const Shape shape = graph[*r->x.node].shape;
  Value total, count, result;
  total.at = count.at = result.at = span(s);
  total.node = exactly(op("sum"), r->operands(), r->attributes, span(s));
  if (tolerance && total.node) {
    Attributes format;
    format.format = mode.format;
    format.rounding.flush = mode.flush;
    total.node = build(op("within_sum"), {*total.node}, format, {span(s)}, span(s));
  }
  if (r->mask) {  // of those that are there
    Attributes same, along = r->attributes;
    same.shape = shape;
    along.masked = false;
    count.node = exactly(op("sum"), {view(op("broadcast"), *r->mask, std::move(same), r->mask->at)}, std::move(along), span(s));
  } else {
    Dim n(1);
    for (auto axis : r->attributes.axes) n = n * shape[static_cast<std::size_t>(axis)];
    count = of_dim(n, span(s));
  }
  result.node = exactly(op("div"), {total, count}, {}, span(s));
  if (tolerance) result.node = widened(result.node, mode, 0, span(s));
  return one_operation(std::move(result), mode);
}

}  // namespace erx
