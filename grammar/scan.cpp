#include "grammar/scan.hpp"

#include <algorithm>
#include <array>
#include <cctype>

namespace erx {
namespace {

bool starts_name(char c) { return std::isalpha(static_cast<unsigned char>(c)) || c == '_'; }
bool in_name(char c) { return std::isalnum(static_cast<unsigned char>(c)) || c == '_'; }
bool is_digit(char c) { return c >= '0' && c <= '9'; }

constexpr std::array<std::string_view, 18> statement_words = {"import", "format", "fn",      "spec",   "example", "let",
                                                              "return", "assume", "in",      "choose", "fold",    "over",
                                                              "next",   "covers", "rejects", "and",    "or",      "not"};
constexpr std::array<std::string_view, 11> heads = {"round", "acc",  "approx",   "within",  "any_of", "scan",
                                                    "cast",  "wrap", "saturate", "complex", "float"};

std::size_t number_end(std::string_view t, std::size_t i) {
  const std::size_t n = t.size();
  if (t[i] == '0' && i + 1 < n && (t[i + 1] == 'x' || t[i + 1] == 'X')) {
    i += 2;
    while (i < n && (std::isxdigit(static_cast<unsigned char>(t[i])) || t[i] == '.' || t[i] == 'p' || t[i] == 'P' ||
                     ((t[i] == '-' || t[i] == '+') && (t[i - 1] == 'p' || t[i - 1] == 'P')))) {
      ++i;
    }
    return i;
  }
  while (i < n && is_digit(t[i])) ++i;
  if (i < n && t[i] == '.' && !(i + 1 < n && t[i + 1] == '.')) {
    ++i;
    while (i < n && is_digit(t[i])) ++i;
  }
  if (i < n && (t[i] == 'e' || t[i] == 'E')) {
    std::size_t j = i + 1;
    if (j < n && (t[j] == '+' || t[j] == '-')) ++j;
    if (j < n && is_digit(t[j])) {
      while (j < n && is_digit(t[j])) ++j;
      i = j;
    }
  }
  return i;
}

std::size_t punctuation_end(std::string_view t, std::size_t i) {
  static constexpr std::array<std::string_view, 9> doubles = {"->", "**", "//", "<=", ">=", "==", "!=", "..", "::"};
  if (t.substr(i, 3) == "...") return i + 3;
  for (auto d : doubles) {
    if (d != "::" && t.substr(i, 2) == d) return i + 2;
  }
  // A character outside ASCII is one token, however many bytes it takes.
  std::size_t j = i + 1;
  while (j < t.size() && (static_cast<unsigned char>(t[j]) & 0xC0) == 0x80) ++j;
  return j;
}

char closer_of(char open) { return open == '(' ? ')' : open == '[' ? ']' : open == '{' ? '}' : '>'; }

}  // namespace

std::vector<std::string_view> reserved_words() {
  std::vector<std::string_view> all(statement_words.begin(), statement_words.end());
  all.insert(all.end(), heads.begin(), heads.end());
  return all;
}
bool is_reserved(std::string_view word) {
  return is_head(word) || std::find(statement_words.begin(), statement_words.end(), word) != statement_words.end();
}
bool is_head(std::string_view word) { return std::find(heads.begin(), heads.end(), word) != heads.end(); }
bool is_item_word(std::string_view word) {
  return word == "spec" || word == "fn" || word == "example" || word == "format" || word == "import";
}

std::vector<Token> tokens_of(std::string_view t) {
  std::vector<Token> tokens;
  std::size_t i = 0;
  const std::size_t n = t.size();
  auto push = [&](TokenKind kind, std::size_t end) {
    tokens.push_back({kind, static_cast<std::uint32_t>(i), static_cast<std::uint32_t>(end)});
    i = end;
  };
  if (t.substr(0, 3) == "\xEF\xBB\xBF") i = 3;  // a byte order mark
  while (i < n) {
    const char c = t[i];
    if (c == '\n') {
      push(TokenKind::newline, i + 1);
    } else if (c == ' ' || c == '\t' || c == '\r' || c == '\f' || c == '\v') {
      ++i;
    } else if (c == '#') {
      push(TokenKind::comment, std::min(t.find('\n', i), n));
    } else if (c == '"') {
      std::size_t j = i + 1;
      while (j < n && t[j] != '"' && t[j] != '\n') j += t[j] == '\\' && j + 1 < n && t[j + 1] != '\n' ? 2 : 1;
      push(TokenKind::string, j < n && t[j] == '"' ? j + 1 : j);
    } else if (starts_name(c)) {
      std::size_t j = i + 1;
      while (j < n && in_name(t[j])) ++j;
      push(TokenKind::name, j);
    } else if (is_digit(c) || (c == '.' && i + 1 < n && is_digit(t[i + 1]))) {
      push(TokenKind::number, number_end(t, i));
    } else {
      push(TokenKind::punctuation, punctuation_end(t, i));
    }
  }
  return tokens;
}

namespace {

/// Follows the brackets of one text.
class Scanner {
 public:
  explicit Scanner(const std::shared_ptr<const Source>& source) : source_(source), text_(source->text) {}

