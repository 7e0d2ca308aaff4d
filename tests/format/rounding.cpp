// round_to and BulkRounding against exact rationals, and planted mistakes that the comparison has to find.
#include <doctest/doctest.h>

#include <functional>

#include "ir/error.hpp"
#include "ops/round_bulk.hpp"
#include "tests/format/judge.hpp"

using namespace erx;
using namespace erx::judging;

namespace {

using Rounder = std::function<double(const mpq_class&, const Format&, const Rounding&)>;

double under_test(const mpq_class& x, const Format& f, const Rounding& r) { return round_to(chopped(x), f, r); }

struct Difference {
  std::size_t compared = 0, wrong = 0;
  std::string first;
};

void compare(Difference& d, const Judge& judge, const Rounder& rounder, const std::vector<mpq_class>& points, const std::vector<Rounding>& roundings) {
  const Format& f = judge.format();
  for (const mpq_class& x : points)
    for (const Rounding& r : roundings) {
      const double want = judge.round(x, r), got = rounder(x, f, r);
      ++d.compared;
      if (same(want, got)) continue;
      if (d.wrong++ == 0) {
        d.first = f.name + " " + std::string(name_of(r.mode)) + " " + std::string(name_of(r.overflow)) + (r.flush == Flush::yes ? " ftz " : " ") +
                  x.get_str() + " -> " + hex(got) + ", expected " + hex(want);
      }
    }
}

std::vector<Rounding> plain_roundings() {
  std::vector<Rounding> all;
  for (Mode mode : fixed_modes) all.push_back({mode});
  return all;
}

std::vector<Rounding> all_roundings() {
  std::vector<Rounding> all;
  for (Mode mode : fixed_modes)
    for (Overflow overflow : overflow_modes)
      for (Flush flush : {Flush::no, Flush::yes}) all.push_back({mode, overflow, flush});
  return all;
}

/// Points near both ends of the range.
std::vector<mpq_class> ends_of(const Judge& judge) {
  std::vector<mpq_class> ends;
  const mpq_class low = exactly(judge.format().min_normal()) * 2, high = exactly(judge.format().max_finite()) / 2;
  std::size_t i = 0;
  for (const mpq_class& x : critical_points(judge))
    if (abs(x) > high || (abs(x) < low && i++ % 7 == 0)) ends.push_back(x);
  return ends;
}

}  // namespace

TEST_CASE("rounding: every value, midpoint and its neighbourhood, in every format of few bits, all modes and overflow rules") {
  std::size_t compared = 0;
  for (const Format& f : small_formats()) {
    const Judge judge(f);
    Difference d;
    compare(d, judge, under_test, critical_points(judge), all_roundings());
    INFO(f.name, ": ", d.wrong, " of ", d.compared, "; first: ", d.first);
    CHECK(d.wrong == 0);
    compared += d.compared;
  }
  CHECK(compared > 1'000'000);
}

TEST_CASE("rounding: every value, midpoint and its neighbourhood in bf16 and f16") {
  for (const char* name : {"bf16", "f16"}) {
    const Judge judge(*find_format(name));
    Difference d;
    compare(d, judge, under_test, critical_points(judge), plain_roundings());
    compare(d, judge, under_test, ends_of(judge), all_roundings());
    INFO(name, ": ", d.wrong, " of ", d.compared, "; first: ", d.first);
    CHECK(d.wrong == 0);
    CHECK(d.compared > 1'000'000);
  }
}

TEST_CASE("rounding: random and edge doubles in wide and unusual formats") {
  for (const Format& f : wide_formats()) {
    std::vector<mpq_class> points;
    for (double x : random_doubles(f, 4000, 7)) points.push_back(exactly(x));
    const std::size_t dyadic = points.size();
    for (std::size_t i = 0; i < dyadic; i += 5) {  // never dyadic, and beyond 64 bits
      points.push_back(points[i] / 3);
      points.push_back(points[i] + points[i] * power_of_two(-90));
      points.push_back(points[i] - points[i] * power_of_two(-90));
    }
    Difference d;
    const Judge judge(f);
    compare(d, judge, under_test, points, all_roundings());
    INFO(f.name, ": ", d.wrong, " of ", d.compared, "; first: ", d.first);
    CHECK(d.wrong == 0);
  }
}

TEST_CASE("rounding: zeros keep their sign where the format has -0") {
  for (const Format& f : small_formats())
    for (Mode mode : fixed_modes)
      for (Overflow overflow : overflow_modes)
        for (double zero : {0.0, -0.0}) {
          const Rounding r{mode, overflow, Flush::no};
          INFO(f.name, " ", name_of(mode), " ", name_of(overflow));
          CHECK(same(round_to(zero, f, r), Judge(f).round(0, r, std::signbit(zero))));
        }
}

