// Many lines of a recurrence side by side, step by step, in float64: the bound of any association, or the one order exactly.
// Same rules as scan_states, in loops over lines that compilers vectorise; a line with a special value, an overflow, or anything else
// that these loops do not tell is marked and left to scan_states.
//   bound, any tree: that of ops/scan_bound.cpp, plus what float64 itself loses: (8t + 32) 2^-52 of it, and t 2^-51 B_t or less
//   ScanTile tile(rule, lines, init_lo, init_hi);   tile.run(rows, steps);   tile.is_open(line)
#pragma once
#include <cstdint>
#include <memory>
#include <vector>

#include "ops/scan.hpp"

namespace erx {

/// One step of every line: operands and results at consecutive places, one for each line.
struct ScanStepRow {
  const double *a_lo, *a_hi, *b_lo, *b_hi;  // a_hi == a_lo and b_hi == b_lo: single values
  double *lo, *hi;
  std::uint8_t* flags;
};

class ScanTile {
 public:
  /// Formats that these loops serve: those with bulk rounding and products exact in float64, f32 and f64.
  static bool serves(const ScanRule&);

  /// init: one value for each line, or null (0).
  ScanTile(const ScanRule&, std::size_t lines, const double* init_lo, const double* init_hi);
  ~ScanTile();

  /// The next steps, some at a time: fills the rows of the results; `streams`: the ends past the caches, end_of_stream() is the caller's.
  void run(const ScanStepRow* rows, std::size_t steps, bool streams = false);
  /// A line with special values, as the caller sees.
  void open(std::size_t line);
  /// Has scan_states to compute this line? Known after the last step.
  bool is_open(std::size_t line) const;

 private:
  class Loops;
  std::unique_ptr<Loops> loops_;
};

}  // namespace erx
