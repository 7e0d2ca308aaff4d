// Special values of every row, judged by the hardware's double arithmetic.
#include <doctest/doctest.h>

#include <cstdlib>
#include <fstream>

#include "ops/round_set.hpp"
#include "tests/ops/support.hpp"

using namespace erx;
using namespace erx::test;

namespace {

const std::vector<double> specials = {
    nan_value, inf, -inf, 0.0, -0.0, 1, -1, 2, -3, 0.5, 0x1p-1074, -0x1p-1074, 0x1.fffffffffffffp1023, -0x1.fffffffffffffp1023};

/// The set is exactly {x}.
bool is_only(const Set<Exact>& s, double x, bool any_zero_sign) {
  const std::uint8_t special = s.flags & (has_nan | any_infinity);
  if (std::isnan(x)) return !s.has_reals() && special == has_nan;
  if (std::isinf(x)) return !s.has_reals() && special == (x > 0 ? has_pinf : has_ninf);
  if (!s.has_reals() || special || !is_exact(s.lo) || !is_exact(s.hi) || lower(s.lo) != x || upper(s.hi) != x) return false;
  if (x != 0) return true;
  const std::uint8_t zero = std::signbit(x) ? has_nzero : has_pzero;
  return any_zero_sign ? s.may_be(zero) : (s.flags & any_zero) == zero;
}

/// The libm value is near the set, and of the same kind.
bool is_near(const Set<Big>& s, double x, bool any_zero_sign) {
  if (std::isnan(x)) return s.may_be(has_nan);
  if (std::isinf(x)) return s.may_be(x > 0 ? has_pinf : has_ninf) || (s.has_reals() && (x > 0 ? upper(s.lo) == inf : lower(s.lo) == -inf));
  if (!s.has_reals()) return false;
  if (x == 0 && is_exact(s.lo) && lower(s.lo) == 0)
    return any_zero_sign ? s.may_be(any_zero) : (s.flags & any_zero) == (std::signbit(x) ? has_nzero : has_pzero);
  const double slack = std::fabs(x) * 0x1p-48 + 0x1p-1070;
  return lower(s.lo) - slack <= x && x <= upper(s.lo) + slack;
}

}  // namespace

TEST_CASE("special values: every row as the hardware computes it") {
  const Format& f64 = *find_format("f64");
  for (const Op* op : all_ops()) {
    const auto found = op->map ? oracles().find(op->name) : oracles().end();
    if (found == oracles().end()) continue;
    const Oracle& o = found->second;
    std::size_t combinations = 1;
    for (int k = 0; k < o.operands; ++k) combinations *= specials.size();
    for (std::size_t n = 0; n < combinations; ++n) {
      std::vector<double> x;
      std::size_t rest = n;
      bool skip = false;
      for (int k = 0; k < o.operands; ++k, rest /= specials.size()) {
        x.push_back(specials[rest % specials.size()]);
        if ((o.bool_operands >> k & 1) && x[k] != 1 && !(x[k] == 0 && !std::signbit(x[k]))) skip = true;
      }
      if (skip) continue;
      const double wanted = o.hardware(x.data());
      std::vector<Set<Exact>> exact;
      std::vector<Set<Big>> big;
      std::vector<Set<F64>> bulk;
      std::string text(op->name);
      for (double v : x) {
        exact.push_back(point_as<Exact>(v, {}));
        big.push_back(point_as<Big>(v, {4096}));
        bulk.push_back(point_of(v));
        text += " " + hex(v);
      }
      const Set<Exact> e = op->map.exact(exact, {}, {});
      const Set<Big> b = op->map.big(big, {}, {4096});
      const Set<F64> f = op->map.f64(bulk, {}, {});
      CAPTURE(text);
      CAPTURE(wanted);
      CAPTURE(show(e));
      CAPTURE(show(b));
      CAPTURE(show(f));
      if (o.judged == Oracle::close) {
        CHECK(is_near(b, wanted, o.any_zero_sign));
        CHECK((b.flags & (has_nan | any_infinity)) == (f.flags & (has_nan | any_infinity)));
      } else if (o.mpfr) {  // sqrt: rounded once; the exact tier knows squares only
        const Set<Big> rounded = round_set(b, f64, {}, {4096});
        CHECK(holds(rounded, point_of(wanted)));
        CHECK(holds(point_of(wanted), rounded));
      } else {
        CHECK(is_only(round_set(e, f64, {}, {}), wanted, o.any_zero_sign));
        const Set<Big> rounded = round_set(b, f64, {}, {4096});
        CHECK(holds(rounded, point_of(wanted)));
        if (!o.any_zero_sign) CHECK(holds(point_of(wanted), rounded));
      }
      CHECK(holds(f, e));
    }
  }
}

