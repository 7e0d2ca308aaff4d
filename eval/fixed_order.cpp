#include "eval/fixed_order.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "eval/chain_ahead.hpp"
#include "eval/leaf_line.hpp"
#include "eval/line_order.hpp"
#include "eval/number_adder.hpp"
#include "eval/parallel.hpp"
#include "eval/tally.hpp"
#include "ops/clones.hpp"
#include "ops/planted.hpp"
#include "ops/round_bulk.hpp"
#include "ops/sum_rule.hpp"

namespace erx {
namespace {

/// What one addition does with a leaf.
enum class Entry { plain, rounded, either, fused };  // an element; a product that is rounded, or perhaps fused, or fused

template <class T>
[[gnu::always_inline]] inline T smaller(T a, T b) {
  return b < a ? b : a;
}
template <class T>
[[gnu::always_inline]] inline T larger(T a, T b) {
  return b > a ? b : a;
}

/// Leaf by leaf of `n` elements side by side, whose factors lie at a[j * step_a], b[j * step_b].
template <Entry entry, class A>
[[gnu::always_inline]] inline void enter(const A& arithmetic, const LeafLine::Across& x, std::size_t n, typename A::Number* lo, typename A::Number* hi) {
  const A k = arithmetic;
  const std::int64_t step_a = x.step_a, step_b = x.step_b;
  ERX_INDEPENDENT
  for (std::size_t j = 0; j < n; ++j) {
    const double a = x.a[static_cast<std::int64_t>(j) * step_a], b = entry == Entry::plain ? 0 : x.b[static_cast<std::int64_t>(j) * step_b];
    if constexpr (entry == Entry::plain) {
      lo[j] = k.add(lo[j], k.of(a));
    } else if constexpr (entry == Entry::rounded) {
      lo[j] = k.add(lo[j], k.product(a, b));
    } else if constexpr (entry == Entry::fused) {
      lo[j] = k.fused(lo[j], a, b);
      hi[j] = k.fused(hi[j], a, b);
    } else {
      const auto p = k.product(a, b);
      lo[j] = smaller(k.add(lo[j], p), k.fused(lo[j], a, b));
      hi[j] = larger(k.add(hi[j], p), k.fused(hi[j], a, b));
    }
  }
}

#define ERX_ENTER(name, A, entry)                                                                                                    \
  ERX_VECTOR_CLONES void name(const A& k, const LeafLine::Across& x, std::size_t n, A::Number* lo, A::Number* hi) { \
    enter<Entry::entry>(k, x, n, lo, hi);                                                                                                   \
  }
#define ERX_ENTRIES(A)                       \
  ERX_ENTER(enter_plain, A, plain)           \
  ERX_ENTER(enter_rounded, A, rounded)       \
  ERX_ENTER(enter_either, A, either)         \
  ERX_ENTER(enter_fused, A, fused)
ERX_ENTRIES(InFloat)
ERX_ENTRIES(InDouble)
ERX_ENTRIES(Rounded)
#undef ERX_ENTRIES
#undef ERX_ENTER

/// The sum of the magnitudes of n numbers, in any order.
ERX_VECTOR_CLONES double magnitude_of(const double* a, std::size_t n) {
  constexpr std::size_t lanes = 32;
  double sum[lanes] = {}, total = 0;
  std::size_t i = 0;
  for (; i + lanes <= n; i += lanes)
    for (std::size_t l = 0; l < lanes; ++l) sum[l] += std::fabs(a[i + l]);
  for (; i < n; ++i) total += std::fabs(a[i]);
  for (const double s : sum) total += s;
  return total;
}
ERX_VECTOR_CLONES double magnitude_of_products(const double* a, const double* b, std::size_t n) {
  constexpr std::size_t lanes = 32;
  double sum[lanes] = {}, total = 0;
  std::size_t i = 0;
  for (; i + lanes <= n; i += lanes)
    for (std::size_t l = 0; l < lanes; ++l) sum[l] += std::fabs(a[i + l] * b[i + l]);
  for (; i < n; ++i) total += std::fabs(a[i] * b[i]);
  for (const double s : sum) total += s;
  return total;
}

struct Magnitude {
  double value = 0;
  bool special = false;
};

/// Of the leaves of one element, in pieces, by all threads where the element is alone. `run`: all leaves, or nothing.
Magnitude magnitude_of_line(const LeafLine& leaves, std::int64_t element, const LeafLine::Run& run, const EvaluateOptions& options) {
  constexpr std::int64_t piece = 64 * window;
  const std::int64_t size = leaves.size(), pieces = (size + piece - 1) / piece;
  std::vector<Magnitude> parts(static_cast<std::size_t>(pieces));
  parallel_blocks(pieces, options, [&](std::int64_t k) {
    LeafLine::Buffer buffer;
    Magnitude& part = parts[static_cast<std::size_t>(k)];
    const std::int64_t end = std::min(size, (k + 1) * piece);
    for (std::int64_t at = k * piece; at < end; at += window) {
      const std::int64_t count = std::min(window, end - at);
      const LeafLine::Run here = run.a ? LeafLine::Run{run.a + at, run.b ? run.b + at : nullptr, false} : leaves.read(element, at, count, buffer);
      part.special |= here.special;
      part.value += here.b ? magnitude_of_products(here.a, here.b, static_cast<std::size_t>(count)) : magnitude_of(here.a, static_cast<std::size_t>(count));
    }
  });
  Magnitude all{0, run.special};
  for (const Magnitude& part : parts) {
    all.value += part.value;
    all.special |= part.special;
  }
  return all;
}

/// The magnitudes of one leaf of `n` elements.
ERX_VECTOR_CLONES void add_magnitudes(const LeafLine::Across& x, std::size_t n, double* sum) {
  const double one = 1;
  const double* const b = x.b ? x.b : &one;
  const std::int64_t step_b = x.b ? x.step_b : 0;
  ERX_INDEPENDENT
  for (std::size_t j = 0; j < n; ++j) sum[j] += std::fabs(x.a[static_cast<std::int64_t>(j) * x.step_a] * b[static_cast<std::int64_t>(j) * step_b]);
}

/// The order over `n` elements that go in step.
template <class A>
class InStep {
 public:
  using Number = typename A::Number;
  using Numbers = std::vector<Number>;
  using InSequence = std::function<Number(std::int64_t first, std::int64_t leaves, std::int64_t step)>;

