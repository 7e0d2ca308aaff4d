#include "eval/tile_sum.hpp"

#include <algorithm>
#include <cmath>
#include <vector>

#include "eval/merge_axes.hpp"
#include "eval/packed_lines.hpp"
#include "eval/pair_panel.hpp"
#include "eval/parallel.hpp"
#include "ops/clones.hpp"
#include "ops/planted.hpp"
#include "ops/tile_product.hpp"

namespace erx {
namespace {

// Terms that a tile sums at a time: what it reads of both operands stays in the first cache, and chains of additions are short. Longer pieces are a
// little faster; where results are fine or magnitudes are summed too, the bound of shorter chains leaves half as many elements open.
constexpr std::int64_t long_slab = 256, short_slab = 128;
constexpr std::int64_t strip = 1024;  // columns of a block, which stays in the second cache; half as many with magnitudes

OperandLines lines_of(const Engine& engine, const Factor& f, std::int64_t line, std::int64_t term) {
  const Stored& s = engine.stored(f.node);
  if (s.in_place) return {s.in_place, nullptr, nullptr, line, term};
  return {nullptr, s.hull.lo_d->data(), s.hull.flags ? s.hull.flags->data() : nullptr, line, term};
}

std::vector<const Term*> others_of(const std::vector<Term>& terms) {
  std::vector<const Term*> others;
  for (const Term& t : terms)
    if (t.reduced.empty()) others.push_back(&t);
  return others;
}

ERX_VECTOR_CLONES void magnitudes_of(const double* from, std::int64_t n, double* to) {
  for (std::int64_t i = 0; i < n; ++i) to[i] = std::fabs(from[i]);
}

/// Copies of lines that open elements need: the last one is often asked for again.
class LineCopy {
 public:
  explicit LineCopy(const PackedLines& lines) : lines_(lines) {}
  const double* operator()(std::int64_t line) {
    if (line != line_) {
      terms_.resize(static_cast<std::size_t>(lines_.depth()));
      lines_.copy(line, terms_.data());
      line_ = line;
    }
    return terms_.data();
  }

 private:
  const PackedLines& lines_;
  std::int64_t line_ = -1;
  std::vector<double> terms_;
};

class TileSum {
 public:
  TileSum(Engine& engine, const SumNode& sum, SumPlane& out, MatrixEnds::Goal goal)
      : engine_(engine),
        options_(engine.options()),
        term_(*matrix_term_of(sum.extents, sum.terms)),
        batch_extents_(sum.extents.begin(), sum.extents.end() - 2),
        rows_(sum.extents[sum.extents.size() - 2]),
        columns_(sum.extents.back()),
        depth_(term_.reduced[0]),
        batches_(size_of(batch_extents_)),
        left_(lines_of(engine, term_.a, term_.a.out_strides[sum.extents.size() - 2], term_.a.reduced_strides[0])),
        right_(lines_of(engine, *term_.b, term_.b->out_strides.back(), term_.b->reduced_strides[0])),
        rounds_(sum.rule.rounds),
        slab_(rounds_ || (goal.then && goal.then->attributes.format->precision() > 16) ? short_slab : long_slab),
        tile_(tile_product()),
        ends_(engine, sum, out, std::move(goal), depth_, chain(), others_of(sum.terms), term_.negative) {
    const double r = static_cast<double>(planted(Mistake::error_without_terms) ? 0 : chain() + 4) * 0x1p-53 * (1 + 0x1p-20);
    if (rounds_) ends_.bound_magnitudes(r / (1 - r) * (1 + 0x1p-20), 2 * static_cast<double>(depth_) * 0x1p-1074, false);
    const auto& strides = term_.b->out_strides;
    shares_right_ = std::all_of(strides.begin(), strides.end() - 2, [](std::int64_t s) { return s == 0; });
  }

  /// returns: false, with nothing filled, where many elements would stay open.
  bool run(const Node* then) {
    const int threads = thread_count(options_);
    if (!shares_right_ && batches_ >= 2 * threads && columns_ * depth_ <= 1 << 16) {
      if (!decides_most(then, nullptr)) return false;
      by_batches(threads);
    } else if (!by_blocks(threads, then)) {
      return false;
    }
    ends_.count_into(engine_.counters);
    return true;
  }

 private:
  Engine& engine_;
  const EvaluateOptions& options_;
  const Term& term_;
  Extents batch_extents_;
  std::int64_t rows_, columns_, depth_, batches_;
  OperandLines left_, right_;
  bool rounds_;
  std::int64_t slab_;
  TileProduct tile_;
  MatrixEnds ends_;
  bool shares_right_ = false;

