// Every legal execution of a rounded sum, enumerated: what an implementation may print, value by value.
// Written from the meaning of `acc` and `within`, not from their rules. Formats are so small that a double holds every sum of
// leaves exactly (each addition asserts it), so the only rounding is nearest() below.
//   Executions(format, rule).any({{1.0}, {0.25, true}})   the results of 1 + 0.5*0.5, as bit patterns
#pragma once
#include <algorithm>
#include <bit>
#include <cmath>
#include <functional>
#include <set>
#include <stdexcept>
#include <vector>

#include "ops/accumulate.hpp"

namespace erx::test {

/// A plain value or the exact product of two; infinities, NaN and the sign of zero as IEEE 754 multiplies them.
struct Operand {
  double value;
  bool product = false;
};

/// Bit patterns of doubles: -0, +0 and NaN are told apart.
class Values {
 public:
  Values() = default;
  explicit Values(double x) { add(x); }
  void add(double x) { bits_.insert(std::isnan(x) ? std::bit_cast<std::uint64_t>(std::nan("")) : std::bit_cast<std::uint64_t>(x)); }
  void add(const Values& v) { bits_.insert(v.bits_.begin(), v.bits_.end()); }
  template <class Visit>
  void each(Visit visit) const {
    for (std::uint64_t b : bits_) visit(std::bit_cast<double>(b));
  }
  std::size_t size() const { return bits_.size(); }

 private:
  std::set<std::uint64_t> bits_;
};

/// Round to nearest, ties to even, by IEEE 754 (and OCP where there is no infinity).
inline double nearest(double x, const Format& f) {
  if (std::isnan(x) || x == 0) return x;
  const double beyond = f.has_infinity() ? INFINITY : f.has_nan() ? NAN : f.max_finite();
  if (std::isinf(x)) return std::copysign(beyond, x);
  const double nu = std::ldexp(1.0, f.emin());
  if (!f.has_subnormals && std::fabs(x) < nu) return std::copysign(std::fabs(x) > nu / 2 ? nu : 0, x);
  const double unit = std::ldexp(1.0, std::max(std::ilogb(x), f.emin()) - f.precision() + 1);
  const double r = std::nearbyint(x / unit) * unit;
  return std::fabs(r) > f.max_finite() ? std::copysign(beyond, x) : std::copysign(r, x);
}

class Executions {
 public:
  Executions(const Format& format, const SumRule& rule) : f_(format), rule_(rule) {}

  /// What one addition (of any number of terms) may give for the exact sum x.
  Values round(double x) const {
    Values v;
    if (rule_.within) {
      // To nearest with the precision of the format or more, or twice: first with at least 2p+2 bits. The range may be wider.
      const int p = f_.precision();
      for (int more : {0, 1, 2, 5}) {
        v.add(at_precision(x, p + more));
        v.add(at_precision(at_precision(x, 2 * p + 2 + more), p));
      }
      v.add(x);
      v.add(nearest(x, f_));
      return v;
    }
    const double r = nearest(x, f_), nu = std::ldexp(1.0, f_.emin());
    v.add(r);
    if (rule_.flush != Flush::no && (std::fabs(r) < nu || std::fabs(x) < nu)) v.add(std::copysign(0.0, r));
    return v;
  }

  /// What a leaf offers to the addition it feeds.
  Values offered(const Operand& o) const {
    Values v;
    if (!o.product) {
      v.add(o.value);
      if (rule_.flush != Flush::no && std::fabs(o.value) < std::ldexp(1.0, f_.emin())) v.add(std::copysign(0.0, o.value));
      return v;
    }
    v = round(o.value);
    // Under `always` too: fused with an accumulator that starts at zero, a product is rounded.
    if (rule_.contraction != Contraction::never) v.add(o.value);
    return v;
  }
  Values alone(const Operand& o) const { return o.product ? round(o.value) : offered(o); }

  Values any(const std::vector<Operand>& leaves) const {
    if (leaves.size() == 1) return alone(leaves[0]);
    std::vector<Values> v;
    for (const Operand& o : leaves) v.push_back(offered(o));
    return any_of_values(v);
  }

  /// Every tree over every permutation; a node adds any number of terms with one rounding.
  Values any_of_values(const std::vector<Values>& v) const {
    const std::size_t full = (std::size_t{1} << v.size()) - 1;
    std::vector<Values> node(full + 1), sums(full + 1);  // sums: of the blocks of a partition, the trivial one included
    for (std::size_t set = 1; set <= full; ++set) {
      const std::size_t low = set & (~set + 1);
      Values exact;
      for (std::size_t block = (set - 1) & set; block; block = (block - 1) & set)
        if (block & low) exact.add(added(node[block], sums[set & ~block]));
      if (set == low) node[set] = v[static_cast<std::size_t>(std::countr_zero(set))];
      else node[set] = rounded(exact);
      sums[set] = node[set];
      sums[set].add(exact);
    }
    return node[full];
  }

