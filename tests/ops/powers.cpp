// x ** y: integers against rationals and the hardware, other exponents against MPFR.
#include <doctest/doctest.h>

#include "ops/round_set.hpp"
#include "tests/ops/support.hpp"

using namespace erx;
using namespace erx::test;

namespace {

template <class R>
Set<R> power(const Set<R>& x, const Set<R>& y, Context c = {}) {
  const std::vector<Set<R>> operands = {x, y};
  return formula<R>(op("pow"))(operands, {}, c);
}

mpq_class exact_power(const mpq_class& x, long n) {
  mpq_class r;
  const unsigned long m = static_cast<unsigned long>(std::labs(n));
  mpz_pow_ui(r.get_num_mpz_t(), x.get_num_mpz_t(), m);
  mpz_pow_ui(r.get_den_mpz_t(), x.get_den_mpz_t(), m);
  return n < 0 ? mpq_class(1 / r) : r;
}

}  // namespace

TEST_CASE("pow: integer exponents of points in every tier") {
  Doubles random(20260114);
  for (int round = 0; round < 4000; ++round) {
    const double x = round % 2 ? random() : random.moderate();
    const long n = static_cast<long>(random.bits() % 13) - 4;
    if (x == 0 && n <= 0) continue;
    const mpq_class value = exact_power(mpq_class(x), n);
    CAPTURE(hex(x));
    CAPTURE(n);
    const Set<Exact> e = power(point_as<Exact>(x, {}), point_as<Exact>(double(n), {}));
    CHECK(e.lo.to_string() == value.get_str());
    const Set<F64> f = power(point_of(x), point_of(double(n)));
    const Set<Big> b = power(point_as<Big>(x, {128}), point_as<Big>(double(n), {128}), {128});
    for (const auto& [low, high] : {std::pair{f.lo.d, f.lo.u}, std::pair{lower(b.lo), upper(b.lo)}}) {
      if (low > -inf) CHECK((mpq_class(low) <= value));
      if (high < inf) CHECK((mpq_class(high) >= value));
      CHECK((low == high || std::nextafter(low, inf) == high));
    }
  }
}

TEST_CASE("pow: special values as the hardware has them") {
  const Format& f64 = *find_format("f64");
  for (double x : {nan_value, inf, -inf, 0.0, -0.0, 1.0, -1.0, 2.0, -3.0, 0x1p-1074, 0x1.fffffffffffffp1023})
    for (int n = -4; n <= 4; ++n) {
      const double wanted = std::pow(x, n);
      const Set<Exact> s = round_set(power(point_as<Exact>(x, {}), point_as<Exact>(double(n), {})), f64, {}, {});
      CAPTURE(hex(x));
      CAPTURE(n);
      CAPTURE(show(s));
      CHECK(holds(point_of(wanted), s));
      CHECK(holds(s, point_of(wanted)));
    }
}

TEST_CASE("pow: sets hold the powers of their members") {
  Doubles random(20260115);
  for (int round = 0; round < 6000; ++round) {
    double a = random.moderate(), b = random.bits() % 2 ? random.moderate() : -a;
    if (random.bits() % 5 == 0) b = 0;
    if (a > b) std::swap(a, b);
    const std::uint8_t zeros = a <= 0 && b >= 0 ? any_zero : 0;
    const long n = static_cast<long>(random.bits() % 11) - 5;
    const Set<F64> set = random.bits() % 2 ? Set<F64>::between({a, a}, {b, b}, zeros) : Set<F64>::point({a, b}, zeros);
    const double t = double(random.bits() % 65) / 64, x = std::min(std::max(a * (1 - t) + b * t, a), b);
    const Set<F64> whole = power(set, point_of(double(n)));
    const Set<Exact> part = power(point_as<Exact>(x, {}), point_as<Exact>(double(n), {}));
    CAPTURE(hex(x));
    CAPTURE(n);
    CAPTURE(show(set));
    CAPTURE(show(whole));
    CHECK(holds(whole, part));
  }
}

