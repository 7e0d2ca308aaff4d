#include "ops/accumulate.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>

#include "ops/num/ends.hpp"

namespace erx {
namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();

double up(double x) { return std::nextafter(x, infinity); }

double half_of(double eta) { return eta / 2 > 0 ? eta / 2 : eta; }  // eta/2 is no double for f64

/// An exact product stays; anything else is pushed up one ulp, so every constant below is an upper bound.
double product_up(double a, double b) {
  const double r = a * b;
  return std::fma(a, b, -r) == 0 && r > 1e-300 ? r : up(r);
}

/// `within` admits a double rounding from 2p+2 bits, whose error is a little more than u.
double unit_of(const SumRule& rule) {
  const double u = rule.format.unit_roundoff();
  return rule.within ? up(u + u * u) : u;
}

bool is_in_any_order(const Order& order) {
  switch (order.kind) {
    case OrderKind::seq:
    case OrderKind::rseq:
    case OrderKind::pairwise: return false;
    case OrderKind::blocked: return order.outer == OrderKind::any || order.inner == OrderKind::any;
    default: return true;
  }
}

/// Flags of overflow when partial sums may reach beyond `limit` in magnitude on the side of `sign`.
std::uint8_t overflow_flags(const Format& f, bool positive, bool negative) {
  if (!f.has_infinity()) return (positive || negative) && f.has_nan() ? has_nan : 0;
  return (positive ? has_pinf : 0) | (negative ? has_ninf : 0) | (positive && negative ? has_nan : 0);
}

template <class R>
void set_zero_signs(Set<R>& s, bool positive, bool negative) {
  const Comparison low = compare(s.lo, R{}), high = compare(s.hi, R{});
  const bool may_be_zero = low != Comparison::greater && high != Comparison::less;
  if (may_be_zero) s.flags |= (positive ? has_pzero : 0) | (negative ? has_nzero : 0);
}

template <class R>
Set<R> without_reals(const SumParts<R>& parts) {
  return Set<R>::special(parts.flags);
}

/// Are all partial sums values of the format, whatever the order? (Grid rule.)
template <class R>
Comparison on_grid(const SumParts<R>& parts, const SumRule& rule, Context c) {
  if (std::isinf(parts.grid)) return Comparison::less;  // all leaves are 0
  const double least = rule.flush == Flush::no ? rule.format.min_positive() : rule.format.min_normal();
  if (!(parts.grid >= least)) return Comparison::greater;
  const double limit = std::min(std::ldexp(parts.grid, rule.format.precision()), rule.format.max_finite());
  // P bounds the partial sums of either sign; for known leaves half of P + |s| does.
  R bound = parts.magnitude;
  if (parts.is_point) bound = mul(R::exact(0.5, c), add(parts.magnitude, abs_of(parts.lower)));
  return compare(bound, R::exact(limit, c));
}

}  // namespace

ClosedBound closed_bound(const SumRule& rule, std::int64_t leaves, bool inexact_products) {
  const double u = unit_of(rule), eta = rule.format.min_positive(), n = static_cast<double>(leaves);
  if (rule.flush != Flush::no) {
    // e_1 = u P + n nu, e_k = (1+u) e_{k-1} + u P + nu: closed form with g >= (1+u)^(n-1) - 1.
    const double nu = rule.format.min_normal();
    const double g = n * u < 0.5 ? up(up(n * u / (1 - n * u))) : up(std::exp2(std::ceil(1.4427 * n * u)));
    const double first = product_up(up(1 + g), product_up(n, nu)), growth = product_up(g, nu / u);
    return {up(up(product_up(up(1 + g), u)) + g), up(first + growth)};
  }
  if (!inexact_products) return {product_up(n - 1, u), 0};
  const double relative = product_up(n, u), low = n * half_of(eta);
  return {relative, up(up(product_up(relative, low)) + low)};
}

bool SumRule::needs_leaves(std::int64_t leaves) const {
  if (!rounds) return false;
  return within ? leaves <= 2 : leaves <= hull_leaves || !is_in_any_order(order);
}

void SpecialLeaves::add(std::uint8_t flags, bool may_be_negative_zero) {
  ++leaves_;
  nan_ |= (flags & has_nan) != 0;
  pinf_ += (flags & has_pinf) != 0;
  ninf_ += (flags & has_ninf) != 0;
  all_nzero_ &= may_be_negative_zero;
  if (flags & no_reals) {
    const std::uint8_t kinds = flags & (has_nan | any_infinity);
    only_nan_ |= kinds == has_nan;
    only_pinf_ |= kinds == has_pinf;
    only_ninf_ |= kinds == has_ninf;
  }
}

