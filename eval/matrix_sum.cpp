#include "eval/matrix_sum.hpp"

#include <algorithm>
#include <cmath>
#include <mutex>
#include <optional>

#include "eval/checksum.hpp"
#include "eval/matrix_operand.hpp"
#include "eval/matrix_row.hpp"
#include "eval/parallel.hpp"
#include "eval/sum_parts.hpp"
#include "ops/clones.hpp"
#include "ops/dot2.hpp"
#include "ops/gemm.hpp"
#include "ops/planted.hpp"

namespace erx {
namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();

bool is_matrix_term(const SumNode& sum, const Term& term) {
  const std::size_t rank = sum.extents.size();
  if (rank < 2 || !term.b || term.reduced.size() != 1 || term.reduced[0] < 8) return false;
  const Factor &a = term.a, &b = *term.b;
  const auto unit = [](std::int64_t across, std::int64_t along) { return across == 1 || along == 1; };
  return a.out_strides[rank - 1] == 0 && b.out_strides[rank - 2] == 0 && unit(a.out_strides[rank - 2], a.reduced_strides[0]) &&
         unit(b.out_strides[rank - 1], b.reduced_strides[0]);
}

/// Norm (an upper bound) and grid of each row of a rows x columns view; the norm is infinite where a bound cannot be given.
struct Profile {
  std::vector<double> norm, grid;
};

/// Sums of squares and lowest bits, without branches.
ERX_VECTOR_CLONES void add_line(const double* x, std::size_t n, double* squares, double* grids) {
  ERX_INDEPENDENT
  for (std::size_t l = 0; l < n; ++l) {
    squares[l] += x[l] * x[l];
    const double bit = lowest_bit(x[l]);
    grids[l] = bit < grids[l] ? bit : grids[l];
  }
}

Profile profile(const double* data, const std::uint8_t* flags, std::int64_t lines, std::int64_t line_stride, std::int64_t terms, std::int64_t term_stride) {
  Profile p{std::vector<double>(static_cast<std::size_t>(lines), 0), std::vector<double>(static_cast<std::size_t>(lines), infinity)};
  std::vector<std::uint8_t> special(static_cast<std::size_t>(lines), 0);
  if (line_stride == 1) {
    for (std::int64_t k = 0; k < terms; ++k) add_line(data + k * term_stride, p.norm.size(), p.norm.data(), p.grid.data());
  } else {
    // Along a line in lanes, whose number is the same on every machine, so that norms are too.
    constexpr std::int64_t lanes = 16;
    for (std::int64_t line = 0; line < lines; ++line) {
      double squares[lanes] = {}, grids[lanes];
      std::fill(grids, grids + lanes, infinity);
      const double* x = data + line * line_stride;
      std::int64_t k = 0;
      if (term_stride == 1)
        for (; k + lanes <= terms; k += lanes) add_line(x + k, lanes, squares, grids);
      for (; k < terms; ++k) add_line(x + k * term_stride, 1, squares, grids);
      for (std::int64_t lane = 0; lane < lanes; ++lane) {
        p.norm[static_cast<std::size_t>(line)] += squares[lane];
        p.grid[static_cast<std::size_t>(line)] = std::min(p.grid[static_cast<std::size_t>(line)], grids[lane]);
      }
    }
  }
  if (flags)
    for (std::int64_t line = 0; line < lines; ++line)
      for (std::int64_t k = 0; k < terms; ++k) special[static_cast<std::size_t>(line)] |= flags[line * line_stride + k * term_stride] & ~any_zero;
  const double inflate = 1 + static_cast<double>(terms + 8) * 0x1p-52;
  for (std::size_t l = 0; l < p.norm.size(); ++l) {
    const double n = std::sqrt(p.norm[l]) * (planted(Mistake::raw_norms) ? 1 : inflate);
    // Squares of extreme values leave the range of doubles; zero rows need the signs of their zeros.
    const bool in_range = (n > 0x1p-400 || planted(Mistake::unscaled_norms) || planted(Mistake::ratio_form)) && n < 0x1p400;
    p.norm[l] = special[l] || !in_range ? infinity : n;
  }
  return p;
}

/// The terms beside the product, for one row: their sum, magnitude and grid. A term that is special, or a sum that is not
/// exact in float64, is left to the scalar rule.
class OtherTerms {
 public:
  OtherTerms(const Engine& engine, const SumNode& sum, const std::vector<const Term*>& terms, std::size_t columns)
      : engine_(engine), sum_(sum), terms_(terms), value_(columns), magnitude_(columns), grid_(columns), special_(columns) {}

