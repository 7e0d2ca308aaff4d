#include "grammar/words.hpp"

#include <charconv>

namespace erx {

const Op* operator_of(std::string_view symbol, int operands) {
  for (const Op* op : all_ops()) {
    if (op->symbol == symbol && op->operands_min == operands && op->gather != Gather::accumulate) return op;
  }
  return nullptr;
}

bool is_comparison(std::string_view s) { return s == "<" || s == "<=" || s == ">" || s == ">=" || s == "==" || s == "!="; }

std::optional<Dim> quotient(const Dim& a, const Dim& b, bool floors) {
  if (!b.is_number() || b.value() == 0) return {};
  if (!a.is_number()) return divide(a, b.value());
  const std::int64_t x = a.value(), y = b.value();
  if (x % y == 0) return Dim(x / y);
  if (!floors) return {};
  return Dim(x / y - ((x < 0) != (y < 0) ? 1 : 0));
}

bool holds_literal(const Format& format, const std::string& text) {
  if (text == "nan") return format.has_nan();
  if (text == "inf") return format.has_infinity();
  double x = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), x);
  if (error != std::errc() || end != text.data() + text.size() || !is_value(format, x)) return false;
  return compare(Exact::literal(text), Exact::exact(x)) == Comparison::equal;
}

}  // namespace erx
