// What went wrong, told to the user: where, what, why, and how to fix it.
// `Error` is the user's mistake and carries every diagnostic found; `Bug` is ours. Libraries never print or exit.
//   throw Error(Diagnostic{span, "unknown name 'alhpa'", "not defined here"}.note(decl, "...").suggest(span, "alpha"));
#pragma once
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

#include "ir/source.hpp"

namespace erx {

enum class Severity { error, warning };

struct Note {
  Span span;  // may be empty: then only the text is shown
  std::string text;
};

/// A replacement of `span` after which the text compiles (an empty span range inserts).
struct Fix {
  Span span;
  std::string replacement;
};

struct Diagnostic {
  Span span;          // may be empty (a wrong call from Python or the command line has no place in a text)
  std::string what;   // one sentence, no full stop
  std::string label;  // shown beside the caret; may be empty
  std::vector<Note> notes = {};
  std::optional<Fix> fix = {};
  Severity severity = Severity::error;

  Diagnostic&& note(Span where, std::string text) &&;
  Diagnostic&& suggest(Span where, std::string replacement) &&;
};

/// The diagnostic as text, like rustc: "error: what", " --> file:line:column", the line, a caret under the span, notes,
/// and a "help:" line with the suggested replacement.
std::string render(const Diagnostic&);
std::string render(const std::vector<Diagnostic>&);

/// The text of `source` after applying `fix`.
std::string apply_fix(const Fix& fix);

class Error : public std::runtime_error {
 public:
  explicit Error(Diagnostic d);
  explicit Error(std::vector<Diagnostic> all);
  explicit Error(std::string what);  // without a place
  std::vector<Diagnostic> diagnostics;
};

class Bug : public std::logic_error {
  using std::logic_error::logic_error;
};

/// The candidate nearest to `word` (edit distance at most about a third of its length), or "" if none is near.
std::string did_you_mean(std::string_view word, const std::vector<std::string>& candidates);

}  // namespace erx
