// `choose` and `fold`: a body instantiated anew for each number of a set, or for each step of a bounded loop.
#include <algorithm>

#include "grammar/lower.hpp"

namespace erx {
namespace {

constexpr std::int64_t max_steps = 100000;

}  // namespace

/// A block with some names bound to values. A name keeps its meaning here too.
Value Lowering::instance(const Syntax& body, const std::map<std::string, Value>& names, const std::map<std::string, Span>& declared,
                         const Manner& mode) {
  std::map<std::string, Name> scope;
  for (const auto& [name, value] : names) scope[name] = {value, declared.at(name)};
  scopes_.push_back(std::move(scope));
  Value v = block(body, mode);
  scopes_.pop_back();
  v.product.reset();
  return v;
}

/// choose s in {64, 128} { ... } is any_of<"s in {64, 128}"> over the instances of the body.
Value Lowering::choose(const Syntax& s, const Manner& mode) {
  const Span at = span(s);
  const auto offset = static_cast<std::uint32_t>(at.text().find(s.text, 6));
  const Span word{ast().source, s.begin + offset, s.begin + offset + static_cast<std::uint32_t>(s.text.size())};
  if (const Name* before = find(s.text)) {
    error(Diagnostic{word, "`" + s.text + "` is defined twice", "a name keeps its meaning"}.note(before->declared, "first defined here"));
    return Value::unknown(at);
  }
  std::vector<Value> instances;
  bool known = true;
  for (const Syntax& number : s[0].children) {
    auto dim = dimension(number);
    known = known && dim;
    Value value = dim ? of_dim(*dim, span(number)) : Value::unknown(span(number));
    instances.push_back(instance(s[1], {{s.text, value}}, {{s.text, word}}, mode));
  }
  if (instances.empty()) {
    error({span(s[0]), "a choice needs at least one number", ""});
    return Value::unknown(at);
  }
  Attributes attributes;
  attributes.text = s.text + " in {";
  for (std::size_t k = 0; k < instances.size(); ++k) {
    const Syntax& number = s[0][k];
    const auto dim = dimension(number);
    attributes.text += (k ? ", " : "") + (dim ? dim->to_string() : std::string(span(number).text()));
  }
  attributes.text += "}";
  auto join = [&](const std::vector<Value>& alternatives) {
    Value v = Value::unknown(at);
    v.node = exactly(op("any_of"), alternatives, attributes, at);
    return v;
  };
  if (!known) is_complete = false;
  if (!instances[0].is_tuple) return join(instances);
  Value all = Value::unknown(at);
  all.is_tuple = true;
  for (std::size_t i = 0; i < instances[0].parts.size(); ++i) {
    std::vector<Value> alternatives;
    for (const Value& v : instances) {
      if (v.parts.size() != instances[0].parts.size()) {
        error({at, "the alternatives of this choice have different numbers of results", ""});
        return Value::unknown(at);
      }
      alternatives.push_back(v.parts[i]);
    }
    all.parts.push_back(join(alternatives));
  }
  return all;
}

std::optional<Lowering::Steps> Lowering::steps(const Syntax& range) {
  Steps result;
  if (range.size() > 2) {
    error({span(range), "a range is first..end", ""});
    return {};
  }
  if (range.size() == 2) {
    auto first = integer(range[0], "the start of a range"), end = integer(range[1], "the end of a range");
    if (!first || !end) return {};
    if (*end - *first > max_steps) {
      error({span(range), "a loop has at most " + std::to_string(max_steps) + " steps", "this has " + std::to_string(*end - *first)});
      return {};
    }
    for (std::int64_t i = *first; i < *end; ++i) result.parts.push_back({i, i});
    return result;
  }
  const Syntax& call = range[0];
  if (!call.is(Form::call) || call.text != "tiles") {
    error({span(range), "expected a range", "as in 0..B or tiles(N, 128)"});
    return {};
  }
  Arguments given = arguments(call, {}, 2, 2);
  if (!given.ok) return {};
  auto whole = integer(*given.positional[0], "the length to tile"), size = integer(*given.positional[1], "the size of a tile");
  if (size && *size < 1) {
    error({span(*given.positional[1]), "a tile has at least one element", ""});
    return {};
  }
  if (!whole || !size) return {};
  if (*whole / *size > max_steps) {
    error({span(range), "a loop has at most " + std::to_string(max_steps) + " steps", ""});
    return {};
  }
  result.are_tiles = true;
  for (std::int64_t start = 0; start < *whole; start += *size) result.parts.push_back({start, std::min(start + *size, *whole)});
  return result;
}

Value Lowering::fold(const Syntax& s, const Manner& mode) {
  const Span at = span(s);
  const Syntax &list = s[0], &variable = s[1];
  std::map<std::string, Span> declared;
  std::map<std::string, Value> state;
  std::vector<std::string> order;
  bool ok = true;
  auto declare = [&](const std::string& name, const Span& where) {
    const Name* before = find(name);
    if (before || declared.count(name)) {
      error(Diagnostic{where, "`" + name + "` is defined twice", "a name keeps its meaning"}.note(
          before ? before->declared : declared.at(name), "first defined here"));
      ok = false;
    }
    declared[name] = where;
  };
  auto enter = [&](const std::string& name, Value v) {  // the state is one stored tensor in each step
    v.product.reset();
    v.wide = {};
    v.dim.reset();
    if (v.node && graph[*v.node].name.empty()) graph.store(*v.node, unique(name));
    state[name] = std::move(v);
  };
  for (const Syntax& one : list.children) {
    declare(one.text, {ast().source, one.begin, one.begin + static_cast<std::uint32_t>(one.text.size())});
    Value v = expression(one[0], mode);
    if (v.is_tuple) {
      error({v.at, "a tuple where one value is expected", ""});
      ok = false;
    }
    order.push_back(one.text);
    enter(one.text, std::move(v));
  }
  declare(variable.text, span(variable));
  if (order.empty()) {
    error({span(list), "a fold needs a state, as in fold (m = 0) over i in 0..B { ... }", ""});
    ok = false;
  }
  if (!ok) return Value::unknown(at);
  auto step = [&](const Value& loop) {
    std::map<std::string, Value> names = state;
    names[variable.text] = loop;
    Value next = instance(s[3], names, declared, mode);
    if (order.size() == 1 && !next.is_tuple) {
      enter(order[0], next);
      return next.node.has_value();
    }
    if (!next.is_tuple || next.parts.size() != order.size()) {
      if (next.is_tuple || next.node) {
        error({next.at,
               "the state has " + std::to_string(order.size()) + (order.size() == 1 ? " value" : " values") + ", and `next` gives " +
                   std::to_string(next.is_tuple ? next.parts.size() : 1),
               ""});
      }
      return false;
    }
    for (std::size_t i = 0; i < order.size(); ++i) enter(order[i], next.parts[i]);
    return true;
  };
  const std::size_t before = errors_.size();
  auto all = steps(s[2]);
  if (!all) {
    if (errors_.size() > before) return Value::unknown(at);
    is_complete = false;  // the number of steps comes with the call: the body is looked at once
    for (auto& [_, v] : state) v = Value::unknown(v.at);
    step(Value::unknown(span(variable)));
    Value v = Value::unknown(at);
    if (order.size() == 1) return v;
    v.is_tuple = true;
    v.parts.assign(order.size(), Value::unknown(at));
    return v;
  }
  for (const auto& [start, stop] : all->parts) {
    Value loop;
    if (all->are_tiles) {
      loop.at = span(variable);
      loop.tile = std::pair(start, stop);
    } else {
      loop = of_dim(Dim(start), span(variable));
    }
    if (!step(loop)) return Value::unknown(at);
    if (graph.size() > max_nodes) {
      error({at, "this loop becomes too large", "more than " + std::to_string(max_nodes) + " operations"});
      return Value::unknown(at);
    }
  }
  if (order.size() == 1) {
    Value v = state[order[0]];
    v.at = at;
    return v;
  }
  Value v;
  v.at = at;
  v.is_tuple = true;
  for (const auto& name : order) v.parts.push_back(state[name]);
  return v;
}

}  // namespace erx