  Scan run() {
    scan_.text = source_->text;
    if (scan_.text.substr(0, 3) == "\xEF\xBB\xBF") scan_.text.replace(0, 3, "   ");
    for (char& c : scan_.text) {
      if (c == '\f' || c == '\v' || c == '\r' || c == '\0') c = ' ';
    }
    const auto tokens = tokens_of(text_);
    for (std::size_t i = 0; i < tokens.size() && !too_deep_; ++i) step(tokens, i);
    if (!too_deep_) {
      for (const auto& open : open_) report_unclosed(open);
    }
    close_item(static_cast<std::uint32_t>(text_.size()));
    return std::move(scan_);
  }

 private:
  struct Open {
    char bracket;
    Token token;
    int signs;  // of the level around it
  };

  /// Signs, `not` and `**` nest to the right without brackets.
  void count_signs(const std::vector<Token>& tokens, std::size_t i, std::string_view w) {
    const bool after_operand =
        has_previous_ && (tokens[previous_].kind == TokenKind::name ? !is_reserved(word(tokens[previous_]))
                          : tokens[previous_].kind == TokenKind::punctuation
                              ? word(tokens[previous_]) == ")" || word(tokens[previous_]) == "]" || word(tokens[previous_]) == "}"
                              : true);
    if (w == "**" || w == "not" || ((w == "-" || w == "+") && !after_operand)) {
      ++signs_;
      check_depth(tokens[i]);
    } else if (tokens[i].kind == TokenKind::punctuation || w == "and" || w == "or") {
      signs_ = 0;
    }
  }

  void check_depth(const Token& t) {
    int depth = signs_ + static_cast<int>(open_.size());
    for (const Open& o : open_) depth += o.signs;
    if (depth <= max_depth || too_deep_) return;
    scan_.errors.push_back({span(t), "this nests more than " + std::to_string(max_depth) + " deep", "too deep here"});
    too_deep_ = true;
  }

  std::string_view word(const Token& t) const { return text_.substr(t.begin, t.end - t.begin); }
  Span span(const Token& t) const { return {source_, t.begin, t.end}; }

  void step(const std::vector<Token>& tokens, std::size_t i) {
    const Token& t = tokens[i];
    const std::string_view w = word(t);
    switch (t.kind) {
      case TokenKind::comment: std::fill(scan_.text.begin() + t.begin, scan_.text.begin() + t.end, ' '); return;
      case TokenKind::newline:
        if (open_.empty() || open_.back().bracket != '{') scan_.text[t.begin] = '\f';
        line_start_ = true;
        return;
      case TokenKind::string:
        if (w.size() < 2 || w.back() != '"') {
          scan_.errors.push_back({span(t), "this text has no closing `\"`", "on this line"});
        }
        break;
      case TokenKind::name:
        if (is_item_word(w) && starts_item(tokens, i)) {
          for (const auto& open : open_) report_unclosed(open);
          open_.clear();
          signs_ = 0;
          close_item(t.begin);
          item_ = t.begin;
          in_items_ = true;
        }
        count_signs(tokens, i, w);
        break;
      case TokenKind::punctuation: bracket(tokens, i, w); break;
      case TokenKind::number: break;
    }
    line_start_ = false;
    previous_ = i;
    has_previous_ = true;
  }