  /// Additions that a term goes through: those of its piece, and of the pieces.
  std::int64_t chain() const { return std::min(depth_, slab_) + (depth_ + slab_ - 1) / slab_; }

  /// Would few elements stay open? right: lines of the second operand that are packed; nullptr: none are.
  bool decides_most(const Node* then, const PackedLines* right) const {
    if (!ends_.at_once() || ends_.at_once()->format().precision() <= 16) return true;
    const std::int64_t batch = batches_ / 2;
    const PairGoal goal{&*then->attributes.format, ends_.at_once(), nullptr, then->attributes.rounding};
    return !pairs_pay(sample_of(left_, at(term_.a, batch), rows_), right ? sample_of(*right) : sample_of(right_, at(*term_.b, batch), columns_), goal, ends_.rule(), ends_.relative(), ends_.absolute(), term_.negative);
  }

  std::int64_t at(const Factor& f, std::int64_t batch) const {
    return strided_offset(batch_extents_, Extents(f.out_strides.begin(), f.out_strides.end() - 2), batch);
  }

  std::int64_t most_sampled() const { return rows_ * columns_ * depth_ * batches_ < std::int64_t{1} << 27 ? LineSample::most / 2 : LineSample::most; }

  LineSample sample_of(const PackedLines& x) const {
    LineSample s;
    const std::int64_t n = LineSample::size(x.lines(), most_sampled());
    s.values.resize(static_cast<std::size_t>(n * depth_));
    for (std::int64_t k = 0; k < n; ++k) {
      const std::int64_t line = LineSample::place(k, x.lines(), n);
      x.copy(line, s.values.data() + k * depth_);
      s.profile.norm.push_back(x.profile().norm[static_cast<std::size_t>(line)]);
      s.profile.grid.push_back(x.profile().grid[static_cast<std::size_t>(line)]);
    }
    return s;
  }

  LineSample sample_of(const OperandLines& x, std::int64_t start, std::int64_t lines) const {
    LineSample s;
    const std::int64_t most = most_sampled(), n = LineSample::size(lines, most);
    s.values.resize(static_cast<std::size_t>(n * depth_));
    std::vector<std::uint8_t> flags(x.flags ? s.values.size() : 0);
    // Lines side by side are read in runs: two of them.
    const std::int64_t run = x.line == 1 && x.term != 1 && n == most ? n / 2 : 1;
    std::vector<double> side_by_side(static_cast<std::size_t>(run));
    for (std::int64_t k = 0; k < n; k += run) {
      const std::int64_t from = start + std::min(LineSample::place(k, lines, most), lines - run) * x.line;
      double* const to = s.values.data() + k * depth_;
      if (x.term == 1) {
        const double* line = x.read(from, depth_, to);
        if (line != to) std::copy(line, line + depth_, to);
      } else {
        for (std::int64_t t = 0; t < depth_; ++t) {
          const double* terms = x.read(from + t * x.term, run, side_by_side.data());
          for (std::int64_t l = 0; l < run; ++l) to[l * depth_ + t] = terms[l];
        }
      }
      for (std::int64_t l = 0; x.flags && l < run; ++l)
        for (std::int64_t t = 0; t < depth_; ++t) flags[static_cast<std::size_t>((k + l) * depth_ + t)] = x.flags[from + l * x.line + t * x.term];
    }
    s.profile = profile(s.values.data(), x.flags ? flags.data() : nullptr, n, depth_, depth_, 1);
    return s;
  }

  /// What a thread works with.
  struct Hand {
    Hand(std::int64_t rows, std::int64_t depth, std::int64_t width, bool rounds, const MatrixEnds& ends)
        : a(rows, depth, tile_rows), centre(static_cast<std::size_t>(a.padded() * width)), magnitude(rounds ? centre.size() : 0), magnitudes_of_a(static_cast<std::size_t>(rounds ? a.padded() * depth : 0)), magnitudes_of_b(static_cast<std::size_t>(rounds ? most_tile_columns * std::min(depth, short_slab) : 0)), work(ends.work()) {}
    PackedLines a;
    Doubles centre, magnitude, magnitudes_of_a, magnitudes_of_b;  // the last one of a piece
    std::unique_ptr<MatrixEnds::Work, void (*)(MatrixEnds::Work*)> work;
  };

  /// The group after a strip that begins with group `from`.
  std::int64_t end_of_strip(const PackedLines& b, std::int64_t from) const {
    std::int64_t end = from + 1;
    while (end < b.groups() && b.first(end + 1) - b.first(from) <= (rounds_ ? strip / 2 : strip)) ++end;
    return end;
  }

