#include "tests/format/judge.hpp"

#include <algorithm>
#include <bit>
#include <cstdio>
#include <limits>

namespace erx::judging {
namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();
constexpr double nan_value = std::numeric_limits<double>::quiet_NaN();

bool is_integer_odd(const mpq_class& q) { return q.get_den() == 1 && mpz_odd_p(q.get_num_mpz_t()); }

/// floor(log2 x) of a positive rational.
int exponent_of(const mpq_class& x) {
  int e = static_cast<int>(mpz_sizeinbase(x.get_num_mpz_t(), 2)) - static_cast<int>(mpz_sizeinbase(x.get_den_mpz_t(), 2));
  while (power_of_two(e) > x) --e;
  while (power_of_two(e + 1) <= x) ++e;
  return e;
}

mpz_class floor_of(const mpq_class& x) {
  mpz_class q;
  mpz_fdiv_q(q.get_mpz_t(), x.get_num_mpz_t(), x.get_den_mpz_t());
  return q;
}

}  // namespace

mpq_class power_of_two(int e) {
  mpz_class p;
  mpz_ui_pow_ui(p.get_mpz_t(), 2, static_cast<unsigned long>(std::abs(e)));
  return e >= 0 ? mpq_class(p) : mpq_class(mpz_class(1), p);
}

Meaning meaning(const Format& f, std::uint64_t bits) {
  const int e = f.exponent_bits, m = f.fraction_bits;
  const std::uint64_t fraction = bits & ((std::uint64_t{1} << m) - 1), exponent = (bits >> m) & ((std::uint64_t{1} << e) - 1);
  Meaning out;
  out.negative = f.has_sign && (bits >> (e + m)) & 1;
  const bool top_exponent = exponent == (std::uint64_t{1} << e) - 1, top_fraction = fraction == (std::uint64_t{1} << m) - 1;
  if (top_exponent && f.infinities == Infinities::ieee && fraction == 0) {
    out.kind = Meaning::Kind::infinite;
  } else if (top_exponent && f.nans == Nans::ieee) {
    out.kind = Meaning::Kind::nan;
  } else if (top_exponent && top_fraction && f.nans == Nans::top) {
    out.kind = Meaning::Kind::nan;
  } else if (top_exponent && f.infinities == Infinities::ieee) {
    out.kind = Meaning::Kind::none;
  } else if (f.nans == Nans::negzero && out.negative && exponent == 0 && fraction == 0) {
    out.kind = Meaning::Kind::nan;
  } else {
    out.kind = Meaning::Kind::finite;
    const mpq_class scaled = mpq_class(mpz_class(static_cast<unsigned long>(fraction))) * power_of_two(-m);
    if (exponent == 0 && f.has_zero) {
      if (f.has_subnormals) out.magnitude = scaled * power_of_two(1 - f.bias);
    } else {
      out.magnitude = (1 + scaled) * power_of_two(static_cast<int>(exponent) - f.bias);
    }
    if (out.magnitude == 0 && f.nans == Nans::negzero) out.negative = false;
  }
  return out;
}

Judge::Judge(Format format, Planted planted) : format_(std::move(format)), planted_(planted) {
  const Format& f = format_;
  if (planted == Planted::no_subnormals) format_.has_subnormals = false;
  const int magnitude_bits = f.exponent_bits + f.fraction_bits;
  if (f.width() <= 16) {
    for (std::uint64_t bits = 0; bits < std::uint64_t{1} << magnitude_bits; ++bits) {
      const Meaning v = meaning(f, bits);
      if (v.kind == Meaning::Kind::finite && (magnitudes_.empty() || v.magnitude > magnitudes_.back())) magnitudes_.push_back(v.magnitude);
    }
    largest_ = magnitudes_.back();
  } else {
    for (std::uint64_t bits = (std::uint64_t{1} << magnitude_bits) - 1;; --bits) {
      const Meaning v = meaning(f, bits);
      if (v.kind != Meaning::Kind::finite) {
        if (v.kind == Meaning::Kind::nan && f.nans == Nans::ieee) bits &= ~((std::uint64_t{1} << f.fraction_bits) - 1);  // past all NaNs
        continue;
      }
      largest_ = v.magnitude;
      break;
    }
  }
  largest_is_odd_ = is_integer_odd(largest_ / power_of_two(exponent_of(largest_) - f.fraction_bits));
}

