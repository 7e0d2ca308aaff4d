#include "eval/matrix_ends.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <utility>

#include "eval/other_terms.hpp"
#include "eval/parallel.hpp"
#include "eval/refine.hpp"
#include "eval/sum_parts.hpp"
#include "ops/bulk.hpp"
#include "ops/clones.hpp"
#include "ops/dot2.hpp"
#include "ops/num/exact_sum.hpp"
#include "ops/planted.hpp"
#include "ops/sum_rule.hpp"

namespace erx {
namespace {

/// One row of enclosures.
struct RowBuffers {
  explicit RowBuffers(std::size_t n) : lo_d(n), lo_u(n), hi_d(n), hi_u(n), flags(n) {}
  std::vector<double> lo_d, lo_u, hi_d, hi_u;
  std::vector<std::uint8_t> flags;
  Tile tile(bool is_point) {
    if (is_point) return {lo_d.data(), lo_u.data(), lo_d.data(), lo_u.data(), flags.data(), true};
    return {lo_d.data(), lo_u.data(), hi_d.data(), hi_u.data(), flags.data(), false};
  }
};

/// The rest of a row from element j on.
Tile from(Tile t, std::size_t j) {
  t.lo_d += j;
  t.lo_u += j;
  t.hi_d += j;
  t.hi_u += j;
  t.flags += j;
  return t;
}

ERX_VECTOR_CLONES bool any_open(const Tile& t, bool settle, const std::uint8_t* hard, std::size_t first, std::size_t n) {
  std::uint8_t marks = 0;
  const std::uint8_t asked = settle ? undecided : 0;
  for (std::size_t j = first; j < first + n; ++j) marks |= hard[j] | (t.flags[j] & asked);
  std::uint64_t wide = 0;
  for (std::size_t j = first; settle && j < first + n; ++j) wide += static_cast<std::uint64_t>((t.lo_d[j] != t.lo_u[j]) | (t.hi_d[j] != t.hi_u[j]));
  return marks != 0 || wide != 0;
}

/// Elements that are `hard`, or, in a node that settles, undecided.
void list_open(const Tile& t, bool settle, const std::uint8_t* hard, std::size_t n, std::vector<std::uint32_t>& open) {
  constexpr std::size_t block = 128;
  open.clear();
  for (std::size_t first = 0; first < n; first += block) {
    const std::size_t count = std::min(block, n - first);
    if (!any_open(t, settle, hard, first, count)) continue;
    for (std::size_t j = first; j < first + count; ++j)
      if (hard[j] || (settle && (t.lo_d[j] != t.lo_u[j] || t.hi_d[j] != t.hi_u[j] || (t.flags[j] & undecided)))) open.push_back(static_cast<std::uint32_t>(j));
  }
}

void list_marked(const std::uint8_t* marks, std::size_t n, std::vector<std::uint32_t>& marked) {
  marked.clear();
  for (std::size_t first = 0; first < n; first += 8) {
    std::uint64_t eight = 0;
    const std::size_t count = std::min<std::size_t>(8, n - first);
    std::memcpy(&eight, marks + first, count);
    for (std::size_t j = first; eight != 0 && j < first + count; ++j)
      if (marks[j]) marked.push_back(static_cast<std::uint32_t>(j));
  }
}

}  // namespace

class MatrixEnds::Work {
 public:
  std::size_t width = 0;
  std::optional<RowBuffers> sums_of_row, rounded_row;  // made where a row needs them
  std::vector<std::uint8_t> hard;
  std::vector<double> magnitude_row;
  std::optional<OtherTerms> other;
  std::vector<std::uint32_t> open_in_row, undecided;
  std::vector<std::pair<std::size_t, Set<F64>>> overflown;  // of a row: those whose partial sums may overflow, rounded
  std::vector<OpenElement> open;
  std::int64_t refined = 0;