  /// The same in the order of the leaves.
  Values assoc(const std::vector<Operand>& leaves) const {
    const std::size_t n = leaves.size();
    if (n == 1) return alone(leaves[0]);
    std::vector<Values> v;
    for (const Operand& o : leaves) v.push_back(offered(o));
    return assoc_of_values(v);
  }
  Values assoc_of_values(const std::vector<Values>& v) const {
    const std::size_t n = v.size();
    std::vector<std::vector<Values>> node(n, std::vector<Values>(n + 1)), sums = node;
    for (std::size_t length = 1; length <= n; ++length)
      for (std::size_t i = 0; i + length <= n; ++i) {
        const std::size_t j = i + length;
        Values exact;
        for (std::size_t k = i + 1; k < j; ++k) exact.add(added(node[i][k], sums[k][j]));
        node[i][j] = length == 1 ? v[i] : rounded(exact);
        sums[i][j] = node[i][j];
        sums[i][j].add(exact);
      }
    return node[0][n];
  }

  /// Two or more terms from left to right, with or without an accumulator that starts at zero.
  Values seq(const std::vector<Operand>& leaves) const {
    Values state = alone(leaves[0]);
    state.add(rounded(added(Values(0.0), offered(leaves[0]))));
    if (leaves.size() == 1) return state;
    Values next = rounded(added(state, added_last(leaves[1])));
    // Of two products of one addition either may be the fused one.
    if (leaves[0].product && rule_.contraction != Contraction::never) next.add(rounded(added(Values(leaves[0].value), alone(leaves[1]))));
    state = next;
    for (std::size_t k = 2; k < leaves.size(); ++k) state = rounded(added(state, added_last(leaves[k])));
    return state;
  }
  Values rseq(std::vector<Operand> leaves) const {
    std::vector<Operand> back(leaves.rbegin(), leaves.rend());
    return seq(back);
  }

  Values pairwise(const std::vector<Operand>& leaves, std::size_t block) const {
    if (leaves.size() <= block) return seq(leaves);
    const std::size_t middle = leaves.size() / 2;
    const std::vector<Operand> a(leaves.begin(), leaves.begin() + static_cast<std::ptrdiff_t>(middle)),
        b(leaves.begin() + static_cast<std::ptrdiff_t>(middle), leaves.end());
    return pair(a, pairwise(a, block), b, pairwise(b, block));
  }

  Values blocked(const std::vector<Operand>& leaves, std::size_t block, OrderKind inner, OrderKind outer) const {
    std::vector<Values> parts;
    std::vector<bool> fusible;
    std::vector<std::vector<Operand>> blocks;
    for (std::size_t i = 0; i < leaves.size(); i += block) {
      std::vector<Operand> some(leaves.begin() + static_cast<std::ptrdiff_t>(i), leaves.begin() + static_cast<std::ptrdiff_t>(std::min(i + block, leaves.size())));
      parts.push_back(of_kind(some, inner));
      blocks.push_back(some);
    }
    if (outer == OrderKind::rseq) {
      std::reverse(parts.begin(), parts.end());
      std::reverse(blocks.begin(), blocks.end());
    }
    if (outer == OrderKind::seq || outer == OrderKind::rseq) {
      Values state = parts[0];
      for (std::size_t k = 1; k < parts.size(); ++k) {
        // The first block is the accumulator; a block of one product may be fused into it, or it into the second block.
        if (k == 1) state = pair(blocks[0], state, blocks[1], parts[1]);
        else state = pair({}, state, blocks[k], parts[k]);
      }
      return state;
    }
    if (parts.size() == 1) return parts[0];
    for (std::size_t k = 0; k < parts.size(); ++k)
      if (blocks[k].size() == 1) parts[k].add(offered(blocks[k][0]));
    return outer == OrderKind::any ? any_of_values(parts) : assoc_of_values(parts);
  }