/// From the largest value to the next one that the precision of the format would allow.
mpq_class Judge::step_after_largest() const { return power_of_two(exponent_of(largest_) - format_.fraction_bits); }

const Neighbours& Judge::neighbours(const mpq_class& a) const {
  if (a != last_asked_) {
    last_answer_ = find_neighbours(a);
    last_asked_ = a;
  }
  return last_answer_;
}

Neighbours Judge::find_neighbours(const mpq_class& a) const {
  Neighbours n;
  const Format& f = format_;
  if (!magnitudes_.empty() && a < largest_) {
    // From the list; a format without zero has nothing below its smallest value.
    auto above = std::upper_bound(magnitudes_.begin(), magnitudes_.end(), a);
    n.above = *above;
    if (above == magnitudes_.begin()) {
      n.below = n.above;
    } else {
      n.below = *(above - 1);
    }
    if (n.below == a) n.above = a;
    if (n.below != 0) {
      const int e = std::max(exponent_of(n.below), f.emin());
      n.below_is_odd = is_integer_odd(n.below / power_of_two(e - f.fraction_bits));
    }
    return n;
  }
  mpq_class quantum;
  if (a != 0 && exponent_of(a) >= f.emin()) {
    quantum = power_of_two(exponent_of(a) - f.fraction_bits);
  } else {
    quantum = power_of_two(f.emin() - (f.has_subnormals ? f.fraction_bits : 0));
  }
  const mpz_class whole = floor_of(a / quantum);
  n.below = whole * quantum;
  n.above = n.below == a ? a : mpq_class(n.below + quantum);
  n.below_is_odd = mpz_odd_p(whole.get_mpz_t());
  return n;
}

bool Judge::overflows(const mpq_class& x, const Rounding& r) const {
  const Format& f = format_;
  const bool negative = x < 0, saturating = r.overflow == Overflow::sat || r.overflow == Overflow::sat_finite;
  const mpq_class a = abs(x);
  if (!f.has_zero && x <= 0) return x < 0 || !saturating;
  const bool nearest = r.mode == Mode::rne || r.mode == Mode::rna;
  const bool none_on_this_side = negative && !f.has_sign;
  const mpq_class last = none_on_this_side ? mpq_class(0) : largest_;
  if (!nearest && !(planted_ == Planted::nearest_point_for_up && r.mode == Mode::rtp)) return a > last;
  const mpq_class step = none_on_this_side ? power_of_two(f.emin() - (f.has_subnormals ? f.fraction_bits : 0)) : step_after_largest();
  const mpq_class point = last + step / 2;
  const bool last_is_odd = none_on_this_side ? false : largest_is_odd_;
  bool closed = r.mode == Mode::rna || last_is_odd;  // the tie goes past the last value
  if (planted_ == Planted::closed_where_even && r.mode == Mode::rne) closed = true;
  if (planted_ == Planted::open_for_away && r.mode == Mode::rna) closed = false;
  if (planted_ == Planted::open_where_odd && r.mode == Mode::rne) closed = false;
  return closed ? a >= point : a > point;
}

double Judge::overflow(bool negative, const Rounding& r) const {
  const Format& f = format_;
  const bool has_values = !negative || f.has_sign;
  const double last = has_values ? (negative ? -largest_.get_d() : largest_.get_d()) : f.has_zero ? 0.0 : magnitudes_.front().get_d();
  if (r.overflow == Overflow::sat || r.overflow == Overflow::sat_finite) return last;
  const bool infinite = f.has_infinity() && has_values;
  const double past = infinite ? (negative ? -infinity : infinity) : nan_value;
  if (r.overflow == Overflow::nosat) return past;
  if (!infinite && !f.has_nan()) return last;
  const bool toward_zero = r.mode == Mode::rtz || (r.mode == Mode::rtp && negative) || (r.mode == Mode::rtn && !negative) ||
                           r.mode == Mode::rto;
  if (toward_zero && (f.has_zero || !negative)) return last;  // IEEE 754-2019 7.4
  return past;
}

