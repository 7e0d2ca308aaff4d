#include "ops/rounded_lanes.hpp"

#include <algorithm>

#include "ops/clones.hpp"
#include "ops/num/f64.hpp"
#include "ops/number_tile.hpp"

namespace erx {
namespace {

constexpr std::size_t chunk = 256;  // its arrays stay in the first cache

constexpr std::uint64_t leaves_range = 2;

/// Of a chunk: is some element not decided, is some element 0?
struct Found {
  std::uint64_t bad = 0, zero = 0;
};

/// One rounding decides; bad[i] comes with what the operation could not tell (~0), and becomes `leaves_range` where the rounding overflows.
template <Mode mode, bool usual>
[[gnu::always_inline]] inline Found round_single(const double* odd, double* out, std::uint64_t* bad, std::size_t n, const BulkConstants& constants) {
  const BulkConstants k = constants;
  std::uint64_t any_bad = 0, any_zero_found = 0;
  ERX_INDEPENDENT
  for (std::size_t i = 0; i < n; ++i) {
    std::uint64_t over;
    const double r = bulk::round_plain<mode, usual>(odd[i], k, &over);
    out[i] = r;
    bad[i] |= over & leaves_range;
    any_bad |= bad[i];
    any_zero_found |= static_cast<std::uint64_t>(r == 0);
  }
  return {any_bad, any_zero_found};
}

/// What float64 rounded itself.
ERX_VECTOR_CLONES Found keep(const double* x, const double*, double* out, std::uint64_t* bad, std::size_t n, const BulkConstants&) {
  std::uint64_t any_bad = 0, any_zero_found = 0;
  for (std::size_t i = 0; i < n; ++i) {
    out[i] = x[i];
    any_bad |= bad[i];
    any_zero_found |= static_cast<std::uint64_t>(x[i] == 0);
  }
  return {any_bad, any_zero_found};
}

/// Both sides of an enclosure have to round alike; one around 0 tells no sign.
template <Mode mode, bool usual>
[[gnu::always_inline]] inline Found round_pair(const double* d, const double* u, double* out, std::uint64_t* bad, std::size_t n, const BulkConstants& constants) {
  const BulkConstants k = constants;
  std::uint64_t any_bad = 0, any_zero_found = 0;
  const std::uint64_t lower_only = planted(Mistake::lower_side_only) ? 0 : ~std::uint64_t{0};
  ERX_INDEPENDENT
  for (std::size_t i = 0; i < n; ++i) {
    std::uint64_t low_over, high_over;
    const double low = bulk::round_plain<mode, usual>(d[i], k, &low_over), high = bulk::round_plain<mode, usual>(u[i], k, &high_over);
    const std::uint64_t apart = std::bit_cast<std::uint64_t>(low) ^ std::bit_cast<std::uint64_t>(high);
    // Of one sign, or one number: the bits differ in less than the sign, or in nothing; and neither side is a 0 beside something else.
    const std::uint64_t sides = std::bit_cast<std::uint64_t>(d[i]) ^ std::bit_cast<std::uint64_t>(u[i]);
    const std::uint64_t is_zero = -static_cast<std::uint64_t>(bulk::magnitude(d[i]) == 0) | -static_cast<std::uint64_t>(bulk::magnitude(u[i]) == 0);
    out[i] = low;
    const std::uint64_t over = low_over & high_over;
    bad[i] |= (((apart & lower_only) | (sides & is_zero) | low_over | high_over) & ~over) | (leaves_range & over) | (sides >> 63);
    any_bad |= bad[i];
    any_zero_found |= static_cast<std::uint64_t>(low == 0);
  }
  return {any_bad, any_zero_found};
}

#define ERX_ROUND_LOOPS(mode, kind, usual)                                                                                               \
  ERX_VECTOR_CLONES Found single_##mode##kind(const double* x, const double*, double* out, std::uint64_t* bad, std::size_t n, const BulkConstants& k) { \
    return round_single<Mode::mode, usual>(x, out, bad, n, k);                                                                           \
  }                                                                                                                                      \
  ERX_VECTOR_CLONES Found pair_##mode##kind(const double* d, const double* u, double* out, std::uint64_t* bad, std::size_t n, const BulkConstants& k) { \
    return round_pair<Mode::mode, usual>(d, u, out, bad, n, k);                                                                          \
  }
#define ERX_BOTH_KINDS(mode) ERX_ROUND_LOOPS(mode, , true) ERX_ROUND_LOOPS(mode, _unusual, false)
ERX_BOTH_KINDS(rne)
ERX_BOTH_KINDS(rna)
ERX_BOTH_KINDS(rtz)
ERX_BOTH_KINDS(rtp)
ERX_BOTH_KINDS(rtn)
#undef ERX_BOTH_KINDS
#undef ERX_ROUND_LOOPS

using RoundLoop = Found (*)(const double*, const double*, double*, std::uint64_t*, std::size_t, const BulkConstants&);