  /// All rows of hand.a, groups [from, to) of b. Both products use what is read of b.
  void multiply(const PackedLines& b, std::int64_t from, std::int64_t to, Hand& hand) const {
    const PackedLines& a = hand.a;
    const std::int64_t width = b.first(to) - b.first(from);
    for (std::int64_t k = 0; k < depth_; k += slab_) {
      stop_if_asked(options_);
      const std::int64_t terms = std::min(slab_, depth_ - k);
      const bool add = k > 0 && !planted(Mistake::lost_piece);
      for (std::int64_t g = from; g < to; ++g) {
        const double* const columns = b.group(g) + k * b.width(g);
        const std::int64_t start = b.first(g) - b.first(from);
        for (std::int64_t h = 0; h < a.groups(); ++h)
          tile_(a.group(h) + k * tile_rows, columns, terms, b.width(g), hand.centre.data() + h * tile_rows * width + start, width, add);
        if (!rounds_) continue;
        magnitudes_of(columns, terms * b.width(g), hand.magnitudes_of_b.data());
        for (std::int64_t h = 0; h < a.groups(); ++h)
          tile_(hand.magnitudes_of_a.data() + (h * depth_ + k) * tile_rows, hand.magnitudes_of_b.data(), terms, b.width(g), hand.magnitude.data() + h * tile_rows * width + start, width, add);
      }
    }
  }

  /// Rows [first, first + hand.a.lines()) of a batch.
  void block(std::int64_t batch, std::int64_t first, const PackedLines& b, Hand& hand) {
    PackedLines& a = hand.a;
    a.pack(left_, at(term_.a, batch) + first * left_.line, 0, a.groups());
    if (rounds_) magnitudes_of(a.group(0), a.padded() * depth_, hand.magnitudes_of_a.data());
    LineCopy row_factors(a), column_factors(b);
    for (std::int64_t from = 0; from < b.groups();) {
      const std::int64_t to = end_of_strip(b, from), start = b.first(from), width = b.first(to) - start;
      multiply(b, from, to, hand);
      MatrixBlock ends;
      ends.batch = batch;
      ends.first = first;
      ends.first_column = start;
      ends.rows = a.lines();
      ends.columns = std::min(width, columns_ - start);
      ends.start = (batch * rows_ + first) * columns_ + start;
      ends.width = columns_;
      ends.centre = hand.centre.data();
      ends.centre_width = width;
      if (rounds_) ends.magnitude = hand.magnitude.data();
      ends.row_norm = a.profile().norm.data();
      ends.row_grid = a.profile().grid.data();
      ends.column_norm = b.profile().norm.data() + start;
      ends.column_grid = b.profile().grid.data() + start;
      ends.row_factors = [&row_factors](std::int64_t i) { return row_factors(i); };
      const auto column = [&column_factors, start](std::int64_t j) { return column_factors(start + j); };
      ends.column_factors = column;
      ends.by_columns = true;
      ends_.settle(ends, *hand.work);
      from = to;
    }
  }

  /// Many small products: each thread takes several whole ones at a time.
  void by_batches(int threads) {
    const std::int64_t most = (batches_ + 4 * threads - 1) / (4 * threads), volume = rows_ * columns_ * depth_;
    const std::int64_t together = std::clamp<std::int64_t>((std::int64_t{1} << 22) / volume, 1, most), tall = std::min<std::int64_t>(rows_, 256);
    parallel_blocks((batches_ + together - 1) / together, options_, [&](std::int64_t task) {
      PackedLines b(columns_, depth_, most_tile_columns);
      Hand hand(tall, depth_, b.padded(), rounds_, ends_);
      for (std::int64_t batch = task * together; batch < std::min(batches_, (task + 1) * together); ++batch) {
        b.pack(right_, at(*term_.b, batch), 0, b.groups());
        std::int64_t first = 0;
        for (; first + tall <= rows_; first += tall) block(batch, first, b, hand);
        if (first < rows_) {
          Hand rest(rows_ - first, depth_, b.padded(), rounds_, ends_);
          block(batch, first, b, rest);
        }
      }
    });
  }