double Judge::round(const mpq_class& x, const Rounding& r, bool negative_zero) const {
  const Format& f = format_;
  const bool negative = x < 0 || (x == 0 && negative_zero);
  if (overflows(x, r)) return overflow(negative || x == 0, r);
  if (!f.has_zero && x <= magnitudes_.front()) return magnitudes_.front().get_d();
  const mpq_class a = abs(x);
  const Neighbours& n = neighbours(a);
  mpq_class result = n.below;
  if (n.above != n.below) {
    const mpq_class down = a - n.below, up = n.above - a;
    bool away = false;
    switch (r.mode) {
      case Mode::rne: away = up < down || (up == down && (n.below_is_odd || planted_ == Planted::ties_up)); break;
      case Mode::rna: away = up <= down; break;
      case Mode::rtz: away = false; break;
      case Mode::rtp: away = !negative; break;
      case Mode::rtn: away = negative; break;
      default: away = !n.below_is_odd; break;  // rto
    }
    if (away) result = n.above;
  }
  if (result > largest_) result = largest_;
  if (r.flush == Flush::yes && f.has_zero && result < power_of_two(f.emin())) result = 0;
  const double d = result.get_d();
  if (d == 0 && !f.has_negative_zero() && planted_ != Planted::zero_keeps_sign) return 0.0;
  return negative ? -d : d;
}

Chopped chopped(const mpq_class& x) {
  Chopped c;
  c.negative = x < 0;
  const mpq_class a = abs(x);
  if (a == 0) return c;
  c.exponent = exponent_of(a);
  const mpq_class scaled = a * power_of_two(63 - c.exponent);
  const mpz_class whole = floor_of(scaled);
  c.significand = mpz_get_ui(whole.get_mpz_t());
  c.sticky = scaled != whole;
  return c;
}

mpq_class exactly(double x) {
  mpq_class q;
  mpq_set_d(q.get_mpq_t(), x);
  return q;
}

bool same(double a, double b) {
  if (std::isnan(a) || std::isnan(b)) return std::isnan(a) && std::isnan(b);
  return std::bit_cast<std::uint64_t>(a) == std::bit_cast<std::uint64_t>(b);
}

std::string hex(double x) {
  char text[64];
  std::snprintf(text, sizeof text, "%a", x);
  return text;
}

std::vector<Format> small_formats() {
  std::vector<Format> all;
  for (const Format& f : all_formats())
    if (f.width() <= 8) all.push_back(f);
  using I = Infinities;
  using N = Nans;
  for (const FormatParameters& p : std::vector<FormatParameters>{
           {.e = 5, .m = 3, .subnormals = false},
           {.e = 4, .m = 2, .bias = 3, .inf = I::none, .nan = N::negzero, .subnormals = false},
           {.e = 3, .m = 2, .inf = I::none, .nan = N::none},
           {.e = 4, .m = 4, .sign = false},
           {.e = 4, .m = 4, .sign = false, .inf = I::none, .nan = N::top},
           {.e = 3, .m = 3, .sign = false, .inf = I::none, .nan = N::none, .subnormals = false},
           {.e = 2, .m = 1},
           {.e = 1, .m = 3, .inf = I::none, .nan = N::none},
           {.e = 1, .m = 3, .inf = I::none, .nan = N::top},
           {.e = 1, .m = 1, .inf = I::none, .nan = N::top},  // 0, 1, 2: as if m were 0
           {.e = 4, .m = 0, .inf = I::none, .nan = N::top},
           {.e = 4, .m = 0, .inf = I::ieee, .nan = N::none},
           {.e = 3, .m = 0, .inf = I::none, .nan = N::negzero, .subnormals = false},
           {.e = 4, .m = 3, .inf = I::none, .nan = N::ieee},
           {.e = 4, .m = 3, .inf = I::ieee, .nan = N::negzero},
           {.e = 4, .m = 3, .inf = I::ieee, .nan = N::top},
           {.e = 4, .m = 3, .bias = 1072},    // the smallest values of float64
           {.e = 4, .m = 3, .bias = -1009},   // the largest
           {.e = 3, .m = 4, .bias = -60}})
    all.push_back(make_format(p));
  return all;
}

