#include "eval/line_sum.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "eval/leaf_line.hpp"
#include "eval/matrix_row.hpp"
#include "eval/parallel.hpp"
#include "eval/sum_parts.hpp"
#include "eval/tally.hpp"
#include "ops/bulk.hpp"
#include "ops/clones.hpp"
#include "ops/planted.hpp"

namespace erx {
namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();
constexpr std::int64_t chunk = 4096;       // leaves of one plain sum of doubles; chunks are added in twice the precision
constexpr std::int64_t piece = 64 * chunk;  // leaves of a task
constexpr std::size_t lanes = 16;
constexpr std::int64_t turns = 256;  // leaves of one element beside others: as many as a lane of a chunk has

/// Roundings on the way of a leaf: its product, its lane, the lanes; sums of chunks; the reading of what is left.
constexpr double relative_error = (chunk / lanes + lanes + 16) * 0x1p-53 * (1 + 0x1p-20);

/// A sum in twice the precision.
struct Total {
  double high = 0, low = 0;
  void add(double x) {
    const double s = high + x, t = s - high;
    low += (high - (s - t)) + (x - t);
    high = s;
  }
  void add(const Total& x) {
    add(x.high);
    low += x.low;
  }
  double value() const { return high + low; }
};

struct Part {
  Total centre, magnitude;
  double grid_a = infinity, grid_b = infinity;
  bool special = false;

