#include "eval/bind.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>

#include "eval/number_text.hpp"
#include "ops/num/f64.hpp"
#include "ops/rounding.hpp"

namespace erx {
namespace {

using Wide = __int128;  // holds every i64 and u64

bool is_wide_integer(const Tensor& t) { return t.storage == Storage::i64 || t.storage == Storage::u64; }

Wide wide_at(const Tensor& t, std::int64_t flat) {
  std::uint64_t bits = 0;
  const std::byte* p = t.address(flat);
  std::copy(p, p + sizeof bits, reinterpret_cast<std::byte*>(&bits));
  return t.storage == Storage::i64 ? Wide{static_cast<std::int64_t>(bits)} : Wide{bits};
}

std::string wide_text(Wide value) {
  return value < 0 ? std::to_string(static_cast<std::int64_t>(value)) : std::to_string(static_cast<std::uint64_t>(value));
}

std::string nearest_value(double x, const Format& f) {
  const double rounded = round_to(x, f, {});
  return std::isfinite(rounded) ? "the nearest is " + number_text(rounded) : "it is past the largest, " + number_text(f.max_finite());
}

// Why the double x is no value of f; empty if it is one.
std::string reason(double x, const Format& f) {
  const auto lacks = [&](std::string_view what) { return ", but " + f.name + " has no " + std::string(what); };
  if (std::isnan(x)) return f.has_nan() ? "" : lacks("NaN");
  if (std::isinf(x)) return f.has_infinity() && (x > 0 || f.has_sign) ? "" : lacks("infinity");
  if (x == 0) {
    if (!f.has_zero) return lacks("zero");
    return std::signbit(x) && !f.has_negative_zero() ? lacks("negative zero") : "";
  }
  if (x < 0 && !f.has_sign) return lacks("negative values");
  return is_value(f, x) ? "" : ", which is no " + f.name + " value (" + nearest_value(x, f) + ")";
}

// Ordinary values of f, told by their bits; the rest is decided by `reason`.
class Ordinary {
 public:
  Ordinary() = default;  // none
  explicit Ordinary(const Format& f)
      : smallest_(f.min_normal()), largest_(f.max_finite()), low_bits_((std::uint64_t{1} << (52 - f.fraction_bits)) - 1), has_sign_(f.has_sign) {}
  bool operator()(double x) const {
    const double magnitude = std::fabs(x);
    return magnitude >= smallest_ && magnitude <= largest_ && (has_sign_ || x > 0) && (std::bit_cast<std::uint64_t>(x) & low_bits_) == 0;
  }