  InStep(const A& arithmetic, const SumRule& rule, Entry entry, std::size_t n, std::function<LeafLine::Across(std::int64_t)> leaf, InSequence alone)
      : k_(arithmetic), rule_(rule), entry_(entry), n_(n), leaf_(std::move(leaf)), alone_(std::move(alone)) {}

  void run(std::int64_t leaves, Numbers& lo, Numbers& hi) {
    const auto block = rule_.order.numbers.empty() ? 0 : rule_.order.numbers[0];
    switch (rule_.order.kind) {
      case OrderKind::rseq: sequence(leaves - 1, leaves, -1, lo, hi); break;
      case OrderKind::pairwise: pairwise(0, leaves, block, lo, hi); break;
      case OrderKind::blocked: blocked(leaves, block, lo, hi); break;
      default: sequence(0, leaves, 1, lo, hi);
    }
  }

 private:
  const A& k_;
  const SumRule& rule_;
  Entry entry_;
  std::size_t n_;
  std::function<LeafLine::Across(std::int64_t)> leaf_;
  InSequence alone_;  // of the plain leaves of one element; else empty

  /// Of a sum with one end there is no `hi`.
  bool has_two() const { return entry_ == Entry::either || entry_ == Entry::fused; }

  Number alone(const LeafLine::Across& x, std::size_t j) const {
    const double a = x.a[static_cast<std::int64_t>(j) * x.step_a];
    return entry_ == Entry::plain ? k_.of(a) : k_.product(a, x.b[static_cast<std::int64_t>(j) * x.step_b]);
  }
  void start(const LeafLine::Across& x, Numbers& lo, Numbers& hi) const {
    lo.resize(n_);
    for (std::size_t j = 0; j < n_; ++j) lo[j] = alone(x, j);
    if (has_two()) hi = lo;
  }
  void enter_leaf(const LeafLine::Across& x, Numbers& lo, Numbers& hi) const {
    switch (entry_) {
      case Entry::plain: return enter_plain(k_, x, n_, lo.data(), hi.data());
      case Entry::rounded: return enter_rounded(k_, x, n_, lo.data(), hi.data());
      case Entry::either: return enter_either(k_, x, n_, lo.data(), hi.data());
      case Entry::fused: return enter_fused(k_, x, n_, lo.data(), hi.data());
    }
  }

