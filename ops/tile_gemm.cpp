#include "ops/tile_gemm.hpp"

#include <algorithm>
#include <cstring>
#include <vector>

#include "ops/tile_pack.hpp"
#include "ops/tile_product.hpp"

namespace erx {
namespace {

// What is packed of A stays in the second cache, what is packed of B in the third.
constexpr std::int64_t slab = 256, tall = 128, wide = 40 * most_tile_columns;

/// Lines of a matrix, eight or more side by side as a tile reads them; zeros stand for lines that are missing.
class Packed {
 public:
  explicit Packed(std::int64_t lines) : data_(static_cast<std::size_t>((lines + most_tile_columns) * slab)), measures_(2 * most_tile_columns) {}

  /// Terms [term, term + terms) of lines [first, first + lines), in groups of `group` lines. line, next: how far the next line and the next term are.
  void read(const double* from, std::int64_t line, std::int64_t next, std::int64_t first, std::int64_t lines, std::int64_t term, std::int64_t terms, std::int64_t group) {
    for (std::int64_t l = 0; l < lines; l += group) {
      double* const to = data_.data() + l * terms;
      const std::int64_t count = std::min(group, lines - l);
      const double* const at = from + (first + l) * line + term * next;
      if (line == 1 && count == group) {
        pack_across({}, bytes(at), next * size, terms, to, group, measures_.data(), measures_.data() + most_tile_columns);
        continue;
      }
      for (std::int64_t v = 0; v < group; v += 8) {
        if (next == 1 && v + 8 <= count) {
          const std::byte* eight[8];
          for (std::int64_t i = 0; i < 8; ++i) eight[i] = bytes(at + (v + i) * line);
          pack_along({}, eight, terms, to + v, group, measures_.data(), measures_.data() + most_tile_columns);
          continue;
        }
        for (std::int64_t k = 0; k < terms; ++k)
          for (std::int64_t i = v; i < v + 8; ++i) to[k * group + i] = i < count ? at[i * line + k * next] : 0;
      }
    }
  }
  const double* group(std::int64_t line, std::int64_t terms) const { return data_.data() + line * terms; }

 private:
  static constexpr std::int64_t size = sizeof(double);
  static const std::byte* bytes(const double* x) { return reinterpret_cast<const std::byte*>(x); }
  std::vector<double> data_, measures_;  // nothing is asked of the measures
};

}  // namespace

bool has_tile_gemm() { return tile_product() != nullptr; }

void tile_gemm(const MatrixView& a, const MatrixView& b, double* c, std::int64_t row_stride) {
  const TileProduct tile = tile_product();
  const std::int64_t depth = a.columns;
  if (depth == 0) {
    for (std::int64_t i = 0; i < a.rows; ++i) std::fill(c + i * row_stride, c + i * row_stride + b.columns, 0.0);
    return;
  }
  Packed rows(std::min(a.rows, tall)), columns(std::min(b.columns, wide));
  double edge[tile_rows * most_tile_columns];
  for (std::int64_t j0 = 0; j0 < b.columns; j0 += wide) {
    const std::int64_t n = std::min(wide, b.columns - j0);
    for (std::int64_t k = 0; k < depth; k += slab) {
      const std::int64_t terms = std::min(slab, depth - k);
      columns.read(b.data, b.column_stride, b.row_stride, j0, n, k, terms, most_tile_columns);
      for (std::int64_t i0 = 0; i0 < a.rows; i0 += tall) {
        const std::int64_t m = std::min(tall, a.rows - i0);
        rows.read(a.data, a.row_stride, a.column_stride, i0, m, k, terms, tile_rows);
        for (std::int64_t j = 0; j < n; j += most_tile_columns)
          for (std::int64_t i = 0; i < m; i += tile_rows) {
            double* const to = c + (i0 + i) * row_stride + j0 + j;
            const std::int64_t height = std::min(tile_rows, m - i), width = std::min(most_tile_columns, n - j);
            if (height == tile_rows && width == most_tile_columns) {
              tile(rows.group(i, terms), columns.group(j, terms), terms, width, to, row_stride, k > 0);
              continue;
            }
            tile(rows.group(i, terms), columns.group(j, terms), terms, most_tile_columns, edge, most_tile_columns, false);
            for (std::int64_t r = 0; r < height; ++r)
              for (std::int64_t s = 0; s < width; ++s) to[r * row_stride + s] = (k > 0 ? to[r * row_stride + s] : 0) + edge[r * most_tile_columns + s];
          }
      }
    }
  }
}

}  // namespace erx