  /// An item word at the left margin starts an item even where a bracket is still open: that bracket is the mistake.
  bool starts_item(const std::vector<Token>& tokens, std::size_t i) const {
    const bool margin = tokens[i].begin == 0 || text_[tokens[i].begin - 1] == '\n';
    if (!open_.empty()) return margin && line_start_;
    if (!has_previous_) return true;
    const std::string_view before = word(tokens[previous_]);
    return line_start_ || before == "}" || before == ";";
  }

  void bracket(const std::vector<Token>& tokens, std::size_t i, std::string_view w) {
    const Token& t = tokens[i];
    const char c = w.size() == 1 ? w[0] : '\0';
    if (c == '(' || c == '[' || c == '{' || (c == '<' && opens_template(tokens, i))) {
      open_.push_back({c, t, signs_});
      signs_ = 0;
      check_depth(t);
      return;
    }
    if (c == '>' && !open_.empty() && open_.back().bracket == '<') {
      close();
      return;
    }
    if (c != ')' && c != ']' && c != '}') {
      count_signs(tokens, i, w);
      return;
    }
    while (!open_.empty() && open_.back().bracket == '<') close();  // the parser says what is missing
    if (open_.empty()) {
      scan_.errors.push_back({span(t), std::string("`") + c + "` closes nothing", "no bracket is open here"});
      return;
    }
    if (closer_of(open_.back().bracket) == c) {
      close();
      return;
    }
    scan_.errors.push_back(
        Diagnostic{span(t), std::string("expected `") + closer_of(open_.back().bracket) + "`, found `" + c + "`", ""}.note(
            span(open_.back().token), "the bracket that is open"));
    // The closer most likely belongs to an outer bracket, if there is one of its kind.
    auto match = std::find_if(open_.rbegin(), open_.rend(), [&](const Open& o) { return closer_of(o.bracket) == c; });
    const std::size_t keep = match == open_.rend() ? open_.size() - 1 : static_cast<std::size_t>(match.base() - open_.begin()) - 1;
    while (open_.size() > keep) close();
  }

  void close() {
    signs_ = open_.back().signs;
    open_.pop_back();
  }

  bool opens_template(const std::vector<Token>& tokens, std::size_t i) const {
    if (!has_previous_) return false;
    if (is_head(word(tokens[previous_]))) return true;
    if (tokens[previous_].kind != TokenKind::name || previous_ == 0) return false;
    const std::string_view before = word(tokens[previous_ - 1]);
    return i > 0 && (before == "spec" || before == "fn");
  }

  void report_unclosed(const Open& open) {
    if (open.bracket == '<') return;  // the parser says it better
    scan_.errors.push_back({span(open.token), std::string("this `") + open.bracket + "` is never closed", ""});
  }

  void close_item(std::uint32_t end) {
    if (in_items_) {
      scan_.items.push_back({item_, end});
    } else if (end < text_.size() && has_previous_) {
      scan_.items.push_back({0, end});  // something before the first item: the parser will say what it thinks of it
    }
  }

  const std::shared_ptr<const Source>& source_;
  std::string_view text_;
  Scan scan_;
  std::vector<Open> open_;
  std::uint32_t item_ = 0;
  std::size_t previous_ = 0;
  int signs_ = 0;
  bool in_items_ = false, line_start_ = true, has_previous_ = false, too_deep_ = false;
};

}  // namespace

Scan scan(const std::shared_ptr<const Source>& source) { return Scanner(source).run(); }

}  // namespace erx
