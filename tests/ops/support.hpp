// What the tests of the op rows share: random doubles of every kind, exact oracles (GMP, MPFR, hardware), membership in a set.
#pragma once
#include <gmpxx.h>
#include <mpfr.h>

#include <bit>
#include <cmath>
#include <functional>
#include <limits>
#include <map>
#include <optional>
#include <random>
#include <sstream>
#include <string>
#include <vector>

#include "ir/format.hpp"
#include "ops/op.hpp"

namespace erx::test {

constexpr double inf = std::numeric_limits<double>::infinity();
constexpr double nan_value = std::numeric_limits<double>::quiet_NaN();

inline std::string hex(double x) {
  char text[64];
  std::snprintf(text, sizeof text, "%a", x);
  return text;
}

/// Finite doubles: small integers, ordinary, any exponent, subnormal, the edges.
class Doubles {
 public:
  explicit Doubles(std::uint64_t seed) : random_(seed) {}
  double operator()() {
    const double sign = random_() & 1 ? -1 : 1;
    switch (random_() % 8) {
      case 0: return sign * static_cast<double>(random_() % 9);
      case 1: return sign * static_cast<double>(random_() % 4096) / 64;
      case 2: return sign * std::ldexp(static_cast<double>(random_() >> 11), -53);
      case 3: return sign * std::bit_cast<double>(random_() & 0x000fffffffffffffu);  // subnormal
      case 4: {
        const double edges[] = {0x1p-1074, 0x1p-1022, 0x1.fffffffffffffp1023, 0x1p1023,
                                0x1p-1073, 1,         0x1.0000000000001p0,    0x1.fffffffffffffp-1};
        return sign * edges[random_() % 8];
      }
      case 5: return sign * std::ldexp(1.0, static_cast<int>(random_() % 2098) - 1074);
      default: {
        const double x = std::bit_cast<double>(random_());
        return std::isfinite(x) ? x : sign;
      }
    }
  }
  /// Of moderate size, for functions.
  double moderate() {
    return std::ldexp(static_cast<double>(static_cast<std::int64_t>(random_()) >> 11), static_cast<int>(random_() % 24) - 66);
  }
  std::uint64_t bits() { return random_(); }

 private:
  std::mt19937_64 random_;
};

inline Set<F64> point_of(double x) {
  if (std::isnan(x)) return Set<F64>::special(has_nan);
  if (std::isinf(x)) return Set<F64>::special(x > 0 ? has_pinf : has_ninf);
  return Set<F64>::point({x, x}, x == 0 ? (std::signbit(x) ? has_nzero : has_pzero) : 0);
}

template <class R>
Set<R> point_as(double x, Context c) {
  const Set<F64> s = point_of(x);
  if (!s.has_reals()) return Set<R>::special(s.flags);
  return Set<R>::point(R::exact(x, c), s.flags);
}

template <class R>
std::string show(const Set<R>& s) {
  std::ostringstream out;
  if (s.has_reals())
    out << (s.is_point ? "point [" : "set [") << hex(lower(s.lo)) << ", " << hex(upper(s.lo)) << "] .. [" << hex(lower(s.hi)) << ", "
        << hex(upper(s.hi)) << "]";
  else
    out << "no reals";
  const char* names[] = {"nan", "inf", "-inf", "+0", "-0", "", "undecided"};
  for (int k = 0; k < 7; ++k)
    if (k != 5 && (s.flags >> k & 1)) out << " " << names[k];
  return out.str();
}

template <class R>
MapFormula<R> formula(const Op& op) {
  if constexpr (std::is_same_v<R, F64>)
    return op.map.f64;
  else if constexpr (std::is_same_v<R, Big>)
    return op.map.big;
  else
    return op.map.exact;
}

/// Every value that `part` may be is possible in `whole`: specials, signs of zeros, and reals as far as both enclosures tell.
template <class R, class Q>
bool holds(const Set<R>& whole, const Set<Q>& part) {
  const std::uint8_t specials = part.flags & (has_nan | any_infinity);
  if (specials & ~whole.flags) return false;
  if (!part.has_reals()) return true;
  if (!whole.has_reals()) return false;
  if (upper(part.lo) < lower(whole.lo) || lower(part.hi) > upper(whole.hi)) return false;
  if (lower(part.lo) == 0 && upper(part.hi) == 0 && is_exact(part.lo) && is_exact(part.hi))
    return (part.flags & any_zero & ~whole.flags) == 0;
  return true;
}

/// What an op is, told by other means than its formula.
struct Oracle {
  int operands;
  std::function<double(const double*)> hardware;  // IEEE 754 double arithmetic, or a libm function
  enum { correctly_rounded, exact_result, close, truth } judged = correctly_rounded;
  std::function<std::optional<mpq_class>(const mpq_class*)> rational = nullptr;  // exact value where it is rational
  int (*mpfr)(mpfr_ptr, mpfr_srcptr, mpfr_rnd_t) = nullptr;
  int bool_operands = 0;  // bit k: operand k is a bool
  bool any_zero_sign = false;
};
const std::map<std::string_view, Oracle>& oracles();

}  // namespace erx::test
