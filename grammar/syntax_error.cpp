#include "grammar/syntax_error.hpp"

#include <cctype>

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
    add({span, "unexpected " + found(span), "expected an operator, a newline or `;`"});
    return;
  }
  Diagnostic d{span, "expected " + expected + ", found " + found(span), "expected " + expected};
  const std::string_view word = span.text();
  const bool wants_name = expected.find("name") != expected.npos || expected.find("parameter") != expected.npos;
  if (wants_name && is_reserved(word)) {
    std::move(d).note({}, "`" + std::string(word) + "` is a word of the language and names nothing else");
  } else if (expected == "`<` with a format") {
    std::move(d).note({}, "a rounding says its format between < and >, as in round<bf16>(x)");
  } else if (expected == "`=`" && word == "==") {
    std::move(d).suggest(span, "=");
  } else if (word == "<" || word == ">") {
    std::move(d).note({}, "only heads such as round<bf16>(x) take < and >");
  }
  add(std::move(d));
}

void SyntaxErrors::report_rest(const char* at) {
  const Span span = token_at(at);
  if (span.text() == "=") {
    add(Diagnostic{span, "unexpected `=`", "here a value ends"}.note({}, "`==` compares; `let name = value` needs a spec around it"));
    return;
  }
  add(Diagnostic{span, "unexpected " + found(span), "expected an operator or the end"});
}

void SyntaxErrors::check_separators(const Syntax& s) {
  if (s.is(Form::block)) {
    for (std::size_t i = 1; i < s.size(); ++i) {
      const Syntax &before = s[i - 1], &after = s[i];
      if (before.is(Form::error) || after.is(Form::error)) continue;
      const std::string_view between = std::string_view(text_).substr(before.end, after.begin - before.end);
      if (between.find_first_of("\n\f;") != std::string_view::npos) continue;
      const Span span = token_at(text_.data() + after.begin);
      add({span, "unexpected " + found(span), "expected an operator, a newline or `;`"});
    }
  }
  for (const Syntax& c : s.children) check_separators(c);
}

}  // namespace erx
