#include "ir/attribute_text.hpp"

#include <algorithm>
#include <charconv>

#include "ir/error.hpp"

namespace erx {

std::string number_text(double x) {
  char buffer[32];
  const auto end = std::to_chars(buffer, buffer + sizeof buffer, x).ptr;
  return {buffer, end};
}

std::string quoted(const std::string& text) {
  std::string out = "\"";
  for (char c : text) {
    if (c == '"' || c == '\\') out += '\\';
    out += c;
  }
  return out + "\"";
}

std::string rounding_text(const Attributes& a) {
  std::string out = a.format->name;
  if (a.rounding.mode != Mode::rne) out += ", " + std::string(name_of(a.rounding.mode));
  if (a.rounding.overflow != Overflow::by_format) out += ", " + std::string(name_of(a.rounding.overflow));
  if (a.rounding.flush == Flush::yes) out += ", ftz";
  if (a.rounding.flush == Flush::free) out += ", ftz=free";
  return out;
}

namespace {

std::string_view word_of(OrderKind k) {
  switch (k) {
    case OrderKind::any: return "any";
    case OrderKind::assoc: return "assoc";
    case OrderKind::seq: return "seq";
    case OrderKind::rseq: return "rseq";
    case OrderKind::pairwise: return "pairwise";
    case OrderKind::blocked: return "blocked";
    case OrderKind::split: return "split";
    case OrderKind::height: return "height";
    case OrderKind::tensor_core: return "tensor_core";
  }
  throw Bug("an order without a word");
}

std::string order_text(const Order& o) {
  std::string out(word_of(o.kind));
  auto first = [&] { return std::to_string(o.numbers.empty() ? 1 : o.numbers[0]); };
  switch (o.kind) {
    case OrderKind::pairwise:
    case OrderKind::height: return out + "(" + first() + ")";
    case OrderKind::blocked:
      out += "(" + first();
      if (o.inner != OrderKind::seq) out += ", inner=" + std::string(word_of(o.inner));
      if (o.outer != OrderKind::any) out += ", outer=" + std::string(word_of(o.outer));
      return out + ")";
    case OrderKind::split:
      out += "({";
      for (std::size_t i = 0; i < o.numbers.size(); ++i) out += (i ? ", " : "") + std::to_string(o.numbers[i]);
      out += "}";
      if (o.store) out += ", store=" + o.store->name;
      return out + ")";
    case OrderKind::tensor_core: return out + "(L=" + first() + ", F=" + std::to_string(o.numbers.size() > 1 ? o.numbers[1] : 1) + ")";
    default: return out;
  }
}

}  // namespace

std::string accumulation_text(const Attributes& a) {
  std::string out = a.format->name;
  if (!(a.order == Order{})) out += ", " + order_text(a.order);
  if (a.contraction == Contraction::always) out += ", fma=always";
  if (a.contraction == Contraction::never) out += ", fma=never";
  if (a.rounding.flush != Flush::no)
    out += ", ftz=" + std::string(name_of(a.rounding.flush).empty() ? "no" : a.rounding.flush == Flush::yes ? "yes" : "free");
  return out;
}

std::string shape_argument(const Shape& shape) {
  std::string out = "(";
  for (std::size_t i = 0; i < shape.size(); ++i) out += (i ? ", " : "") + shape[i].to_string();
  return out + (shape.size() == 1 ? ",)" : ")");
}

std::string moving_text(const Attributes& a, int slice, std::int64_t number) {
  std::string out;
  for (const Moving& m : a.moving) {
    if (m.slice != slice) continue;
    out += out.empty() ? (m.stride < 0 ? "-" : "") : m.stride < 0 ? " - " : " + ";
    const std::string stride = std::to_string(m.stride < 0 ? -m.stride : m.stride);
    out += (stride == "1" ? "" : stride + "*") + m.variable;
  }
  if (out.empty()) return std::to_string(number);
  if (number != 0) out += (number < 0 ? " - " : " + ") + std::to_string(number < 0 ? -number : number);
  return out;
}

std::string slices_text(const Attributes& a, const Shape& operand, const std::set<std::string>& tiles) {
  std::string out = "[";
  std::size_t axis = 0;
  for (std::size_t i = 0; i < a.slices.size(); ++i) {
    const Slice& s = a.slices[i];
    if (i) out += ", ";
    if (s.kind == Slice::Kind::new_axis) {
      out += "None";
      continue;
    }
    const bool known = axis < operand.size() && operand[axis].is_number();
    const std::int64_t extent = known ? operand[axis].value() : 0;
    ++axis;
    const int slice = static_cast<int>(i);
    const auto move = std::find_if(a.moving.begin(), a.moving.end(), [&](const Moving& m) { return m.slice == slice; });
    const bool moves = move != a.moving.end();
    if (moves && tiles.contains(move->variable)) {
      out += move->variable;
    } else if (moves && s.kind == Slice::Kind::range) {
      out += moving_text(a, slice, s.start) + ":" + moving_text(a, slice, s.start + s.count * s.step) + (s.step != 1 ? ":" + std::to_string(s.step) : "");
    } else if (s.kind == Slice::Kind::index) {
      out += moving_text(a, slice, s.start);
    } else if (s.count == -1) {
      out += s.step == 1 ? ":" : "::" + std::to_string(s.step);
    } else {
      const std::int64_t stop = s.start + s.count * s.step;
      const bool to_end = s.step > 0 ? known && stop >= extent : stop < 0;
      if (s.count == 0)
        out += "0:0";
      else {
        // With a negative step, "up to before index 0" has no number.
        out += std::to_string(s.start) + ":" + (s.step < 0 && to_end ? "" : std::to_string(stop));
      }
      if (s.step != 1) out += ":" + std::to_string(s.step);
    }
  }
  return out + "]";
}

}  // namespace erx
