// A function of numbers, rounded to nearest on their way from one array into another: one double near the result, and whether a midpoint of the
// format lies within its error. The fast way to ordinary results; the rest is left to the tiles.
//   if (can_function_run(*loops.run, round) && function_run(*loops.run, round, in, out, n, true)) ...   // every element is decided
#pragma once
#include <cstddef>
#include <cstdint>

#include "ops/round_bulk.hpp"

namespace erx {

/// What its loops need of a rounding: the bits of a double that the format drops, and its normal numbers.
struct DroppedBits {
  std::uint64_t half;      // of the last unit kept
  std::uint64_t mask;      // the bits dropped
  std::uint64_t least, most;  // magnitudes, as bits
};

/// The loops of one function, from arrays of both kinds. Each returns whether every result is a normal number of the format that is decided.
struct FunctionRun {
  template <class T>
  using Loop = bool (*)(const T* in, double* out, std::size_t n, const DroppedBits&);
  template <class T>
  struct Loops {
    Loop<T> plain = nullptr, wide = nullptr, stream = nullptr;  // the last two: AVX-512, multiples of stream_unit
  };
  Loops<double> f64;
  Loops<float> f32;
};

namespace lanes {
extern const FunctionRun run_exp, run_exp2, run_expm1, run_log, run_log2, run_log10, run_log1p, run_sin, run_cos, run_tanh, run_erf, run_sigmoid, run_sqrt, run_rsqrt;
}

/// To nearest even, into a format with sign and subnormals of at most 32 bits of precision.
bool can_function_run(const BulkRounding&);

/// out[i] is the rounded function of in[i]. returns: false if some result is 0, subnormal in the format, not finite, or not decided; then out is not to be used.
/// `past_caches`: as round_run has it.
bool function_run(const FunctionRun&, const BulkRounding&, const double* in, double* out, std::size_t n, bool past_caches);
bool function_run(const FunctionRun&, const BulkRounding&, const float* in, double* out, std::size_t n, bool past_caches);

}  // namespace erx
