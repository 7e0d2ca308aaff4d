#include "eval/member_counter.hpp"

#include <algorithm>
#include <bit>
#include <cmath>

#include "ops/clones.hpp"
#include "ops/rounding.hpp"

namespace erx {
namespace {

[[gnu::always_inline]] inline std::int64_t rank_of(double x, const RankRule& k) {
  const std::int64_t bits = std::bit_cast<std::int64_t>(x), magnitude = bits & 0x7fffffffffffffff, sign = bits >> 63;
  const double a = std::bit_cast<double>(magnitude);
  const std::int64_t is_small = -static_cast<std::int64_t>(a < k.normal);
  const std::int64_t small = static_cast<std::int64_t>(std::bit_cast<double>(magnitude & is_small) * k.per_step), large = (magnitude >> k.shift) - k.first;
  const std::int64_t r = (small & is_small) | (large & ~is_small);
  return (r ^ sign) - sign;
}

[[gnu::always_inline]] inline std::uint64_t is_off_grid(double x, const RankRule& k) {
  const std::uint64_t magnitude = std::bit_cast<std::uint64_t>(x) & 0x7fffffffffffffff;
  const double a = std::bit_cast<double>(magnitude);
  const std::uint64_t is_small = -static_cast<std::uint64_t>(a < k.normal);
  const double steps = std::bit_cast<double>(magnitude & is_small) * k.per_step;
  const std::uint64_t off = static_cast<std::uint64_t>(static_cast<double>(static_cast<std::int64_t>(steps)) != steps);
  return off | (((magnitude & ((std::uint64_t{1} << k.shift) - 1)) != 0) & ~is_small);
}

struct RankCount {
  std::int64_t count;
  std::uint64_t off_grid;
};

ERX_VECTOR_CLONES RankCount count_by_ranks(const double* lo, const double* hi, std::size_t n, const RankRule& rule) {
  const RankRule k = rule;
  std::int64_t count = 0;
  std::uint64_t off_grid = 0;
  for (std::size_t i = 0; i < n; ++i) {
    off_grid |= is_off_grid(lo[i], k) | is_off_grid(hi[i], k);
    count += rank_of(hi[i], k) - rank_of(lo[i], k) + 1;
  }
  return {count, off_grid};
}

/// The same where all ends are normal numbers, as most are: no step below them has to be counted. `off_grid` tells where they are not, too.
ERX_VECTOR_CLONES RankCount count_normal(const double* lo, const double* hi, std::size_t n, const RankRule& rule) {
  const RankRule k = rule;
  const std::int64_t beside = (std::int64_t{1} << k.shift) - 1;
  std::int64_t count = static_cast<std::int64_t>(n), off_grid = 0;
  std::uint64_t small = 0;
  for (std::size_t i = 0; i < n; ++i) {
    const std::int64_t l = std::bit_cast<std::int64_t>(lo[i]), h = std::bit_cast<std::int64_t>(hi[i]), l_sign = l >> 63, h_sign = h >> 63;
    const std::int64_t l_size = l & 0x7fffffffffffffff, h_size = h & 0x7fffffffffffffff;
    off_grid |= (l_size | h_size) & beside;
    small |= static_cast<std::uint64_t>((std::bit_cast<double>(l_size) < k.normal) | (std::bit_cast<double>(h_size) < k.normal));
    const std::int64_t l_rank = (l_size >> k.shift) - k.first, h_rank = (h_size >> k.shift) - k.first;
    count += ((h_rank ^ h_sign) - h_sign) - ((l_rank ^ l_sign) - l_sign);
  }
  return {count, static_cast<std::uint64_t>(off_grid) | small};
}

}  // namespace

MemberCounter::MemberCounter(const std::optional<Format>& format) : format_(format) {
  if (!format) return;
  const Format& f = *format;
  by_ranks_ = f.has_sign && f.has_subnormals && f.has_zero && f.emin() - f.fraction_bits >= -1000;
  if (by_ranks_) rule_ = {f.min_normal(), 1 / f.min_positive(), 52 - f.fraction_bits, (std::int64_t{1023 + f.emin() - 1}) << f.fraction_bits};
}

double MemberCounter::operator()(double lo, double hi) const {
  if (!format_) return std::floor(hi) - std::ceil(lo) + 1;
  if (!by_ranks_ || is_off_grid(lo, rule_) || is_off_grid(hi, rule_)) return count_values(*format_, lo, hi);
  return static_cast<double>(rank_of(hi, rule_) - rank_of(lo, rule_) + 1);
}

std::optional<std::int64_t> MemberCounter::in_total(const double* lo, const double* hi, std::size_t n) const {
  if (!by_ranks_) return {};
  constexpr std::size_t block = 512;
  std::int64_t count = 0;
  for (std::size_t first = 0; first < n; first += block) {
    const std::size_t m = std::min(block, n - first);
    RankCount c = count_normal(lo + first, hi + first, m, rule_);
    if (c.off_grid) c = count_by_ranks(lo + first, hi + first, m, rule_);
    if (c.off_grid) return {};
    count += c.count;
  }
  return count;
}

}  // namespace erx
