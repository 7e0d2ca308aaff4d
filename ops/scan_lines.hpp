// Steps of many lines of a recurrence: a block of lines at a time in registers for several steps, first quickly, and again in full where
// a line of the block is in doubt; results wait in the cache for their way out.
// A line is  Line(state, i)  .step(row, numbers, rounding, i, lo, hi)  .store(state, i);  a quick one also has
//   doubt()     not 0: another rule than the quick one may be needed
//   crossing    sign bit: some set so far may hold 0
// Both give the same numbers wherever the quick one has no doubt, so it does not matter which lines stand together.
#pragma once
#include <algorithm>
#include <cstdint>

#include "ops/clones.hpp"
#include "ops/num/set.hpp"
#include "ops/scan_rounding.hpp"
#include "ops/scan_tile.hpp"
#include "ops/stream_copy.hpp"

namespace erx::scan {

constexpr std::size_t block = 16;    // a loop of constant length is vectorised at -O2 too
constexpr std::size_t at_once = 4;   // steps of a block
constexpr std::size_t segment = 128; // lines whose results go out together

/// Signs of the zeros in a set; of single values, the sign that each zero has.
template <bool one_value>
[[gnu::always_inline]] inline void flag_zeros(const double* lo, const double* hi, std::uint8_t zero, std::uint8_t* flags, std::size_t n) {
  for (std::size_t i = 0; i < n; ++i) {
    if constexpr (one_value) {
      const auto minus = static_cast<std::uint8_t>(std::bit_cast<std::uint64_t>(lo[i]) >> 63);
      flags[i] = static_cast<std::uint8_t>(lo[i] == 0) * static_cast<std::uint8_t>(has_pzero + minus * (has_nzero - has_pzero));
    } else {
      flags[i] = static_cast<std::uint8_t>((lo[i] <= 0) & (hi[i] >= 0)) * zero;
    }
  }
}

/// How the lines of a tile are run; the same for all its steps.
template <class Rounding, class QuickRounding>
struct Manner {
  Rounding round;
  QuickRounding quick;
  std::uint8_t zero;  // flags of a set that holds 0
  bool streams;       // past the caches
};

/// `steps` steps of n lines, `from` one state `to` the next.
template <class Line, class QuickLine, std::size_t steps, class State, class Numbers, class Rounding, class QuickRounding>
[[gnu::always_inline]] inline void run_steps(const ScanStepRow* rows, const State& from, const State& to, const Numbers* numbers,
                                             const Manner<Rounding, QuickRounding>& manner, std::size_t n) {
  alignas(64) double lo[steps][segment], hi[steps][segment];
  ScanStepRow r[steps];
  Numbers k[steps];
  for (std::size_t t = 0; t < steps; ++t) r[t] = rows[t], k[t] = numbers[t];
  const State old = from, next = to;
  const Rounding round = manner.round;
  const QuickRounding quick = manner.quick;
  const std::uint8_t zero = manner.zero;
  for (std::size_t first = 0; first < n; first += segment) {
    const std::size_t count = std::min(segment, n - first);
    const auto in_full = [&](std::size_t j) __attribute__((always_inline)) {
      Line kept(old, first + j);
#pragma GCC unroll 4
      for (std::size_t t = 0; t < steps; ++t) kept.step(r[t], k[t], round, first + j, lo[t][j], hi[t][j]);
      kept.store(next, first + j);
    };
    std::size_t j = 0;
    for (; j + block <= count; j += block) {
      std::uint64_t doubt = 0, crossing = 0;
      ERX_INDEPENDENT
      for (std::size_t i = j; i < j + block; ++i) {
        QuickLine kept(old, first + i);
#pragma GCC unroll 4
        for (std::size_t t = 0; t < steps; ++t) kept.step(r[t], k[t], quick, first + i, lo[t][i], hi[t][i]);
        kept.store(next, first + i);
        doubt |= kept.doubt(quick);
        crossing |= kept.crossing;
      }
      if (doubt) [[unlikely]] {
        ERX_INDEPENDENT
        for (std::size_t i = j; i < j + block; ++i) in_full(i);
      }
      if (doubt || crossing >> 63) {
        for (std::size_t t = 0; t < steps; ++t) flag_zeros<Line::one_value>(&lo[t][j], &hi[t][j], zero, r[t].flags + first + j, block);
      } else {
        for (std::size_t t = 0; t < steps; ++t) std::fill_n(r[t].flags + first + j, block, std::uint8_t{0});
      }
    }
    for (; j < count; ++j) {
      in_full(j);
      for (std::size_t t = 0; t < steps; ++t) flag_zeros<Line::one_value>(&lo[t][j], &hi[t][j], zero, r[t].flags + first + j, 1);
    }
    for (std::size_t t = 0; t < steps; ++t) {
      if (manner.streams) {
        stream_copy(lo[t], count, r[t].lo + first);
        stream_copy(hi[t], count, r[t].hi + first);
      } else {
        std::copy_n(lo[t], count, r[t].lo + first);
        std::copy_n(hi[t], count, r[t].hi + first);
      }
    }
  }
}

/// Any number of steps; `state` holds the last state at the end, `other` another.
template <class Line, class QuickLine, class State, class Numbers, class Rounding, class QuickRounding>
[[gnu::always_inline]] inline void run_lines(const ScanStepRow* rows, State& state, State& other, const Numbers* numbers, std::size_t steps,
                                             const Manner<Rounding, QuickRounding>& manner, std::size_t n) {
  std::size_t t = 0;
  for (; t + at_once <= steps; t += at_once) {
    run_steps<Line, QuickLine, at_once>(rows + t, state, other, numbers + t, manner, n);
    std::swap(state, other);
  }
  for (; t < steps; ++t) {
    run_steps<Line, QuickLine, 1>(rows + t, state, other, numbers + t, manner, n);
    std::swap(state, other);
  }
}

}  // namespace erx::scan
