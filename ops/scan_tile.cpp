// The loops for each format and rule, and what they need at each step.
#include "ops/scan_tile.hpp"

#include <algorithm>

#include "ops/clones.hpp"
#include "ops/scan_bound_lines.hpp"
#include "ops/scan_lines.hpp"
#include "ops/scan_order_lines.hpp"
#include "ops/sum_rule.hpp"

namespace erx {
namespace {

using namespace scan;

/// All that a format's loops round with.
struct Roundings {
  ToFormat format{};
  Quick<false> quick_f32;
  Quick<true> quick_format;
};
struct Out {
  std::uint8_t zero;
  bool streams;
};

using BoundSteps = void (*)(const ScanStepRow*, BoundState&, BoundState& other, const BoundNumbers*, std::size_t steps, const Roundings&, Out, std::size_t lines);
using OrderSteps = void (*)(const ScanStepRow*, OrderState&, OrderState& other, const NoNumbers*, std::size_t steps, const Roundings&, Out, std::size_t lines);

#define ERX_BOUND(name, single, rounding, of, quick_rounding, quick_of)                                                                    \
  ERX_VECTOR_CLONES void name(const ScanStepRow* r, BoundState& s, BoundState& other, const BoundNumbers* k, std::size_t steps, const Roundings& to, \
                              Out out, std::size_t n) {                                                                                     \
    (void)to;                                                                                                                               \
    using Full = BoundLine<single, false, rounding>;                                                                                        \
    run_lines<Full, BoundLine<single, true, quick_rounding>>(r, s, other, k, steps, Manner<rounding, quick_rounding>{of, quick_of, out.zero, out.streams}, n); \
  }
ERX_BOUND(bound_f32, true, ToF32, {}, Quick<false>, to.quick_f32)
ERX_BOUND(bound_f32_sets, false, ToF32, {}, Quick<false>, to.quick_f32)
ERX_BOUND(bound_f64, true, ToF64, {}, ToF64, {})
ERX_BOUND(bound_f64_sets, false, ToF64, {}, ToF64, {})
ERX_BOUND(bound_format, true, ToFormat, to.format, Quick<true>, to.quick_format)
ERX_BOUND(bound_format_sets, false, ToFormat, to.format, Quick<true>, to.quick_format)
#undef ERX_BOUND

#define ERX_ORDER(name, contraction, single, rounding, of, quick_rounding, quick_of)                                                       \
  ERX_VECTOR_CLONES void name(const ScanStepRow* r, OrderState& s, OrderState& other, const NoNumbers* k, std::size_t steps, const Roundings& to,    \
                              Out out, std::size_t n) {                                                                                     \
    (void)to;                                                                                                                               \
    using Full = OrderLine<Contraction::contraction, single, false, rounding>;                                                              \
    using Fast = OrderLine<Contraction::contraction, single, true, quick_rounding>;                                                         \
    run_lines<Full, Fast>(r, s, other, k, steps, Manner<rounding, quick_rounding>{of, quick_of, out.zero, out.streams}, n);                 \
  }
ERX_ORDER(free_f32, free, true, ToF32, {}, Quick<false>, to.quick_f32)
ERX_ORDER(free_f32_sets, free, false, ToF32, {}, Quick<false>, to.quick_f32)
ERX_ORDER(always_f32, always, true, ToF32, {}, Quick<false>, to.quick_f32)
ERX_ORDER(always_f32_sets, always, false, ToF32, {}, Quick<false>, to.quick_f32)
ERX_ORDER(never_f32, never, true, ToF32, {}, Quick<false>, to.quick_f32)
ERX_ORDER(never_f32_sets, never, false, ToF32, {}, Quick<false>, to.quick_f32)
ERX_ORDER(free_f64, free, true, ToF64, {}, ToF64, {})
ERX_ORDER(free_f64_sets, free, false, ToF64, {}, ToF64, {})
ERX_ORDER(always_f64, always, true, ToF64, {}, ToF64, {})
ERX_ORDER(always_f64_sets, always, false, ToF64, {}, ToF64, {})
ERX_ORDER(never_f64, never, true, ToF64, {}, ToF64, {})
ERX_ORDER(never_f64_sets, never, false, ToF64, {}, ToF64, {})
ERX_ORDER(free_format, free, true, ToFormat, to.format, Quick<true>, to.quick_format)
ERX_ORDER(free_format_sets, free, false, ToFormat, to.format, Quick<true>, to.quick_format)
ERX_ORDER(always_format, always, true, ToFormat, to.format, Quick<true>, to.quick_format)
ERX_ORDER(always_format_sets, always, false, ToFormat, to.format, Quick<true>, to.quick_format)
ERX_ORDER(never_format, never, true, ToFormat, to.format, Quick<true>, to.quick_format)
ERX_ORDER(never_format_sets, never, false, ToFormat, to.format, Quick<true>, to.quick_format)
#undef ERX_ORDER

enum Target { to_f32, to_f64, to_other };
Target target_of(const Format& f) { return f == *find_format("f32") ? to_f32 : f == *find_format("f64") ? to_f64 : to_other; }

constexpr BoundSteps bound_steps[3][2] = {{bound_f32_sets, bound_f32}, {bound_f64_sets, bound_f64}, {bound_format_sets, bound_format}};
constexpr OrderSteps order_steps[3][3][2] = {
    {{free_f32_sets, free_f32}, {always_f32_sets, always_f32}, {never_f32_sets, never_f32}},
    {{free_f64_sets, free_f64}, {always_f64_sets, always_f64}, {never_f64_sets, never_f64}},
    {{free_format_sets, free_format}, {always_format_sets, always_format}, {never_format_sets, never_format}}};

ToFormat to_format(const Format& f) {
  const auto constants = [&](Mode mode) { return BulkRounding(f, {mode, Overflow::sat, Flush::no}).constants(); };
  return {BulkRounding(f, {}).constants(), constants(Mode::rtp), constants(Mode::rtn)};
}

/// The next double above a number >= 0.
double above(double x) { return x < unbounded ? std::bit_cast<double>(std::bit_cast<std::int64_t>(x) + 1) : x; }
double times(double a, double b) { return above(a * b); }

}  // namespace

class ScanTile::Loops {
 public:
  Loops(const ScanRule& rule, std::size_t lines, const double* init_lo, const double* init_hi)
      : rule_(rule), lines_(lines), has_init_(init_lo != nullptr), target_(target_of(rule.format)), open_(lines, 0),
        values_((rule.in_order ? 6 : 18) * lines, 0.0) {
    const Format& f = rule.format;
    if (target_ == to_other) roundings_.format = to_format(f), roundings_.quick_format = Quick<true>(f);
    if (target_ == to_f32) roundings_.quick_f32 = Quick<false>(f);
    zero_ = static_cast<std::uint8_t>(has_pzero | (f.has_negative_zero() ? has_nzero : 0));
    if (rule.in_order) {
      order_ = {array(0), array(1), array(2)};
      other_order_ = {array(3), array(4), array(5)};
    } else {
      const auto state = [&](std::size_t k) { return BoundState{array(k), array(k + 1), array(k + 2), array(k + 3), array(k + 4), array(k + 5), array(k + 6), array(k + 7), array(k + 8)}; };
      bound_ = state(0);
      other_bound_ = state(9);
      std::fill_n(bound_.range, lines, 1.0);
      std::fill_n(bound_.largest, lines, 1.0);
      loses_ = rule.flushes() || !f.has_subnormals;
      // float64 itself loses up to 16 of its smallest values in a step. (Numbers below 2^-1022 would be slow.)
      phi_ = std::max(above((loses_ ? f.min_normal() : half_of(f.min_positive())) + 0x1p-1070), 0x1p-1018);
      u_ = f.unit_roundoff();
      growth_ = std::max(1 + u_, 1 + 0x1p-52);
    }
    starts_at_zero_.assign(lines, 1);
    for (std::size_t i = 0; has_init_ && i < lines; ++i) {
      starts_at_zero_[i] = init_lo[i] == 0;
      array(0)[i] = init_lo[i];
      array(1)[i] = init_hi[i];
      if (!rule.in_order) bound_.sums[i] = bound_.grown[i] = bound_.total[i] = bound_.peak[i] = std::max(std::fabs(init_lo[i]), std::fabs(init_hi[i]));
    }
  }

