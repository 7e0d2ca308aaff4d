// Functions known by their error, and conversions to integers.
#include <doctest/doctest.h>

#include "ops/approximate.hpp"
#include "tests/ops/support.hpp"
#include "tests/sum/checks.hpp"

using namespace erx;
using namespace erx::test;

TEST_CASE("approx and casts: what they may return, counted out") {
  Figures figures;
  for (const Check& check : bound_checks()) {
    INFO(check.name);
    const auto found = check.run(150, figures);
    CHECK_MESSAGE(!found, found.value_or(""));
  }
  CHECK(figures.cases > 10000);
}

TEST_CASE("casts: what C++ leaves open may be any value, infinities saturate") {
  Attributes a;
  a.whole = Type::integer(8);
  const auto of = [&](const char* name, double x) {
    const std::vector<Set<F64>> operand = {point_of(x)};
    return op(name).map.f64(operand, a, {});
  };
  for (const char* name : {"cast", "wrap", "saturate"}) {
    const Set<F64> s = of(name, nan_value);
    CHECK(s.lo.d == -128);
    CHECK(s.hi.u == 127);
    CHECK_FALSE(s.may_be(has_nan));
  }
  CHECK(of("saturate", inf).lo.d == 127);
  CHECK(of("saturate", -inf).hi.u == -128);
  CHECK(of("cast", 127.9).hi.u == 127);
  CHECK(of("cast", -128.9).lo.d == -128);
  CHECK(of("cast", 128).lo.d == -128);
  CHECK(of("wrap", 128).hi.u == -128);
  CHECK(of("wrap", -0.5).may_be(has_pzero));
  a.whole = Type::integer(64);
  CHECK(of("wrap", 0x1p63).hi.u == -0x1p63);
  CHECK(of("saturate", 0x1p70).lo.u == 0x1p63);
}

TEST_CASE("steps_away: the ranks of every value of a format") {
  for (const char* name : {"f8e4m3fn", "f8e5m2fnuz", "f8e8m0fnu", "f4e2m1fn"}) {
    const Format& f = *find_format(name);
    CAPTURE(name);
    for (double x = f.lowest(); x < inf; x = next_up(f, x)) {
      double up = x, down = x;
      for (int k = 0; k < 6; ++k) {
        CHECK(steps_away(f, x, k) == up);
        CHECK(steps_away(f, x, -k) == down);
        up = next_up(f, up);
        down = next_down(f, down);
      }
    }
    CHECK(steps_away(f, inf, -1) == f.max_finite());
    CHECK(steps_away(f, -inf, 1) == f.lowest());
    CHECK(steps_away(f, inf, 3) == inf);
    CHECK(steps_away(f, f.lowest(), std::int64_t{1} << 60) == inf);
  }
}

TEST_CASE("sr and faithful: down or up is all they may do") {
  Doubles random(20261130);
  for (const Format& f : all_formats())
    for (Mode mode : {Mode::sr, Mode::faithful})
      for (Overflow overflow : {Overflow::by_format, Overflow::sat, Overflow::sat_finite}) {
        Attributes a;
        a.format = f;
        a.rounding = {mode, overflow, Flush::no};
        const auto two = op("round").alternatives(a);
        if (two.empty()) continue;
        CHECK_FALSE(op("round").freedom(two[0]));
        for (int k = 0; k < 500; ++k) {
          const double x = k < 3 ? std::array{inf, -inf, nan_value}[static_cast<std::size_t>(k)]
                           : k % 4 ? random.moderate() * f.max_finite() * 0x1p50 : random() ;
          const std::vector<Set<F64>> operand = {point_of(x)};
          const Set<F64> all = op("round").map.f64(operand, a, {});
          std::uint8_t flags = 0;
          double lo = inf, hi = -inf;
          for (const Attributes& one : two) {
            const Set<F64> s = op("round").map.f64(operand, one, {});
            flags |= s.flags & (has_nan | has_pinf | has_ninf | any_zero);
            if (!s.has_reals()) continue;
            lo = std::fmin(lo, s.lo.d);
            hi = std::fmax(hi, s.hi.u);
          }
          CAPTURE(f.name);
          CAPTURE(hex(x));
          CAPTURE(show(all));
          CHECK((all.flags & (has_nan | has_pinf | has_ninf | any_zero)) == flags);
          if (all.has_reals()) {
            CHECK(all.lo.d == lo);
            CHECK(all.hi.u == hi);
          } else {
            CHECK(lo > hi);
          }
        }
      }
}
