// `scan<F, any|assoc|seq>(a, b, init=0, axis=-1, reverse=false)`: all states of h_t = a_t h_{t-1} + b_t.
#include <algorithm>

#include "grammar/lower.hpp"

namespace erx {

bool Lowering::recurrence_rule(const Syntax& list, Attributes& attributes) {
  bool ok = true, has_order = false;
  for (std::size_t i = 1; i < list.size(); ++i) {
    const Syntax& a = list[i];
    if (!a.is(Form::argument)) {
      if (has_order) {
        error({span(a), "`scan` takes one order", "a second one"});
        ok = false;
        continue;
      }
      has_order = true;
      const bool known = a.is(Form::name) && (a.text == "any" || a.text == "assoc" || a.text == "seq");
      if (!known) {
        Diagnostic d{span(a), "unknown order `" + std::string(span(a).text()) + "` of `scan`", "orders are any, assoc and seq"};
        const std::string near = did_you_mean(a.text, {"any", "assoc", "seq"});
        if (!near.empty() && a.is(Form::name)) std::move(d).suggest(span(a), near);
        error(std::move(d));
        ok = false;
      }
      // Steps keep their order, so any tree over them is any association.
      attributes.order.kind = a.text == "seq" ? OrderKind::seq : OrderKind::any;
    } else if (a.text == "fma") {
      ok &= contraction_word(a[0], attributes.contraction);
    } else if (a.text == "ftz") {
      ok &= flush(a[0], attributes.rounding.flush);
    } else {
      error({span(a), "`scan` has no parameter `" + a.text + "`", "it has an order, fma= and ftz="});
      ok = false;
    }
  }
  return ok;
}

/// Is it a real value of the format? Says so where not.
bool Lowering::check_state(const Value& v, const char* what, const Format& format) {
  const Node& node = graph[*v.node];
  const Span at = v.at;
  if (node.type.is_complex) {
    error({at, "`scan` takes real numbers, and `" + std::string(what) + "` is complex", "a complex recurrence mixes its parts in every step"});
    return false;
  }
  if (node.type.is_boolean()) {
    error({at, "`scan` takes numbers, and `" + std::string(what) + "` is bool", "use where(m, 1, 0)"});
    return false;
  }
  if (contains(Type::of(format), node.type) || is_written_in(*v.node, format)) return true;
  const std::string type = node.type.is_real() ? "not rounded" : to_string(node.type);
  error(Diagnostic{at, "`" + std::string(what) + "` of this recurrence is " + type + ", and `scan` computes with values of " + format.name,
                   "not a value of " + format.name}
            .suggest(at, "round<" + format.name + ">(" + std::string(at.text()) + ")"));
  return false;
}

Value Lowering::recurrence(const Syntax& s, const Manner& mode) {
  Attributes attributes;
  attributes.format = format_of_head(s);
  bool ok = recurrence_rule(s[0], attributes);
  if (attributes.format && !(attributes.format->has_sign && attributes.format->has_zero)) {
    error({span(s[0]), attributes.format->name + " has no negative numbers or no zero, and `scan` adds in its format", "compute in another format"});
    attributes.format.reset();  // values of it would only be refused again
    ok = false;
  }
  const Arguments given = arguments(s, {"init", "axis", "reverse"}, 2, 2);
  std::vector<Value> values;
  for (const Syntax* p : given.positional) values.push_back(expression(*p, mode));
  const auto named = [&](const char* word) {
    const auto found = given.named.find(word);
    return found == given.named.end() ? nullptr : found->second;
  };
  if (const Syntax* init = named("init")) values.push_back(expression(*init, mode));
  Value v = Value::unknown(span(s));
  if (!given.ok) return v;
  if (const Syntax* reverse = named("reverse")) {
    attributes.reverse = reverse->text == "true" || reverse->text == "True";
    if (!attributes.reverse && reverse->text != "false" && reverse->text != "False") {
      error({span(*reverse), "`reverse` is true or false", ""});
      ok = false;
    }
  }
  const char* const names[] = {"a", "b", "init"};
  bool known = attributes.format.has_value();
  for (std::size_t k = 0; k < values.size(); ++k) {
    if (values[k].is_tuple) {
      error({values[k].at, "a tuple is not a number", "expected one value"});
      ok = false;
    }
    known = known && values[k].node;
    if (values[k].node && attributes.format) ok = check_state(values[k], names[k], *attributes.format) && ok;
  }
  if (!ok || !known) {
    is_complete = false;
    return v;
  }
  const std::size_t rank = std::max(graph[*values[0].node].shape.size(), graph[*values[1].node].shape.size());
  if (rank == 0) {
    error({span(s), "`scan` goes along an axis, and neither `a` nor `b` has one", "a step by itself is in F { a * h + b }"});
    return v;
  }
  attributes.axes = {static_cast<std::int64_t>(rank) - 1};
  if (const Syntax* axis = named("axis")) {
    const auto place = axis_of(*axis, s, rank);
    if (!place) return v;
    attributes.axes = {*place};
  }
  v.node = exactly(op("scan"), values, std::move(attributes), span(s));
  return v;
}

}  // namespace erx
