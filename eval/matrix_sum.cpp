#include "eval/matrix_sum.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <optional>

#include "eval/checksum.hpp"
#include "eval/magnitudes.hpp"
#include "eval/matrix_operand.hpp"
#include "eval/matrix_row.hpp"
#include "eval/norms.hpp"
#include "eval/open_elements.hpp"
#include "eval/other_terms.hpp"
#include "eval/pair_panel.hpp"
#include "eval/parallel.hpp"
#include "eval/refine.hpp"
#include "eval/sum_parts.hpp"
#include "ops/bulk.hpp"
#include "ops/clones.hpp"
#include "ops/dot2.hpp"
#include "ops/gemm.hpp"
#include "ops/planted.hpp"
#include "ops/sum_rule.hpp"

namespace erx {
namespace {

bool is_matrix_term(const SumNode& sum, const Term& term) {
  const std::size_t rank = sum.extents.size();
  if (rank < 2 || !term.b || term.reduced.size() != 1 || term.reduced[0] < 8) return false;
  const Factor &a = term.a, &b = *term.b;
  // Lines as BLAS takes them: side by side in one direction, and not over one another (an operand that lacks the reduced axis).
  const std::int64_t depth = term.reduced[0];
  const auto are_lines = [&](std::int64_t across, std::int64_t along, std::int64_t lines) {
    return (along == 1 && (lines == 1 || across >= depth)) || (across == 1 && along >= lines);
  };
  return a.out_strides[rank - 1] == 0 && b.out_strides[rank - 2] == 0 && are_lines(a.out_strides[rank - 2], a.reduced_strides[0], sum.extents[rank - 2]) &&
         are_lines(b.out_strides[rank - 1], b.reduced_strides[0], sum.extents[rank - 1]);
}

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
  std::uint64_t open = 0;
  for (std::size_t j = first; j < first + n; ++j) {
    const std::uint64_t wide = static_cast<std::uint64_t>(t.lo_d[j] != t.lo_u[j]) | static_cast<std::uint64_t>(t.hi_d[j] != t.hi_u[j]) | (t.flags[j] & undecided);
    open |= hard[j] | (settle ? wide : 0);
  }
  return open != 0;
}

/// Elements that are `hard`, or, in a node that settles, undecided.
void list_open(const Tile& t, bool settle, const std::uint8_t* hard, std::size_t n, std::vector<std::uint32_t>& open) {
  constexpr std::size_t block = 64;
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

const Op& op_of(const Node& node) { return row(node); }

}  // namespace

bool is_matrix_sum(const Engine& engine, const SumNode& sum) {
  if (sum.rule.needs_leaves(sum.leaves) || size_of(sum.extents) == 0 || !sum.is_plain()) return false;
  int matrices = 0;
  for (const Term& term : sum.terms) {
    const auto exact = [&](NodeId id) { return engine.stored(id).is_exact && engine.stored(id).is_point; };
    if (!exact(term.a.node) || (term.b && !exact(term.b->node))) return false;
    if (term.leaves() == 1 && !term.reduced.empty()) return false;
    if (!sum.flushed_below.empty() && term.b) {  // a subnormal factor may count as 0: leaf by leaf
      const auto [nu_a, nu_b] = sum.flushed_below[static_cast<std::size_t>(&term - sum.terms.data())];
      const auto subnormal = [&](NodeId id, double nu) {
        const Doubles& values = *engine.stored(id).hull.lo_d;
        return std::any_of(values.begin(), values.end(), [&](double x) { return x != 0 && std::fabs(x) < nu; });
      };
      if (subnormal(term.a.node, nu_a) || subnormal(term.b->node, nu_b)) return false;
    }
    if (!term.reduced.empty()) {
      if (!is_matrix_term(sum, term)) return false;
      ++matrices;
    }
  }
  return matrices > 0 && size_of(sum.extents) * sum.leaves >= 1 << 14 && gemm_is_sane();
}

void run_matrix_sum(Engine& engine, const SumNode& sum, SumPlane& filled, bool settle, int precision, const Node* then, const std::function<Set<F64>(std::int64_t)>& bulk,
                    const std::function<Climbed(std::int64_t)>& finer) {
  const std::size_t rank = sum.extents.size();
  Plane& out = filled.plane();
  const bool is_point = filled.is_point();
  if (is_point && sum.rule.rounds) throw Bug("a sum in any order has freedom");
  const MatrixOperand left = matrix_operand(engine, sum, false), right = matrix_operand(engine, sum, true);
  std::vector<const Term*> others;
  for (const Term& t : sum.terms)
    if (t.reduced.empty()) others.push_back(&t);
  const std::int64_t rows = sum.extents[rank - 2], columns = sum.extents[rank - 1], depth = left.depth;
  const Extents batch_extents(sum.extents.begin(), sum.extents.end() - 2);
  const std::int64_t batches = size_of(batch_extents);
  const EvaluateOptions& options = engine.options();

  const std::int64_t sa_row = left.line, sa_term = left.term, sb_column = right.line, sb_term = right.term;
  // BLAS copies the right operand anew for each panel, so there is one for each thread; where ends are not settled, and so depend on how
  // the product was taken apart, as many whatever the threads.
  constexpr std::int64_t least = 128;
  const std::int64_t longest = std::clamp<std::int64_t>((std::int64_t{1} << 22) / columns, 1, 1024);
  const std::int64_t shares = settle ? std::max<std::int64_t>(1, thread_count(options) / std::max<std::int64_t>(1, batches)) : 8;
  const std::int64_t panel = std::clamp<std::int64_t>(options.tile ? options.tile : std::max<std::int64_t>((rows + shares - 1) / shares, least), 1, longest), panels = (rows + panel - 1) / panel;
  // Ctrl-C, which waits for a product, is answered soon.
  const std::int64_t soon = std::clamp<std::int64_t>((std::int64_t{1} << 32) / std::max<std::int64_t>(panel * depth, 1), std::min<std::int64_t>(64, columns), columns);
  const auto view_b = [&](const double* data, std::int64_t batch) { return MatrixView{data + right.offset(batch), depth, columns, sb_term, sb_column}; };
  // Lines are profiled in pieces, by all threads.
  const bool rounds = sum.rule.rounds;
  std::vector<Profile> row_profiles(static_cast<std::size_t>(batches * panels)), column_profiles(static_cast<std::size_t>(batches));
  constexpr std::int64_t piece = 256;
  const std::int64_t pieces = (columns + piece - 1) / piece;
  for (Profile& p : column_profiles) p = Profile{std::vector<double>(static_cast<std::size_t>(columns)), std::vector<double>(static_cast<std::size_t>(columns))};
  parallel_blocks(batches * (panels + pieces), options, [&](std::int64_t task) {
    const std::int64_t batch = task / (panels + pieces), k = task % (panels + pieces);
    if (k < panels) {
      const std::int64_t first = k * panel, at = left.offset(batch) + first * sa_row;
      row_profiles[static_cast<std::size_t>(batch * panels + k)] =
          profile(left.values->data() + at, left.flags ? left.flags->data() + at : nullptr, std::min(panel, rows - first), sa_row, depth, sa_term);
      return;
    }
    const std::int64_t first = (k - panels) * piece, at = right.offset(batch) + first * sb_column;
    const Profile part = profile(right.values->data() + at, right.flags ? right.flags->data() + at : nullptr, std::min(piece, columns - first), sb_column, depth, sb_term);
    Profile& whole = column_profiles[static_cast<std::size_t>(batch)];
    std::copy(part.norm.begin(), part.norm.end(), whole.norm.begin() + first);
    std::copy(part.grid.begin(), part.grid.end(), whole.grid.begin() + first);
  });
  // Users that round to a few bits need no more of the magnitude than float32 gives.
  bool coarse = rounds && precision <= 8;
  for (const Term& t : sum.terms)
    if (!t.reduced.empty())
      for (const NodeId operand : {t.a.node, t.b->node}) coarse &= contains(*find_type("f32"), engine.graph()[operand].type);
  for (std::size_t k = 0; coarse && k < row_profiles.size(); ++k)
    coarse = MagnitudeProduct::fits_float32(depth, row_profiles[k].norm, column_profiles[k / static_cast<std::size_t>(panels)].norm);
  std::optional<MagnitudeProduct> magnitudes;
  if (rounds) magnitudes.emplace(*right.values, batches, coarse, options);
  std::vector<Checksum> sums;
  for (std::int64_t batch = 0; batch < batches; ++batch) {
    const std::vector<double>& norms = column_profiles[static_cast<std::size_t>(batch)].norm;
    sums.emplace_back(depth, norms);
    if (rounds) magnitudes->prepare(batch, depth, norms);
  }
  const std::int64_t deep_pieces = (depth + piece - 1) / piece;
  parallel_blocks(batches * deep_pieces, options, [&](std::int64_t task) {
    const std::int64_t batch = task / deep_pieces, first = task % deep_pieces * piece, count = std::min(piece, depth - first);
    const MatrixView b = view_b(right.values->data(), batch);
    sums[static_cast<std::size_t>(batch)].combine(b, first, count);
    if (rounds) magnitudes->combine(batch, b, first, count);
  });

  const MatrixRowRule rule(sum.rule, sum.leaves);
  // A rounding to a coarser format does not need the ends themselves; one as fine as the sum's would be left open by any width.
  const bool users_round = then && rounds && then->attributes.format->precision() < sum.rule.format.precision();
  std::optional<BulkRounding> at_once;
  if (then && !rounds && is_point && settle && others.empty() && then->attributes.rounding.mode == Mode::rne && then->attributes.rounding.flush == Flush::no)
    at_once.emplace(*then->attributes.format, then->attributes.rounding);
  if (at_once && !at_once->is_fast()) at_once.reset();
  const bool to_double = then && !rounds && others.empty() && rounds_to_double(*then);
  const Format& f = sum.rule.format;
  const bool in_float64 = rounds && !then && settle && others.empty() && !sum.rule.within && f.precision() == 53 && f.emax() == 1023 && !loses_subnormals(sum.rule);
  std::atomic<std::int64_t> decided{0}, refined{0}, big{0}, exact{0}, open{0}, rejected{0};
  const double relative = static_cast<double>(planted(Mistake::error_without_terms) ? 0 : depth + 4) * 0x1p-53 * (1 + 0x1p-50);
  const double underflow = static_cast<double>(depth) * 0x1p-1074;
  // Where a float64 product would leave many elements open, all are computed in twice the precision instead.
  PairGoal goal;
  if ((at_once && at_once->format().precision() > 16) || (to_double && is_point)) goal = {&*then->attributes.format, at_once ? &*at_once : nullptr, nullptr};
  else if (in_float64 && !is_point) goal.rule = &rule;
  const auto pair_panel = [&](std::int64_t batch, std::int64_t k) {
    const std::int64_t first = k * panel, count = std::min(panel, rows - first);
    return PairPanel{{left.values->data() + left.offset(batch) + first * sa_row, count, depth, sa_row, sa_term}, view_b(right.values->data(), batch),
                     row_profiles[static_cast<std::size_t>(batch * panels + k)], column_profiles[static_cast<std::size_t>(batch)], left.negative};
  };
  const bool in_pairs = (goal.format || goal.rule) && pairs_pay(pair_panel(batches / 2, panels / 2), goal, rule, relative, underflow);
  std::vector<LinePowers> column_powers(in_pairs ? static_cast<std::size_t>(batches) : 0, LinePowers(columns, depth));
  parallel_blocks(in_pairs ? batches * pieces : 0, options, [&](std::int64_t task) {
    const std::int64_t batch = task / pieces, first = task % pieces * piece;
    column_powers[static_cast<std::size_t>(batch)].measure(first, std::min(piece, columns - first), right.values->data() + right.offset(batch) + first * sb_column, sb_column, sb_term);
  });
  parallel_blocks(batches * panels, options, [&](std::int64_t block) {
    const std::int64_t batch = block / panels, first = block % panels * panel, count = std::min(panel, rows - first);
    const std::int64_t at_a = left.offset(batch) + first * sa_row, at_b = right.offset(batch);
    const Profile& row_profile = row_profiles[static_cast<std::size_t>(block)];
    const Profile& column_profile = column_profiles[static_cast<std::size_t>(batch)];
    if (in_pairs) {
      const PairPanel p = pair_panel(batch, block % panels);
      MagnitudePanel magnitude;
      const bool agrees = !rounds || magnitudes->multiply(batch, p.a, p.b, row_profile.norm, magnitude, options);
      rejected += !agrees;
      if (agrees || planted(Mistake::unchecked_product)) {
        std::vector<double> buffer(static_cast<std::size_t>(columns));
        const auto bounds = [&](std::int64_t i) {
          const std::size_t at = static_cast<std::size_t>(i);
          return MatrixRow{buffer.size(), nullptr, rounds ? magnitude.row(i, columns, buffer) : nullptr, column_profile.norm.data(), column_profile.grid.data(),
                           row_profile.norm[at], row_profile.grid[at], relative, underflow, rounds ? magnitudes->relative(depth) : 0, rounds ? magnitudes->absolute(depth) : 0,
                           true, left.negative};
        };
        std::int64_t by_leaves = 0;
        const PairCounts counts = settle_by_pairs(p, goal, column_powers[static_cast<std::size_t>(batch)], (batch * rows + first) * columns, filled, options, bounds, [&](std::int64_t flat) {
          const Set<F64> s = bulk(flat);
          if (!is_undecided(s)) {
            filled.put(flat, s);
            ++by_leaves;
            return;
          }
          const Climbed c = finer(flat);
          ++(c.by == Climbed::By::big ? big : c.by == Climbed::By::exact ? exact : open);
          filled.put(flat, c.flags & no_reals ? Set<F64>::special(c.flags) : Set<F64>::between(F64::exact(c.lo), F64::exact(c.hi), c.flags));
        });
        refined += counts.pairs + by_leaves;
        exact += counts.exact;
        return;
      }
    }
    Doubles centre(static_cast<std::size_t>(count * columns));
    const MatrixView a{left.values->data() + at_a, count, depth, sa_row, sa_term}, b = view_b(right.values->data(), batch);
    for (std::int64_t j = 0; j < columns; j += soon) {
      stop_if_asked(options);
      gemm(a, {b.data + j * b.column_stride, b.rows, std::min(soon, columns - j), b.row_stride, b.column_stride}, centre.data() + j, columns);
    }
    if (planted_fault()) centre[centre.size() / 2] += 1;
    bool agrees = sums[static_cast<std::size_t>(batch)].agrees(a, row_profile.norm, centre.data());
    MagnitudePanel magnitude;
    if (rounds) agrees &= magnitudes->multiply(batch, a, b, row_profile.norm, magnitude, options);
    rejected += !agrees;
    if (planted(Mistake::unchecked_product)) agrees = true;
    stop_if_asked(options);
    std::int64_t n_decided = 0;
    const std::size_t width = static_cast<std::size_t>(columns);
    RowBuffers sums_of_row(width), rounded_row(width);
    std::vector<std::uint8_t> hard(width);
    std::vector<double> magnitude_row(width);
    OtherTerms other(engine, sum, others, width);
    std::vector<std::uint32_t> open_in_row;
    std::vector<OpenElement> open_elements;
    const auto row_of = [&](std::int64_t i, const double* magnitudes_of_row) {
      return MatrixRow{width, centre.data() + i * columns, magnitudes_of_row, column_profile.norm.data(),
                       column_profile.grid.data(), row_profile.norm[static_cast<std::size_t>(i)], row_profile.grid[static_cast<std::size_t>(i)],
                       relative, underflow, rounds ? magnitudes->relative(depth) : 0, rounds ? magnitudes->absolute(depth) : 0,
                       rounds && (!magnitudes->is_coarse() || planted(Mistake::certified_in_float32)), left.negative, users_round};
    };
    // The row of the output; its inner ends are kept only where they may differ.
    const auto ends_of = [&](std::int64_t i) {
      const std::int64_t start = (batch * rows + first + i) * columns;
      double *const lo_d = out.lo_d->data() + start, *const lo_u = settle ? rounded_row.lo_u.data() : out.lo_u->data() + start;
      if (is_point) return Tile{lo_d, lo_u, lo_d, lo_u, filled.flags() + start, true};
      return Tile{lo_d, lo_u, settle ? rounded_row.hi_d.data() : out.hi_d->data() + start, out.hi_u->data() + start, filled.flags() + start, false};
    };
    const auto enclose = [&](const MatrixRow& row, const Tile& ends) {
      const Tile sums_at = then ? sums_of_row.tile(is_point) : ends;
      rule(row, sums_at.lo_d, sums_at.lo_u, sums_at.hi_d, sums_at.hi_u, sums_at.flags, hard.data());
      for (std::size_t j = 0; then && j < row.columns; j += tile_size) {
        const Tile part = from(sums_at, j);
        op_of(*then).bulk({&part, 1}, from(ends, j), std::min(tile_size, row.columns - j), then->attributes);
      }
    };
    for (std::int64_t i = 0; i < count; ++i) {
      stop_if_asked(options);
      if (at_once && agrees) {
        const std::int64_t start = (batch * rows + first + i) * columns;
        const MatrixRow row = row_of(i, nullptr);
        rule.rounded(row, *at_once, out.lo_d->data() + start, hard.data());
        list_marked(hard.data(), width, open_in_row);
        if (open_in_row.size() <= width / 16) {  // else the whole row is enclosed as below
          const Tile one = rounded_row.tile(true);
          for (const std::uint32_t j : open_in_row) {
            enclose(row.at(j), one);
            if (hard[0] || *one.lo_d != *one.lo_u || (*one.flags & undecided)) open_elements.push_back({i, j, hard[0] != 0, 0, 0, 0});
            else filled.put(start + static_cast<std::int64_t>(j), *one.lo_d, *one.lo_u, *one.lo_d, *one.lo_u, *one.flags);
          }
          continue;
        }
      }
      MatrixRow row = row_of(i, rounds ? magnitude.row(i, columns, magnitude_row) : nullptr);
      if (!others.empty()) other.read(batch, first + i, row);
      const Tile ends = ends_of(i);
      enclose(row, ends);
      if (!agrees) std::fill(hard.begin(), hard.end(), std::uint8_t{1});
      for (std::size_t j = 0; j < width && !others.empty(); ++j) hard[j] |= other.is_special(j);
      list_open(ends, settle, hard.data(), width, open_in_row);
      for (const std::uint32_t j : open_in_row)
        open_elements.push_back({i, j, hard[j] != 0, row.other ? row.other[j] : 0, row.other ? row.other_magnitude[j] : 0, row.other ? row.other_grid[j] : 0});
    }

    Lines rows_of_a(left.values->data() + at_a, count, sa_row, depth, sa_term), columns_of_b(right.values->data() + at_b, columns, sb_column, depth, sb_term);
    if (sb_term != 1) std::stable_sort(open_elements.begin(), open_elements.end(), [](const OpenElement& x, const OpenElement& y) { return x.j < y.j; });
    const auto after = [&](const Set<F64>& x) { return then ? op_of(*then).map.f64({&x, 1}, then->attributes, {}) : x; };
    std::int64_t n_refined = 0;
    const auto put = [&](const OpenElement& e, double lo_d, double lo_u, double hi_d, double hi_u, std::uint8_t flags) {
      filled.put((batch * rows + first + e.i) * columns + static_cast<std::int64_t>(e.j), lo_d, lo_u, hi_d, hi_u, flags);
    };
    // A finer magnitude decides most of what float32 left open; as many elements at a time as a row has.
    if (rounds && magnitudes->is_coarse() && settle) {
      OpenRow open_row;
      std::vector<OpenElement> batch_of_open, still_open;
      RowBuffers found(width);
      const auto decide = [&] {
        MatrixRow row = open_row.row(row_of(0, magnitude_row.data()));
        if (!others.empty()) {
          row.other = open_row.other.data();
          row.other_magnitude = open_row.other_magnitude.data();
          row.other_grid = open_row.other_grid.data();
        }
        magnitude_in_float64(row, static_cast<std::size_t>(depth));
        const Tile ends = found.tile(is_point);
        enclose(row, ends);
        for (std::size_t k = 0; k < batch_of_open.size(); ++k) {
          const bool open = hard[k] || ends.lo_d[k] != ends.lo_u[k] || ends.hi_d[k] != ends.hi_u[k] || (ends.flags[k] & undecided);
          if (open) still_open.push_back(batch_of_open[k]);
          else put(batch_of_open[k], ends.lo_d[k], ends.lo_u[k], ends.hi_d[k], ends.hi_u[k], ends.flags[k]);
          n_refined += !open;
        }
        open_row.clear();
        batch_of_open.clear();
      };
      for (const OpenElement& e : open_elements) {
        if (e.leaf_by_leaf) {
          still_open.push_back(e);
          continue;
        }
        open_row.add(e, row_of(e.i, nullptr), magnitude_dot(rows_of_a(e.i), columns_of_b(static_cast<std::int64_t>(e.j)), static_cast<std::size_t>(depth)));
        batch_of_open.push_back(e);
        if (batch_of_open.size() == width) decide();
      }
      if (!batch_of_open.empty()) decide();
      open_elements = std::move(still_open);
    }
    for (const OpenElement& e : open_elements) {
      stop_if_asked(options);
      const std::int64_t flat = (batch * rows + first + e.i) * columns + static_cast<std::int64_t>(e.j);
      Set<F64> s = Set<F64>::special(undecided);
      if (e.leaf_by_leaf) {
        s = bulk(flat);
      } else {
        const double magnitude_of_element = rounds ? magnitude.at(e.i * columns + static_cast<std::int64_t>(e.j)) : 0;
        MatrixRow one = row_of(e.i, nullptr).at(e.j);
        if (rounds) one.magnitude = &magnitude_of_element;
        if (!others.empty()) {
          one.other = &e.other;
          one.other_magnitude = &e.other_magnitude;
          one.other_grid = &e.other_grid;
        }
        const double *x = rows_of_a(e.i), *y = columns_of_b(static_cast<std::int64_t>(e.j));
        if (to_double) {
          if (const auto nearest = rounded_to_double(one, x, y, static_cast<std::size_t>(depth))) s = *nearest;
        } else if (in_float64) {
          const double n = static_cast<double>(depth) + 16, error = one.row_norm * one.norm[0] * n * n * 0x1p-104 + 2 * one.absolute;
          const auto ends = rule.in_float64(one, dot2_pair(x, y, static_cast<std::size_t>(depth)), error);
          s = ends ? *ends : bulk(flat);
        } else if (const auto enclosure = refine(one, x, y, static_cast<std::size_t>(depth), rounds, rule)) {
          s = after(*enclosure);
        }
        n_refined += !is_undecided(s);
      }
      if (settle && is_undecided(s)) {
        const Climbed c = finer(flat);
        ++(c.by == Climbed::By::big ? big : c.by == Climbed::By::exact ? exact : open);
        s = c.flags & no_reals ? Set<F64>::special(c.flags) : Set<F64>::between(F64::exact(c.lo), F64::exact(c.hi), c.flags);
        --n_decided;
      }
      const F64 zero{}, lo = s.has_reals() ? s.lo : zero, hi = !s.has_reals() ? zero : s.is_point ? s.lo : s.hi;
      put(e, lo.d, lo.u, hi.d, hi.u, s.flags);
    }
    n_decided += count * columns;
    decided += n_decided - n_refined;
    refined += n_refined;
  });
  engine.counters.rejected += rejected;
  if (settle) {
    engine.counters.bulk += decided;
    engine.counters.compensated += refined;
    engine.counters.big += big;
    engine.counters.exact += exact;
    engine.counters.open += open;
  }
}

}  // namespace erx
