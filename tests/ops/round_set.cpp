// Rounding of sets, judged by rounding every value between the ends; with planted mistakes.
#include <doctest/doctest.h>

#include <set>

#include "ops/round_set.hpp"
#include "tests/ops/support.hpp"

using namespace erx;
using namespace erx::test;

namespace {

constexpr Mode modes[] = {Mode::rne, Mode::rna, Mode::rtz, Mode::rtp, Mode::rtn, Mode::rto, Mode::sr, Mode::faithful};
constexpr Overflow overflows_[] = {Overflow::by_format, Overflow::sat, Overflow::sat_finite, Overflow::nosat};

/// What a set may become, as found by trying.
struct Found {
  double low = inf, high = -inf;
  std::uint8_t flags = 0;
  void add(double v) {
    if (std::isnan(v))
      flags |= has_nan;
    else if (std::isinf(v))
      flags |= v > 0 ? has_pinf : has_ninf;
    else {
      low = std::min(low, v);
      high = std::max(high, v);
      if (v == 0) flags |= std::signbit(v) ? has_nzero : has_pzero;
    }
  }
};

/// All values of a small format, and a point in each gap, each midpoint and its neighbours, and beyond both ends.
std::vector<double> grid(const Format& f) {
  std::set<double> values, points;
  for (std::uint64_t bits = 0; bits < std::uint64_t{1} << f.width(); ++bits) {
    const double v = decode(f, bits);
    if (std::isfinite(v)) values.insert(v == 0 ? 0 : v);
  }
  const double max = f.max_finite();
  double previous = -2 * max - 1;
  for (double v : values) {
    const double middle = previous + (v - previous) / 2;
    for (double p :
         {previous + (v - previous) / 4, std::nextafter(middle, -inf), middle, std::nextafter(middle, inf), v, std::nextafter(v, inf)})
      points.insert(p);
    previous = v;
  }
  const double last = max - next_down(f, max);
  for (double p : {max + last / 4, max + last / 2, std::nextafter(max + last / 2, inf), max + last, 2 * max, 100 * max, -100 * max,
                   -0x1p-1070, 0x1p-1070})
    points.insert(p);
  return {points.begin(), points.end()};
}

double flushed(double x, const Format& f) { return f.has_negative_zero() ? std::copysign(0.0, x) : 0.0; }

void round_one(double x, bool minus_zero, const Format& f, const Rounding& r, Found& found) {
  if (x == 0 && minus_zero) x = -0.0;
  const bool two = r.mode == Mode::sr || r.mode == Mode::faithful;
  if (!two) {
    if (r.flush != Flush::free) {
      found.add(round_to(x, f, r));
      // a result that rounds up to the smallest normal may count as subnormal
      Rounding plain = r;
      plain.flush = Flush::no;
      if (r.flush == Flush::yes && f.has_subnormals && std::fabs(x) < f.min_normal() && std::fabs(round_to(x, f, plain)) == f.min_normal())
        found.add(flushed(x, f));
    } else {
      Rounding plain = r;
      plain.flush = Flush::no;
      found.add(round_to(x, f, plain));
      if (std::fabs(x) < f.min_normal() && f.has_subnormals) found.add(flushed(x, f));
    }
    return;
  }
  // either neighbour; past the largest value that value or what overflow gives
  if (overflows(chop(x), f, r)) {
    found.add(overflow_result(std::signbit(x) || x == 0, f, r));
    if (x > f.max_finite() || ((f.has_sign || f.has_zero) && x < f.lowest())) found.add(x > 0 ? f.max_finite() : f.lowest());
    return;
  }
  Rounding down = r, up = r;
  down.mode = Mode::rtn;
  up.mode = Mode::rtp;
  round_one(x, minus_zero, f, down, found);
  round_one(x, minus_zero, f, up, found);
}

template <class R>
bool covers(const Set<R>& s, const Found& found) {
  if (found.flags & (has_nan | any_infinity) & ~s.flags) return false;
  if (found.low <= found.high) {
    if (!s.has_reals() || lower(s.lo) > found.low || upper(s.hi) < found.high) return false;
  }
  return !(found.flags & any_zero & ~s.flags);
}

/// Nothing that cannot happen.
template <class R>
bool is_sharp(const Set<R>& s, const Found& found) {
  if ((s.flags & (has_nan | any_infinity)) != (found.flags & (has_nan | any_infinity))) return false;
  if (s.has_reals() != (found.low <= found.high)) return false;
  return !s.has_reals() || (lower(s.lo) == found.low && upper(s.hi) == found.high);
}

const char* small_formats[] = {"f8e4m3fn",  "f8e5m2", "f8e4m3",   "f8e4m3fnuz", "f8e5m2fnuz",
                               "f8e8m0fnu", "f8e3m4", "f6e2m3fn", "f4e2m1fn",   "f6e3m2fn"};

}  // namespace

