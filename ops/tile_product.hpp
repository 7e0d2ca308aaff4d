// Products of matrices in float64, tile by tile in registers, from operands packed in the order in which a tile reads them (ops/tile_pack.hpp): AVX-512 or AVX2,
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

/// returns: nullptr where the processor has no such instructions.
TileProduct tile_product();

}  // namespace erx
