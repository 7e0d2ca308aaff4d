// A dot product of doubles in about twice the precision, for the elements that one float64 product leaves open.
// bound: |high + low - exact| <= (n+16)^2 2^-104 sum |a b|, where no product of an error term underflows; |low| is at most half an ulp of
//   high, so that dot2 errs by 2^-53 |exact| more.
// source: Ogita, Rump, Oishi, SIAM J. Sci. Comput. 26 (2005) 1955 (Dot2), here in 16 lanes.
#pragma once
#include <cstddef>

namespace erx {

struct Doubled {
  double high, low;
};
Doubled dot2_pair(const double* a, const double* b, std::size_t n);

inline double dot2(const double* a, const double* b, std::size_t n) { return dot2_pair(a, b, n).high; }

/// Does every number within `error` of the pair round to nearest to `high`? Conservative below 2^-1000 and above 2^1000.
bool rounds_to_high(const Doubled& x, double error);

}  // namespace erx
