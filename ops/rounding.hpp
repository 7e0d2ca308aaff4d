// One rounding of one real number into a format.
// Every number type hands over a real as its first 64 bits and whether anything was cut, so one function serves all tiers.
//   round_to(1.00390625, *find_format("bf16"), {}) == 1.0
#pragma once
#include <cstdint>

#include "ir/format.hpp"
#include "ir/rounding.hpp"

namespace erx {

/// x = (-1)^negative * significand * 2^(exponent - 63), plus less than one unit of the last bit away from zero if `sticky`.
/// The top bit of the significand is set unless x is 0.
struct Chopped {
  bool negative = false;
  std::uint64_t significand = 0;
  int exponent = 0;
  bool sticky = false;
};
Chopped chop(double finite);

/// x rounded once: a value of the format, +-infinity, or NaN where overflow gives NaN. Modes sr and faithful need a direction and
/// are not rounded here (Bug): their set is [round down, round up]. Flush::free is decided by the caller; yes flushes results
/// whose magnitude is below the smallest normal after rounding.
/// source: IEEE 754-2019 section 4.3; overflow of formats without infinities by ml_dtypes and OCP OFP8 1.0.
double round_to(const Chopped& x, const Format&, const Rounding&);
double round_to(double finite, const Format&, const Rounding&);

/// What a result too large in magnitude becomes: +-infinity, +-max_finite (or the lowest value) or NaN.
double overflow_result(bool negative, const Format&, const Rounding&);

/// Does x, rounded, overflow? (At or past the overflow point of the format and mode: closed or open as the mode says.)
bool overflows(const Chopped& x, const Format&, const Rounding&);

}  // namespace erx