TEST_CASE("round of a set: every value between the ends, all 8-bit formats, modes and overflows") {
  Doubles random(20260107);
  long checked = 0;
  for (const char* name : small_formats) {
    const Format& f = *find_format(name);
    const std::vector<double> points = grid(f);
    for (Mode mode : modes)
      for (Overflow overflow : overflows_)
        for (Flush flush : {Flush::no, Flush::yes, Flush::free}) {
          const Rounding r{mode, overflow, flush};
          for (int round = 0; round < 40; ++round) {
            std::size_t i = random.bits() % points.size(), j = random.bits() % 3 ? random.bits() % points.size() : i;
            if (round % 4 == 0) j = std::min(points.size() - 1, i + random.bits() % 4);
            if (i > j) std::swap(i, j);
            Found found;
            const bool touches = points[i] <= 0 && points[j] >= 0;
            const std::uint8_t zeros = touches ? static_cast<std::uint8_t>((1 + random.bits() % 3) * has_pzero) : 0;
            for (std::size_t k = i; k <= j; ++k) {
              if (points[k] == 0) {
                if (zeros & has_pzero) round_one(0, false, f, r, found);
                if (zeros & has_nzero) round_one(0, true, f, r, found);
              } else {
                round_one(points[k], false, f, r, found);
              }
            }
            Attributes a;
            a.format = f;
            a.rounding = r;
            const auto check = [&](auto zero, Context c) {
              using R = decltype(zero);
              Set<R> x = i == j ? Set<R>::point(R::exact(points[i], c), zeros)
                                : Set<R>::between(R::exact(points[i], c), R::exact(points[j], c), zeros);
              const std::vector<Set<R>> operand = {x};
              const Set<R> s = formula<R>(op("round"))(operand, a, c);
              CAPTURE(f.name);
              CAPTURE(static_cast<int>(mode));
              CAPTURE(static_cast<int>(overflow));
              CAPTURE(static_cast<int>(flush));
              CAPTURE(show(x));
              CAPTURE(show(s));
              CAPTURE(hex(found.low) + " " + hex(found.high));
              CHECK(covers(s, found));
              CHECK(is_sharp(s, found));
              CHECK_FALSE(s.may_be(undecided));
              if (i == j && !rounds_freely(r)) CHECK(s.is_point);
              ++checked;
            };
            check(F64{}, {});
            check(Big{}, {128});
            check(Exact{}, {});
          }
        }
  }
  CHECK(checked > 100000);
}

