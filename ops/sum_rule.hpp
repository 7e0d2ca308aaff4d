// Numbers and flags that the rules of rounded sums share.
#pragma once
#include <cmath>
#include <limits>

#include "ops/accumulate.hpp"

namespace erx {

constexpr double unbounded = std::numeric_limits<double>::infinity();

inline double up(double x) { return std::nextafter(x, unbounded); }

inline double half_of(double eta) { return eta / 2 > 0 ? eta / 2 : eta; }  // eta/2 is no double for f64

/// An exact product stays; anything else is pushed up one ulp, so every constant below is an upper bound.
inline double product_up(double a, double b) {
  const double r = a * b;
  return std::fma(a, b, -r) == 0 && r > 1e-300 ? r : up(r);
}

/// `within` admits a double rounding from 2p+2 bits, whose error is a little more than u.
inline double unit_of(const SumRule& rule) {
  const double u = rule.format.unit_roundoff();
  return rule.within ? up(u + u * u) : u;
}

/// Every value of the format is a multiple of it.
inline double least_ulp(const Format& f) { return std::ldexp(1.0, f.emin() - f.precision() + 1); }

/// Results below the smallest normal are lost: flushed, or there are no subnormals to round to.
inline bool loses_subnormals(const SumRule& rule) { return rule.flush != Flush::no || !rule.format.has_subnormals; }

/// One tree: evaluated on both ends, not bounded.
inline bool is_fixed(const Order& order) {
  const auto one = [](OrderKind k) { return k == OrderKind::seq || k == OrderKind::rseq; };
  switch (order.kind) {
    case OrderKind::seq:
    case OrderKind::rseq:
    case OrderKind::pairwise: return true;
    case OrderKind::blocked: return one(order.inner) && one(order.outer);
    default: return false;
  }
}

/// Flags of overflow when partial sums may reach beyond `limit` in magnitude on the side of `sign`.
inline std::uint8_t overflow_flags(const Format& f, bool positive, bool negative) {
  if (!f.has_infinity()) return (positive || negative) && f.has_nan() ? has_nan : 0;
  return (positive ? has_pinf : 0) | (negative ? has_ninf : 0) | (positive && negative ? has_nan : 0);
}

template <class R>
void set_zero_signs(Set<R>& s, bool positive, bool negative) {
  const Comparison low = compare(s.lo, R{}), high = compare(s.hi, R{});
  const bool may_be_zero = low != Comparison::greater && high != Comparison::less;
  if (may_be_zero) s.flags |= (positive ? has_pzero : 0) | (negative ? has_nzero : 0);
}

}  // namespace erx