  void read(std::int64_t batch, std::int64_t row_index, MatrixRow& row) {
    const std::size_t rank = sum_.extents.size();
    for (std::size_t j = 0; j < value_.size(); ++j) {
      F64 total{}, magnitude{};
      double grid = infinity;
      bool special = false;
      for (const Term* t : terms_) {
        const auto factor = [&](const Factor& f) {
          const Plane& p = engine_.stored(f.node).hull;
          std::int64_t at = row_index * f.out_strides[rank - 2] + static_cast<std::int64_t>(j) * f.out_strides[rank - 1], rest = batch;
          for (std::size_t k = rank - 2; k-- > 0;) {
            at += rest % sum_.extents[k] * f.out_strides[k];
            rest /= sum_.extents[k];
          }
          special |= p.flags && ((*p.flags)[static_cast<std::size_t>(at)] & ~any_zero);
          return (*p.lo_d)[static_cast<std::size_t>(at)];
        };
        const double x = factor(t->a);
        F64 leaf = F64::exact(x);
        double leaf_grid = lowest_bit(x);
        if (t->b) {
          const double y = factor(*t->b);
          leaf = mul(leaf, F64::exact(y));
          leaf_grid = product_grid(leaf_grid, lowest_bit(y));
        }
        total = add(total, t->negative ? neg(leaf) : leaf);
        magnitude = add(magnitude, abs_of(leaf));
        grid = std::min(grid, leaf_grid);
      }
      special_[j] = special || total.d != total.u || magnitude.d != magnitude.u;
      value_[j] = total.d;
      magnitude_[j] = magnitude.d;
      grid_[j] = grid;
    }
    row.other = value_.data();
    row.other_magnitude = magnitude_.data();
    row.other_grid = grid_.data();
  }
  bool is_special(std::size_t j) const { return special_[j]; }

 private:
  const Engine& engine_;
  const SumNode& sum_;
  const std::vector<const Term*>& terms_;
  std::vector<double> value_, magnitude_, grid_;
  std::vector<std::uint8_t> special_;
};

/// Rows or columns of an operand, contiguous. Lines of a stride are copied one at a time, until so many were asked for that the
/// matrices are transposed as a whole: a strided line costs a cache miss for each element.
class Lines {
 public:
  explicit Lines(const Doubles& data) : data_(data) {}

  /// `count` elements from `at` on, `step` apart.
  const double* line(std::int64_t at, std::int64_t step, std::int64_t count, std::vector<double>& buffer) const {
    if (step == 1) return data_.data() + at;
    const std::int64_t size = static_cast<std::int64_t>(data_.size()), matrix = count * step;
    // Whole matrices [count, step] lie one after the other.
    if (matrix > 0 && size % matrix == 0 && at % matrix < step && asked_.fetch_add(1) >= step / 16) {
      std::call_once(once_, [&] { transpose(count, step); });
      return transposed_.data() + at / matrix * matrix + at % matrix * count;
    }
    buffer.resize(static_cast<std::size_t>(count));
    for (std::int64_t k = 0; k < count; ++k) buffer[static_cast<std::size_t>(k)] = data_[static_cast<std::size_t>(at + k * step)];
    return buffer.data();
  }

 private:
  const Doubles& data_;
  mutable Doubles transposed_;
  mutable std::once_flag once_;
  mutable std::atomic<std::int64_t> asked_{0};

