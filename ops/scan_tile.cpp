#include "ops/scan_tile.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <type_traits>

#include "ops/clones.hpp"
#include "ops/planted.hpp"
#include "ops/round_bulk.hpp"
#include "ops/sum_rule.hpp"

namespace erx {
namespace {

constexpr std::size_t block = 16;   // a loop of constant length is vectorised at -O2 too
constexpr std::size_t at_once = 4;  // steps of a line

// Rounding into the format: to nearest; and of ends, to the nearest value within.
struct ToF32 {
  [[gnu::always_inline]] double near(double x) const { return static_cast<double>(static_cast<float>(x)); }
  /// The float beyond where the nearest one lies outside. (Of zeros -0 is never below a positive end, nor +0 above a negative one.)
  [[gnu::always_inline]] double up(double x) const {
    const float f = static_cast<float>(x);
    const std::int32_t bits = std::bit_cast<std::int32_t>(f), toward = 1 | (bits >> 31);
    return std::bit_cast<float>(bits + (toward & -static_cast<std::int32_t>(static_cast<double>(f) < x)));
  }
  [[gnu::always_inline]] double down(double x) const {
    const float f = static_cast<float>(x);
    const std::int32_t bits = std::bit_cast<std::int32_t>(f), toward = 1 | (bits >> 31);
    return std::bit_cast<float>(bits - (toward & -static_cast<std::int32_t>(static_cast<double>(f) > x)));
  }
};
struct ToF64 {
  [[gnu::always_inline]] double near(double x) const { return x; }
  [[gnu::always_inline]] double up(double x) const { return x; }
  [[gnu::always_inline]] double down(double x) const { return x; }
};
struct ToFormat {
  BulkConstants nearest, above, below;
  [[gnu::always_inline]] double near(double x) const { return bulk::round_one<Mode::rne>(x, nearest); }
  [[gnu::always_inline]] double up(double x) const { return bulk::round_one<Mode::rtp>(x, above); }
  [[gnu::always_inline]] double down(double x) const { return bulk::round_one<Mode::rtn>(x, below); }
};

[[gnu::always_inline]] inline double larger(double a, double b) { return a > b ? a : b; }
[[gnu::always_inline]] inline double smaller(double a, double b) { return a < b ? a : b; }

/// What the bound keeps of every line: as ScanBound, in float64. G and its largest value in formats of few bits only: elsewhere
/// (1+u)^t B and (1+u)^t R S are as good.
struct BoundState {
  double *lo, *hi, *sums, *products, *total, *range, *largest, *grown, *peak;
};
/// Numbers of one step: 1 + u, u, what float64 loses of the state, the factor of B (or G), and of what is lost near zero; all larger
/// by what float64 loses of what they multiply.
struct BoundNumbers {
  double growth, u, own, excess, in_factors, in_states;
};

template <bool single, class Rounding>
struct BoundLine {
  static constexpr bool grows = std::is_same_v<Rounding, ToFormat>, owns = std::is_same_v<Rounding, ToF64>;
  double lo, hi, sums, products, total, range, largest, grown, peak;

  [[gnu::always_inline]] BoundLine(const BoundState& s, std::size_t i)
      : lo(s.lo[i]), hi(single ? lo : s.hi[i]), sums(s.sums[i]), products(s.products[i]), total(s.total[i]), range(s.range[i]), largest(s.largest[i]),
        grown(grows ? s.grown[i] : 0), peak(grows ? s.peak[i] : 0) {}

  [[gnu::always_inline]] void store(const BoundState& s, std::size_t i) const {
    s.lo[i] = lo;
    if constexpr (!single) s.hi[i] = hi;
    s.sums[i] = sums;
    s.products[i] = products;
    s.total[i] = total;
    s.range[i] = range;
    s.largest[i] = largest;
    if constexpr (grows) s.grown[i] = grown, s.peak[i] = peak;
  }

