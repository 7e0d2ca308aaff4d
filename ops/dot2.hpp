// A dot product of doubles in about twice the precision, for the elements that one float64 product leaves open.
// bound: |dot2 - exact| <= 2^-53 |exact| + (n+16)^2 2^-104 sum |a b|, where no product of an error term underflows.
// source: Ogita, Rump, Oishi, SIAM J. Sci. Comput. 26 (2005) 1955 (Dot2), here in 16 lanes.
#pragma once
#include <cstddef>

namespace erx {

double dot2(const double* a, const double* b, std::size_t n);

}  // namespace erx