  void transpose(std::int64_t rows, std::int64_t columns) const {
    transposed_.resize(data_.size());
    constexpr std::int64_t tile = 32;
    for (std::int64_t start = 0; start < static_cast<std::int64_t>(data_.size()); start += rows * columns)
      for (std::int64_t i = 0; i < rows; i += tile)
        for (std::int64_t j = 0; j < columns; j += tile)
          for (std::int64_t jj = j; jj < std::min(j + tile, columns); ++jj)
            for (std::int64_t ii = i; ii < std::min(i + tile, rows); ++ii)
              transposed_[static_cast<std::size_t>(start + jj * rows + ii)] = data_[static_cast<std::size_t>(start + ii * columns + jj)];
  }
};

/// The second stage: the centre of one element in twice the precision, under the same rule.
class Refiner {
 public:
  Refiner(const Lines& a, std::int64_t a_row, std::int64_t a_term, const Lines& b, std::int64_t depth, std::int64_t b_column,
          std::int64_t b_term)
      : a_(a), b_(b), a_row_(a_row), a_term_(a_term), b_column_(b_column), b_term_(b_term), depth_(depth) {}

  bool element(std::int64_t i, std::size_t j, std::int64_t at_a, std::int64_t at_b, const MatrixRow& row, const MatrixRowRule& rule, Set<F64>& s) {
    if (!row.magnitude) return false;
    const double* x = a_.line(at_a + i * a_row_, a_term_, depth_, row_buffer_);
    const double* y = b_.line(at_b + static_cast<std::int64_t>(j) * b_column_, b_term_, depth_, column_buffer_);
    const double centre = dot2(x, y, static_cast<std::size_t>(depth_));
    const double n = static_cast<double>(depth_) + 16;
    MatrixRow one = row;
    one.columns = 1;
    one.centre = &centre;
    one.magnitude += j;
    one.norm += j;
    one.grid += j;
    if (one.other) {
      one.other += j;
      one.other_magnitude += j;
      one.other_grid += j;
    }
    one.relative = n * n * 0x1p-104;
    one.absolute = std::fabs(centre) * 0x1p-52 + row.absolute;
    double lo_d, lo_u, hi_d, hi_u;
    std::uint8_t flags, hard;
    rule(one, &lo_d, &lo_u, &hi_d, &hi_u, &flags, &hard);
    if (hard || lo_d != lo_u || hi_d != hi_u) return false;
    s = Set<F64>::between(F64::exact(lo_d), F64::exact(hi_d), flags);
    return true;
  }

 private:
  const Lines& a_;
  const Lines& b_;
  std::int64_t a_row_, a_term_, b_column_, b_term_, depth_;
  std::vector<double> row_buffer_, column_buffer_;
};

}  // namespace

