// One rounded step of a recurrence on sets: f x + b, the product rounded by itself or fused with the addition.
// A rounding of exact sums and products of sets: rounding is monotone, so the hull of the step's operands gives the hull of its
// results, special values and signs of zero by the formulas of + and *.
//   ScanStep<F64>(rule, context).apply(a, h, b)
#pragma once
#include <array>

#include "ops/arithmetic.hpp"
#include "ops/round_set.hpp"
#include "ops/scan.hpp"

namespace erx {

/// Everything that either set allows, as one interval.
template <class R>
Set<R> joined(const Set<R>& x, const Set<R>& y) {
  SetBuilder<R> r;
  for (const Set<R>* s : {&x, &y}) {
    r.flag(s->flags & (has_nan | any_infinity | undecided));
    r.reals_of(*s);
    const Parts p = parts(*s);
    r.zeros(p.pz, p.nz);
  }
  return r.finish(false);
}

template <class R>
class ScanStep {
 public:
  ScanStep(const ScanRule& rule, Context c) : rule_(rule), c_(c) {}

  /// An operand: hardware that flushes reads subnormals as zero, or not.
  Set<R> read(const Set<R>& x) const { return rule_.flushes() ? rounded(x) : x; }

  /// f2 f1 of two maps, one rounding.
  Set<R> product(const Set<R>& f2, const Set<R>& f1) const { return rounded(exact_product(read(f2), read(f1))); }

  Set<R> apply(const Set<R>& f, const Set<R>& x, const Set<R>& b) const {
    const Set<R> p = exact_product(read(f), read(x)), addend = read(b);
    if (rule_.contraction == Contraction::always) return rounded(exact_sum(p, addend));
    const Set<R> separate = rounded(exact_sum(read(rounded(p)), addend));
    if (rule_.contraction == Contraction::never) return separate;
    return joined(separate, rounded(exact_sum(p, addend)));
  }

 private:
  const ScanRule& rule_;
  Context c_;

  Set<R> rounded(const Set<R>& x) const {
    const Format& f = rule_.format;
    const Set<R> r = round_set(x, f, {Mode::rne, Overflow::by_format, rule_.flushes() ? Flush::free : Flush::no}, c_);
    if (!rule_.flushes() || f.has_subnormals || !x.has_reals()) return r;
    // A format without subnormals rounds what is below its smallest value to that or to 0; hardware that flushes gives 0.
    const bool tiny = lower(x.lo) < f.min_normal() && upper(x.is_point ? x.lo : x.hi) > -f.min_normal();
    return tiny ? joined(r, Set<R>::point(R::exact(0, c_), any_zero)) : r;
  }
  Set<R> exact_product(const Set<R>& x, const Set<R>& y) const {
    const std::array<Set<R>, 2> both = {x, y};
    return Mul::of<R>(both, {}, c_);
  }
  Set<R> exact_sum(const Set<R>& x, const Set<R>& y) const {
    const std::array<Set<R>, 2> both = {x, y};
    return Add::of<R>(both, {}, c_);
  }
};

}  // namespace erx
