// Round to nearest, no flushing, for as long as the guard lives; the caller's modes come back afterwards.
// Every enclosure rests on IEEE 754 double arithmetic, and a thread keeps the modes it was created with.
//   FloatGuard guard;
#pragma once

#ifdef __FAST_MATH__
#error "erx needs IEEE 754 arithmetic: compile without fast-math"
#endif

#if defined(__SSE2__)
#include <xmmintrin.h>
#endif

#include "ir/error.hpp"

namespace erx {

class FloatGuard {
 public:
  FloatGuard() {
#if defined(__SSE2__)
    saved_ = _mm_getcsr();
    _mm_setcsr(0x1f80);  // all exceptions masked, round to nearest, no flush-to-zero, no denormals-are-zero
#endif
    volatile double tiny = 0x1p-1074, one = 1, half_ulp = 0x1p-53;
    if (tiny / 2 * 2 != 0 || tiny * one == 0 || one + half_ulp != one || -one - half_ulp != -one)
      throw Error("this machine's arithmetic is not IEEE 754 round-to-nearest with subnormals; no proof is possible on it");
  }
  ~FloatGuard() {
#if defined(__SSE2__)
    _mm_setcsr(saved_);
#endif
  }
  FloatGuard(const FloatGuard&) = delete;
  FloatGuard& operator=(const FloatGuard&) = delete;

 private:
  [[maybe_unused]] unsigned saved_ = 0;
};

}  // namespace erx
