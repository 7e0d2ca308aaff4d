#include "eval/packed_lines.hpp"

#include <algorithm>
#include <cstring>
#include <limits>

#include "ir/ieee.hpp"
#include "ops/num/set.hpp"
#include "ops/tile_product.hpp"

namespace erx {
namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();
constexpr std::int64_t piece = 512;                  // terms of eight lines at a time
constexpr std::int64_t strip = 10 * most_tile_columns;  // lines side by side at a time
constexpr std::int64_t room = 8 * piece;

/// `vectors` times eight doubles.
void copy_vectors(double* to, const double* from, std::int64_t vectors) {
  switch (vectors) {
    case 1: std::memcpy(to, from, 8 * sizeof(double)); break;
    case 2: std::memcpy(to, from, 16 * sizeof(double)); break;
    default: std::memcpy(to, from, 24 * sizeof(double)); break;
  }
}

}  // namespace

PackedLines::PackedLines(std::int64_t lines, std::int64_t depth, std::int64_t most) : lines_(lines), depth_(depth) {
  const std::int64_t vectors = (lines + 7) / 8;
  groups_ = (8 * vectors + most - 1) / most;
  vectors_ = vectors / groups_;
  wider_ = vectors % groups_;
  data_.resize(static_cast<std::size_t>(padded() * depth));
  profile_.norm.resize(static_cast<std::size_t>(lines));
  profile_.grid.resize(static_cast<std::size_t>(lines));
}

std::int64_t PackedLines::group_of(std::int64_t line) const {
  const std::int64_t in_wider = 8 * wider_ * (vectors_ + 1);
  return line < in_wider ? line / (8 * (vectors_ + 1)) : wider_ + (line - in_wider) / (8 * vectors_);
}

void PackedLines::pack(const OperandLines& x, std::int64_t at, std::int64_t from, std::int64_t to) {
  const std::int64_t start = first(from), end = std::min(first(to), lines_);
  std::fill(profile_.norm.begin() + start, profile_.norm.begin() + end, 0.0);
  std::fill(profile_.grid.begin() + start, profile_.grid.begin() + end, infinity);
  if (x.term == 1) pack_along(x, at, from, to);
  else pack_across(x, at, from, to);
  for (std::int64_t l = start; l < end; ++l) {
    double& norm = profile_.norm[static_cast<std::size_t>(l)];
    norm = norm_of(norm, depth_);
    std::uint8_t special = 0;
    for (std::int64_t k = 0; x.flags && k < depth_; ++k) special |= x.flags[at + l * x.line + k * x.term] & ~any_zero;
    if (special) norm = infinity;
  }
}

/// The terms of a line lie side by side.
void PackedLines::pack_along(const OperandLines& x, std::int64_t at, std::int64_t from, std::int64_t to) {
  alignas(64) double buffer[room];
  for (std::int64_t g = from; g < to; ++g) {
    const std::int64_t columns = width(g);
    for (std::int64_t l = first(g); l < first(g) + columns; l += 8) {
      const std::int64_t count = std::clamp<std::int64_t>(lines_ - l, 0, 8);
      double* const out = place(g) + (l - first(g));
      for (std::int64_t k = 0; k < depth_; k += piece) {
        const std::int64_t n = std::min(piece, depth_ - k), start = at + l * x.line + k;
        const double* values = buffer;
        std::int64_t stride = n;
        if (x.values && count == 8) {
          values = x.values + start;
          stride = x.line;
        } else if (x.line == n && count > 0 && !x.values) {
          x.tensor->decode(start, count * n, buffer);
        } else {
          for (std::int64_t i = 0; i < count; ++i) {
            const double* line = x.read(start + i * x.line, n, buffer + i * n);
            if (line != buffer + i * n) std::copy(line, line + n, buffer + i * n);
          }
        }
        if (count < 8) std::fill(buffer + count * n, buffer + 8 * n, 0.0);
        for (std::int64_t i = 0; i < count; ++i) {
          const auto line = static_cast<std::size_t>(l + i);
          measure_along(values + i * stride, static_cast<std::size_t>(n), profile_.norm[line], profile_.grid[line]);
        }
        interleave(values, stride, n, out + k * columns, columns);
      }
    }
  }
}

/// Lines lie side by side, term by term.
void PackedLines::pack_across(const OperandLines& x, std::int64_t at, std::int64_t from, std::int64_t to) {
  alignas(64) double buffer[room];
  for (std::int64_t g = from; g < to;) {
    std::int64_t end = g + 1;
    while (end < to && first(end + 1) - first(g) <= strip) ++end;
    const std::int64_t start = first(g), n = std::clamp<std::int64_t>(lines_ - start, 0, first(end) - start);
    const std::int64_t together = n > 0 ? room / n : depth_;
    for (std::int64_t k = 0; k < depth_; k += together) {
      const std::int64_t terms = std::min(together, depth_ - k), from_term = at + start + k * x.term;
      const double* values = buffer;
      std::int64_t stride = n;
      if (x.values) {
        values = x.values + from_term;
        stride = x.term;
      } else if (n > 0 && x.term == n) {  // they follow on one another
        x.tensor->decode(from_term, terms * n, buffer);
      } else if (n > 0) {
        for (std::int64_t t = 0; t < terms; ++t) x.tensor->decode(from_term + t * x.term, n, buffer + t * n);
      }
      measure_across(values, terms, stride, static_cast<std::size_t>(n), profile_.norm.data() + start, profile_.grid.data() + start);
      for (std::int64_t h = g; h < end; ++h) {
        const std::int64_t columns = width(h), present = std::clamp<std::int64_t>(lines_ - first(h), 0, columns);
        double* out = place(h) + k * columns;
        const double* in = values + (first(h) - start);
        for (std::int64_t t = 0; t < terms; ++t, out += columns, in += stride) {
          if (present == columns) {
            copy_vectors(out, in, columns / 8);
          } else {
            std::copy(in, in + present, out);
            std::fill(out + present, out + columns, 0.0);
          }
        }
      }
    }
    g = end;
  }
}

void PackedLines::copy(std::int64_t line, double* to) const {
  const std::int64_t g = group_of(line), columns = width(g);
  const double* from = group(g) + (line - first(g));
  for (std::int64_t k = 0; k < depth_; ++k) to[k] = from[k * columns];
}

}  // namespace erx