TEST_CASE("rounding: overflow points of the documents") {
  const auto e4m3fn = *find_format("f8e4m3fn"), f16 = *find_format("f16"), e8m0 = *find_format("f8e8m0fnu"), f4 = *find_format("f4e2m1fn");
  const double above = std::nextafter(464.0, 1e9);
  const auto is_nan = [](double x) { return std::isnan(x); };
  CHECK(round_to(464, e4m3fn, {}) == 448);
  CHECK(is_nan(round_to(above, e4m3fn, {})));
  CHECK(round_to(above, e4m3fn, {Mode::rne, Overflow::sat}) == 448);
  CHECK(is_nan(round_to(464, e4m3fn, {Mode::rna})));
  CHECK(round_to(std::nextafter(464.0, 0), e4m3fn, {Mode::rna}) == 448);
  CHECK(round_to(std::nextafter(448.0, 1e9), e4m3fn, {Mode::rtz}) == 448);
  CHECK(is_nan(round_to(std::nextafter(448.0, 1e9), e4m3fn, {Mode::rtp})));
  CHECK(round_to(1e9, e4m3fn, {Mode::rtn}) == 448);
  CHECK(round_to(449, e4m3fn, {Mode::rto}) == 448);
  CHECK(round_to(1e9, f16, {Mode::rto}) == 65504);
  CHECK(std::isinf(round_to(65520, f16, {})));
  CHECK(round_to(std::nextafter(65520.0, 0), f16, {}) == 65504);
  CHECK(round_to(65520, f16, {Mode::rtz}) == 65504);
  CHECK(round_to(-1e300, f16, {Mode::rtp}) == -65504);
  CHECK(round_to(1e300, f16, {Mode::rtn}) == 65504);
  CHECK(std::isinf(round_to(65505, f16, {Mode::rtp})));
  CHECK(round_to(65505, f16, {Mode::rtp, Overflow::sat_finite}) == 65504);
  CHECK(std::isinf(round_to(65505, f16, {Mode::rtz, Overflow::nosat})));
  CHECK(round_to(100, f4, {}) == 6);
  CHECK(is_nan(round_to(100, f4, {Mode::rne, Overflow::nosat})));
  CHECK(is_nan(round_to(0, e8m0, {})));
  CHECK(is_nan(round_to(-1, e8m0, {Mode::rtz})));
  CHECK(round_to(0, e8m0, {Mode::rne, Overflow::sat}) == 0x1p-127);
  CHECK(round_to(-1, e8m0, {Mode::rne, Overflow::sat}) == 0x1p-127);
  CHECK(round_to(0x1p-1000, e8m0, {}) == 0x1p-127);
  CHECK(round_to(3, e8m0, {}) == 4);  // a tie of two odd significands goes to the larger
  CHECK(is_nan(round_to(0x1.8p127, e8m0, {})));
  CHECK(same(round_to(-0x1p-40, *find_format("f8e4m3fnuz"), {}), 0.0));
}

TEST_CASE("rounding: infinities") {
  const auto f = [](const char* name) { return *find_format(name); };
  const double inf = std::numeric_limits<double>::infinity();
  for (Mode mode : fixed_modes) {
    CHECK(round_infinity(false, f("f16"), {mode}) == inf);
    CHECK(round_infinity(true, f("f16"), {mode}) == -inf);
    CHECK(round_infinity(true, f("f16"), {mode, Overflow::sat}) == -65504);
    CHECK(round_infinity(true, f("f16"), {mode, Overflow::sat_finite}) == -inf);
    CHECK(std::isnan(round_infinity(false, f("f8e4m3fn"), {mode})));
    CHECK(std::isnan(round_infinity(false, f("f8e4m3fn"), {mode, Overflow::sat_finite})));
    CHECK(round_infinity(false, f("f8e4m3fn"), {mode, Overflow::sat}) == 448);
    CHECK(round_infinity(true, f("f6e2m3fn"), {mode}) == -7.5);
    CHECK(std::isnan(round_infinity(true, f("f6e2m3fn"), {mode, Overflow::nosat})));
    CHECK(std::isnan(round_infinity(true, f("f8e8m0fnu"), {mode})));
    CHECK(round_infinity(true, f("f8e8m0fnu"), {mode, Overflow::sat}) == 0x1p-127);
  }
}

