#include "eval/number_text.hpp"

#include "ir/ieee.hpp"

namespace erx {

Extents unravel(std::int64_t flat, const Extents& extents) {
  Extents index(extents.size());
  for (std::size_t k = extents.size(); k-- > 0;) {
    index[k] = flat % extents[k];
    flat /= extents[k];
  }
  return index;
}

std::string index_text(const Extents& index) {
  if (index.empty()) return "";
  std::string text = "[";
  for (std::size_t k = 0; k < index.size(); ++k) text += (k ? ", " : "") + std::to_string(index[k]);
  return text + "]";
}

std::string grouped(std::int64_t n) {
  std::string digits = std::to_string(n);
  for (int at = static_cast<int>(digits.size()) - 3; at > 0; at -= 3) digits.insert(static_cast<std::size_t>(at), 1, ',');
  return digits;
}

std::string counted(std::int64_t n, std::string_view noun) {
  return std::to_string(n) + " " + std::string(noun) + (n == 1 ? "" : "s");
}

}  // namespace erx
