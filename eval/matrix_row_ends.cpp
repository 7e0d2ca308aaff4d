// Ends of rounded sums, many at once. MatrixRowRule::operator() has the rule; here what is the same for a row, or a little wider than each
// element needs, is worked out beforehand, and what is left are straight lines in the magnitude.
#include <algorithm>
#include <cmath>
#include <limits>

#include "eval/matrix_row.hpp"
#include "ops/clones.hpp"
#include "ops/planted.hpp"

namespace erx {
namespace {

/// Of a sum s with magnitude p, both as computed: the outer ends lie at most outer p + outer_absolute + size |s| from s, the inner ends at
/// least inner p + inner_absolute - size |s|.
struct EndsRule {
  double outer, outer_absolute, inner, inner_absolute;
  double not_exact, least;           // not_exact p + |s| > least: no partial sum can have stayed on the grid of the leaves
  double greatest, greatest_absolute, max_finite;  // greatest p + greatest_absolute <= max_finite: nothing overflows
  double end_relative, end_absolute;
  double sign;
  std::uint64_t zeros;               // the flags of a zero between the ends
};
constexpr double size = 0x1p-49;     // of the roundings to nearest below, relative to what they touch

struct Ends {
  double lo_d, lo_u, hi_d, hi_u;
  std::uint64_t bad;
};

[[gnu::always_inline]] inline Ends ends_of(double centre, double magnitude, const EndsRule& k) {
  const double s = k.sign * centre, p = bulk::magnitude(magnitude), a = bulk::magnitude(s);
  const double outer = p * k.outer + a * size + k.outer_absolute, inner = p * k.inner - a * size + k.inner_absolute;
  const bool good = (p * k.not_exact + a > k.least) & (p * k.greatest + k.greatest_absolute <= k.max_finite);
  return {s - outer, s - inner, s + inner, s + outer, -static_cast<std::uint64_t>(!good)};
}

using EndsLoop = bool (*)(const MatrixRow& row, const EndsRule&, const BulkConstants& low, const BulkConstants& high, std::size_t first, std::size_t n, double* lo, double* hi, std::uint64_t* flags);

ERX_VECTOR_CLONES bool ends_of_sums(const MatrixRow& row, const EndsRule& rule, const BulkConstants& up, const BulkConstants& down, std::size_t first, std::size_t n, double* lo, double* hi,
                                    std::uint64_t* flags) {
  const EndsRule k = rule;
  const BulkConstants low = up, high = down;
  const double *centre = row.centre + first, *magnitude = row.magnitude + first;
  std::uint64_t bad = 0;
  ERX_INDEPENDENT
  for (std::size_t j = 0; j < n; ++j) {
    const Ends e = ends_of(centre[j], magnitude[j], k);
    std::uint64_t over_low, over_high;
    lo[j] = bulk::round_plain<Mode::rtp>(e.lo_d, low, &over_low);
    hi[j] = bulk::round_plain<Mode::rtn>(e.hi_u, high, &over_high);
    flags[j] = -static_cast<std::uint64_t>((e.lo_d <= 0) & (e.hi_u >= 0)) & k.zeros;
    bad |= e.bad | over_low | over_high | static_cast<std::uint64_t>((e.lo_u > lo[j]) | (e.hi_d < hi[j]));
  }
  return bad == 0;
}

/// Rounded once more: an end of the sum is a value of its format between lo_d and a little above lo_u, and all of that has to become one value.
ERX_VECTOR_CLONES bool ends_of_rounded(const MatrixRow& row, const EndsRule& rule, const BulkConstants& nearest, const BulkConstants&, std::size_t first, std::size_t n, double* lo, double* hi,
                                       std::uint64_t* flags) {
  const EndsRule k = rule;
  const BulkConstants to = nearest;
  const double *centre = row.centre + first, *magnitude = row.magnitude + first;
  std::uint64_t bad = 0;
  ERX_INDEPENDENT
  for (std::size_t j = 0; j < n; ++j) {
    const Ends e = ends_of(centre[j], magnitude[j], k);
    const double lo_u = e.lo_u + (bulk::magnitude(e.lo_u) * k.end_relative + k.end_absolute), hi_d = e.hi_d - (bulk::magnitude(e.hi_d) * k.end_relative + k.end_absolute);
    std::uint64_t over[4];
    lo[j] = bulk::round_plain<Mode::rne>(e.lo_d, to, &over[0]);
    hi[j] = bulk::round_plain<Mode::rne>(e.hi_u, to, &over[1]);
    const double low = bulk::round_plain<Mode::rne>(lo_u, to, &over[2]), high = bulk::round_plain<Mode::rne>(hi_d, to, &over[3]);
    const bool straddles = (lo_u < 0) & (hi_d > 0), apart = (lo[j] > 0) | (hi[j] < 0);
    flags[j] = -static_cast<std::uint64_t>(straddles) & k.zeros;
    bad |= e.bad | over[0] | over[1] | over[2] | over[3] | static_cast<std::uint64_t>((low != lo[j]) | (high != hi[j]) | !(straddles | apart));
  }
  return bad == 0;
}

ERX_VECTOR_CLONES void narrow(const std::uint64_t* wide, std::size_t n, std::uint8_t* flags) {
  for (std::size_t j = 0; j < n; ++j) flags[j] = static_cast<std::uint8_t>(wide[j]);
}

}  // namespace

void MatrixRowRule::ends_together(const MatrixRow& r, const ColumnRange& range, const BulkRounding* then, double* lo, double* hi, std::uint8_t* flags,
                                  std::vector<std::uint32_t>& undecided) const {
  undecided.clear();
  const RowConstants& k = constants_[then != nullptr];
  // A grid of 0 or infinity is that of a line without numbers.
  const double least_grid = r.row_grid * range.least_grid, most_grid = r.row_grid * range.most_grid;
  const bool fits = k.fits != 0, exact = fits && least_grid >= k.eta, some_exact = fits && most_grid >= k.eta;
  const bool applies = rule_.rounds && !rule_.within && r.users_round == (then != nullptr) && (then || (up_.is_fast() && down_.is_fast())) &&
                       r.row_norm * range.most_norm < std::numeric_limits<double>::infinity() && least_grid > 0 && most_grid < 0x1p900 && exact == some_exact;
  const ClosedBound& bound = exact ? k.exact : k.inexact;

  // The magnitude lies within `computed` p + lost of p; the centre within centre p + centre_lost of the product.
  constexpr double more = 1 + 0x1p-44, less = 1 - 0x1p-44;
  const double computed = r.magnitude_relative * more, lost = r.magnitude_absolute * more;
  const bool centre_only = planted(Mistake::centre_only);
  const double centre = centre_only ? 0 : (1 + computed) * r.relative * more, centre_lost = centre_only ? 0 : (lost * r.relative + r.absolute) * more;
  const double most = bound.relative * (1 + computed) * more, most_lost = (bound.relative * lost + bound.absolute) * more;
  const double fewest = bound.relative * (1 - computed) * less, fewest_lost = bound.absolute * less - bound.relative * lost * more;
  EndsRule rule;
  rule.outer = (centre + most) * more;
  rule.outer_absolute = (centre_lost + most_lost) * more;
  rule.inner = fewest * less - centre * more;
  rule.inner_absolute = fewest_lost - std::fabs(fewest_lost) * 0x1p-44 - centre_lost * more;
  rule.not_exact = planted(Mistake::grid_unwatched) ? std::numeric_limits<double>::infinity() : 1 - computed * more - centre * more - 0x1p-44;
  rule.least = most_grid >= k.least_grid * less ? (2 * most_grid * k.significands + lost + centre_lost) * more : 0;
  rule.greatest = (1 + computed + most) * more;
  rule.greatest_absolute = (lost + most_lost) * more;
  rule.max_finite = k.max_finite * less;
  rule.end_relative = k.end_relative;
  rule.end_absolute = k.end_absolute;
  rule.sign = r.negative ? -1 : 1;
  const std::uint64_t either = has_pzero | has_nzero;
  rule.zeros = then ? (then->format().has_negative_zero() ? either : std::uint64_t{has_pzero}) : has_pzero | (exact ? k.sign_of_zero_with_exact_products : either);
  std::uint64_t wide[ends_block];
  const EndsLoop loop = then ? ends_of_rounded : ends_of_sums;
  for (std::size_t first = 0; first < r.columns; first += ends_block) {
    const std::size_t n = std::min(ends_block, r.columns - first);
    if (applies && loop(r, rule, then ? then->constants() : up_.constants(), down_.constants(), first, n, lo + first, hi + first, wide)) narrow(wide, n, flags + first);
    else undecided.push_back(static_cast<std::uint32_t>(first));
  }
}

}  // namespace erx
