#include "grammar/syntax_error.hpp"

#include <cctype>

#include "grammar/foreign.hpp"
#include "grammar/scan.hpp"

namespace erx {

Span SyntaxErrors::token_at(const char* at) const {
  std::size_t i = static_cast<std::size_t>(at - text_.data());
  while (i < text_.size() && std::isspace(static_cast<unsigned char>(text_[i]))) ++i;
  if (i >= text_.size()) {
    // Point behind the last thing written, not at the end of trailing blank lines.
    std::size_t end = text_.size();
    while (end > 0 && std::isspace(static_cast<unsigned char>(text_[end - 1]))) --end;
    return {source_, static_cast<std::uint32_t>(end), static_cast<std::uint32_t>(end)};
  }
  // Only the start of the text is looked at: a token is short.
  const auto tokens = tokens_of(std::string_view(text_).substr(i, 256));
  const auto length = tokens.empty() ? 1 : tokens.front().end - tokens.front().begin;
  return {source_, static_cast<std::uint32_t>(i), static_cast<std::uint32_t>(i + length)};
}

std::string SyntaxErrors::found(const Span& span) const {
  if (span.begin == span.end) return "the end of the text";
  return "`" + std::string(span.text()) + "`";
}

void SyntaxErrors::add(Diagnostic d) {
  for (const auto& e : errors_) {
    if (e.span.begin == d.span.begin && e.what == d.what) return;
  }
  errors_.push_back(std::move(d));
}

/// Is there something before the place on its own line that a statement could go on from?
bool SyntaxErrors::continues(const Span& span) const {
  std::size_t i = span.begin;
  while (i > 0 && (text_[i - 1] == ' ' || text_[i - 1] == '\t')) --i;
  return i > 0 && text_[i - 1] != '\n' && text_[i - 1] != '{' && text_[i - 1] != ';';
}

void SyntaxErrors::report(const char* at, const std::string& expected) {
  const Span span = token_at(at);
  if (expected.rfind("a statement", 0) == 0 && continues(span)) {
    add(with_foreign({span, "unexpected " + found(span), "expected an operator, a newline or `;`"}));
    return;
  }
  if (expected.rfind("an expression", 0) == 0 && !span.text().empty() && std::isdigit(static_cast<unsigned char>(span.text()[0]))) {
    std::size_t end = span.end;  // 1e-3f
    while (end < text_.size() && (std::isalnum(static_cast<unsigned char>(text_[end])) || text_[end] == '_')) ++end;
    const Span whole{source_, span.begin, static_cast<std::uint32_t>(end)};
    if (end > span.end) return add(Diagnostic{whole, "`" + std::string(whole.text()) + "` is not a number", "a number is exact and has no letters behind it"}.suggest(whole, std::string(span.text())));
  }
  Diagnostic d{span, "expected " + expected + ", found " + found(span), "expected " + expected};
  const std::string_view word = span.text();
  const bool wants_name = expected.find("name") != expected.npos || expected.find("parameter") != expected.npos;
  if (wants_name && is_reserved(word)) {
    std::move(d).note({}, "`" + std::string(word) + "` is a word of the language and names nothing else");
  } else if (expected == "`<` with a format" && word_before(span) == "float") {
    std::move(d).note({}, "float<e=8, m=10> is a format by its numbers; f32 is a named one, and `real` an exact number");
  } else if (expected == "`<` with a format") {
    const std::string_view head = word_before(span);
    const bool is_of_integers = head == "cast" || head == "wrap" || head == "saturate";
    if (is_of_integers) d.what = "expected `<` with a type of integers, found " + found(span);
    if (is_of_integers) d.label = "expected `<` with a type of integers";
    std::move(d).note({}, is_of_integers ? "the type stands between < and >, as in " + std::string(head) + "<i32>(x)"
                                         : "a rounding says its format between < and >, as in " +
                                               (head == "approx" ? "approx<f32, ulp=2>" : std::string(head.empty() ? "round" : head) + "<f32>") + "(x)");
  } else if (expected == "`=`" && word == ":") {
    std::move(d).note({}, "a name has the type of its value: let y = f32(x)");
  } else if (expected == "`:` and a type") {
    std::move(d).note({}, "inputs and several results are written as name: type, as in (x: f32[N], eps: real = 1e-6)");
  } else if (expected == "`{`" && (word == "contract" || word == "ftz" || word == "daz" || word == "ulp")) {
    std::move(d).note({}, "a comma stands before it, as in `in f32, contract { .. }`");
  } else if (expected == "`=`" && word == "==") {
    std::move(d).suggest(span, "=");
  } else if (word == "<" || word == ">") {
    std::move(d).note({}, "only heads such as round<bf16>(x) take < and >");
  }
  add(with_foreign(std::move(d)));
}

std::string_view SyntaxErrors::word_before(const Span& span) const {
  std::size_t end = span.begin;
  while (end > 0 && std::isspace(static_cast<unsigned char>(text_[end - 1]))) --end;
  std::size_t begin = end;
  while (begin > 0 && (std::isalnum(static_cast<unsigned char>(text_[begin - 1])) || text_[begin - 1] == '_')) --begin;
  return std::string_view(text_).substr(begin, end - begin);
}

/// What the sign or word is here, or what was most likely meant.
Diagnostic SyntaxErrors::with_foreign(Diagnostic d) const {
  Span at = d.span;
  if (at.begin == at.end || !d.notes.empty()) return d;
  const std::string_view rest = std::string_view(text_).substr(at.begin);
  if (rest.starts_with("&&") || rest.starts_with("||")) at.end = at.begin + 2;
  if (tell_foreign(d, rest.substr(0, at.end - at.begin), at)) return d;
  if (rest.starts_with("//")) std::move(d).note({}, "a comment starts with `#`");
  if (rest.starts_with(",")) std::move(d).note({}, "several values are a tuple, in parentheses: (a, b)");
  if (rest.starts_with("=") && !rest.starts_with("==")) std::move(d).note({}, "`let name = value` names a value");
  return d;
}

void SyntaxErrors::report_rest(const char* at) {
  const Span span = token_at(at);
  if (span.text() == "=") {
    add(Diagnostic{span, "unexpected `=`", "here a value ends"}.note({}, "`==` compares; `let name = value` needs a spec around it"));
    return;
  }
  add(with_foreign({span, "unexpected " + found(span), "expected an operator or the end"}));
}

void SyntaxErrors::check_separators(const Syntax& s) {
  if (s.is(Form::block)) {
    for (std::size_t i = 1; i < s.size(); ++i) {
      const Syntax &before = s[i - 1], &after = s[i];
      if (before.is(Form::error) || after.is(Form::error)) continue;
      const std::string_view between = std::string_view(text_).substr(before.end, after.begin - before.end);
      if (between.find_first_of("\n\f;") != std::string_view::npos) continue;
      const Span span = token_at(text_.data() + after.begin);
      add(with_foreign({span, "unexpected " + found(span), "expected an operator, a newline or `;`"}));
    }
  }
  for (const Syntax& c : s.children) check_separators(c);
}

}  // namespace erx
