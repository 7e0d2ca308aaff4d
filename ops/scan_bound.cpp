// Recurrences in any association: the exact states, and how far any tree over the steps may be from them.
// A leaf b_k reaches the root through left children (one multiplication by a product of m factors: m roundings) and additions
// (one each, on every node of its path), so its coefficient is off by at most (1+u)^(t-k+D). With B_t = |a_t| B_(t-1) + |b_t| and
// G_t = (1+u)|a_t| G_(t-1) + |b_t|, and E_t = G_t - B_t = (1+u)|a_t| E_(t-1) + u|a_t| B_(t-1):
//   |h^ - h| <= ((1+u)^D - 1) G_t + E_t + U_t,  U_t = (1+u)^(D+t+1) R phi (2 n_f R S + 3 n_x),  S = |h_0| + sum |b|,
// R >= 1 the largest product of |a| over a range of steps, phi what one result may lose near zero, n_f and n_x how many do.
// Proofs: docs/soundness.md. Every quantity is rounded up.
#include <algorithm>

#include "ops/num/ends.hpp"
#include "ops/planted.hpp"
#include "ops/scan.hpp"
#include "ops/scan_exact.hpp"
#include "ops/sum_rule.hpp"

namespace erx {

namespace {

template <class R>
class ScanBound {
 public:
  ScanBound(const ScanRule& rule, Context c)
      : rule_(rule), c_(c), exact_(rule), u_(number(rule.format.unit_roundoff())), growth_(add(number(1), u_)),
        loses_(rule.flushes() || !rule.format.has_subnormals),
        phi_(number(loses_ && !planted(Mistake::scan_flush_as_subnormal) ? rule.format.min_normal() : half_of(rule.format.min_positive()))) {
    power_ = total_growth_ = range_ = largest_range_ = number(1);
  }

  void start(const Set<R>& init) {
    take(init, lo_, hi_, false);
    const R size = magnitude(init);
    if (!planted(Mistake::scan_init_left_out)) sums_ = grown_ = size;
    total_ = peak_ = size;
    // A state that starts at 0 is one addition of it shorter: 0 times a_1 is 0, and b_1 is added to it exactly.
    has_init_ = !(init.has_reals() && upper(init.hi) == 0 && lower(init.lo) == 0);
    if (init.has_reals()) exact_.start(lower(init.lo), upper(init.hi));
  }

  Set<R> step(const Set<R>& a, const Set<R>& b) {
    ++steps_;
    R a_lo{}, a_hi{}, b_lo{}, b_hi{};
    take(a, a_lo, a_hi, steps_ == 1 && !has_init_);  // a_1 acts on nothing where the line starts at 0
    take(b, b_lo, b_hi, false);
    const R p = mul(a_lo, lo_), q = mul(a_lo, hi_), r = mul(a_hi, lo_), s = mul(a_hi, hi_);
    lo_ = add(min_of(min_of(p, q), min_of(r, s)), b_lo);
    hi_ = add(max_of(max_of(p, q), max_of(r, s)), b_hi);

    const R factor = planted(Mistake::scan_one_end) ? abs_of(a_lo) : magnitude(a), term = magnitude(b), one = number(1);
    const R rounding = planted(Mistake::scan_exact_products) ? R{} : u_;
    products_ = add(mul(growth_, mul(factor, products_)), mul(rounding, mul(factor, sums_)));
    grown_ = add(mul(growth_, mul(factor, grown_)), term);
    sums_ = add(mul(factor, sums_), term);
    total_ = add(total_, term);
    range_ = mul(factor, max_of(one, range_));
    largest_range_ = planted(Mistake::scan_range_at_end) ? max_of(one, range_) : max_of(largest_range_, range_);
    const bool counts = steps_ > 1 || (has_init_ && !planted(Mistake::scan_lower_depth));
    if (counts) {
      excess_ = add(mul(excess_, growth_), u_);
      power_ = mul(power_, growth_);
    }
    total_growth_ = mul(mul(total_growth_, growth_), counts ? growth_ : one);
    peak_ = max_of(peak_, mul(power_, grown_));

    const bool is_single = a.is_point && a.has_reals() && is_exact(a.lo);
    if (is_single && b.has_reals()) exact_.step(lower(a.lo), lower(b.lo), upper(b.hi));
    else exact_.lose();
    return state();
  }

