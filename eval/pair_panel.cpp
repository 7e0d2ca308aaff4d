#include "eval/pair_panel.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "eval/open_elements.hpp"
#include "eval/pair_row.hpp"
#include "eval/parallel.hpp"
#include "ops/clones.hpp"
#include "ops/lane_sum.hpp"
#include "ops/num/exact_sum.hpp"

namespace erx {
namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();

struct Open {
  std::int64_t i, j;
};

/// The sum of an element, exactly.
ExactSum exact_sum(const double* x, const double* y, std::int64_t n) {
  ExactSum s;
  s.add_dot(x, 1, y, 1, static_cast<std::size_t>(n));
  return s;
}

/// The nearest double and the rest, which a second double holds to 2^-53 of itself.
Doubled pair_of(ExactSum s, double& error) {
  static const Format& f64 = *find_format("f64");
  const double high = round_to(s.chopped(), f64, {});
  s.add(-high);
  const F64 rest = s.f64();
  error = rest.u - rest.d;
  return {high, rest.d};
}

}  // namespace

LineSample sample(const MatrixView& lines, const Profile& profile) {
  LineSample s;
  const std::int64_t n = LineSample::size(lines.rows);
  for (std::int64_t k = 0; k < n; ++k) {
    const std::int64_t i = LineSample::place(k, lines.rows);
    for (std::int64_t t = 0; t < lines.columns; ++t) s.values.push_back(lines.data[i * lines.row_stride + t * lines.column_stride]);
    s.profile.norm.push_back(profile.norm[static_cast<std::size_t>(i)]);
    s.profile.grid.push_back(profile.grid[static_cast<std::size_t>(i)]);
  }
  return s;
}

namespace {

/// As good as what it estimates.
ERX_VECTOR_CLONES double dot(const double* x, const double* y, std::size_t n) {
  constexpr std::size_t lanes = 32;
  double sum[lanes] = {}, total = 0;
  std::size_t k = 0;
  for (; k + lanes <= n; k += lanes)
    for (std::size_t l = 0; l < lanes; ++l) sum[l] += x[k + l] * y[k + l];
  for (; k < n; ++k) total += x[k] * y[k];
  return total + sum_of_lanes(sum);
}

/// What a number rounds to: finite and not 0, or special.
Set<F64> single(double x) {
  return std::isfinite(x) ? Set<F64>::point(F64::exact(x)) : Set<F64>::special(x > 0 ? has_pinf : x < 0 ? has_ninf : has_nan);
}

}  // namespace

bool pairs_pay(const LineSample& rows, const LineSample& columns, const PairGoal& goal, const MatrixRowRule& rule, double relative, double absolute, bool negative) {
  const std::size_t n = rows.profile.norm.size(), m = columns.profile.norm.size();
  if (!chooses_fma() || n == 0 || m == 0) return false;
  const std::size_t depth = rows.values.size() / n;
  std::int64_t asked = 0, open = 0;
  for (std::size_t j = 0; j < m; ++j)
    for (std::size_t i = 0; i < n; ++i) {
      const double norm = rows.profile.norm[i] * columns.profile.norm[j], grid = rows.profile.grid[i] * columns.profile.grid[j];
      if (!(norm < infinity)) continue;
      ++asked;
      if (!goal.fast) {  // only what is certified as exact is decided
        open += !(norm <= 0x1p53 * (1 - 0x1p-52) * grid && grid >= 0x1p-1000 && grid <= 0x1p900);
        continue;
      }
      const double centre = dot(rows.values.data() + i * depth, columns.values.data() + j * depth, depth);
      if (std::fabs(centre) > (1 + 0x1p-10) * goal.fast->format().max_finite()) continue;  // overflows in any precision
      MatrixRow one{1, &centre, nullptr, &columns.profile.norm[j], &columns.profile.grid[j], rows.profile.norm[i], rows.profile.grid[i], relative, absolute, 0, 0, false, negative};
      double rounded;
      std::uint8_t is_open;
      if (!rule.rounded(one, ColumnRange::of(one.norm, one.grid, 1), *goal.fast, &rounded, &is_open)) is_open = 0;
      open += is_open;
    }
  // An element by itself costs about thirty times its share of a float64 product, all of them as pairs about three products.
  return open * 16 > asked;
}