TEST_CASE("rounding: overflows() and finite_end() agree with the overflow points") {
  for (const Format& f : small_formats()) {
    const Judge judge(f);
    for (const mpq_class& x : critical_points(judge))
      for (Mode mode : {Mode::rne, Mode::rna, Mode::rtz, Mode::rtp, Mode::rtn, Mode::rto, Mode::sr, Mode::faithful}) {
        const Rounding r{mode};
        const bool over = overflows(chopped(x), f, r);
        if (over != judge.overflows(x, r)) FAIL_CHECK(f.name << " " << std::string(name_of(mode)) << " " << x.get_str());
        if (over) {
          const double end = finite_end(chopped(x), f);
          if (end != (x > 0 ? f.max_finite() : f.lowest())) FAIL_CHECK(f.name << " " << x.get_str());
        }
      }
  }
}

TEST_CASE("rounding: a rounding with two results needs a direction") {
  CHECK_THROWS_AS(round_to(0.3, *find_format("bf16"), {Mode::sr}), Bug);
  CHECK_THROWS_AS(round_to(0.3, *find_format("bf16"), {Mode::faithful}), Bug);
  CHECK_THROWS_AS(BulkRounding(*find_format("bf16"), {Mode::sr}), Bug);
  CHECK_THROWS_AS(chop(std::numeric_limits<double>::infinity()), Bug);
}

TEST_CASE("chop: every bit of a double, subnormals too") {
  for (double x : random_doubles(*find_format("f64"), 3000, 3)) {
    const Chopped a = chop(x), b = chopped(exactly(x));
    CHECK(a.significand == b.significand);
    if (x != 0) CHECK(a.exponent == b.exponent);
    CHECK(a.negative == std::signbit(x));
    CHECK(!a.sticky);
  }
}

TEST_CASE("planted mistakes of one rounding: each is found") {
  struct Case {
    const char* name;
    const char* format;
    Planted mistake;
  };
  for (const Case& c : {Case{"e4m3fn, overflow point inclusive for rne", "f8e4m3fn", Planted::closed_where_even},
                        Case{"e4m3fn, overflow point exclusive for rna", "f8e4m3fn", Planted::open_for_away},
                        Case{"f16, overflow point exclusive for rne", "f16", Planted::open_where_odd},
                        Case{"overflow point of rne used for rtp", "f8e5m2", Planted::nearest_point_for_up},
                        Case{"overflow point of rne used for rtp, bf16", "bf16", Planted::nearest_point_for_up},
                        Case{"subnormals forgotten", "f8e5m2", Planted::no_subnormals},
                        Case{"-0 kept in fnuz", "f8e4m3fnuz", Planted::zero_keeps_sign},
                        Case{"ties go up", "f8e3m4", Planted::ties_up}}) {
    const Judge right(*find_format(c.format)), wrong(*find_format(c.format), c.mistake);
    Difference d;
    compare(d, right, [&](const mpq_class& x, const Format&, const Rounding& r) { return wrong.round(x, r); }, ends_of(right), plain_roundings());
    INFO(c.name, ": found at ", d.wrong, " points, first ", d.first);
    CHECK(d.wrong > 0);
  }
  const Judge judge(*find_format("f8e5m2"));
  const auto wrong_by = [&](const Rounder& mistaken) {
    Difference d;
    compare(d, judge, mistaken, critical_points(judge), plain_roundings());
    return d.wrong;
  };
  CHECK(wrong_by(under_test) == 0);
  CHECK(wrong_by([](const mpq_class& x, const Format& f, const Rounding& r) {  // what was cut forgotten
          Chopped c = chopped(x);
          c.sticky = false;
          return round_to(c, f, r);
        }) > 0);
  CHECK(wrong_by([](const mpq_class& x, const Format& f, const Rounding& r) { return round_to(round_to(chopped(x), *find_format("f32"), {}), f, r); }) > 0);
}

namespace {

std::vector<double> bulk_points(const Format& f) {
  std::vector<double> xs = random_doubles(f, 3000, 11);
  const double inf = std::numeric_limits<double>::infinity();
  xs.insert(xs.end(), {inf, -inf, std::numeric_limits<double>::quiet_NaN()});
  if (f.width() <= 16) {
    const Judge judge(f);
    const auto& values = judge.magnitudes();
    for (std::size_t i = 0; i < values.size(); ++i) {
      const double x = values[i].get_d(), y = i + 1 < values.size() ? mpq_class((values[i] + values[i + 1]) / 2).get_d() : f.max_finite() * 2;
      for (double z : {x, y, std::nextafter(y, inf), std::nextafter(y, 0.0), std::nextafter(x, inf), std::nextafter(x, 0.0)})
        xs.insert(xs.end(), {z, -z});
    }
  }
  return xs;
}

double one_by_one(double x, const Format& f, const Rounding& r) {
  if (std::isnan(x)) return x;
  return std::isinf(x) ? round_infinity(x < 0, f, r) : round_to(x, f, r);
}

std::vector<Format> every_format() {
  std::vector<Format> all = small_formats();
  for (const Format& f : wide_formats()) all.push_back(f);
  all.push_back(*find_format("bf16"));
  all.push_back(*find_format("f16"));
  return all;
}

/// How many results of the magic-constant kernel with altered constants differ from round_to.
std::size_t wrong_with(const Format& f, const std::function<void(BulkConstants&)>& alter) {
  BulkConstants k = BulkRounding(f, {}).constants();
  alter(k);
  std::size_t wrong = 0;
  for (double x : bulk_points(f)) wrong += !same(bulk::round_one<Mode::rne>(x, k), one_by_one(x, f, {}));
  return wrong;
}

}  // namespace