TEST_CASE("round of a set: an open enclosure holds the rounding of every real in it") {
  Doubles random(20260108);
  for (const char* name : {"f8e4m3fn", "f8e5m2", "bf16", "f16", "f32", "f64", "f8e8m0fnu"}) {
    const Format& f = *find_format(name);
    for (Mode mode : modes)
      for (int round = 0; round < 500; ++round) {
        Rounding r{mode, overflows_[random.bits() % 4], static_cast<Flush>(random.bits() % 3)};
        double a = random.bits() % 2 ? random() : f.max_finite() * (1 + (double(random.bits() % 33) - 16) / 64);
        double b = random.bits() % 2 ? std::nextafter(a, inf) : random.bits() % 2 ? a * 1.125 : random();
        if (a > b) std::swap(a, b);
        if (!std::isfinite(b) || !std::isfinite(a)) continue;
        const std::uint8_t zeros = a <= 0 && b >= 0 ? static_cast<std::uint8_t>(random.bits() % 4 * has_pzero) : 0;
        const Set<F64> x = Set<F64>::point({a, b}, zeros);
        const Set<F64> s = round_set(x, f, r, {});
        for (double t : {0.0, 0.25, 0.5, 0.75, 1.0}) {
          double v = t == 0 ? a : t == 1 ? b : std::min(std::max(a * (1 - t) + b * t, a), b);
          if (v == 0 && !zeros) continue;
          if (v == 0) v = 0;
          Found found;
          if (v != 0 || (zeros & has_pzero)) round_one(v, false, f, r, found);
          if (v == 0 && (zeros & has_nzero)) round_one(v, true, f, r, found);
          CAPTURE(f.name);
          CAPTURE(static_cast<int>(mode));
          CAPTURE(show(x));
          CAPTURE(show(s));
          CAPTURE(hex(v));
          CHECK(covers(s, found));
        }
        if (!rounds_freely(r)) CHECK(s.is_point);
      }
  }
}

TEST_CASE("round of a set: planted mistakes are seen") {
  const Format& f = *find_format("f8e4m3fn");
  Found found;
  for (double x : grid(f))
    if (std::fabs(x) <= 500) round_one(x, false, f, {}, found);
  const Set<F64> right = round_set(Set<F64>::between({-500, -500}, {500, 500}, has_pzero), f, {}, {});
  CHECK(covers(right, found));
  CHECK(right.may_be(has_nan));
  CHECK(right.lo.d == -448);
  CHECK(right.hi.u == 448);
  // end points only: both are NaN, and everything between is lost
  CHECK_FALSE(covers(Set<F64>::special(has_nan), found));
  // ends clipped without what overflow gives
  CHECK_FALSE(covers(Set<F64>::between({-448, -448}, {448, 448}, has_pzero), found));
  // 464 is a tie: kept by rne, NaN under rna
  const Set<F64> tie = Set<F64>::point({464, 464});
  CHECK(round_set(tie, f, {}, {}).lo.d == 448);
  CHECK_FALSE(round_set(tie, f, {Mode::rna}, {}).has_reals());
  const double above = std::nextafter(464.0, inf);
  const Set<F64> open = round_set(Set<F64>::point({464, above}), f, {}, {});
  CHECK(open.may_be(has_nan));
  CHECK(open.has_reals());
  CHECK(open.may_be(undecided));
  CHECK_FALSE(round_set(Set<F64>::point({above, above}), f, {}, {}).has_reals());
}

TEST_CASE("round of a set: a bound of 0 that is not reached is decided") {
  const Format& f = *find_format("f32");
  const Set<F64> tiny = Set<F64>::point({0, 0x1p-1074});  // exp of a large negative number
  CHECK(is_exact(round_set(tiny, f, {}, {}).lo));
  CHECK(round_set(tiny, f, {Mode::rtp}, {}).lo.d == 0x1p-149);
  CHECK(round_set(tiny, f, {Mode::rtp}, {}).lo.u == 0x1p-149);
  CHECK(round_set(tiny, f, {}, {}).flags == has_pzero);
  const Set<F64> minus = Set<F64>::point({-0x1p-1074, 0});
  CHECK(round_set(minus, f, {Mode::rtn}, {}).lo.u == -0x1p-149);
  CHECK(round_set(minus, f, {}, {}).flags == has_nzero);
  const Set<F64> either_side = Set<F64>::point({-0x1p-1074, 0x1p-1074}, has_pzero);
  CHECK(round_set(either_side, f, {}, {}).may_be(undecided));
}