  void run(const ScanStepRow* rows, std::size_t steps, bool streams) {
    const bool single = single_ && rows[0].a_hi == rows[0].a_lo && rows[0].b_hi == rows[0].b_lo;
    if (rule_.in_order) {
      no_numbers_.resize(steps);
      order_steps[target_][static_cast<int>(rule_.contraction)][single](rows, order_, other_order_, no_numbers_.data(), steps, roundings_, {zero_, streams}, lines_);
      // A line that starts at 0 may have b_1 itself for h_1, with its sign; two signs are more than single numbers carry on.
      if (steps_ == 0 && single && rule_.contraction != Contraction::free)
        for (std::size_t i = 0; i < lines_; ++i)
          if (rows[0].b_lo[i] == 0 && starts_at_zero_[i]) {
            rows[0].flags[i] |= std::uint8_t{std::signbit(rows[0].b_lo[i]) ? has_nzero : has_pzero};
            if ((rows[0].flags[i] & any_zero) == any_zero) open_[i] = 1;
          }
      steps_ += static_cast<std::int64_t>(steps);
      return;
    }
    numbers_.clear();
    for (std::size_t t = 0; t < steps; ++t) numbers_.push_back(next());
    bound_steps[target_][single](rows, bound_, other_bound_, numbers_.data(), steps, roundings_, {zero_, streams}, lines_);
  }

