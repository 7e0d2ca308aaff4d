// One rounding of one real number into a format.
// Every number type hands over a real as its first 64 bits and whether anything was cut, so one function serves all tiers.
// A format without zero (f8e8m0fnu) gives NaN for zero and negative numbers, or its smallest value under sat, as ml_dtypes does;
// positive numbers below its smallest value become that value in every mode.
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
  bool operator==(const Chopped&) const = default;
};
Chopped chop(double finite);

/// x rounded once: a value of the format, +-infinity, or NaN where overflow gives NaN. Modes sr and faithful need a direction and
/// are not rounded here (Bug): their set is [round down, round up]. Flush::free is decided by the caller; yes flushes results
/// whose magnitude is below the smallest normal after rounding.
/// source: IEEE 754-2019 section 4.3; overflow of formats without infinities by ml_dtypes and OCP OFP8 1.0.
double round_to(const Chopped& x, const Format&, const Rounding&);
double round_to(double finite, const Format&, const Rounding&);

/// What a result too large in magnitude becomes: +-infinity, +-max_finite (or the lowest value) or NaN. by_format follows IEEE
/// 754-2019 section 7.4: toward zero and in rto it is the largest finite value, in every format; away from it infinity,
/// else NaN, else the largest finite value. nosat is infinity or NaN in every mode.
double overflow_result(bool negative, const Format&, const Rounding&);

/// Does x, rounded, overflow? (At or past the overflow point of the format and mode: closed or open as the mode says.)
/// Negative numbers overflow an unsigned format; zero overflows, as a negative number does, a format without zero (not under sat).
bool overflows(const Chopped& x, const Format&, const Rounding&);

/// The finite value that stands for an end of an interval past the overflow point: the largest or lowest value on its side.
double finite_end(const Chopped& x, const Format&);

/// What rounding an infinity gives: itself where the format has it, NaN or the largest finite value elsewhere, and always the
/// latter under sat.
double round_infinity(bool negative, const Format&, const Rounding&);

/// Does a rounding leave a choice? Under ftz a result that rounds up to the smallest normal may be flushed or not.
inline bool rounds_freely(const Rounding& r) { return r.mode == Mode::sr || r.mode == Mode::faithful || r.flush != Flush::no; }

}  // namespace erx