  void sequence(std::int64_t first, std::int64_t leaves, std::int64_t step, Numbers& lo, Numbers& hi) const {
    if (alone_ && entry_ == Entry::plain) {
      lo.assign(1, alone_(first, leaves, step));
      return;
    }
    const LeafLine::Across x = leaf_(first);
    start(x, lo, hi);
    for (std::int64_t i = 1; i < leaves; ++i) {
      const LeafLine::Across y = leaf_(first + i * step);
      enter_leaf(y, lo, hi);
      // Of the two products of the first addition either may be fused, not both.
      if (i == 1 && has_two() && !planted(Mistake::first_product_not_fused))
        for (std::size_t j = 0; j < n_; ++j) {
          const Number other = k_.fused(alone(y, j), x.a[static_cast<std::int64_t>(j) * x.step_a], x.b[static_cast<std::int64_t>(j) * x.step_b]);
          lo[j] = smaller(lo[j], other);
          hi[j] = larger(hi[j], other);
        }
    }
  }
  void add(Numbers& to, const Numbers& x) const {
    for (std::size_t j = 0; j < n_; ++j) to[j] = k_.add(to[j], x[j]);
  }
  void pairwise(std::int64_t first, std::int64_t last, std::int64_t block, Numbers& lo, Numbers& hi) const {
    if (last - first <= block) return sequence(first, last - first, 1, lo, hi);
    const std::int64_t middle = first + (last - first) / 2;
    pairwise(first, middle, block, lo, hi);
    Numbers right, none;
    pairwise(middle, last, block, right, none);
    add(lo, right);
  }
  void blocked(std::int64_t leaves, std::int64_t block, Numbers& lo, Numbers& hi) const {
    const std::int64_t blocks = (leaves + block - 1) / block;
    const auto sum = [&](std::int64_t k, Numbers& to, Numbers& to_hi) {
      const std::int64_t first = (rule_.order.outer == OrderKind::rseq ? blocks - 1 - k : k) * block, size = std::min(block, leaves - first);
      if (rule_.order.inner == OrderKind::rseq) sequence(first + size - 1, size, -1, to, to_hi);
      else sequence(first, size, 1, to, to_hi);
    };
    sum(0, lo, hi);
    Numbers next, none;
    for (std::int64_t k = 1; k < blocks; ++k) {
      sum(k, next, none);
      add(lo, next);
    }
  }
};

int precision_of(const Type& t) {
  if (t.is_boolean()) return 1;
  return t.is_floating() ? t.format.precision() : 1 << 10;
}

bool is_double(const Format& f) { return contains(f, *find_format("f64")) && contains(*find_format("f64"), f); }

Entry entry_of(const SumRule& rule, bool product) {
  if (!product) return Entry::plain;
  return rule.contraction == Contraction::never ? Entry::rounded : rule.contraction == Contraction::always ? Entry::fused : Entry::either;
}

}  // namespace

bool has_fixed_order(const Engine& engine, const SumNode& sum) {
  const SumRule& rule = sum.rule;
  if (!rule.rounds || rule.within || rule.flush != Flush::no || !is_fixed(rule.order) || sum.leaves < 2 || size_of(sum.extents) == 0) return false;
  if (!LeafLine::fits(engine, sum)) return false;
  const Term& term = sum.terms[0];
  const Type &a = engine.graph()[term.a.node].type, &b = engine.graph()[term.b ? term.b->node : term.a.node].type;
  const bool product = term.b.has_value();
  if (sum.is_product[0] != product) return false;
  // Where a range of one product may be fused, the tree matters.
  if (product && rule.contraction != Contraction::never && rule.order.kind != OrderKind::seq && rule.order.kind != OrderKind::rseq) return false;
  const Format& f = rule.format;
  if (!product && !contains(Type::of(f), a)) return false;
  if (is_double(f)) return contains(Type::of(f), a) && contains(Type::of(f), b);
  return f.precision() <= 25 && BulkRounding(f, {}).is_fast() && (!product || precision_of(a) + precision_of(b) <= 53);
}

namespace {

template <class A>
void run_in(const A& arithmetic, Engine& engine, const SumNode& sum, SumPlane& out, bool settle, const Node* then,
            const std::function<Set<F64>(std::int64_t)>& bulk, const std::function<Climbed(std::int64_t)>& finer) {
  const LeafLine leaves(engine, sum);
  const EvaluateOptions& options = engine.options();
  const std::int64_t n = size_of(sum.extents), size = leaves.size();
  const Entry entry = entry_of(sum.rule, leaves.is_product());
  const bool two = entry == Entry::either || entry == Entry::fused;
  const double sign = sum.terms[0].negative ? -1 : 1;
  // No partial sum exceeds (1 + n u) (P + n eta).  source: ops/accumulate.hpp
  const Format& f = sum.rule.format;
  const double count = static_cast<double>(size);
  const auto stays_finite = [&](double magnitude) {
    return (magnitude + count * f.min_positive()) * (2 + count * f.unit_roundoff()) * (1 + 0x1p-20) + count * 0x1p-1060 <= f.max_finite() / 2;
  };
  Tally tally;
  const auto put = [&](std::int64_t e, double lo, double hi, bool decided) {
    Set<F64> s = Set<F64>::special(undecided);
    if (!decided || (lo <= 0 && hi >= 0)) {
      s = bulk(e);
    } else {
      if (sign < 0) std::swap(lo = -lo, hi = -hi);
      s = two ? Set<F64>::between(F64::exact(lo), F64::exact(hi)) : Set<F64>::point(F64::exact(lo));
      if (then) s = row(*then).map.f64({&s, 1}, then->attributes, {});
    }
    if (settle && is_undecided(s)) {
      const Climbed c = finer(e);
      tally.add(c.by);
      s = c.flags & no_reals ? Set<F64>::special(c.flags) : Set<F64>::between(F64::exact(c.lo), F64::exact(c.hi), c.flags);
    } else if (settle) {
      tally.add(Climbed::By::bulk);
    }
    out.put(e, s);
  };
  using Numbers = std::vector<typename A::Number>;

  if (leaves.is_across()) {
    constexpr std::int64_t block = 256;
    const std::int64_t width = sum.extents.back(), blocks = (width + block - 1) / block;
    parallel_blocks(n / width * blocks, options, [&](std::int64_t k) {
      const std::int64_t first = k / blocks * width + k % blocks * block, side = std::min(block, width - k % blocks * block);
      std::vector<double> magnitude(static_cast<std::size_t>(side), 0);
      bool special = false;
      for (std::int64_t i = 0; i < size; ++i) {
        if (i % 4096 == 0) stop_if_asked(options);
        const LeafLine::Across x = leaves.across(first, i, side);
        special |= x.special;
        add_magnitudes(x, magnitude.size(), magnitude.data());
      }
      Numbers lo, hi;
      if (!special) {
        const auto leaf = [&](std::int64_t i) {
          if (i % 4096 == 0) stop_if_asked(options);
          return leaves.across(first, i, side);
        };
        InStep<A>(arithmetic, sum.rule, entry, magnitude.size(), leaf, {}).run(size, lo, hi);
      }
      for (std::size_t j = 0; j < magnitude.size(); ++j) {
        const bool decided = !special && stays_finite(magnitude[j]);
        put(first + static_cast<std::int64_t>(j), decided ? static_cast<double>(lo[j]) : 0, decided ? static_cast<double>(two ? hi[j] : lo[j]) : 0, decided);
      }
    });
  } else {
    const std::int64_t block = std::clamp<std::int64_t>((1 << 18) / size, 1, 1024);
    parallel_blocks((n + block - 1) / block, options, [&](std::int64_t k) {
      LeafLine::Buffer buffer;
      Numbers lo, hi;
      for (std::int64_t e = k * block; e < std::min(n, (k + 1) * block); ++e) {
        stop_if_asked(options);
        // In place, a window at a time; else all is there at once.
        const LeafLine::Run run = leaves.is_in_place() ? LeafLine::Run{} : leaves.read(e, 0, size, buffer);
        const auto reader = [&, e] {
          return [&, e, own = std::make_shared<std::vector<double>>()](std::int64_t first, std::int64_t count) {
            if (first % 65536 < window) stop_if_asked(options);
            return run.a ? run.a + first : leaves.read_plain(e, first, count, *own);
          };
        };
        const auto in_step = [&] {
          const auto leaf = [&](std::int64_t i) {
            if (i % 65536 == 0) stop_if_asked(options);
            return LeafLine::Across{run.a + i, run.b ? run.b + i : nullptr, 1, 1, false};
          };
          const auto alone = [&](std::int64_t first, std::int64_t count, std::int64_t step) {
            return count < least_ahead ? sequence(arithmetic, reader(), first, count, step) : sequence_ahead(arithmetic, reader, first, count, step, options);
          };
          InStep<A>(arithmetic, sum.rule, entry, 1, leaf, alone).run(size, lo, hi);
        };
        // What is infinite or NaN stays so in every later addition: then the result says whether all leaves and sums were finite.
        const bool shows = entry == Entry::plain && arithmetic.keeps_specials();
        const Magnitude all = shows ? Magnitude{0, run.special} : magnitude_of_line(leaves, e, run, options);
        bool decided = !all.special && stays_finite(all.value);
        if (decided && entry == Entry::plain && sum.rule.order.kind == OrderKind::pairwise)
          lo.assign(1, PairwiseLine<A>(arithmetic, sum.rule.order.numbers[0], reader, options).sum(size));
        else if (decided) in_step();
        decided = decided && (!shows || std::isfinite(lo[0]));
        put(e, decided ? static_cast<double>(lo[0]) : 0, decided ? static_cast<double>(two ? hi[0] : lo[0]) : 0, decided);
      }
    });
  }
  if (settle) tally.into(engine.counters);
}

}  // namespace

void run_fixed_order(Engine& engine, const SumNode& sum, SumPlane& out, bool settle, const Node* then, const std::function<Set<F64>(std::int64_t)>& bulk,
                     const std::function<Climbed(std::int64_t)>& finer) {
  const Format& f = sum.rule.format;
  const Term& term = sum.terms[0];
  const Type f32 = *find_type("f32");
  const auto fits = [&](NodeId id) { return contains(f32, engine.graph()[id].type); };
  if (is_double(f)) run_in(InDouble{}, engine, sum, out, settle, then, bulk, finer);
  else if (contains(f, f32.format) && contains(f32.format, f) && fits(term.a.node) && (!term.b || fits(term.b->node)))
    run_in(InFloat{}, engine, sum, out, settle, then, bulk, finer);
  else run_in(Rounded(f), engine, sum, out, settle, then, bulk, finer);
}

}  // namespace erx
