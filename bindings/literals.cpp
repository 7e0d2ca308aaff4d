#include "bindings/literals.hpp"

#include <cmath>
#include <limits>

#include "bindings/draw.hpp"
#include "eval/bind.hpp"
#include "eval/number_text.hpp"
#include "ir/error.hpp"
#include "ops/num/exact.hpp"
#include "ops/rounding.hpp"

namespace erx {
namespace {

bool is_boolean(const std::string& text) { return text == "true" || text == "false"; }

// A word that is no number: nan, inf, -inf, and -0, whose sign an exact number does not have.
std::optional<double> special(std::string text) {
  const bool negative = !text.empty() && text[0] == '-';
  if (!text.empty() && (text[0] == '-' || text[0] == '+')) text.erase(0, 1);
  if (text == "nan") return std::numeric_limits<double>::quiet_NaN();
  if (text == "inf") return negative ? -std::numeric_limits<double>::infinity() : std::numeric_limits<double>::infinity();
  if (negative && text.find_first_not_of("0.") == std::string::npos) return -0.0;
  return {};
}

Tensor number(const std::string& text) {
  if (is_boolean(text)) return Tensor::boolean(text == "true");
  if (const auto x = special(text)) return Tensor::scalar(*x);
  return Tensor::rational(text);
}

void nest(std::string& out, const LiteralTensor& t, std::size_t axis, std::size_t& next, std::size_t limit) {
  if (axis == t.extents.size()) {
    out += t.imaginary.empty() ? t.elements[next] : "complex(" + t.elements[next] + ", " + t.imaginary[next] + ")";
    ++next;
    return;
  }
  out += "[";
  for (std::int64_t i = 0; i < t.extents[axis] && out.size() <= limit; ++i) {
    if (i) out += ", ";
    nest(out, t, axis + 1, next, limit);
  }
  out += "]";
}

Tensor drawn(const LiteralTensor& literal, const std::optional<Type>& type) {
  const std::int64_t n = size_of(literal.extents);
  const Type to = type.value_or(Type::of(*find_format("f64"))), part = to.part();
  std::vector<double> values = draw(*literal.drawn, to.is_complex ? 2 * n : n);
  for (double& x : values) x = nearest_in(part, x);
  // A number that is no tensor stays the number it is.
  const auto made = [&](auto first) {
    const std::vector<double> elements(first, first + n);
    return part.is_real() && literal.extents.empty() ? Tensor::scalar(elements.at(0)) : Tensor::of(part, literal.extents, elements);
  };
  if (!to.is_complex) return made(values.begin());
  return as_declared(Tensor::complex(made(values.begin()), made(values.begin() + n)), to);
}

/// One rounding to nearest, from the exact number.
double rounded(const Tensor& t, const Format& format) { return round_to(chop_lower(t.element<Exact>(0, {}).lo), format, {}); }

}  // namespace

Tensor tensor_of(const LiteralTensor& literal, const std::optional<Type>& declared, const std::string& name) {
  const std::optional<Type> type = literal.format ? Type::of(*literal.format) : declared;
  if (literal.drawn) return drawn(literal, type);
  const auto fail = [&](std::int64_t flat, const std::string& what) {
    const std::string place = name + index_text(unravel(flat, literal.extents));
    Diagnostic d{literal.span, place + " " + what, type ? "declared " + to_string(*type) : ""};
    const bool rounds = type && type->is_floating() && !literal.format && literal.imaginary.empty() && literal.span;
    if (rounds) std::move(d).suggest(literal.span, type->format.name + "(" + std::string(literal.span.text()) + ")");
    throw Error(std::move(d));
  };
  if (!literal.imaginary.empty()) {
    if (type && !type->is_complex) fail(0, "is a complex number, and the type is " + to_string(*type));
    const std::optional<Type> part = type ? std::optional(type->part()) : std::nullopt;
    LiteralTensor re = literal, im = literal;
    re.imaginary.clear();
    im.imaginary.clear();
    im.elements = literal.imaginary;
    return Tensor::complex(tensor_of(re, part, name), tensor_of(im, part, name));
  }
  if (type && type->is_complex) return as_declared(tensor_of(literal, type->part(), name), *type);
  const auto n = static_cast<std::int64_t>(literal.elements.size());
  if (n == 1 && literal.extents.empty() && (!type || type->is_real())) {
    const Tensor t = number(literal.elements[0]);
    if (t.type.is_boolean() && type) fail(0, "is a boolean, not a number");
    return t;
  }
  std::vector<double> values(literal.elements.size());
  std::int64_t booleans = 0;
  for (std::int64_t i = 0; i < n; ++i) {
    const std::string& text = literal.elements[static_cast<std::size_t>(i)];
    const Tensor t = number(text);
    booleans += t.type.is_boolean();
    if (literal.format && t.storage == Storage::rational) {
      values[static_cast<std::size_t>(i)] = rounded(t, *literal.format);
      continue;
    }
    if (type)
      if (const auto wrong = misfit(t, *type)) fail(i, wrong->what);
    if (t.storage != Storage::rational) {
      values[static_cast<std::size_t>(i)] = t.at(0);
      continue;
    }
    const CloseDouble x = close_double(text);
    if (!x.exact) fail(i, "is " + text + ", which is no double");
    values[static_cast<std::size_t>(i)] = x.value;
  }
  if (!type && booleans && booleans != n) fail(0, "mixes booleans and numbers");
  const Type plain = booleans ? Type::boolean() : Type::of(*find_format("f64"));
  return Tensor::of(type.value_or(plain), literal.extents, values);
}

std::string literal_text(const LiteralTensor& literal, std::size_t limit) {
  std::string out;
  std::size_t next = 0;
  if (literal.drawn || literal.format)
    out = literal.span.text();
  else
    nest(out, literal, 0, next, limit);
  if (out.size() > limit) out = out.substr(0, limit) + "...";
  return out;
}

}  // namespace erx
