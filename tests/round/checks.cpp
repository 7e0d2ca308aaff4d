// Roundings and widenings against exact rationals (tests/format/judge.hpp, written from the definitions).
#include "tests/round/checks.hpp"

#include <algorithm>
#include <sstream>

#include "ops/num/exact.hpp"
#include "ops/num/f64.hpp"
#include "ops/round_bulk.hpp"
#include "ops/round_set.hpp"
#include "ops/round_tile.hpp"
#include "tests/format/judge.hpp"
#include "tests/sum/cases.hpp"

namespace erx::test {
namespace {

using Found = std::optional<std::string>;
using judging::Judge;

constexpr Mode every_mode[] = {Mode::rne, Mode::rna, Mode::rtz, Mode::rtp, Mode::rtn, Mode::rto, Mode::sr, Mode::faithful};

const std::vector<Judge>& judges() {
  static const std::vector<Judge> all = [] {
    std::vector<Judge> j;
    for (const char* name : {"f8e4m3fn", "f8e5m2", "f8e4m3", "f8e4m3fnuz", "f6e2m3fn", "f4e2m1fn", "f8e8m0fnu"}) j.emplace_back(*find_format(name));
    j.emplace_back(make_format({.e = 3, .m = 2}));
    j.emplace_back(make_format({.e = 4, .m = 2, .subnormals = false}));
    j.emplace_back(make_format({.e = 5, .m = 1}));
    return j;
  }();
  return all;
}

/// Values, midpoints, what lies beside them and past the largest: those that are doubles.
const std::vector<double>& points_of(const Judge& judge) {
  static std::vector<std::pair<std::string, std::vector<double>>> known;
  for (const auto& [name, points] : known)
    if (name == judge.format().name) return points;
  std::vector<double> points;
  for (const mpq_class& x : judging::critical_points(judge)) {
    const double d = x.get_d();
    if (std::isfinite(d) && judging::exactly(d) == x) points.push_back(d);
    for (double beside : {std::nextafter(d, INFINITY), std::nextafter(d, -INFINITY)})
      if (std::isfinite(beside) && d != 0) points.push_back(beside);
  }
  std::sort(points.begin(), points.end());
  points.erase(std::unique(points.begin(), points.end()), points.end());
  known.emplace_back(judge.format().name, points);
  return known.back().second;
}

/// Every result that one rounding of x may have, by the definitions; 2-numerics section 1.
Values legal(const Judge& judge, double x, const Rounding& r) {
  Values v;
  const mpq_class q = judging::exactly(x);
  const Format& f = judge.format();
  if (r.mode == Mode::sr || r.mode == Mode::faithful) {
    for (Mode direction : {Mode::rtn, Mode::rtp}) v.add(legal(judge, x, {direction, r.overflow, r.flush}));
    return v;
  }
  Rounding plain = r;
  plain.flush = Flush::no;
  const double kept = judge.round(q, plain, std::signbit(x)), nu = f.min_normal();
  const bool subnormal_result = std::fabs(kept) < nu && f.has_subnormals && f.has_zero;
  const double zero = f.has_negative_zero() ? std::copysign(0.0, x) : 0.0;
  if (r.flush != Flush::yes || !subnormal_result) v.add(kept);
  if (r.flush != Flush::no && f.has_subnormals && f.has_zero && std::fabs(x) < nu) v.add(zero);
  return v;
}

std::string rounding_text(const Format& f, const Rounding& r) {
  std::ostringstream out;
  out << f.name << " " << name_of(r.mode) << " " << name_of(r.overflow) << (r.flush == Flush::no ? "" : r.flush == Flush::yes ? " ftz" : " ftz=free");
  return out.str();
}

template <class R>
Found missing(const Values& values, const Set<R>& s, const std::string& what) {
  Found found;
  values.each([&](double v) {
    if (!found && !is_in(v, s)) found = what + ": " + judging::hex(v) + " is legal and left out";
  });
  return found;
}

Rounding random_rounding(std::mt19937_64& random) {
  return {every_mode[random() % 8], judging::overflow_modes[random() % 4], static_cast<Flush>(random() % 3)};
}

/// One real: nothing is left out, and without freedom nothing is added.
Found points(int effort, Figures& figures) {
  std::mt19937_64 random(31);
  for (const Judge& judge : judges())
    for (double x : points_of(judge)) {
      if (static_cast<int>(random() % 150) >= effort && std::fabs(x) < judge.format().max_finite() / 2 && std::fabs(x) > judge.format().min_normal() * 2) continue;
      for (Mode mode : every_mode)
        for (Flush flush : {Flush::no, Flush::yes, Flush::free}) {
          const Rounding r{mode, judging::overflow_modes[random() % 4], flush};
          const Values values = legal(judge, x, r);
          const std::uint8_t zero = x == 0 ? (std::signbit(x) ? has_nzero : has_pzero) : 0;
          const Set<Exact> s = round_set(Set<Exact>::point(Exact::exact(x, {}), zero), judge.format(), r, {});
          ++figures.cases;
          figures.values += static_cast<long>(values.size());
          const std::string what = rounding_text(judge.format(), r) + " of " + judging::hex(x);
          if (Found f = missing(values, s, what)) return f;
          if (values.size() == 1 && !rounds_freely(r) && !s.is_point && s.has_reals()) return what + ": more than one value";
          if (values.size() == 1 && !rounds_freely(r)) {
            double only = 0;
            values.each([&](double v) { only = v; });
            const std::uint8_t specials = s.flags & (has_nan | any_infinity);
            if (std::isfinite(only) ? specials != 0 : s.has_reals()) return what + ": allows more than " + judging::hex(only);
          }
        }
    }
  return {};
}

/// Sets: what every real between the ends becomes.
Found intervals(int effort, Figures& figures) {
  std::mt19937_64 random(32);
  for (const Judge& judge : judges()) {
    const std::vector<double>& xs = points_of(judge);
    for (int i = 0; i < effort * 4; ++i) {
      const Rounding r = random_rounding(random);
      std::size_t a = random() % xs.size(), b = random() % 3 ? random() % xs.size() : std::min(xs.size() - 1, a + random() % 6);
      if (a > b) std::swap(a, b);
      const std::uint8_t zeros = xs[a] <= 0 && xs[b] >= 0 ? has_pzero : 0;
      const Set<Exact> exact = round_set(Set<Exact>::between(Exact::exact(xs[a], {}), Exact::exact(xs[b], {}), zeros), judge.format(), r, {});
      const Set<F64> bulk = round_set(Set<F64>::between(F64::exact(xs[a]), F64::exact(xs[b]), zeros), judge.format(), r, {});
      ++figures.cases;
      const std::string what = rounding_text(judge.format(), r) + " of [" + judging::hex(xs[a]) + ", " + judging::hex(xs[b]) + "]";
      const std::size_t step = 1 + (b - a) / 60;
      for (std::size_t k = a; k <= b; k += step) {
        const Values values = legal(judge, xs[k] == 0 ? 0.0 : xs[k], r);
        figures.values += static_cast<long>(values.size());
        if (Found f = missing(values, exact, what + " holds " + judging::hex(xs[k]))) return f;
        if (Found f = missing(values, bulk, what + " (float64) holds " + judging::hex(xs[k]))) return f;
      }
    }
  }
  return {};
}

/// Arrays, by the magic constant.
Found arrays(int effort, Figures& figures) {
  std::vector<Format> formats = {*find_format("bf16"), *find_format("f16"), *find_format("f8e4m3fn"), *find_format("f8e4m3fnuz"), *find_format("f32")};
  for (const Format& f : formats) {
    const Judge judge(f);
    const std::vector<double> xs = judging::random_doubles(f, static_cast<std::size_t>(100 * effort), 33);
    std::vector<double> ys(xs.size());
    for (Mode mode : {Mode::rne, Mode::rna, Mode::rtz, Mode::rtp, Mode::rtn}) {
      const Rounding r{mode, judging::overflow_modes[static_cast<int>(mode) % 4], Flush::no};
      BulkRounding(f, r)(xs.data(), ys.data(), xs.size());
      for (std::size_t i = 0; i < xs.size(); ++i, ++figures.values) {
        const double want = judge.round(judging::exactly(xs[i]), r, std::signbit(xs[i]));
        if (!judging::same(want, ys[i])) return rounding_text(f, r) + " of " + judging::hex(xs[i]) + ": " + judging::hex(ys[i]) + ", not " + judging::hex(want);
      }
      ++figures.cases;
    }
  }
  return {};
}

/// Tiles of enclosures: both sides are rounded.
Found enclosures(int effort, Figures& figures) {
  const Format f = *find_format("bf16");
  const Judge judge(f);
  std::mt19937_64 random(34);
  for (int round = 0; round < effort; ++round) {
    constexpr std::size_t n = 64;
    double d[n], u[n], low[n], high[n];
    std::uint8_t flags[n] = {}, out_flags[n];
    for (std::size_t i = 0; i < n; ++i) {
      const double x = 1 + std::ldexp(static_cast<double>(random() % 4096), -10);
      d[i] = x - std::ldexp(1.0, -9 - static_cast<int>(random() % 20));
      u[i] = random() % 4 ? x : x + 0x1p-8;
    }
    Tile in{d, u, d, u, flags, true, true, false}, out{low, high, low, high, out_flags, true, false, false};
    std::vector<std::size_t> hard;
    if (!round_tile(in, out, n, f, {}, [](std::size_t i, void* list) { static_cast<std::vector<std::size_t>*>(list)->push_back(i); }, &hard))
      return "round_tile has no fast path for bf16";
    ++figures.cases;
    for (std::size_t i = 0; i < n; ++i) {
      if (std::find(hard.begin(), hard.end(), i) != hard.end()) continue;
      for (double x : {d[i], u[i]}) {
        const double want = judge.round(judging::exactly(x), {});
        ++figures.values;
        if (!(low[i] <= want && want <= high[i])) return "bf16 of [" + judging::hex(d[i]) + ", " + judging::hex(u[i]) + "]: " + judging::hex(want) + " is left out";
      }
    }
  }
  return {};
}

/// A legal value of a widened real: rational, so that no enclosure hides anything.
Found holds(const mpq_class& value, const Set<Exact>& s, const std::string& what) {
  if (s.has_reals() && judging::exactly(lower(s.lo)) <= value && value <= judging::exactly(upper(s.hi))) return {};
  return what + ": " + value.get_str() + " is legal and left out";
}

mpq_class at_precision(const mpq_class& x, int p) {
  if (x == 0) return x;
  const judging::Judge wide(make_format({.e = 10, .m = p - 1}));
  return judging::exactly(wide.round(x, {}));
}

/// One operation at precision p or better, or rounded twice from 2p + 2 bits; subnormals of the format, or of a wider one.
Found widened(int effort, Figures& figures) {
  std::mt19937_64 random(35);
  for (const Judge& judge : judges()) {
    const Format& f = judge.format();
    if (!f.has_subnormals || !f.has_sign || !f.has_zero) continue;
    Attributes plain, flushing;
    plain.format = flushing.format = f;
    flushing.rounding.flush = Flush::free;
    for (int i = 0; i < effort; ++i) {
      const double x = points_of(judge)[random() % points_of(judge).size()] * (random() % 2 ? 1 : 1 + 0x1p-20);
      if (std::fabs(x) > f.max_finite() || x == 0) continue;
      const mpq_class q = judging::exactly(x);
      const std::string what = "within " + f.name + " of " + judging::hex(x);
      const Set<Exact> s = widen(Set<Exact>::point(Exact::exact(x, {})), plain, {});
      ++figures.cases;
      const int p = f.precision();
      for (int more : {0, 1, 3, 7}) {
        ++figures.values;
        if (Found g = holds(at_precision(q, p + more), s, what)) return g;
        if (Found g = holds(at_precision(at_precision(q, 2 * p + 2 + more), p), s, what)) return g;
      }
      const double own = judge.round(q, {});
      if (std::isfinite(own))
        if (Found g = holds(judging::exactly(own), s, what)) return g;
      if (std::fabs(x) < f.min_normal())
        if (Found g = holds(0, widen(Set<Exact>::point(Exact::exact(x, {})), flushing, {}), what + ", ftz")) return g;
    }
  }
  return {};
}

/// The ulp of a magnitude: from the largest value not above it to the next one.
mpq_class ulp_of(const Judge& judge, const mpq_class& magnitude) {
  const auto& values = judge.magnitudes();
  const auto above = std::upper_bound(values.begin(), values.end(), magnitude);
  return above == values.end() ? mpq_class(values.back() - *(values.end() - 2)) : mpq_class(*above - *(above - 1));
}

/// Functions within k ulps: the ulp of the largest magnitude, a power of two taking the upper binade, at least the smallest value.
Found functions(int effort, Figures& figures) {
  std::mt19937_64 random(36);
  for (const Judge& judge : judges()) {
    const Format& f = judge.format();
    if (!f.has_subnormals || !f.has_sign || !f.has_zero) continue;
    Attributes a;
    a.format = f;
    for (int i = 0; i < effort * 2; ++i) {
      a.ulp = 1 + static_cast<int>(random() % 4);
      const auto& xs = points_of(judge);
      std::size_t low = random() % xs.size(), high = std::min(xs.size() - 1, low + random() % 3 * (random() % 40));
      if (std::fabs(xs[low]) > f.max_finite() || std::fabs(xs[high]) > f.max_finite()) continue;
      const mpq_class l = judging::exactly(xs[low]), h = judging::exactly(xs[high]);
      const mpq_class reach = a.ulp * ulp_of(judge, std::max(mpq_class(abs(l)), mpq_class(abs(h))));
      const std::uint8_t zeros = xs[low] <= 0 && xs[high] >= 0 ? has_pzero : 0;
      const Set<Exact> s = widen(low == high ? Set<Exact>::point(Exact::exact(xs[low], {}), zeros)
                                             : Set<Exact>::between(Exact::exact(xs[low], {}), Exact::exact(xs[high], {}), zeros), a, {});
      ++figures.cases;
      std::ostringstream what;
      what << f.name << " within " << a.ulp << " ulps of [" << judging::hex(xs[low]) << ", " << judging::hex(xs[high]) << "]";
      for (const mpq_class& end : {mpq_class(l - reach), mpq_class(h + reach)}) {
        ++figures.values;
        if (Found g = holds(end, s, what.str())) return g;
      }
    }
  }
  return {};
}

}  // namespace

const std::vector<Check>& rounding_checks() {
  static const std::vector<Check> all = {{"one rounding", points},          {"a set, rounded", intervals},   {"magic constant", arrays},
                                         {"enclosures, rounded", enclosures}, {"one operation, within", widened}, {"functions, ulps", functions}};
  return all;
}

}  // namespace erx::test
