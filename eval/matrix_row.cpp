#include "eval/matrix_row.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "ops/clones.hpp"
#include "ops/planted.hpp"
#include "ops/stream_steps.hpp"
#include "ops/sum_rule.hpp"

namespace erx {

namespace {

const Format& any_format(const SumRule& rule) {
  static const Format& f64 = *find_format("f64");
  return rule.rounds ? rule.format : f64;
}

using bulk::select;

constexpr std::uint64_t is_hard = 256, either_zero = has_pzero | has_nzero;

std::uint64_t mask(bool condition) { return -static_cast<std::uint64_t>(condition); }

/// The low byte of each code and the byte above it.
ERX_VECTOR_CLONES void split(const std::uint64_t* code, std::size_t n, std::uint8_t* low, std::uint8_t* high) {
  for (std::size_t j = 0; j < n; ++j) low[j] = static_cast<std::uint8_t>(code[j]);
  for (std::size_t j = 0; high && j < n; ++j) high[j] = static_cast<std::uint8_t>(code[j] >> 8);
}

/// lo_d <= lo_u <= the value above lo_d: both round to it. Only where lo_u lies beyond is it rounded by itself; likewise below.
/// returns: how many elements have such an end.
ERX_VECTOR_CLONES std::uint64_t tighten(const double* lo_d, double* lo_u, double* hi_d, const double* hi_u, std::size_t n) {
  std::uint64_t beyond = 0;
  for (std::size_t j = 0; j < n; ++j) {
    lo_u[j] = select(lo_u[j] < lo_d[j], lo_d[j], lo_u[j]);
    hi_d[j] = select(hi_d[j] > hi_u[j], hi_u[j], hi_d[j]);
    beyond += static_cast<std::uint64_t>((lo_u[j] > lo_d[j]) | (hi_d[j] < hi_u[j]));
  }
  return beyond;
}

template <bool rounds, bool with_other>
[[gnu::always_inline]] inline void enclose(const MatrixRow& row, const RowConstants& constants, std::size_t first, std::size_t n, double* lo_d, double* lo_u,
                                           double* hi_d, double* hi_u, std::uint64_t* code) {
  const MatrixRow r = row;  // copies: the loop may keep them in registers
  const RowConstants k = constants;
  constexpr double slack = 0x1p-51;  // of a few roundings to nearest, relative to what they touch
  const double sign = r.negative ? -1 : 1;
  const double *centre = r.centre + first, *magnitude = (rounds ? r.magnitude : r.centre) + first, *norms = r.norm + first, *grids = r.grid + first;
  const double *other = r.other + first, *other_magnitude = r.other_magnitude + first, *other_grid = r.other_grid + first;
  ERX_INDEPENDENT
  for (std::size_t j = 0; j < n; ++j) {
    const double norm = r.row_norm * norms[j], product_grid = r.row_grid * grids[j];
    bool certified = ((norm <= 0x1p53 * (1 - 0x1p-52) * product_grid) | planted(Mistake::inexact_is_exact)) & (product_grid >= 0x1p-1000) & (product_grid <= 0x1p900);
    if constexpr (planted_build)
      if (planted(Mistake::ratio_form)) certified = (r.row_norm / r.row_grid) * (norms[j] / grids[j]) <= 0x1p53 * (1 - 0x1p-52);
    const double product = sign * centre[j], product_magnitude = bulk::magnitude(magnitude[j]);
    double p_error = select(certified & r.magnitude_may_be_exact, 0.0, product_magnitude * r.magnitude_relative + r.magnitude_absolute);
    const double size_of_error = rounds ? product_magnitude + p_error : norm;
    double d = select(certified | planted(Mistake::centre_only), 0.0, size_of_error * r.relative + r.absolute);
    double s = product, p = product_magnitude, grid = product_grid;
    bool is_exact = certified, p_is_exact = certified & r.magnitude_may_be_exact;
    if constexpr (with_other) {
      s = product + other[j];
      p = product_magnitude + other_magnitude[j];
      grid = select(other_grid[j] < product_grid, other_grid[j], product_grid);
      // What these sums lose is known.
      const double lost = bulk::magnitude(f64::sum_residual(product, other[j], s)), p_lost = bulk::magnitude(f64::sum_residual(product_magnitude, other_magnitude[j], p));
      is_exact = is_exact & ((lost == 0) | planted(Mistake::lost_residual));
      p_is_exact = p_is_exact & ((p_lost == 0) | planted(Mistake::lost_residual));
      d += select(planted(Mistake::lost_residual), 0.0, lost);
      p_error += select(planted(Mistake::lost_residual), 0.0, p_lost);
    }
    const double size = bulk::magnitude(s);
    // Products that are all 0 may all be -0, and then so is their sum; the float64 product always starts at +0.
    const bool may_be_all_zero = (rounds ? p == 0 : s == 0) & !planted(Mistake::zero_of_product);
    const double s_slack = select(is_exact, 0.0, (size + d) * slack), p_slack = select(p_is_exact, 0.0, (p + p_error) * slack);
    const double s_d = s - d - s_slack, s_u = s + d + s_slack;
    if constexpr (!rounds) {
      lo_d[j] = s_d;
      lo_u[j] = s_u;
      code[j] = (mask((s_d <= 0) & (s_u >= 0)) & has_pzero) | (mask(may_be_all_zero | !(norm < std::numeric_limits<double>::infinity())) & is_hard);
      continue;
    }
    const double p_d = p - p_error - p_slack, p_u = p + p_error + p_slack;

    // Grid rule: (P + |s|)/2 <= 2^p grid.
    const double limit = grid * k.significands;
    const bool has_grid = grid >= k.least_grid;
    const bool on_grid = has_grid & (0.5 * (p_u + size + d) <= limit * (1 - slack));
    const bool at_edge = has_grid & !on_grid & (0.5 * (p_d + size - d) <= limit * (1 + slack));

    const std::uint64_t products_exact = k.fits & mask(grid >= k.eta);
    const double relative = select(products_exact, k.exact.relative, k.inexact.relative);
    const double absolute = select(products_exact, k.exact.absolute, k.inexact.absolute);
    const double e_d = select(on_grid, 0.0, (relative * p_d + absolute) * (1 - slack));
    const double e_u = select(on_grid, 0.0, (relative * p_u + absolute) * (1 + slack));
    const double t = select(on_grid, 0.0, (size + d + e_u) * slack);
    const double a = s_d - e_u - t, b = s_u + e_u + t;
    const double inner_lo = s_u - e_d + t, inner_hi = s_d + e_d - t;
    const auto cut = [&](double end) { return select(end > k.max_finite, k.max_finite, select(end < -k.max_finite, -k.max_finite, end)); };
    lo_d[j] = cut(a);
    lo_u[j] = cut(inner_lo + select(on_grid, 0.0, bulk::magnitude(inner_lo) * k.end_relative + k.end_absolute));
    hi_d[j] = cut(inner_hi - select(on_grid, 0.0, bulk::magnitude(inner_hi) * k.end_relative + k.end_absolute));
    hi_u[j] = cut(b);
    const std::uint64_t zeros = has_pzero | (~mask(on_grid) & ((products_exact & k.sign_of_zero_with_exact_products) | (~products_exact & either_zero)));
    // Partial sums reach (P + s)/2 + e above and (P - s)/2 + e below. source: as sum_of_parts.
    const bool overflow = !(p_u + e_u <= k.max_finite * (1 - slack));
    const double above = 0.5 * (p_u + s_u) + e_u, below = 0.5 * (p_u - s_d) + e_u;
    const bool may_rise = !(above <= k.max_finite * (1 - slack)), rises = 0.5 * (p_d + s_d) + e_d > k.max_finite * (1 + slack);
    const bool may_fall = !(below <= k.max_finite * (1 - slack)), falls = 0.5 * (p_d - s_u) + e_d > k.max_finite * (1 + slack);
    const bool untold = overflow & (on_grid | (k.over == 0) | (may_rise != rises) | (may_fall != falls));
    const bool hard = may_be_all_zero | !(norm < std::numeric_limits<double>::infinity()) | untold | at_edge | (on_grid & !is_exact);
    const std::uint64_t both = mask(rises & falls & !planted(Mistake::one_side_overflows) & !planted(Mistake::infinity_without_nan)) & has_nan;
    const std::uint64_t special = mask(overflow) & ((mask(rises) & k.over) | (mask(falls & !planted(Mistake::one_side_overflows)) & k.under) | both);
    code[j] = (mask((a <= 0) & (b >= 0)) & zeros) | special | (mask(hard) & is_hard);
  }
}

/// The enclosure of enclose<false, false>, and both its ends rounded.
ERX_VECTOR_CLONES void round_exact(const MatrixRow& row, const BulkConstants& constants, std::size_t first, std::size_t n, double* out, std::uint64_t* open) {
  const MatrixRow r = row;
  const BulkConstants k = constants;
  constexpr double slack = 0x1p-51;
  const double sign = r.negative ? -1 : 1;
  const double *centre = r.centre + first, *norms = r.norm + first, *grids = r.grid + first;
  ERX_INDEPENDENT
  for (std::size_t j = 0; j < n; ++j) {
    const double norm = r.row_norm * norms[j], grid = r.row_grid * grids[j];
    bool certified = ((norm <= 0x1p53 * (1 - 0x1p-52) * grid) | planted(Mistake::inexact_is_exact)) & (grid >= 0x1p-1000) & (grid <= 0x1p900);
    if constexpr (planted_build)
      if (planted(Mistake::ratio_form)) certified = (r.row_norm / r.row_grid) * (norms[j] / grids[j]) <= 0x1p53 * (1 - 0x1p-52);
    const double s = sign * centre[j], d = select(certified | planted(Mistake::centre_only), 0.0, norm * r.relative + r.absolute);
    const double margin = d + select(certified, 0.0, (bulk::magnitude(s) + d) * slack);
    // The nearest value r of the format, and how far s may move before another is nearest: half a quantum from r, and, where r is the
    // power below s, whose lower neighbour is nearer, half of that below.
    const std::uint64_t bits = std::bit_cast<std::uint64_t>(s);
    const double size = bulk::magnitude(s);
    double power = std::bit_cast<double>(bits & 0x7ff0000000000000u);
    power = select(power < k.least_power, k.least_power, power);
    power = select(power > k.greatest_power, k.greatest_power, power);
    const double magic = power * k.magic, rounded = (size + magic) - magic, room = power * k.half_quantum * (1 - 0x1p-50);
    out[j] = std::bit_cast<double>(std::bit_cast<std::uint64_t>(rounded) | (bits & 0x8000000000000000u));
    const bool one_way = (margin == 0) | ((bulk::magnitude(size - rounded) + margin < room) & ((2 * margin < room) | planted(Mistake::room_below_power)));
    const bool decided = one_way & (rounded > 0) & (rounded <= k.max_finite) & (norm < std::numeric_limits<double>::infinity());
    open[j] = mask(!decided) & 1;
  }
}

/// The same with one margin for all, at least as wide as that of each: margin + relative |s|. Twice the margin fits beside the way to the rounded
/// value, so it does below a power of two as well. returns: whether some stay open.
[[gnu::always_inline]] inline bool round_all_within(const double* centre, const BulkConstants& constants, double sign, double margin, double relative, std::size_t n, double* out) {
  const double factor = planted(Mistake::room_below_power) ? 1 : 2, twice = margin == 0 ? -std::numeric_limits<double>::infinity() : factor * margin, twice_relative = factor * relative;  // 0: exact
  const double half_quantum = constants.half_quantum * (1 - 0x1p-50), to_magic = constants.magic;
  const auto least_power = std::bit_cast<std::int64_t>(constants.least_power);
  const auto most = std::bit_cast<std::uint64_t>(constants.max_finite);
  std::uint64_t open = 0;
  ERX_INDEPENDENT
  for (std::size_t j = 0; j < n; ++j) {
    const double s = sign * centre[j], size = bulk::magnitude(s);
    const std::uint64_t bits = std::bit_cast<std::uint64_t>(s);
    const auto exponent = static_cast<std::int64_t>(bits & 0x7ff0000000000000u);
    const double power = std::bit_cast<double>(exponent > least_power ? exponent : least_power);
    const double magic = power * to_magic, rounded = (size + magic) - magic;  // NaN where s is far too large
    out[j] = std::bit_cast<double>(std::bit_cast<std::uint64_t>(rounded) | (bits & 0x8000000000000000u));
    const bool one_way = bulk::magnitude(size - rounded) + (twice + size * twice_relative) < power * half_quantum;
    const bool ordinary = std::bit_cast<std::uint64_t>(rounded) - 1 < most;  // neither 0 nor past the largest value
    open |= static_cast<std::uint64_t>(!(one_way & ordinary));
  }
  return open != 0;
}

#define ERX_ROUND_WITHIN(attributes, name)                                                                                                                       \
  attributes bool name(const double* centre, const BulkConstants& constants, double sign, double margin, double relative, std::size_t n, double* out) {              \
    return round_all_within(centre, constants, sign, margin, relative, n, out);                                                                                     \
  }
ERX_ROUND_WITHIN(ERX_VECTOR_CLONES, round_within_narrow)
#if defined(ERX_STREAMS)
ERX_ROUND_WITHIN([[ERX_AVX512]], round_within_wide)
bool round_within(const double* centre, const BulkConstants& constants, double sign, double margin, double relative, std::size_t n, double* out) {
  static const auto loop = chooses_avx512() ? round_within_wide : round_within_narrow;
  return loop(centre, constants, sign, margin, relative, n, out);
}
#else
constexpr auto round_within = round_within_narrow;
#endif
#undef ERX_ROUND_WITHIN

#define ERX_ENCLOSE(name, rounds, with_other)                                                                                                \
  ERX_VECTOR_CLONES void name(const MatrixRow& r, const RowConstants& k, std::size_t first, std::size_t n, double* lo_d, double* lo_u, \
                              double* hi_d, double* hi_u, std::uint64_t* code) {                                                               \
    enclose<rounds, with_other>(r, k, first, n, lo_d, lo_u, hi_d, hi_u, code);                                                                \
  }
ERX_ENCLOSE(enclose_exact, false, false)
ERX_ENCLOSE(enclose_exact_other, false, true)
ERX_ENCLOSE(enclose_rounded, true, false)
ERX_ENCLOSE(enclose_rounded_other, true, true)
#undef ERX_ENCLOSE

}  // namespace

MatrixRowRule::MatrixRowRule(const SumRule& rule, std::int64_t leaves)
    : rule_(rule),
      exact_(rule.rounds ? closed_bound(rule, leaves, false) : ClosedBound{}),
      inexact_(rule.rounds ? closed_bound(rule, leaves, true) : ClosedBound{}),
      eta_(any_format(rule).min_positive()),
      least_grid_(loses_subnormals(rule) ? any_format(rule).min_normal() : eta_),
      significands_(std::ldexp(1.0, any_format(rule).precision())),
      up_(any_format(rule), {Mode::rtp, Overflow::sat, Flush::no}),
      down_(any_format(rule), {Mode::rtn, Overflow::sat, Flush::no}),
      constants_{row_constants(false), row_constants(true)} {}

namespace {

/// high + x rounded up to a double; finite.
[[gnu::always_inline]] inline double sum_up(double high, double x) {
  const double s = high + x + 0.0;
  const std::int64_t bits = std::bit_cast<std::int64_t>(s), above = bits + 1 + 2 * (bits >> 63);
  return bulk::select(f64::sum_residual(high, x, s) > 0, std::bit_cast<double>(above), s);
}

ERX_VECTOR_CLONES void enclose_in_float64(const MatrixRow& row, const PairRow& sums, const RowConstants& constants, std::size_t first, std::size_t n, double* lo, double* hi,
                                          std::uint64_t* code) {
  const RowConstants k = constants;
  constexpr double slack = 0x1p-51;
  const double row_norm = row.row_norm, row_grid = row.row_grid, relative = row.magnitude_relative, absolute = row.magnitude_absolute, sign = row.negative ? -1 : 1;
  const double *norms = row.norm + first, *grids = row.grid + first, *magnitude = row.magnitude + first;
  const double *highs = sums.high + first, *lows = sums.low + first, *error = sums.error + first;
  ERX_INDEPENDENT
  for (std::size_t j = 0; j < n; ++j) {
    const double norm = row_norm * norms[j], grid = row_grid * grids[j], p = bulk::magnitude(magnitude[j]), p_error = p * relative + absolute;
    const double p_d = (p - p_error) * (1 - slack), p_u = (p + p_error) * (1 + slack);
    const bool grid_rule = (grid >= k.least_grid) & (0.5 * (p_d + bulk::magnitude(highs[j])) <= grid * k.significands * (1 + slack));
    const std::uint64_t exact = k.fits & mask(grid >= k.eta);
    const double r = bulk::select(exact != 0, k.exact.relative, k.inexact.relative), a = bulk::select(exact != 0, k.exact.absolute, k.inexact.absolute);
    const double e_d = (r * p_d + a) * (1 - slack), e_u = (r * p_u + a) * (1 + slack);
    const double high = sign * highs[j], low = sign * lows[j], lost = error[j] + (bulk::magnitude(low) + e_u) * slack + 0x1p-1074;
    // The lower end is high + low - e rounded up; the upper one is the mirror image of a lower one.
    lo[j] = sum_up(high, low - e_u - lost);
    hi[j] = -sum_up(-high, -low - e_u - lost);
    const bool same = (lo[j] == sum_up(high, low - e_d + lost)) & (hi[j] == -sum_up(-high, -low - e_d + lost));
    const bool in_range = (norm < std::numeric_limits<double>::infinity()) & (p_u + e_u <= k.max_finite * (1 - slack)) & (bulk::magnitude(high) <= k.max_finite);
    const std::uint64_t zeros = (exact & k.sign_of_zero_with_exact_products) | (~exact & either_zero);
    code[j] = (mask((lo[j] <= 0) & (hi[j] >= 0)) & zeros) | (mask(!same | !in_range | grid_rule | (p == 0)) & is_hard);
  }
}

}  // namespace

void MatrixRowRule::in_float64(const MatrixRow& row, const PairRow& sums, double* lo, double* hi, std::uint8_t* flags, std::uint8_t* open) const {
  const RowConstants& k = constants_[false];
  constexpr std::size_t block = 256;
  std::uint64_t code[block];
  for (std::size_t first = 0; first < sums.n; first += block) {
    const std::size_t n = std::min(block, sums.n - first);
    enclose_in_float64(row, sums, k, first, n, lo + first, hi + first, code);
    split(code, n, flags + first, open + first);
  }
}

RowConstants MatrixRowRule::row_constants(bool users_round) const {
  const bool room = users_round && !planted(Mistake::sum_not_rounded), told = !rule_.within && (any_format(rule_).has_infinity() || any_format(rule_).has_nan());
  return {any_format(rule_).max_finite(), eta_, least_grid_, significands_, room ? 2 / significands_ * (1 + 0x1p-20) : 0, room ? eta_ : 0, exact_, inexact_, mask(rule_.products_fit),
          rule_.within || loses_subnormals(rule_) ? either_zero : std::uint64_t{has_pzero}, told ? overflow_flags(any_format(rule_), true, false) : std::uint64_t{0}, told ? overflow_flags(any_format(rule_), false, true) : std::uint64_t{0}};
}

std::optional<Set<F64>> MatrixRowRule::in_float64(const MatrixRow& one, const Doubled& sum, double error) const {
  if (one.other) return {};
  double lo, hi;
  std::uint8_t flags, open;
  in_float64(one, {1, &sum.high, &sum.low, &error, one.negative}, &lo, &hi, &flags, &open);
  if (open) return {};
  return Set<F64>::between(F64::exact(lo), F64::exact(hi), flags);
}

ColumnRange ColumnRange::of(const double* norms, const double* grids, std::size_t n) {
  ColumnRange range{0, std::numeric_limits<double>::infinity(), std::numeric_limits<double>::infinity(), 0};
  for (std::size_t j = 0; j < n; ++j) {
    range.most_norm = std::max(range.most_norm, norms[j]);
    range.least_norm = std::min(range.least_norm, norms[j]);
    range.least_grid = std::min(range.least_grid, grids[j]);
    range.most_grid = std::max(range.most_grid, grids[j]);
  }
  return range;
}

namespace {

/// What holds for every sum of a row: it lies within margin + relative |s| of its centre.
struct Margin {
  double margin, relative;
  bool is_finite;
};

/// As in round_exact, for the widest column and the finest grid. A product that is certified has no margin at all.
Margin margin_of(const MatrixRow& r, const ColumnRange& range, double lost) {
  constexpr double slack = 0x1p-51;
  const double norm = r.row_norm * (planted(Mistake::narrowest_column) ? range.least_norm : range.most_norm), least = r.row_grid * range.least_grid, most = r.row_grid * range.most_grid;
  const bool certified = ((norm <= 0x1p53 * (1 - 0x1p-52) * least) | planted(Mistake::inexact_is_exact)) & (least >= 0x1p-1000) & (most <= 0x1p900) & (lost == 0);
  const double d = certified || planted(Mistake::centre_only) ? 0 : norm * r.relative + r.absolute + lost;
  return {certified ? 0 : d * (1 + 2 * slack), certified ? 0 : slack * (1 + 0x1p-20), norm < std::numeric_limits<double>::infinity() && !planted(Mistake::ratio_form)};
}

constexpr std::size_t block_of_row = 256;

}  // namespace

bool MatrixRowRule::rounded_together(const MatrixRow& r, const ColumnRange& range, double lost, const BulkRounding& to, double* out) const {
  const Margin m = margin_of(r, range, lost);
  for (std::size_t first = 0; m.is_finite && first < r.columns; first += block_of_row)
    if (round_within(r.centre + first, to.constants(), r.negative ? -1 : 1, m.margin, m.relative, std::min(block_of_row, r.columns - first), out + first)) return false;
  return m.is_finite;
}

bool MatrixRowRule::rounded(const MatrixRow& r, const ColumnRange& range, const BulkRounding& to, double* out, std::uint8_t* open) const {
  const Margin m = margin_of(r, range, 0);
  bool any = false;
  std::uint64_t code[block_of_row];
  for (std::size_t first = 0; first < r.columns; first += block_of_row) {
    const std::size_t n = std::min(block_of_row, r.columns - first);
    if (m.is_finite && !round_within(r.centre + first, to.constants(), r.negative ? -1 : 1, m.margin, m.relative, n, out + first)) {
      if (any) std::fill(open + first, open + first + n, std::uint8_t{0});
      continue;
    }
    if (!any) std::fill(open, open + first, std::uint8_t{0});
    any = true;
    round_exact(r, to.constants(), first, n, out + first, code);
    split(code, n, open + first, nullptr);
  }
  return any;
}

void MatrixRowRule::operator()(const MatrixRow& r, double* lo_d, double* lo_u, double* hi_d, double* hi_u, std::uint8_t* flags,
                               std::uint8_t* hard) const {
  const bool encloses = r.users_round && rule_.rounds && !rule_.within;
  const RowConstants& k = constants_[encloses];
  const auto kernel = rule_.rounds ? (r.other ? enclose_rounded_other : enclose_rounded) : (r.other ? enclose_exact_other : enclose_exact);
  constexpr std::size_t block = 256;
  std::uint64_t code[block];
  for (std::size_t first = 0; first < r.columns; first += block) {
    const std::size_t n = std::min(block, r.columns - first);
    kernel(r, k, first, n, lo_d + first, lo_u + first, hi_d + first, hi_u + first, code);
    split(code, n, flags + first, hard + first);
  }
  if (!rule_.rounds && hi_d != lo_d) {
    std::copy(lo_d, lo_d + r.columns, hi_d);
    std::copy(lo_u, lo_u + r.columns, hi_u);
  }
  if (!rule_.rounds || rule_.within || encloses) return;
  up_(lo_d, lo_d, r.columns);
  down_(hi_u, hi_u, r.columns);
  const std::uint64_t beyond = tighten(lo_d, lo_u, hi_d, hi_u, r.columns);
  if (beyond > r.columns / 16) {
    up_(lo_u, lo_u, r.columns);
    down_(hi_d, hi_d, r.columns);
    return;
  }
  for (std::size_t j = 0; beyond > 0 && j < r.columns; ++j) {
    if (lo_u[j] > lo_d[j]) up_(lo_u + j, lo_u + j, 1);
    if (hi_d[j] < hi_u[j]) down_(hi_d + j, hi_d + j, 1);
  }
}

}  // namespace erx
