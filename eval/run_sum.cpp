// Sums: matrix products through float64 BLAS with a proven enclosure, everything else leaf by leaf in exact accumulators.
// source of the enclosure: products of exact operands summed in any order err by at most (n+4) 2^-53 |row| |column| (norms).
#include <algorithm>
#include <atomic>
#include <cmath>
#include <mutex>
#include <shared_mutex>

#include "eval/choice_label.hpp"
#include "eval/enclosed_line.hpp"
#include "eval/engine.hpp"
#include "eval/fixed_order.hpp"
#include "eval/ladder.hpp"
#include "eval/leaf_line.hpp"
#include "eval/line_sum.hpp"
#include "eval/matrix_sum.hpp"
#include "eval/parallel.hpp"
#include "eval/reduce.hpp"
#include "eval/reduce_line.hpp"
#include "eval/special_sum.hpp"
#include "eval/sum_plane.hpp"
#include "eval/sum_parts.hpp"
#include "eval/tally.hpp"
#include "eval/tile_sum.hpp"
#include "ops/planted.hpp"

namespace erx {
namespace {

/// Significant bits of the values of a type; large for reals.
int precision_of(const Type& t) {
  if (t.is_floating()) return t.format.precision();
  if (t.is_integer() && t.bits > 0) return t.is_signed ? t.bits - 1 : t.bits;
  if (t.is_boolean()) return 1;
  return 1 << 20;
}

int least_exponent(const Type& t) { return t.is_floating() ? t.format.emin() : -1022; }

SumNode sum_node(const Engine& engine, NodeId id) {
  const Graph& graph = engine.graph();
  const Node& node = graph[id];
  SumNode sum{id, {}, {}, {}, {}, extents_of(node.shape), 0, {}};
  SumRule& rule = sum.rule;
  rule.rounds = row(node).gather == Gather::accumulate;
  if (rule.rounds) {
    rule.format = *node.attributes.format;
    rule.within = !node.type.is_floating();
    rule.order = node.attributes.order;
    if (const int part = engine.branch(split_key(id)); part >= 0) rule.order.numbers = {rule.order.numbers.at(static_cast<std::size_t>(part))};
    rule.contraction = node.attributes.contraction;
    rule.flush = node.attributes.rounding.flush;
  }
  rule.products_fit = true;
  const auto is_zero_scale = [&](NodeId factor) {
    const Plane& p = engine.stored(factor).hull;
    return engine.stored(factor).tensor.size() == 1 && p.lo_d->front() == 0 && p.hi_u->front() == 0 && !(p.flags && (p.flags->front() & no_reals));
  };
  for (Term& term : terms_of(graph, rule.rounds ? node.operands[0] : id)) {
    // An exact scalar parameter that is 0 makes its product absent.
    if (((term.scales & 1) && is_zero_scale(term.a.node)) || ((term.scales & 2) && is_zero_scale(term.b->node))) continue;
    bool product = term.b.has_value();
    if (product)
      rule.products_fit &= precision_of(graph[term.a.node].type) + precision_of(graph[term.b->node].type) <= rule.format.precision();
    // `within` may meet a term that is not a value of its format; it behaves like a product.
    const bool fits = rule.rounds && contains(Type::of(rule.format), graph[term.a.node].type);
    if (rule.within && !product && !fits) {
      product = true;
      rule.products_fit = false;
    }
    sum.leaves += term.leaves();
    sum.is_product.push_back(product);
    sum.least_exponents.emplace_back(least_exponent(graph[term.a.node].type), term.b ? least_exponent(graph[term.b->node].type) : 0);
    if (rule.flush != Flush::no && !planted(Mistake::kept_subnormal_factors)) {  // each factor by its own format
      const auto nu = [&](const Type& type) { return type.is_floating() ? type.format.min_normal() : 0; };
      sum.flushed_below.emplace_back(nu(graph[term.a.node].type), term.b ? nu(graph[term.b->node].type) : 0);
    }
    sum.terms.push_back(std::move(term));
  }
  read_masks(engine, sum);
  // Small problems get the sharp rules, which read every leaf; the choice depends on shapes only.
  const double elements = std::max<double>(1, static_cast<double>(engine.elements_in_all(id))), n = static_cast<double>(sum.leaves);
  // In wide formats nearly every element climbs, which costs far more for each leaf that a rule reads.
  const double budget = rule.rounds && rule.format.precision() > 32 ? 1 << 17 : 1 << 22;
  if (n * elements <= budget) rule.chain_leaves = std::max(rule.chain_leaves, sum.leaves);
  const auto power = [](std::int64_t base, std::int64_t exponent) {
    double p = 1;
    for (std::int64_t k = 0; k < exponent; ++k) p *= static_cast<double>(base);
    return p;
  };
  while (rule.hull_leaves < 12 && power(3, rule.hull_leaves + 1) * elements <= 4 * budget) ++rule.hull_leaves;
  while (rule.kept_order_leaves < 200 && power(rule.kept_order_leaves + 1, 3) * elements <= 24 * budget) ++rule.kept_order_leaves;
  return sum;
}

/// What sum_parts and reduce_element read in the bulk tier.
class BulkReader {
 public:
  explicit BulkReader(const Engine& engine) : engine_(engine) {}

