// A place where the text does not go on as expected, told in the words of the language.
//   errors.report(at, "`)`")   ->   expected `)`, found `]`
#pragma once
#include <string>
#include <vector>

#include "grammar/ast.hpp"
#include "ir/error.hpp"

namespace erx {

class SyntaxErrors {
 public:
  /// `text` is the scanned text, of the length of the source.
  SyntaxErrors(const std::shared_ptr<const Source>& source, const std::string& text, std::vector<Diagnostic>& errors)
      : source_(source), text_(text), errors_(errors) {}

  void report(const char* at, const std::string& expected);
  void report_rest(const char* at);      // an expression or item has ended, and something follows
  void check_separators(const Syntax&);  // statements of one block are separated by a newline or `;`

 private:
  Span token_at(const char* at) const;
  std::string found(const Span&) const;
  bool continues(const Span&) const;
  Diagnostic with_foreign(Diagnostic) const;
  std::string_view word_before(const Span&) const;
  void add(Diagnostic);

  const std::shared_ptr<const Source>& source_;
  const std::string& text_;
  std::vector<Diagnostic>& errors_;
};

}  // namespace erx