  [[gnu::always_inline]] void step(const ScanStepRow& row, const BoundNumbers& k, const Rounding& round, std::size_t i) {
    const double a = row.a_lo[i], b = row.b_lo[i];
    const double a_hi = single ? a : row.a_hi[i], b_hi = single ? b : row.b_hi[i];
    const double size = single ? bulk::magnitude(a) : larger(bulk::magnitude(a), bulk::magnitude(a_hi));
    const double term = single ? bulk::magnitude(b) : larger(bulk::magnitude(b), bulk::magnitude(b_hi));
    if constexpr (single) {
      lo = hi = a * lo + b;
    } else {
      const double p = a * lo, q = a * hi, r = a_hi * lo, t = a_hi * hi;
      lo = smaller(smaller(p, q), smaller(r, t)) + b;
      hi = larger(larger(p, q), larger(r, t)) + b_hi;
    }
    const double carried = size * sums;
    sums = carried + term;
    products = k.growth * (size * products) + k.u * carried;
    if constexpr (owns) products += k.own * sums;
    total += term;
    range = size * larger(1.0, range);
    largest = larger(largest, range);
    if constexpr (grows) {
      grown = k.growth * (size * grown) + term;
      peak = larger(peak, grown);
    }
    const double lost = largest * largest * (k.in_factors * total + k.in_states);
    const double radius = k.excess * (grows ? grown : sums) + products + lost;
    row.lo[i] = round.up(lo - radius);
    row.hi[i] = round.down(hi + radius);
  }
};

/// Several steps of each line at a time: what is kept of it stays in registers.
template <bool single, std::size_t steps, class Rounding>
[[gnu::always_inline]] inline void bound_steps(const ScanStepRow* rows, const BoundState& state, const BoundNumbers* numbers, const Rounding& rounding, std::size_t n) {
  ScanStepRow r[steps];
  BoundNumbers k[steps];
  for (std::size_t t = 0; t < steps; ++t) r[t] = rows[t], k[t] = numbers[t];
  const BoundState s = state;
  const Rounding round = rounding;
  const auto line = [&](std::size_t i) __attribute__((always_inline)) {
    BoundLine<single, Rounding> kept(s, i);
#pragma GCC unroll 4
    for (std::size_t t = 0; t < steps; ++t) kept.step(r[t], k[t], round, i);
    kept.store(s, i);
  };
  std::size_t i = 0;
  for (; i + block <= n; i += block) {
    ERX_INDEPENDENT
    for (std::size_t j = i; j < i + block; ++j) line(j);
  }
  for (; i < n; ++i) line(i);
}

template <bool single, class Rounding>
[[gnu::always_inline]] inline void bound_rows_of(const ScanStepRow* rows, const BoundState& state, const BoundNumbers* numbers, std::size_t steps, const Rounding& rounding, std::size_t n) {
  std::size_t t = 0;
  for (; t + at_once <= steps; t += at_once) bound_steps<single, at_once>(rows + t, state, numbers + t, rounding, n);
  for (; t < steps; ++t) bound_steps<single, 1>(rows + t, state, numbers + t, rounding, n);
}

/// The sum of two doubles with an odd last bit where it is inexact: rounded again into a format of at most 51 bits, it is rounded once.
/// source: Boldo & Melquiond, IEEE Trans. Computers 57 (2008) 462.
[[gnu::always_inline]] inline double odd_sum(double a, double b) {
  const double s = a + b, t = s - a, residual = (a - (s - t)) + (b - t);
  const std::int64_t bits = std::bit_cast<std::int64_t>(s);
  const std::int64_t away = (std::bit_cast<std::int64_t>(residual) ^ bits) >> 63;  // 0: the rest has the sign of s, -1: not
  const std::int64_t needed = -static_cast<std::int64_t>(residual != 0) & ((bits & 1) - 1);
  return std::bit_cast<double>(bits + (needed & (1 | away)));
}

struct OrderState {
  double *lo, *hi, *worst;
};
/// One product and addition of known ends, rounded: fused, separately, or the hull of both.
template <Contraction contraction, bool f64, bool least, class Rounding>
[[gnu::always_inline]] inline double rounded_step(double a, double x, double b, const Rounding& round, double& worst) {
  const double p = a * x;
  double separate = 0, fused = 0;
  if constexpr (contraction != Contraction::always) {
    const double q = round.near(p), s = q + b;
    worst = larger(larger(bulk::magnitude(p), bulk::magnitude(s)), worst);
    separate = round.near(s);
  }
  if constexpr (contraction != Contraction::never) {
    const double s = f64 ? std::fma(a, x, b) : planted(Mistake::scan_rounded_twice) ? p + b : odd_sum(p, b);
    worst = larger(bulk::magnitude(s), worst);
    fused = round.near(s);
  }
  if constexpr (contraction == Contraction::always) return fused;
  if constexpr (contraction == Contraction::never) return separate;
  return least ? smaller(separate, fused) : larger(separate, fused);
}

template <Contraction contraction, bool single, bool f64, class Rounding>
struct OrderLine {
  static constexpr bool one_value = single && contraction != Contraction::free;
  double lo, hi, worst;  // worst: the largest magnitude so far, before rounding; a NaN comes only after an infinity
  [[gnu::always_inline]] OrderLine(const OrderState& s, std::size_t i) : lo(s.lo[i]), hi(one_value ? lo : s.hi[i]), worst(s.worst[i]) {}
  [[gnu::always_inline]] void store(const OrderState& s, std::size_t i) const {
    s.lo[i] = lo;
    if constexpr (!one_value) s.hi[i] = hi;
    s.worst[i] = worst;
  }

