// Every legal execution of a recurrence, enumerated: what an implementation may return, value by value.
// Written from the meaning of `scan`, not from its rules. A tree over steps gives a pair: the product of their factors and the value
// that they make of 0; both come of the same tree, so pairs are kept. Formats are so small that a double holds every product and
// every sum of a product and a value exactly (judged once per format), so the only rounding is nearest().
//   Recurrences(rule).states({0.5, 1}, {1, 1}, {})   the values of h_1 and of h_2
#pragma once
#include <map>
#include <utility>

#include "ops/scan.hpp"
#include "tests/sum/oracle.hpp"

namespace erx::test {

class Recurrences {
 public:
  explicit Recurrences(const ScanRule& rule) : rule_(rule), nu_(std::ldexp(1.0, rule.format.emin())) {}

  /// One Values for each step. `init`: null where the line starts at 0, which an implementation may leave out or compute with.
  std::vector<Values> states(const std::vector<double>& a, const std::vector<double>& b, const double* init) const {
    return rule_.in_order ? in_order(a, b, init) : any_tree(a, b, init);
  }

 private:
  struct Pair {
    double f, x;
    bool operator<(const Pair& other) const { return key() < other.key(); }
    std::pair<std::uint64_t, std::uint64_t> key() const { return {bits(f), bits(x)}; }
    static std::uint64_t bits(double v) { return std::bit_cast<std::uint64_t>(std::isnan(v) ? std::nan("") : v); }
  };
  using Pairs = std::set<Pair>;

  ScanRule rule_;
  double nu_;

  Values read(double x) const {
    Values v(x);
    if (rule_.flushes() && std::fabs(x) < nu_) v.add(std::copysign(0.0, x));
    return v;
  }
  Values rounded(double x) const {
    const double r = nearest(x, rule_.format);
    Values v(r);
    if (rule_.flushes() && (std::fabs(r) < nu_ || std::fabs(x) < nu_)) v.add(std::copysign(0.0, r));
    return v;
  }
  Values product(double x, double y) const {
    Values all;
    read(x).each([&](double p) { read(y).each([&](double q) { all.add(rounded(p * q)); }); });
    return all;
  }
  Values step(double f, double x, double b) const {
    Values all;
    read(b).each([&](double addend) {
      if (rule_.contraction != Contraction::always)
        product(f, x).each([&](double p) { read(p).each([&](double q) { all.add(rounded(q + addend)); }); });
      if (rule_.contraction != Contraction::never)
        read(f).each([&](double p) { read(x).each([&](double q) { all.add(rounded(fused(p, q, addend))); }); });
    });
    return all;
  }
  /// An exact zero of a product keeps its sign; the sum of exact values is exact in double.
  static double fused(double x, double y, double b) { return x * y + b; }

  std::vector<Values> in_order(const std::vector<double>& a, const std::vector<double>& b, const double* init) const {
    std::vector<Values> states;
    Values h(init ? *init : 0.0);
    for (std::size_t t = 0; t < a.size(); ++t) {
      Values next;
      h.each([&](double x) { next.add(step(a[t], x, b[t])); });
      if (t == 0 && !init) next.add(b[0]);
      states.push_back(h = next);
    }
    return states;
  }

  std::vector<Values> any_tree(const std::vector<double>& a, const std::vector<double>& b, const double* init) const {
    const std::size_t n = a.size();
    std::vector<std::vector<Pairs>> of(n + 1, std::vector<Pairs>(n + 1));  // [first][last]; first 0: h_0 and the steps, f unused
    of[0][0].insert({0, init ? *init : 0.0});
    for (std::size_t last = 1; last <= n; ++last) {
      of[last][last].insert({a[last - 1], b[last - 1]});
      for (std::size_t first = last; first-- > 0;)
        for (std::size_t cut = first + 1; cut <= last; ++cut)
          for (const Pair& left : of[first][cut - 1])
            for (const Pair& right : of[cut][last]) {
              Values factors(0.0);
              if (first > 0) factors = product(right.f, left.f);
              step(right.f, left.x, right.x).each([&](double x) { factors.each([&](double f) { of[first][last].insert({f, x}); }); });
            }
    }
    std::vector<Values> states(n);
    for (std::size_t t = 1; t <= n; ++t) {
      for (const Pair& p : of[0][t]) states[t - 1].add(p.x);
      if (!init)
        for (const Pair& p : of[1][t]) states[t - 1].add(p.x);
    }
    return states;
  }
};

}  // namespace erx::test