bool is_matrix_sum(const Engine& engine, const SumNode& sum) {
  if (sum.rule.needs_leaves(sum.leaves) || size_of(sum.extents) == 0) return false;
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

void run_matrix_sum(Engine& engine, const SumNode& sum, Plane& out, bool settle, const std::function<Set<F64>(std::int64_t)>& bulk,
                    const std::function<Climbed(std::int64_t)>& finer) {
  const std::size_t rank = sum.extents.size();
  const MatrixOperand left = matrix_operand(engine, sum, false), right = matrix_operand(engine, sum, true);
  std::vector<const Term*> others;
  for (const Term& t : sum.terms)
    if (t.reduced.empty()) others.push_back(&t);
  const std::int64_t rows = sum.extents[rank - 2], columns = sum.extents[rank - 1], depth = left.depth;
  const Extents batch_extents(sum.extents.begin(), sum.extents.end() - 2);
  const std::int64_t batches = size_of(batch_extents);
  const EvaluateOptions& options = engine.options();

  // Magnitudes of b have the layout of b; those of a are made panel by panel.
  Doubles abs_b(sum.rule.rounds ? right.values->size() : 0);
  {
    const std::int64_t n = static_cast<std::int64_t>(abs_b.size()), block = 1 << 16;
    parallel_blocks((n + block - 1) / block, options, [&](std::int64_t k) {
      for (std::int64_t i = k * block; i < std::min(n, (k + 1) * block); ++i) abs_b[static_cast<std::size_t>(i)] = std::fabs((*right.values)[static_cast<std::size_t>(i)]);
    });
  }

  const std::int64_t sa_row = left.line, sa_term = left.term, sb_column = right.line, sb_term = right.term;
  const std::int64_t panel = std::clamp<std::int64_t>((rows + 1) / 2, 1, 512), panels = (rows + panel - 1) / panel;
  const auto view_b = [&](const double* data, std::int64_t batch) { return MatrixView{data + right.offset(batch), depth, columns, sb_term, sb_column}; };
  // A product can take seconds: rows are multiplied so many at a time that Ctrl-C is answered soon.
  const std::int64_t piece = std::max<std::int64_t>((std::int64_t{1} << 32) / std::max<std::int64_t>(columns * depth, 1), 64);
  const auto multiply = [&](const MatrixView& a, const MatrixView& b, double* c) {
    for (std::int64_t first = 0; first < a.rows; first += piece) {
      stop_if_asked(options);
      gemm({a.data + first * a.row_stride, std::min(piece, a.rows - first), a.columns, a.row_stride, a.column_stride}, b, c + first * b.columns);
    }
  };
  // Columns of operand b are profiled once per batch.
  std::vector<Profile> column_profiles(static_cast<std::size_t>(batches));
  std::vector<std::optional<Checksum>> sums(static_cast<std::size_t>(batches)), magnitude_sums(static_cast<std::size_t>(batches));
  parallel_blocks(batches, options, [&](std::int64_t batch) {
    const std::int64_t at = right.offset(batch);
    column_profiles[static_cast<std::size_t>(batch)] =
        profile(right.values->data() + at, right.flags ? right.flags->data() + at : nullptr, columns, sb_column, depth, sb_term);
  });
  parallel_blocks(2 * batches, options, [&](std::int64_t task) {
    const std::int64_t batch = task / 2;
    const bool of_magnitudes = task % 2;
    if (of_magnitudes && !sum.rule.rounds) return;
    (of_magnitudes ? magnitude_sums : sums)[static_cast<std::size_t>(batch)].emplace(
        view_b(right.values->data(), batch), column_profiles[static_cast<std::size_t>(batch)].norm, of_magnitudes);
  });

  const MatrixRowRule rule(sum.rule, sum.leaves);
  const Lines rows_of_a(*left.values), columns_of_b(*right.values);
  std::atomic<std::int64_t> decided{0}, refined{0}, big{0}, exact{0}, open{0}, rejected{0};
  const double relative = static_cast<double>(planted(Mistake::error_without_terms) ? 0 : depth + 4) * 0x1p-53 * (1 + 0x1p-50);
  const double underflow = static_cast<double>(depth) * 0x1p-1074;
  parallel_blocks(batches * panels, options, [&](std::int64_t block) {
    const std::int64_t batch = block / panels, first = block % panels * panel, count = std::min(panel, rows - first);
    const std::int64_t at_a = left.offset(batch) + first * sa_row, at_b = right.offset(batch);
    const Profile row_profile = profile(left.values->data() + at_a, left.flags ? left.flags->data() + at_a : nullptr, count, sa_row, depth, sa_term);
    const Profile& column_profile = column_profiles[static_cast<std::size_t>(batch)];
    Doubles centre(static_cast<std::size_t>(count * columns)), magnitude(sum.rule.rounds ? centre.size() : 0);
    const MatrixView a{left.values->data() + at_a, count, depth, sa_row, sa_term};
    multiply(a, view_b(right.values->data(), batch), centre.data());
    if (planted_fault()) centre[centre.size() / 2] += 1;
    bool agrees = sums[static_cast<std::size_t>(batch)]->agrees(a, row_profile.norm, centre.data());
    if (sum.rule.rounds) {
      Doubles abs_a(static_cast<std::size_t>(count * depth));
      for (std::int64_t i = 0; i < count; ++i)
        for (std::int64_t k = 0; k < depth; ++k)
          abs_a[static_cast<std::size_t>(i * depth + k)] = std::fabs((*left.values)[static_cast<std::size_t>(at_a + i * sa_row + k * sa_term)]);
      const MatrixView magnitudes{abs_a.data(), count, depth, depth, 1};
      multiply(magnitudes, view_b(abs_b.data(), batch), magnitude.data());
      agrees &= magnitude_sums[static_cast<std::size_t>(batch)]->agrees(magnitudes, row_profile.norm, magnitude.data());
    }
    rejected += !agrees;
    if (planted(Mistake::unchecked_product)) agrees = true;
    stop_if_asked(options);
    std::int64_t n_decided = 0;
    const std::size_t width = static_cast<std::size_t>(columns);
    std::vector<std::uint8_t> hard(width);
    std::vector<double> low(width), high(width);
    OtherTerms other(engine, sum, others, width);
    Refiner refine(rows_of_a, sa_row, sa_term, columns_of_b, depth, sb_column, sb_term);
    std::int64_t n_refined = 0;
    for (std::int64_t i = 0; i < count; ++i) {
      const std::size_t local = static_cast<std::size_t>(i) * width;
      const std::int64_t start = (batch * rows + first + i) * columns;
      MatrixRow row{width, centre.data() + local, magnitude.empty() ? nullptr : magnitude.data() + local, column_profile.norm.data(),
                    column_profile.grid.data(), row_profile.norm[static_cast<std::size_t>(i)], row_profile.grid[static_cast<std::size_t>(i)],
                    relative, underflow, relative, underflow, left.negative};
      if (!others.empty()) other.read(batch, first + i, row);
      double *lo_d = out.lo_d->data() + start, *lo_u = settle ? low.data() : out.lo_u->data() + start;
      double *hi_d = settle ? high.data() : out.hi_d->data() + start, *hi_u = out.hi_u->data() + start;
      std::uint8_t* flags = out.flags->data() + start;
      rule(row, lo_d, lo_u, hi_d, hi_u, flags, hard.data());
      for (std::size_t j = 0; j < width; ++j) {
        const bool special = !agrees || (!others.empty() && other.is_special(j));
        if (!hard[j] && !special && (!settle || (lo_d[j] == lo_u[j] && hi_d[j] == hi_u[j]))) continue;
        const std::int64_t flat = start + static_cast<std::int64_t>(j);
        stop_if_asked(options);  // what is left may climb: milliseconds for each element
        Set<F64> s = Set<F64>::special(undecided);
        if (hard[j] || special) s = bulk(flat);
        else if (refine.element(i, j, at_a, at_b, row, rule, s)) ++n_refined;
        const bool open_ends = (s.flags & undecided) || (s.has_reals() && (s.lo.d != s.lo.u || (!s.is_point && s.hi.d != s.hi.u)));
        if (settle && open_ends) {
          const Climbed c = finer(flat);
          ++(c.by == Climbed::By::big ? big : c.by == Climbed::By::exact ? exact : open);
          s = c.flags & no_reals ? Set<F64>::special(c.flags) : Set<F64>::between(F64::exact(c.lo), F64::exact(c.hi), c.flags);
          --n_decided;
        }
        const bool reals = s.has_reals();
        lo_d[j] = reals ? s.lo.d : 0;
        lo_u[j] = reals ? s.lo.u : 0;
        hi_d[j] = reals ? (s.is_point ? s.lo.d : s.hi.d) : 0;
        hi_u[j] = reals ? (s.is_point ? s.lo.u : s.hi.u) : 0;
        flags[j] = s.flags;
      }
      n_decided += columns;
    }
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