  void expect_sets() { single_ = false; }
  void open(std::size_t line) { open_[line] = 1; }

  bool is_open(std::size_t i) const {
    if (open_[i]) return true;
    const double limit = rule_.format.max_finite();
    if (rule_.in_order) return !(order_.worst[i] <= limit) && !planted(Mistake::scan_unseen_overflow);
    if (numbers_.empty()) return false;
    const BoundNumbers& k = numbers_.back();
    const double largest = bound_.largest[i], squared = largest * largest, growth = total_growth_ * inflation();
    const double lost = squared * (k.in_factors * bound_.total[i] + k.in_states);
    const double reach = target_ == to_other ? power_ * inflation() * bound_.peak[i] : growth * largest * bound_.total[i];
    const bool in_range = k.in_factors * largest < 1 && largest * growth + k.in_factors * squared < limit;
    return !(in_range && reach + lost < limit);
  }

 private:
  ScanRule rule_;
  std::size_t lines_;
  bool has_init_, single_ = true, loses_ = false;
  Target target_;
  std::uint8_t zero_ = 0;
  Roundings roundings_;
  std::vector<std::uint8_t> open_, starts_at_zero_;
  std::vector<double> values_;
  BoundState bound_{}, other_bound_{};
  OrderState order_{}, other_order_{};
  std::vector<BoundNumbers> numbers_;
  std::vector<NoNumbers> no_numbers_;
  double u_ = 0, growth_ = 1, phi_ = 0, excess_ = 0, power_ = 1, total_growth_ = 1, growth_of_products_ = 1;
  std::int64_t steps_ = 0;

  double* array(std::size_t k) { return values_.data() + k * lines_; }
  /// Sums and products of non-negative numbers lose at most this by 8t + 32 roundings.
  double inflation() const { return 1 + above((8 * static_cast<double>(steps_) + 32) * 0x1p-52); }

  /// Of the next step. What float64 loses of the state is at most 2.25 2^-53 B_s in step s, and is carried as products are; where u
  /// is much larger, t times that of B_t does.
  BoundNumbers next() {
    ++steps_;
    const double t = static_cast<double>(steps_), more = inflation();
    if (steps_ > 1 || has_init_) {
      excess_ = above(times(excess_, growth_) + u_);
      power_ = times(power_, growth_);
      total_growth_ = times(total_growth_, growth_);
    }
    total_growth_ = times(total_growth_, growth_);
    growth_of_products_ = times(growth_of_products_, growth_);
    const double phi = steps_ == 1 && !has_init_ && !loses_ ? 0 : times(times(phi_, more), times(total_growth_, growth_));
    const bool grows = target_ == to_other;
    // G_t <= (1+u)^t B_t
    const double growth_of_sums = grows ? 1 : times(total_growth_, growth_);
    const double own = planted(Mistake::scan_exact_in_float64) ? 0 : target_ == to_f64 ? 0x1p-51 : (t + 4) * 0x1p-51;
    BoundNumbers k;
    k.factor = times(growth_, 1 + 0x1p-50);
    k.u = times(grows ? above(u_ / growth_) : u_, more);
    k.own = planted(Mistake::scan_exact_in_float64) ? 0 : times(2.25 * 0x1p-53, more);
    k.excess = times(above(times(excess_, growth_of_sums) + own), more);
    k.growth = grows ? 1 : times(growth_of_products_, more);
    k.in_factors = times(2 * (loses_ ? 2 : 1) * t, phi);
    k.in_states = times(3 * (loses_ ? 3 * t + 1 : t), phi);
    return k;
  }
};

bool ScanTile::serves(const ScanRule& rule) {
  const Format& f = rule.format;
  if (target_of(f) != to_other) return !(rule.in_order && rule.flushes());
  // Products of two values, and sums of two, rounded to float64 first are rounded once: 53 >= 2p + 2, far from its own ends.
  return !(rule.in_order && rule.flushes()) && f.precision() <= 24 && f.emin() - f.precision() > -400 && f.emax() < 400 && BulkRounding(f, {}).is_fast();
}

ScanTile::ScanTile(const ScanRule& rule, std::size_t lines, const double* init_lo, const double* init_hi)
    : loops_(std::make_unique<Loops>(rule, lines, init_lo, init_hi)) {
  if (init_hi != init_lo) loops_->expect_sets();
}
ScanTile::~ScanTile() = default;
void ScanTile::run(const ScanStepRow* rows, std::size_t steps, bool streams) {
  if (steps == 0) return;
  if (rows[0].a_hi != rows[0].a_lo || rows[0].b_hi != rows[0].b_lo) loops_->expect_sets();
  loops_->run(rows, steps, streams);
}
void ScanTile::open(std::size_t line) { loops_->open(line); }
bool ScanTile::is_open(std::size_t line) const { return loops_->is_open(line); }

}  // namespace erx