std::vector<Format> wide_formats() {
  std::vector<Format> all = {*find_format("f64"), *find_format("f32"), *find_format("tf32")};
  using I = Infinities;
  using N = Nans;
  for (const FormatParameters& p : std::vector<FormatParameters>{{.e = 8, .m = 15},
                                                                {.e = 11, .m = 50},
                                                                {.e = 10, .m = 49},
                                                                {.e = 10, .m = 50},
                                                                {.e = 10, .m = 51},
                                                                {.e = 8, .m = 23, .inf = I::none, .nan = N::top},
                                                                {.e = 6, .m = 40, .bias = 1030},
                                                                {.e = 6, .m = 40, .bias = -960},
                                                                {.e = 8, .m = 23, .inf = I::none, .nan = N::negzero, .subnormals = false}})
    all.push_back(make_format(p));
  return all;
}

std::vector<mpq_class> critical_points(const Judge& judge) {
  std::vector<mpq_class> stops = judge.magnitudes();
  const mpq_class last = stops.back(), step = power_of_two(exponent_of(last) - judge.format().fraction_bits);
  for (int k = 1; k <= 3; ++k) stops.push_back(last + k * step);
  std::vector<mpq_class> points;
  const mpq_class tiny = power_of_two(-60), tinier = power_of_two(-80);  // within the 64 bits handed over, and beyond
  const auto around = [&](const mpq_class& x) {
    points.push_back(x);
    if (x == 0) return;
    for (const mpq_class& relative : {tiny, tinier}) points.insert(points.end(), {x - x * relative, x + x * relative});
  };
  for (std::size_t i = 0; i < stops.size(); ++i) {
    around(stops[i]);
    if (i + 1 < stops.size()) around((stops[i] + stops[i + 1]) / 2);
  }
  const mpq_class smallest = stops.front() == 0 ? stops[1] : stops.front();
  for (const mpq_class& x : std::vector<mpq_class>{smallest * tiny, smallest * power_of_two(-64), smallest * power_of_two(-200), last * 4, last * power_of_two(80)})
    points.push_back(x);
  const std::size_t positive = points.size();
  for (std::size_t i = 0; i < positive; ++i) points.push_back(-points[i]);
  return points;
}

std::vector<double> random_doubles(const Format& f, std::size_t n, std::uint64_t seed) {
  std::mt19937_64 random(seed);
  std::vector<double> xs = {0.0,  -0.0, std::numeric_limits<double>::denorm_min(), std::numeric_limits<double>::max(),
                            -std::numeric_limits<double>::denorm_min(), -std::numeric_limits<double>::max(), std::numeric_limits<double>::min()};
  const auto beside = [&](double x) {
    for (double y : {x, std::nextafter(x, infinity), std::nextafter(x, -infinity)})
      if (std::isfinite(y)) xs.insert(xs.end(), {y, -y});
  };
  const double last = f.max_finite();
  for (double x : {last, last + std::ldexp(1.0, f.emax() - f.fraction_bits - 1), last + std::ldexp(1.0, f.emax() - f.fraction_bits), f.min_normal(),
                   f.min_positive(), f.min_positive() / 2, f.min_normal() - f.min_positive() / 2, f.min_positive() * 1.5})
    beside(x);
  const int lowest = f.emin() - f.fraction_bits - 3, highest = f.emax() + 3;
  while (xs.size() < n) {
    const std::uint64_t bits = random();
    const double any = std::bit_cast<double>(bits);
    if (std::isfinite(any)) xs.push_back(any);
    const double unit = 1.0 + std::ldexp(static_cast<double>(random() >> 12), -52);
    const double x = std::ldexp(unit, lowest + static_cast<int>(random() % static_cast<std::uint64_t>(highest - lowest)));
    if (!std::isfinite(x)) continue;
    xs.push_back(bits & 1 ? x : -x);
    // A value with one bit more than the format has is a value or a midpoint.
    const int keep = std::min(52, f.fraction_bits + 1);
    const double cut = std::bit_cast<double>(std::bit_cast<std::uint64_t>(x) >> (52 - keep) << (52 - keep));
    beside(cut);
  }
  return xs;
}

}  // namespace erx::judging
