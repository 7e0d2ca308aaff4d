// The heads that round or offer a choice, and blocks: round, any_of, within, `in F { }`.
#include <algorithm>
#include <cctype>

#include "grammar/lower.hpp"

namespace erx {

Value Lowering::head(const Syntax& s, const Manner& mode) {
  using Head = Value (Lowering::*)(const Syntax&, const Manner&);
  static const std::map<std::string, Head> heads = {{"round", &Lowering::round},
                                                    {"acc", &Lowering::acc},
                                                    {"within", &Lowering::within},
                                                    {"any_of", &Lowering::any_of},
                                                    {"scan", &Lowering::recurrence},
                                                    {"approx", &Lowering::approx},
                                                    {"cast", &Lowering::cast},
                                                    {"wrap", &Lowering::cast},
                                                    {"saturate", &Lowering::cast},
                                                    {"complex", &Lowering::complex}};
  auto found = heads.find(s.text);
  if (found != heads.end()) return (this->*found->second)(s, mode);
  if (s.text == "float") {
    error({span(s), "`" + std::string(span(s).text()) + "` is a format, not a value", "a format rounds: round<float<e=8, m=10>>(x)"});
  } else {
    error({span(s), "`" + s.text + "` is not part of this version of the language", ""});
  }
  return Value::unknown(span(s));
}

Value Lowering::round_to(const Attributes& attributes, const Syntax& operand, const Span& at, const Manner& mode) {
  Value x = expression(operand, mode);
  Value v = Value::unknown(at);
  if (x.node) warn_of_idle(attributes, *x.node, operand, at);
  v.node = exactly(op("round"), {x}, attributes, at);
  return v;
}

/// A rounding of a value into its own format. A function does not know what it is called with, so nothing is said inside one.
void Lowering::warn_of_idle(const Attributes& a, NodeId operand, const Syntax& written, const Span& at) {
  const Type& type = graph[operand].type;
  const bool same = type.is_floating() && type.format == *a.format;
  if (!same || !calls_.empty() || a.rounding.flush != Flush::no || a.rounding.overflow == Overflow::sat) return;
  Diagnostic d{at, "this rounding changes nothing: its operand is " + to_string(type) + " already", ""};
  d.severity = Severity::warning;
  warn(std::move(d).suggest(at, std::string(span(written).text())));
}

Value Lowering::round(const Syntax& s, const Manner& mode) {
  Attributes attributes;
  attributes.format = format_of_head(s);
  const bool ok = rounding(s[0], 1, attributes);
  Arguments given = arguments(s, {}, 1, 1);
  if (!given.ok) return Value::unknown(span(s));
  if (!attributes.format || !ok) {
    expression(*given.positional[0], mode);  // its own mistakes are still told
    is_complete = false;
    return Value::unknown(span(s));
  }
  return round_to(attributes, *given.positional[0], span(s), mode);
}

Value Lowering::any_of(const Syntax& s, const Manner& mode) {
  Attributes attributes;
  for (const Syntax& a : s[0].children) {
    if (!a.is(Form::string) || &a != &s[0][0]) {
      error({span(a), "`any_of` takes one label in quotes", "as in any_of<\"path\">(a, b)"});
      continue;
    }
    attributes.text = a.text;
    if (a.text.empty()) error({span(a), "a label is not empty", ""});
  }
  Arguments given = arguments(s, {}, 1, 1000000);
  std::vector<Value> values;
  for (const Syntax* p : given.positional) values.push_back(expression(*p, mode));
  Value v = Value::unknown(span(s));
  if (!given.ok) return v;
  v.node = exactly(op("any_of"), values, attributes, span(s));
  v.wide_as(values);
  return v;
}

Value Lowering::within(const Syntax& s, const Manner& mode) {
  Manner tolerance;
  tolerance.kind = Manner::Kind::within;
  auto format = format_of_head(s);
  for (std::size_t i = 1; i < s[0].size(); ++i) {
    const Syntax& a = s[0][i];
    if (a.is(Form::name) && a.text == "ftz") {
      tolerance.flush = Flush::free;
    } else if (a.is(Form::argument) && a.text == "ftz") {
      if (!flush(a[0], tolerance.flush)) format.reset();
    } else {
      error({span(a), "`within` takes a format, and ftz", "as in within<f32, ftz>(x)"});
      format.reset();
    }
  }
  Arguments given = arguments(s, {}, 1, 1);
  if (!given.ok) return Value::unknown(span(s));
  if (!format) {
    expression(*given.positional[0], mode);
    is_complete = false;
    return Value::unknown(span(s));
  }
  tolerance.format = *format;
  if (tolerance.flush != Flush::no) tolerance.flush = Flush::free;  // a wider range has other subnormals, or none
  Value v = expression(*given.positional[0], tolerance);
  v.product.reset();
  v.at = span(s);
  return v;
}

Value Lowering::in_block(const Syntax& s, const Manner&) {
  Manner inner;
  inner.kind = Manner::Kind::rounded;
  auto format = this->format(s[0]);
  for (const Syntax& option : s[1].children) {
    if (option.is(Form::name) && option.text == "contract")
      inner.contract = true;
    else if (option.is(Form::name) && option.text == "ftz")
      inner.flush = Flush::yes;
    else if (option.is(Form::name) && option.text == "daz")
      inner.flush_operands = Flush::yes;
    else if (option.is(Form::argument) && option.text == "ftz")
      flush(option[0], inner.flush);
    else if (option.is(Form::argument) && option.text == "daz")
      flush(option[0], inner.flush_operands);
    else if (option.is(Form::argument) && option.text == "ulp") {
      inner.ulp = positive(option[0]);
    } else {
      Diagnostic d{span(option), "unknown option `" + std::string(span(option).text()) + "` of `in`",
                   "options are contract, ftz, daz and ulp="};
      const std::string near = did_you_mean(option.text, {"contract", "ftz", "daz"});
      if (!near.empty() && option.is(Form::name)) std::move(d).suggest(span(option), near);
      error(std::move(d));
    }
  }
  if (!format) {
    block(s[2], Manner{});
    is_complete = false;
    return Value::unknown(span(s));
  }
  inner.format = *format;
  Value v = block(s[2], inner);
  if (!v.is_tuple && refuse_wide(v, inner)) return Value::unknown(span(s));
  v.wide = {};
  v.product.reset();
  v.at = span(s);
  return v;
}

Value Lowering::block(const Syntax& s, const Manner& mode) {
  scopes_.emplace_back();
  Value given = Value::unknown(span(s));
  bool has_given = false, has_error = false;
  for (const Syntax& st : s.children) {
    if (has_given) {
      const bool reported = std::any_of(errors_.begin(), errors_.end(), [&](const Diagnostic& d) { return d.span.begin == st.begin; });
      if (!reported) {
        Diagnostic d{span(st), "nothing follows the result", "the result is above"};
        if (span(st).text().substr(0, 1) == "-")
          std::move(d).note({}, "a `-` at the start of a line begins a new expression; write it at the end of the line above to go on");
        error(std::move(d));
      }
      break;
    }
    // What did not parse still names something: nobody has to be told twice.
    const bool is_rest = std::any_of(errors_.begin(), errors_.end(), [&](const Diagnostic& d) {
      return d.severity == Severity::error && d.span.source == ast().source && d.span.begin == st.begin && d.what.starts_with("unexpected ");
    });
    if (st.is(Form::error)) bind_unread(span(st));
    has_error = has_error || st.is(Form::error) || is_rest;
    if (is_rest && st.is(Form::give)) continue;
    try {
      has_given = statement(st, mode, &given);
    } catch (const Error& e) {  // from a part that knows no places: a dimension beyond 64 bits
      place(e, span(st));
      has_error = true;
    }
  }
  if (!has_given && !has_error) {
    const Span end{ast().source, s.end > 0 ? s.end - 1 : 0, s.end};
    error({end, bare_ && scopes_.size() == 2 ? "there is no expression after the `let`" : "this block has no result",
           "expected an expression"});
  }
  if (!has_given) is_complete = false;
  scopes_.pop_back();
  return given;
}

/// The names of a `let` that did not parse.
void Lowering::bind_unread(const Span& at) {
  const std::string_view text = at.text();
  std::size_t i = text.find_first_not_of(" \t\n\f");
  if (i == text.npos || text.substr(i, 4) != "let ") return;
  const auto in_word = [&](std::size_t k) { return k < text.size() && (std::isalnum(static_cast<unsigned char>(text[k])) || text[k] == '_'); };
  for (i += 4; i < text.size() && text[i] != '='; ++i) {
    if (!in_word(i) || std::isdigit(static_cast<unsigned char>(text[i]))) continue;
    std::size_t end = i;
    while (in_word(end)) ++end;
    const std::string name(text.substr(i, end - i));
    if (!find(name)) scopes_.back()[name] = {Value::unknown(at), at};
    i = end - 1;
  }
}

bool Lowering::statement(const Syntax& s, const Manner& mode, Value* given) {
  switch (s.form) {
    case Form::give: *given = expression(s[0], mode); return true;
    case Form::assume: assume(s[0], expression(s[0], mode)); return false;
    case Form::let: break;
    default: return false;
  }
  if (!s[0].is(Form::names)) {
    Value v = expression(s[0], mode);
    const auto at = static_cast<std::uint32_t>(span(s).text().find(s.text, 3));
    const Span word{ast().source, s.begin + at, s.begin + at + static_cast<std::uint32_t>(s.text.size())};
    bind(s.text, std::move(v), word);
    return false;
  }
  Value v = expression(s[1], mode);
  const Syntax& names = s[0];
  if (!v.is_tuple || v.parts.size() != names.size()) {
    if (v.is_tuple || v.node) {
      error(Diagnostic{v.at,
                       "expected " + std::to_string(names.size()) + " values, found " + std::to_string(v.is_tuple ? v.parts.size() : 1), ""}
                .note(span(names), "for these names"));
    }
    for (const Syntax& n : names.children) bind(n.text, Value::unknown(span(n)), span(n));
    return false;
  }
  for (std::size_t i = 0; i < names.size(); ++i) bind(names[i].text, v.parts[i], span(names[i]));
  return false;
}

void Lowering::assume(const Syntax& s, const Value& v) {
  if (!v.node) return;
  const Node& node = graph[*v.node];
  const std::string text(span(s).text());
  if (!node.type.is_boolean()) {
    error({span(s), "an assumption is a condition, and this is " + to_string(node.type), "compare it, as in " + text + " > 0"});
    return;
  }
  if (graph.has_freedom(*v.node)) {
    error({span(s), "an assumption is about the inputs, and this depends on a choice", "it has to be true or false before anything is chosen"});
    return;
  }
  graph.assumptions.push_back({*v.node, text, span(s)});
}

void Lowering::bind(const std::string& name, Value v, const Span& declared) {
  if (const Name* before = find(name)) {
    error(Diagnostic{declared, "`" + name + "` is defined twice", "a name keeps its meaning"}.note(before->declared, "first defined here"));
    return;
  }
  if (dims_.count(name)) {
    error(Diagnostic{declared, "`" + name + "` is a dimension already", "a name keeps its meaning"}.note(dims_.at(name), "declared here"));
    return;
  }
  for (const char* constant : {"nan", "inf", "true", "false", "None"}) {
    if (name == constant) {
      error({declared, "`" + name + "` is a value of the language and names nothing else", ""});
      return;
    }
  }
  v.product.reset();
  v.wide = {};
  if (v.node && graph[*v.node].name.empty()) graph.store(*v.node, unique(name));
  scopes_.back()[name] = {std::move(v), declared};
}

}  // namespace erx
