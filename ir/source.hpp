// A text that a user wrote, and a place in it.
// Spans are half-open byte ranges and keep their source alive, so a diagnostic can be shown long after parsing.
//   Span s{source, 4, 9};  s.text() == "alpha"
#pragma once
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

namespace erx {

struct Source {
  std::string name;  // as the user wrote it: a path, "<stdin>", "<string>"
  std::string text;
};

struct Span {
  std::shared_ptr<const Source> source;
  std::uint32_t begin = 0;
  std::uint32_t end = 0;

  explicit operator bool() const { return source != nullptr; }
  std::string_view text() const {
    return source ? std::string_view(source->text).substr(begin, end - begin) : std::string_view();
  }
};

struct Position {
  std::size_t line;    // from 1
  std::size_t column;  // from 1, in characters (UTF-8 code points)
};

/// Line and column of a byte offset of `source`.
Position position_of(const Source& source, std::size_t offset);

}  // namespace erx