RoundLoop round_loop(const BulkRounding& round, bool single) {
  if (!round.is_fast() && !round.is_unusual()) return nullptr;
  const auto choose = [&](RoundLoop usual_single, RoundLoop usual_pair, RoundLoop unusual_single, RoundLoop unusual_pair) {
    return round.is_fast() ? (single ? usual_single : usual_pair) : single ? unusual_single : unusual_pair;
  };
  switch (round.rounding().mode) {
    case Mode::rne: return choose(single_rne, pair_rne, single_rne_unusual, pair_rne_unusual);
    case Mode::rna: return choose(single_rna, pair_rna, single_rna_unusual, pair_rna_unusual);
    case Mode::rtz: return choose(single_rtz, pair_rtz, single_rtz_unusual, pair_rtz_unusual);
    case Mode::rtp: return choose(single_rtp, pair_rtp, single_rtp_unusual, pair_rtp_unusual);
    case Mode::rtn: return choose(single_rtn, pair_rtn, single_rtn_unusual, pair_rtn_unusual);
    default: return nullptr;
  }
}

/// Are its values the doubles, subnormals included?
bool is_float64(const Format& f) {
  return f.precision() == 53 && f.emin() == -1022 && f.emax() == 1023 && f.has_sign && f.has_subnormals && f.has_zero && f.has_negative_zero();
}

ERX_VECTOR_CLONES void mark_special(const std::uint8_t* flags, std::uint64_t* bad, std::size_t n) {
  for (std::size_t i = 0; i < n; ++i) bad[i] = -static_cast<std::uint64_t>(flags[i] != 0);
}

}  // namespace

namespace lanes {

RoundedTile rounded(const Loops& loops, std::span<const Tile> x, const Tile& out, std::size_t n, const BulkRounding& round, void (*hard)(std::size_t i, void*),
                    void* data) {
  bool exact = true, special = false;
  for (const Tile& t : x) {
    if (!t.is_point || (t.scalar && !t.plain && !t.numbers)) return RoundedTile::none;
    exact = exact && t.lo_d == t.lo_u;
    special = special || !(t.plain || t.numbers);
  }
  // Zeros whose sign is not that of the double go through the formulas.
  const bool simple = exact && !special, by_hardware = simple && loops.nearest && round.rounding().mode == Mode::rne && is_float64(round.format());
  const bool single = by_hardware || (simple && loops.odd);
  const RoundLoop finish = by_hardware ? keep : round_loop(round, single);
  if (!finish) return RoundedTile::none;

  const bool unary = x.size() == 1;
  Operand a, b;
  a.set(x[0].lo_d, x[0].lo_u, x[0].scalar, false, n);
  if (!unary) b.set(x[1].lo_d, x[1].lo_u, x[1].scalar, loops.negate_second, n);
  const bool a_exact = a.d == a.u, b_exact = unary || b.d == b.u;
  const Loop chosen = by_hardware ? loops.nearest : single ? loops.odd : a_exact ? (b_exact ? loops.exact : loops.left_exact) : b_exact ? loops.right_exact : loops.open;
  std::uint64_t bad[chunk];
  double d[chunk], u[chunk];
  std::uint16_t open[tile_size + 1];
  bool over[tile_size + 1];
  std::size_t n_open = 0;
  std::uint64_t zero = 0;
  for (std::size_t first = 0; first < n; first += chunk) {
    const std::size_t m = std::min(chunk, n - first);
    if (!single) {
      std::fill_n(bad, m, 0);
      for (const Tile& t : x) {
        if (t.plain || t.numbers) continue;
        std::uint64_t more[chunk];
        mark_special(t.flags + first, more, m);
        for (std::size_t i = 0; i < m; ++i) bad[i] |= more[i];
      }
    }
    chosen({a.d + first, a.u + first, unary ? nullptr : b.d + first, unary ? nullptr : b.u + first, d, u, bad, m});
    const Found found = finish(d, u, out.lo_d + first, bad, m, round.constants());
    zero |= found.zero;
    if (!found.bad) continue;
    for (std::size_t i = 0; i < m; ++i) {
      open[n_open] = static_cast<std::uint16_t>(first + i);
      over[n_open] = bad[i] == leaves_range;  // two values of a format differ in a higher bit
      n_open += bad[i] != 0;
    }
  }
  if (n_open == 0 && zero == 0) return RoundedTile::nonzero;
  zero_flags(out.lo_d, out.flags, n);
  if (n_open == 0) return RoundedTile::numbers;
  std::copy_n(out.lo_d, n, out.lo_u);
  bool numbers = true;
  for (std::size_t k = 0; k < n_open; ++k) {
    const std::size_t i = open[k];
    if (over[k]) {
      const double v = round.constants().overflow[out.lo_d[i] < 0];
      const bool finite = f64::is_finite(v);
      out.lo_d[i] = out.lo_u[i] = finite ? v : 0;
      out.flags[i] = flags_of(v);
      numbers = numbers && finite;
      continue;
    }
    hard(i, data);
    const std::uint8_t flags = out.flags[i];
    // A zero of one sign has it in the double from now on.
    if (flags == has_nzero && out.lo_d[i] == 0 && out.lo_u[i] == 0) out.lo_d[i] = out.lo_u[i] = -0.0;
    else if (flags == has_pzero && out.lo_d[i] == 0 && out.lo_u[i] == 0) out.lo_d[i] = out.lo_u[i] = 0.0;
    numbers = numbers && out.lo_d[i] == out.lo_u[i] && (flags == 0 || (out.lo_d[i] == 0 && (flags == has_pzero || flags == has_nzero)));
  }
  return numbers ? RoundedTile::numbers : RoundedTile::sets;
}

}  // namespace lanes
}  // namespace erx
