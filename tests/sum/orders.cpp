// The rules of every order against the enumeration of its executions, in all number types.
#include <algorithm>

#include "ops/sum_rule.hpp"
#include "tests/sum/cases.hpp"
#include "tests/sum/checks.hpp"

namespace erx::test {
namespace {

using Found = std::optional<std::string>;

struct Setting {
  Format format, a, b;  // of the sum and of the factors of its products
};

/// Infinities or NaN only or neither, without subnormals, wide sums of narrow products.
const std::vector<Setting>& settings() {
  static const std::vector<Setting> all = [] {
    const Format tiny = make_format({.e = 3, .m = 1}), small = make_format({.e = 3, .m = 2}), wide = make_format({.e = 4, .m = 5});
    const Format none = make_format({.e = 2, .m = 3, .inf = Infinities::none, .nan = Nans::none});
    const Format top = make_format({.e = 3, .m = 3, .inf = Infinities::none, .nan = Nans::top});
    const Format normal = make_format({.e = 3, .m = 2, .subnormals = false});
    const Format narrow = make_format({.e = 2, .m = 1, .inf = Infinities::none, .nan = Nans::none});
    const Format& f16 = *find_format("f16");
    const Format& e4m3 = *find_format("f8e4m3fn");
    return std::vector<Setting>{{tiny, tiny, tiny}, {small, small, small}, {none, none, none}, {top, top, top}, {normal, normal, normal},
                                {wide, tiny, small}, {small, tiny, tiny}, {f16, e4m3, e4m3}, {narrow, narrow, narrow}, {tiny, narrow, tiny},
                                // precisions that fit, exponents that do not: products are exact unless they underflow
                                {make_format({.e = 3, .m = 5}), small, small}};
  }();
  return all;
}

std::string rule_text(const SumRule& r) {
  std::ostringstream out;
  out << r.format.name << (r.within ? " within" : "") << " order " << static_cast<int>(r.order.kind);
  for (auto n : r.order.numbers) out << " " << n;
  if (r.order.kind == OrderKind::blocked) out << " inner " << static_cast<int>(r.order.inner) << " outer " << static_cast<int>(r.order.outer);
  if (r.order.store) out << " store " << r.order.store->name;
  out << " fma " << static_cast<int>(r.contraction) << " ftz " << static_cast<int>(r.flush) << " fit " << r.products_fit;
  return out.str();
}

template <class R>
std::string set_text(const Set<R>& s) {
  std::ostringstream out;
  if (s.has_reals()) out << "[" << lower(s.lo) << ", " << upper(s.is_point ? s.lo : s.hi) << "]";
  out << " flags " << static_cast<int>(s.flags) << (s.is_point ? " point" : "");
  return out.str();
}

template <class R>
Found missing(const Set<R>& s, const Values& legal, const Case& k, const SumRule& rule, const char* tier) {
  Found found;
  legal.each([&](double x) {
    if (found || is_in(x, s)) return;
    std::ostringstream out;
    out << tier << ": " << rule_text(rule) << "; leaves" << k.text() << "; " << (std::signbit(x) ? "-" : "+") << std::fabs(x) << " is legal, the set is " << set_text(s);
    found = out.str();
  });
  return found;
}

void measure(Figures::Width& w, const Set<Exact>& s, const Values& legal, const Format& f) {
  double lo = INFINITY, hi = -INFINITY;
  bool finite = true;
  legal.each([&](double x) {
    if (!std::isfinite(x)) finite = false;
    lo = std::min(lo, x);
    hi = std::max(hi, x);
  });
  if (!finite || !s.has_reals() || (s.flags & (has_nan | any_infinity))) return;
  // Widths in steps of the format, one result counting as one step: so that single results count too.
  const double set_lo = lower(s.lo), set_hi = upper(s.is_point ? s.lo : s.hi);
  const double ratio = count_values(f, set_lo, set_hi) / count_values(f, lo, hi);
  if (!std::isfinite(ratio)) return;
  w.sum += ratio;
  ++w.count;
  w.largest = std::max(w.largest, ratio);
  w.single += lo == hi;
  w.needless += lo == hi && ratio > 1;
}

enum class Path { leaves, summary };

Found compare_one(const Case& k, const SumRule& rule, Path path, const Values& legal, Figures::Width* width) {
  const auto set = [&](auto zero, Context c) {
    using R = decltype(zero);
    return path == Path::leaves ? sum_of_leaves(leaves_as<R>(k, c), rule, c) : sum_of_parts(summary<R>(k, c), rule, c);
  };
  if (Found f = missing(set(F64{}, {}), legal, k, rule, "F64")) return f;
  if (Found f = missing(set(Big{}, {128}), legal, k, rule, "Big")) return f;
  const Set<Exact> s = set(Exact{}, {});
  if (Found f = missing(s, legal, k, rule, "Exact")) return f;
  if (width) measure(*width, s, legal, rule.format);
  return {};
}

using Shape = void (*)(RandomCases&, SumRule&, std::size_t& n);

/// `hull_leaves`: 12 takes the exact hull, 0 the chain rule.
Found run(int effort, std::uint64_t seed, Path path, std::int64_t hull_leaves, bool spread, Shape shape, Figures& figures) {
  for (std::size_t at = 0; at < settings().size(); ++at) {
    const Setting& setting = settings()[at];
    RandomCases random(seed + at * 977, setting.format, setting.a, setting.b);
    for (int i = 0; i < effort; ++i) {
      SumRule rule;
      rule.rounds = true;
      rule.format = setting.format;
      rule.hull_leaves = rule.kept_order_leaves = hull_leaves;
      rule.chain_leaves = hull_leaves ? 12 : 0;
      rule.contraction = static_cast<Contraction>(random(3));
      rule.flush = random(3) ? Flush::no : random(2) ? Flush::yes : Flush::free;
      rule.products_fit = setting.a.precision() + setting.b.precision() <= setting.format.precision();
      std::size_t n = 1 + random(spread ? 3 : 5);
      if (!spread && random(12) == 0) n = 6;
      shape(random, rule, n);
      const double products[] = {0, 0.5, 1};
      const Case k = random(n, products[random(3)], spread);
      const Executions executions(setting.format, rule);
      const Values legal = results(k, [&](const std::vector<Operand>& leaves) { return executions.run(leaves); });
      ++figures.cases;
      figures.values += static_cast<long>(legal.size());
      if (Found f = compare_one(k, rule, path, legal, spread ? nullptr : figures.width(rule.flush != Flush::no))) return f;
    }
  }
  return {};
}

void any(RandomCases&, SumRule&, std::size_t&) {}
void assoc(RandomCases&, SumRule& r, std::size_t&) { r.order.kind = OrderKind::assoc; }
void sequences(RandomCases& random, SumRule& r, std::size_t&) { r.order.kind = random(2) ? OrderKind::seq : OrderKind::rseq; }
void pairwise(RandomCases& random, SumRule& r, std::size_t&) {
  r.order.kind = OrderKind::pairwise;
  r.order.numbers = {static_cast<std::int64_t>(1 + random(3))};
}
void blocked(RandomCases& random, SumRule& r, std::size_t&) {
  r.order.kind = OrderKind::blocked;
  r.order.numbers = {static_cast<std::int64_t>(1 + random(3))};
  const OrderKind kinds[] = {OrderKind::seq, OrderKind::seq, OrderKind::any, OrderKind::assoc};
  r.order.inner = kinds[random(4)];
  r.order.outer = kinds[random(4)];
}
void from_right(RandomCases& random, SumRule& r, std::size_t&) {
  r.order.kind = OrderKind::blocked;
  r.order.numbers = {static_cast<std::int64_t>(1 + random(3))};
  r.order.inner = random(3) ? OrderKind::rseq : OrderKind::seq;
  r.order.outer = r.order.inner == OrderKind::seq || random(2) ? OrderKind::rseq : OrderKind::seq;
}
void split(RandomCases& random, SumRule& r, std::size_t& n) {
  n = std::max<std::size_t>(n, 2);
  r.order.kind = OrderKind::split;
  r.order.numbers = {static_cast<std::int64_t>(1 + random(4))};
  if (random(3) == 0) r.order.numbers.push_back(static_cast<std::int64_t>(1 + random(4)));
  const Format& f = r.format;
  if (f.has_subnormals && f.fraction_bits > 1 && random(2))
    r.order.store = make_format({.e = f.exponent_bits, .m = f.fraction_bits - 1, .inf = f.infinities, .nan = f.nans});
  else if (f.exponent_bits < 5 && random(3) == 0)
    r.order.store = make_format({.e = 5, .m = 6});
}
void height(RandomCases& random, SumRule& r, std::size_t& n) {
  r.order.kind = OrderKind::height;
  std::int64_t least = 1;  // trees of two children; several terms at once need less
  while ((std::size_t{1} << least) < n) ++least;
  r.order.numbers = {least + static_cast<std::int64_t>(random(2))};
}
void within(RandomCases&, SumRule& r, std::size_t&) {
  r.within = true;
  r.flush = Flush::no;
  r.contraction = Contraction::free;
}

template <Shape shape, Path path, int hull_leaves, bool spread>
Found check(int effort, Figures& figures) {
  return run(effort, 20240901, path, hull_leaves, spread, shape, figures);
}

/// All sums of two and of three plain values of a format with 16 codes.
Found exhaustive(int effort, Figures& figures) {
  const Format f = make_format({.e = 2, .m = 1});
  const std::vector<double> codes = codes_of(f);
  for (const Flush flush : {Flush::no, Flush::free})
    for (const std::int64_t hull_leaves : {12, 0}) {
      SumRule rule;
      rule.rounds = true;
      rule.format = f;
      rule.flush = flush;
      rule.hull_leaves = hull_leaves;
      rule.chain_leaves = hull_leaves;
      const Executions executions(f, rule);
      for (double x : codes)
        for (double y : codes)
          for (double z : codes) {
            if (x > y || y > z || (effort < 20 && z != y)) continue;
            const Case k{{{{{x}}, lowest_bit_of(x)}, {{{y}}, lowest_bit_of(y)}, {{{z}}, lowest_bit_of(z)}}};
            const Values legal = executions.any({{x}, {y}, {z}});
            ++figures.cases;
            figures.values += static_cast<long>(legal.size());
            if (Found found = compare_one(k, rule, Path::leaves, legal, nullptr)) return found;
            if (Found found = compare_one(k, rule, Path::summary, legal, nullptr)) return found;
          }
    }
  return {};
}

/// Sums whose errors carry a partial sum into the next binade: the chain rule has to see the error before the first place.
Found next_binade(int, Figures& figures) {
  const Format f = make_format({.e = 4, .m = 2});
  SumRule rule;
  rule.rounds = true;
  rule.format = f;
  rule.hull_leaves = rule.chain_leaves = 0;
  const Executions executions(f, rule);
  for (const std::vector<double>& x : {std::vector<double>{-0.875, 6, 1.5, 1.25}, {1.5, 4, 0.5, 1.25, 0.625}, {-2, 0.5, 0.5, 2.5, -3.5, -1.5}}) {
    Case k;
    std::vector<Operand> leaves;
    for (double y : x) {
      leaves.push_back({y});
      k.leaves.push_back({{{y}}, 0, 0});
    }
    const Values legal = executions.any(leaves);
    ++figures.cases;
    if (Found found = compare_one(k, rule, Path::leaves, legal, nullptr)) return found;
  }
  return {};
}

/// Whole multiples of a value of the format, small enough for every partial sum: one result in every order.
Found on_grid(int effort, Figures& figures) {
  std::mt19937_64 random(77);
  for (const Setting& setting : settings())
    for (int i = 0; i < effort; ++i) {
      const Format& f = setting.format;
      SumRule rule;
      rule.rounds = true;
      rule.format = f;
      rule.hull_leaves = rule.chain_leaves = 0;
      const double unit = std::max(f.min_normal(), f.max_finite() / std::ldexp(1.0, f.precision() + static_cast<int>(random() % 3)));
      const double q = std::ldexp(1.0, std::ilogb(unit));
      Case k;
      std::vector<Operand> leaves;
      double room = std::min(std::ldexp(1.0, f.precision()), f.max_finite() / q);
      for (std::size_t n = 2 + random() % 4; n-- > 0;) {
        const double most = std::floor(room / 2), x = std::floor(static_cast<double>(random() % 1024) / 1024 * (most + 1));
        room -= x;
        const double leaf = (random() % 2 ? -x : x) * q;
        leaves.push_back({leaf});
        k.leaves.push_back({{{leaf}}, leaf == 0 ? INFINITY : q, 0});
      }
      const Values legal = Executions(f, rule).any(leaves);
      ++figures.cases;
      figures.values += static_cast<long>(legal.size());
      for (const Path path : {Path::leaves, Path::summary})
        if (Found found = compare_one(k, rule, path, legal, figures.width())) return found;
    }
  return {};
}

}  // namespace

const std::vector<Check>& order_checks() {
  static const std::vector<Check> all = {
      {"any, hull", check<any, Path::leaves, 12, false>},
      {"any, chain rule", check<any, Path::leaves, 0, false>},
      {"any, closed bound", check<any, Path::summary, 0, false>},
      {"any, hull, sets", check<any, Path::leaves, 12, true>},
      {"any, chain rule, sets", check<any, Path::leaves, 0, true>},
      {"any, closed bound, sets", check<any, Path::summary, 0, true>},
      {"any, grid rule", on_grid},
      {"any, every triple", exhaustive},
      {"any, next binade", next_binade},
      {"assoc", check<assoc, Path::leaves, 12, false>},
      {"assoc, chain rule", check<assoc, Path::leaves, 0, false>},
      {"assoc, sets", check<assoc, Path::leaves, 12, true>},
      {"seq, rseq", check<sequences, Path::leaves, 12, false>},
      {"seq, rseq, sets", check<sequences, Path::leaves, 12, true>},
      {"pairwise", check<pairwise, Path::leaves, 12, false>},
      {"pairwise, sets", check<pairwise, Path::leaves, 12, true>},
      {"blocked, hull", check<blocked, Path::leaves, 12, false>},
      {"blocked, bounds", check<blocked, Path::leaves, 0, false>},
      {"blocked, sets", check<blocked, Path::leaves, 12, true>},
      {"split, hull", check<split, Path::leaves, 12, false>},
      {"split, bounds", check<split, Path::leaves, 0, false>},
      {"split, sets", check<split, Path::leaves, 12, true>},
      {"height, hull", check<height, Path::leaves, 12, false>},
      {"height, chain rule", check<height, Path::leaves, 0, false>},
      {"height, closed bound", check<height, Path::summary, 0, false>},
      {"within, chain rule", check<within, Path::leaves, 12, false>},
      {"within, closed bound", check<within, Path::summary, 0, false>},
      {"within, sets", check<within, Path::leaves, 0, true>},
      {"blocked, from the right", check<from_right, Path::leaves, 0, false>},
      {"blocked, from the right, sets", check<from_right, Path::leaves, 0, true>},
  };
  return all;
}

}  // namespace erx::test