TEST_CASE("special values: an exact scalar parameter that is 0 makes its product absent") {
  const Op& mul = op("mul");
  for (double other : specials)
    for (int k = 0; k < 2; ++k)
      for (double zero : {0.0, -0.0}) {
        Attributes scales;
        scales.scales = static_cast<std::uint8_t>(1 << k);
        std::vector<Set<F64>> x = {point_of(other), point_of(other)};
        x[k] = point_of(zero);
        const Set<F64> absent = mul.map.f64(x, scales, {});
        CAPTURE(other);
        CHECK(absent.has_reals());
        CHECK(absent.lo.d == 0);
        CHECK(absent.hi.u == 0);
        CHECK_FALSE(absent.may_be(has_nan | any_infinity));
        if (!std::isfinite(other)) CHECK(mul.map.f64(x, {}, {}).may_be(has_nan));
      }
}

TEST_CASE("special values: where reads only the branch taken") {
  const Op& where = op("where");
  const Set<F64> yes = point_of(1), no = point_of(0), open = Set<F64>::between({0, 0}, {1, 1}, has_pzero);
  const Set<F64> nan = point_of(nan_value), two = point_of(2), five = point_of(5);
  CHECK_FALSE(where.map.f64(std::vector{yes, two, nan}, {}, {}).may_be(has_nan));
  CHECK_FALSE(where.map.f64(std::vector{no, nan, two}, {}, {}).may_be(has_nan));
  const Set<F64> both = where.map.f64(std::vector{open, two, five}, {}, {});
  CHECK(both.lo.d == 2);
  CHECK(both.hi.u == 5);
  CHECK_FALSE(both.is_point);
  CHECK(where.map.f64(std::vector{open, two, nan}, {}, {}).may_be(has_nan));
}

namespace {

const std::vector<std::pair<std::string, double>> shown = {{"NaN", nan_value}, {"inf", inf},       {"-inf", -inf},
                                                           {"+0", 0.0},        {"-0", -0.0},       {"1", 1},
                                                           {"-1", -1},         {"min", 0x1p-1074}, {"max", 0x1.fffffffffffffp1023}};

std::string name_of(const Set<Big>& s) {
  std::string text;
  const auto add = [&](const std::string& part) { text += (text.empty() ? "" : "|") + part; };
  if (s.may_be(has_nan)) add("NaN");
  if (s.may_be(has_ninf)) add("-inf");
  if (s.may_be(has_pinf)) add("inf");
  if (!s.has_reals()) return text;
  const double x = lower(s.lo);
  if (!is_exact(s.lo))
    add("~");
  else if (x == 0)
    add((s.flags & any_zero) == any_zero ? "0" : s.may_be(has_nzero) ? "-0" : "+0");
  else if (std::fabs(x) == 0x1p-1074)
    add(x < 0 ? "-min" : "min");
  else if (std::fabs(x) == 0x1.fffffffffffffp1023)
    add(x < 0 ? "-max" : "max");
  else {
    char number[32];
    std::snprintf(number, sizeof number, "%.4g", x);
    add(number);
  }
  return text;
}

std::string table() {
  std::string text =
      "Special values of the rows: exact results rounded to f64 (min and max: its smallest and largest).\n"
      "0: a zero of either sign. a|b: either. Rows of a matrix: the first operand; columns: the second.\n";
  const Context c{400};
  const Format& f64 = *find_format("f64");
  const auto cell = [](const std::string& s) { return std::string(s.size() < 9 ? 9 - s.size() : 1, ' ') + s; };
  for (const Op* row : all_ops()) {
    const auto found = row->gather == Gather::map ? oracles().find(row->name) : oracles().end();
    if (found == oracles().end() || found->second.operands > 2 || found->second.bool_operands) continue;
    text += "\n" + std::string(row->name) + "\n" + cell("");
    for (const auto& [name, x] : shown) text += cell(name);
    text += "\n";
    for (const auto& [first, x] : shown) {
      const bool unary = found->second.operands == 1;
      if (!unary)
        text += cell(first);
      else if (first == "NaN")
        text += cell("");
      for (const auto& [second, y] : shown) {
        if (unary && second != "NaN") break;
        std::vector<Set<Big>> operands = {point_as<Big>(x, c)};
        if (!unary) operands.push_back(point_as<Big>(y, c));
        const Set<Big> exact = row->map.big(operands, {}, c);
        if (found->second.judged == Oracle::truth)
          text += cell(lower(exact.lo) != 0 ? "true" : "false");
        else
          text += cell(name_of(round_set(exact, f64, {}, c)));
      }
      if (!unary) text += "\n";
    }
    if (found->second.operands == 1) text += "\n";
  }
  return text;
}

}  // namespace

TEST_CASE("special values: the printed table is the reviewed one") {
  const std::string path = ERX_SOURCE_DIR "/tests/ops/special_values.txt";
  const std::string now = table();
  if (std::getenv("ERX_WRITE_GOLDEN")) std::ofstream(path) << now;
  std::ifstream file(path);
  const std::string reviewed((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
  if (reviewed != now) MESSAGE("the table is now:\n", now);
  CHECK((reviewed == now));
}