 private:
  double smallest_ = 0, largest_ = -1;
  std::uint64_t low_bits_ = 0;
  bool has_sign_ = true;
};

struct Range {
  Wide lo, hi;
};

std::optional<Range> range_of(const Type& integer) {
  if (integer.bits == 0) return {};
  if (integer.is_signed) return Range{-(Wide{1} << (integer.bits - 1)), (Wide{1} << (integer.bits - 1)) - 1};
  return Range{0, (Wide{1} << integer.bits) - 1};
}

std::string outside(const Type& integer, const Range& r) {
  return ", which is outside " + to_string(integer) + " (" + wide_text(r.lo) + " to " + wide_text(r.hi) + ")";
}

std::string reason(double x, const Type& integer) {
  if (!std::isfinite(x) || x != std::floor(x)) return ", which is not an integer";
  const auto r = range_of(integer);
  // Both bounds of r are powers of two or one less, so that hi + 1 is a double.
  if (r && (x < static_cast<double>(r->lo) || x >= static_cast<double>(r->hi + 1))) return outside(integer, *r);
  return "";
}

std::optional<Misfit> rational_misfit(const Tensor& t, const Type& declared) {
  const CloseDouble x = close_double(t.text);
  if (declared.is_integer()) {
    const std::string why = x.exact ? reason(x.value, declared) : ", which is not an integer";
    return why.empty() ? std::optional<Misfit>() : Misfit{0, "is " + t.text + why};
  }
  std::string why = x.exact ? reason(x.value, declared.format)
                            : ", which is no " + declared.format.name + " value (" + nearest_value(x.value, declared.format) + ")";
  if (!x.exact && is_value(declared.format, x.value) && number_text(x.value) == t.text)  // copied from what was printed
    why = ", exactly these decimals, which is no " + declared.format.name + " value (the value that is printed so has more of them)";
  return why.empty() ? std::optional<Misfit>() : Misfit{0, "is " + t.text + why};
}

std::optional<Misfit> wide_misfit(const Tensor& t, const Type& declared) {
  const auto r = declared.is_integer() ? range_of(declared) : std::nullopt;
  const std::int64_t n = t.size();
  for (std::int64_t i = 0; i < n; ++i) {
    const Wide v = wide_at(t, i);
    if (declared.is_integer()) {
      if (r && (v < r->lo || v > r->hi)) return Misfit{i, "is " + wide_text(v) + outside(declared, *r)};
      continue;
    }
    const double x = static_cast<double>(v);
    const bool is_double = static_cast<Wide>(x) == v;
    const std::string why = is_double ? reason(x, declared.format)
                                      : ", which is no " + declared.format.name + " value (" + nearest_value(x, declared.format) + ")";
    if (!why.empty()) return Misfit{i, "is " + wide_text(v) + why};
  }
  return {};
}

}  // namespace

std::optional<Misfit> misfit(const Tensor& t, const Type& declared) {
  if (t.is_complex() || declared.is_complex) {
    if (!declared.is_complex) return Misfit{-1, t.extents.empty() ? "is a complex number, not a real one" : "holds complex numbers, not real ones"};
    for (const bool imaginary : {false, true}) {
      auto wrong = misfit(imaginary ? t.imag_part() : t.real_part(), declared.part());
      if (!wrong) continue;
      if (t.is_complex() && wrong->flat >= 0) wrong->what = std::string("has ") + (imaginary ? "an imaginary" : "a real") + " part that " + wrong->what;
      return wrong;
    }
    return {};
  }
  if (declared.is_boolean() != t.type.is_boolean()) {
    if (t.extents.empty()) return Misfit{-1, t.type.is_boolean() ? "is a boolean, not a number" : "is a number, not a boolean"};
    return Misfit{-1, t.type.is_boolean() ? "holds booleans, not numbers" : "holds numbers (" + to_string(t.type) + "), not booleans"};
  }
  if (declared.is_boolean() || declared.is_real()) return {};
  if (t.storage == Storage::rational) return rational_misfit(t, declared);
  if (!t.type.is_real() && contains(declared, t.type)) return {};
  if (is_wide_integer(t)) return wide_misfit(t, declared);
  const Ordinary ordinary = declared.is_floating() ? Ordinary(declared.format) : Ordinary();
  std::array<double, 1024> tile;
  const std::int64_t n = t.size();
  for (std::int64_t first = 0; first < n; first += static_cast<std::int64_t>(tile.size())) {
    const std::int64_t count = std::min<std::int64_t>(n - first, tile.size());
    t.decode(first, count, tile.data());
    for (std::int64_t i = 0; i < count; ++i) {
      const double x = tile[static_cast<std::size_t>(i)];
      if (ordinary(x)) continue;
      const std::string why = declared.is_integer() ? reason(x, declared) : reason(x, declared.format);
      if (!why.empty()) return Misfit{first + i, "is " + number_text(x) + why};
    }
  }
  return {};
}

void require_representable(const Tensor& t, const Type& declared, std::string_view name) {
  const auto wrong = misfit(t, declared);
  if (!wrong) return;
  const std::string type = to_string(declared);
  const std::string place = wrong->flat < 0 ? "it" : std::string(name) + index_text(unravel(wrong->flat, t.extents));
  Diagnostic d{{}, "input `" + std::string(name) + "` is declared " + type + ", but " + place + " " + wrong->what, ""};
  if (declared.is_floating() && wrong->flat >= 0)
    d.notes.push_back({{}, "an input is never rounded silently: store it as " + type + " first, or declare a wider type and write round<" +
                               type + ">(" + std::string(name) + ") where it is rounded"});
  throw Error(std::move(d));
}

Tensor as_declared(Tensor t, const Type& declared) {
  if (t.type == declared) return t;
  if (declared.is_complex) return Tensor::complex(as_declared(t.real_part(), declared.part()), as_declared(t.imag_part(), declared.part()));
  if (t.storage == Storage::code) {
    std::vector<double> values(static_cast<std::size_t>(t.size()));
    t.decode(0, t.size(), values.data());
    return Tensor::of(declared, t.extents, values);
  }
  t.type = declared;
  return t;
}

CloseDouble close_double(std::string_view text) {
  const F64 x = F64::literal(text);
  if (x.d == x.u) return {x.d, true};
  return {std::isfinite(x.d) ? x.d : x.u, false};
}

}  // namespace erx