TEST_CASE("round_bulk: bit-identical to round_to in every format, mode and overflow rule") {
  std::size_t fast = 0;
  for (const Format& f : every_format()) {
    const std::vector<double> xs = bulk_points(f);
    std::vector<double> ys(xs.size());
    for (Mode mode : fixed_modes)
      for (Overflow overflow : overflow_modes)
        for (Flush flush : {Flush::no, Flush::yes}) {
          const Rounding r{mode, overflow, flush};
          const BulkRounding round(f, r);
          fast += round.is_fast();
          round(xs.data(), ys.data(), xs.size());
          std::size_t wrong = 0, first = 0;
          for (std::size_t i = xs.size(); i-- > 0;)
            if (!same(ys[i], one_by_one(xs[i], f, r))) ++wrong, first = i;
          INFO(f.name, " ", name_of(mode), " ", name_of(overflow), ": ", wrong, " wrong, first ", hex(xs[first]), " -> ", hex(ys[first]));
          CHECK(wrong == 0);
        }
  }
  CHECK(fast > 500);
  for (const char* name : {"bf16", "f16", "f32", "tf32", "f8e4m3fn", "f8e5m2", "f8e4m3fnuz", "f4e2m1fn"})
    CHECK(BulkRounding(*find_format(name), {}).is_fast());
  CHECK(!BulkRounding(*find_format("f64"), {}).is_fast());
  CHECK(BulkRounding(*find_format("f8e8m0fnu"), {}).is_unusual());
}

TEST_CASE("round_bulk: tails of any length, in place, and nothing written past the end") {
  const BulkRounding round(*find_format("bf16"), {});
  for (std::size_t n = 0; n < 40; ++n) {
    std::vector<double> xs(n + 1, 1.00390625 + 0x1p-20);
    xs[n] = 0.1;
    round(xs.data(), xs.data(), n);
    for (std::size_t i = 0; i < n; ++i) CHECK(xs[i] == 1.0078125);
    CHECK(xs[n] == 0.1);
  }
}

TEST_CASE("round_bulk: planted mistakes are found") {
  const Format bf16 = *find_format("bf16"), fnuz = *find_format("f8e4m3fnuz"), e4m3fn = *find_format("f8e4m3fn");
  CHECK(wrong_with(bf16, [](BulkConstants&) {}) == 0);
  CHECK(wrong_with(bf16, [](BulkConstants& k) { k.least_power = 0; }) > 0);                                         // no clamp below
  CHECK(wrong_with(fnuz, [](BulkConstants& k) { k.zero = -0.0; }) > 0);                                             // the sign of zero
  CHECK(wrong_with(bf16, [](BulkConstants& k) { k.zero = 0.0; }) > 0);
  CHECK(wrong_with(e4m3fn, [](BulkConstants& k) { k.max_finite = std::nextafter(448.0, 0); }) > 0);
  CHECK(wrong_with(bf16, [](BulkConstants& k) { k.magic *= 2; }) > 0);
}

TEST_CASE("round_bulk: enclosures round both ends and count what stays undecided") {
  const Format f = *find_format("bf16");
  const BulkRounding round(f, {});
  std::vector<double> below, above;
  std::size_t expected = 0;
  std::mt19937_64 random(5);
  for (int i = 0; i < 3000; ++i) {
    const double x = std::ldexp(static_cast<double>(random() >> 11), -53) - 0.5, d = std::ldexp(1.0, -static_cast<int>(random() % 30));
    below.push_back(x - d);
    above.push_back(x + d);
    expected += round_to(x - d, f, {}) != round_to(x + d, f, {});
  }
  below.insert(below.end(), {-0x1p-200, 0.0});
  above.insert(above.end(), {0x1p-200, 0.0});
  ++expected;  // -0 or +0
  std::vector<double> lo(below.size()), hi(below.size());
  CHECK(round.enclosures(below.data(), above.data(), lo.data(), hi.data(), below.size()) == expected);
  for (std::size_t i = 0; i < lo.size(); ++i) {
    CHECK(same(lo[i], round_to(below[i], f, {})));
    CHECK(same(hi[i], round_to(above[i], f, {})));
  }
}