template <class R>
void SpecialLeaves::finish(SumParts<R>& parts) const {
  parts.negative_zero = all_nzero_ && leaves_ > 0;
  const bool mixed = (pinf_ > 0 && ninf_ > 0);
  parts.flags = nan_ || mixed ? has_nan : 0;
  if (only_nan_ || (only_pinf_ && only_ninf_)) {
    parts.flags = has_nan;
    parts.has_reals = false;
    return;
  }
  if (pinf_ > 0 && !only_ninf_) parts.flags |= has_pinf;
  if (ninf_ > 0 && !only_pinf_) parts.flags |= has_ninf;
}

template <class R>
Set<R> sum_of_parts(const SumParts<R>& parts, const SumRule& rule, Context c) {
  if (!parts.has_reals) return without_reals(parts);
  if (!rule.rounds || parts.leaves == 0) {
    Set<R> s{parts.lower, parts.upper, parts.flags, parts.is_point};
    set_zero_signs(s, true, parts.negative_zero);
    return s;
  }
  const Format& f = rule.format;
  const Comparison grid = on_grid(parts, rule, c);
  if (grid == Comparison::less || grid == Comparison::equal) {
    Set<R> s{parts.lower, parts.upper, parts.flags, parts.is_point};
    set_zero_signs(s, true, parts.negative_zero);
    return s;
  }
  const bool inexact_products = parts.products > 0 && !(rule.products_fit && parts.grid >= f.min_positive());
  const ClosedBound bound = closed_bound(rule, parts.leaves, inexact_products);
  const R e = add(mul(R::exact(bound.relative, c), parts.magnitude), R::exact(bound.absolute, c));
  Set<R> s = Set<R>::between(sub(parts.lower, e), add(parts.upper, e), parts.flags);

  // Overflow: partial sums stay below P + e. (Half of P + |s| would do; P is within a factor of two of it.)
  const double omega = f.max_finite();
  const R reach = add(parts.magnitude, e);
  const Comparison fits = compare(reach, R::exact(omega, c));
  if (fits == Comparison::greater || fits == Comparison::unknown) {
    const R half = R::exact(0.5, c);
    const auto side = [&](const R& sum) { return add(mul(half, add(parts.magnitude, sum)), e); };
    // P+ <= (P + upper)/2 and P- <= (P - lower)/2.
    const Comparison over = compare(side(parts.upper), R::exact(omega, c));
    const Comparison under = compare(side(neg(parts.lower)), R::exact(omega, c));
    const auto reaches = [](Comparison x) { return x == Comparison::greater || x == Comparison::unknown; };
    s.flags |= overflow_flags(f, reaches(over), reaches(under));
    if (over == Comparison::unknown || under == Comparison::unknown) s.flags |= undecided;
  }
  if (!rule.within) {
    // The result is a value of F: the ends move inward to the nearest values.
    std::uint8_t cut = 0;
    s.lo = round_end(s.lo, f, {Mode::rtp, Overflow::sat, Flush::no}, c, cut);
    s.hi = round_end(s.hi, f, {Mode::rtn, Overflow::sat, Flush::no}, c, cut);
  }
  if (grid == Comparison::unknown) {
    s.lo = R::between(std::min(lower(s.lo), lower(parts.lower)), std::max(upper(s.lo), upper(parts.lower)), c);
    s.hi = R::between(std::min(lower(s.hi), lower(parts.upper)), std::max(upper(s.hi), upper(parts.upper)), c);
    s.flags |= undecided;
  }
  set_zero_signs(s, true, parts.negative_zero || rule.within || rule.flush != Flush::no || inexact_products);
  return s;
}

namespace {

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

}  // namespace

