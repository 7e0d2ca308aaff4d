// `choose`: a body instantiated anew for each number of a set. The numbers that a bounded loop runs over.
#include <algorithm>

#include "grammar/lower.hpp"
#include "grammar/words.hpp"

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
    Diagnostic d{span(range), "expected a range", "as in 0..B or tiles(N, 128)"};
    const auto text = [&](std::size_t k) { return std::string(span(call.children.back()[k]).text()); };
    const std::size_t numbers = call.is(Form::call) ? call.children.back().size() : 0;
    if (call.is(Form::call) && call.text == "range" && (numbers == 1 || numbers == 2))
      std::move(d).suggest(span(call), numbers == 1 ? "0.." + text(0) : text(0) + ".." + text(1));
    else if (call.is(Form::call) && !did_you_mean(call.text, {"tiles"}).empty())
      std::move(d).suggest({ast().source, call.begin, call.begin + static_cast<std::uint32_t>(call.text.size())}, "tiles");
    error(std::move(d));
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

}  // namespace erx