  bool by_blocks(int threads, const Node* then) {
    const std::int64_t packed = shares_right_ ? 1 : batches_;
    std::vector<PackedLines> b;
    for (std::int64_t k = 0; k < packed; ++k) b.emplace_back(columns_, depth_, most_tile_columns);
    const std::int64_t groups = b[0].groups(), together = std::clamp<std::int64_t>((groups + 2 * threads - 1) / (2 * threads), 1, 10), parts = (groups + together - 1) / together;
    parallel_blocks(packed * parts, options_, [&](std::int64_t task) {
      const std::int64_t batch = task / parts, from = task % parts * together;
      b[static_cast<std::size_t>(batch)].pack(right_, at(*term_.b, batch), from, std::min(groups, from + together));
    });
    if (!decides_most(then, &b[static_cast<std::size_t>(packed / 2)])) return false;
    // Tall enough to use what is read of B, and several for each thread.
    const std::int64_t even = (rows_ * batches_ / (4 * threads) + tile_rows - 1) / tile_rows * tile_rows;
    const std::int64_t most = std::clamp<std::int64_t>((std::int64_t{1} << 20) / depth_ / tile_rows * tile_rows, 32, 128);
    const std::int64_t tall = std::min(rows_, options_.tile > 0 ? options_.tile : std::clamp(even, std::min<std::int64_t>(64, most), most)), blocks = (rows_ + tall - 1) / tall;
    parallel_blocks(batches_ * blocks, options_, [&](std::int64_t task) {
      const std::int64_t batch = task / blocks, first = task % blocks * tall;
      const PackedLines& columns = b[shares_right_ ? 0 : static_cast<std::size_t>(batch)];
      std::int64_t widest = 0;
      for (std::int64_t g = 0; g < columns.groups();) {
        const std::int64_t end = end_of_strip(columns, g);
        widest = std::max(widest, columns.first(end) - columns.first(g));
        g = end;
      }
      Hand hand(std::min(tall, rows_ - first), depth_, widest, rounds_, ends_);
      block(batch, first, columns, hand);
    });
    return true;
  }
};

}  // namespace

bool is_matrix_term(const Extents& extents, const Term& term) {
  const std::size_t rank = extents.size();
  if (rank < 2 || !term.b || term.reduced.size() != 1 || term.reduced[0] < 8) return false;
  const Factor &a = term.a, &b = *term.b;
  // Lines as BLAS takes them: side by side in one direction, and not over one another (an operand that lacks the reduced axis).
  const std::int64_t depth = term.reduced[0];
  const auto are_lines = [&](std::int64_t across, std::int64_t along, std::int64_t lines) {
    return (along == 1 && (lines == 1 || across >= depth)) || (across == 1 && along >= lines);
  };
  return a.out_strides[rank - 1] == 0 && b.out_strides[rank - 2] == 0 && are_lines(a.out_strides[rank - 2], a.reduced_strides[0], extents[rank - 2]) &&
         are_lines(b.out_strides[rank - 1], b.reduced_strides[0], extents[rank - 1]);
}

const Term* matrix_term_of(const Extents& extents, const std::vector<Term>& terms) {
  const Term* product = nullptr;
  for (const Term& t : terms) {
    if (!t.is_plain()) return nullptr;
    if (t.reduced.empty()) continue;
    if (product || !is_matrix_term(extents, t)) return nullptr;
    product = &t;
  }
  return product;
}

bool suits_tiles(const Extents& extents, const std::vector<Term>& terms, bool rounds, const Node* then) {
  const Term* const product = matrix_term_of(extents, terms);
  if (!tile_product() || planted_fault() || !product) return false;
  if (!rounds && !(then && MatrixEnds::rounds_at_once(*then))) return false;
  // Fewer rows or columns than a tile has are better left to BLAS.
  const std::int64_t rows = extents[extents.size() - 2], columns = extents.back();
  return rows >= tile_rows && columns >= 8 && size_of(extents) * product->leaves() >= 1 << 14;
}

bool is_tile_sum(const Engine& engine, const SumNode& sum, const Node* then, bool settle, bool is_point) {
  const SumRule& rule = sum.rule;
  if (!settle || rule.needs_leaves(sum.leaves) || !suits_tiles(sum.extents, sum.terms, rule.rounds, then)) return false;
  // Sums in float64 are better computed in pairs; a subnormal factor that may count as 0 is looked for elsewhere.
  if (rule.rounds ? rule.within || rule.format.precision() > 32 || !sum.flushed_below.empty() : !is_point) return false;
  const auto exact = [&](NodeId id) { return engine.stored(id).is_exact && engine.stored(id).is_point; };
  return std::all_of(sum.terms.begin(), sum.terms.end(), [&](const Term& t) { return exact(t.a.node) && (!t.b || exact(t.b->node)); });
}

bool run_tile_sum(Engine& engine, const SumNode& sum, SumPlane& out, MatrixEnds::Goal goal) {
  const Node* const then = goal.then;
  TileSum tiles(engine, sum, out, std::move(goal));
  return tiles.run(then);
}

}  // namespace erx
