// Every pair of values of every 8-bit format for + - * /, rounded into every 8-bit format in every mode and overflow rule, and every
// 16-bit value converted into every format: the rows against exact rationals and IEEE 754's special values.
// A part of the results in every run; all of them (into their own format, every 16th into the others) with   ERX_LONG=1 build/tests/erx_tests -tc="exhaustive*"
#include <doctest/doctest.h>

#include <cstdio>
#include <cstdlib>
#include <map>

#include "ops/round_set.hpp"
#include "tests/format/judge.hpp"
#include "tests/ops/support.hpp"

using namespace erx;
using namespace erx::test;
using judging::Judge;

namespace {

bool is_long() { return std::getenv("ERX_LONG") != nullptr; }

std::vector<Judge> formats_of_8_bits() {
  std::vector<Judge> all;
  for (const Format& f : all_formats())
    if (f.width() == 8) all.emplace_back(f);
  using I = Infinities;
  using N = Nans;
  for (const FormatParameters& p : std::vector<FormatParameters>{{.e = 2, .m = 5}, {.e = 6, .m = 1}, {.e = 4, .m = 3, .subnormals = false},
                                                                {.e = 4, .m = 3, .inf = I::none, .nan = N::none}, {.e = 5, .m = 3, .sign = false}})
    all.emplace_back(make_format(p));
  return all;
}

constexpr Mode every_mode[] = {Mode::rne, Mode::rna, Mode::rtz, Mode::rtp, Mode::rtn, Mode::rto, Mode::sr, Mode::faithful};

/// The exact result of an operation: a rational, or a special value (zeros with their sign among them).
struct ExactValue {
  bool is_special = false;
  double special = 0;
  mpq_class value = 0;
};

/// Where a result is special, the hardware's double arithmetic is IEEE 754's; a zero is one only where it is exactly 0.
ExactValue exact_result(char op, double x, double y) {
  const double hardware = op == '+' ? x + y : op == '-' ? x - y : op == '*' ? x * y : x / y;
  const bool finite = std::isfinite(x) && std::isfinite(y);
  if (!finite || (op == '/' && y == 0) || ((op == '*' || op == '/') && x == 0) || (op == '*' && y == 0)) return {true, hardware, 0};
  const mpq_class a = judging::exactly(x), b = judging::exactly(y);
  ExactValue r;
  r.value = op == '+' ? mpq_class(a + b) : op == '-' ? mpq_class(a - b) : op == '*' ? mpq_class(a * b) : mpq_class(a / b);
  if (r.value == 0) return {true, hardware, 0};
  return r;
}

/// Everything that the rounding of a result may give: one value, or for sr and faithful those of both directions.
std::vector<double> wanted(const Judge& judge, const ExactValue& x, const Rounding& r) {
  if (r.mode == Mode::sr || r.mode == Mode::faithful) {
    std::vector<double> both = wanted(judge, x, {Mode::rtn, r.overflow, r.flush});
    const std::vector<double> up = wanted(judge, x, {Mode::rtp, r.overflow, r.flush});
    both.insert(both.end(), up.begin(), up.end());
    // Past the largest value that value is still one of the two neighbours: going there is no overflow.
    const Format& f = judge.format();
    const bool above = x.value > judging::exactly(f.max_finite()), below = (f.has_sign || f.has_zero) && x.value < judging::exactly(f.lowest());
    if (!x.is_special && (above || below))
      both.push_back(x.value > 0 ? f.max_finite() : f.lowest());
    return both;
  }
  if (!x.is_special) return {judge.round(x.value, r)};
  if (std::isfinite(x.special)) return {judge.round(0, r, std::signbit(x.special))};
  const Format& f = judge.format();
  if (std::isnan(x.special)) return {nan_value};
  const bool negative = x.special < 0, infinite = f.has_infinity() && (!negative || f.has_sign);
  if (infinite && r.overflow != Overflow::sat) return {x.special};
  if (r.overflow == Overflow::sat || (r.overflow != Overflow::nosat && !f.has_nan())) return {negative ? f.lowest() : f.max_finite()};
  return {nan_value};
}

/// Nothing left out; without freedom nothing beside it.
std::string judged(const Set<Exact>& s, const std::vector<double>& values) {
  for (double v : values)
    if (!holds(s, point_of(v))) return hex(v) + " is left out";
  if (s.may_be(undecided)) return "undecided";
  std::uint8_t flags = 0;
  double low = inf, high = -inf;
  for (double v : values) {
    flags |= point_of(v).flags & (has_nan | any_infinity);
    if (std::isfinite(v)) low = std::min(low, v), high = std::max(high, v);
  }
  if ((s.flags & (has_nan | any_infinity)) != flags) return "special values that cannot be";
  if (s.has_reals() != (low <= high)) return "reals that cannot be";
  if (s.has_reals() && (lower(s.lo) != low || upper(s.hi) != high)) return "wider than [" + hex(low) + ", " + hex(high) + "]";
  if (s.has_reals() && low == 0 && high == 0 && values.size() == 1 && (s.flags & any_zero) != (std::signbit(values[0]) ? has_nzero : has_pzero))
    return "a zero of the other sign";
  return "";
}

const char* row_of(char op) { return op == '+' ? "add" : op == '-' ? "sub" : op == '*' ? "mul" : "div"; }

}  // namespace

