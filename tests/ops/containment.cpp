// Every row, at every tier, holds the exact result: points, random enclosures of points, and random intervals.
#include <doctest/doctest.h>

#include "tests/ops/support.hpp"

using namespace erx;
using namespace erx::test;

namespace {

const Oracle* oracle_of(const Op& op) {
  const auto found = oracles().find(op.name);
  return found == oracles().end() ? nullptr : &found->second;
}

/// Rows whose meaning is tested in files of their own.
bool has_own_test(const Op& op) {
  for (const char* name : {"round", "any_of", "within", "pow", "approx", "cast", "wrap", "saturate"})
    if (op.name == name) return true;
  return false;
}

double operand(const Oracle& o, int k, Doubles& random) { return o.bool_operands >> k & 1 ? double(random.bits() & 1) : random(); }

template <class R>
void check_rational(const Op& op, const Oracle& o, const std::vector<double>& x, const mpq_class& value, bool tight) {
  const Context c{128};
  std::vector<Set<R>> sets;
  for (double v : x) sets.push_back(point_as<R>(v, c));
  const Set<R> s = formula<R>(op)(sets, {}, c);
  std::string text(op.name);
  for (double v : x) text += " " + hex(v);
  CAPTURE(text);
  CAPTURE(show(s));
  REQUIRE(s.has_reals());
  REQUIRE(s.is_point);
  const double low = lower(s.lo), high = upper(s.lo);
  if (low > -inf) CHECK((mpq_class(low) <= value));
  if (high < inf) CHECK((mpq_class(high) >= value));
  if (value == 0) CHECK((s.flags & any_zero) != 0);
  if constexpr (std::is_same_v<R, Exact>) CHECK(s.lo.to_string() == value.get_str());
  // a value that is a double stays a point; another lies between neighbours
  if (tight) CHECK((low == high || std::nextafter(low, inf) == high));
  if (tight && low != high && low > -inf && high < inf) {
    CHECK((mpq_class(low) < value));
    CHECK((value < mpq_class(high)));
  }
  (void)o;
}

}  // namespace

TEST_CASE("op rows: each has an oracle in these tests") {
  for (const Op* op : all_ops()) {
    if (!op->map) continue;
    CAPTURE(op->name);
    CHECK((oracle_of(*op) || has_own_test(*op)));
    CHECK((op->bulk != nullptr));
  }
}

TEST_CASE("op rows: the exact rational result lies in every tier") {
  Doubles random(20260101);
  for (const Op* op : all_ops()) {
    const Oracle* o = op->map ? oracle_of(*op) : nullptr;
    if (!o || !o->rational) continue;
    // one operation of float64 is rounded once, so its enclosure is as narrow as doubles allow
    const bool one_operation = op->name != "fma" && op->name != "floordiv" && op->name != "mod";
    for (int round = 0; round < 3000; ++round) {
      std::vector<double> x;
      std::vector<mpq_class> q;
      for (int k = 0; k < o->operands; ++k) {
        x.push_back(operand(*o, k, random));
        // pairs that cancel or nearly cancel
        if (k > 0 && random.bits() % 4 == 0 && !(o->bool_operands >> k & 1)) x[k] = random.bits() % 2 ? x[0] : std::nextafter(-x[0], 0.0);
        q.emplace_back(x.back());
      }
      const auto value = o->rational(q.data());
      if (!value) continue;
      check_rational<F64>(*op, *o, x, *value, one_operation);
      check_rational<Big>(*op, *o, x, *value, false);
      check_rational<Exact>(*op, *o, x, *value, false);
    }
  }
}

TEST_CASE("op rows: functions hold MPFR at 300 bits, and tiers nest") {
  Doubles random(20260102);
  for (const Op* op : all_ops()) {
    const Oracle* o = op->map ? oracle_of(*op) : nullptr;
    if (!o || !o->mpfr) continue;
    mpfr_t in, below, above;
    mpfr_inits2(300, in, below, above, static_cast<mpfr_ptr>(nullptr));
    int reals = 0;
    for (int round = 0; round < 2000; ++round) {
      const double x = round % 2 ? random() : random.moderate();
      mpfr_set_d(in, x, MPFR_RNDN);
      o->mpfr(below, in, MPFR_RNDD);
      o->mpfr(above, in, MPFR_RNDU);
      if (!mpfr_number_p(below) || !mpfr_number_p(above)) continue;
      ++reals;
      mpfr_nextbelow(below);
      mpfr_nextabove(above);
      CAPTURE(op->name);
      CAPTURE(hex(x));
      double previous_low = -inf, previous_high = inf;
      const auto check = [&](double low, double high) {
        CHECK(low <= high);
        CHECK(mpfr_cmp_d(above, low) >= 0);
        CHECK(mpfr_cmp_d(below, high) <= 0);
        CHECK(low >= previous_low);  // tiers nest
        CHECK(high <= previous_high);
        previous_low = low;
        previous_high = high;
      };
      const std::vector<Set<F64>> f = {point_of(x)};
      const Set<F64> s = op->map.f64(f, {}, {});
      REQUIRE(s.has_reals());
      check(s.lo.d, s.lo.u);
      const double gap = s.lo.u - s.lo.d, size = std::fmax(std::fabs(s.lo.u), op->name == "sqrt" || op->name == "rsqrt" ? 0 : 1);
      CHECK((gap <= 0x1p-1073 || gap <= size * (op->name == "sqrt" ? 0x1p-52 : 0x1p-44) || s.lo.u == inf));
      for (int precision : {128, 256}) {
        const std::vector<Set<Big>> b = {point_as<Big>(x, {precision})};
        const Set<Big> t = op->map.big(b, {}, {precision});
        REQUIRE(t.has_reals());
        check(lower(t.lo), upper(t.lo));
      }
      const std::vector<Set<Exact>> e = {point_as<Exact>(x, {})};
      const Set<Exact> t = op->map.exact(e, {}, {});
      if (t.has_reals() && is_exact(t.lo)) check(lower(t.lo), upper(t.lo));
    }
    CHECK(reals > 300);
    mpfr_clears(in, below, above, static_cast<mpfr_ptr>(nullptr));
  }
}