  void add(const Part& x) {
    centre.add(x.centre);
    magnitude.add(x.magnitude);
    grid_a = std::min(grid_a, x.grid_a);
    grid_b = std::min(grid_b, x.grid_b);
    special |= x.special;
  }
};

struct Lanes {
  double sum[lanes] = {}, magnitude[lanes] = {}, grid_a[lanes], grid_b[lanes];
  Lanes() {
    std::fill(grid_a, grid_a + lanes, infinity);
    std::fill(grid_b, grid_b + lanes, infinity);
  }
};

[[gnu::always_inline]] inline double least(double a, double b) { return b < a ? b : a; }

template <bool product>
[[gnu::always_inline]] inline void add_leaves(const double* a, const double* b, std::size_t n, Lanes& all) {
  Lanes l = all;
  for (std::size_t i = 0; i < n; i += lanes)
    for (std::size_t k = 0; k < lanes; ++k) {
      const double x = a[i + k], leaf = product ? x * b[i + k] : x;
      l.sum[k] += leaf;
      l.magnitude[k] += std::fabs(leaf);
      l.grid_a[k] = least(l.grid_a[k], lowest_bit(x));
      if constexpr (product) l.grid_b[k] = least(l.grid_b[k], lowest_bit(b[i + k]));
    }
  all = l;
}
ERX_VECTOR_CLONES void add_plain(const double* a, std::size_t n, Lanes& all) { add_leaves<false>(a, nullptr, n, all); }
ERX_VECTOR_CLONES void add_products(const double* a, const double* b, std::size_t n, Lanes& all) { add_leaves<true>(a, b, n, all); }

Part sum_of_chunk(const double* a, const double* b, std::size_t n) {
  Lanes l;
  const std::size_t even = n / lanes * lanes;
  if (b) add_products(a, b, even, l);
  else add_plain(a, even, l);
  if (even < n) {
    double rest_a[lanes] = {}, rest_b[lanes] = {};
    std::copy(a + even, a + n, rest_a);
    if (b) std::copy(b + even, b + n, rest_b);
    if (b) add_products(rest_a, rest_b, lanes, l);
    else add_plain(rest_a, lanes, l);
  }
  Part p;
  double sum = 0, magnitude = 0;
  for (std::size_t k = 0; k < lanes; ++k) {
    sum += l.sum[k];
    magnitude += l.magnitude[k];
    p.grid_a = least(p.grid_a, l.grid_a[k]);
    p.grid_b = least(p.grid_b, l.grid_b[k]);
  }
  p.centre.add(sum);
  p.magnitude.add(magnitude);
  return p;
}

/// Leaves [first, first + n) of one element.
Part sum_of_leaves(const LeafLine& leaves, std::int64_t element, std::int64_t first, std::int64_t n, LeafLine::Buffer& buffer) {
  Part all;
  for (std::int64_t at = first; at < first + n; at += chunk) {
    const std::int64_t count = std::min(chunk, first + n - at);
    const LeafLine::Run run = leaves.read(element, at, count, buffer);
    all.special |= run.special;
    all.add(sum_of_chunk(run.a, run.b, static_cast<std::size_t>(count)));
  }
  return all;
}

/// Elements side by side, leaf by leaf.
struct Row {
  explicit Row(std::size_t n) : sum(n), magnitude(n), grid(n) {}
  std::vector<double> sum, magnitude, grid;
};

template <bool product>
[[gnu::always_inline]] inline void add_across(const double* a, const double* b, std::int64_t step_a, std::int64_t step_b, std::size_t n, double* sum,
                                              double* magnitude, double* grid) {
  ERX_INDEPENDENT
  for (std::size_t j = 0; j < n; ++j) {
    const double x = a[static_cast<std::int64_t>(j) * step_a], y = product ? b[static_cast<std::int64_t>(j) * step_b] : 1, leaf = product ? x * y : x;
    sum[j] += leaf;
    magnitude[j] += std::fabs(leaf);
    // Grids of products are products of grids; those of zeros, and those out of range, are not used as they are.
    const double g = product ? lowest_bit(x) * lowest_bit(y) : lowest_bit(x);
    grid[j] = least(grid[j], (planted(Mistake::grid_of_underflow) ? leaf == 0 : (x == 0) | (y == 0)) ? infinity : g);
  }
}
ERX_VECTOR_CLONES void add_row(const double* a, std::size_t n, double* s, double* m, double* g) { add_across<false>(a, nullptr, 1, 0, n, s, m, g); }
ERX_VECTOR_CLONES void add_row_of_products(const double* a, const double* b, std::size_t n, double* s, double* m, double* g) {
  add_across<true>(a, b, 1, 1, n, s, m, g);
}
ERX_VECTOR_CLONES void add_scaled_row(const double* a, const double* b, std::size_t n, double* s, double* m, double* g) {
  add_across<true>(a, b, 0, 1, n, s, m, g);
}

void sums_across(const LeafLine& leaves, std::int64_t element, std::size_t n, std::vector<Part>& parts) {
  Row row(n);
  parts.assign(n, {});
  std::vector<double> grid(n, infinity);
  bool special = false;
  for (std::int64_t first = 0, size = leaves.size(); first < size; first += turns) {
    std::fill(row.sum.begin(), row.sum.end(), 0);
    std::fill(row.magnitude.begin(), row.magnitude.end(), 0);
    for (std::int64_t k = first; k < std::min(first + turns, size); ++k) {
      LeafLine::Across x = leaves.across(element, k, static_cast<std::int64_t>(n));
      special |= x.special;
      if (x.step_b == 0 && x.b) {
        std::swap(x.a, x.b);
        std::swap(x.step_a, x.step_b);
      }
      if (!x.b) add_row(x.a, n, row.sum.data(), row.magnitude.data(), grid.data());
      else if (x.step_a == 0) add_scaled_row(x.a, x.b, n, row.sum.data(), row.magnitude.data(), grid.data());
      else add_row_of_products(x.a, x.b, n, row.sum.data(), row.magnitude.data(), grid.data());
    }
    for (std::size_t j = 0; j < n; ++j) {
      parts[j].centre.add(row.sum[j]);
      parts[j].magnitude.add(row.magnitude[j]);
    }
  }
  for (std::size_t j = 0; j < n; ++j) {
    parts[j].grid_a = grid[j];
    parts[j].grid_b = leaves.is_product() ? 1 : infinity;
    parts[j].special = special;
  }
}

/// Parts of elements side by side, as one row of the rule.
struct Rows {
  std::vector<double> centre, magnitude, norm, grid;

  void add(const Part& p, bool product, double absolute) {
    const double m = p.magnitude.value();
    centre.push_back(p.centre.value());
    magnitude.push_back(m);
    grid.push_back(product ? product_grid(p.grid_a, p.grid_b) : p.grid_a);
    const double bound = m * (1 + 2 * relative_error) + 2 * absolute;
    // What is 0, or near the ends of the range of doubles, is summed leaf by leaf.
    norm.push_back(p.special || !(m > 0x1p-900 && m < 0x1p1000) ? infinity : bound);
  }
};

}  // namespace

bool is_line_sum(const Engine& engine, const SumNode& sum) {
  if (sum.rule.needs_leaves(sum.leaves) || size_of(sum.extents) == 0 || sum.leaves < 16 || !LeafLine::fits(engine, sum)) return false;
  return sum.flushed_below.empty() || !sum.terms[0].b;
}

