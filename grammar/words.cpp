#include "grammar/words.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdio>
#include <cstdlib>

namespace erx {

const Op* operator_of(std::string_view symbol, int operands) {
  for (const Op* op : all_ops()) {
    if (op->symbol == symbol && op->operands_min == operands && op->gather != Gather::accumulate) return op;
  }
  return nullptr;
}

bool is_comparison(std::string_view s) { return s == "<" || s == "<=" || s == ">" || s == ">=" || s == "==" || s == "!="; }

std::string plural(std::size_t n, const char* what) { return std::to_string(n) + " " + what + (n == 1 ? "" : "s"); }

std::optional<Dim> quotient(const Dim& a, const Dim& b, bool floors) {
  if (!b.is_number() || b.value() == 0) return {};
  if (!a.is_number()) return divide(a, b.value());
  const std::int64_t x = a.value(), y = b.value();
  if (x % y == 0) return Dim(x / y);
  if (!floors) return {};
  return Dim(x / y - ((x < 0) != (y < 0) ? 1 : 0));
}

WrittenNumber written_number(const std::string& text) {
  if (text.size() > 1 && (text[1] == 'x' || text[1] == 'X')) {
    const double x = std::strtod(text.c_str(), nullptr);
    const auto point = text.find('.');
    const std::size_t digits = std::min(text.find_first_of("pP"), text.size()) - 2 - (point != text.npos ? 1 : 0);
    if (!std::isfinite(x) || digits > 13) return {text, "a hexadecimal number has at most 13 digits and lies in the range of f64"};
    char buffer[1600];  // every double is a decimal of finite length
    std::snprintf(buffer, sizeof buffer, "%.1080f", x);
    std::string decimal = buffer;
    decimal.erase(decimal.find_last_not_of('0') + 1);
    if (decimal.back() == '.') decimal.pop_back();
    return {decimal};
  }
  const auto e = text.find_first_of("eE");
  if (e != text.npos && text.size() - e > 6) return {text, "this number is too large or too small", "the exponent is limited to 9999"};
  if (text.size() > 5000) return {text, "this number has too many digits", "at most 5000"};
  return {text};
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