TEST_CASE("within: holds what any wider precision rounds to, and keeps values of the format") {
  Doubles random(20260109);
  for (const char* name : {"bf16", "f16", "f32", "f8e5m2"}) {
    const Format& f = *find_format(name);
    Attributes a;
    a.format = f;
    for (int round = 0; round < 3000; ++round) {
      const double x = round % 2 ? random() : random.moderate();
      const std::vector<Set<F64>> operand = {point_of(x)};
      const Set<F64> s = op("within").map.f64(operand, a, {});
      CAPTURE(f.name);
      CAPTURE(hex(x));
      CAPTURE(show(s));
      for (int m = f.fraction_bits; m <= 52; m += 3) {
        Format wide = f;
        wide.fraction_bits = m;
        const double y = round_to(x, wide, {});
        CHECK(holds(s, point_of(y)));
        // rounded twice, from 2p + 2 bits or more
        if (std::isfinite(y) && wide.precision() >= 2 * f.precision() + 2) CHECK(holds(s, point_of(round_to(y, f, {}))));
      }
      if (std::fabs(x) <= f.max_finite() && is_value(f, x)) CHECK((s.lo.d == x && s.hi.u == x));
    }
  }
}

TEST_CASE("within: a function within two units of the last place, a power of two counted in its upper binade") {
  Doubles random(20260117);
  for (const char* name : {"bf16", "f16", "f32"}) {
    const Format& f = *find_format(name);
    Attributes a;
    a.format = f;
    a.ulp = 2;
    for (int round = 0; round < 2000; ++round) {
      double x = round % 4 ? random.moderate() : std::ldexp(1.0, int(random.bits() % 40) - 20);
      if (std::fabs(x) > f.max_finite() / 2) continue;
      const std::vector<Set<F64>> operand = {point_of(x)};
      const Set<F64> s = op("within").map.f64(operand, a, {});
      const double ulp =
          std::fmax(std::ldexp(1.0, (x == 0 ? f.emin() : std::max(std::ilogb(x), f.emin())) - f.fraction_bits), f.min_positive());
      CAPTURE(name);
      CAPTURE(hex(x));
      CAPTURE(show(s));
      CHECK(s.lo.d <= x - 2 * ulp);
      CHECK(s.hi.u >= x + 2 * ulp);
      CHECK(s.lo.d >= x - 2.01 * ulp);
      CHECK(s.hi.u <= x + 2.01 * ulp);
    }
  }
}

TEST_CASE("within: overflow of the format, and what ftz adds") {
  const Format& f = *find_format("f16");
  Attributes a;
  a.format = f;
  const auto of = [&](double x) {
    const std::vector<Set<F64>> operand = {point_of(x)};
    return op("within").map.f64(operand, a, {});
  };
  CHECK(of(65519).may_be(has_pinf));  // 65519 (1 + u) rounds past the largest value
  CHECK(of(65519).has_reals());       // a wider format has no overflow there
  CHECK_FALSE(of(65000).may_be(has_pinf));
  CHECK(of(-1e6).may_be(has_ninf));
  CHECK_FALSE(of(-1e6).may_be(has_pinf));
  CHECK(of(0x1p-16).lo.d == 0x1p-16);
  a.rounding.flush = Flush::free;
  CHECK(of(0x1p-16).lo.d == 0);
  CHECK(of(0x1p-16).may_be(any_zero));
  CHECK(of(0x1p-14).lo.d == 0x1p-14);
}

TEST_CASE("any_of: holds every alternative") {
  Doubles random(20260118);
  for (int round = 0; round < 2000; ++round) {
    std::vector<Set<F64>> x;
    for (int k = 0; k < 1 + static_cast<int>(random.bits() % 4); ++k) {
      const double choices[] = {random(), random.moderate(), nan_value, inf, -inf, 0.0, -0.0};
      x.push_back(point_of(choices[random.bits() % 7]));
    }
    const Set<F64> s = op("any_of").map.f64(x, {}, {});
    for (const auto& alternative : x) CHECK(holds(s, alternative));
    if (x.size() == 1) CHECK(s.is_point);
  }
}
