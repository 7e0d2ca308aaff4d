// The numbers of `normal(seed=1, 4, 8)` in an example: the same on every machine, and easy to draw elsewhere.
// Words w_1, w_2 .. come from SplitMix64 started at the seed; each gives u = (w >> 11) / 2^53 in [0, 1).
// uniform, element i: lo + (hi - lo) u_i;  integers: lo + floor((hi - lo) u_i);  normal: mean + std (u_{12i-11} + .. + u_{12i} - 6),
// which has mean 0 and variance 1 and never leaves [-6, 6]. The sum of twelve is exact; all else is rounded to double operation by
// operation. A complex input takes the real parts first, then the imaginary ones. At last each number is rounded to the nearest
// value of the input's type, never beyond its largest.
//   draw({.kind = Generator::Kind::uniform, .seed = 2}, 3)
#pragma once
#include <cstdint>
#include <vector>

#include "eval/tensor.hpp"
#include "grammar/program.hpp"

namespace erx {

/// source: Steele, Lea, Flood, OOPSLA 2014 (SplitMix64); the sum of twelve: Knuth, TAOCP 2, 3.4.1.
std::vector<double> draw(const Generator&, std::int64_t count);

/// The nearest value of `type` (to even; integers and formats cut at their ends); booleans are true unless 0.
double nearest_in(const Type& type, double x);

}  // namespace erx
