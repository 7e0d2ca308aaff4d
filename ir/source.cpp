#include "ir/source.hpp"

#include <algorithm>

namespace erx {

Position position_of(const Source& source, std::size_t offset) {
  const std::string_view text = source.text;
  offset = std::min(offset, text.size());
  Position p{1, 1};
  for (std::size_t i = 0; i < offset; ++i) {
    const auto byte = static_cast<unsigned char>(text[i]);
    if (byte == '\n') {
      ++p.line;
      p.column = 1;
    } else if ((byte & 0xc0) != 0x80) {  // continuation bytes belong to the character before
      ++p.column;
    }
  }
  // An offset inside a character names that character.
  if (offset < text.size() && (static_cast<unsigned char>(text[offset]) & 0xc0) == 0x80 && p.column > 1) --p.column;
  return p;
}

}  // namespace erx
