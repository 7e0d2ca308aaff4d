#include "ops/anchored_product.hpp"

#include <algorithm>
#include <bit>
#include <cmath>

#include "ops/clones.hpp"
#include "ops/planted.hpp"

namespace erx {
namespace {

// Elements of a tile: their sums, what these lost, and a few factors fit the registers, 16 of four doubles or 32 of eight. Sets do not depend on it.
struct TileShape {
  std::int64_t rows, columns;
};
constexpr TileShape narrow{6, 4}, wide{8, 8};
constexpr std::int64_t group = 32;  // columns that stay in the nearest cache

/// What a tile reads and adds to: the terms of its rows and of its columns side by side, a and b.
struct TilePlace {
  std::size_t terms;
  const double *a, *b, *row_powers, *column_powers;
  std::size_t rows, columns;  // that are there
  double *high, *low;
  std::size_t stride;
};

template <std::size_t R, std::size_t C>
[[gnu::always_inline]] inline void add_tile(const TilePlace& place) {
  const double *const a = place.a, *const b = place.b;
  double *const high = place.high, *const low = place.low;
  const std::size_t terms = place.terms, stride = place.stride;
  double anchor[R][C], sum[R][C], lost[R][C];
  for (std::size_t r = 0; r < R; ++r)
    for (std::size_t c = 0; c < C; ++c) {
      anchor[r][c] = 3 * place.row_powers[r] * place.column_powers[c];
      sum[r][c] = anchor[r][c];
      lost[r][c] = 0;
    }
  for (std::size_t k = 0; k < terms; ++k) {
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC unroll 8
#endif
    for (std::size_t r = 0; r < R; ++r)
      for (std::size_t c = 0; c < C; ++c) {
        const double x = a[k * R + r], y = b[k * C + c], t = std::fma(x, y, sum[r][c]), moved = t - sum[r][c];
        lost[r][c] += std::fma(x, y, -moved);
        sum[r][c] = t;
      }
  }
  const auto add = [&](std::size_t r, std::size_t c) {
    double &h = high[r * stride + c], &l = low[r * stride + c];
    const double x = sum[r][c] - anchor[r][c], s = h + x, t = s - h;
    l += lost[r][c] + ((h - (s - t)) + (x - t));
    h = s;
  };
  if (place.rows == R && place.columns == C) {
    for (std::size_t r = 0; r < R; ++r) {
      ERX_INDEPENDENT
      for (std::size_t c = 0; c < C; ++c) add(r, c);
    }
    return;
  }
  for (std::size_t r = 0; r < place.rows; ++r)
    for (std::size_t c = 0; c < place.columns; ++c) add(r, c);
}
ERX_VECTOR_CLONES void add_narrow(const TilePlace& p) { add_tile<narrow.rows, narrow.columns>(p); }
ERX_VECTOR_CLONES void add_wide(const TilePlace& p) { add_tile<wide.rows, wide.columns>(p); }

/// Lines side by side, `width` at a time; the last ones are filled up with zeros.
template <std::int64_t width>
void pack(const double* data, std::int64_t lines, std::int64_t line_stride, std::int64_t terms, std::int64_t term_stride, double* out) {
  for (std::int64_t first = 0; first < lines; first += width, out += width * terms) {
    const std::int64_t count = std::min(width, lines - first);
    const double* from = data + first * line_stride;
    if (count < width) std::fill(out, out + width * terms, 0.0);
    const auto copy = [&](std::int64_t n) {
      for (std::int64_t k = 0; k < terms; ++k)
        for (std::int64_t l = 0; l < n; ++l) out[k * width + l] = from[l * line_stride + k * term_stride];
    };
    if (count == width) copy(width);
    else copy(count);
  }
}

/// The least power of two whose square is above the sum of squares, and by more than that and the norm itself were rounded.
double power_above(double squares) {
  constexpr double least = 0x1p-900, greatest = 0x1p804;
  const double s = squares * (1 + 0x1p-17);
  if (!(s < greatest)) return 0x1p402;
  if (!(s > least)) return 0x1p-450;
  const int e = static_cast<int>(std::bit_cast<std::uint64_t>(s) >> 52) - 1023;  // s < 2^(e + 1)
  const int half = (e + 2 + 2048) / 2 - 1024;                                   // (e + 1) / 2 rounded up
  return std::bit_cast<double>(static_cast<std::uint64_t>(half + 1023) << 52);
}

ERX_VECTOR_CLONES void add_squares(const double* x, std::size_t n, double* squares) {
  for (std::size_t l = 0; l < n; ++l) squares[l] += x[l] * x[l];
}

ERX_VECTOR_CLONES void add_products(double x, const double* y, std::size_t n, double* sums) {
  for (std::size_t j = 0; j < n; ++j) sums[j] += x * y[j];
}

ERX_VECTOR_CLONES void normalize_pairs(double* high, double* low, std::size_t n) {
  for (std::size_t j = 0; j < n; ++j) {
    const double s = high[j] + low[j], t = s - high[j];
    low[j] = (high[j] - (s - t)) + (low[j] - t);
    high[j] = s;
  }
}

}  // namespace

LinePowers::LinePowers(std::int64_t lines, std::int64_t terms)
    : lines_(lines), terms_(terms), power_(static_cast<std::size_t>(anchored_pieces(terms) * lines)) {}

void LinePowers::measure(std::int64_t first_line, std::int64_t lines, const double* data, std::int64_t line_stride, std::int64_t term_stride) {
  for (std::int64_t piece = 0; piece < anchored_pieces(terms_); ++piece) {
    const std::int64_t first = piece * anchored_terms, count = std::min(anchored_terms, terms_ - first);
    double* squares = power_.data() + piece * lines_ + first_line;
    if (line_stride == 1) {
      for (std::int64_t k = 0; k < count; ++k) add_squares(data + (first + k) * term_stride, static_cast<std::size_t>(lines), squares);
    } else {
      for (std::int64_t l = 0; l < lines; ++l) {
        constexpr std::int64_t lanes = 8;
        double sums[lanes] = {};
        for (std::int64_t k = 0; k < count; ++k) {
          const double x = data[l * line_stride + (first + k) * term_stride];
          sums[k % lanes] += x * x;
        }
        for (const double s : sums) squares[l] += s;
      }
    }
    std::transform(squares, squares + lines, squares, power_above);
  }
}

void anchored_errors(const LinePowers& rows, std::int64_t line, const LinePowers& columns, std::int64_t depth, double* errors) {
  const std::size_t n = static_cast<std::size_t>(columns.lines());
  const double k = anchored_terms, pieces = static_cast<double>(anchored_pieces(depth));
  const double factor = planted(Mistake::doubles_without_error) ? 0 : (k * (k + 3) / 2 + (pieces + 1) * (2 * k + pieces)) * 0x1p-105 * (1 + 0x1p-20);
  std::fill(errors, errors + n, 0.0);
  for (std::int64_t piece = 0; piece < anchored_pieces(depth); ++piece) add_products(factor * rows.of(piece)[line], columns.of(piece), n, errors);
}

AnchoredProduct::AnchoredProduct(const MatrixView& a, const LinePowers& of_rows, const MatrixView& b, const LinePowers& of_columns, double* high, double* low)
    : a_(a), b_(b), of_rows_(of_rows), of_columns_(of_columns), high_(high), low_(low) {
  const std::int64_t n = a.rows * b.columns;
  std::fill(high, high + n, 0.0);
  std::fill(low, low + n, 0.0);
}

void AnchoredProduct::add_piece(std::int64_t piece) {
  const MatrixView &a = a_, &b = b_;
  const std::int64_t rows = a.rows, columns = b.columns;
  static const bool is_wide = chooses_avx512();
  const TileShape tile = is_wide ? wide : narrow;
  const auto add = is_wide ? add_wide : add_narrow;
  const auto pack_rows = is_wide ? pack<wide.rows> : pack<narrow.rows>, pack_columns = is_wide ? pack<wide.columns> : pack<narrow.columns>;
  const std::int64_t first = piece * anchored_terms, terms = std::min(anchored_terms, a.columns - first);
  const std::int64_t row_tiles = (rows + tile.rows - 1) / tile.rows;
  packed_a_.resize(static_cast<std::size_t>(row_tiles * tile.rows * terms));
  packed_b_.resize(static_cast<std::size_t>(group * terms));
  pack_rows(a.data + first * a.column_stride, rows, a.row_stride, terms, a.column_stride, packed_a_.data());
  const double *row_powers = of_rows_.of(piece), *column_powers = of_columns_.of(piece);
  for (std::int64_t j = 0; j < columns; j += group) {
    const std::int64_t width = std::min(group, columns - j);
    pack_columns(b.data + first * b.row_stride + j * b.column_stride, width, b.column_stride, terms, b.row_stride, packed_b_.data());
    double powers_of_columns[group], powers_of_rows[wide.rows];
    std::fill(powers_of_columns, powers_of_columns + group, 1.0);
    std::copy(column_powers + j, column_powers + j + width, powers_of_columns);
    for (std::int64_t i = 0; i < rows; i += tile.rows) {
      const std::int64_t height = std::min(tile.rows, rows - i);
      std::fill(powers_of_rows, powers_of_rows + wide.rows, 1.0);
      std::copy(row_powers + i, row_powers + i + height, powers_of_rows);
      for (std::int64_t c = 0; c < width; c += tile.columns) {
        const std::int64_t at = i * columns + j + c;
        add({static_cast<std::size_t>(terms), packed_a_.data() + i * terms, packed_b_.data() + c * terms, powers_of_rows, powers_of_columns + c, static_cast<std::size_t>(height),
             static_cast<std::size_t>(std::min(tile.columns, width - c)), high_ + at, low_ + at, static_cast<std::size_t>(columns)});
      }
    }
  }
}

void AnchoredProduct::normalize(std::int64_t i) {
  normalize_pairs(high_ + i * b_.columns, low_ + i * b_.columns, static_cast<std::size_t>(b_.columns));
}

}  // namespace erx
