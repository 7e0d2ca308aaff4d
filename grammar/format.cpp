// Canonical layout: spaces between tokens, indentation by brackets, the writer's own line breaks and comments kept.
#include <algorithm>

#include "grammar/program.hpp"
#include "grammar/scan.hpp"

namespace erx {
namespace {

bool is_any(std::string_view w, std::initializer_list<std::string_view> of) { return std::find(of.begin(), of.end(), w) != of.end(); }

class Layout {
 public:
  explicit Layout(const Source& source) : text_(source.text), tokens_(tokens_of(source.text)) {}

  std::string run() {
    std::size_t i = 0;
    int blank = 0;
    while (i < tokens_.size()) {
      std::size_t end = i;
      while (end < tokens_.size() && tokens_[end].kind != TokenKind::newline) ++end;
      if (end == i) {
        ++blank;
      } else {
        if (blank > 0 && !out_.empty()) out_ += '\n';  // one blank line at most, none at the start
        blank = 0;
        line(i, end);
      }
      i = end + 1;
    }
    return std::move(out_);
  }

 private:
  struct Open {
    char bracket;
    int indent;
    std::size_t column;   // its token
    std::size_t written;  // where it stood in the writer's line, and where it stands now
    std::size_t now;
  };

  std::string_view word(std::size_t i) const { return std::string_view(text_).substr(tokens_[i].begin, tokens_[i].end - tokens_[i].begin); }
  bool is(std::size_t i, std::string_view w) const { return tokens_[i].kind == TokenKind::punctuation && word(i) == w; }

  void line(std::size_t begin, std::size_t end) {
    // A line that starts with a closer stands where its opener's line does.
    const bool closes = tokens_[begin].kind == TokenKind::punctuation && is_any(word(begin), {")", "]", "}"}) && !open_.empty();
    int indent = open_.empty() ? 0 : closes ? open_.back().indent : open_.back().indent + 2;
    const bool is_comment = tokens_[begin].kind == TokenKind::comment;
    if (!is_comment && !closes && continues_ && (open_.empty() || open_.back().bracket == '{')) indent += 2;
    // A line that the writer put under the first word in the bracket stays there.
    if (!closes && !open_.empty() && open_.back().bracket != '{' && written_column(begin) == open_.back().written + 1) {
      indent = static_cast<int>(open_.back().now + 1);
    }
    indent_ = indent;
    std::string text(static_cast<std::size_t>(indent), ' ');
    for (std::size_t k = begin; k < end; ++k) {
      if (k > begin) text += tokens_[k].kind == TokenKind::comment ? comment_gap(k) : gap(k - 1, k) ? aligned(k) ? "  " : " " : "";
      std::string_view w = word(k);
      if (tokens_[k].kind == TokenKind::comment) {
        while (!w.empty() && (w.back() == ' ' || w.back() == '\r' || w.back() == '\t')) w.remove_suffix(1);
      }
      const std::size_t now = text.size();
      text += w;
      track(k, now);
    }
    out_ += text + '\n';
    std::size_t last = end;
    while (last > begin && tokens_[last - 1].kind == TokenKind::comment) --last;
    if (last > begin)
      continues_ = tokens_[last - 1].kind == TokenKind::punctuation &&
                   is_any(word(last - 1), {"+", "-", "*", "/", "//", "%", "@", "**", "=", "->", "<=", "<", "==", "!=", ">=", ":"});
    if (last == begin) return;
    if (next_continues(end)) continues_ = true;
  }

  /// `covers` is one letter shorter than `rejects`: a second blank behind it lines their values up.
  bool aligned(std::size_t k) const { return word(k - 1) == "covers" && tokens_[k].begin - tokens_[k - 1].end == 2; }

  std::size_t written_column(std::size_t k) const {
    const std::size_t before = tokens_[k].begin == 0 ? text_.npos : text_.rfind('\n', tokens_[k].begin - 1);
    return tokens_[k].begin - (before == text_.npos ? 0 : before + 1);
  }

  /// Does the next line with something on it start with an operator?
  bool next_continues(std::size_t end) const {
    std::size_t k = end;
    while (k < tokens_.size() && (tokens_[k].kind == TokenKind::newline || tokens_[k].kind == TokenKind::comment)) ++k;
    return k < tokens_.size() && tokens_[k].kind == TokenKind::punctuation &&
           is_any(word(k), {"+", "*", "/", "//", "%", "@", "**", "->", "<=", "<", "==", "!=", ">=", ">"});
  }

  /// The distance the writer gave a comment at the end of a line: two blanks, or more where comments were lined up.
  std::string comment_gap(std::size_t k) const {
    std::size_t blanks = 0;
    for (std::size_t at = tokens_[k].begin; at > 0 && text_[at - 1] == ' '; --at) ++blanks;
    return std::string(std::max<std::size_t>(blanks, 2), ' ');
  }

  void track(std::size_t k, std::size_t now) {
    const Token& t = tokens_[k];
    if (t.kind != TokenKind::punctuation) return;
    const std::string_view w = word(k);
    if (is_any(w, {"(", "[", "{"}) || (w == "<" && is_template(k))) {
      open_.push_back({w[0], indent_, k, written_column(k), now});
    } else if (is_any(w, {")", "]", "}"})) {
      while (!open_.empty() && open_.back().bracket == '<') open_.pop_back();
      if (open_.empty()) return;
      indent_ = open_.back().indent;  // what opens after it belongs to the line where it opened
      open_.pop_back();
    } else if (w == ">" && !open_.empty() && open_.back().bracket == '<') {
      indent_ = open_.back().indent;
      open_.pop_back();
      closed_template_ = k;
    }
  }