  Values split(const std::vector<Operand>& leaves, const std::vector<std::int64_t>& counts, const Format& store) const {
    Values all;
    for (std::int64_t s : counts) {
      const std::size_t size = (leaves.size() + static_cast<std::size_t>(s) - 1) / static_cast<std::size_t>(s);
      std::vector<Values> parts;
      for (std::size_t i = 0; i < leaves.size(); i += size) {
        const Values part = any({leaves.begin() + static_cast<std::ptrdiff_t>(i), leaves.begin() + static_cast<std::ptrdiff_t>(std::min(i + size, leaves.size()))});
        Values stored;
        part.each([&](double x) {
          const double y = nearest(x, store);
          stored.add(y);
          if (rule_.flush != Flush::no && std::min(std::fabs(x), std::fabs(y)) < std::ldexp(1.0, store.emin())) stored.add(std::copysign(0.0, y));
        });
        Values offered_to_sum = stored;
        if (rule_.flush != Flush::no)
          stored.each([&](double x) { if (std::fabs(x) < std::ldexp(1.0, f_.emin())) offered_to_sum.add(std::copysign(0.0, x)); });
        parts.push_back(offered_to_sum);
      }
      all.add(parts.size() == 1 ? parts[0] : any_of_values(parts));
    }
    return all;
  }

  /// Trees of height h or less.
  Values height(const std::vector<Operand>& leaves, std::int64_t h) const {
    if (leaves.size() == 1) return alone(leaves[0]);
    const std::size_t full = (std::size_t{1} << leaves.size()) - 1;
    std::vector<Values> node(full + 1);
    for (std::size_t i = 0; i < leaves.size(); ++i) node[std::size_t{1} << i] = offered(leaves[i]);
    for (std::int64_t level = 0; level < h; ++level) {
      std::vector<Values> sums(full + 1), higher = node;
      for (std::size_t set = 1; set <= full; ++set) {
        const std::size_t low = set & (~set + 1);
        Values exact;
        for (std::size_t block = (set - 1) & set; block; block = (block - 1) & set)
          if (block & low) exact.add(added(node[block], sums[set & ~block]));
        sums[set] = node[set];
        sums[set].add(exact);
        higher[set].add(rounded(exact));
      }
      node = higher;
    }
    return node[full];
  }

  Values of_kind(const std::vector<Operand>& leaves, OrderKind kind) const {
    switch (kind) {
      case OrderKind::any: return any(leaves);
      case OrderKind::assoc: return assoc(leaves);
      case OrderKind::rseq: return rseq(leaves);
      default: return seq(leaves);
    }
  }
  Values run(const std::vector<Operand>& leaves) const {
    const auto number = [&](std::size_t i) { return rule_.order.numbers.at(i); };
    switch (rule_.order.kind) {
      case OrderKind::pairwise: return pairwise(leaves, static_cast<std::size_t>(number(0)));
      case OrderKind::blocked: return blocked(leaves, static_cast<std::size_t>(number(0)), rule_.order.inner, rule_.order.outer);
      case OrderKind::split: return split(leaves, rule_.order.numbers, rule_.order.store.value_or(f_));
      case OrderKind::height: return height(leaves, number(0));
      default: return of_kind(leaves, rule_.order.kind);
    }
  }

 private:
  const Format& f_;
  const SumRule& rule_;

  static double at_precision(double x, int p) {
    if (!std::isfinite(x) || x == 0) return x;
    const double unit = std::ldexp(1.0, std::ilogb(x) - p + 1);
    return std::nearbyint(x / unit) * unit;
  }
  Values rounded(const Values& exact) const {
    Values v;
    exact.each([&](double x) { v.add(round(x)); });
    return v;
  }
  /// x + y, of which no bit may be lost: the error of a sum is a double.
  static double exact_sum(double x, double y) {
    const double s = x + y, of_y = s - x;
    if (std::isfinite(s) && (x - (s - of_y)) + (y - of_y) != 0) throw std::logic_error("the oracle's doubles do not hold a sum");
    return s;
  }
  static Values added(const Values& a, const Values& b) {
    Values v;
    a.each([&](double x) { b.each([&](double y) { v.add(exact_sum(x, y)); }); });
    return v;
  }
  /// A leaf that is added to a running sum: always fused where every product is.
  Values added_last(const Operand& o) const {
    return o.product && rule_.contraction == Contraction::always ? Values(o.value) : offered(o);
  }
  /// One addition of two subtrees; a subtree that is one product may be fused, but not both.
  Values pair(const std::vector<Operand>& a, const Values& x, const std::vector<Operand>& b, const Values& y) const {
    Values v = rounded(added(x, y));
    const auto fused = [&](const std::vector<Operand>& o) { return o.size() == 1 && o[0].product && rule_.contraction != Contraction::never; };
    if (fused(a)) v.add(rounded(added(Values(a[0].value), y)));
    if (fused(b)) v.add(rounded(added(x, Values(b[0].value))));
    return v;
  }
};

}  // namespace erx::test
