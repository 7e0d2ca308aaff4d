// The rules of recurrences against the enumeration of their executions, in all number types.
#include "tests/scan/checks.hpp"

#include <algorithm>

#include "tests/scan/oracle.hpp"
#include "tests/sum/cases.hpp"

namespace erx::test {
namespace {

using Found = std::optional<std::string>;

/// With subnormals and without, infinities, NaN only, neither; precisions 2 to 6.
const std::vector<Format>& formats() {
  static const std::vector<Format> all = {make_format({.e = 3, .m = 1}),
                                          make_format({.e = 3, .m = 2}),
                                          make_format({.e = 4, .m = 3}),
                                          make_format({.e = 4, .m = 5}),
                                          make_format({.e = 3, .m = 2, .subnormals = false}),
                                          make_format({.e = 3, .m = 3, .inf = Infinities::none, .nan = Nans::top}),
                                          make_format({.e = 2, .m = 3, .inf = Infinities::none, .nan = Nans::none})};
  return all;
}

/// What one operand of a step may be; one value mostly.
using Members = std::vector<double>;

struct Line {
  std::vector<Members> a, b;
  std::optional<Members> init;
  std::string text() const {
    std::ostringstream out;
    const auto all = [&](const char* name, const std::vector<Members>& list) {
      out << " " << name << " = (";
      for (const Members& m : list) {
        out << (&m == &list[0] ? "" : ", ");
        if (m.size() > 1) out << "{";
        for (const double& x : m) out << (&x == &m[0] ? "" : ", ") << x;
        if (m.size() > 1) out << "}";
      }
      out << ")";
    };
    all("a", a);
    all("b", b);
    if (init) all("h_0", {*init});
    return out.str();
  }
};

template <class R>
Set<R> set_of(const Members& m, Context c) {
  Spread s;
  for (const double x : m) s.members.push_back({x});
  return leaf_as<R>(s, c).value;
}

template <class R>
ScanLine<R> line_as(const Line& line, Context c) {
  ScanLine<R> r;
  for (const Members& m : line.a) r.a.push_back(set_of<R>(m, c));
  for (const Members& m : line.b) r.b.push_back(set_of<R>(m, c));
  if (line.init) r.init = set_of<R>(*line.init, c);
  return r;
}

/// What all assignments of members may give.
std::vector<Values> legal_states(const Line& line, const ScanRule& rule) {
  std::vector<const Members*> all;
  for (const Members& m : line.a) all.push_back(&m);
  for (const Members& m : line.b) all.push_back(&m);
  if (line.init) all.push_back(&*line.init);
  const std::size_t n = line.a.size();
  const Recurrences recurrences(rule);
  std::vector<Values> states(n);
  std::vector<std::size_t> at(all.size(), 0);
  for (;;) {
    std::vector<double> x;
    for (std::size_t k = 0; k < all.size(); ++k) x.push_back((*all[k])[at[k]]);
    const auto middle = x.begin() + static_cast<std::ptrdiff_t>(n);
    const auto some = recurrences.states({x.begin(), middle}, {middle, middle + static_cast<std::ptrdiff_t>(n)}, line.init ? &x.back() : nullptr);
    for (std::size_t t = 0; t < n; ++t) states[t].add(some[t]);
    std::size_t k = 0;
    while (k < at.size() && ++at[k] == all[k]->size()) at[k++] = 0;
    if (k == at.size()) return states;
  }
}

std::string rule_text(const ScanRule& r) {
  std::ostringstream out;
  out << r.format.name << (r.in_order ? " in order" : r.hull_steps ? " hull" : " bound") << " fma " << static_cast<int>(r.contraction) << " ftz "
      << static_cast<int>(r.flush);
  return out.str();
}

template <class R>
Found missing(const std::vector<Set<R>>& sets, const std::vector<Values>& legal, const Line& line, const ScanRule& rule, const char* tier) {
  Found found;
  for (std::size_t t = 0; t < sets.size() && !found; ++t)
    legal[t].each([&](double x) {
      if (found || is_in(x, sets[t])) return;
      std::ostringstream out;
      out << tier << ": " << rule_text(rule) << ";" << line.text() << "; h_" << t + 1 << " = " << (std::signbit(x) ? "-" : "+") << std::fabs(x) << " is legal, the set is ";
      if (sets[t].has_reals()) out << "[" << lower(sets[t].lo) << ", " << upper(sets[t].is_point ? sets[t].lo : sets[t].hi) << "]";
      out << " flags " << static_cast<int>(sets[t].flags);
      found = out.str();
    });
  return found;
}

void measure(Figures::Width& w, const Set<Exact>& s, const Values& legal, const Format& f) {
  double lo = INFINITY, hi = -INFINITY;
  bool finite = true;
  legal.each([&](double x) {
    finite = finite && std::isfinite(x);
    lo = std::min(lo, x);
    hi = std::max(hi, x);
  });
  if (!finite || !s.has_reals() || (s.flags & (has_nan | any_infinity))) return;
  const double ratio = count_values(f, lower(s.lo), upper(s.is_point ? s.lo : s.hi)) / count_values(f, lo, hi);
  w.sum += ratio;
  ++w.count;
  w.largest = std::max(w.largest, ratio);
  w.single += lo == hi;
  w.needless += lo == hi && ratio > 1;
}

/// The values of a line: ordinary, decaying, near the smallest or the largest value, whole numbers, special.
class RandomLines {
 public:
  RandomLines(std::uint64_t seed, const Format& f) : random_(seed), f_(f), codes_(codes_of(f)) {}

  std::uint64_t operator()(std::uint64_t n) { return random_() % n; }