  bool is_template(std::size_t k) const {
    std::size_t p = previous(k);
    if (p == k) return false;
    if (is_head(word(p))) return true;
    std::size_t q = previous(p);
    return tokens_[p].kind == TokenKind::name && q != p && is_any(word(q), {"spec", "fn"});
  }
  std::size_t previous(std::size_t k) const {
    std::size_t p = k;
    while (p > 0) {
      --p;
      if (tokens_[p].kind != TokenKind::newline && tokens_[p].kind != TokenKind::comment) return p;
    }
    return k;
  }

  /// `sum(x where (m))`, not the function where(m, x, y): something stands before it.
  bool masks(std::size_t k) const {
    const std::size_t p = previous(k);
    return p != k &&
           (tokens_[p].kind == TokenKind::number ||
            (tokens_[p].kind == TokenKind::name && !is_any(word(p), {"return", "and", "or", "not"})) || is_any(word(p), {")", "]"}));
  }

  /// Is the operator at k a sign, with nothing on its left to act on?
  bool is_sign(std::size_t k) const {
    if (!is(k, "-") && !is(k, "+")) return false;
    const std::size_t p = previous(k);
    if (p == k) return true;
    if (tokens_[p].kind == TokenKind::number || tokens_[p].kind == TokenKind::string) return false;
    if (tokens_[p].kind == TokenKind::name)
      return is_any(word(p), {"return", "in", "and", "or", "not", "covers", "rejects", "assume", "where"});
    return !is_any(word(p), {")", "]", "}"});
  }

  bool gap(std::size_t a, std::size_t b) const {
    const std::string_view x = word(a), y = word(b);
    const bool px = tokens_[a].kind == TokenKind::punctuation, py = tokens_[b].kind == TokenKind::punctuation;
    if (px && is_any(x, {"(", "["})) return false;
    if (py && is_any(y, {")", "]", ",", ";"})) return false;
    if (px && is_any(x, {",", ";"})) return true;
    if (px && x == "{") return !(py && y == "}") && !in_set(b);
    if (py && y == "}") return !in_set(b);
    if (py && y == "{") return !(px && is_any(x, {"(", "<", "["}));
    if (px && (x == "." || x == "...")) return false;
    if (py && y == ".") return false;
    if (py && y == "..") return false;
    if (px && x == "..") return false;
    const bool template_open = !open_.empty() && open_.back().bracket == '<';
    if (px && x == "<" && template_open && open_.back().column == a) return false;
    if (py && y == "<" && is_template(b)) return false;
    if (py && y == ">" && template_open) return false;
    if (px && x == ">" && closed_template_ == a) return !(py && is_any(y, {"(", "["}));
    if (py && y == "=") return !keyword_equals(b);
    if (px && x == "=") return !keyword_equals(a);
    if (px && x == ":") return !in_index(a);
    if (py && y == ":") return false;
    if (px && (x == "-" || x == "+") && is_sign(a)) return false;
    if (px && x == "**") return false;
    if (py && y == "**") return false;
    if (py && (y == "(" || y == "[")) {
      if (x == "where") return masks(a);
      if (tokens_[a].kind == TokenKind::name)
        return is_any(x, {"return", "let", "in", "and", "or", "not", "covers", "rejects", "assume", "where", "over", "fold", "next"});
      return px && !is_any(x, {")", "]", "}"});
    }
    return true;
  }

  /// `axis=1` in a call or between < and >; `x = 1` in a parameter list that says types, and everywhere else.
  bool keyword_equals(std::size_t k) const {
    if (open_.empty() || open_.back().bracket == '{') {
      // the options of an `in`
      for (std::size_t p = k; p-- > 0 && tokens_[p].kind != TokenKind::newline;) {
        if (tokens_[p].kind == TokenKind::punctuation && is_any(word(p), {"{", "}", "(", ")", ";"})) return false;
        if (word(p) == "in") return true;
        if (word(p) == "let") return false;
      }
      return false;
    }
    if (word(previous(open_.back().column)) == "fold") return false;  // a state, not an argument
    if (open_.back().bracket == '(' || open_.back().bracket == '<') {
      for (std::size_t p = k; p-- > 0 && p > open_.back().column;) {
        if (tokens_[p].kind == TokenKind::punctuation && word(p) == ":") return false;
        if (tokens_[p].kind == TokenKind::punctuation && word(p) == ",") break;
      }
      return true;
    }
    return false;
  }
  bool in_index(std::size_t) const { return !open_.empty() && open_.back().bracket == '['; }
  bool in_set(std::size_t) const {
    // A set of numbers stands in a call, between < and >, or behind `choose s in`; a block never directly does.
    if (!open_.empty() && open_.back().bracket == '{' && chooses(open_.back().column)) return true;
    return open_.size() > 1 && open_.back().bracket == '{' && open_[open_.size() - 2].bracket != '{' && set_at(open_.back().column);
  }
  bool chooses(std::size_t brace) const {
    const std::size_t in = previous(brace), name = previous(in), choose = previous(name);
    return in != brace && name != in && choose != name && word(in) == "in" && word(choose) == "choose";
  }
  bool set_at(std::size_t brace) const {
    const std::size_t p = previous(brace);
    return p != brace && is_any(word(p), {"(", ",", "<", "="});
  }

  const std::string& text_;
  std::vector<Token> tokens_;
  std::vector<Open> open_;
  std::string out_;
  int indent_ = 0;
  bool continues_ = false;
  std::size_t closed_template_ = static_cast<std::size_t>(-1);
};

}  // namespace

std::string format_source(const Source& source) { return Layout(source).run(); }

}  // namespace erx
