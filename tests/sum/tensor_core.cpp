// Tensor cores: a model of the hardware in random groupings and orders against the bound of tensor_core(L, F).
// source of the model: 2-numerics section 6 (products exact, exponent fields added, terms truncated, sum exact, result truncated).
#include <algorithm>

#include "tests/sum/cases.hpp"
#include "tests/sum/checks.hpp"

namespace erx::test {
namespace {

struct Factors {
  double a, b;
  int exponent;  // sum of the two fields
};

int field(double x, const Format& f) { return x == 0 ? f.emin() : std::max(std::ilogb(x), f.emin()); }

double truncate(double x, int place) { return std::trunc(x / std::ldexp(1.0, place)) * std::ldexp(1.0, place); }

/// One call: the accumulator and some products.
double call(double d, const std::vector<Factors>& terms, const Format& out, int kept) {
  int e = field(d, out);
  for (const Factors& t : terms) e = std::max(e, t.exponent);
  double sum = truncate(d, e - kept);
  for (const Factors& t : terms) sum += truncate(t.a * t.b, e - kept);
  return truncate(sum, field(sum, out) - out.precision() + 1);
}

/// All products in random order, in the least number of calls, each filled at random.
double execute(std::mt19937_64& random, double c, std::vector<Factors> terms, const Format& out, std::size_t length, int kept) {
  std::shuffle(terms.begin(), terms.end(), random);
  const std::size_t calls = (terms.size() + length - 1) / length;
  std::vector<std::vector<Factors>> groups(calls);
  for (const Factors& t : terms) {
    std::size_t g;
    do g = random() % calls;
    while (groups[g].size() == length);
    groups[g].push_back(t);
  }
  double d = c;
  for (const auto& g : groups) d = call(d, g, out, kept);
  return d;
}

std::optional<std::string> tensor_core(int effort, Figures& figures) {
  const Format out = make_format({.e = 5, .m = 5}), a = make_format({.e = 3, .m = 2}), b = make_format({.e = 4, .m = 3});
  const std::vector<double> codes_a = codes_of(a), codes_b = codes_of(b), codes_out = codes_of(out);
  std::mt19937_64 random(7);
  const auto pick = [&](const std::vector<double>& codes) {
    double x;
    do x = random() % 6 == 0 ? 0 : codes[random() % codes.size()];
    while (!std::isfinite(x));
    return x;
  };
  for (int i = 0; i < effort * 20; ++i) {
    SumRule rule;
    rule.rounds = true;
    rule.format = out;
    rule.order.kind = OrderKind::tensor_core;
    const int shape = static_cast<int>(random() % 4);
    const std::size_t length = shape == 3 ? 1 : 1 + random() % 4;
    const int kept = shape == 3 ? 12 : 2 + static_cast<int>(random() % 7);
    rule.order.numbers = {static_cast<std::int64_t>(length), kept};
    Case k;
    std::vector<Factors> terms;
    const std::size_t n = 1 + random() % 8;
    for (std::size_t j = 0; j < n; ++j) {
      double x = pick(codes_a), y = pick(codes_b);
      // Truncations add up where the terms share a sign; a zero beside a large factor has a large exponent.
      if (shape > 0) x = std::fabs(x), y = std::fabs(y);
      if (shape == 2 && j == 0) x = 0, y = 1.875 * 128;
      if (shape == 3) x = 0.5, y = 1.875;  // with c = 32 each call cuts nearly one unit off
      const int e = field(x, a) + field(y, b);
      terms.push_back({x, y, e});
      Spread s;
      s.members = {{x * y, true}};
      s.exponent = e;
      k.leaves.push_back(s);
    }
    // One product may be of the other sign: a set.
    std::vector<Factors> others = terms;
    others[0].a = -others[0].a;
    if (shape == 0) k.leaves[0].members.push_back({others[0].a * others[0].b, true});
    double c = 0;
    if (shape == 3 || random() % 2) {
      c = shape == 3 ? 32 : pick(codes_out);
      if (shape > 0) c = std::fabs(c);
      if (std::fabs(c) > 1000) c = 0;
      Spread s;
      s.members = {{c, false}};
      s.exponent = field(c, out);
      k.leaves.push_back(s);
    }
    const Set<F64> f64 = sum_of_leaves(leaves_as<F64>(k, {}), rule, {});
    const Set<Exact> exact = sum_of_leaves(leaves_as<Exact>(k, {}), rule, {});
    ++figures.cases;
    double least = INFINITY, greatest = -INFINITY;
    for (int r = 0; r < 6; ++r) {
      const double d = execute(random, c, shape == 0 && r % 2 ? others : terms, out, length, kept);
      ++figures.values;
      if (std::fabs(d) > out.max_finite()) continue;
      least = std::min(least, d);
      greatest = std::max(greatest, d);
      if (is_in(d, f64) && is_in(d, exact)) continue;
      std::ostringstream text;
      text << "L " << length << " F " << kept << " leaves" << k.text() << ": " << d << " is legal, the set is [" << lower(exact.lo) << ", " << upper(exact.hi) << "]";
      return text.str();
    }
    // Against the executions that were tried, not all that there are.
    if (Figures::Width* w = figures.width(); w && least <= greatest && !(exact.flags & (has_nan | any_infinity))) {
      const double ratio = count_values(out, lower(exact.lo), upper(exact.hi)) / count_values(out, least, greatest);
      w->sum += ratio;
      ++w->count;
      w->largest = std::max(w->largest, ratio);
      w->single += least == greatest;
      w->needless += least == greatest && ratio > 1;
    }
  }
  return {};
}

/// The result is not monotone: products that are sets hold values beyond what their ends give.
std::optional<std::string> not_monotone(int, Figures& figures) {
  const Format out = make_format({.e = 5, .m = 3});
  SumRule rule;
  rule.rounds = true;
  rule.format = out;
  rule.order.kind = OrderKind::tensor_core;
  rule.order.numbers = {4, 3};
  const auto terms = [](double first) {
    std::vector<Factors> t;
    for (double x : {first, 0.25, -1.5625, 0.875}) t.push_back({x, 1, std::ilogb(x)});
    return t;
  };
  const double low = call(0, terms(3.875), out, 3), high = call(0, terms(4.0625), out, 3);
  if (low != 3.25 || high != 3.0) return "the model gives " + std::to_string(low) + " and " + std::to_string(high) + " for 3.25 and 3.0";
  Case k;
  for (double x : {4.0625, 0.25, -1.5625, 0.875}) k.leaves.push_back({{{x, true}}, 0, std::ilogb(x)});
  k.leaves[0].members.push_back({3.875, true});
  const Set<Exact> s = sum_of_leaves(leaves_as<Exact>(k, {}), rule, {});
  ++figures.cases;
  for (double x : {low, high})
    if (!is_in(x, s)) return "a set of products: " + std::to_string(x) + " is left out";
  return {};
}

/// acc<f32> proves a truncating tensor core wrong, tensor_core(8, 24) allows it.
std::optional<std::string> proved_wrong(int, Figures& figures) {
  const Format& f32 = *find_format("f32");
  Case k;
  for (double x : {1 + 0x1p-8, 1.5 * 0x1p-24}) k.leaves.push_back({{{x, true}}, lowest_bit_of(x), std::ilogb(x)});
  SumRule rule;
  rule.rounds = true;
  rule.format = f32;
  rule.products_fit = true;
  ++figures.cases;
  const Set<Exact> nearest_sum = sum_of_leaves(leaves_as<Exact>(k, {}), rule, {});
  if (!(lower(nearest_sum.lo) > 1 + 0x1p-8)) return "acc<f32> holds the truncated sum";
  rule.order.kind = OrderKind::tensor_core;
  rule.order.numbers = {8, 24};
  const Set<Exact> cut = sum_of_leaves(leaves_as<Exact>(k, {}), rule, {});
  if (!is_in(1 + 0x1p-8, cut)) return "tensor_core(8, 24) leaves the truncated sum out";
  return {};
}

}  // namespace

const std::vector<Check>& tensor_core_checks() {
  static const std::vector<Check> all = {{"tensor core", tensor_core}, {"tensor core, sets", not_monotone}, {"tensor core and acc<f32>", proved_wrong}};
  return all;
}

}  // namespace erx::test
