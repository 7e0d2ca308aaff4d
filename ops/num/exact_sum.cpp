#include "ops/num/exact_sum.hpp"

#include <algorithm>

#include "ops/num/chopped.hpp"

namespace erx {

void ExactSum::clear() {
  std::fill_n(digit_, digits, 0);
  terms_ = 0;
}

/// Leaves every digit in [0, 2^32) but the top one, which keeps the sign.
void ExactSum::carry() {
  std::int64_t c = 0;
  for (int i = 0; i < digits - 1; ++i) {
    const std::int64_t d = digit_[i] + c;
    c = d >> 32;
    digit_[i] = d - (c << 32);
  }
  digit_[digits - 1] += c;
  terms_ = 0;
}

void ExactSum::add(const ExactSum& other) {
  carry();
  ExactSum o = other;
  o.carry();
  for (int i = 0; i < digits; ++i) digit_[i] += o.digit_[i];
  carry();
}

ExactSum::Magnitude ExactSum::magnitude() const {
  ExactSum s = *this;
  s.carry();
  Magnitude m;
  m.negative = s.digit_[digits - 1] < 0;
  if (m.negative) {
    for (std::int64_t& d : s.digit_) d = -d;
    s.carry();
  }
  int first = 0, last = digits;
  while (last > 0 && s.digit_[last - 1] == 0) --last;
  while (first < last && s.digit_[first] == 0) ++first;
  m.exponent = lowest + 32L * first;
  for (int i = first; i < last; i += 2) {
    const auto low = static_cast<std::uint64_t>(s.digit_[i]);
    const auto high = i + 1 < last ? static_cast<std::uint64_t>(s.digit_[i + 1]) : 0;
    m.limbs.push_back(low | high << 32);
  }
  return m;
}

int ExactSum::sign() const {
  const Magnitude m = magnitude();
  return m.limbs.empty() ? 0 : m.negative ? -1 : 1;
}

Chopped ExactSum::chopped() const {
  const Magnitude m = magnitude();
  Chopped c;
  if (m.limbs.empty()) return c;
  c.negative = m.negative;
  const std::size_t top = m.limbs.size() - 1;
  const int zeros = std::countl_zero(m.limbs[top]);
  c.significand = m.limbs[top] << zeros;
  std::uint64_t rest = 0;
  if (top > 0) {
    if (zeros > 0) c.significand |= m.limbs[top - 1] >> (64 - zeros);
    rest = m.limbs[top - 1] << zeros;
    for (std::size_t i = 0; i + 1 < top; ++i) rest |= m.limbs[i];
  }
  c.sticky = rest != 0;
  c.exponent = static_cast<int>(m.exponent + 64 * static_cast<long>(top) + 63 - zeros);
  return c;
}

F64 ExactSum::f64() const {
  const Chopped c = chopped();
  return {lower_of(c), upper_of(c)};
}
Big ExactSum::big(Context context) const {
  const Magnitude m = magnitude();
  return Big::scaled(m.limbs.data(), m.limbs.size(), m.negative, m.exponent, context);
}
Exact ExactSum::exact() const {
  const Magnitude m = magnitude();
  return Exact::scaled(m.limbs.data(), m.limbs.size(), m.negative, m.exponent);
}

}  // namespace erx
