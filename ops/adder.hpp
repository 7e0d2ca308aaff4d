// Additions in a format on the ends of what may be added: fixed orders, and the hull of many orders for short sums.
// Rounding is monotone, so the least and the greatest operands give the least and the greatest result.
//   Adder<F64>(leaves, rule, context).sequence({0, 1, 2})
#pragma once
#include <algorithm>
#include <vector>

#include "ops/accumulate.hpp"
#include "ops/num/ends.hpp"
#include "ops/planted.hpp"

namespace erx {

/// What one rounded node may give: its lower and upper end, and what overflow gives.
template <class R>
struct Ends {
  R lo, hi;
  std::uint8_t flags = 0;
  bool reals = true;  // false: every execution overflows here
};

template <class R>
Ends<R> either(const Ends<R>& a, const Ends<R>& b) {
  const std::uint8_t flags = a.flags | b.flags;
  if (!a.reals || !b.reals) {
    Ends<R> r = a.reals ? a : b;
    r.flags = flags;
    return r;
  }
  return {min_of(a.lo, b.lo), max_of(a.hi, b.hi), flags, true};
}

/// Additions in F of known ends, for the fixed orders and the hull of all orders.
template <class R>
class Adder {
 public:
  Adder(const std::vector<Leaf<R>>& leaves, const SumRule& rule, Context c) : leaves_(leaves), rule_(rule), c_(c) {}

  Ends<R> rounded(const Ends<R>& x) {
    if (!x.reals) return x;
    const Rounding nearest{Mode::rne, Overflow::by_format, Flush::no};
    Ends<R> r = x;
    std::uint8_t low = 0, high = 0;
    r.lo = round_end(x.lo, rule_.format, nearest, c_, low);
    r.hi = round_end(x.hi, rule_.format, nearest, c_, high);
    r.flags |= low | high;
    const R zero{};
    // An end that overflows for certain, away from zero, takes everything beyond it along.
    if (low && !(low & undecided) && compare(x.lo, zero) == Comparison::greater) r.reals = false;
    if (high && !(high & undecided) && compare(x.hi, zero) == Comparison::less) r.reals = false;
    if (rule_.flush != Flush::no) flush(x, r);
    return r;
  }

  /// A leaf as it is: the exact product of two.
  Ends<R> exact(std::size_t i) { return {leaves_[i].value.lo, leaves_[i].value.hi}; }

  /// A leaf that is no operand of an addition, or not a fused one.
  Ends<R> alone(std::size_t i) {
    if (leaves_[i].is_product) return planted(Mistake::raw_product_at_root) ? exact(i) : rounded(exact(i));
    Ends<R> x = exact(i);
    if (rule_.flush != Flush::no) flush(x, x);
    return x;
  }

  /// What a leaf offers to an addition: a product enters rounded, or exactly (fused). Under `always` too it may be rounded, fused
  /// with an accumulator that starts at zero.
  Ends<R> offered(std::size_t i) {
    if (planted(Mistake::always_fused) && rule_.contraction == Contraction::always) return exact(i);
    return can_fuse(i) ? either(exact(i), alone(i)) : alone(i);
  }

  Ends<R> sum(const Ends<R>& a, const Ends<R>& b) {
    // Opposite infinities give NaN; what is added to NaN stays NaN.
    const auto infinite = [&](std::uint8_t side) { return ((a.flags & side) && (b.reals || (b.flags & side))) || ((b.flags & side) && (a.reals || (a.flags & side))); };
    const bool opposite = ((a.flags & has_pinf) && (b.flags & has_ninf)) || ((a.flags & has_ninf) && (b.flags & has_pinf));
    std::uint8_t flags = (a.flags | b.flags) & (has_nan | undecided);
    if (infinite(has_pinf)) flags |= has_pinf;
    if (infinite(has_ninf)) flags |= has_ninf;
    if (opposite) flags |= has_nan;
    return {add(a.lo, b.lo), add(a.hi, b.hi), flags, a.reals && b.reals};
  }

  /// The leaves one after the other. Of two products of the first addition either may be fused, not both.
  Ends<R> sequence(const std::vector<std::size_t>& order) {
    Ends<R> total = alone(order[0]);
    for (std::size_t k = 1; k < order.size(); ++k) {
      const bool fused = rule_.contraction == Contraction::always && leaves_[order[k]].is_product;
      Ends<R> next = rounded(sum(total, fused ? exact(order[k]) : offered(order[k])));
      if (k == 1 && can_fuse(order[0])) next = either(next, rounded(sum(exact(order[0]), alone(order[1]))));
      total = next;
    }
    return total;
  }

  Ends<R> pairwise(std::size_t first, std::size_t last, std::size_t block) {
    if (last - first <= block) return range(first, last);
    const std::size_t middle = first + (last - first) / 2;
    return pair(first, middle, pairwise(first, middle, block), middle, last, pairwise(middle, last, block));
  }

