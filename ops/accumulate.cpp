#include "ops/accumulate.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "ops/num/ends.hpp"
#include "ops/planted.hpp"
#include "ops/sum_rule.hpp"

namespace erx {
namespace {

/// Are all partial sums values of the format, whatever the order? (Grid rule.)
template <class R>
Comparison on_grid(const SumParts<R>& parts, const SumRule& rule, Context c) {
  if (std::isinf(parts.grid)) return Comparison::less;  // all leaves are 0
  const double least = loses_subnormals(rule) ? rule.format.min_normal() : rule.format.min_positive();
  if (!(parts.grid >= least) && !(planted(Mistake::grid_below_eta) && parts.grid > 0)) return Comparison::greater;
  const double limit = std::min(std::ldexp(parts.grid, rule.format.precision()), rule.format.max_finite());
  // P bounds the partial sums of either sign; for known leaves half of P + |s| does.
  R bound = parts.magnitude;
  if (parts.is_point) bound = mul(R::exact(0.5, c), add(parts.magnitude, abs_of(parts.lower)));
  return planted(Mistake::grid_without_limit) ? Comparison::less : compare(bound, R::exact(limit, c));
}

}  // namespace

ClosedBound closed_bound(const SumRule& rule, std::int64_t leaves, bool inexact_products) {
  const double u = unit_of(rule), eta = rule.format.min_positive(), n = static_cast<double>(leaves);
  if (loses_subnormals(rule)) {
    // e_1 = u P + n nu, e_k = (1+u) e_{k-1} + u P + nu: closed form with g >= (1+u)^(n-1) - 1.
    const double nu = rule.format.min_normal();
    const double g = n * u < 0.5 ? up(up(n * u / (1 - n * u))) : up(std::exp2(std::ceil(1.4427 * n * u)));
    const double first = product_up(up(1 + g), product_up(n, nu)), growth = product_up(g, nu / u);
    return {up(up(product_up(up(1 + g), u)) + g), up(first + growth)};
  }
  // Trees of height h: (1 + u/(1+u))^h - 1 <= hu / (1 - hu/2), one more for products.
  const auto tree = [&](double height, double relative) {
    const double x = product_up(height, u);
    return x < 1 ? std::min(relative, up(up(x) / (1 - x / 2))) : relative;
  };
  const bool flat = rule.order.kind == OrderKind::height;
  const double height = flat ? static_cast<double>(rule.order.numbers.at(0)) - planted(Mistake::lower_tree) : 0;
  if (!inexact_products) return {flat ? tree(height, product_up(n - 1, u)) : product_up(n - 1, u), 0};
  const double count = planted(Mistake::one_leaf_less) ? n - 1 : n;
  const double relative = flat ? tree(height + 1, product_up(count, u)) : product_up(count, u);
  const double low = planted(Mistake::no_underflow) ? 0 : (planted(Mistake::half_underflow) ? 0.5 : 1) * n * half_of(eta);
  return {relative, up(up(product_up(relative, low)) + low)};
}

bool SumRule::needs_leaves(std::int64_t leaves) const {
  if (!rounds) return false;
  if (within) return leaves <= chain_leaves;
  const std::int64_t few = std::max(hull_leaves, chain_leaves);
  switch (order.kind) {
    case OrderKind::any:
    case OrderKind::height: return leaves <= few;
    case OrderKind::assoc: return leaves <= std::max(few, kept_order_leaves);
    case OrderKind::blocked: return leaves <= few || is_fixed(order);
    default: return true;
  }
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

namespace {

template <class R>
Set<R> bounded_sum(const SumParts<R>& parts, const SumRule& rule, const R* radius, Context c) {
  if (!parts.has_reals && !(rule.rounds && (parts.flags & any_infinity))) return Set<R>::special(parts.flags);
  if (parts.has_reals && (!rule.rounds || parts.leaves == 0)) {
    Set<R> s{parts.lower, parts.upper, parts.flags, parts.is_point};
    set_zero_signs(s, true, parts.negative_zero);
    return s;
  }
  const Format& f = rule.format;
  const Comparison grid = on_grid(parts, rule, c);
  if (parts.has_reals && (grid == Comparison::less || grid == Comparison::equal)) {
    Set<R> s{parts.lower, parts.upper, parts.flags, parts.is_point};
    set_zero_signs(s, true, parts.negative_zero);
    return s;
  }
  const bool inexact_products = parts.products > 0 && !(rule.products_fit && (parts.grid >= f.min_positive() || planted(Mistake::always_exact_products)));
  const ClosedBound bound = closed_bound(rule, parts.leaves, inexact_products);
  R e = add(mul(R::exact(bound.relative, c), parts.magnitude), R::exact(bound.absolute, c));
  if (radius) e = min_of(e, *radius);
  const R& upper_end = planted(Mistake::point_hull) ? parts.lower : parts.upper;
  Set<R> s = Set<R>::between(sub(parts.lower, e), add(upper_end, e), parts.flags);

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
    // Finite leaves that overflow may meet an infinite leaf of the other sign.
    if (!planted(Mistake::infinity_without_nan) && (s.flags & has_pinf) && (s.flags & has_ninf)) s.flags |= has_nan;
    // Saturation cuts partial sums: later terms act on less.
    if (!planted(Mistake::infinities_only) && !f.has_infinity() && !f.has_nan() && (reaches(over) || reaches(under))) s = Set<R>::between(neg(side(neg(parts.lower))), side(parts.upper), s.flags);
  }
  if (!parts.has_reals) return Set<R>::special(s.flags & ((s.flags & has_nan ? has_nan : 0) | parts.flags | undecided));
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
  set_zero_signs(s, true, parts.negative_zero || rule.within || loses_subnormals(rule) || inexact_products);
  return s;
}

}  // namespace

template <class R>
Set<R> sum_of_parts(const SumParts<R>& parts, const SumRule& rule, Context c) {
  return bounded_sum<R>(parts, rule, nullptr, c);
}

template <class R>
Set<R> sum_of_parts(const SumParts<R>& parts, const SumRule& rule, const R& radius, Context c) {
  return bounded_sum<R>(parts, rule, &radius, c);
}

template void SpecialLeaves::finish(SumParts<F64>&) const;
template void SpecialLeaves::finish(SumParts<Big>&) const;
template void SpecialLeaves::finish(SumParts<Exact>&) const;
template Set<F64> sum_of_parts(const SumParts<F64>&, const SumRule&, Context);
template Set<Big> sum_of_parts(const SumParts<Big>&, const SumRule&, Context);
template Set<Exact> sum_of_parts(const SumParts<Exact>&, const SumRule&, Context);
template Set<F64> sum_of_parts(const SumParts<F64>&, const SumRule&, const F64&, Context);
template Set<Big> sum_of_parts(const SumParts<Big>&, const SumRule&, const Big&, Context);
template Set<Exact> sum_of_parts(const SumParts<Exact>&, const SumRule&, const Exact&, Context);

}  // namespace erx