  Line operator()(std::size_t n, bool has_init, bool spread) {
    const auto kind = random_() % 10;
    Line line;
    const auto members = [&](double (RandomLines::*one)(std::uint64_t)) {
      Members m;
      const std::size_t count = spread && random_() % 2 ? 2 : 1;
      while (m.size() < count) m.push_back((this->*one)(random_() % 4 ? kind : 0));
      return m;
    };
    for (std::size_t t = 0; t < n; ++t) {
      line.a.push_back(members(&RandomLines::factor));
      line.b.push_back(members(&RandomLines::term));
    }
    if (has_init) line.init = members(&RandomLines::term);
    return line;
  }

 private:
  std::mt19937_64 random_;
  Format f_;
  std::vector<double> codes_;

  double sign() { return random_() & 1 ? 1 : -1; }
  double finite() {
    double x;
    do x = codes_[random_() % codes_.size()];
    while (!std::isfinite(x));
    return x;
  }
  double below(double limit) {
    double x;
    do x = finite();
    while (std::fabs(x) > limit);
    return x;
  }
  double power(int above) { return std::ldexp(1.0, std::min(f_.emin() + static_cast<int>(random_() % static_cast<std::uint64_t>(above)), f_.emax())); }

  double factor(std::uint64_t kind) {
    switch (kind) {
      case 1: return below(1);
      case 2: return std::fabs(below(1));
      case 3: return sign() * power(3);                                      // products of factors vanish
      case 4: return sign() * std::min(f_.max_finite(), std::ldexp(1.0, static_cast<int>(random_() % 3)));  // and grow
      case 5: return random_() & 1 ? 1.0 : sign();
      case 6: return codes_[random_() % codes_.size()];
      case 7: return sign() * (random_() & 1 ? f_.min_positive() : below(1));
      case 9: return sign() * std::ldexp(1.0, f_.emax() / 2 + static_cast<int>(random_() % 2));  // their products overflow, states need not
      default: return below(4);
    }
  }
  double term(std::uint64_t kind) {
    switch (kind) {
      case 2: return std::fabs(finite());
      case 3: return sign() * power(4);
      case 4: return sign() * (random_() & 1 ? f_.max_finite() : next_down(f_, f_.max_finite()));
      case 5: return sign() * static_cast<double>(random_() % 3);
      case 6: return codes_[random_() % codes_.size()];
      case 7: return sign() * static_cast<double>(random_() % (f_.has_subnormals ? 4 : 2)) * f_.min_positive();
      case 8: return random_() & 1 ? 0.0 : finite();
      case 9: return random_() % 4 ? 0.0 : sign() * f_.min_positive();
      default: return finite();
    }
  }
};

enum class Way { in_order, hull, bound };

Found run(int effort, std::uint64_t seed, Way way, bool spread, bool flushes, Figures& figures) {
  for (std::size_t at = 0; at < formats().size(); ++at) {
    RandomLines random(seed + 977 * at, formats()[at]);
    for (int i = 0; i < effort; ++i) {
      ScanRule rule;
      rule.format = formats()[at];
      rule.in_order = way == Way::in_order;
      rule.contraction = std::array{Contraction::free, Contraction::free, Contraction::always, Contraction::never}[random(4)];
      rule.flush = flushes ? (random(2) ? Flush::yes : Flush::free) : Flush::no;
      rule.hull_steps = way == Way::hull ? 12 : 0;
      const std::size_t most = spread ? 4 : flushes ? 5 : 7, n = 1 + random(most);
      const Line line = random(n, random(2), spread);
      const std::vector<Values> legal = legal_states(line, rule);
      ++figures.cases;
      for (const Values& v : legal) figures.values += static_cast<long>(v.size());
      if (Found f = missing(scan_states(line_as<F64>(line, {}), rule, {}), legal, line, rule, "F64")) return f;
      if (i % 4 == 0)
        if (Found f = missing(scan_states(line_as<Big>(line, {128}), rule, {128}), legal, line, rule, "Big")) return f;
      const auto sets = scan_states(line_as<Exact>(line, {}), rule, {});
      if (Found f = missing(sets, legal, line, rule, "Exact")) return f;
      if (Figures::Width* w = figures.width(flushes))
        for (std::size_t t = 0; t < n; ++t) measure(*w, sets[t], legal[t], rule.format);
    }
  }
  return {};
}

Found in_order(int effort, Figures& f) { return run(2 * effort, 101, Way::in_order, false, false, f); }
Found in_order_sets(int effort, Figures& f) { return run(effort, 202, Way::in_order, true, false, f); }
Found in_order_flushed(int effort, Figures& f) { return run(effort, 303, Way::in_order, false, true, f); }
Found hull(int effort, Figures& f) { return run(effort, 404, Way::hull, false, false, f); }
Found hull_sets(int effort, Figures& f) { return run(effort / 2, 505, Way::hull, true, false, f); }
Found hull_flushed(int effort, Figures& f) { return run(effort / 2, 606, Way::hull, false, true, f); }
Found bound(int effort, Figures& f) { return run(2 * effort, 707, Way::bound, false, false, f); }
Found bound_sets(int effort, Figures& f) { return run(effort, 808, Way::bound, true, false, f); }
Found bound_flushed(int effort, Figures& f) { return run(effort / 2, 909, Way::bound, false, true, f); }

}  // namespace

const std::vector<Check>& scan_checks() {
  static const std::vector<Check> all = {{"seq", in_order},     {"seq, sets", in_order_sets}, {"seq, flushed", in_order_flushed},
                                         {"any, hull", hull},   {"any, hull, sets", hull_sets}, {"any, hull, flushed", hull_flushed},
                                         {"any, bound", bound}, {"any, bound, sets", bound_sets}, {"any, bound, flushed", bound_flushed}};
  return all;
}

}  // namespace erx::test
