// The parts of a sum of one element, gathered leaf by leaf, in any number type.
// Leaves that are known exactly go into exact accumulators, so their sum and magnitude end at once in every tier.
// A Reader has  bool is_point(NodeId),  bool known(NodeId, offset, Known&),  Set<R> load(NodeId, offset),  and
// Line line(NodeId): the doubles of a node whose elements are all exact points.
#pragma once
#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "eval/merge_axes.hpp"
#include "eval/sum_node.hpp"
#include "ops/num/exact_sum.hpp"
#include "ops/num/grid.hpp"
#include "ops/op.hpp"
#include "ops/planted.hpp"

namespace erx {

/// An element whose ends are doubles: finite, without special values.
struct Known {
  double lo, hi;
  std::uint8_t flags;  // signs of zero only
};

/// Exact elements in C order, or null; `flags` may be null: no zeros and no special values.
struct Line {
  const double* values = nullptr;
  const std::uint8_t* flags = nullptr;
};

/// The grid of products of factors on two grids; 0: below the smallest double.
inline double product_grid(double a, double b) {
  const double inf = std::numeric_limits<double>::infinity();
  if (a == inf || b == inf) return inf;
  return std::min(a * b, 0x1p1023);
}

template <class R>
MapFormula<R> formula_of(const Op& row) {
  if constexpr (std::is_same_v<R, F64>) return row.map.f64;
  else if constexpr (std::is_same_v<R, Big>) return row.map.big;
  else return row.map.exact;
}

template <class R>
R value_of(const ExactSum& sum, Context c) {
  if constexpr (std::is_same_v<R, F64>) return sum.f64();
  else if constexpr (std::is_same_v<R, Big>) return sum.big(c);
  else return sum.exact();
}

template <class R>
Set<R> apply(const Op& row, std::initializer_list<Set<R>> operands, const Attributes& attributes, Context c) {
  return formula_of<R>(row)(std::span<const Set<R>>(operands.begin(), operands.size()), attributes, c);
}

/// Hardware that flushes results reads subnormal factors as zero too.
template <class R>
void flush_factor(Set<R>& x, double nu, Context c) {
  if (nu == 0 || !x.has_reals() || may_be_zero(x.lo) || may_be_zero(x.hi)) return;
  const bool negative = upper(x.hi) < 0;
  const R zero = R::exact(0, c), hi = x.is_point ? x.lo : x.hi;
  if (!(lower(abs_of(negative ? hi : x.lo)) < nu)) return;
  if (!negative && may_be_below_zero(x.lo)) return;  // 0 is inside
  x = Set<R>::between(min_of(x.lo, zero), max_of(hi, zero), static_cast<std::uint8_t>(x.flags | (negative ? has_nzero : has_pzero)));
}

/// One leaf with its sign.
template <class R, class Reader>
Set<R> leaf_of(const SumNode& sum, std::size_t t, std::int64_t a, std::int64_t b, Reader& reader, Context c) {
  static const Op &product_row = op("mul"), &negative_row = op("neg");
  const Term& term = sum.terms[t];
  Set<R> x = reader.load(term.a.node, a);
  if (term.b) {
    Attributes attributes;
    attributes.scales = term.scales;
    Set<R> y = reader.load(term.b->node, b);
    if (!sum.flushed_below.empty()) {
      flush_factor(x, sum.flushed_below[t].first, c);
      flush_factor(y, sum.flushed_below[t].second, c);
    }
    x = apply<R>(product_row, {x, y}, attributes, c);
  }
  if (!term.negative) return x;
  return apply<R>(negative_row, {x}, {}, c);
}

/// Which ends of two factors give the least and the greatest product; false if both factors hold both signs.
struct ProductEnds {
  double least_a, least_b, greatest_a, greatest_b;
};
inline bool product_ends(const Known& x, const Known& y, ProductEnds& p) {
  if (y.lo >= 0) {
    p = {x.lo, x.lo >= 0 ? y.lo : y.hi, x.hi, x.hi >= 0 ? y.hi : y.lo};
  } else if (y.hi <= 0) {
    p = {x.hi, x.hi >= 0 ? y.lo : y.hi, x.lo, x.lo >= 0 ? y.hi : y.lo};
  } else if (x.lo >= 0) {
    p = {x.hi, y.lo, x.hi, y.hi};
  } else if (x.hi <= 0) {
    p = {x.lo, y.hi, x.lo, y.lo};
  } else {
    return false;
  }
  return true;
}

template <class R, class Reader>
SumParts<R> sum_parts(const SumNode& sum, std::int64_t flat, Reader& reader, Context c) {
  SumParts<R> parts;
  SpecialLeaves special;
  ExactSum low, high, magnitude;
  std::uint8_t carried = 0;
  bool all_known = true;
  const double inf = std::numeric_limits<double>::infinity();
  std::vector<std::pair<double, double>> grids(sum.terms.size(), {inf, inf});
  bool points = true;  // then `high` is not kept
  for (const Term& term : sum.terms) points &= reader.is_point(term.a.node) && (!term.b || reader.is_point(term.b->node));

  const auto general = [&](std::size_t t, std::int64_t a, std::int64_t b) {
    const Set<R> x = leaf_of<R>(sum, t, a, b, reader, c);
    special.add(x.flags, x.may_be(has_nzero));
    carried |= x.flags & undecided;
    all_known = false;
    if (!x.has_reals()) {
      parts.has_reals = false;
      return;
    }
    parts.is_point &= x.is_point;
    parts.lower = add(parts.lower, x.lo);
    parts.upper = add(parts.upper, x.hi);
    parts.magnitude = add(parts.magnitude, max_of(abs_of(x.lo), abs_of(x.hi)));
  };

  const auto may_be_flushed = [&](std::size_t t, bool second, const Known& x) {
    if (sum.flushed_below.empty()) return false;
    const double nu = second ? sum.flushed_below[t].second : sum.flushed_below[t].first;
    return (x.lo != 0 && std::fabs(x.lo) < nu) || (x.hi != 0 && std::fabs(x.hi) < nu);
  };

  // Long products of exact operands, the bulk of the work, in tight loops.
  std::vector<bool> done(sum.terms.size(), false);
  for (std::size_t t = 0; t < sum.terms.size(); ++t) {
    const Term& term = sum.terms[t];
    if (term.reduced.size() != 1 || !term.b || !term.is_plain()) continue;
    const Line x = reader.line(term.a.node), y = reader.line(term.b->node);
    if (!x.values || !y.values) continue;
    const std::int64_t a = strided_offset(sum.extents, term.a.out_strides, flat), b = strided_offset(sum.extents, term.b->out_strides, flat);
    const std::int64_t n = term.reduced[0], step_a = term.a.reduced_strides[0], step_b = term.b->reduced_strides[0];
    std::uint8_t found = 0;
    bool nonzero = false;
    double grid_a = inf, grid_b = inf;
    for (std::int64_t i = 0; i < n; ++i) {
      const std::int64_t p = a + i * step_a, q = b + i * step_b;
      if (x.flags) found |= x.flags[p];
      if (y.flags) found |= y.flags[q];
      nonzero |= x.values[p] != 0 && y.values[q] != 0;
      grid_a = std::min(grid_a, lowest_bit(x.values[p]));
      grid_b = std::min(grid_b, lowest_bit(y.values[q]));
    }
    const auto subnormal = [&](const Line& line, std::int64_t first, std::int64_t step, bool second) {
      for (std::int64_t i = 0; i < n; ++i)
        if (may_be_flushed(t, second, {line.values[first + i * step], line.values[first + i * step], 0})) return true;
      return false;
    };
    if (!sum.flushed_below.empty() && (subnormal(x, a, step_a, false) || subnormal(y, b, step_b, true))) continue;
    if ((found & ~any_zero) || !nonzero) continue;  // special values, or the sign of a zero sum: leaf by leaf
    done[t] = true;
    special.add(0, false);
    parts.leaves += n;
    parts.products += n;
    grids[t] = {grid_a, grid_b};
    for (std::int64_t i = 0; i < n; ++i) {
      const double u = x.values[a + i * step_a], v = y.values[b + i * step_b];
      low.add_product(term.negative ? -u : u, v);
      magnitude.add_product(std::fabs(u), std::fabs(v));
    }
    if (!points)
      for (std::int64_t i = 0; i < n; ++i) high.add_product(term.negative ? -x.values[a + i * step_a] : x.values[a + i * step_a], y.values[b + i * step_b]);
  }

  for_each_leaf(sum, flat, done, [&](std::size_t t, std::int64_t a, std::int64_t b) {
    const Term& term = sum.terms[t];
    ++parts.leaves;
    parts.products += sum.is_product[t];
    Known x{}, y{};
    if (!reader.known(term.a.node, a, x)) return general(t, a, b);
    ProductEnds p{};
    if (term.b && !(reader.known(term.b->node, b, y) && product_ends(x, y, p))) return general(t, a, b);
    if (term.b && (may_be_flushed(t, false, x) || may_be_flushed(t, true, y))) return general(t, a, b);

    grids[t].first = std::min({grids[t].first, lowest_bit(x.lo), lowest_bit(x.hi)});
    if (term.b) grids[t].second = std::min({grids[t].second, lowest_bit(y.lo), lowest_bit(y.hi)});
    // The sign of a zero leaf matters only while every leaf so far may be -0.
    if (special.all_negative_zero() && ((x.flags | y.flags) & any_zero)) {
      const Set<R> leaf = leaf_of<R>(sum, t, a, b, reader, c);
      special.add(leaf.flags, leaf.may_be(has_nzero));
    } else {
      special.add(0, false);
    }
    const double sign = term.negative ? -1 : 1;
    if (!term.b) {
      low.add(sign * (term.negative ? x.hi : x.lo));
      if (!points) high.add(sign * (term.negative ? x.lo : x.hi));
      magnitude.add(std::max(std::fabs(x.lo), std::fabs(x.hi)));
    } else {
      if (term.negative) {
        std::swap(p.least_a, p.greatest_a);
        std::swap(p.least_b, p.greatest_b);
      }
      low.add_product(sign * p.least_a, p.least_b);
      if (!points) high.add_product(sign * p.greatest_a, p.greatest_b);
      magnitude.add_product(std::max(std::fabs(x.lo), std::fabs(x.hi)), std::max(std::fabs(y.lo), std::fabs(y.hi)));
    }
    parts.is_point &= x.lo == x.hi && y.lo == y.hi;
  });

  special.finish(parts);
  parts.flags |= carried;
  const R exact_low = value_of<R>(low, c), exact_high = points ? exact_low : value_of<R>(high, c);
  parts.lower = all_known ? exact_low : add(parts.lower, exact_low);
  parts.upper = all_known ? exact_high : add(parts.upper, exact_high);
  parts.magnitude = all_known ? value_of<R>(magnitude, c) : add(parts.magnitude, value_of<R>(magnitude, c));
  parts.grid = all_known ? inf : 0;
  if (all_known)
    for (std::size_t t = 0; t < sum.terms.size(); ++t)
      parts.grid = std::min(parts.grid, sum.terms[t].b ? product_grid(grids[t].first, grids[t].second) : grids[t].first);
  return parts;
}

template <class R, class Reader>
std::vector<Leaf<R>> sum_leaves(const SumNode& sum, std::int64_t flat, Reader& reader, Context c) {
  std::vector<Leaf<R>> leaves;
  leaves.reserve(static_cast<std::size_t>(sum.leaves));
  const bool needs_exponents = sum.rule.order.kind == OrderKind::tensor_core;
  const auto exponent = [&](NodeId id, std::int64_t at, int least) {
    const Set<R> x = reader.load(id, at);
    const double largest = std::max(std::fabs(lower(x.lo)), std::fabs(upper(x.hi)));
    return largest > 0 && std::isfinite(largest) ? std::max(std::ilogb(largest), least) : least;
  };
  const auto visit = [&](std::size_t t, std::int64_t a, std::int64_t b) {
    const Term& term = sum.terms[t];
    leaves.push_back({leaf_of<R>(sum, t, a, b, reader, c), static_cast<bool>(sum.is_product[t])});
    Known x{}, y{};
    if (reader.known(term.a.node, a, x) && (!term.b || reader.known(term.b->node, b, y))) {
      const double grid = std::min(lowest_bit(x.lo), lowest_bit(x.hi));
      leaves.back().grid = term.b ? product_grid(grid, std::min(lowest_bit(y.lo), lowest_bit(y.hi))) : grid;
    }
    if (!needs_exponents) return;
    const auto [least_a, least_b] = sum.least_exponents[t];
    leaves.back().exponent = exponent(term.a.node, a, least_a) + (term.b ? exponent(term.b->node, b, least_b) : 0);
  };
  if (take_turns(sum) && !planted(Mistake::leaves_term_by_term)) OrderedLeaves(sum, flat, visit).run();
  else for_each_leaf(sum, flat, visit);
  return leaves;
}

/// The set of one element of a sum node.
template <class R, class Reader>
Set<R> sum_element(const SumNode& sum, std::int64_t flat, Reader& reader, Context c) {
  if (sum.rule.needs_leaves(sum.leaves)) return sum_of_leaves(sum_leaves<R>(sum, flat, reader, c), sum.rule, c);
  return sum_of_parts(sum_parts<R>(sum, flat, reader, c), sum.rule, c);
}

}  // namespace erx
