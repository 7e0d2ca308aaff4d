#include "eval/pair_row.hpp"

#include "ops/clones.hpp"

namespace erx {
namespace {

constexpr std::uint64_t exponent_bits = 0x7ff0000000000000u, sign_bit = 0x8000000000000000u;
constexpr double margin = 1 - 0x1p-50;  // of a few roundings

double with_sign(double size, std::uint64_t sign) { return std::bit_cast<double>(std::bit_cast<std::uint64_t>(size) ^ sign); }

/// Every number within `error` of the pair rounds to high where it is nearer than half the spacing above and below, as in rounds_to_high.
ERX_VECTOR_CLONES void to_double(const PairRow& row, std::size_t first, std::size_t n, double* out, std::uint64_t* open) {
  const double *high = row.high + first, *low = row.low + first, *error = row.error + first;
  const std::uint64_t flip = row.negative ? sign_bit : 0;
  ERX_INDEPENDENT
  for (std::size_t j = 0; j < n; ++j) {
    const std::uint64_t bits = std::bit_cast<std::uint64_t>(high[j]);
    const double size = bulk::magnitude(high[j]), beyond = with_sign(low[j], bits & sign_bit);
    const double above = std::bit_cast<double>(bits & exponent_bits) * 0x1p-53;
    const double below = bulk::select(above == size * 0x1p-53, above / 2, above);
    const bool decided = (size > 0x1p-900) & (size < 0x1p1000) & (beyond + error[j] < above * margin) & (error[j] - beyond < below * margin);
    out[j] = with_sign(high[j], flip);
    open[j] = static_cast<std::uint64_t>(!decided);
  }
}

/// The nearest value of the format to high; the rest and the error are less than what is left to the next middle. Where high is at or just above a power
/// of two, the middle below it is half as far.
ERX_VECTOR_CLONES void to_format(const PairRow& row, const BulkConstants& constants, std::size_t first, std::size_t n, double* out, std::uint64_t* open) {
  const BulkConstants k = constants;
  const double *high = row.high + first, *low = row.low + first, *error = row.error + first;
  const std::uint64_t flip = row.negative ? sign_bit : 0;
  ERX_INDEPENDENT
  for (std::size_t j = 0; j < n; ++j) {
    const std::uint64_t bits = std::bit_cast<std::uint64_t>(high[j]);
    const double size = bulk::magnitude(high[j]), reach = bulk::magnitude(low[j]) + error[j];
    double power = std::bit_cast<double>(bits & exponent_bits);
    power = bulk::select(power < k.least_power, k.least_power, power);
    power = bulk::select(power > k.greatest_power, k.greatest_power, power);
    const double magic = power * k.magic, rounded = (size + magic) - magic, room = power * k.half_quantum * margin;
    const bool decided = (bulk::magnitude(size - rounded) + reach < room) & (2 * reach < room) & (rounded > 0) & (rounded <= k.max_finite);
    out[j] = with_sign(rounded, (bits & sign_bit) ^ flip);
    open[j] = static_cast<std::uint64_t>(!decided);
  }
}

template <class Loop>
void in_blocks(std::size_t n, std::uint8_t* open, const Loop& loop) {
  constexpr std::size_t block = 256;
  std::uint64_t code[block];
  for (std::size_t first = 0; first < n; first += block) {
    const std::size_t count = n - first < block ? n - first : block;
    loop(first, count, code);
    for (std::size_t j = 0; j < count; ++j) open[first + j] = static_cast<std::uint8_t>(code[j]);
  }
}

}  // namespace

void round_pairs_to_double(const PairRow& row, double* out, std::uint8_t* open) {
  in_blocks(row.n, open, [&](std::size_t first, std::size_t n, std::uint64_t* code) { to_double(row, first, n, out + first, code); });
}

void round_pairs(const PairRow& row, const BulkRounding& to, double* out, std::uint8_t* open) {
  in_blocks(row.n, open, [&](std::size_t first, std::size_t n, std::uint64_t* code) { to_format(row, to.constants(), first, n, out + first, code); });
}

}  // namespace erx