namespace {

/// A random set of numbers in a small range (so that ends meet), with enclosures of its ends that may be open.
Set<F64> random_set(Doubles& random, bool boolean) {
  Set<F64> s;
  if (boolean) {
    const int kind = static_cast<int>(random.bits() % 4);
    if (kind < 2) return Set<F64>::point({double(kind), double(kind)}, kind ? 0 : has_pzero);
    if (kind == 2) return Set<F64>::between({0, 0}, {1, 1}, has_pzero);
    return Set<F64>::point({0, 1}, has_pzero | undecided);
  }
  const auto number = [&] {
    return random.bits() % 3 ? double(int(random.bits() % 9) - 4) / 2 : random.bits() % 2 ? random.moderate() : random();
  };
  double a = number(), b = number();
  if (a > b) std::swap(a, b);
  s.lo = {a, a};
  s.hi = {b, b};
  s.is_point = false;
  if (random.bits() % 4 == 0) s.lo = {std::min(a, a - std::fabs(number())), a};  // an open end
  if (random.bits() % 4 == 0) s.hi = {b, std::max(b, b + std::fabs(number()))};
  if (random.bits() % 3 == 0) {
    s.is_point = true;
    s.hi = s.lo = {s.lo.d, s.hi.u};
    if (random.bits() % 2) s.lo = s.hi = {a, a};
  }
  if (s.lo.d <= 0 && s.hi.u >= 0) s.flags |= (1 + random.bits() % 3) * has_pzero;  // +0, -0 or both
  if (!s.is_point) {
    if (random.bits() % 6 == 0) s.flags |= has_nan;
    if (random.bits() % 6 == 0) s.flags |= has_pinf;
    if (random.bits() % 6 == 0) s.flags |= has_ninf;
    if ((s.flags & (has_nan | any_infinity)) && random.bits() % 4 == 0) s = Set<F64>::special(s.flags & (has_nan | any_infinity));
  }
  return s;
}

/// A member of the set: a double, special values included.
double member(const Set<F64>& s, Doubles& random) {
  std::vector<double> choices;
  if (s.may_be(has_nan)) choices.push_back(nan_value);
  if (s.may_be(has_pinf)) choices.push_back(inf);
  if (s.may_be(has_ninf)) choices.push_back(-inf);
  if (s.has_reals()) {
    const double t = double(random.bits() % 65) / 64;
    double x = s.lo.d == s.hi.u ? s.lo.d : s.lo.d * (1 - t) + s.hi.u * t;
    x = std::min(std::max(x, s.lo.d), s.hi.u);  // an unbounded end is no member
    for (double y : {s.lo.d, s.hi.u, x, x}) {
      if (!std::isfinite(y) || (y == 0 && !s.may_be(any_zero))) continue;
      if (y == 0) y = s.may_be(has_nzero) && (!s.may_be(has_pzero) || random.bits() % 2) ? -0.0 : 0.0;
      choices.push_back(y);
    }
    if (s.may_be(any_zero) && s.lo.d <= 0 && s.hi.u >= 0) choices.push_back(s.may_be(has_pzero) ? 0.0 : -0.0);
  }
  return choices.empty() ? nan_value : choices[random.bits() % choices.size()];
}

}  // namespace

TEST_CASE("op rows: a set holds what the op makes of each of its members") {
  Doubles random(20260103);
  for (const Op* op : all_ops()) {
    const Oracle* o = op->map ? oracle_of(*op) : nullptr;
    if (!o) continue;
    for (int round = 0; round < 4000; ++round) {
      std::vector<Set<F64>> sets;
      std::vector<Set<Exact>> exact;
      std::vector<Set<Big>> big;
      std::string text(op->name);
      for (int k = 0; k < o->operands; ++k) {
        const bool boolean = o->bool_operands >> k & 1;
        sets.push_back(random_set(random, boolean));
        double x = member(sets.back(), random);
        if (boolean) x = x >= 0.5 ? sets.back().hi.u : sets.back().lo.d;
        text += "\n  " + hex(x) + " in " + show(sets.back());
        exact.push_back(point_as<Exact>(x, {}));
        big.push_back(point_as<Big>(x, {300}));
      }
      const Set<F64> whole = op->map.f64(sets, {}, {});
      const Set<Big> part = op->map.big(big, {}, {300});
      const Set<Exact> sharp = op->map.exact(exact, {}, {});
      CAPTURE(text);
      CAPTURE(show(whole));
      CAPTURE(show(part));
      CHECK(holds(whole, part));
      if (!sharp.has_reals() || is_exact(sharp.lo)) CHECK(holds(whole, sharp));
      bool points = true;
      std::vector<Set<Big>> big_sets;
      for (const auto& s : sets) {
        points = points && s.is_point;
        const Big lo = Big::between(s.lo.d, s.lo.u, {128}), hi = Big::between(s.hi.d, s.hi.u, {128});
        big_sets.push_back({lo, hi, s.flags, s.is_point});
      }
      if (points) CHECK(whole.is_point);
      const Set<Big> whole_big = op->map.big(big_sets, {}, {128});
      CAPTURE(show(whole_big));
      CHECK(holds(whole_big, part));
      if (!sharp.has_reals() || is_exact(sharp.lo)) CHECK(holds(whole_big, sharp));
      CHECK(whole_big.is_point == whole.is_point);
    }
  }
}
