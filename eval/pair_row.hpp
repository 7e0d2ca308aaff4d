// A row of sums that are pairs of doubles, each known to an error of its own, rounded to nearest at once.
//   round_pairs(row, *find_format("f32"), bulk_rounding, out, open);
#pragma once
#include <cstddef>
#include <cstdint>

#include "ops/round_bulk.hpp"

namespace erx {

/// |high + low - exact| <= error; |low| is at most half an ulp of high.
struct PairRow {
  std::size_t n;
  const double *high, *low, *error;
  bool negative;  // the sums are subtracted
};

/// The results that are ordinary numbers, and which elements stay open: 0 and 1. Zeros, overflow and what is not finite stay open.
void round_pairs_to_double(const PairRow&, double* out, std::uint8_t* open);

/// The same into a format that `to` rounds fast, to nearest even, without flushing.
void round_pairs(const PairRow&, const BulkRounding& to, double* out, std::uint8_t* open);

}  // namespace erx
