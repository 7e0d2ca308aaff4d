// Tensors put together or laid out anew: concat, stack, flip, repeat, iota, eye, diagonal. Nothing here rounds.
#include <algorithm>

#include "grammar/lower.hpp"
#include "grammar/words.hpp"

namespace erx {

/// The tensors of concat(a, b), concat((a, b)) or concat([a, b]). Empty: a mistake, or known only with the call.
std::optional<std::vector<Value>> Lowering::listed(const Arguments& given, const Manner& mode) {
  std::vector<const Syntax*> list = given.positional;
  if (list.size() == 1 && (list[0]->is(Form::tuple) || list[0]->is(Form::array))) {
    const Syntax* whole = list[0];
    list.clear();
    for (const Syntax& part : whole->children) list.push_back(&part);
    if (list.empty()) {
      error({span(*whole), "there is nothing to put together", "expected at least one tensor"});
      return {};
    }
  }
  std::vector<Value> values;
  for (const Syntax* p : list) values.push_back(expression(*p, mode));
  bool known = true;
  for (const Value& v : values) {
    if (v.is_tuple) error({v.at, "a tuple is not a tensor", "expected one value"});
    known = known && v.node && !v.is_tuple;
  }
  if (known) return values;
  is_complete = false;
  return {};
}

Value Lowering::joined(std::vector<Value> values, std::int64_t axis, const Span& at) {
  Attributes along;
  along.axes = {axis};
  Value v = Value::unknown(at);
  v.node = exactly(op("concat"), values, std::move(along), at);
  v.wide_as(values);
  return v;
}

Value Lowering::concat(const Syntax& s, const Manner& mode) {
  Arguments given = arguments(s, {"axis"}, 1, 1000000);
  if (!given.ok) return Value::unknown(span(s));
  auto values = listed(given, mode);
  if (!values) return Value::unknown(span(s));
  const std::size_t rank = graph[*values->front().node].shape.size();
  if (rank == 0) {
    error(Diagnostic{span(s), "`concat` joins tensors along an axis, and these are single numbers", "stack puts them in a row"}.suggest(
        {ast().source, s.begin, s.begin + static_cast<std::uint32_t>(s.text.size())}, "stack"));
    return Value::unknown(span(s));
  }
  std::optional<std::int64_t> axis = 0;
  if (given.named.count("axis")) axis = axis_of(*given.named.at("axis"), s, rank);
  return axis ? joined(std::move(*values), *axis, span(s)) : Value::unknown(span(s));
}

Value Lowering::stack(const Syntax& s, const Manner& mode) {
  Arguments given = arguments(s, {"axis"}, 1, 1000000);
  if (!given.ok) return Value::unknown(span(s));
  auto values = listed(given, mode);
  if (!values) return Value::unknown(span(s));
  const Shape shape = graph[*values->front().node].shape;
  std::optional<std::int64_t> axis = 0;
  if (given.named.count("axis")) axis = axis_of(*given.named.at("axis"), s, shape.size() + 1);
  if (!axis) return Value::unknown(span(s));
  for (Value& v : *values) {
    const Shape own = graph[*v.node].shape;
    if (own != shape) {
      error({v.at, "stack needs tensors of one shape: " + to_string(shape) + " and " + to_string(own), to_string(own)});
      return Value::unknown(span(s));
    }
    Attributes place;
    for (std::size_t k = 0; k <= own.size(); ++k) {
      if (k == static_cast<std::size_t>(*axis)) place.slices.push_back({Slice::Kind::new_axis, 0, 1, 0});
      if (k < own.size()) place.slices.push_back({Slice::Kind::range, 0, 1, -1});
    }
    const Span at = v.at;
    v = view(op("index"), std::move(v), std::move(place), at);
    v.product.reset();
  }
  return joined(std::move(*values), *axis, span(s));
}

Value Lowering::flip(const Syntax& s, const Manner& mode) {
  Arguments given = arguments(s, {"axis"}, 1, 1);
  if (!given.ok) return Value::unknown(span(s));
  Value x = expression(*given.positional[0], mode);
  Attributes over, reversed;
  const std::size_t rank = x.node ? graph[*x.node].shape.size() : 64;
  if (!axes_of(given, s, rank, over)) return Value::unknown(span(s));
  for (std::size_t k = 0; k < rank; ++k) {
    const bool turns = std::find(over.axes.begin(), over.axes.end(), static_cast<std::int64_t>(k)) != over.axes.end();
    reversed.slices.push_back({Slice::Kind::range, 0, turns ? -1 : 1, -1});
  }
  if (rank == 0) return x;
  return view(op("index"), std::move(x), std::move(reversed), span(s));
}

Value Lowering::repeat(const Syntax& s, const Manner& mode) {
  Arguments given = arguments(s, {"axis"}, 2, 2);
  if (!given.ok) return Value::unknown(span(s));
  Value x = expression(*given.positional[0], mode);
  const auto times = dimension(*given.positional[1]);
  if (times && times->is_number() && times->value() < 0) {
    error({span(*given.positional[1]), "a number of times is not negative", "this is " + times->to_string()});
    return Value::unknown(span(s));
  }
  if (!x.node || !times) {
    is_complete = false;
    return Value::unknown(span(s));
  }
  std::optional<std::int64_t> axis = 0;
  if (given.named.count("axis")) axis = axis_of(*given.named.at("axis"), s, graph[*x.node].shape.size());
  else if (graph[*x.node].shape.size() != 1) x = one_line(std::move(x));
  if (!axis || !x.node) return Value::unknown(span(s));
  const Shape shape = graph[*x.node].shape;
  Attributes apart, repeated, merged;
  for (std::size_t k = 0; k < shape.size(); ++k) {
    const bool here = k == static_cast<std::size_t>(*axis);
    apart.slices.push_back({Slice::Kind::range, 0, 1, -1});
    repeated.shape.push_back(shape[k]);
    merged.shape.push_back(here ? shape[k] * *times : shape[k]);
    if (!here) continue;
    apart.slices.push_back({Slice::Kind::new_axis, 0, 1, 0});
    repeated.shape.push_back(*times);
  }
  x = view(op("index"), std::move(x), std::move(apart), span(s));
  x = view(op("broadcast"), std::move(x), std::move(repeated), span(s));
  return view(op("reshape"), std::move(x), std::move(merged), span(s));
}

Value Lowering::counted(const Dim& length, const Span& at) {
  Attributes attributes;
  attributes.shape = {length};
  Value v = Value::unknown(at);
  v.node = build(op("iota"), {}, std::move(attributes), {}, at);
  return v;
}

Value Lowering::iota(const Syntax& s, const Manner&) {
  Arguments given = arguments(s, {}, 1, 1);
  if (!given.ok) return Value::unknown(span(s));
  const auto to = shape({given.positional[0]});
  if (!to) return Value::unknown(span(s));
  if (to->size() != 1) {
    error({span(*given.positional[0]), "`iota` counts along one axis", "expected a whole number or a dimension"});
    return Value::unknown(span(s));
  }
  return counted(to->front(), span(s));
}

/// where(i == j, 1, 0)
Value Lowering::eye(const Syntax& s, const Manner&) {
  Arguments given = arguments(s, {}, 1, 2);
  if (!given.ok) return Value::unknown(span(s));
  const auto to = shape({given.positional.front(), given.positional.back()});
  if (!to) return Value::unknown(span(s));
  Attributes column;
  column.slices = {{Slice::Kind::range, 0, 1, -1}, {Slice::Kind::new_axis, 0, 1, 0}};
  Value equal = Value::unknown(span(s)), v = Value::unknown(span(s));
  equal.node = exactly(op("eq"), {view(op("index"), counted(to->front(), span(s)), std::move(column), span(s)), counted(to->back(), span(s))}, {}, span(s));
  v.node = exactly(op("where"), {equal, literal("1", span(s)), literal("0", span(s))}, {}, span(s));
  return v;
}

Value Lowering::diagonal(const Syntax& s, const Manner& mode) {
  Arguments given = arguments(s, {}, 1, 3);
  if (!given.ok) return Value::unknown(span(s));
  Value x = expression(*given.positional[0], mode);
  if (!x.node) {
    is_complete = false;
    return Value::unknown(span(s));
  }
  Attributes two;
  two.axes = {0, 1};
  for (std::size_t k = 1; k < given.positional.size(); ++k) {
    const auto axis = axis_of(*given.positional[k], s, graph[*x.node].shape.size());
    if (!axis) return Value::unknown(span(s));
    two.axes[k - 1] = *axis;
  }
  return view(op("diagonal"), std::move(x), std::move(two), span(s));
}

}  // namespace erx
