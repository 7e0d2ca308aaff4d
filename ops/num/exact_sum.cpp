#include "ops/num/exact_sum.hpp"

#include <algorithm>

#include "ops/num/chopped.hpp"

namespace erx {

void ExactSum::clear() {
  for (int i = first_; i <= last_; ++i) digit_[i] = 0;
  first_ = digits;
  last_ = -1;
  terms_ = 0;
}

/// Leaves every digit in [0, 2^32) but the last one, which keeps the sign and lies in [-2^32, 2^32).
void ExactSum::carry() {
  terms_ = 0;
  std::int64_t c = 0;
  for (int i = first_; i <= last_; ++i) {
    const std::int64_t d = digit_[i] + c;
    c = d >> 32;
    digit_[i] = d - (c << 32);
  }
  if (c == 0) return;
  if (c == -1) {  // the sign stays with the last digit: no digit above it fills with ones
    digit_[last_] -= std::int64_t{1} << 32;
    return;
  }
  digit_[++last_] = c;  // at most 31 bits: the digits grew by less than 2^62
}

void ExactSum::add(const ExactSum& other) {
  carry();
  ExactSum o = other;
  o.carry();
  for (int i = o.first_; i <= o.last_; ++i) digit_[i] += o.digit_[i];
  first_ = std::min(first_, o.first_);
  last_ = std::max(last_, o.last_);
  carry();
}

ExactSum::Magnitude ExactSum::magnitude() const {
  ExactSum s = *this;
  s.carry();
  int last = s.last_;
  while (last >= s.first_ && s.digit_[last] == 0) --last;
  Magnitude m;
  if (last < s.first_) return m;
  m.negative = s.digit_[last] < 0;
  if (m.negative) {
    for (int i = s.first_; i <= last; ++i) s.digit_[i] = -s.digit_[i];
    s.carry();
    last = s.last_;
    while (s.digit_[last] == 0) --last;
  }
  int first = s.first_;
  while (s.digit_[first] == 0) ++first;
  m.exponent = lowest + 32L * first;
  for (int i = first; i <= last; i += 2) {
    const auto low = static_cast<std::uint64_t>(s.digit_[i]);
    const auto high = i < last ? static_cast<std::uint64_t>(s.digit_[i + 1]) : 0;
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
