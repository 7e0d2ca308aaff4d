#include "eval/norms.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "ops/clones.hpp"
#include "ops/lane_sum.hpp"
#include "ops/num/grid.hpp"
#include "ops/num/set.hpp"
#include "ops/planted.hpp"

namespace erx {
namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();

/// Sums of squares and lowest bits, without branches.
ERX_VECTOR_CLONES void add_line(const double* x, std::size_t n, double* squares, double* grids) {
  ERX_INDEPENDENT
  for (std::size_t l = 0; l < n; ++l) {
    squares[l] += x[l] * x[l];
    const double bit = lowest_bit(x[l]);
    grids[l] = bit < grids[l] ? bit : grids[l];
  }
}

/// Of n terms of one line.
ERX_VECTOR_CLONES void measure_along(const double* x, std::size_t n, double& square, double& grid) {
  constexpr std::size_t lanes = 16;
  double squares[lanes] = {}, grids[lanes];
  std::fill(grids, grids + lanes, infinity);
  std::size_t k = 0;
  for (; k + lanes <= n; k += lanes)
    for (std::size_t l = 0; l < lanes; ++l) {
      const double v = x[k + l], bit = lowest_bit(v);
      squares[l] += v * v;
      grids[l] = bit < grids[l] ? bit : grids[l];
    }
  for (std::size_t l = 0; k < n; ++k, ++l) {
    squares[l] += x[k] * x[k];
    grids[l] = std::min(grids[l], lowest_bit(x[k]));
  }
  square += sum_of_lanes(squares);
  grid = std::min(grid, fold_lanes(grids, [](double a, double b) { return a < b ? a : b; }));
}

}  // namespace

double norm_of(double square, std::int64_t terms) {
  const double n = std::sqrt(square) * (planted(Mistake::raw_norms) ? 1 : 1 + static_cast<double>(terms + 8) * 0x1p-52);
  // Squares of extreme values leave the range of doubles; zero rows need the signs of their zeros.
  const bool in_range = (n > 0x1p-400 || planted(Mistake::unscaled_norms) || planted(Mistake::ratio_form)) && n < 0x1p400;
  return in_range ? n : infinity;
}

Profile profile(const double* data, const std::uint8_t* flags, std::int64_t lines, std::int64_t line_stride, std::int64_t terms, std::int64_t term_stride) {
  Profile p{std::vector<double>(static_cast<std::size_t>(lines), 0), std::vector<double>(static_cast<std::size_t>(lines), infinity)};
  std::vector<std::uint8_t> special(static_cast<std::size_t>(lines), 0);
  if (line_stride == 1) {
    for (std::int64_t k = 0; k < terms; ++k) add_line(data + k * term_stride, p.norm.size(), p.norm.data(), p.grid.data());
  } else if (term_stride == 1) {
    for (std::size_t line = 0; line < p.norm.size(); ++line)
      measure_along(data + static_cast<std::int64_t>(line) * line_stride, static_cast<std::size_t>(terms), p.norm[line], p.grid[line]);
  } else {
    for (std::int64_t line = 0; line < lines; ++line)
      for (std::int64_t k = 0; k < terms; ++k) {
        const std::size_t at = static_cast<std::size_t>(line);
        add_line(data + line * line_stride + k * term_stride, 1, &p.norm[at], &p.grid[at]);
      }
  }
  if (flags)
    for (std::int64_t line = 0; line < lines; ++line)
      for (std::int64_t k = 0; k < terms; ++k) special[static_cast<std::size_t>(line)] |= flags[line * line_stride + k * term_stride] & ~any_zero;
  for (std::size_t l = 0; l < p.norm.size(); ++l) p.norm[l] = special[l] ? infinity : norm_of(p.norm[l], terms);
  return p;
}

}  // namespace erx
