// What one element may be: the reals between two ends, and which special values.
// An end is a definite real number known by an enclosure of number type R; an element without freedom has one end (`point`).
// Rules only ever enlarge a set. Several intervals are several Sets, one per alternative.
//   Set<F64>::point(F64::exact(1.5))   {1.5}        Set<F64>::special(has_nan)   {NaN}
#pragma once
#include <cmath>
#include <cstdint>

#include "ir/error.hpp"
#include "ops/rounding.hpp"

namespace erx {

// Possible special values of an element. If 0 is possible, at least one of the zero bits is set; a zero bit without 0 inside
// the ends means nothing.
enum Flag : std::uint8_t {
  has_nan = 1,
  has_pinf = 2,
  has_ninf = 4,
  has_pzero = 8,
  has_nzero = 16,
  no_reals = 32,   // the finite part is empty
  undecided = 64,  // an enclosure was too wide to tell: a finer tier may drop a flag
};
constexpr std::uint8_t any_zero = has_pzero | has_nzero;
constexpr std::uint8_t any_infinity = has_pinf | has_ninf;

/// Of the set {x}: the sign of a zero, an infinity or NaN in place of the reals.
inline std::uint8_t flags_of(double x) {
  if (x == 0) return std::signbit(x) ? has_nzero : has_pzero;
  if (x - x == 0) return 0;
  return static_cast<std::uint8_t>(no_reals | (x != x ? has_nan : x > 0 ? has_pinf : has_ninf));
}

/// How finely an evaluation computes: bits of precision for Big; F64 and Exact ignore it.
struct Context {
  int precision = 128;
};

enum class Comparison { less, equal, greater, unknown };

// A number type R (F64, Big, Exact) is an enclosure of one real number and provides:
//   static R exact(double, Context)            a finite double
//   static R between(double d, double u, Context)  some real in [d, u]; exact if d == u
//   static R literal(std::string_view, Context)  decimal "0.3", "1e-5", "3", or a fraction "3/10"
//   add sub mul div neg abs_of min_of max_of   (R, R) or (R);  div needs a divisor that cannot be 0
//   sqrt_of exp_of log_of ...                  (R) inside the domain
//   compare(R, R)                              Comparison of the two reals; equal only if both are known exactly
//   lower(R) upper(R)                          doubles around it, outward (may be infinite)
//   chop_lower(R) chop_upper(R)                the ends of the enclosure, for rounding
//   is_exact(R)                                the enclosure is one number
//   either(R, R)                               one of two reals, not known which
//   may_be_zero(R)                             the enclosure holds 0
//   may_be_below_zero(R) may_be_above_zero(R)  the enclosure reaches below, above 0
// An end of an unbounded set is F64{inf, inf} (in Big alike, in Exact unknown); operations treat it as a bound.

/// The end of an enclosure for rounding; no bound is a number beyond every format.
inline Chopped chop_end(double end) {
  if (end - end == 0) return chop(end);
  return {end < 0, std::uint64_t{1} << 63, 1 << 20, true};
}

template <class R>
struct Set {
  R lo{};
  R hi{};  // equal to lo where `is_point`
  std::uint8_t flags = 0;
  bool is_point = true;

  static Set point(R x, std::uint8_t flags = 0) { return {x, x, flags, true}; }
  static Set between(R lo, R hi, std::uint8_t flags = 0) { return {lo, hi, flags, false}; }
  static Set special(std::uint8_t flags) { return {R{}, R{}, static_cast<std::uint8_t>(flags | no_reals), true}; }

  bool has_reals() const { return !(flags & no_reals); }
  bool may_be(std::uint8_t mask) const { return flags & mask; }
};

}  // namespace erx