PairCounts settle_by_pairs(const PairPanel& p, const PairGoal& goal, const LinePowers& column_powers, std::int64_t start, SumPlane& out, const EvaluateOptions& options,
                           const std::function<MatrixRow(std::int64_t i)>& bounds, const std::function<void(std::int64_t flat)>& leave) {
  const std::int64_t rows = p.a.rows, columns = p.b.columns, depth = p.a.columns;
  const std::size_t width = static_cast<std::size_t>(columns);
  LinePowers row_powers(rows, depth);
  row_powers.measure(0, rows, p.a.data, p.a.row_stride, p.a.column_stride);
  double* const high = out.plane().lo_d->data() + start;  // where the results come
  Doubles low(static_cast<std::size_t>(rows * columns));
  AnchoredProduct product(p.a, row_powers, p.b, column_powers, high, low.data());
  for (std::int64_t piece = 0; piece < anchored_pieces(depth); ++piece) {
    stop_if_asked(options);
    product.add_piece(piece);
  }
  PairCounts counts;
  const auto put = [&](std::int64_t i, std::int64_t j, const Set<F64>& s) { out.put(start + i * columns + j, s); };
  std::vector<double> error(width);
  std::vector<std::uint8_t> is_open(width), flags(width);
  std::vector<Open> open;
  for (std::int64_t i = 0; i < rows; ++i) {
    stop_if_asked(options);
    product.normalize(i);
    anchored_errors(row_powers, i, column_powers, depth, error.data());
    const PairRow row{width, high + i * columns, low.data() + i * columns, error.data(), p.negative};
    if (goal.rule) {
      double* const upper = out.plane().hi_u->data() + start + i * columns;
      goal.rule->in_float64(bounds(i), row, high + i * columns, upper, flags.data(), is_open.data());
      if (std::any_of(flags.begin(), flags.end(), [](std::uint8_t f) { return f != 0; })) std::copy(flags.begin(), flags.end(), out.flags() + start + i * columns);
    } else if (goal.fast) {
      round_pairs(row, *goal.fast, high + i * columns, is_open.data());
    } else {
      round_pairs_to_double(row, high + i * columns, is_open.data());
    }
    for (std::size_t j = 0; j < width; ++j)
      if (is_open[j] | !(p.rows.norm[static_cast<std::size_t>(i)] * p.columns.norm[j] < infinity)) open.push_back({i, static_cast<std::int64_t>(j)});
  }
  counts.pairs = rows * columns - static_cast<std::int64_t>(open.size());

  Lines rows_of_a(p.a.data, rows, p.a.row_stride, depth, p.a.column_stride), columns_of_b(p.b.data, columns, p.b.column_stride, depth, p.b.row_stride);
  if (p.b.row_stride != 1) std::stable_sort(open.begin(), open.end(), [](const Open& x, const Open& y) { return x.j < y.j; });
  for (const Open& e : open) {
    stop_if_asked(options);
    const std::size_t i = static_cast<std::size_t>(e.i), j = static_cast<std::size_t>(e.j);
    bool found = false;
    if (p.rows.norm[i] * p.columns.norm[j] < infinity) {
      const ExactSum s = exact_sum(rows_of_a(e.i), columns_of_b(e.j), depth);
      if (goal.rule) {
        double rest = 0;
        const Doubled sum = pair_of(s, rest);
        const auto set = goal.rule->in_float64(bounds(e.i).at(j), sum, rest);
        found = set.has_value();
        if (set) put(e.i, e.j, *set);
      } else {
        const double nearest = round_to(s.chopped(), *goal.format, goal.rounding);
        found = nearest != 0;
        if (found) put(e.i, e.j, single(p.negative ? -nearest : nearest));
      }
    }
    counts.exact += found;
    if (!found) leave(start + e.i * columns + e.j);
  }
  return counts;
}

}  // namespace erx
