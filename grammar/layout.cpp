// Layout: reshape, transpose, broadcast, indices and members. Nothing here rounds.
#include <algorithm>

#include "grammar/foreign.hpp"
#include "grammar/lower.hpp"
#include "grammar/words.hpp"

namespace erx {

Value Lowering::view(const Op& op, Value operand, Attributes attributes, const Span& at) {
  Value v = Value::unknown(at);
  if (operand.is_tuple) {
    error({operand.at, "a tuple has no layout", "expected one value"});
    return v;
  }
  if (!operand.node) {
    is_complete = false;
    return v;
  }
  v.node = build(op, {*operand.node}, attributes, {operand.at}, at);
  if (v.node && operand.product) v.product = build(op, {*operand.product}, attributes, {operand.at}, at);
  v.wide = operand.wide;
  v.wide_name = operand.wide_name;
  v.wide_type = operand.wide_type;
  return v;
}

/// A shape as arguments: (M, N), or M, N. `infer`: one -1 stands for what is left, and is the dimension 0 - 1 in the result.
std::optional<Shape> Lowering::shape(const std::vector<const Syntax*>& given, bool* infer) {
  std::vector<const Syntax*> list = given;
  if (list.size() == 1 && (list[0]->is(Form::tuple) || list[0]->is(Form::array))) {
    const Syntax* whole = list[0];
    list.clear();
    for (const Syntax& d : whole->children) list.push_back(&d);
  }
  Shape result;
  bool known = true;
  for (const Syntax* d : list) {
    auto dim = dimension(*d);
    if (!dim) {
      known = false;
      continue;
    }
    if (infer && dim->is_number() && dim->value() == -1) {
      if (*infer) {
        error({span(*d), "only one dimension may be -1", ""});
        return {};
      }
      *infer = true;
    } else if (dim->is_number() && dim->value() < 0) {
      error({span(*d), "a dimension is not negative", "this is " + dim->to_string()});
      return {};
    }
    result.push_back(*dim);
  }
  if (!known) {
    is_complete = false;
    return {};
  }
  return result;
}

namespace {

Dim count_of(const Shape& shape) {
  Dim n(1);
  for (const Dim& d : shape) n = n * d;
  return n;
}

}  // namespace

Value Lowering::reshape(const Syntax& s, const Manner& mode) {
  Arguments given = arguments(s, {"shape"}, 1, 65);
  if (!given.ok) return Value::unknown(span(s));
  Value x = expression(*given.positional[0], mode);
  std::vector<const Syntax*> dims(given.positional.begin() + 1, given.positional.end());
  if (given.named.count("shape")) dims = {given.named.at("shape")};
  if (dims.empty()) {
    error({span(s), "`reshape` needs a shape, as in reshape(x, (M, N))", ""});
    return Value::unknown(span(s));
  }
  bool infer = false;
  auto to = shape(dims, &infer);
  if (!to || !x.node) {
    is_complete = false;
    return Value::unknown(span(s));
  }
  if (infer) {
    Dim rest(1);
    std::size_t open = 0;
    for (std::size_t i = 0; i < to->size(); ++i) {
      if ((*to)[i].is_number() && (*to)[i].value() == -1)
        open = i;
      else
        rest = rest * (*to)[i];
    }
    const Dim all = count_of(graph[*x.node].shape);
    if (rest.is_number() && rest.value() != 0 && (!all.is_number() || all.value() % rest.value() == 0)) {
      (*to)[open] = all.is_number() ? Dim(all.value() / rest.value()) : divide(all, rest.value());
    } else if (rest.is_number() && all.is_number()) {
      error(
          {span(s),
           to_string(graph[*x.node].shape) + " cannot be reshaped: " + all.to_string() + " elements are no multiple of " + rest.to_string(),
           ""});
      return Value::unknown(span(s));
    } else {
      is_complete = false;  // a quotient of named dimensions: known with the call
      return Value::unknown(span(s));
    }
  }
  Attributes attributes;
  attributes.shape = *to;
  return view(op("reshape"), std::move(x), std::move(attributes), span(s));
}

Value Lowering::transpose(const Syntax& s, const Manner& mode) {
  Arguments given = arguments(s, {"axes"}, 1, 65);
  if (!given.ok) return Value::unknown(span(s));
  Value x = expression(*given.positional[0], mode);
  std::vector<const Syntax*> list(given.positional.begin() + 1, given.positional.end());
  if (given.named.count("axes")) list = {given.named.at("axes")};
  if (list.size() == 1 && list[0]->is(Form::tuple)) {
    const Syntax* whole = list[0];
    list.clear();
    for (const Syntax& a : whole->children) list.push_back(&a);
  }
  if (!x.node) {
    is_complete = false;
    return Value::unknown(span(s));
  }
  const auto rank = static_cast<std::int64_t>(graph[*x.node].shape.size());
  Attributes attributes;
  for (const Syntax* a : list) {
    auto axis = integer(*a, "an axis");
    if (!axis) return Value::unknown(span(s));
    attributes.axes.push_back(*axis < 0 ? *axis + rank : *axis);
  }
  if (list.empty()) {
    for (std::int64_t i = rank; i-- > 0;) attributes.axes.push_back(i);
  }
  return view(op("transpose"), std::move(x), std::move(attributes), span(s));
}

Value Lowering::broadcast(const Syntax& s, const Manner& mode) {
  Arguments given = arguments(s, {"shape"}, 1, 65);
  if (!given.ok) return Value::unknown(span(s));
  Value x = expression(*given.positional[0], mode);
  std::vector<const Syntax*> dims(given.positional.begin() + 1, given.positional.end());
  if (given.named.count("shape")) dims = {given.named.at("shape")};
  auto to = shape(dims);
  if (!to) return Value::unknown(span(s));
  Attributes attributes;
  attributes.shape = *to;
  return view(op("broadcast"), std::move(x), std::move(attributes), span(s));
}

Value Lowering::filled(Value number, const Syntax& dims, const Span& at) {
  auto to = shape({&dims});
  if (!to) return Value::unknown(at);
  Attributes attributes;
  attributes.shape = *to;
  return view(op("broadcast"), std::move(number), std::move(attributes), at);
}

Value Lowering::zeros(const Syntax& s, const Manner&) {
  Arguments given = arguments(s, {}, 1, 1);
  return given.ok ? filled(literal("0", span(s)), *given.positional[0], span(s)) : Value::unknown(span(s));
}

Value Lowering::ones(const Syntax& s, const Manner&) {
  Arguments given = arguments(s, {}, 1, 1);
  return given.ok ? filled(literal("1", span(s)), *given.positional[0], span(s)) : Value::unknown(span(s));
}

Value Lowering::full(const Syntax& s, const Manner& mode) {
  Arguments given = arguments(s, {}, 2, 2);
  return given.ok ? filled(expression(*given.positional[1], mode), *given.positional[0], span(s)) : Value::unknown(span(s));
}

Value Lowering::postfix(const Syntax& s, const Manner& mode) {
  Value v = expression(s[0], mode);
  for (std::size_t i = 1; i < s.size(); ++i) {
    v = s[i].is(Form::index) ? index(std::move(v), s[i]) : member(std::move(v), s[i]);
    v.at = {ast().source, s.begin, s[i].end};
  }
  return v;
}

Value Lowering::member(Value x, const Syntax& m) {
  const Span at{ast().source, x.at.begin, m.end};
  if (m.text != "T" && m.text != "mT") {
    Diagnostic d{span(m), "unknown member `" + m.text + "`", "a value has .T and .mT (the last two axes swapped)"};
    const std::vector<std::string> functions = function_names();
    const Foreign* other = foreign(m.text);
    const std::string name = other && !other->here.empty() ? std::string(other->here) : m.text;
    if (std::find(functions.begin(), functions.end(), name) != functions.end())
      std::move(d).note({}, "functions stand alone: " + name + "(" + (x.node && x.at ? std::string(x.at.text()) : "x") + ", ..)");
    else if (other)
      std::move(d).note({}, std::string(other->note));
    error(std::move(d));
    return Value::unknown(at);
  }
  if (!x.node) {
    is_complete = false;
    return Value::unknown(at);
  }
  const std::size_t rank = graph[*x.node].shape.size();
  Attributes attributes;
  if (m.text == "T") {
    for (std::size_t i = rank; i-- > 0;) attributes.axes.push_back(static_cast<std::int64_t>(i));
  } else {
    if (rank < 2) {
      error({at, ".mT needs two dimensions", "has shape " + to_string(graph[*x.node].shape)});
      return Value::unknown(at);
    }
    for (std::size_t i = 0; i < rank; ++i) attributes.axes.push_back(static_cast<std::int64_t>(i));
    std::swap(attributes.axes[rank - 1], attributes.axes[rank - 2]);
  }
  return view(op("transpose"), std::move(x), std::move(attributes), at);
}

/// One entry of an index that takes an axis, by NumPy's rules. Empty: a mistake, or known only with the call.
std::optional<Slice> Lowering::slice(const Syntax& s, const Dim& extent, std::size_t axis) {
  const bool known = extent.is_number();
  const std::int64_t n = known ? extent.value() : 0;
  if (const Name* loop = s.is(Form::name) ? find(s.text) : nullptr; loop && loop->value.tile) {
    const auto [start, stop] = *loop->value.tile;
    if (known && stop > n) {
      error({span(s), "the tile " + std::to_string(start) + ":" + std::to_string(stop) + " does not fit",
             "axis " + std::to_string(axis) + " has " + std::to_string(n) + " elements"});
      return {};
    }
    return Slice{Slice::Kind::range, start, 1, stop - start};
  }
  if (!s.is(Form::slice)) {
    auto i = integer(s, "an index");
    if (!i) return {};
    if (known && (*i < -n || *i >= n)) {
      error({span(s), "index " + std::to_string(*i) + " is out of range",
             "axis " + std::to_string(axis) + " has " + std::to_string(n) + " elements"});
      return {};
    }
    return Slice{Slice::Kind::index, known && *i < 0 ? *i + n : *i, 1, 0};
  }
  if (s.size() > 3) {
    error({span(s), "a slice is start:stop:step", "too many `:`"});
    return {};
  }
  auto part = [&](std::size_t i, std::optional<std::int64_t>& out) {
    if (i >= s.size() || s[i].is(Form::nothing)) return true;
    out = integer(s[i], "a slice");
    return out.has_value();
  };
  std::optional<std::int64_t> start, stop, step_given;
  if (!part(0, start) || !part(1, stop) || !part(2, step_given)) return {};
  const std::int64_t step = step_given.value_or(1);
  if (step == 0) {
    error({span(s), "the step of a slice is not 0", ""});
    return {};
  }
  if (!start && !stop && (step == 1 || step == -1)) return Slice{Slice::Kind::range, 0, step, -1};
  if (!known) return {};
  auto clamp = [&](std::int64_t i) {
    if (i < 0) i += n;
    return step > 0 ? std::clamp<std::int64_t>(i, 0, n) : std::clamp<std::int64_t>(i, -1, n - 1);
  };
  const std::int64_t first = start ? clamp(*start) : step > 0 ? 0 : n - 1;
  const std::int64_t last = stop ? clamp(*stop) : step > 0 ? n : -1;
  const std::int64_t count = step > 0 ? (last - first + step - 1) / step : (first - last - step - 1) / -step;
  return Slice{Slice::Kind::range, count > 0 ? first : 0, step, std::max<std::int64_t>(count, 0)};
}

Value Lowering::index(Value x, const Syntax& s) {
  const Span at{ast().source, x.at.begin, s.end};
  if (s.children.empty()) {
    error({span(s), "an index is missing between [ and ]", ""});
    return Value::unknown(at);
  }
  if (!x.node) {
    for (const Syntax& i : s.children) {  // still check what is written
      const Name* loop = i.is(Form::name) ? find(i.text) : nullptr;
      const bool is_tile = loop && loop->value.tile;
      if (!is_tile && !i.is(Form::slice) && !i.is(Form::ellipsis) && !i.is(Form::nothing) && i.text != "None") integer(i, "an index");
    }
    is_complete = false;
    return Value::unknown(at);
  }
  const Shape from = graph[*x.node].shape;
  auto takes_axis = [](const Syntax& i) { return !i.is(Form::ellipsis) && !(i.is(Form::name) && i.text == "None"); };
  const auto used = static_cast<std::size_t>(std::count_if(s.children.begin(), s.children.end(), takes_axis));
  if (used > from.size()) {
    error({span(s), "too many indices: " + std::to_string(used) + " for " + plural(from.size(), "dimension"),
           "has shape " + to_string(from)});
    return Value::unknown(at);
  }
  Attributes attributes;
  std::size_t axis = 0;
  bool ellipsis = false, known = true;
  for (const Syntax& i : s.children) {
    if (i.is(Form::nothing)) {
      error({span(s), "an index is missing", ""});
      return Value::unknown(at);
    }
    if (i.is(Form::ellipsis)) {
      if (ellipsis) {
        error({span(i), "an index has one `...`", ""});
        return Value::unknown(at);
      }
      ellipsis = true;
      for (std::size_t k = used; k < from.size(); ++k, ++axis) attributes.slices.push_back({Slice::Kind::range, 0, 1, -1});
      continue;
    }
    if (!takes_axis(i)) {
      attributes.slices.push_back({Slice::Kind::new_axis, 0, 1, 0});
      continue;
    }
    auto one = slice(i, from[axis], axis);
    if (one) attributes.slices.push_back(*one);
    known = known && one;
    ++axis;
  }
  if (!known) {
    is_complete = false;
    return Value::unknown(at);
  }
  return view(op("index"), std::move(x), std::move(attributes), at);
}

}  // namespace erx