  void start(std::size_t columns) {
    open.clear();
    refined = 0;
    if (columns == width) return;
    width = columns;
    hard.resize(width);
    magnitude_row.resize(width);
    sums_of_row.reset();
    rounded_row.reset();
    other.reset();
  }
  Tile tile(std::optional<RowBuffers>& row, bool is_point) {
    if (!row) row.emplace(width);
    return row->tile(is_point);
  }
};

std::unique_ptr<MatrixEnds::Work, void (*)(MatrixEnds::Work*)> MatrixEnds::work() const { return {new Work, [](Work* w) { delete w; }}; }

std::optional<BulkRounding> MatrixEnds::rounds_at_once(const Node& then) {
  const Rounding& rounding = then.attributes.rounding;
  if (rounding.mode != Mode::rne || rounding.flush != Flush::no) return {};
  const BulkRounding fast(*then.attributes.format, rounding);
  return fast.is_fast() ? std::optional(fast) : std::nullopt;
}

MatrixEnds::MatrixEnds(Engine& engine, const SumNode& sum, SumPlane& out, Goal goal, std::int64_t depth, std::int64_t chain, std::vector<const Term*> others, bool negative)
    : engine_(engine),
      sum_(sum),
      out_(out),
      goal_(std::move(goal)),
      others_(std::move(others)),
      depth_(depth),
      negative_(negative),
      rounds_(sum.rule.rounds),
      rule_(sum.rule, sum.leaves),
      at_once_(goal_.then && !sum.rule.rounds && goal_.settle && out.is_point() ? rounds_at_once(*goal_.then) : std::nullopt),
      relative_(static_cast<double>(planted(Mistake::error_without_terms) ? 0 : chain + 4) * 0x1p-53 * (1 + 0x1p-50)),
      absolute_(static_cast<double>(depth) * 0x1p-1074) {
  const Format& f = sum.rule.format;
  const Node* then = goal_.then;
  // A rounding to a coarser format does not need the ends themselves; one as fine as the sum's would be left open by any width.
  users_round_ = then && rounds_ && then->attributes.format->precision() < f.precision();
  to_double_ = then && !rounds_ && others_.empty() && rounds_to_double(*then);
  if (users_round_ && !rounds_freely(then->attributes.rounding)) after_ = rounds_at_once(*then);
  ends_together_ = rounds_ && goal_.settle && !out.is_point() && others_.empty() && (!then || after_);
  in_float64_ = rounds_ && !then && goal_.settle && others_.empty() && !sum.rule.within && f.precision() == 53 && f.emax() == 1023 && !loses_subnormals(sum.rule);
}

void MatrixEnds::bound_magnitudes(double relative, double absolute, bool coarse) {
  magnitude_relative_ = relative;
  magnitude_absolute_ = absolute;
  coarse_ = coarse;
}

MatrixRow MatrixEnds::row(const MatrixBlock& b, std::int64_t i, const double* magnitudes) const {
  return {static_cast<std::size_t>(b.columns), b.centre ? b.centre + i * b.centre_width : nullptr, magnitudes, b.column_norm, b.column_grid, b.row_norm[i], b.row_grid[i],
          relative_, absolute_, magnitude_relative_, magnitude_absolute_, rounds_ && (!coarse_ || planted(Mistake::certified_in_float32)), negative_, users_round_};
}

std::optional<Set<F64>> MatrixEnds::rounded_after(const Set<F64>& x) const {
  if (!after_ || !x.has_reals() || x.is_point) return {};
  const Format& f = after_->format();
  if (!f.has_negative_zero() || after_->constants().infinite[0] != f64::infinity) return {};
  const auto rounded = [&](double end) { return bulk::round_one<Mode::rne>(end, after_->constants()); };
  double lo = rounded(x.lo.d), hi = rounded(x.hi.d);
  if (lo != rounded(x.lo.u) || hi != rounded(x.hi.u)) return {};
  if (lo == 0 || hi == 0 || !(lo <= f64::largest) || !(hi >= -f64::largest)) return {};
  std::uint8_t flags = x.flags & (has_nan | any_infinity | undecided);
  if (lo < -f64::largest) {
    lo = f.lowest();
    flags |= has_ninf;
  }
  if (hi > f64::largest) {
    hi = f.max_finite();
    flags |= has_pinf;
  }
  if (lo < 0 && hi > 0) flags |= any_zero;
  return Set<F64>::between(F64::exact(lo), F64::exact(hi), flags);
}

Set<F64> MatrixEnds::after(const Set<F64>& x) const {
  if (const auto s = rounded_after(x)) return *s;
  return goal_.then ? erx::row(*goal_.then).map.f64({&x, 1}, goal_.then->attributes, {}) : x;
}

void MatrixEnds::enclose(Work& w, const MatrixRow& row, const Tile& ends) const {
  const Node* then = goal_.then;
  const Tile sums = then ? w.tile(w.sums_of_row, out_.is_point()) : ends;
  rule_(row, sums.lo_d, sums.lo_u, sums.hi_d, sums.hi_u, sums.flags, w.hard.data());
  w.overflown.clear();
  for (std::size_t j = 0; then && j < row.columns; ++j) {
    const bool special = sums.flags[j] & (has_nan | any_infinity);
    if (!w.hard[j] && !special) continue;
    if (!w.hard[j])
      if (const auto s = rounded_after(Set<F64>::between({sums.lo_d[j], sums.lo_u[j]}, {sums.hi_d[j], sums.hi_u[j]}, sums.flags[j]))) w.overflown.emplace_back(j, *s);
      else continue;
    sums.lo_d[j] = sums.lo_u[j] = sums.hi_d[j] = sums.hi_u[j] = 1;  // nobody reads what becomes of it
    sums.flags[j] = 0;
  }
  for (std::size_t j = 0; then && j < row.columns; j += tile_size) {
    const Tile part = from(sums, j);
    erx::row(*then).bulk({&part, 1}, from(ends, j), std::min(tile_size, row.columns - j), then->attributes);
  }
  for (const auto& [j, s] : w.overflown) write(ends, j, s);
}

const double* MatrixEnds::magnitudes_of_row(const MatrixBlock& b, std::int64_t i, Work& w) const {
  if (b.panel) return b.panel->row(i, b.columns, w.magnitude_row);
  return b.magnitude ? b.magnitude + i * b.centre_width : nullptr;
}

/// A row of sums with other terms, if all of it is decided at once.
bool MatrixEnds::round_with_others(const MatrixBlock& b, std::int64_t i, const ColumnRange& columns, Work& w) {
  if (!w.other) w.other.emplace(engine_, sum_, others_, w.width);
  MatrixRow row = this->row(b, i, nullptr);
  double lost = 0;
  row.centre = w.other->sums(b.batch, b.first + i, b.first_column, row.centre, negative_ ? -1 : 1, lost);
  row.negative = false;
  return row.centre && rule_.rounded_together(row, columns, planted(Mistake::lost_residual) ? 0 : lost, *at_once_, out_.plane().lo_d->data() + b.start + i * b.width);
}

void MatrixEnds::enclose_rows(const MatrixBlock& b, Work& w) {
  Plane& plane = out_.plane();
  const bool is_point = out_.is_point();
  const ColumnRange columns = (at_once_ || ends_together_) && b.agrees ? ColumnRange::of(b.column_norm, b.column_grid, static_cast<std::size_t>(b.columns)) : ColumnRange{};
  for (std::int64_t i = 0; i < b.rows; ++i) {
    stop_if_asked(engine_.options());
    const std::int64_t start = b.start + i * b.width;
    if (at_once_ && b.agrees && !others_.empty() && round_with_others(b, i, columns, w)) continue;
    if (at_once() && b.agrees) {
      const MatrixRow row = this->row(b, i, nullptr);
      if (!rule_.rounded(row, columns, *at_once_, plane.lo_d->data() + start, w.hard.data())) continue;
      list_marked(w.hard.data(), w.width, w.open_in_row);
      if (w.open_in_row.size() <= w.width / 16) {  // else the whole row is enclosed as below
        if (w.open_in_row.empty()) continue;
        const Tile one = w.tile(w.rounded_row, true);
        for (const std::uint32_t j : w.open_in_row) {
          enclose(w, row.at(j), one);
          if (w.hard[0] || *one.lo_d != *one.lo_u || (*one.flags & undecided)) w.open.push_back({i, j, w.hard[0] != 0, 0, 0, 0});
          else out_.put(start + static_cast<std::int64_t>(j), *one.lo_d, *one.lo_u, *one.lo_d, *one.lo_u, *one.flags);
        }
        continue;
      }
    }
    MatrixRow row = this->row(b, i, magnitudes_of_row(b, i, w));
    if (!others_.empty()) {
      if (!w.other) w.other.emplace(engine_, sum_, others_, w.width);
      w.other->read(b.batch, b.first + i, b.first_column, row);
    }
    const Tile inner = goal_.settle ? w.tile(w.rounded_row, false) : Tile{};
    // The row of the output; its inner ends are kept only where they may differ.
    double *const lo_d = plane.lo_d->data() + start, *const lo_u = goal_.settle ? inner.lo_u : plane.lo_u->data() + start;
    const Tile ends = is_point ? Tile{lo_d, lo_u, lo_d, lo_u, out_.flags() + start, true}
                               : Tile{lo_d, lo_u, goal_.settle ? inner.hi_d : plane.hi_d->data() + start, plane.hi_u->data() + start, out_.flags() + start, false};
    const bool in_blocks = ends_together_ && b.agrees;
    const std::size_t step = in_blocks ? MatrixRowRule::ends_block : w.width;
    if (in_blocks) rule_.ends_together(row, columns, after_ ? &*after_ : nullptr, ends.lo_d, ends.hi_u, ends.flags, w.undecided);
    else w.undecided.assign(1, 0);
    for (const std::uint32_t first : w.undecided) {
      const std::size_t n = std::min(step, w.width - first);
      const Tile part = from(ends, first);
      enclose(w, row.part(first, n), part);
      if (!b.agrees) std::fill(w.hard.begin(), w.hard.end(), std::uint8_t{1});
      for (std::size_t j = 0; j < n && !others_.empty(); ++j) w.hard[j] |= w.other->is_special(j);
      list_open(part, goal_.settle, w.hard.data(), n, w.open_in_row);
      for (const std::uint32_t j : w.open_in_row)
        w.open.push_back({i, first + j, w.hard[j] != 0, row.other ? row.other[j] : 0, row.other ? row.other_magnitude[j] : 0, row.other ? row.other_grid[j] : 0});
    }
  }
}

/// A finer magnitude decides most of what float32 left open; as many elements at a time as a row has.
void MatrixEnds::decide_by_magnitudes(const MatrixBlock& b, Work& w) {
  OpenRow open_row;
  std::vector<OpenElement> asked, still_open;
  RowBuffers found(w.width);
  const auto decide = [&] {
    MatrixRow row = open_row.row(this->row(b, 0, w.magnitude_row.data()));
    if (!others_.empty()) {
      row.other = open_row.other.data();
      row.other_magnitude = open_row.other_magnitude.data();
      row.other_grid = open_row.other_grid.data();
    }
    magnitude_in_float64(row, static_cast<std::size_t>(depth_));
    const Tile ends = found.tile(out_.is_point());
    enclose(w, row, ends);
    for (std::size_t k = 0; k < asked.size(); ++k) {
      const bool open = w.hard[k] || ends.lo_d[k] != ends.lo_u[k] || ends.hi_d[k] != ends.hi_u[k] || (ends.flags[k] & undecided);
      if (open) still_open.push_back(asked[k]);
      else out_.put(b.start + asked[k].i * b.width + static_cast<std::int64_t>(asked[k].j), ends.lo_d[k], ends.lo_u[k], ends.hi_d[k], ends.hi_u[k], ends.flags[k]);
      w.refined += !open;
    }
    open_row.clear();
    asked.clear();
  };
  for (const OpenElement& e : w.open) {
    if (e.leaf_by_leaf) {
      still_open.push_back(e);
      continue;
    }
    open_row.add(e, this->row(b, e.i, nullptr), magnitude_dot(b.row_factors(e.i), b.column_factors(static_cast<std::int64_t>(e.j)), static_cast<std::size_t>(depth_)));
    asked.push_back(e);
    if (asked.size() == w.width) decide();
  }
  if (!asked.empty()) decide();
  w.open = std::move(still_open);
}

Set<F64> MatrixEnds::from_factors(const MatrixBlock& b, const OpenElement& e, bool& by_sum) const {
  const std::int64_t j = static_cast<std::int64_t>(e.j);
  const double magnitude = b.panel ? b.panel->at(e.i * b.columns + j) : b.magnitude ? b.magnitude[e.i * b.centre_width + j] : 0;
  MatrixRow one = row(b, e.i, nullptr).at(e.j);
  if (rounds_) one.magnitude = &magnitude;
  if (!others_.empty()) {
    one.other = &e.other;
    one.other_magnitude = &e.other_magnitude;
    one.other_grid = &e.other_grid;
  }
  const std::size_t depth = static_cast<std::size_t>(depth_);
  const double *x = b.row_factors(e.i), *y = b.column_factors(static_cast<std::int64_t>(e.j));
  if (to_double_) {
    const auto nearest = rounded_to_double(one, x, y, depth);
    return nearest ? *nearest : Set<F64>::special(undecided);
  }
  if (in_float64_) {
    const double n = static_cast<double>(depth_) + 16, error = one.row_norm * one.norm[0] * n * n * 0x1p-104 + 2 * one.absolute;
    const auto ends = rule_.in_float64(one, dot2_pair(x, y, depth), error);
    return ends ? *ends : goal_.bulk(b.start + e.i * b.width + static_cast<std::int64_t>(e.j));
  }
  const auto enclosure = refine(one, x, y, depth, rounds_, rule_);
  const Set<F64> s = enclosure ? after(*enclosure) : Set<F64>::special(undecided);
  if (!at_once_ || !is_undecided(s) || !(one.row_norm * one.norm[0] < std::numeric_limits<double>::infinity())) return s;
  // Half way between two results, or nearly: the sum itself. The sign of a zero is for others to tell.
  ExactSum sum;
  sum.add_dot(x, 1, y, 1, depth);
  if (!others_.empty()) sum.add(negative_ ? -e.other : e.other);
  const double nearest = round_to(sum.chopped(), at_once_->format(), goal_.then->attributes.rounding);
  if (nearest == 0 || !std::isfinite(nearest)) return s;
  by_sum = true;
  return Set<F64>::point(F64::exact(negative_ ? -nearest : nearest));
}

/// By the rule of one element, where a sum may overflow, or be exact, and the row's rule cannot tell: from the sum in twice the precision.
Set<F64> MatrixEnds::from_parts(const MatrixBlock& b, const OpenElement& e) const {
  const MatrixRow one = row(b, e.i, nullptr).at(e.j);
  const double norm = one.row_norm * one.norm[0], n = static_cast<double>(depth_) + 16;
  if (!rounds_ || !others_.empty() || !(norm < 0x1p900) || sum_.rule.needs_leaves(sum_.leaves)) return Set<F64>::special(undecided);
  const double *x = b.row_factors(e.i), *y = b.column_factors(static_cast<std::int64_t>(e.j));
  const Doubled sum = dot2_pair(x, y, static_cast<std::size_t>(depth_));
  const double size = std::fabs(sum.low) + norm * n * n * 0x1p-104 + 2 * one.absolute + std::fabs(sum.high) * 0x1p-51;
  const double magnitude = magnitude_dot(x, y, static_cast<std::size_t>(depth_)), magnitude_error = magnitude * n * 0x1p-52 + n * 0x1p-1074;
  SumParts<F64> parts;
  parts.leaves = parts.products = depth_;
  parts.grid = product_grid(one.row_grid, one.grid[0]);
  parts.lower = parts.upper = one.negative ? F64{-sum.high - size, -sum.high + size} : F64{sum.high - size, sum.high + size};
  parts.magnitude = F64{magnitude - magnitude_error, magnitude + magnitude_error};
  return parts.magnitude.d > 0 ? after(sum_of_parts(parts, sum_.rule, {})) : Set<F64>::special(undecided);  // else the sign of a zero
}

Set<F64> MatrixEnds::climb(std::int64_t flat) {
  const Climbed c = goal_.finer(flat);
  ++(c.by == Climbed::By::big ? big_ : c.by == Climbed::By::exact ? exact_ : open_);
  return c.flags & no_reals ? Set<F64>::special(c.flags) : Set<F64>::between(F64::exact(c.lo), F64::exact(c.hi), c.flags);
}

void MatrixEnds::settle(const MatrixBlock& b, Work& w) {
  w.start(static_cast<std::size_t>(b.columns));
  enclose_rows(b, w);
  if (b.by_columns) std::stable_sort(w.open.begin(), w.open.end(), [](const OpenElement& x, const OpenElement& y) { return x.j < y.j; });
  if (rounds_ && coarse_ && goal_.settle) decide_by_magnitudes(b, w);
  std::int64_t climbed = 0, by_sums = 0;
  for (const OpenElement& e : w.open) {
    stop_if_asked(engine_.options());
    const std::int64_t flat = b.start + e.i * b.width + static_cast<std::int64_t>(e.j);
    bool by_sum = false;
    Set<F64> s = e.leaf_by_leaf ? from_parts(b, e) : from_factors(b, e, by_sum);
    if (e.leaf_by_leaf && is_undecided(s)) s = goal_.bulk(flat);
    by_sums += by_sum;
    w.refined += !e.leaf_by_leaf && !by_sum && !is_undecided(s);
    if (goal_.settle && is_undecided(s)) {
      s = climb(flat);
      ++climbed;
    }
    out_.put(flat, s);
  }
  decided_ += b.rows * b.columns - w.refined - climbed - by_sums;
  exact_ += by_sums;
  refined_ += w.refined;
}

void MatrixEnds::leave(std::int64_t flat) {
  const Set<F64> s = goal_.bulk(flat);
  if (!is_undecided(s)) {
    out_.put(flat, s);
    ++refined_;
    return;
  }
  out_.put(flat, climb(flat));
}

void MatrixEnds::count(std::int64_t refined, std::int64_t exact) {
  refined_ += refined;
  exact_ += exact;
}

void MatrixEnds::count_into(Counters& c) const {
  c.bulk += decided_;
  c.compensated += refined_;
  c.big += big_;
  c.exact += exact_;
  c.open += open_;
}

}  // namespace erx
