// Float64 enclosures of functions by MPFR at 53 bits, rounded down and up: as tight as doubles allow, a microsecond each.
// Where elementary.hpp has a bound, it goes first.
#pragma once
#include "ops/num/f64.hpp"

namespace erx::f64 {

/// |cos| and |sin| of what lies in an open enclosure are below this: 1 where no turning point of either is in it, else one place more.
inline double most_of_wave(const F64& a) { return a.d > -1.5 && a.u < 1.5 && (a.d > 0 || a.u < 0) ? 1 : 1 + 0x1p-52; }

}  // namespace erx::f64

namespace erx::f64::mpfr {

F64 exp(const F64&);
F64 exp2(const F64&);
F64 expm1(const F64&);
F64 log(const F64&);
F64 log2(const F64&);
F64 log10(const F64&);
F64 log1p(const F64&);
F64 sin(const F64&);
F64 cos(const F64&);
F64 tanh(const F64&);
F64 erf(const F64&);
F64 sigmoid(const F64&);
F64 pow(const F64&, const F64&);  // x > 0

}  // namespace erx::f64::mpfr
