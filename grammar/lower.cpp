// Expressions: names, numbers and operators.
#include "grammar/foreign.hpp"
#include "grammar/lower.hpp"
#include "grammar/prelude.hpp"

#include <algorithm>
#include <cmath>

#include "grammar/words.hpp"

namespace erx {

void Lowering::error(Diagnostic d) {
  for (const auto& e : errors_) {
    if (e.span.source == d.span.source && e.span.begin == d.span.begin && e.span.end == d.span.end && e.what == d.what) return;
  }
  errors_.push_back(std::move(d));
}

void Lowering::place(const Error& e, const Span& at) {
  is_complete = false;
  for (Diagnostic d : e.diagnostics) {
    if (!d.span) d.span = at;
    error(std::move(d));
  }
}

const Lowering::Name* Lowering::find(const std::string& name) const {
  for (auto scope = scopes_.rbegin(); scope != scopes_.rend(); ++scope) {
    auto found = scope->find(name);
    if (found != scope->end()) return &found->second;
  }
  return nullptr;
}

std::vector<std::string> Lowering::names() const {
  std::vector<std::string> all;
  for (const auto& scope : scopes_) {
    for (const auto& [name, _] : scope) all.push_back(name);
  }
  for (const auto& [name, _] : dims_) all.push_back(name);
  return all;
}

std::string Lowering::unique(const std::string& name) {
  const auto given = [&](const std::string& fresh) {
    given_.push_back(fresh);
    return fresh;
  };
  if (taken_.insert(name).second) return given(name);
  // Numbers are given in order: a free one behind a taken one is found by doubling and halving. A loop asks a million times.
  const auto numbered = [&](std::int64_t i) { return name + "_" + std::to_string(i); };
  std::int64_t taken = 1, free = 2;
  while (taken_.contains(numbered(free))) {
    taken = free;
    free *= 2;
  }
  while (free - taken > 1) {
    const std::int64_t middle = taken + (free - taken) / 2;
    (taken_.contains(numbered(middle)) ? taken : free) = middle;
  }
  taken_.insert(numbered(free));
  return given(numbered(free));
}

Value Lowering::expression(const Syntax& s, const Manner& mode) {
  if (is_too_long(s)) return Value::unknown(span(s));
  switch (s.form) {
    case Form::number: return number(s);
    case Form::name: return name(s, mode);
    case Form::chain: return chain(s, mode);
    case Form::prefix: return prefix(s, mode);
    case Form::power: return power(s, mode);
    case Form::call: return call(s, mode);
    case Form::head: return head(s, mode);
    case Form::tuple: return tuple(s, mode);
    case Form::postfix: return postfix(s, mode);
    case Form::in_block: return in_block(s, mode);
    case Form::choose: return choose(s, mode);
    case Form::fold: return fold(s, mode);
    case Form::array:
      error({span(s), "a list of numbers is a value in examples only", "pass it as an input"});
      return Value::unknown(span(s));
    case Form::string:
      error({span(s), "a text in quotes is no number", "only einsum takes one, as in einsum(\"ij,jk->ik\", A, B)"});
      return Value::unknown(span(s));
    case Form::set: error({span(s), "a set of numbers stands between < and >, as in split({1, 2})", ""}); return Value::unknown(span(s));
    case Form::argument:
      error({span(s), "`" + s.text + "=` names an argument of a call", "not expected here"});
      return Value::unknown(span(s));
    case Form::masked: error({span(s), "only a reduction takes a mask", "write where(m, x, y)"}); return Value::unknown(span(s));
    default: return Value::unknown(span(s));  // has been reported
  }
}

/// Longer chains than anybody writes would nest too deeply in what comes after.
bool Lowering::is_too_long(const Syntax& s) {
  const std::size_t most = s.is(Form::chain) ? 20000 : s.is(Form::postfix) ? 500 : s.size();
  if (s.size() <= most) return false;
  error({span(s), s.is(Form::chain) ? "a chain of more than 20000 terms" : "more than 500 indices in a row", ""});
  return true;
}

Value Lowering::literal(std::string text, Span at) {
  Attributes attributes;
  attributes.text = std::move(text);
  Value v;
  v.at = at;
  v.node = erx::build(graph, op("literal"), {}, std::move(attributes), at);
  return v;
}

Value Lowering::truth(bool value, Span at) {
  Node node;
  node.op = &op("literal");
  node.attributes.text = value ? "1" : "0";
  node.type = Type::boolean();
  node.span = at;
  Value v;
  v.at = at;
  v.node = graph.append(std::move(node));
  return v;
}

Value Lowering::of_dim(const Dim& dim, Span at) {
  Value v;
  if (dim.is_number()) {
    v = literal(std::to_string(dim.value()), at);
  } else {
    Node node;  // with names for dimensions: a number that is not known yet
    node.op = &op("input");
    node.attributes.text = dim.to_string();
    node.name = dim.to_string();
    node.type = Type::integer();
    node.span = at;
    v.at = at;
    v.node = graph.append(std::move(node));
  }
  v.dim = dim;
  return v;
}

Value Lowering::number(const Syntax& s) {
  const WrittenNumber written = written_number(s.text);
  if (written.mistake) {
    error({span(s), written.mistake, written.label});
    return Value::unknown(span(s));
  }
  const std::string& text = written.text;
  Value v = literal(text, span(s));
  if (text.size() < 16 && text.find_first_not_of("0123456789") == text.npos) v.dim = Dim(std::stoll(text));
  return v;
}

Value Lowering::name(const Syntax& s, const Manner& mode) {
  const Span at = span(s);
  if (const Name* known = find(s.text)) {
    Value v = known->value;
    v.at = at;
    if (v.tile) {
      error(Diagnostic{at, "`" + s.text + "` is a tile: it stands only in an index, as in x[" + s.text + "]", ""}.note(known->declared,
                                                                                                                       "declared here"));
      return Value::unknown(at);
    }
    if (!v.node) return v;
    used_[*v.node] = at;
    if (mode.kind == Manner::Kind::rounded && !v.dim && !literal_leaf(*v.node)) {
      const Type& type = graph[*v.node].type;
      if (!type.is_integer() && !type.is_boolean() && !contains(Type::of(mode.format), type.part())) {
        v.wide = at;
        v.wide_name = s.text;
        v.wide_type = to_string(type);
      }
    }
    return v;
  }
  if (dims_.count(s.text)) {
    if (!concrete_) return of_dim(Dim(s.text), at);
    auto size = size_of(s);
    return size ? of_dim(*size, at) : Value::unknown(at);
  }
  if (s.text == "nan" || s.text == "inf" || s.text == "pi") return literal(s.text, at);
  if (s.text == "true" || s.text == "false") return truth(s.text == "true", at);
  if (s.text == "True" || s.text == "False") {
    const std::string right = s.text == "True" ? "true" : "false";
    error(Diagnostic{at, "unknown name `" + s.text + "`", "written `" + right + "` here"}.suggest(at, right));
    return Value::unknown(at);
  }
  if (s.text == "None") {
    error({at, "`None` stands only in an index, as in A[:, None]", ""});
    return Value::unknown(at);
  }
  if (formats_.count(s.text) || items_->formats.count(s.text) || find_format(s.text)) {
    error(Diagnostic{at, "`" + s.text + "` is a format, not a value", "a format rounds: " + s.text + "(x)"});
    return Value::unknown(at);
  }
  if (bare_) {  // a free name is an input, typed by what is bound to it
    Value v = Value::unknown(at);
    parameters.push_back({s.text, {}, {}, false, at});
    scopes_.front()[s.text] = {v, at};
    return v;
  }
  Diagnostic d{at, "unknown name `" + s.text + "`", "not defined here"};
  const bool told = tell_foreign(d, s.text, at);
  std::string near = told ? "" : did_you_mean(s.text, names());
  if (!told && near.empty() && s.text.size() > 3) near = did_you_mean(s.text, {"return", "next", "assume"});  // a statement, misspelt
  if (told) d.label = "";
  if (!near.empty()) {
    std::move(d).note({}, "did you mean `" + near + "`?").suggest(at, near);
  } else if (!told && (find_op(s.text) || specials().count(s.text) || items_->functions.count(s.text) || prelude().functions.count(s.text))) {
    d.label = "a function: call it, as in " + s.text + "(x)";
  }
  error(std::move(d));
  return Value::unknown(at);
}

Value Lowering::step(Value left, const Syntax& step, Value right, const Syntax& whole, const Manner& mode) {
  const Span at{ast().source, whole.begin, step.end};
  const Op* found = operator_of(step.text, 2);
  if (!found) throw Bug("no op for the operator " + step.text);
  Value v = apply(*found, {std::move(left), std::move(right)}, {}, at, mode);
  v.at = at;
  return v;
}

Value Lowering::chain(const Syntax& s, const Manner& mode) {
  if (mode.kind == Manner::Kind::within && is_sum(s)) return within_sum(s, mode);
  const bool compares = is_comparison(s[1].text);
  if (compares && s.size() == 3 && s[0].is(Form::name) && s[1].text == "<" && s[2].text == ">") {
    const std::string near = did_you_mean(s[0].text, {"round", "acc", "approx", "within", "any_of", "cast", "wrap", "saturate"});
    if (!near.empty()) {  // round<bf16>(x), misspelt
      error(Diagnostic{span(s[0]), "unknown head `" + s[0].text + "`", ""}
                .note({}, "did you mean `" + near + "`?")
                .suggest(span(s[0]), near));
      return Value::unknown(span(s));
    }
  }
  if (compares && s.size() == 3 && s[0].is(Form::name) && (find_format(s[0].text) || items_->formats.count(s[0].text))) {
    error({span(s[0]), "`" + s[0].text + "` is a format: it takes no < >", "write round<" + s[0].text + ", ...>(x)"});
    return Value::unknown(span(s));
  }
  if (compares && s.size() > 2) {
    const std::string a(span(s[0]).text()), op1 = s[1].text, b(span(s[1][0]).text()), op2 = s[2].text, c(span(s[2][0]).text());
    Diagnostic d{span(s), "comparisons do not chain", "compare twice"};
    if (s.size() == 3) std::move(d).suggest(span(s), a + " " + op1 + " " + b + " and " + b + " " + op2 + " " + c);
    error(std::move(d));
    return Value::unknown(span(s));
  }
  Value left = expression(s[0], mode);
  for (std::size_t i = 1; i < s.size(); ++i) {
    Value right = expression(s[i][0], mode);
    std::optional<Dim> dim;
    if (left.dim && right.dim) {
      const std::string& o = s[i].text;
      if (o == "+")
        dim = *left.dim + *right.dim;
      else if (o == "-")
        dim = *left.dim - *right.dim;
      else if (o == "*")
        dim = *left.dim * *right.dim;
      else if (o == "//" || o == "/")
        dim = quotient(*left.dim, *right.dim, o == "//");
    }
    left = step(std::move(left), s[i], std::move(right), s, dim ? Manner{} : mode);  // whole numbers of shapes do not round
    left.dim = dim;
  }
  return left;
}

Value Lowering::prefix(const Syntax& s, const Manner& mode) {
  Value x = expression(s[0], mode);
  if (s.text == "+") {
    x.at = span(s);
    return x;
  }
  const std::optional<Dim> dim = x.dim && s.text == "-" ? std::optional(Dim(0) - *x.dim) : std::nullopt;
  const std::optional<NodeId> product = x.product;
  const Op* found = operator_of(s.text, 1);
  if (!found) throw Bug("no op for the operator " + s.text);
  Value v = apply(*found, {x}, {}, span(s), mode);
  v.dim = dim;
  if (v.node && product && s.text == "-") v.product = build(*found, {*product}, {}, {x.at}, span(s));  // fma(-a, b, c)
  return v;
}

Value Lowering::power(const Syntax& s, const Manner& mode) {
  // a ** b ** c groups to the right.
  const Op* found = operator_of("**", 2);
  if (!found) throw Bug("no op for the operator **");
  Value exponent = expression(s.children.back(), mode);
  for (std::size_t i = s.size() - 1; i-- > 0;) {
    Value base = expression(s[i], mode);
    const Span at{ast().source, s[i].begin, s.end};
    if (mode.kind == Manner::Kind::within) {
      // x ** n is n - 1 products; one ulp is at least one rounding.
      const double n = exponent.dim && exponent.dim->is_number() ? std::abs(static_cast<double>(exponent.dim->value())) : 3;
      Value exact;
      exact.at = at;
      may_read_zero(base, mode);
      exact.node = exactly(*found, {base, exponent}, {}, at);
      exact.node = widened(exact.node, mode, n == 2 ? 0 : n + 2, at);
      exponent = exact;
    } else {
      exponent = apply(*found, {base, exponent}, {}, at, mode);
    }
    exponent.at = at;
  }
  return exponent;
}

Value Lowering::tuple(const Syntax& s, const Manner& mode) {
  Value v;
  v.at = span(s);
  v.is_tuple = true;
  for (const Syntax& part : s.children) v.parts.push_back(expression(part, mode));
  return v;
}

}  // namespace erx
