// Whole numbers and formulas of dimensions, where a shape, an axis, an index or a count is written.
#include "grammar/lower.hpp"
#include "grammar/words.hpp"

namespace erx {

/// The number that a declared dimension has in this call.
std::optional<Dim> Lowering::size_of(const Syntax& s) {
  auto size = sizes_.find(s.text);
  if (size != sizes_.end()) return Dim(size->second.value);
  error(Diagnostic{span(s), "no input tells the dimension `" + s.text + "`", ""}.note(dims_.at(s.text), "declared here"));
  return {};
}

/// Nothing without an error: the numbers come with the call.
std::optional<Dim> Lowering::divided(const Syntax& s, const Dim& left, const std::string& o, const Dim& right) {
  const auto text = "`" + std::string(span(s).text()) + "`";
  if (right.is_number() && (right.value() == 0 || (o == "%" && right.value() < 0))) {
    error({span(s), text + " divides by " + right.to_string(), ""});
    return {};
  }
  if (o == "%") {
    if (left.is_number() && right.is_number()) return Dim(((left.value() % right.value()) + right.value()) % right.value());
    return {};
  }
  auto q = quotient(left, right, o == "//");
  if (!q && right.is_number() && left.is_number())
    error({span(s), text + " is not a whole number", left.to_string() + " is not a multiple of " + right.to_string()});
  return q;
}

std::optional<Dim> Lowering::dimension(const Syntax& s) {
  switch (s.form) {
    case Form::number:
      if (s.text.size() < 16 && s.text.find_first_not_of("0123456789") == std::string::npos) return Dim(std::stoll(s.text));
      error({span(s), "expected a whole number, found `" + s.text + "`", ""});
      return {};
    case Form::name: {
      if (const Name* known = find(s.text)) {
        if (known->value.dim) return known->value.dim;
        if (known->value.tile) {
          error(Diagnostic{span(s), "`" + s.text + "` is a tile: it stands by itself in an index, as in x[" + s.text + "]", ""}.note(known->declared, "declared here"));
          return {};
        }
        if (!known->value.node && !known->value.is_tuple) return {};  // comes with the call, or has been reported
        error(Diagnostic{span(s), "`" + s.text + "` is not a whole number that is known before the inputs are read", ""}.note(
            known->declared, "declared here"));
        return {};
      }
      if (dims_.count(s.text)) {
        if (!concrete_) return Dim(s.text);
        return size_of(s);
      }
      Value v = name(s, Manner{});  // an input of a bare expression, a constant, or an unknown name
      if (!v.dim && v.node && literal_leaf(*v.node)) error({span(s), "expected a whole number, found `" + s.text + "`", ""});
      return v.dim;
    }
    case Form::prefix:
      if (s.text == "not") break;
      if (auto x = dimension(s[0])) return s.text == "-" ? Dim(0) - *x : *x;
      return {};
    case Form::chain: {
      auto left = dimension(s[0]);
      for (std::size_t i = 1; i < s.size(); ++i) {
        const std::string& o = s[i].text;
        auto right = dimension(s[i][0]);
        if (!left || !right) {
          left.reset();
          continue;
        }
        if (o == "+")
          left = *left + *right;
        else if (o == "-")
          left = *left - *right;
        else if (o == "*")
          left = *left * *right;
        else if (o == "/" || o == "//" || o == "%")
          left = divided(s, *left, o, *right);
        else {
          error({span(s), "a dimension takes + - * / // and %", ""});
          left.reset();
        }
      }
      return left;
    }
    case Form::call:
      if (s.text == "len") return length(s, Manner{}).dim;
      break;
    default: break;
  }
  if (!s.is(Form::error)) error({span(s), "expected a whole number or a dimension", ""});
  return {};
}

std::optional<std::int64_t> Lowering::integer(const Syntax& s, const char* what) {
  auto d = dimension(s);
  if (!d) return {};
  if (d->is_number()) return d->value();
  if (concrete_) error({span(s), std::string(what) + " has to be a whole number", ""});
  return {};  // comes with the call
}

}  // namespace erx
