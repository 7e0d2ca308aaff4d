// Whole tiles of + - * / sqrt, max, min and functions in branch-free loops. Ordinary elements are done here, bit for bit as the formula
// does; an element with a special value, that may be 0, or whose residual could under- or overflow is left to the formula (`hard`).
//   if (lanes::run(lanes::sum, x, out, n, [&](std::size_t i) { ... })) return true;
#pragma once
#include <array>
#include <cstdint>
#include <span>

#include "ops/num/set.hpp"
#include "ops/tile.hpp"

namespace erx {
struct FunctionRun;
}

namespace erx::lanes {

/// The enclosures of one end of up to two operands, and of the result; bad[i] is set where the loop cannot tell.
struct Ends {
  const double *a_d, *a_u, *b_d, *b_u;
  double *d, *u;
  std::uint64_t* bad;
  std::size_t n;
};
using Loop = void (*)(const Ends&);

/// A loop of one operation, by whether the operands are exact (a_d is a_u).
struct Loops {
  Loop exact, left_exact, right_exact, open;
  bool negate_second = false;
  bool monotone = true;  // in both ends: those of the result come from those of the operands
  bool divides = false;
  /// Of exact operands, into d alone: the result itself, or of the two doubles around it the one with an odd last bit (which rounds
  /// to at most 51 bits as the result does). Zeros are handled too, with the sign that IEEE 754 gives. May be missing.
  Loop odd = nullptr;
  /// Of exact operands, into d alone: the result rounded to nearest even with 53 bits, zeros as in `odd`. May be missing.
  Loop nearest = nullptr;
  bool points = false;  // sets of one number only
  const FunctionRun* run = nullptr;  // of an input, and its rounding, without tiles (ops/function_run.hpp); may be missing
};
extern const Loops same;  // x itself
extern const Loops sum, difference, product, quotient, root, larger, smaller;
extern const Loops exp, exp2, expm1, log, log2, log10, log1p, sin, cos, tanh, erf, sigmoid, rsqrt, pow;

/// One end of an operand as arrays of n elements: a single element is repeated, a negated one copied.
struct Operand {
  const double *d, *u;
  std::array<double, tile_size> store_d, store_u;

  void set(const double* from_d, const double* from_u, bool scalar, bool negate, std::size_t n);
};

/// returns: false if the tiles are not of a kind that a loop handles; then nothing is written.
bool loop(const Loops&, std::span<const Tile> x, const Tile& out, std::size_t n, std::uint64_t* hard);

template <class Formula>
bool run(const Loops& loops, std::span<const Tile> x, const Tile& out, std::size_t n, Formula formula) {
  std::array<std::uint64_t, tile_size> hard;
  if (!loop(loops, x, out, n, hard.data())) return false;
  for (std::size_t i = 0; i < n; ++i) {
    if (hard[i]) [[unlikely]]
      formula(i);
  }
  return true;
}

}  // namespace erx::lanes