  bool is_point(NodeId id) const { return engine_.stored(id).is_point; }
  Line line(NodeId id) const { return line_of(engine_.stored(id)); }

  bool known(NodeId id, std::int64_t at, Known& k) const { return known_at(engine_.stored(id).hull, at, k); }

  Set<F64> load(NodeId id, std::int64_t at) const {
    const Stored& s = engine_.stored(id);
    const Plane& p = s.hull;
    const std::size_t i = static_cast<std::size_t>(at);
    const std::uint8_t flags = p.flags ? (*p.flags)[i] : 0;
    if (flags & no_reals) return Set<F64>::special(flags);
    const F64 lo{(*p.lo_d)[i], (*p.lo_u)[i]}, hi{(*p.hi_d)[i], (*p.hi_u)[i]};
    if (s.is_point || (lo.d == lo.u && hi.d == hi.u && lo.d == hi.d)) return Set<F64>::point(lo, flags);
    return Set<F64>::between(lo, hi, flags);
  }

 private:
  const Engine& engine_;
};

/// Computes elements [0, n) with `bulk(flat)`, and undecided ones with `finer(flat)` where the node settles.
template <class Bulk, class Finer>
void run_elements(Engine& engine, std::int64_t n, std::int64_t work, bool settle, SumPlane& p, const Bulk& bulk, const Finer& finer) {
  const EvaluateOptions& options = engine.options();
  const bool forced = options.lowest != EvaluateOptions::Tier::f64;
  Tally tally;
  const std::int64_t block = std::clamp<std::int64_t>((1 << 18) / std::max<std::int64_t>(work, 1), 1, 4096);
  parallel_blocks((n + block - 1) / block, options, [&](std::int64_t k) {
    for (std::int64_t e = k * block; e < std::min(n, (k + 1) * block); ++e) {
      stop_if_asked(options);  // an element may read millions of leaves
      const Set<F64> s = bulk(e);
      if (!settle || (!forced && !is_undecided(s))) {
        p.put(e, s);
        if (settle) tally.add(Climbed::By::bulk);
        continue;
      }
      const Climbed c = finer(e);
      tally.add(c.by);
      p.put(e, c.flags & no_reals ? Set<F64>::special(c.flags) : Set<F64>::between(F64::exact(c.lo), F64::exact(c.hi), c.flags));
    }
  });
  tally.into(engine.counters);
}

Stored stored_of(const Engine& engine, NodeId id, bool settled, SumPlane& filled) {
  Plane p = filled.take();
  const Node& node = engine.graph()[id];
  Stored s;
  s.tensor.type = node.type;
  s.tensor.extents = extents_of(node.shape);
  s.tensor.settled = settled;
  s.is_point = p.lo_d == p.hi_d && p.lo_u == p.hi_u;
  s.tensor.planes = {std::move(p)};
  return s;
}

}  // namespace

void read_masks(const Engine& engine, SumNode& sum) {
  for (const Term& term : sum.terms) {
    std::vector<SumNode::Mask> masks;
    for (const Factor& f : term.masks) {
      const Plane& p = engine.stored(f.node).hull;
      const bool open = *p.lo_d != *p.hi_u || (p.flags && std::any_of(p.flags->begin(), p.flags->end(), [](std::uint8_t x) { return x & ~any_zero; }));
      if (open) throw Error(Diagnostic{engine.graph()[f.node].span, "the mask of a reduction is true or false, and this may be either", ""});
      masks.push_back({p.lo_d});
    }
    sum.masks.push_back(std::move(masks));
  }
}

/// Line by line, whether its leaves have arrays or are read in place.
bool reads_lines(const Engine& engine, const SumNode& sum) {
  return engine.options().lowest == EvaluateOptions::Tier::f64 && (has_fixed_order(engine, sum) || is_line_sum(engine, sum)) && LeafLine(engine, sum).is_readable();
}

Stored run_sum(Engine& engine, NodeId id, std::optional<NodeId> then) {
  const Graph& graph = engine.graph();
  SumNode sum = sum_node(engine, id);
  const std::int64_t n = size_of(sum.extents);
  // Users that round alone decide what is open: nearly always the enclosure is enough for them.
  const int precision = engine.precision_of_users(id);
  const Type& type = graph[id].type;
  const bool settle = then || (settles(type) && precision >= type.format.precision());
  const Node* after = then ? &graph[*then] : nullptr;
  // A deterministic sum has one end even where its enclosure is wide.
  SumPlane p(n, settle, !graph.has_freedom(then.value_or(id)));
  // Inputs read in place get their arrays where an element needs them.
  std::vector<NodeId> in_place;
  for (const Term& term : sum.terms)
    for (const NodeId leaf : {term.a.node, term.b ? term.b->node : term.a.node})
      if (engine.stored(leaf).in_place) in_place.push_back(leaf);
  const auto make_whole = [&] {
    for (const NodeId leaf : in_place) engine.make_whole(leaf);
  };
  const bool in_tiles = engine.options().lowest == EvaluateOptions::Tier::f64 && is_tile_sum(engine, sum, after, settle, p.is_point());
  if (!in_tiles && !(settle && reads_lines(engine, sum))) make_whole();
  std::once_flag once;
  std::shared_mutex reading_in_place;
  const auto need_arrays = [&] {
    if (!in_place.empty())
      std::call_once(once, [&] {
        const std::unique_lock nobody_else(reading_in_place);
        make_whole();
      });
  };
  const bool enclosed = engine.options().lowest == EvaluateOptions::Tier::f64 && EnclosedLine::fits(engine, sum);
  const std::optional<EnclosedLine> lines = enclosed ? std::optional(EnclosedLine(engine, sum)) : std::nullopt;
  const auto bulk = [&](std::int64_t e) {
    need_arrays();
    SumParts<F64> parts;
    if (lines) {
      EnclosedLine::Buffer buffer;
      if (lines->parts(e, parts, buffer)) {
        const Set<F64> s = sum_of_parts(parts, sum.rule, {});
        return after ? row(*after).map.f64({&s, 1}, after->attributes, {}) : s;
      }
    }
    BulkReader reader(engine);
    const std::optional<Set<F64>> special = special_sum(sum, e, [&](NodeId leaf) { return reader.line(leaf); });
    const Set<F64> s = special ? *special : sum_element<F64>(sum, e, reader, {});
    return after ? row(*after).map.f64({&s, 1}, after->attributes, {}) : s;
  };
  // Few elements climb: they read where the inputs are, which arrays of them all would cost more than.
  constexpr int few = 64;
  std::atomic<int> climbed{0};
  const auto finer = [&](std::int64_t e) {
    if (climbed.fetch_add(1, std::memory_order_relaxed) >= few) need_arrays();
    const std::shared_lock reading(reading_in_place);
    return climb(engine, sum, after, e);
  };
  const bool filled = in_tiles && run_tile_sum(engine, sum, p, {after, settle, bulk, finer});
  if (in_tiles && !filled) need_arrays();
  if (filled) {  // tile by tile
  } else if (engine.options().lowest == EvaluateOptions::Tier::f64 && is_matrix_sum(engine, sum))
    run_matrix_sum(engine, sum, p, precision, {after, settle, bulk, finer});
  else if (engine.options().lowest == EvaluateOptions::Tier::f64 && has_fixed_order(engine, sum))
    run_fixed_order(engine, sum, p, settle, after, bulk, finer);
  else if (engine.options().lowest == EvaluateOptions::Tier::f64 && is_line_sum(engine, sum))
    run_line_sum(engine, sum, p, settle, after, bulk, finer);
  else
    run_elements(engine, n, sum.leaves, settle, p, bulk, finer);
  Stored s = stored_of(engine, then.value_or(id), settle, p);
  if (!then) s.sum = std::move(sum);
  finish(s);
  return s;
}

Stored run_reduction(Engine& engine, NodeId id) {
  SumNode reduction = reduction_of(engine.graph(), id);
  read_masks(engine, reduction);
  const Node& node = engine.graph()[id];
  const std::int64_t n = size_of(reduction.extents);
  SumPlane p(n, settles(node.type), !engine.graph().has_freedom(id));
  const bool in_lines = ReduceLine::fits(node, reduction);
  if (!in_lines) engine.make_whole(node.operands[0]);
  const std::optional<ReduceLine> line = in_lines ? std::optional(ReduceLine(engine, node, reduction)) : std::nullopt;
  run_elements(
      engine, n, reduction.leaves, settles(node.type), p,
      [&](std::int64_t e) {
        if (line) return line->element(e);
        BulkReader reader(engine);
        return reduce_element<F64>(node, reduction, e, reader, {});
      },
      [&](std::int64_t e) { return climb_reduction(engine, reduction, e); });
  Stored s = stored_of(engine, id, settles(node.type), p);
  s.reduction = std::move(reduction);
  finish(s);
  return s;
}

}  // namespace erx