TEST_CASE("exhaustive: every pair of every 8-bit format, rounded into every 8-bit format, mode and overflow rule") {
  const std::vector<Judge> judges = formats_of_8_bits();
  long pairs = 0, results = 0, roundings = 0;
  std::size_t turn = 0;
  for (const Judge& from : judges) {
    std::vector<double> values;
    for (std::uint64_t bits = 0; bits < std::uint64_t{1} << from.format().width(); ++bits) values.push_back(decode(from.format(), bits));
    for (char op_sign : {'+', '-', '*', '/'}) {
      const Op& row = op(row_of(op_sign));
      std::map<mpq_class, std::pair<double, double>> firsts;  // of each exact result, the pair that gave it first
      std::map<std::string, std::pair<double, double>> specials;
      for (double x : values)
        for (double y : values) {
          ++pairs;
          const ExactValue r = exact_result(op_sign, x, y);
          const std::vector<Set<F64>> operands = {point_of(x), point_of(y)};
          const Set<F64> s = row.map.f64(operands, {}, {});
          // The first tier encloses the exact result.
          bool right;
          if (r.is_special) {
            right = holds(s, point_of(r.special)) && (std::isfinite(r.special) || !s.has_reals());
            specials.try_emplace(hex(r.special), x, y);
          } else {
            right = s.has_reals() && judging::exactly(s.lo.d) <= r.value && r.value <= judging::exactly(s.lo.u) && !(s.flags & (has_nan | any_infinity));
            firsts.try_emplace(r.value, x, y);
          }
          if (!right) FAIL_CHECK(from.format().name << ": " << hex(x) << " " << op_sign << " " << hex(y) << ": " << show(s));
        }
      std::vector<std::pair<double, double>> distinct;
      for (const auto& [value, pair] : firsts) distinct.push_back(pair);
      results += static_cast<long>(distinct.size());
      const std::size_t step = is_long() ? 1 : 1 + distinct.size() / 40;
      std::vector<std::pair<double, double>> chosen;
      for (std::size_t i = is_long() ? 0 : turn % step; i < distinct.size(); i += step) chosen.push_back(distinct[i]);
      for (const auto& [value, pair] : specials) chosen.push_back(pair);
      for (const auto& [x, y] : chosen) {
        const ExactValue r = exact_result(op_sign, x, y);
        const std::vector<Set<Exact>> operands = {point_as<Exact>(x, {}), point_as<Exact>(y, {})};
        const Set<Exact> exact = row.map.exact(operands, {}, {});
        for (const Judge& to : judges)
          for (Mode mode : every_mode)
            for (Overflow overflow : judging::overflow_modes) {
              if (turn++ % (is_long() ? &to == &from ? 1 : 16 : 4)) continue;
              const Rounding rounding{mode, overflow, Flush::no};
              const std::string wrong = judged(round_set(exact, to.format(), rounding, {}), wanted(to, r, rounding));
              ++roundings;
              if (!wrong.empty())
                FAIL_CHECK(from.format().name << ": " << hex(x) << " " << op_sign << " " << hex(y) << " into " << to.format().name << " "
                                              << name_of(mode) << " " << name_of(overflow) << ": " << wrong);
            }
      }
    }
  }
  std::printf("8-bit formats: %ld pairs, %ld different results, %ld roundings\n", pairs, results, roundings);
  CHECK(pairs > 2'000'000);
  CHECK(roundings > 100'000);
}

TEST_CASE("exhaustive: every bf16 and f16 value converted into every format") {
  long conversions = 0;
  std::vector<Judge> judges;
  for (const Format& f : all_formats()) judges.emplace_back(f);
  const std::uint64_t step = is_long() ? 1 : 131;
  for (const char* name : {"bf16", "f16"}) {
    const Format& from = *find_format(name);
    for (std::uint64_t bits = 0; bits < 65536; bits += step) {
      const double x = decode(from, bits);
      const ExactValue r = std::isfinite(x) && x != 0 ? ExactValue{false, 0, judging::exactly(x)} : ExactValue{true, x, 0};
      const Set<Exact> exact = point_as<Exact>(x, {});
      for (const Judge& to : judges)
        for (Mode mode : every_mode) {
          const Rounding rounding{mode, judging::overflow_modes[(bits / step + static_cast<std::uint64_t>(mode)) % 4], Flush::no};
          const std::string wrong = judged(round_set(exact, to.format(), rounding, {}), wanted(to, r, rounding));
          ++conversions;
          if (!wrong.empty())
            FAIL_CHECK(std::string(name) << " " << hex(x) << " into " << to.format().name << " " << name_of(mode) << " " << name_of(rounding.overflow) << ": " << wrong);
        }
    }
  }
  std::printf("16-bit values: %ld conversions\n", conversions);
  CHECK(conversions > 100'000);
}
