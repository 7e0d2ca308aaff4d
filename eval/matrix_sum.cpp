#include "eval/matrix_sum.hpp"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <optional>

#include "eval/checksum.hpp"
#include "eval/magnitudes.hpp"
#include "eval/matrix_operand.hpp"
#include "eval/matrix_row.hpp"
#include "eval/norms.hpp"
#include "eval/open_elements.hpp"
#include "eval/pair_panel.hpp"
#include "eval/parallel.hpp"
#include "eval/tile_sum.hpp"
#include "ops/gemm.hpp"
#include "ops/planted.hpp"

namespace erx {
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
      if (!is_matrix_term(sum.extents, term)) return false;
      ++matrices;
    }
  }
  return matrices > 0 && size_of(sum.extents) * sum.leaves >= 1 << 14 && gemm_is_sane();
}

void run_matrix_sum(Engine& engine, const SumNode& sum, SumPlane& out, int precision, MatrixEnds::Goal goal) {
  const std::size_t rank = sum.extents.size();
  if (out.is_point() && sum.rule.rounds) throw Bug("a sum in any order has freedom");
  const bool settle = goal.settle;
  const Node* const then = goal.then;
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

  MatrixEnds ends(engine, sum, out, std::move(goal), depth, depth, others, left.negative);
  if (rounds) ends.bound_magnitudes(magnitudes->relative(depth), magnitudes->absolute(depth), magnitudes->is_coarse());
  std::atomic<std::int64_t> rejected{0};
  // Where a float64 product would leave many elements open, all are computed in twice the precision instead.
  PairGoal pairs;
  if ((ends.at_once() && ends.at_once()->format().precision() > 16) || (ends.is_rounded_to_double() && out.is_point())) pairs = {&*then->attributes.format, ends.at_once(), nullptr, then->attributes.rounding};
  else if (ends.is_in_float64() && !out.is_point()) pairs.rule = &ends.rule();
  const auto pair_panel = [&](std::int64_t batch, std::int64_t k) {
    const std::int64_t first = k * panel, count = std::min(panel, rows - first);
    return PairPanel{{left.values->data() + left.offset(batch) + first * sa_row, count, depth, sa_row, sa_term}, view_b(right.values->data(), batch),
                     row_profiles[static_cast<std::size_t>(batch * panels + k)], column_profiles[static_cast<std::size_t>(batch)], left.negative};
  };
  const auto many_open = [&] {
    const PairPanel p = pair_panel(batches / 2, panels / 2);
    return pairs_pay(sample(p.a, p.rows), sample({p.b.data, p.b.columns, p.b.rows, p.b.column_stride, p.b.row_stride}, p.columns), pairs, ends.rule(), ends.relative(), ends.absolute(), p.negative);
  };
  const bool in_pairs = (pairs.format || pairs.rule) && many_open();
  std::vector<LinePowers> column_powers(in_pairs ? static_cast<std::size_t>(batches) : 0, LinePowers(columns, depth));
  parallel_blocks(in_pairs ? batches * pieces : 0, options, [&](std::int64_t task) {
    const std::int64_t batch = task / pieces, first = task % pieces * piece;
    column_powers[static_cast<std::size_t>(batch)].measure(first, std::min(piece, columns - first), right.values->data() + right.offset(batch) + first * sb_column, sb_column, sb_term);
  });
  parallel_blocks(batches * panels, options, [&](std::int64_t task) {
    const std::int64_t batch = task / panels, first = task % panels * panel, count = std::min(panel, rows - first);
    const Profile &row_profile = row_profiles[static_cast<std::size_t>(task)], &column_profile = column_profiles[static_cast<std::size_t>(batch)];
    const MatrixView a{left.values->data() + left.offset(batch) + first * sa_row, count, depth, sa_row, sa_term}, b = view_b(right.values->data(), batch);
    MatrixBlock block;
    block.batch = batch;
    block.first = first;
    block.rows = count;
    block.columns = block.width = block.centre_width = columns;
    block.start = (batch * rows + first) * columns;
    block.row_norm = row_profile.norm.data();
    block.row_grid = row_profile.grid.data();
    block.column_norm = column_profile.norm.data();
    block.column_grid = column_profile.grid.data();
    MagnitudePanel magnitude;
    if (rounds) {
      block.agrees = magnitudes->multiply(batch, a, b, row_profile.norm, magnitude, options);
      block.panel = &magnitude;
    }
    if (in_pairs) rejected += !block.agrees;
    if (in_pairs && (block.agrees || planted(Mistake::unchecked_product))) {
      std::vector<double> buffer(static_cast<std::size_t>(columns));
      const auto bounds = [&](std::int64_t i) {
        MatrixRow row = ends.row(block, i, rounds ? magnitude.row(i, columns, buffer) : nullptr);
        row.magnitude_may_be_exact = true;
        row.users_round = false;
        return row;
      };
      const PairCounts counts = settle_by_pairs(pair_panel(batch, task % panels), pairs, column_powers[static_cast<std::size_t>(batch)], block.start, out, options, bounds,
                                                [&](std::int64_t flat) { ends.leave(flat); });
      ends.count(counts.pairs, counts.exact);
      return;
    }
    Doubles centre(static_cast<std::size_t>(count * columns));
    for (std::int64_t j = 0; j < columns; j += soon) {
      stop_if_asked(options);
      gemm(a, {b.data + j * b.column_stride, b.rows, std::min(soon, columns - j), b.row_stride, b.column_stride}, centre.data() + j, columns);
    }
    if (planted_fault()) centre[centre.size() / 2] += 1;
    block.agrees &= sums[static_cast<std::size_t>(batch)].agrees(a, row_profile.norm, centre.data());
    rejected += !block.agrees;
    if (planted(Mistake::unchecked_product)) block.agrees = true;
    stop_if_asked(options);
    block.centre = centre.data();
    Lines rows_of_a(a.data, count, sa_row, depth, sa_term), columns_of_b(b.data, columns, sb_column, depth, sb_term);
    block.row_factors = [&](std::int64_t i) { return rows_of_a(i); };
    block.column_factors = [&](std::int64_t j) { return columns_of_b(j); };
    block.by_columns = sb_term != 1;
    ends.settle(block, *ends.work());
  });
  engine.counters.rejected += rejected;
  if (settle) ends.count_into(engine.counters);
}

}  // namespace erx