TEST_CASE("pow: other exponents of positive numbers") {
  Doubles random(20260116);
  mpfr_t x, y, z;
  mpfr_inits2(200, x, y, z, static_cast<mpfr_ptr>(nullptr));
  for (int round = 0; round < 3000; ++round) {
    const double a = std::fabs(random.moderate()) + 0x1p-60, b = random.moderate();
    mpfr_set_d(x, a, MPFR_RNDN);
    mpfr_set_d(y, b, MPFR_RNDN);
    mpfr_pow(z, x, y, MPFR_RNDN);
    const Set<F64> s = power(point_of(a), point_of(b));
    CAPTURE(hex(a));
    CAPTURE(hex(b));
    CAPTURE(show(s));
    CHECK(mpfr_cmp_d(z, s.lo.d) >= 0);
    CHECK(mpfr_cmp_d(z, s.lo.u) <= 0);
    CHECK(s.is_point);
    // and of sets around them
    const Set<F64> wide = power(Set<F64>::between({a / 2, a / 2}, {a * 2, a * 2}), Set<F64>::between({b - 1, b - 1}, {b + 1, b + 1}));
    CHECK(mpfr_cmp_d(z, wide.lo.d) >= 0);
    CHECK(mpfr_cmp_d(z, wide.hi.u) <= 0);
  }
  mpfr_clears(x, y, z, static_cast<mpfr_ptr>(nullptr));
  CHECK(holds(power(point_of(-2), point_of(0.5)), point_of(nan_value)));
  CHECK(holds(power(point_of(0), point_of(-0.5)), point_of(inf)));
  CHECK(power(point_of(0), point_of(nan_value)).may_be(has_nan));
}

TEST_CASE("pow: infinite and huge exponents and NaN, as IEEE 754 and the C library have them") {
  const double next = std::nextafter(1.0, 2.0), before = std::nextafter(1.0, 0.0), nan = std::numeric_limits<double>::quiet_NaN();
  const double bases[] = {nan, inf, -inf, 0.0, -0.0, 0.5, -0.5, before, -before, 1, -1, next, -next, 2, -2, 0x1p-1074, -0x1p-1074, 0x1p1023, -0x1p1023};
  const auto set_of = [](double x) { return std::isfinite(x) ? point_of(x) : Set<F64>::special(std::isnan(x) ? has_nan : x > 0 ? has_pinf : has_ninf); };
  for (const double x : bases)
    for (const double y : {inf, -inf, nan, 1e22, -1e22, 1e300, -1e300, 0x1p62}) {
      const double wanted = std::pow(x, y);
      if (std::isfinite(y) && std::isfinite(x) && (std::fabs(x) != 1 && x != 0)) {  // far beyond the range of doubles, or near 1
        const Set<F64> s = power(set_of(x), set_of(y)), m = power(set_of(std::fabs(x)), set_of(y));
        CHECK(s.lo.d == m.lo.d);
        CHECK(s.lo.u == m.lo.u);
        CHECK(((s.flags ^ m.flags) & ~has_pzero) == 0);
        CHECK(s.lo.d <= wanted);
        CHECK(wanted <= s.lo.u);
        continue;
      }
      const Set<F64> s = power(set_of(x), set_of(y));
      CAPTURE(x);
      CAPTURE(y);
      CHECK_FALSE((s.flags & undecided));
      if (std::isnan(wanted)) {
        CHECK((s.flags == (has_nan | no_reals)));
      } else if (std::isinf(wanted)) {
        CHECK((s.flags == (has_pinf | no_reals)));
      } else {
        CHECK(s.has_reals());
        CHECK(s.lo.d == wanted);
        CHECK(s.lo.u == wanted);
        CHECK(s.flags == (wanted == 0 ? has_pzero : 0));
      }
    }
  // A base that is known by an enclosure: all that its numbers allow.
  const Set<F64> wide = power(Set<F64>::between(F64::exact(0.5), F64::exact(2)), set_of(inf));
  CHECK((wide.flags & has_pinf));
  CHECK(wide.lo.d == 0);
  CHECK(wide.hi.u == 1);
  CHECK((power(Set<F64>::between(F64::exact(0.5), F64::exact(2)), set_of(nan)).flags & has_nan));
}
