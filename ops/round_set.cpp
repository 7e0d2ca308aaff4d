#include "ops/round_set.hpp"

#include "ops/planted.hpp"

namespace erx {

Rounded round_real(const Chopped& x, const Format& format, const Rounding& rounding) {
  Rounded r;
  if (overflows(x, format, rounding)) {
    const double v = overflow_result(x.negative || x.significand == 0, format, rounding);
    // between the largest value and what overflow gives, sr and faithful may take either
    const bool two = rounding.mode == Mode::sr || rounding.mode == Mode::faithful;
    // (0 is that value below an unsigned format)
    r.over = !two || x.significand == 0 || (x.negative && !format.has_sign && !format.has_zero);
    r.positive = !x.negative && x.significand != 0;
    r.low = r.high = std::isfinite(v) ? v : finite_end(x, format);
    if (!std::isfinite(v)) r.special = std::isnan(v) ? has_nan : v > 0 ? has_pinf : has_ninf;
    return r;
  }
  const bool two = rounding.mode == Mode::sr || rounding.mode == Mode::faithful;
  Rounding down = rounding, up = rounding;
  down.flush = up.flush = Flush::no;
  if (two) {
    down.mode = Mode::rtn;
    up.mode = Mode::rtp;
  }
  r.low = round_to(x, format, down);
  r.high = two && !planted(Mistake::one_neighbour) ? round_to(x, format, up) : r.low;
  if (rounding.flush == Flush::no || x.significand == 0 || x.exponent >= format.emin() || !format.has_subnormals) return r;
  // |x| is below the smallest normal. A result that rounds up to it is subnormal before rounding, and normal after.
  double& far = x.negative ? r.low : r.high;
  double& near = x.negative ? r.high : r.low;
  if (rounding.flush == Flush::yes && std::fabs(far) < format.min_normal()) far = 0;
  if (planted(Mistake::edge_kept) && rounding.flush == Flush::yes && std::fabs(far) == format.min_normal()) near = far;
  else near = 0;
  return r;
}

}  // namespace erx