template <class R>
Set<R> sum_of_leaves(const std::vector<Leaf<R>>& leaves, const SumRule& rule, Context c) {
  SumParts<R> parts;
  SpecialLeaves special;
  for (const Leaf<R>& leaf : leaves) {
    const Set<R>& v = leaf.value;
    const bool negative_zero = v.may_be(has_nzero);
    special.add(v.flags, negative_zero);
    ++parts.leaves;
    parts.products += leaf.is_product;
    if (!v.has_reals()) {
      parts.has_reals = false;
      continue;
    }
    parts.lower = add(parts.lower, v.lo);
    parts.upper = add(parts.upper, v.hi);
    parts.magnitude = add(parts.magnitude, max_of(abs_of(v.lo), abs_of(v.hi)));
    parts.is_point &= v.is_point;
    parts.flags |= v.flags & undecided;
  }
  const std::uint8_t carried = parts.flags & undecided;
  special.finish(parts);
  parts.flags |= carried;
  if (!parts.has_reals) return without_reals(parts);
  if (parts.leaves == 0) return sum_of_parts(parts, rule, c);

  const Format& f = rule.format;
  if (rule.within) {
    if (leaves.size() > 2) throw Bug("leaves of a long `within` sum");
    // bound: each rounding is at most max(u ufp, eta/2); products may be rounded before the addition.
    const R u = R::exact(unit_of(rule), c), least = R::exact(half_of(f.min_positive()), c);
    const auto step = [&](const R& magnitude) { return max_of(mul(u, ufp_of(magnitude, c)), least); };
    R e{};
    for (const Leaf<R>& leaf : leaves)
      if (leaf.is_product) e = add(e, step(max_of(abs_of(leaf.value.lo), abs_of(leaf.value.hi))));
    if (leaves.size() == 2) e = add(e, step(add(max_of(abs_of(parts.lower), abs_of(parts.upper)), e)));
    Set<R> s = leaves.size() == 1 && !leaves[0].is_product
                   ? Set<R>{parts.lower, parts.upper, parts.flags, parts.is_point}
                   : Set<R>::between(sub(parts.lower, e), add(parts.upper, e), parts.flags);
    const Comparison fits = compare(add(parts.magnitude, e), R::exact(f.max_finite(), c));
    if (fits == Comparison::greater || fits == Comparison::unknown) {
      // A product may overflow before the other leaf brings the sum back.
      s.flags |= overflow_flags(f, true, true);
      if (fits == Comparison::unknown) s.flags |= undecided;
    }
    set_zero_signs(s, true, true);
    return s;
  }

  Adder<R> adder(leaves, rule, c);
  Ends<R> ends{};
  const std::size_t n = leaves.size();
  std::vector<std::size_t> order(n);
  for (std::size_t i = 0; i < n; ++i) order[i] = rule.order.kind == OrderKind::rseq ? n - 1 - i : i;
  const auto number = [&](std::size_t i) { return static_cast<std::size_t>(rule.order.numbers.at(i)); };
  switch (rule.order.kind) {
    case OrderKind::seq:
    case OrderKind::rseq: ends = adder.sequence(order); break;
    case OrderKind::pairwise: ends = adder.pairwise(0, n, number(0)); break;
    case OrderKind::blocked:
      if (!is_in_any_order(rule.order)) {
        ends = adder.blocked(number(0));
        break;
      }
      [[fallthrough]];
    default: ends = n == 1 ? adder.operand(0, false) : adder.any_order();
  }
  const bool is_point = parts.is_point && (n == 1 || (rule.contraction != Contraction::free || parts.products == 0)) &&
                        !is_in_any_order(rule.order) && rule.flush == Flush::no;
  Set<R> s{ends.lo, ends.hi, static_cast<std::uint8_t>(parts.flags | ends.flags), is_point};
  // After an overflow the later additions start from an infinity: opposite ones give NaN, a format without them stays NaN.
  if (!ends.reals) s.flags |= no_reals;
  const std::uint8_t overflow = ends.flags & (has_nan | any_infinity);
  if ((overflow & has_pinf) && ((parts.flags | ends.flags) & has_ninf)) s.flags |= has_nan;
  if ((overflow & has_ninf) && ((parts.flags | ends.flags) & has_pinf)) s.flags |= has_nan;
  if (overflow) s.is_point = false;
  set_zero_signs(s, true, parts.negative_zero || parts.products > 0 || rule.flush != Flush::no);
  return s;
}

template void SpecialLeaves::finish(SumParts<F64>&) const;
template void SpecialLeaves::finish(SumParts<Big>&) const;
template void SpecialLeaves::finish(SumParts<Exact>&) const;
template Set<F64> sum_of_parts(const SumParts<F64>&, const SumRule&, Context);
template Set<Big> sum_of_parts(const SumParts<Big>&, const SumRule&, Context);
template Set<Exact> sum_of_parts(const SumParts<Exact>&, const SumRule&, Context);
template Set<F64> sum_of_leaves(const std::vector<Leaf<F64>>&, const SumRule&, Context);
template Set<Big> sum_of_leaves(const std::vector<Leaf<Big>>&, const SumRule&, Context);
template Set<Exact> sum_of_leaves(const std::vector<Leaf<Exact>>&, const SumRule&, Context);

}  // namespace erx
