#include "ir/shape.hpp"

#include <algorithm>
#include <limits>
#include <numeric>
#include <set>

#include "ir/error.hpp"

namespace erx {
namespace {

[[noreturn]] void too_large() { throw Error("a dimension is too large: its formula exceeds 64-bit integers"); }

std::int64_t narrow(__int128 v) {
  if (v > std::numeric_limits<std::int64_t>::max() || v < std::numeric_limits<std::int64_t>::min()) too_large();
  return static_cast<std::int64_t>(v);
}

std::int64_t times(std::int64_t a, std::int64_t b) { return narrow(static_cast<__int128>(a) * b); }

}  // namespace

Dim::Dim(std::int64_t value) { add({}, {value, 1}); }
Dim::Dim(std::string name) { add({std::move(name)}, {1, 1}); }

void Dim::add(const Monomial& m, Coefficient c) {
  Coefficient& t = terms_[m];
  const std::int64_t g = std::gcd(t.den, c.den);
  __int128 num = static_cast<__int128>(t.num) * (c.den / g) + static_cast<__int128>(c.num) * (t.den / g);
  const std::int64_t den = times(t.den, c.den / g);
  __int128 a = num < 0 ? -num : num, b = den;
  while (b != 0) std::swap(a %= b, b);
  if (a == 0) a = 1;
  t = {narrow(num / a), narrow(den / a)};
  if (t.num == 0) terms_.erase(m);
}

bool Dim::is_number() const {
  return terms_.empty() || (terms_.size() == 1 && terms_.begin()->first.empty() && terms_.begin()->second.den == 1);
}

std::int64_t Dim::value() const {
  if (!is_number()) throw Bug("the dimension '" + to_string() + "' is not a number yet");
  return terms_.empty() ? 0 : terms_.begin()->second.num;
}

std::string Dim::to_string() const {
  std::vector<const std::pair<const Monomial, Coefficient>*> sorted;
  for (const auto& t : terms_) sorted.push_back(&t);
  std::stable_sort(sorted.begin(), sorted.end(),
                   [](auto* a, auto* b) { return a->first.size() > b->first.size(); });  // the constant comes last
  std::string out;
  for (auto* t : sorted) {
    const auto& [names, c] = *t;
    const bool minus = c.num < 0;
    std::string magnitude = std::to_string(c.num);
    if (minus) magnitude.erase(0, 1);
    out += out.empty() ? (minus ? "-" : "") : (minus ? " - " : " + ");
    std::string product = names.empty() || magnitude != "1" ? magnitude : "";
    for (const auto& n : names) product += (product.empty() ? "" : "*") + n;
    out += product;
    if (c.den != 1) out += "/" + std::to_string(c.den);
  }
  return out.empty() ? "0" : out;
}

Dim operator+(const Dim& a, const Dim& b) {
  Dim r = a;
  for (const auto& [m, c] : b.terms_) r.add(m, c);
  return r;
}

Dim operator-(const Dim& a, const Dim& b) {
  Dim r = a;
  for (const auto& [m, c] : b.terms_) r.add(m, {narrow(-static_cast<__int128>(c.num)), c.den});
  return r;
}

Dim operator*(const Dim& a, const Dim& b) {
  Dim r;
  for (const auto& [m, c] : a.terms_)
    for (const auto& [n, d] : b.terms_) {
      Dim::Monomial names = m;
      names.insert(names.end(), n.begin(), n.end());
      std::sort(names.begin(), names.end());
      const std::int64_t g = std::max<std::int64_t>(1, std::gcd(c.num, d.den));
      const std::int64_t h = std::max<std::int64_t>(1, std::gcd(d.num, c.den));
      r.add(names, {times(c.num / g, d.num / h), times(c.den / h, d.den / g)});
    }
  return r;
}

Dim divide(const Dim& a, std::int64_t by) {
  if (by == 0) throw Bug("a dimension was divided by 0");
  const std::int64_t sign = by < 0 ? -1 : 1;
  Dim r;
  for (const auto& [m, c] : a.terms_) {
    const std::int64_t g = std::gcd(c.num, by);
    r.add(m, {times(c.num / g, sign), times(c.den, times(by / g, sign))});
  }
  return r;
}

std::optional<std::int64_t> Dim::evaluate(const std::map<std::string, std::int64_t>& sizes) const {
  Dim value;
  for (const auto& [names, c] : terms_) {
    Dim product;
    product.add({}, c);
    for (const auto& n : names) {
      auto it = sizes.find(n);
      if (it == sizes.end()) return {};
      product = product * Dim(it->second);
    }
    value = value + product;
  }
  if (!value.is_number() || value.value() < 0) return {};
  return value.value();
}

std::vector<std::string> Dim::names() const {
  std::set<std::string> all;
  for (const auto& [names, c] : terms_) all.insert(names.begin(), names.end());
  return {all.begin(), all.end()};
}

std::string to_string(const Shape& s) {
  std::string out = "[";
  for (const Dim& d : s) out += (out.size() > 1 ? ", " : "") + d.to_string();
  return out + "]";
}

bool is_concrete(const Shape& s) {
  return std::all_of(s.begin(), s.end(), [](const Dim& d) { return d.is_number(); });
}

Extents extents_of(const Shape& s) {
  Extents e;
  for (const Dim& d : s) e.push_back(d.value());
  return e;
}

Shape shape_of(const Extents& e) { return Shape(e.begin(), e.end()); }

std::int64_t size_of(const Extents& e) {
  if (std::find(e.begin(), e.end(), 0) != e.end()) return 0;
  std::int64_t n = 1;
  for (std::int64_t x : e) n = times(n, x);
  return n;
}

Extents contiguous_strides(const Extents& e) {
  Extents strides(e.size());
  std::int64_t step = 1;
  for (std::size_t k = e.size(); k-- > 0;) {
    strides[k] = step;
    step = times(step, std::max<std::int64_t>(1, e[k]));
  }
  return strides;
}

std::optional<Shape> broadcast(const Shape& a, const Shape& b, Clash* clash) {
  const std::size_t rank = std::max(a.size(), b.size());
  Shape out(rank);
  for (std::size_t k = 1; k <= rank; ++k) {
    const Dim x = k <= a.size() ? a[a.size() - k] : Dim(1);
    const Dim y = k <= b.size() ? b[b.size() - k] : Dim(1);
    if (!(x == y) && !(x == Dim(1)) && !(y == Dim(1))) {
      if (clash) *clash = {k, x, y};
      return {};
    }
    out[rank - k] = x == Dim(1) ? y : x;
  }
  return out;
}

}  // namespace erx
