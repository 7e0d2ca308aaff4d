#include "eval/matrix_row.hpp"

#include <cmath>
#include <limits>

namespace erx {
namespace {

const Format& any_format(const SumRule& rule) {
  static const Format& f64 = *find_format("f64");
  return rule.rounds ? rule.format : f64;
}

using bulk::select;

}  // namespace

MatrixRowRule::MatrixRowRule(const SumRule& rule, std::int64_t leaves)
    : rule_(rule),
      exact_(rule.rounds ? closed_bound(rule, leaves, false) : ClosedBound{}),
      inexact_(rule.rounds ? closed_bound(rule, leaves, true) : ClosedBound{}),
      eta_(any_format(rule).min_positive()),
      least_grid_(rule.flush == Flush::no ? eta_ : any_format(rule).min_normal()),
      significands_(std::ldexp(1.0, any_format(rule).precision())),
      up_(any_format(rule), {Mode::rtp, Overflow::sat, Flush::no}),
      down_(any_format(rule), {Mode::rtn, Overflow::sat, Flush::no}) {}

template <bool with_other>
void MatrixRowRule::fill(const MatrixRow& r, double* lo_d, double* lo_u, double* hi_d, double* hi_u, std::uint8_t* flags,
                               std::uint8_t* hard) const {
  constexpr double slack = 0x1p-51;  // of a few roundings to nearest, relative to what they touch
  const double max_finite = any_format(rule_).max_finite();
  const bool rounds = rule_.rounds, fit = rule_.products_fit;
  constexpr std::uint8_t either_zero = has_pzero | has_nzero, plus_zero = has_pzero;
  const std::uint8_t inexact_zero = rule_.within || rule_.flush != Flush::no ? either_zero : plus_zero;
  const ClosedBound exact = exact_, inexact = inexact_;
  const double eta = eta_, least_grid = least_grid_, significands = significands_;
  const double* const magnitude = rounds ? r.magnitude : r.centre;
  for (std::size_t j = 0; j < r.columns; ++j) {
    const double norm = r.row_norm * r.norm[j], product_grid = r.row_grid * r.grid[j];
    const bool certified = norm <= 0x1p53 * (1 - 0x1p-52) * product_grid && product_grid >= 0x1p-1000 && product_grid <= 0x1p900;
    const double d = select(certified, 0.0, norm * r.relative + r.absolute);
    const double p_error = select(certified, 0.0, norm * r.magnitude_relative + r.magnitude_absolute);
    const double product = r.negative ? -r.centre[j] : r.centre[j], product_magnitude = bulk::magnitude(magnitude[j]);
    double s = product, p = product_magnitude, grid = product_grid, lost = 0;
    if constexpr (with_other) {
      s = product + r.other[j];
      p = product_magnitude + r.other_magnitude[j];
      grid = r.other_grid[j] < product_grid ? r.other_grid[j] : product_grid;
      lost = bulk::magnitude(f64::sum_residual(product, r.other[j], s)) + bulk::magnitude(f64::sum_residual(product_magnitude, r.other_magnitude[j], p));
    }
    const double s_slack = select(certified, 0.0, (bulk::magnitude(s) + d) * slack), p_slack = select(certified, 0.0, (p + p_error) * slack);
    const double s_d = s - d - s_slack, s_u = s + d + s_slack, p_d = p - p_error - p_slack, p_u = p + p_error + p_slack;

    // Grid rule: (P + |s|)/2 <= 2^p grid.
    const double reach = 0.5 * (p_u + bulk::magnitude(s) + d), limit = grid * significands;
    const bool on_grid = grid >= least_grid && reach <= limit * (1 - slack);
    const bool at_edge = grid >= least_grid && !on_grid && 0.5 * (p_d + bulk::magnitude(s) - d) <= limit * (1 + slack);
    const bool is_exact = !rounds || on_grid;

    const bool products_exact = fit && grid >= eta;
    const double relative = select(products_exact, exact.relative, inexact.relative);
    const double absolute = select(products_exact, exact.absolute, inexact.absolute);
    const double e_d = select(is_exact, 0.0, (relative * p_d + absolute) * (1 - slack));
    const double e_u = select(is_exact, 0.0, (relative * p_u + absolute) * (1 + slack));
    const double t = select(is_exact, 0.0, (bulk::magnitude(s) + d + e_u) * slack);
    lo_d[j] = s_d - e_u - t;
    lo_u[j] = s_u - e_d + t;
    hi_d[j] = s_d + e_d - t;
    hi_u[j] = s_u + e_u + t;
    const bool zero = lo_d[j] <= 0 && hi_u[j] >= 0;
    flags[j] = zero ? (is_exact ? plus_zero : products_exact ? inexact_zero : either_zero) : std::uint8_t{0};
    const bool overflow = rounds && !(p_u + e_u <= max_finite * (1 - slack));
    hard[j] = lost != 0 || !(norm < std::numeric_limits<double>::infinity()) || overflow || (rounds && at_edge) || (rounds && on_grid && !certified);
  }
  if (!rounds || rule_.within) return;
  up_(lo_d, lo_d, r.columns);
  up_(lo_u, lo_u, r.columns);
  down_(hi_d, hi_d, r.columns);
  down_(hi_u, hi_u, r.columns);
}

void MatrixRowRule::operator()(const MatrixRow& r, double* lo_d, double* lo_u, double* hi_d, double* hi_u, std::uint8_t* flags,
                               std::uint8_t* hard) const {
  if (r.other) fill<true>(r, lo_d, lo_u, hi_d, hi_u, flags, hard);
  else fill<false>(r, lo_d, lo_u, hi_d, hi_u, flags, hard);
}

}  // namespace erx
