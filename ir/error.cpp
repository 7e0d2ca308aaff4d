#include "ir/error.hpp"

#include <algorithm>
#include <cctype>

namespace erx {
namespace {

std::size_t line_begin(std::string_view text, std::size_t offset) {
  while (offset > 0 && text[offset - 1] != '\n') --offset;
  return offset;
}

/// Text as it is shown: tabs as four spaces, other control characters and lone bytes as '?', one element per character.
std::vector<std::string> shown_characters(std::string_view bytes) {
  std::vector<std::string> out;
  for (std::size_t i = 0; i < bytes.size();) {
    const auto c = static_cast<unsigned char>(bytes[i]);
    std::size_t length = c < 0x80 ? 1 : (c >> 5) == 6 ? 2 : (c >> 4) == 14 ? 3 : (c >> 3) == 30 ? 4 : 0;
    for (std::size_t k = 1; k < length; ++k)
      if (i + k >= bytes.size() || (static_cast<unsigned char>(bytes[i + k]) & 0xc0) != 0x80) length = 0;
    if (c == '\t') {
      out.push_back("    ");
    } else if (length == 0 || c < 0x20 || c == 0x7f) {
      out.push_back("?");
    } else {
      out.emplace_back(bytes.substr(i, length));
    }
    i += std::max<std::size_t>(length, 1);
  }
  return out;
}

std::size_t width_of(const std::vector<std::string>& characters) {
  std::size_t n = 0;
  for (const auto& c : characters) n += c == "    " ? 4 : 1;
  return n;
}

std::string joined(const std::vector<std::string>& characters) {
  std::string s;
  for (const auto& c : characters) s += c;
  return s;
}

/// " --> file:line:column", the line and the carets under `span`.
std::string excerpt(const Span& span, const std::string& label) {
  constexpr std::size_t before = 60, after = 100;  // characters kept of a very long line
  const std::string_view text = span.source->text;
  const std::size_t begin = std::min<std::size_t>(span.begin, text.size());
  const Position at = position_of(*span.source, begin);
  const std::size_t first = line_begin(text, begin);
  std::size_t last = std::min(text.find('\n', begin), text.size());
  if (last > first && text[last - 1] == '\r') --last;
  const std::size_t end = std::clamp<std::size_t>(span.end, std::min(begin, last), last);

  auto left = shown_characters(text.substr(first, std::min(begin, last) - first));
  auto marked = shown_characters(text.substr(std::min(begin, last), end - std::min(begin, last)));
  auto right = shown_characters(text.substr(end, last - end));
  std::string dots_left, dots_right;
  if (left.size() + marked.size() + right.size() > before + after) {
    if (left.size() > before) {
      left.erase(left.begin(), left.end() - before);
      dots_left = "...";
    }
    if (marked.size() > after) marked.resize(after), dots_right = "...";
    const std::size_t room = after - marked.size();
    if (right.size() > room) right.resize(room), dots_right = "...";
  }
  const std::string number = std::to_string(at.line);
  const std::string margin(number.size(), ' ');
  std::string out = margin + "--> " + span.source->name + ":" + number + ":" + std::to_string(at.column) + "\n";
  out += margin + " |\n";
  std::string line = number + " | " + dots_left + joined(left) + joined(marked) + joined(right) + dots_right;
  while (line.back() == ' ') line.pop_back();
  out += line + "\n";
  out += margin + " | " + std::string(dots_left.size() + width_of(left), ' ') +
         std::string(std::max<std::size_t>(1, width_of(marked)), '^') + (label.empty() ? "" : " " + label) + "\n";
  return out;
}

std::string quoted(std::string_view s) { return "'" + std::string(s) + "'"; }

std::string help_line(const Fix& fix) {
  const std::string_view old = fix.span.text();
  if (fix.replacement.empty()) return "help: remove " + quoted(old) + "\n";
  if (old.empty()) {
    std::string where;
    if (fix.span) {
      const std::string_view text = fix.span.source->text;
      std::size_t end = fix.span.begin;  // the word or sign that it goes before
      auto is_word = [](char c) { return std::isalnum(static_cast<unsigned char>(c)) || c == '_'; };
      while (end < text.size() && is_word(text[end])) ++end;
      if (end == fix.span.begin && end < text.size() && std::isgraph(static_cast<unsigned char>(text[end]))) ++end;
      if (end > fix.span.begin) where = " before " + quoted(text.substr(fix.span.begin, end - fix.span.begin));
    }
    return "help: insert " + quoted(fix.replacement) + where + "\n";
  }
  if (old.size() > 60 || old.find('\n') != std::string_view::npos) return "help: write " + quoted(fix.replacement) + " instead\n";
  return "help: replace " + quoted(old) + " with " + quoted(fix.replacement) + "\n";
}

/// Edit distance with swaps of neighbours.
std::size_t distance(std::string_view a, std::string_view b) {
  std::vector<std::vector<std::size_t>> d(a.size() + 1, std::vector<std::size_t>(b.size() + 1));
  for (std::size_t i = 0; i <= a.size(); ++i) d[i][0] = i;
  for (std::size_t j = 0; j <= b.size(); ++j) d[0][j] = j;
  for (std::size_t i = 1; i <= a.size(); ++i)
    for (std::size_t j = 1; j <= b.size(); ++j) {
      d[i][j] = std::min({d[i - 1][j] + 1, d[i][j - 1] + 1, d[i - 1][j - 1] + (a[i - 1] != b[j - 1])});
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1]) d[i][j] = std::min(d[i][j], d[i - 2][j - 2] + 1);
    }
  return d[a.size()][b.size()];
}

