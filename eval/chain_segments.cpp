#include "eval/chain_segments.hpp"

#include <algorithm>
#include <cmath>

#include "ops/clones.hpp"
#include "ops/planted.hpp"

namespace erx {
namespace {

constexpr std::int64_t lanes = Chains<float>::lanes, columns = 16;  // leaves of each segment that are laid out at a time
constexpr std::int64_t shortest = 32, longest = Chains<float>::longest, longest_pause = 16 * lanes * longest;

/// Leaf i of segment j to to[16 i + j]. Of the rows x + j * apart: two rounds of shuffles of four, which compilers find.
template <class K>
[[gnu::always_inline]] inline void lay_out(const K& k, const double* x, std::int64_t apart, typename K::Number* to) {
  using Number = typename K::Number;
  static_assert(lanes == 16);
  alignas(64) Number half[lanes * columns];
  for (std::int64_t j = 0; j < 4; ++j) {
    const double *a = x + j * apart, *b = a + 4 * apart, *c = b + 4 * apart, *d = c + 4 * apart;
    Number* const out = half + 4 * columns * j;
    ERX_INDEPENDENT
    for (std::int64_t i = 0; i < columns; ++i) {
      out[4 * i] = k.of(a[i]);
      out[4 * i + 1] = k.of(b[i]);
      out[4 * i + 2] = k.of(c[i]);
      out[4 * i + 3] = k.of(d[i]);
    }
  }
  ERX_INDEPENDENT
  for (std::int64_t i = 0; i < 4 * columns; ++i) {
    to[4 * i] = half[i];
    to[4 * i + 1] = half[i + 4 * columns];
    to[4 * i + 2] = half[i + 8 * columns];
    to[4 * i + 3] = half[i + 12 * columns];
  }
}

/// Segments of `length` leaves, `apart` from one another, whose lowest leaf in memory is at x, `backward` from its end.
template <class K>
[[gnu::always_inline]] inline void run_chains(const K& arithmetic, const double* x, std::int64_t apart, std::int64_t length, bool backward,
                                              Chains<typename K::Number>& chains) {
  using Number = typename K::Number;
  const K k = arithmetic;
  constexpr std::int64_t group = 64 / sizeof(Number);  // what registers hold
  alignas(64) Number leaves[lanes * columns];
  for (std::int64_t done = 0; done < length; done += columns) {
    lay_out(k, x + (backward ? length - columns - done : done), apart, leaves);
    for (std::int64_t at = 0; at < lanes; at += group) {
      Number first[group], least[group], greatest[group], second[group];
      for (std::int64_t j = 0; j < group; ++j) {
        first[j] = chains.first[at + j];
        least[j] = chains.least[at + j];
        greatest[j] = chains.greatest[at + j];
        second[j] = chains.second[at + j];
      }
      for (std::int64_t i = 0; i < columns; ++i) {
        const Number* leaf = leaves + lanes * (backward ? columns - 1 - i : i) + at;
        for (std::int64_t j = 0; j < group; ++j) {
          first[j] = k.add(first[j], leaf[j]);
          second[j] = k.add(second[j], leaf[j]);
          least[j] = first[j] < least[j] ? first[j] : least[j];
          greatest[j] = first[j] > greatest[j] ? first[j] : greatest[j];
        }
      }
      for (std::int64_t j = 0; j < group; ++j) {
        chains.first[at + j] = first[j];
        chains.least[at + j] = least[j];
        chains.greatest[at + j] = greatest[j];
        chains.second[at + j] = second[j];
      }
    }
  }
}

#define ERX_CHAINS(K)                                                                                                                             \
  ERX_VECTOR_CLONES void run_all(const K& k, const double* x, std::int64_t apart, std::int64_t length, bool backward, Chains<K::Number>& chains) { \
    run_chains(k, x, apart, length, backward, chains);                                                                                            \
  }
ERX_CHAINS(InFloat)
ERX_CHAINS(InDouble)
ERX_CHAINS(Rounded)
#undef ERX_CHAINS

/// Of the fraction of a Number, all ones.
template <class Number>
constexpr std::int64_t fraction = (std::int64_t{1} << (std::numeric_limits<Number>::digits - 1)) - 1;

}  // namespace

template <class K>
std::int64_t ChainSegments<K>::bits(Number magnitude) {
  if constexpr (sizeof(Number) == 4) return std::bit_cast<std::int32_t>(magnitude);
  else return std::bit_cast<std::int64_t>(magnitude);
}
template <class K>
typename K::Number ChainSegments<K>::number(std::int64_t bits, bool negative) {
  Number x;
  if constexpr (sizeof(Number) == 4) x = std::bit_cast<float>(static_cast<std::int32_t>(bits));
  else x = std::bit_cast<double>(bits);
  return negative ? -x : x;
}

/// The bits of the power of two below, where that and the next are values of the format, or -1: of NaN, zero and the other sign too.
template <class K>
std::int64_t ChainSegments<K>::binade(Number s, bool negative) const {
  const Number size = negative ? -s : s;
  const bool has_one = static_cast<double>(size) >= k_.least_power() && static_cast<double>(size) < k_.greatest_power();
  return has_one ? bits(size) & ~fraction<Number> : -1;
}

template <class K>
bool ChainSegments<K>::run(const double* x, std::int64_t length, std::int64_t step, Number near, Chains<Number>& chains) const {
  chains.negative = near < 0;
  chains.length = length;
  chains.low = binade(near, chains.negative);
  if (chains.low < 0) return false;
  const std::int64_t middle = chains.low + (fraction<Number> + 1) / 2, place = std::int64_t{1} << k_.spare_bits();
  std::fill_n(chains.first, lanes, number(middle, chains.negative));
  std::fill_n(chains.second, lanes, number(middle + place, chains.negative));
  std::fill_n(chains.least, lanes, std::numeric_limits<Number>::infinity());
  std::fill_n(chains.greatest, lanes, -std::numeric_limits<Number>::infinity());
  run_all(k_, step > 0 ? x : x - (length - 1), step * length, length, step < 0, chains);
  return true;
}

/// Moves `at`, the magnitude of the sum as bits, which in one binade count in places, over segment j; or false.
template <class K>
bool ChainSegments<K>::segment(const Chains<Number>& chains, std::int64_t j, std::int64_t& at) const {
  const auto magnitude = [&](Number y) { return bits(chains.negative ? -y : y); };
  const std::int64_t low = chains.low, high = low + fraction<Number> + 1, middle = low + (fraction<Number> + 1) / 2, place = std::int64_t{1} << k_.spare_bits();
  const std::int64_t least = magnitude(chains.negative ? chains.greatest[j] : chains.least[j]), greatest = magnitude(chains.negative ? chains.least[j] : chains.greatest[j]);
  const std::int64_t first = magnitude(chains.first[j]), second = magnitude(chains.second[j]);
  const std::int64_t odd = planted(Mistake::chain_odd_shift) ? 0 : (at - middle) & place, shift = at - middle - odd;
  // The second chain is at most two places further than the first. NaN, once there, is in the end.
  const std::int64_t room = planted(Mistake::chain_first_alone) ? 0 : 2 * place, edge = planted(Mistake::chain_at_power) ? -place : 0;
  const auto is_inside = [&](std::int64_t from, std::int64_t to) { return from > low + edge && to < high - room - edge; };
  const bool chain_inside = planted(Mistake::chain_unwatched) || is_inside(least, greatest);
  const bool sum_inside = planted(Mistake::chain_shift_unwatched) || (chain_inside && is_inside(least + shift, greatest + shift));
  if (!(chain_inside && sum_inside && first >= least && first <= greatest)) return false;
  at = (odd ? second : first) + shift;
  return true;
}

template <class K>
void ChainSegments<K>::note(std::int64_t taken, std::int64_t length) {
  in_segments_ += taken * length;
  // A run costs about what four segments save.
  credit_ = std::min(credit_ + taken - lanes / 4, 2 * lanes);
  if (taken >= lanes / 4) pause_ = 0;
  if (credit_ >= 0) return;
  credit_ = 0;
  rest_ = pause_ = std::min(2 * pause_ + lanes * length, longest_pause);
}

template <class K>
typename K::Number ChainSegments<K>::add(const double* x, std::int64_t n, std::int64_t step, Number s) {
  Chains<Number> chains;
  while (n > 0) {
    const std::int64_t length = std::min(n / lanes, longest) / columns * columns;
    std::int64_t done = length < shortest ? n : std::min(rest_, n);
    rest_ = std::max<std::int64_t>(rest_ - done, 0);
    if (done == 0 && !run(x, length, step, s, chains)) done = length;
    if (done > 0) s = add_run(k_, x, done, step, s);
    else s = join(chains, step, [&](std::int64_t first, std::int64_t) { return x + first * step; }, s, done);
    x += done * step;
    n -= done;
  }
  return s;
}

template class ChainSegments<InFloat>;
template class ChainSegments<InDouble>;
template class ChainSegments<Rounded>;

}  // namespace erx
