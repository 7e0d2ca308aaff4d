// What approx and the casts may return, counted out: in formats so small that every bound is an exact double, value by value.
#include <algorithm>
#include <random>
#include <sstream>

#include "ops/op.hpp"
#include "tests/sum/checks.hpp"
#include "tests/sum/oracle.hpp"

namespace erx::test {
namespace {

using Random = std::mt19937_64;

Format small(int e, int m, Infinities infinities = Infinities::ieee, Nans nans = Nans::ieee) {
  FormatParameters p;
  p.e = e;
  p.m = m;
  p.inf = infinities;
  p.nan = nans;
  return make_format(p);
}

std::vector<Format> formats() {
  return {small(3, 2), small(4, 1), small(3, 3), small(4, 3, Infinities::none, Nans::top), small(2, 1, Infinities::none, Nans::none)};
}

/// Every finite value once, sorted.
std::vector<double> values_of(const Format& f) {
  std::vector<double> all;
  for (std::uint64_t code = 0; code < std::uint64_t{1} << f.width(); ++code)
    if (const double x = decode(f, code); std::isfinite(x)) all.push_back(x + 0.0);
  std::sort(all.begin(), all.end());
  all.erase(std::unique(all.begin(), all.end()), all.end());
  return all;
}

/// The value `steps` places from the correctly rounded x; overflow is the place past the last value, and the last place.
double stepped(const Format& f, double x, std::int64_t steps) {
  const std::vector<double> all = values_of(f);
  const auto n = static_cast<std::int64_t>(all.size());
  const double r = nearest(x, f);
  std::int64_t at = 0;
  if (std::isfinite(r)) at = std::lower_bound(all.begin(), all.end(), r + 0.0) - all.begin();
  else at = x > 0 ? n : -1;
  at = std::clamp<std::int64_t>(at + steps, -1, n);
  if (at == -1 || at == n) return nearest(at == n ? INFINITY : -INFINITY, f);
  return all[static_cast<std::size_t>(at)];
}

double ulp_at(const Format& f, double x) {
  const int e = x == 0 ? f.emin() : std::max(std::ilogb(x), f.emin());
  return std::ldexp(1.0, e - f.fraction_bits);
}

template <class R>
Set<R> spread(double lo, double hi, Context c = {}) {
  const std::uint8_t zero = lo <= 0 && hi >= 0 ? any_zero : 0;
  if (lo == hi) return Set<R>::point(R::exact(lo, c), zero);
  return Set<R>::between(R::exact(lo, c), R::exact(hi, c), zero);
}

template <class R>
MapFormula<R> formula(const Op& op) {
  if constexpr (std::is_same_v<R, F64>) return op.map.f64;
  else if constexpr (std::is_same_v<R, Big>) return op.map.big;
  else return op.map.exact;
}

template <class R>
bool holds(const Set<R>& s, double v) {
  if (std::isnan(v)) return s.may_be(has_nan);
  if (std::isinf(v)) return s.may_be(v > 0 ? has_pinf : has_ninf);
  return s.has_reals() && lower(s.lo) <= v && v <= upper(s.hi) && (v != 0 || s.may_be(any_zero));
}

std::string hex(double x) {
  char text[40];
  std::snprintf(text, sizeof text, "%a", x);
  return text;
}

struct Bounds {
  double ulp = 0, rel = -1, abs = -1, least = -INFINITY, most = INFINITY;
  std::int64_t steps = 0;
};

template <class R>
std::optional<std::string> check_bounds(const Format& f, double l, double h, const Bounds& b, Figures& figures) {
  Attributes a;
  a.format = f;
  a.ulp = b.ulp;
  a.steps = b.steps;
  std::vector<Set<R>> operands = {spread<R>(l, h)};
  const auto bound = [&](double x, int bit) {
    if (!std::isfinite(x) || (bit < 2 && x < 0)) return;
    a.bounds |= static_cast<std::uint8_t>(1 << bit);
    operands.push_back(spread<R>(x, x));
  };
  bound(b.rel, 0);
  bound(b.abs, 1);
  bound(b.least, 2);
  bound(b.most, 3);
  const Set<R> s = formula<R>(op("approx"))(operands, a, {});
  const double ulp = ulp_at(f, std::max(std::fabs(l), std::fabs(h))) * b.ulp;
  const double rel = std::max(b.rel, 0.0), abs = std::max(b.abs, 0.0);
  double lo = std::min(l - rel * std::fabs(l), h - rel * std::fabs(h)) - abs - ulp;
  double hi = std::max(l + rel * std::fabs(l), h + rel * std::fabs(h)) + abs + ulp;
  const auto cut = [&](double x) { return std::min(std::max(x, b.least), b.most); };
  const double low = stepped(f, cut(lo), -b.steps), high = stepped(f, cut(hi), b.steps);
  std::vector<double> legal = {low, high};
  for (double v : values_of(f))
    if (lo <= v && v <= hi && cut(v) == v) legal.push_back(v);
  if (b.steps > 0) {  // cut again, rounded alike
    const auto again = [&](double x) { return std::isnan(x) ? x : std::min(std::max(x, b.least > -INFINITY ? nearest(b.least, f) : -INFINITY), b.most < INFINITY ? nearest(b.most, f) : INFINITY); };
    for (double& v : legal) v = again(v);
  }
  ++figures.cases;
  figures.values += static_cast<long>(legal.size());
  std::ostringstream text;
  text << f.name << " of [" << l << ", " << h << "] ulp=" << b.ulp << " steps=" << b.steps << " rel=" << b.rel << " abs=" << b.abs << " lo=" << b.least
       << " hi=" << b.most << ": set [" << hex(lower(s.lo)) << ", " << hex(upper(s.hi)) << "] flags " << int(s.flags);
  for (double v : legal)
    if (!holds(s, v)) return text.str() + " without " + hex(v);
  // as sharp as the bounds say
  const bool finite = std::isfinite(legal[0]) && std::isfinite(legal[1]);
  if (finite && (lower(s.lo) != legal[0] || upper(s.hi) != legal[1])) return text.str() + ", expected [" + hex(legal[0]) + ", " + hex(legal[1]) + "]";
  if (finite && s.may_be(any_infinity | has_nan)) return text.str() + ", with special values";
  return {};
}

std::optional<std::string> approximations(int effort, Figures& figures) {
  Random random(20261129);
  const auto pick = [&](std::initializer_list<double> of) { return of.begin()[random() % of.size()]; };
  for (const Format& f : formats())
    for (int round = 0; round < 10 * effort; ++round) {
      const auto number = [&] {
        const double x = double(int(random() % 257) - 128) / 16;
        return std::ldexp(x, int(random() % 8) - 5) * (random() % 6 ? 1 : std::ldexp(1.0, f.emax() - 1));
      };
      const double x = number(), y = random() % 2 ? x : x + double(random() % 64) / 64 * std::fabs(x);
      Bounds b;
      for (int kinds = 1 + int(random() % 2); kinds > 0; --kinds) switch (random() % 4) {
          case 0: b.ulp = pick({0.5, 1, 2, 1.25}); break;
          case 1: b.steps = static_cast<std::int64_t>(1 + random() % 3); break;
          case 2: b.rel = pick({0, 0.125, 0.5, 1, 0x1p-20, 2}); break;
          default: b.abs = pick({0, 0.25, 1, 0x1p-20, 100}); break;
        }
      if (random() % 4 == 0) b.least = pick({0, -1, 0.3125, 0x1p-9});
      if (random() % 4 == 0) b.most = pick({1, 0.3125, 40, 0x1.8p-9});
      if (b.least > b.most) b.least = -INFINITY;
      if (auto wrong = check_bounds<F64>(f, x, y, b, figures)) return wrong;
      if (auto wrong = check_bounds<Exact>(f, x, y, b, figures)) return wrong;
      if (auto wrong = check_bounds<Big>(f, x, y, b, figures)) return wrong;
    }
  return {};
}

/// Every interval of halves around the range of a small type of integers, member by member.
std::optional<std::string> casts(int, Figures& figures) {
  for (const Type& type : {Type::integer(3), Type::integer(3, false), Type::integer(2)}) {
    const double count = std::ldexp(1.0, type.bits), least = type.is_signed ? -count / 2 : 0, most = least + count - 1;
    for (double l = -12; l <= 12; l += 0.5)
      for (double h = l; h <= std::min(l + 10, 14.0); h += 0.5) {
        const std::vector<Set<F64>> operand = {spread<F64>(l, h)};
        Attributes a;
        a.whole = type;
        const Set<F64> cast = op("cast").map.f64(operand, a, {}), wrap = op("wrap").map.f64(operand, a, {}), saturate = op("saturate").map.f64(operand, a, {});
        double wrapped_least = INFINITY, wrapped_most = -INFINITY;
        for (double x = l; x <= h; x += 0.25) {
          const double t = std::trunc(x), w = t - count * std::floor((t - least) / count), s = std::min(std::max(std::nearbyint(x), least), most);
          wrapped_least = std::min(wrapped_least, w);
          wrapped_most = std::max(wrapped_most, w);
          ++figures.cases;
          std::ostringstream text;
          text << to_string(type) << " of [" << l << ", " << h << "] at " << x;
          const bool in_range = least <= t && t <= most;
          if (in_range ? !holds(cast, t) : !(holds(cast, least) && holds(cast, most) && holds(cast, 0.0))) return "cast to " + text.str();
          if (!holds(wrap, w)) return "wrap to " + text.str() + " without " + hex(w);
          if (!holds(saturate, s)) return "saturate to " + text.str() + " without " + hex(s);
        }
        std::ostringstream text;
        text << to_string(type) << " of [" << l << ", " << h << "]";
        if (wrap.lo.d != wrapped_least || wrap.hi.u != wrapped_most) return "wrap is too wide: " + text.str();
        if (saturate.lo.d != std::clamp(std::nearbyint(l), least, most) || saturate.hi.u != std::clamp(std::nearbyint(h), least, most))
          return "saturate is too wide: " + text.str();
        if (l == h && (!wrap.is_point || !saturate.is_point)) return "more than one value: " + text.str();
      }
  }
  return {};
}

}  // namespace

const std::vector<Check>& bound_checks() {
  static const std::vector<Check> all = {{"approx: the values that its bounds allow, and no others", approximations},
                                         {"cast, wrap, saturate: each member of an interval", casts}};
  return all;
}

}  // namespace erx::test