std::string lower_case(std::string_view s) {
  std::string out(s);
  for (char& c : out) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return out;
}

}  // namespace

Diagnostic&& Diagnostic::note(Span where, std::string text) && {
  notes.push_back({std::move(where), std::move(text)});
  return std::move(*this);
}

Diagnostic&& Diagnostic::suggest(Span where, std::string replacement) && {
  fix = Fix{std::move(where), std::move(replacement)};
  return std::move(*this);
}

std::string render(const Diagnostic& d) {
  std::string out = (d.severity == Severity::error ? "error: " : "warning: ") + d.what + "\n";
  if (d.span) {
    out += excerpt(d.span, d.label);
  } else if (!d.label.empty()) {
    out += "  " + d.label + "\n";
  }
  for (const Note& n : d.notes) {
    out += "note: " + n.text + "\n";
    if (n.span) out += excerpt(n.span, "");
  }
  if (d.fix) out += help_line(*d.fix);
  return out;
}

std::string render(const std::vector<Diagnostic>& all) {
  std::string out;
  for (const Diagnostic& d : all) out += (out.empty() ? "" : "\n") + render(d);
  return out;
}

std::string apply_fix(const Fix& fix) {
  if (!fix.span) throw Bug("a fix without a place");
  std::string text = fix.span.source->text;
  if (fix.span.begin > fix.span.end || fix.span.end > text.size()) throw Bug("a fix outside its text");
  return text.replace(fix.span.begin, fix.span.end - fix.span.begin, fix.replacement);
}

Error::Error(Diagnostic d) : Error(std::vector<Diagnostic>{std::move(d)}) {}

Error::Error(std::vector<Diagnostic> all)
    : std::runtime_error(all.size() == 1 && !all[0].span && all[0].label.empty() && all[0].notes.empty() && !all[0].fix
                             ? all[0].what  // a plain sentence needs no layout
                             : render(all)),
      diagnostics(std::move(all)) {
  if (diagnostics.empty()) throw Bug("an Error without a diagnostic");
}

Error::Error(std::string what) : Error(Diagnostic{.span = {}, .what = std::move(what), .label = {}}) {}

std::string did_you_mean(std::string_view word, const std::vector<std::string>& candidates) {
  const std::size_t limit = std::max<std::size_t>(1, word.size() / 3);
  std::string best;
  std::size_t best_distance = limit + 1;
  for (const std::string& c : candidates) {
    std::size_t d = distance(word, c);
    if (d > 1 && lower_case(word) == lower_case(c)) d = 1;
    const bool related = lower_case(word) == lower_case(c) || d < std::min(word.size(), c.size());  // not "a" for "b"
    if (c != word && related && d < best_distance) best = c, best_distance = d;
  }
  return best;
}

}  // namespace erx