  /// Blocks one after the other, from the left or the right, and so the leaves of each.
  Ends<R> blocked(std::size_t block) {
    const std::size_t n = leaves_.size(), blocks = (n + block - 1) / block;
    const bool from_right = rule_.order.outer == OrderKind::rseq;
    Ends<R> total{};
    std::size_t leaves = 0;  // in `total`, from `start` on
    std::size_t start = 0;
    for (std::size_t k = 0; k < blocks; ++k) {
      const std::size_t first = (from_right ? blocks - 1 - k : k) * block, last = std::min(first + block, n);
      const Ends<R> sum = range(first, last, rule_.order.inner == OrderKind::rseq);
      total = k == 0 ? sum : pair(start, start + leaves, total, first, last, sum);
      start = k == 0 ? first : std::min(start, first);
      leaves += last - first;
    }
    return total;
  }

  /// The hull of every tree over every permutation, fused nodes of any number of leaves included: a node is the rounded sum of
  /// the values of the blocks of some partition, and rounding is monotone, so the least and the greatest partition suffice.
  Ends<R> any_order() {
    const std::size_t full = (std::size_t{1} << leaves_.size()) - 1;
    std::vector<Ends<R>> value(full + 1), parts(full + 1);
    for (std::size_t set = 1; set <= full; ++set) {
      const std::size_t low_bit = set & (~set + 1);
      bool first = true;
      Ends<R> best{};
      // Blocks that hold the lowest leaf, other than the whole set.
      for (std::size_t rest = (set - 1) & set; ; rest = (rest - 1) & set) {
        const std::size_t block = set & ~rest;
        if ((block & low_bit) && rest != 0) {
          const Ends<R> candidate = sum(value[block], parts[rest]);
          best = first ? candidate : either(best, candidate);
          first = false;
        }
        if (rest == 0) break;
      }
      if (set == low_bit) {
        std::size_t i = 0;
        while ((std::size_t{1} << i) != set) ++i;
        value[set] = leaves_.size() > 1 ? offered(i) : alone(i);
        parts[set] = value[set];
      } else {
        value[set] = rounded(best);
        parts[set] = planted(Mistake::binary_trees) ? value[set] : either(best, value[set]);
      }
    }
    return value[full];
  }

  /// The hull of every tree over the leaves in their order, fused nodes included: as any_order, over ranges.
  Ends<R> kept_order() {
    const std::size_t n = leaves_.size();
    std::vector<Ends<R>> value(n * n), parts(n * n);  // [first * n + last], last inclusive
    for (std::size_t length = 1; length <= n; ++length) {
      for (std::size_t first = 0; first + length <= n; ++first) {
        const std::size_t last = first + length - 1, at = first * n + last;
        if (length == 1) {
          value[at] = parts[at] = n > 1 ? offered(first) : alone(first);
          continue;
        }
        Ends<R> best = sum(value[first * n + first], parts[(first + 1) * n + last]);
        for (std::size_t cut = first + 1; cut < last; ++cut) best = either(best, sum(value[first * n + cut], parts[(cut + 1) * n + last]));
        value[at] = rounded(best);
        parts[at] = either(best, value[at]);
      }
    }
    return value[n - 1];
  }

 private:
  const std::vector<Leaf<R>>& leaves_;
  const SumRule& rule_;
  Context c_;

  bool can_fuse(std::size_t i) const { return leaves_[i].is_product && rule_.contraction != Contraction::never; }

  Ends<R> range(std::size_t first, std::size_t last, bool from_right = false) {
    std::vector<std::size_t> order(last - first);
    for (std::size_t i = first; i < last; ++i) order[i - first] = from_right ? last - 1 - (i - first) : i;
    return sequence(order);
  }

  /// One addition of the sums a and b of two ranges; a range of one product may be fused, but not both.
  Ends<R> pair(std::size_t a_first, std::size_t a_last, const Ends<R>& a, std::size_t b_first, std::size_t b_last, const Ends<R>& b) {
    Ends<R> r = rounded(sum(a, b));
    if (planted(Mistake::only_rounded_products)) return r;
    if (a_last - a_first == 1 && can_fuse(a_first)) r = either(r, rounded(sum(exact(a_first), b)));
    if (b_last - b_first == 1 && can_fuse(b_first)) r = either(r, rounded(sum(a, exact(b_first))));
    return r;
  }

  /// Values that are subnormal, or were before they were rounded, may become zero.
  void flush(const Ends<R>& before, Ends<R>& x) {
    const R nu = R::exact(rule_.format.min_normal(), c_), zero{};
    const auto subnormal = [&](const R& y) {
      const Comparison r = compare(abs_of(y), nu);
      return r == Comparison::less || r == Comparison::unknown;
    };
    if (subnormal(x.lo) || subnormal(before.lo)) x.lo = min_of(x.lo, zero);
    if (subnormal(x.hi) || subnormal(before.hi)) x.hi = max_of(x.hi, zero);
  }
};

}  // namespace erx
