// Rounding one end of a set to a format, in any number type: an enclosure that rounds two ways stays an enclosure.
//   round_end(F64{1.001, 1.002}, bf16, {Mode::rne}, context)   exactly 1
#pragma once
#include <cmath>

#include "ops/num/big.hpp"
#include "ops/num/exact.hpp"
#include "ops/num/f64.hpp"
#include "ops/rounding.hpp"

namespace erx {

/// One real rounded in a direction; results past the largest finite value are cut to it (`flags` gains what overflow may give).
template <class R>
R round_end(const R& x, const Format& format, const Rounding& rounding, Context context, std::uint8_t& flags) {
  const auto one = [&](const Chopped& c, std::uint8_t& gained) {
    const double r = round_to(c, format, rounding);
    if (std::isfinite(r)) return r;
    gained |= std::isnan(r) ? has_nan : r > 0 ? has_pinf : has_ninf;
    return c.negative ? format.lowest() : format.max_finite();
  };
  std::uint8_t down_flags = 0, up_flags = 0;
  const double down = one(chop_lower(x), down_flags), up = one(chop_upper(x), up_flags);
  flags |= down_flags | up_flags | (down_flags != up_flags ? undecided : 0);
  return R::between(down, up, context);
}

/// The unit in the first place, 2^floor(log2 |x|), or 0; monotone, so the ends of |x| suffice.
double ufp(double x);
template <class R>
R ufp_of(const R& x, Context context) {
  const R a = abs_of(x);
  return R::between(ufp(lower(a)), ufp(upper(a)), context);
}

inline double ufp(double x) {
  if (x == 0 || std::isinf(x)) return std::fabs(x);
  return std::ldexp(1.0, std::ilogb(x));
}

}  // namespace erx
