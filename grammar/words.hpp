// Small facts about the words of expressions that several parts of lowering and printing share.
//   operator_of("-", 2) is the row of sub, operator_of("-", 1) the row of neg
#pragma once
#include <optional>
#include <string>
#include <string_view>

#include "ops/op.hpp"

namespace erx {

/// The row written with this operator and number of operands, or nullptr.
const Op* operator_of(std::string_view symbol, int operands);
bool is_comparison(std::string_view symbol);

/// Every word that means something to the language, by kind, for editors: item, statement, operator, head, function, constant, type,
/// format, option.
struct WordList {
  std::string kind;
  std::vector<std::string> words;
};
std::vector<WordList> all_words();

/// "1 argument", "2 arguments"
std::string plural(std::size_t n, const char* what);

/// a / b where the result is a formula of dimensions: b has to be a number. `floors`: 7 // 2 is 3.
std::optional<Dim> quotient(const Dim& a, const Dim& b, bool floors);

/// A number as the grammar reads it, hexadecimal ones as decimals; `mistake` where it is beyond the limits.
struct WrittenNumber {
  std::string text;
  const char* mistake = nullptr;
  const char* label = "";
};
WrittenNumber written_number(const std::string& text);

/// Is the number written as `text` a value of the format, exactly?
bool holds_literal(const Format&, const std::string& text);

}  // namespace erx
