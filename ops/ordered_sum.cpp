// Sums whose leaves have to be seen one by one: fixed orders, short sums, parts that are stored, tensor cores.
#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>

#include "ops/adder.hpp"
#include "ops/planted.hpp"
#include "ops/sum_rule.hpp"

namespace erx {
namespace {

template <class R>
SumParts<R> parts_of(const std::vector<Leaf<R>>& leaves) {
  SumParts<R> parts;
  SpecialLeaves special;
  std::uint8_t carried = 0;
  for (const Leaf<R>& leaf : leaves) {
    const Set<R>& v = leaf.value;
    special.add(v.flags, v.may_be(has_nzero));
    carried |= v.flags & undecided;
    ++parts.leaves;
    parts.products += leaf.is_product;
    if (!v.has_reals()) {
      parts.has_reals = false;
      continue;
    }
    parts.lower = add(parts.lower, v.lo);
    parts.upper = add(parts.upper, v.hi);
    parts.magnitude = add(parts.magnitude, planted(Mistake::magnitude_of_lower_ends) ? abs_of(v.lo) : max_of(abs_of(v.lo), abs_of(v.hi)));
    parts.is_point &= v.is_point;
  }
  special.finish(parts);
  parts.flags |= carried;
  parts.grid = std::numeric_limits<double>::infinity();
  for (const Leaf<R>& leaf : leaves) parts.grid = std::min(parts.grid, leaf.grid);
  return parts;
}

/// The radius of the chain rule: e_1 from the leaves that are rounded themselves, then one step for each number of leaves.
/// A tree of n leaves has at most n-m+1 nodes of m leaves or more, each off by at most max(eps ufp(T_k + e_{k-1}), c); the root's
/// exact argument is |s| + e_{n-1}. Nodes on the grid of the leaves, and small enough, are exact.
/// bound: 2-numerics.md section 4, chain and grid rules; eps = u (round to nearest). A product that is a value of the format adds
/// nothing to e_1.
template <class R>
R chain_radius(const std::vector<Leaf<R>>& leaves, const SumParts<R>& parts, const SumRule& rule, Context c) {
  const Format& f = rule.format;
  const bool flushes = loses_subnormals(rule);
  const bool products_exact = rule.products_fit && (parts.grid >= f.min_positive() || planted(Mistake::always_exact_products));
  const R u = R::exact(unit_of(rule), c), zero{};
  const R least = flushes ? R::exact(f.min_normal(), c) : parts.products > 0 && !products_exact ? R::exact(half_of(f.min_positive()), c) : zero;
  const R floor_of_step = planted(Mistake::no_underflow_in_chain) ? zero : least;
  const auto step = [&](const R& argument) {
    const R place = planted(Mistake::ufp_down) ? mul(R::exact(0.5, c), ufp_of(argument, c)) : ufp_of(argument, c);
    return max_of(mul(u, place), floor_of_step);
  };
  R e{};
  for (const Leaf<R>& leaf : leaves) {
    if (planted(leaf.is_product ? Mistake::exact_first_products : Mistake::kept_subnormal_leaves)) continue;
    const R size = max_of(abs_of(leaf.value.lo), abs_of(leaf.value.hi));
    const double own_limit = leaf.grid >= (flushes ? f.min_normal() : least_ulp(f)) ? std::min(std::ldexp(leaf.grid, f.precision()), f.max_finite()) : 0;
    const bool is_value = leaf.is_product && !rule.within && upper(size) <= own_limit;
    if (is_value) continue;
    if (leaf.is_product && !products_exact) e = add(e, step(size));
    // A subnormal leaf, or a product, may be flushed on its way in.
    else if (flushes && (leaf.is_product || lower(abs_of(leaf.value.lo)) < f.min_normal() || lower(abs_of(leaf.value.hi)) < f.min_normal())) e = add(e, least);
  }
  // T_k: the larger of the sums of the k largest positive and negative parts. Sorted by outer bounds; sums of any k stay below.
  const std::size_t n = leaves.size();
  std::vector<R> plus, minus;
  for (const Leaf<R>& leaf : leaves) {
    plus.push_back(max_of(leaf.value.hi, zero));
    minus.push_back(max_of(neg(leaf.value.lo), zero));
  }
  const auto larger = [](const R& a, const R& b) { return upper(a) > upper(b); };
  std::sort(plus.begin(), plus.end(), larger);
  std::sort(minus.begin(), minus.end(), larger);
  const bool has_grid = parts.grid >= (flushes ? f.min_normal() : f.min_positive());
  const R limit = R::exact(has_grid && std::isfinite(parts.grid) ? std::min(std::ldexp(parts.grid, f.precision()), f.max_finite()) : 0, c);
  R top = plus[0], bottom = minus[0];
  for (std::size_t k = 1; k < n; ++k) {
    if (!planted(Mistake::previous_partial_sum) || k > 1) {
      top = add(top, plus[k - planted(Mistake::previous_partial_sum)]);
      bottom = add(bottom, minus[k - planted(Mistake::previous_partial_sum)]);
    }
    const bool is_root = k + 1 == n;
    const R largest = is_root ? max_of(abs_of(parts.lower), abs_of(parts.upper)) : max_of(top, bottom);
    const R argument = planted(Mistake::no_error_in_argument) ? largest : add(largest, e);
    if (has_grid) {
      const Comparison fits = compare(argument, limit);
      if (fits == Comparison::less || fits == Comparison::equal) continue;
      if (fits == Comparison::unknown) {
        e = R::between(lower(e), upper(add(e, step(argument))), c);
        continue;
      }
    }
    e = add(e, step(argument));
  }
  return e;
}

/// Any order over leaves at hand: the exact hull of a short sum, the bound of a long one.
template <class R>
Set<R> any_order_sum(const std::vector<Leaf<R>>& leaves, const SumRule& rule, Context c) {
  if (rule.needs_leaves(static_cast<std::int64_t>(leaves.size()))) return sum_of_leaves(leaves, rule, c);
  return sum_of_parts(parts_of(leaves), rule, c);
}

/// A part as a leaf of the sum of the parts, rounded (and under ftz perhaps flushed) where it is stored. What lies on a grid of the
/// format stays on it.
template <class R>
Leaf<R> stored_part(const Set<R>& part, const Format& store, const SumRule& rule, double grid, Context c) {
  if (planted(Mistake::no_store)) return {part, false, 0};
  const double least = std::max(least_ulp(rule.format), least_ulp(store));
  Leaf<R> leaf{part, !contains(rule.format, store), grid > 0 ? std::max(grid, least) : least};
  if (!part.has_reals()) return leaf;
  Set<R>& v = leaf.value;
  v.lo = round_end(part.lo, store, {}, c, v.flags);
  v.hi = part.is_point ? v.lo : round_end(part.hi, store, {}, c, v.flags);
  // What storing rounds to zero keeps its sign.
  if (!contains(store, rule.format)) set_zero_signs(v, true, true);
  if (rule.flush == Flush::no) return leaf;
  const R zero{}, nu = R::exact(store.min_normal(), c);
  const auto subnormal = [&](const R& x) { return compare(abs_of(x), nu) != Comparison::greater; };
  const R lo = subnormal(part.lo) ? min_of(v.lo, zero) : v.lo, hi = subnormal(part.is_point ? part.lo : part.hi) ? max_of(v.hi, zero) : v.hi;
  leaf.value = Set<R>::between(lo, hi, v.flags);
  set_zero_signs(leaf.value, true, true);
  return leaf;
}

/// s contiguous parts of ceil(n/s) leaves, each in any order, stored, then added in any order; the hull over the numbers of parts.
/// In sequence, if that is the outer order: one execution (ops/execution.hpp).
template <class R>
Set<R> split_sum(const std::vector<Leaf<R>>& leaves, const SumRule& rule, Context c) {
  SumRule part_rule = rule, outer = rule;
  part_rule.order = outer.order = {.kind = rule.order.outer == OrderKind::seq ? OrderKind::seq : OrderKind::any};
  const Format& store = rule.order.store ? *rule.order.store : rule.format;
  Set<R> all = Set<R>::special(0);
  bool first = true;
  for (const std::int64_t s : rule.order.numbers) {
    const std::size_t round_up = planted(Mistake::floor_of_parts) ? 0 : static_cast<std::size_t>(s) - 1;
    const std::size_t size = std::max<std::size_t>((leaves.size() + round_up) / static_cast<std::size_t>(s), 1);
    std::vector<Leaf<R>> parts;
    for (std::size_t at = 0; at < leaves.size(); at += size) {
      const std::vector<Leaf<R>> some(leaves.begin() + static_cast<std::ptrdiff_t>(at),
                                      leaves.begin() + static_cast<std::ptrdiff_t>(std::min(at + size, leaves.size())));
      parts.push_back(stored_part(any_order_sum(some, part_rule, c), store, rule, parts_of(some).grid, c));
    }
    const Set<R> total = any_order_sum(parts, outer, c);
    if (first) all = total;
    else if (!all.has_reals()) all = {total.lo, total.hi, static_cast<std::uint8_t>((all.flags & ~no_reals) | total.flags), total.is_point};
    else if (!total.has_reals()) all.flags |= total.flags & ~no_reals;
    else all = Set<R>::between(min_of(all.lo, total.lo), max_of(all.hi, total.hi), all.flags | total.flags);
    first = false;
  }
  return all;
}

/// Products aligned to the largest exponent and cut off below 2^(E - F), in calls of L products.
/// bound: (K+B) 2^(E-F) + B 2^(1-p) max(ufp(P), nu), B = ceil(K/L), E the largest exponent field (zeros count) or that of P.
template <class R>
Set<R> tensor_core_sum(const SumParts<R>& parts, const std::vector<Leaf<R>>& leaves, const SumRule& rule, Context c) {
  const Format& f = rule.format;
  const double length = static_cast<double>(rule.order.numbers.at(0)), kept = static_cast<double>(rule.order.numbers.at(1));
  double k = 0;
  int exponent = f.emin();
  for (const Leaf<R>& leaf : leaves) {
    k += leaf.is_product;
    const bool is_zero = leaf.value.has_reals() && lower(leaf.value.lo) == 0 && upper(leaf.value.hi) == 0;
    if (!(planted(Mistake::no_zero_products) && is_zero)) exponent = std::max(exponent, leaf.exponent);
  }
  const double calls = std::max(std::ceil(k / length) - planted(Mistake::call_less), 1.0);
  const auto radius = [&](int e, double first_place) {
    return add(R::exact(std::ldexp(k + calls, e - static_cast<int>(kept)), c), R::exact(calls * 2 * f.unit_roundoff() * std::max(first_place, f.min_normal()), c));
  };
  // The exponent of P may be seen one too large through an enclosure; a finer tier decides.
  const auto exponent_of = [&](double p) { return p > 0 && std::isfinite(p) ? std::max(exponent, std::ilogb(p)) : exponent; };
  const double p_low = lower(parts.magnitude), p_high = upper(parts.magnitude);
  const R low = radius(exponent_of(p_low), ufp(p_low)), high = radius(exponent_of(p_high), ufp(p_high));
  const R e = R::between(lower(low), upper(high), c);
  Set<R> s = Set<R>::between(sub(planted(Mistake::one_end) ? parts.upper : parts.lower, e), add(parts.upper, e), parts.flags);
  std::uint8_t cut = 0;
  s.lo = round_end(s.lo, f, {Mode::rtp, Overflow::sat, Flush::no}, c, cut);
  s.hi = round_end(s.hi, f, {Mode::rtn, Overflow::sat, Flush::no}, c, cut);
  if (!(p_high < std::ldexp(1.0, f.emax()) * 2)) s.flags |= has_pinf | has_ninf | has_nan | (p_low < std::ldexp(1.0, f.emax()) * 2 ? undecided : 0);
  set_zero_signs(s, true, true);
  return s;
}

}  // namespace

namespace {

/// Products that are always rounded for themselves, as the values they become; nothing if one may overflow or be flushed.
template <class R>
std::optional<std::vector<Leaf<R>>> rounded_products(const std::vector<Leaf<R>>& leaves, const SumRule& rule, Context c) {
  if (rule.flush != Flush::no) return {};
  std::vector<Leaf<R>> rounded = leaves;
  for (Leaf<R>& leaf : rounded) {
    if (!leaf.is_product) continue;
    Set<R>& v = leaf.value;
    if (!v.has_reals()) return {};
    std::uint8_t overflow = 0;
    const R lo = round_end(v.lo, rule.format, {}, c, overflow), hi = v.is_point ? lo : round_end(v.hi, rule.format, {}, c, overflow);
    if (overflow) return {};
    const bool plus = v.may_be(has_pzero) || may_be_above_zero(v.hi), minus = v.may_be(has_nzero) || may_be_below_zero(v.lo);
    v.lo = lo;
    v.hi = hi;
    v.flags &= static_cast<std::uint8_t>(~any_zero);
    set_zero_signs(v, plus, minus);
    leaf.is_product = false;
    leaf.grid = std::max(leaf.grid, least_ulp(rule.format));
  }
  return rounded;
}

/// Can the sum be -0? Only if a leaf is below 0 or -0. Products that are rounded for themselves, and added without loss, leave -0
/// only where each of them is -0 or rounds to it.
template <class R>
bool may_be_negative_zero(const std::vector<Leaf<R>>& leaves, const SumParts<R>& parts, const SumRule& rule) {
  const auto negative = [](const Leaf<R>& leaf) { return leaf.value.may_be(has_nzero) || may_be_below_zero(leaf.value.lo); };
  if (std::none_of(leaves.begin(), leaves.end(), negative)) return false;
  if (loses_subnormals(rule) || rule.within) return true;
  if (parts.products == 0) return parts.negative_zero;
  if (rule.contraction != Contraction::never) return true;
  return std::all_of(leaves.begin(), leaves.end(), [](const Leaf<R>& leaf) {
    return leaf.value.may_be(has_nzero) || (leaf.is_product && may_be_below_zero(leaf.value.lo));
  });
}

}  // namespace

template <class R>
Set<R> sum_of_leaves(const std::vector<Leaf<R>>& leaves, const SumRule& rule, Context c) {
  const SumParts<R> parts = parts_of(leaves);
  if (!parts.has_reals || parts.leaves == 0) return sum_of_parts(parts, rule, c);
  const std::int64_t count = parts.leaves;
  const bool has_one_leaf = count == 1 && rule.order.kind != OrderKind::tensor_core;
  if (rule.within && has_one_leaf && !leaves[0].is_product) return sum_of_parts(parts, {}, c);
  const bool bounded = rule.within || (!is_fixed(rule.order) && rule.order.kind != OrderKind::split && rule.order.kind != OrderKind::tensor_core &&
                                       count > (rule.order.kind == OrderKind::assoc ? rule.kept_order_leaves : rule.hull_leaves));
  if (bounded && !rule.within && rule.contraction == Contraction::never && parts.products > 0)
    if (const auto rounded = rounded_products(leaves, rule, c)) return sum_of_leaves(*rounded, rule, c);
  if (bounded) return sum_of_parts(parts, rule, chain_radius(leaves, parts, rule, c), c);

  Adder<R> adder(leaves, rule, c);
  Ends<R> ends{};
  const std::size_t n = leaves.size();
  std::vector<std::size_t> order(n);
  for (std::size_t i = 0; i < n; ++i) order[i] = rule.order.kind == OrderKind::rseq ? n - 1 - i : i;
  const auto number = [&](std::size_t i) { return static_cast<std::size_t>(rule.order.numbers.at(i)); };
  switch (rule.order.kind) {
    case OrderKind::split: return split_sum(leaves, rule, c);
    case OrderKind::tensor_core: return tensor_core_sum(parts, leaves, rule, c);
    case OrderKind::assoc: ends = adder.kept_order(); break;
    case OrderKind::seq:
    case OrderKind::rseq: ends = adder.sequence(order); break;
    case OrderKind::pairwise: ends = adder.pairwise(0, n, number(0)); break;
    case OrderKind::blocked:
      if (is_fixed(rule.order)) {
        ends = adder.blocked(number(0));
        break;
      }
      [[fallthrough]];
    default: ends = adder.any_order();
  }
  const bool is_point = parts.is_point && (rule.contraction == Contraction::never || parts.products == 0) && is_fixed(rule.order) && rule.flush == Flush::no;
  Set<R> s{ends.lo, ends.hi, static_cast<std::uint8_t>(parts.flags | ends.flags), is_point};
  // After an overflow the later additions start from an infinity: opposite ones give NaN, a format without them stays NaN.
  if (!ends.reals) s.flags |= no_reals;
  const std::uint8_t overflow = ends.flags & (has_nan | any_infinity);
  if ((overflow & has_pinf) && ((parts.flags | ends.flags) & has_ninf)) s.flags |= has_nan;
  if ((overflow & has_ninf) && ((parts.flags | ends.flags) & has_pinf)) s.flags |= has_nan;
  if (overflow) s.is_point = false;
  set_zero_signs(s, true, may_be_negative_zero(leaves, parts, rule));
  return s;
}

template Set<F64> sum_of_leaves(const std::vector<Leaf<F64>>&, const SumRule&, Context);
template Set<Big> sum_of_leaves(const std::vector<Leaf<Big>>&, const SumRule&, Context);
template Set<Exact> sum_of_leaves(const std::vector<Leaf<Exact>>&, const SumRule&, Context);

}  // namespace erx
