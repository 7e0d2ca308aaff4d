// Additions in a format on the ends of what may be added: fixed orders, and the hull of many orders for short sums.
// Rounding is monotone, so the least and the greatest operands give the least and the greatest result.
//   Adder<F64>(leaves, rule, context).sequence({0, 1, 2})
#pragma once
#include <algorithm>
#include <vector>

#include "ops/accumulate.hpp"
#include "ops/num/ends.hpp"

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

  /// A leaf as an operand of an addition: a product may enter rounded, or exactly (fused).
  Ends<R> operand(std::size_t i, bool may_fuse) {
    const Leaf<R>& leaf = leaves_[i];
    Ends<R> exact{leaf.value.lo, leaf.value.hi};
    if (!leaf.is_product) {
      if (rule_.flush != Flush::no) flush(exact, exact);
      return exact;
    }
    if (may_fuse && rule_.contraction == Contraction::always) return exact;
    Ends<R> separate = rounded(exact);
    if (!may_fuse || rule_.contraction == Contraction::never) return separate;
    return either(exact, separate);
  }

  Ends<R> sum(const Ends<R>& a, const Ends<R>& b) {
    return {add(a.lo, b.lo), add(a.hi, b.hi), static_cast<std::uint8_t>(a.flags | b.flags), a.reals && b.reals};
  }

  /// Leaves [first, last) from left to right (or right to left). Only one of two products of one addition can be fused, but
  /// each may: the hull allows either.
  Ends<R> sequence(const std::vector<std::size_t>& order) {
    Ends<R> total = operand(order[0], false);
    if (order.size() > 1 && leaves_[order[0]].is_product) {
      // The first addition of two products: one of them fused, or none.
      const Ends<R> first = operand(order[0], true), second_rounded = operand(order[1], false), second = operand(order[1], true);
      if (rule_.contraction != Contraction::never && leaves_[order[1]].is_product) {
        total = either(rounded(sum(first, second_rounded)), rounded(sum(total, second)));
      } else {
        total = rounded(sum(first, second));
      }
      return continue_sequence(total, order, 2);
    }
    return continue_sequence(total, order, 1);
  }

  Ends<R> pairwise(std::size_t first, std::size_t last, std::size_t block) {
    if (last - first <= block) {
      std::vector<std::size_t> order(last - first);
      for (std::size_t i = first; i < last; ++i) order[i - first] = i;
      return sequence(order);
    }
    const std::size_t middle = first + (last - first) / 2;
    const Ends<R> a = pairwise(first, middle, block), b = pairwise(middle, last, block);
    return rounded(sum(a, b));
  }

  Ends<R> blocked(std::size_t block) {
    Ends<R> total{};
    for (std::size_t first = 0; first < leaves_.size(); first += block) {
      const Ends<R> part = pairwise(first, std::min(first + block, leaves_.size()), block);
      total = first == 0 ? part : rounded(sum(total, part));
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
        value[set] = operand(i, leaves_.size() > 1);
        parts[set] = value[set];
      } else {
        value[set] = rounded(best);
        parts[set] = either(best, value[set]);
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
          value[at] = parts[at] = operand(first, true);
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

  Ends<R> continue_sequence(Ends<R> total, const std::vector<std::size_t>& order, std::size_t from) {
    for (std::size_t k = from; k < order.size(); ++k) total = rounded(sum(total, operand(order[k], true)));
    return total;
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
