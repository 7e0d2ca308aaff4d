#include <algorithm>

#include "grammar/subscripts.hpp"

namespace erx {
namespace {

using Place = std::function<Span(std::size_t, std::size_t)>;

/// One list of letters; blanks are skipped, `...` becomes '.'.
std::string letters_of(const std::string& text, std::size_t first, std::size_t last, const Place& place) {
  std::string letters;
  for (std::size_t i = first; i < last; ++i) {
    const char c = text[i];
    if (c == ' ') continue;
    if (c == '.') {
      if (i + 3 > last || text.compare(i, 3, "...") != 0) throw Error(Diagnostic{place(i, i + 1), "a `.` stands only in `...`", ""});
      if (letters.find('.') != letters.npos) throw Error(Diagnostic{place(i, i + 3), "an operand has one `...`", ""});
      letters += '.';
      i += 2;
      continue;
    }
    const bool is_letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
    if (!is_letter) {
      Diagnostic d{place(i, i + 1), std::string("`") + c + "` names no axis", "axes are letters"};
      throw Error(std::move(d));
    }
    letters += c;
  }
  return letters;
}

}  // namespace

Subscripts read_subscripts(const std::string& text, std::size_t operands, const Place& place) {
  Subscripts s;
  const std::size_t arrow = text.find("->"), end = arrow == text.npos ? text.size() : arrow;
  for (std::size_t first = 0;;) {
    const std::size_t comma = std::min(text.find(',', first), end);
    s.operands.push_back(letters_of(text, first, comma, place));
    if (comma == end) break;
    first = comma + 1;
  }
  if (s.operands.size() != operands) {
    const auto tensors = [](std::size_t n) { return std::to_string(n) + (n == 1 ? " operand" : " operands"); };
    throw Error(Diagnostic{place(0, text.size()), "these subscripts are of " + tensors(s.operands.size()) + ", and " +
                                                      tensors(operands) + (operands == 1 ? " is given" : " are given"), ""});
  }
  if (arrow == text.npos) return s;
  s.result = letters_of(text, arrow + 2, text.size(), place);
  for (std::size_t i = arrow + 2; i < text.size(); ++i) {
    const char c = text[i];
    if (c == ' ' || c == '.') continue;
    if (std::count(s.result->begin(), s.result->end(), c) > 1)
      throw Error(Diagnostic{place(i, i + 1), std::string("`") + c + "` stands twice in the result", "an axis of the result is named once"});
    const bool known = std::any_of(s.operands.begin(), s.operands.end(), [&](const std::string& o) { return o.find(c) != o.npos; });
    if (!known) throw Error(Diagnostic{place(i, i + 1), std::string("`") + c + "` names no axis of an operand", "only in the result"});
  }
  return s;
}

std::string implicit_result(const Subscripts& s) {
  std::string all, result;
  for (const std::string& o : s.operands) all += o;
  std::string sorted = all;
  std::sort(sorted.begin(), sorted.end());  // '.' is before every letter
  for (char c : sorted)
    if (c == '.' ? result.empty() : std::count(all.begin(), all.end(), c) == 1) result += c;
  return result;
}

}  // namespace erx