void run_line_sum(Engine& engine, const SumNode& sum, SumPlane& out, bool settle, const Node* then, const std::function<Set<F64>(std::int64_t)>& bulk,
                  const std::function<Climbed(std::int64_t)>& finer) {
  const LeafLine leaves(engine, sum);
  const EvaluateOptions& options = engine.options();
  const std::int64_t n = size_of(sum.extents), size = leaves.size();
  const bool rounds = sum.rule.rounds, product = leaves.is_product();
  const double absolute = product ? static_cast<double>(size) * 0x1p-1074 : 0;
  const double relative = planted(Mistake::lines_without_error) ? 0 : relative_error;
  const MatrixRowRule rule(sum.rule, sum.leaves);
  Tally tally;

  const auto finish = [&](std::int64_t first, const std::vector<Part>& parts) {
    Rows rows;
    for (const Part& p : parts) rows.add(p, product, absolute);
    const std::size_t count = parts.size();
    const bool users_round = then && rounds && then->attributes.format->precision() < sum.rule.format.precision();
    const MatrixRow row{count, rows.centre.data(), rows.magnitude.data(), rows.norm.data(), rows.grid.data(), 1, 1, relative, absolute,
                        relative * (1 + 0x1p-20), 2 * absolute, true, sum.terms[0].negative, users_round};
    std::vector<double> lo_d(count), lo_u(count), hi_d(count), hi_u(count);
    std::vector<std::uint8_t> flags(count), hard(count);
    rule(row, lo_d.data(), lo_u.data(), hi_d.data(), hi_u.data(), flags.data(), hard.data());
    for (std::size_t j = 0; j < count; ++j) {
      const std::int64_t e = first + static_cast<std::int64_t>(j);
      Set<F64> s;
      if (hard[j]) {
        s = bulk(e);
      } else {
        s = rounds ? Set<F64>::between(F64{lo_d[j], lo_u[j]}, F64{hi_d[j], hi_u[j]}, flags[j]) : Set<F64>::point(F64{lo_d[j], lo_u[j]}, flags[j]);
        if (then) s = erx::row(*then).map.f64({&s, 1}, then->attributes, {});
        if (settle && is_undecided(s)) s = bulk(e);
      }
      if (settle && is_undecided(s)) {
        const Climbed c = finer(e);
        tally.add(c.by);
        s = c.flags & no_reals ? Set<F64>::special(c.flags) : Set<F64>::between(F64::exact(c.lo), F64::exact(c.hi), c.flags);
      } else if (settle) {
        tally.add(Climbed::By::bulk);
      }
      out.put(e, s);
    }
  };

  if (leaves.is_across()) {
    const std::int64_t width = sum.extents.back(), block = std::clamp<std::int64_t>((1 << 20) / size, 64, 1024), blocks = (width + block - 1) / block;
    parallel_blocks(n / width * blocks, options, [&](std::int64_t k) {
      stop_if_asked(options);
      const std::int64_t first = k / blocks * width + k % blocks * block, count = std::min(block, width - k % blocks * block);
      std::vector<Part> parts;
      sums_across(leaves, first, static_cast<std::size_t>(count), parts);
      finish(first, parts);
    });
  } else if (size <= piece) {
    const std::int64_t block = std::clamp<std::int64_t>(piece / size, 1, 1024);
    parallel_blocks((n + block - 1) / block, options, [&](std::int64_t k) {
      LeafLine::Buffer buffer;
      std::vector<Part> parts;
      for (std::int64_t e = k * block; e < std::min(n, (k + 1) * block); ++e) {
        stop_if_asked(options);
        parts.push_back(sum_of_leaves(leaves, e, 0, size, buffer));
      }
      finish(k * block, parts);
    });
  } else {
    const std::int64_t pieces = (size + piece - 1) / piece;
    std::vector<Part> all(static_cast<std::size_t>(n * pieces));
    parallel_blocks(n * pieces, options, [&](std::int64_t k) {
      stop_if_asked(options);
      LeafLine::Buffer buffer;
      const std::int64_t first = k % pieces * piece;
      all[static_cast<std::size_t>(k)] = sum_of_leaves(leaves, k / pieces, first, std::min(piece, size - first), buffer);
    });
    parallel_blocks(n, options, [&](std::int64_t e) {
      Part whole;
      for (std::int64_t k = 0; k < pieces; ++k) whole.add(all[static_cast<std::size_t>(e * pieces + k)]);
      finish(e, {whole});
    });
  }
  if (settle) tally.into(engine.counters);
}

}  // namespace erx