  template <bool least>
  [[gnu::always_inline]] double one(double a, double x, double b, const Rounding& round) {
    return rounded_step<contraction, f64, least>(a, x, b, round, worst);
  }
  [[gnu::always_inline]] void step(const ScanStepRow& row, const Rounding& round, std::size_t i) {
    const double a = row.a_lo[i], b = row.b_lo[i];
    if constexpr (one_value) {
      lo = hi = one<true>(a, lo, b, round);
    } else {
      const double b_hi = single ? b : row.b_hi[i], x = lo, y = hi;
      lo = smaller(one<true>(a, x, b, round), one<true>(a, y, b, round));
      hi = larger(one<false>(a, x, b_hi, round), one<false>(a, y, b_hi, round));
      if constexpr (!single) {
        const double c = row.a_hi[i];
        lo = smaller(lo, smaller(one<true>(c, x, b, round), one<true>(c, y, b, round)));
        hi = larger(hi, larger(one<false>(c, x, b_hi, round), one<false>(c, y, b_hi, round)));
      }
    }
    row.lo[i] = lo;
    row.hi[i] = hi;
  }
};

template <Contraction contraction, bool single, bool f64, std::size_t steps, class Rounding>
[[gnu::always_inline]] inline void order_steps(const ScanStepRow* rows, const OrderState& state, const Rounding& rounding, std::size_t n) {
  ScanStepRow r[steps];
  for (std::size_t t = 0; t < steps; ++t) r[t] = rows[t];
  const OrderState s = state;
  const Rounding round = rounding;
  const auto line = [&](std::size_t i) __attribute__((always_inline)) {
    OrderLine<contraction, single, f64, Rounding> kept(s, i);
#pragma GCC unroll 4
    for (std::size_t t = 0; t < steps; ++t) kept.step(r[t], round, i);
    kept.store(s, i);
  };
  std::size_t i = 0;
  for (; i + block <= n; i += block) {
    ERX_INDEPENDENT
    for (std::size_t j = i; j < i + block; ++j) line(j);
  }
  for (; i < n; ++i) line(i);
}

template <Contraction contraction, bool single, bool f64, class Rounding>
[[gnu::always_inline]] inline void order_rows_of(const ScanStepRow* rows, const OrderState& state, std::size_t steps, const Rounding& rounding, std::size_t n) {
  std::size_t t = 0;
  if constexpr (single)
    for (; t + at_once <= steps; t += at_once) order_steps<contraction, single, f64, at_once>(rows + t, state, rounding, n);
  for (; t < steps; ++t) order_steps<contraction, single, f64, 1>(rows + t, state, rounding, n);
}

using BoundRow = void (*)(const ScanStepRow*, const BoundState&, const BoundNumbers*, std::size_t steps, const ToFormat&, std::size_t lines);
using OrderRow = void (*)(const ScanStepRow*, const OrderState&, std::size_t steps, const ToFormat&, std::size_t lines);

#define ERX_BOUND(name, single, rounding)                                                                                                      \
  ERX_VECTOR_CLONES void name(const ScanStepRow* r, const BoundState& s, const BoundNumbers* k, std::size_t steps, const ToFormat& to, std::size_t n) { \
    (void)to;                                                                                                                                \
    bound_rows_of<single>(r, s, k, steps, rounding, n);                                                                                      \
  }
ERX_BOUND(bound_f32, true, ToF32{})
ERX_BOUND(bound_f32_sets, false, ToF32{})
ERX_BOUND(bound_f64, true, ToF64{})
ERX_BOUND(bound_f64_sets, false, ToF64{})
ERX_BOUND(bound_format, true, to)
ERX_BOUND(bound_format_sets, false, to)
#undef ERX_BOUND

#define ERX_ORDER(name, contraction, single, f64, rounding)                                                                        \
  ERX_VECTOR_CLONES void name(const ScanStepRow* r, const OrderState& s, std::size_t steps, const ToFormat& to, std::size_t n) { \
    (void)to;                                                                                                                    \
    order_rows_of<Contraction::contraction, single, f64>(r, s, steps, rounding, n);                                              \
  }
ERX_ORDER(free_f32, free, true, false, ToF32{})
ERX_ORDER(free_f32_sets, free, false, false, ToF32{})
ERX_ORDER(always_f32, always, true, false, ToF32{})
ERX_ORDER(always_f32_sets, always, false, false, ToF32{})
ERX_ORDER(never_f32, never, true, false, ToF32{})
ERX_ORDER(never_f32_sets, never, false, false, ToF32{})
ERX_ORDER(free_f64, free, true, true, ToF64{})
ERX_ORDER(free_f64_sets, free, false, true, ToF64{})
ERX_ORDER(always_f64, always, true, true, ToF64{})
ERX_ORDER(always_f64_sets, always, false, true, ToF64{})
ERX_ORDER(never_f64, never, true, true, ToF64{})
ERX_ORDER(never_f64_sets, never, false, true, ToF64{})
ERX_ORDER(free_format, free, true, false, to)
ERX_ORDER(free_format_sets, free, false, false, to)
ERX_ORDER(always_format, always, true, false, to)
ERX_ORDER(always_format_sets, always, false, false, to)
ERX_ORDER(never_format, never, true, false, to)
ERX_ORDER(never_format_sets, never, false, false, to)
#undef ERX_ORDER

enum Target { to_f32, to_f64, to_other };
Target target_of(const Format& f) { return f == *find_format("f32") ? to_f32 : f == *find_format("f64") ? to_f64 : to_other; }

constexpr BoundRow bound_rows[3][2] = {{bound_f32_sets, bound_f32}, {bound_f64_sets, bound_f64}, {bound_format_sets, bound_format}};
constexpr OrderRow order_rows[3][3][2] = {
    {{free_f32_sets, free_f32}, {always_f32_sets, always_f32}, {never_f32_sets, never_f32}},
    {{free_f64_sets, free_f64}, {always_f64_sets, always_f64}, {never_f64_sets, never_f64}},
    {{free_format_sets, free_format}, {always_format_sets, always_format}, {never_format_sets, never_format}}};

ToFormat to_format(const Format& f) {
  const auto constants = [&](Mode mode) { return BulkRounding(f, {mode, Overflow::sat, Flush::no}).constants(); };
  return {BulkRounding(f, {}).constants(), constants(Mode::rtp), constants(Mode::rtn)};
}

ERX_VECTOR_CLONES void zeros_within(const double* lo, const double* hi, std::uint8_t flag, std::uint8_t* flags, std::size_t n) {
  for (std::size_t i = 0; i < n; ++i) flags[i] = static_cast<std::uint8_t>((lo[i] <= 0) & (hi[i] >= 0)) * flag;
}

/// Of single values: the sign that each zero has.
ERX_VECTOR_CLONES void signs_of_zeros(const double* x, std::uint8_t* flags, std::size_t n) {
  for (std::size_t i = 0; i < n; ++i) {
    const auto minus = static_cast<std::uint8_t>(std::bit_cast<std::uint64_t>(x[i]) >> 63);
    flags[i] = static_cast<std::uint8_t>(x[i] == 0) * static_cast<std::uint8_t>(has_pzero + minus * (has_nzero - has_pzero));
  }
}

}  // namespace

class ScanTile::Loops {
 public:
  Loops(const ScanRule& rule, std::size_t lines, const double* init_lo, const double* init_hi)
      : rule_(rule), lines_(lines), has_init_(init_lo != nullptr), target_(target_of(rule.format)), open_(lines, 0), values_(9 * lines, 0.0) {
    const Format& f = rule.format;
    if (target_ == to_other) to_ = to_format(f);
    zero_ = static_cast<std::uint8_t>(has_pzero | (f.has_negative_zero() ? has_nzero : 0));
    if (rule.in_order) {
      order_ = {array(0), array(1), array(2)};
    } else {
      bound_ = {array(0), array(1), array(2), array(3), array(4), array(5), array(6), array(7), array(8)};
      std::fill_n(bound_.range, lines, 1.0);
      std::fill_n(bound_.largest, lines, 1.0);
      loses_ = rule.flushes() || !f.has_subnormals;
      // float64 itself loses up to 16 of its smallest values in a step. (Numbers below 2^-1022 would be slow.)
      phi_ = std::max(up((loses_ ? f.min_normal() : half_of(f.min_positive())) + 0x1p-1070), 0x1p-1018);
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

  void run(const ScanStepRow* rows, std::size_t steps) {
    const bool single = single_ && rows[0].a_hi == rows[0].a_lo && rows[0].b_hi == rows[0].b_lo;
    if (rule_.in_order) {
      order_rows[target_][static_cast<int>(rule_.contraction)][single](rows, order_, steps, to_, lines_);
      const bool one_value = single && rule_.contraction != Contraction::free;
      for (std::size_t t = 0; t < steps; ++t) {
        if (one_value) signs_of_zeros(rows[t].lo, rows[t].flags, lines_);
        else zeros_within(rows[t].lo, rows[t].hi, zero_, rows[t].flags, lines_);
      }
      // A line that starts at 0 may have b_1 itself for h_1, with its sign.
      if (steps_ == 0 && one_value)
        for (std::size_t i = 0; i < lines_; ++i)
          if (rows[0].b_lo[i] == 0 && starts_at_zero_[i]) rows[0].flags[i] |= std::uint8_t{std::signbit(rows[0].b_lo[i]) ? has_nzero : has_pzero};
      steps_ += static_cast<std::int64_t>(steps);
      return;
    }
    numbers_.clear();
    for (std::size_t t = 0; t < steps; ++t) numbers_.push_back(next());
    bound_rows[target_][single](rows, bound_, numbers_.data(), steps, to_, lines_);
    for (std::size_t t = 0; t < steps; ++t) zeros_within(rows[t].lo, rows[t].hi, zero_, rows[t].flags, lines_);
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
  ToFormat to_{};
  std::vector<std::uint8_t> open_, starts_at_zero_;
  std::vector<double> values_;
  BoundState bound_{};
  OrderState order_{};
  std::vector<BoundNumbers> numbers_;
  double u_ = 0, growth_ = 1, phi_ = 0, excess_ = 0, power_ = 1, total_growth_ = 1;
  std::int64_t steps_ = 0;

  double* array(std::size_t k) { return values_.data() + k * lines_; }
  /// Sums and products of non-negative numbers lose at most this by 8t + 32 roundings.
  double inflation() const { return 1 + up((8 * static_cast<double>(steps_) + 32) * 0x1p-52); }

  /// Of the next step. What float64 loses of the state is at most 2.25 2^-53 B_s in step s, and is carried as products are; where u
  /// is much larger, t times that of B_t does.
  BoundNumbers next() {
    ++steps_;
    const double t = static_cast<double>(steps_), more = inflation();
    if (steps_ > 1 || has_init_) {
      excess_ = up(up(product_up(excess_, growth_)) + u_);
      power_ = product_up(power_, growth_);
      total_growth_ = product_up(total_growth_, growth_);
    }
    total_growth_ = product_up(total_growth_, growth_);
    const double phi = steps_ == 1 && !has_init_ && !loses_ ? 0 : product_up(product_up(phi_, more), product_up(total_growth_, growth_));
    // G_t <= (1+u)^t B_t
    const double growth_of_sums = target_ == to_other ? 1 : product_up(total_growth_, growth_);
    const double own = target_ == to_f64 ? 0x1p-51 : (t + 4) * 0x1p-51;
    return {product_up(growth_, 1 + 0x1p-50), product_up(u_, more), product_up(2.25 * 0x1p-53, more), product_up(up(product_up(excess_, growth_of_sums) + own), more),
            product_up(2 * (loses_ ? 2 : 1) * t, phi), product_up(3 * (loses_ ? 3 * t + 1 : t), phi)};
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
void ScanTile::run(const ScanStepRow* rows, std::size_t steps) {
  if (steps == 0) return;
  if (rows[0].a_hi != rows[0].a_lo || rows[0].b_hi != rows[0].b_lo) loops_->expect_sets();
  loops_->run(rows, steps);
}
void ScanTile::open(std::size_t line) { loops_->open(line); }
bool ScanTile::is_open(std::size_t line) const { return loops_->is_open(line); }

}  // namespace erx
