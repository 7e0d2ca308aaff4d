// An exact sum of doubles and of products of two doubles, over the whole range of exponents: a fixed-point number of 4352 bits in
// signed 32-bit digits that carry late. Exact for up to 2^60 terms; about 3 ns per term.
//   ExactSum s; s.add_product(0x1p600, 0x1p-600); s.add(-1); s.sign() == 0
// source: Kulisch, Computer Arithmetic and Validity (2013), chapter 8 (the long accumulator).
#pragma once
#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "ops/num/big.hpp"
#include "ops/num/exact.hpp"
#include "ops/num/f64.hpp"

namespace erx {

class ExactSum {
 public:
  void clear();

  /// x finite.
  void add(double x) {
    const Bits b = open(x);
    put(b.significand, 0, b.exponent + 1073, b.sign);
  }
  /// a, b finite.
  void add_product(double a, double b) {
    const Bits x = open(a), y = open(b);
    const unsigned __int128 p = static_cast<unsigned __int128>(x.significand) * y.significand;
    put(static_cast<std::uint64_t>(p), static_cast<std::uint64_t>(p >> 64), x.exponent + y.exponent - 2, x.sign ^ y.sign);
  }
  void subtract_product(double a, double b) { add_product(-a, b); }
  /// sum of a[i * stride_a] * b[i * stride_b], all finite.
  void add_dot(const double* a, std::ptrdiff_t stride_a, const double* b, std::ptrdiff_t stride_b, std::size_t n) {
    for (std::size_t i = 0; i < n; ++i, a += stride_a, b += stride_b) add_product(*a, *b);
  }
  void add(const ExactSum& other);

  // The sum so far; more may be added afterwards.
  int sign() const;
  Chopped chopped() const;      // its first 64 bits
  F64 f64() const;              // the doubles around it
  Big big(Context = {}) const;  // exactly, with as many bits as that takes
  Exact exact() const;

 private:
  static constexpr int digits = 136;
  static constexpr long lowest = -2148;  // exponent of the last bit: the smallest subnormal squared

  struct Bits {
    std::uint64_t significand;
    int exponent;        // of the field, at least 1
    std::uint64_t sign;  // 0 or all ones
  };
  static Bits open(double x) {
    const auto bits = std::bit_cast<std::uint64_t>(x);
    const int field = static_cast<int>(bits >> 52 & 0x7ff);
    const std::uint64_t normal = field != 0;
    return {(bits & 0xfffffffffffffu) | normal << 52, field + static_cast<int>(1 - normal), -(bits >> 63)};
  }
  /// Adds +-(high * 2^64 + low) * 2^(position + lowest); high has at most 42 bits.
  void put(std::uint64_t low, std::uint64_t high, int position, std::uint64_t sign) {
    const int shift = position & 31;
    const unsigned __int128 l = static_cast<unsigned __int128>(low) << shift, h = static_cast<unsigned __int128>(high) << shift;
    constexpr std::uint64_t mask = 0xffffffffu;
    const auto signed_digit = [sign](std::uint64_t d) { return static_cast<std::int64_t>((d ^ sign) - sign); };
    const int at = position >> 5;
    first_ = std::min(first_, at);
    last_ = std::max(last_, at + 4);
    std::int64_t* d = digit_ + at;
    const auto l0 = static_cast<std::uint64_t>(l), l1 = static_cast<std::uint64_t>(l >> 64);
    const auto h0 = static_cast<std::uint64_t>(h), h1 = static_cast<std::uint64_t>(h >> 64);
    d[0] += signed_digit(l0 & mask);
    d[1] += signed_digit(l0 >> 32);
    d[2] += signed_digit(l1 + (h0 & mask));
    d[3] += signed_digit(h0 >> 32);
    d[4] += signed_digit(h1);
    if (++terms_ == (1u << 29)) carry();  // a digit grows by less than 2^33 a term
  }
  void carry();

  /// The sum as sign and magnitude.
  struct Magnitude {
    bool negative = false;
    std::vector<std::uint64_t> limbs;  // lowest first, no zero limb on top
    long exponent = 0;                 // of the lowest bit
  };
  Magnitude magnitude() const;

  // All digits are 0 but those from first_ to last_, so that a sum of values alike costs a few digits, not all.
  std::int64_t digit_[digits] = {};
  int first_ = digits, last_ = -1;
  std::uint32_t terms_ = 0;
};

}  // namespace erx
