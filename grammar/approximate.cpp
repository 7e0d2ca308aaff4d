// Functions known by their error, and conversions to integers: approx, cast, wrap, saturate.
#include <algorithm>
#include <cstdlib>

#include "grammar/lower.hpp"
#include "grammar/words.hpp"

namespace erx {
namespace {

/// The bounds that may be expressions, in the order of an approx node's operands.
const std::vector<std::string> approx_words = {"ulp", "steps", "rel", "abs", "lo", "hi", "src"};
constexpr const char* bound_words[] = {"rel", "abs", "lo", "hi"};

}  // namespace

/// A positive number written as such; 0 (and an error) where it is not.
double Lowering::positive(const Syntax& s) {
  const WrittenNumber written = s.is(Form::number) ? written_number(s.text) : WrittenNumber{"0", nullptr, ""};
  const double x = written.mistake ? 0 : std::strtod(written.text.c_str(), nullptr);
  if (x > 0 && x < 1e300) return x;
  error({span(s), "`ulp` is a positive number", ""});
  return 0;
}

/// What bounds an approx: fills in the attributes and the operands after the first. returns: whether all of it is known.
bool Lowering::bounds(const Syntax& list, Attributes& attributes, std::vector<Value>& operands, Syntax& words) {
  bool ok = true, has_error = false;
  std::map<std::string, const Syntax*> given;
  for (std::size_t i = 1; i < list.size(); ++i) {
    const Syntax& a = list[i];
    const bool own = a.is(Form::argument) && a.text != "ftz";
    if (!own) {
      words.children.push_back(a);
    } else if (std::find(approx_words.begin(), approx_words.end(), a.text) == approx_words.end()) {
      const Span word{ast().source, a.begin, a.begin + static_cast<std::uint32_t>(a.text.size())};
      Diagnostic d{word, "`approx` has no parameter `" + a.text + "`", "it has ulp, steps, rel, abs, lo, hi, src, a rounding and ftz"};
      const std::string near = did_you_mean(a.text, approx_words);
      const bool is_there = std::any_of(list.children.begin(), list.children.end(), [&](const Syntax& o) { return o.is(Form::argument) && o.text == near; });
      if (!near.empty() && !is_there) std::move(d).note({}, "did you mean `" + near + "`?").suggest(word, near);
      error(std::move(d));
      ok = false;
      has_error = true;
    } else if (!given.emplace(a.text, &a[0]).second) {
      error({span(a), "`" + a.text + "` is given twice", ""});
      ok = false;
    }
  }
  for (const auto& [word, value] : given) {
    const bool is_text = value->is(Form::string);
    if (word == "src") {
      if (!is_text) error({span(*value), "`src` is a text in quotes", "as in src=\"CUDA math API 12.4\""});
      ok = ok && is_text;
      attributes.text = value->text;
      continue;
    }
    if (is_text || value->is(Form::set)) {
      error({span(*value), "`" + word + "` is a number", ""});
      ok = false;
      continue;
    }
    if (word == "ulp") {
      attributes.ulp = positive(*value);
      ok = ok && attributes.ulp > 0;
      has_error = true;
    } else if (word == "steps") {
      const auto n = integer(*value, "a number of steps");
      if (n && (*n < 0 || *n > (std::int64_t{1} << 60))) error({span(*value), "`steps` is a number of values, at least 0", ""});
      ok = ok && n && *n >= 0 && *n <= (std::int64_t{1} << 60);
      attributes.steps = n.value_or(0);
      has_error = true;
    }
  }
  for (std::size_t k = 0; k < std::size(bound_words); ++k) {
    const auto found = given.find(bound_words[k]);
    if (found == given.end() || found->second->is(Form::string) || found->second->is(Form::set)) continue;
    has_error |= k < 2;
    Value v = expression(*found->second, Manner{});
    if (k < 2 && found->second->is(Form::prefix) && found->second->text == "-" && (*found->second)[0].is(Form::number)) {
      error({span(*found->second), std::string("`") + bound_words[k] + "` is not negative", ""});
      ok = false;
    }
    if (v.node && graph[*v.node].type.is_boolean()) {
      error({v.at, std::string("`") + bound_words[k] + "` is a number, not a condition", ""});
      ok = false;
    }
    ok = ok && v.node && !v.is_tuple;
    if (v.is_tuple) error({v.at, "a tuple is not a number", "expected one value"});
    attributes.bounds |= static_cast<std::uint8_t>(1u << k);
    operands.push_back(std::move(v));
  }
  if (!has_error) {
    error({span(list), "`approx` needs its error", "one of ulp=, steps=, rel= and abs=, as in approx<f32, ulp=2>(exp(x))"});
    ok = false;
  }
  return ok;
}

Value Lowering::approx(const Syntax& s, const Manner&) {
  Attributes attributes;
  attributes.format = format_of_head(s);
  Syntax words = s[0];
  words.children.clear();
  std::vector<Value> operands(1);
  bool ok = bounds(s[0], attributes, operands, words);
  ok = rounding(words, 0, attributes) && ok;
  Arguments given = arguments(s, {}, 1, 1);
  Value v = Value::unknown(span(s));
  if (!given.ok) return v;
  operands[0] = expression(*given.positional[0], Manner{});
  if (!operands[0].node || !attributes.format || !ok) {
    is_complete = false;
    return v;
  }
  v.node = exactly(op("approx"), operands, std::move(attributes), span(s));
  return v;
}

/// cast<i8>(x), wrap<i32>(x), saturate<u8>(x)
Value Lowering::cast(const Syntax& s, const Manner& mode) {
  Attributes attributes;
  const Syntax& list = s[0];
  const std::string example = s.text + "<" + (s.text == "wrap" ? "i32" : "i8") + ">(x)";
  if (list.children.empty() || list[0].is(Form::argument)) {
    error({span(list), "`" + s.text + "` needs a type of integers", "as in " + example});
  } else {
    const auto type = list[0].is(Form::name) ? find_type(list[0].text) : std::nullopt;
    if (type && type->is_integer() && type->bits > 0) {
      attributes.whole = *type;
    } else {
      Diagnostic d{span(list[0]), "`" + std::string(span(list[0]).text()) + "` is not a type of integers with a width",
                   "as in " + example};
      if (type && type->is_floating()) d.notes.push_back({{}, "a format rounds: round<" + to_string(*type) + ">(x)"});
      error(std::move(d));
    }
    for (std::size_t i = 1; i < list.size(); ++i) {
      error({span(list[i]), "`" + s.text + "` takes a type only", "as in " + example});
      attributes.whole.reset();
    }
  }
  Arguments given = arguments(s, {}, 1, 1);
  Value v = Value::unknown(span(s));
  if (!given.ok) return v;
  Value x = expression(*given.positional[0], mode);
  if (!x.node || !attributes.whole) {
    is_complete = false;
    if (x.is_tuple) error({x.at, "a tuple is not a number", "expected one value"});
    return v;
  }
  // Between integers the low bits stay, in C++ as in NumPy.
  const bool keeps_bits = s.text == "cast" && graph[*x.node].type.is_integer();
  v.node = exactly(op(keeps_bits ? "wrap" : s.text), {x}, std::move(attributes), span(s));
  return v;
}

}  // namespace erx
