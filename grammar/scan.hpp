// The tokens of a text, and what has to be known before parsing: how brackets nest, where items start, which newlines count.
// A newline counts (separates statements) only directly inside `{ }`; in brackets of any other kind, and between items, it is space.
//   Scan s = scan(source);  s.text has the length of the source, comments blanked, newlines that do not count as '\f'
#pragma once
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "ir/error.hpp"

namespace erx {

enum class TokenKind { name, number, string, punctuation, comment, newline };

struct Token {
  TokenKind kind;
  std::uint32_t begin, end;
};

/// Every token of `text`; nothing is refused here. Operators of two characters (`->`, `**`, `//`, `<=`, `==` ...) are one token.
std::vector<Token> tokens_of(std::string_view text);

/// Words that start statements or items, the heads with template brackets, and the words among operators.
std::vector<std::string_view> reserved_words();
bool is_reserved(std::string_view word);
bool is_head(std::string_view word);
bool is_item_word(std::string_view word);

struct Scan {
  std::string text;
  std::vector<std::pair<std::uint32_t, std::uint32_t>> items;  // byte ranges; empty for a bare expression
  std::vector<Diagnostic> errors;
};

constexpr int max_depth = 200;

Scan scan(const std::shared_ptr<const Source>& source);

}  // namespace erx
