// Compiles only where doubles are computed as written. Every file that computes with them includes this, or a header that does.
//   #include "ir/ieee.hpp"
#pragma once

#if defined(__FAST_MATH__) || (defined(__FINITE_MATH_ONLY__) && __FINITE_MATH_ONLY__) || defined(__ASSOCIATIVE_MATH__)
#error "erx needs IEEE 754 arithmetic as written: compile without -ffast-math"
#endif