 private:
  const ScanRule& rule_;
  Context c_;
  ExactStates exact_;
  R u_, growth_;
  bool loses_;
  R phi_;
  R lo_{}, hi_{};                     // the exact state over all members of a, b and h_0
  R sums_{}, grown_{}, products_{};   // B, G, E
  R total_{};                         // S
  R range_{}, largest_range_{};       // products of |a| over ranges that end here; R
  R excess_{}, power_{};              // (1+u)^D - 1 and (1+u)^D
  R total_growth_{};                  // (1+u)^(D+t)
  R peak_{};                          // the largest magnitude so far of any tree, underflow apart
  std::int64_t steps_ = 0;
  bool has_init_ = false;
  std::uint8_t special_ = 0;  // what operands may be beside reals
  bool is_lost_ = false;      // one of them is never real

  R number(double x) const { return R::exact(x, c_); }
  static R magnitude(const Set<R>& x) { return x.has_reals() ? max_of(abs_of(x.lo), abs_of(x.hi)) : R{}; }

  void take(const Set<R>& x, R& lo, R& hi, bool may_be_skipped) {
    special_ |= x.flags & (has_nan | any_infinity);
    is_lost_ |= !x.has_reals() && !may_be_skipped;
    lo = x.has_reals() ? x.lo : R{};
    hi = x.has_reals() ? x.hi : R{};
  }

  /// What results lose near zero: none does in the first state of a line that starts at 0, unless it is flushed.
  R underflow() const {
    if (planted(Mistake::scan_no_underflow) || (steps_ == 1 && !has_init_ && !loses_)) return R{};
    const double t = static_cast<double>(steps_), in_states = loses_ ? 3 * t + 1 : t;
    const R lost = add(mul(lost_in_factors(), total_), mul(mul(phi_, largest_range_), number(3 * in_states)));
    return mul(mul(total_growth_, growth_), lost);
  }

  /// Of products of |a|, rounding apart: R ((1 + phi R)^n - 1), at most 2 n phi R^2 where n phi R <= 1.
  R lost_in_factors() const {
    const R n = number((loses_ ? 2 : 1) * static_cast<double>(steps_)), each = mul(phi_, largest_range_);
    if (compare(mul(n, each), number(1)) != Comparison::less) return number(f64::largest);
    return mul(mul(number(2), n), mul(each, largest_range_));
  }

  Set<R> state() const {
    const Format& f = rule_.format;
    const std::uint8_t beyond = static_cast<std::uint8_t>((f.has_nan() ? has_nan : 0) | (f.has_infinity() ? any_infinity : 0));
    const std::uint8_t flags = special_ ? beyond : 0;
    if (is_lost_) return Set<R>::special(flags);
    Set<R> s;
    if (exact_.holds()) {
      s = Set<R>::between(lo_, hi_, flags);
    } else {
      const R lost = underflow();
      const R radius = add(add(mul(excess_, grown_), products_), lost);
      // Whatever a tree computes stays below these, products of factors alone too.
      const R limit = number(f.max_finite());
      const R reach = add(peak_, lost), factors = mul(total_growth_, add(largest_range_, lost_in_factors()));
      const bool factors_fit = planted(Mistake::scan_overflow_of_states) || compare(factors, limit) == Comparison::less;
      const bool fits = compare(reach, limit) == Comparison::less && factors_fit;
      double low = lower(sub(lo_, radius)), high = upper(add(hi_, radius));
      if (!fits && !beyond) low = f.lowest(), high = f.max_finite();  // saturated values go on
      s = Set<R>::between(number(inward(low, Mode::rtp)), number(inward(high, Mode::rtn)), static_cast<std::uint8_t>(flags | (fits ? 0 : beyond)));
    }
    set_zero_signs(s, true, f.has_negative_zero());
    return s;
  }

  /// Results are values of the format: an end moves to the nearest one within.
  double inward(double end, Mode mode) const {
    const Format& f = rule_.format;
    if (!(end > f.lowest())) return f.lowest();
    if (!(end < f.max_finite())) return f.max_finite();
    return round_to(end, f, {mode, Overflow::sat, Flush::no});
  }
};

}  // namespace

template <class R>
std::vector<Set<R>> scan_bounds(const ScanLine<R>& line, const ScanRule& rule, Context c) {
  ScanBound<R> bound(rule, c);
  if (line.init) bound.start(*line.init);
  std::vector<Set<R>> states;
  states.reserve(line.a.size());
  for (std::size_t t = 0; t < line.a.size(); ++t) states.push_back(bound.step(line.a[t], line.b[t]));
  return states;
}

template std::vector<Set<F64>> scan_bounds(const ScanLine<F64>&, const ScanRule&, Context);
template std::vector<Set<Big>> scan_bounds(const ScanLine<Big>&, const ScanRule&, Context);
template std::vector<Set<Exact>> scan_bounds(const ScanLine<Exact>&, const ScanRule&, Context);

}  // namespace erx
