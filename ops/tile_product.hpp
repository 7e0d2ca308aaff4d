// Products of matrices in float64, tile by tile in registers, from operands packed in the order in which a tile reads them: AVX-512 or AVX2,
// chosen when the program runs. Sums of fused products, so any bound for sums in any order holds. For products so small that what
// surrounds a product of BLAS (copies of its operands, a checksum of its result) costs as much as the product itself.
//   if (const TileProduct tile = tile_product()) tile(a, b, depth, 24, c, row_stride, false);
#pragma once
#include <cstdint>

namespace erx {

constexpr std::int64_t tile_rows = 8, most_tile_columns = 24;

/// c[i * row_stride + j] = sum over k of a[k * tile_rows + i] b[k * columns + j], for i < tile_rows and j < columns, which is 8, 16 or 24.
/// add: that sum is added to what is in c, in one addition: a long product taken in pieces has short chains of additions.
using TileProduct = void (*)(const double* a, const double* b, std::int64_t depth, std::int64_t columns, double* c, std::int64_t row_stride, bool add);

/// magnitudes: of |b| in place of b. returns: nullptr where the processor has no such instructions.
TileProduct tile_product(bool magnitudes = false);

/// Lines side by side for a tile: to[k * width + l] = from[l * stride + k], for l < 8 and k < n.
void interleave(const double* from, std::int64_t stride, std::int64_t n, double* to, std::int64_t width);

}  // namespace erx
