// Random sums in small formats, handed to the rules in every number type, and judged by the oracle.
//   Case c = random_case(random, format, factors, 4, ...);   check<F64>(c, rule, "hull", found)
#pragma once
#include <random>
#include <sstream>
#include <string>

#include "ops/num/exact_sum.hpp"
#include "tests/sum/oracle.hpp"

namespace erx::test {

/// A leaf that may be any of its members.
struct Spread {
  std::vector<Operand> members;
  double grid = 0;
  int exponent = 0;
};

struct Case {
  std::vector<Spread> leaves;
  std::string text() const {
    std::ostringstream out;
    for (const Spread& s : leaves) {
      out << (s.members[0].product ? " product{" : " {");
      for (const Operand& o : s.members) out << o.value << (&o == &s.members.back() ? "" : ", ");
      out << "}";
    }
    return out.str();
  }
};

inline std::uint8_t flags_of(double x) {
  if (std::isnan(x)) return has_nan;
  if (std::isinf(x)) return x > 0 ? has_pinf : has_ninf;
  return x == 0 ? (std::signbit(x) ? has_nzero : has_pzero) : 0;
}

template <class R>
Leaf<R> leaf_as(const Spread& s, Context c) {
  std::uint8_t flags = 0;
  double lo = INFINITY, hi = -INFINITY;
  for (const Operand& o : s.members) {
    flags |= flags_of(o.value);
    if (!std::isfinite(o.value)) continue;
    lo = std::min(lo, o.value);
    hi = std::max(hi, o.value);
  }
  Leaf<R> leaf;
  leaf.is_product = s.members[0].product;
  leaf.grid = s.grid;
  leaf.exponent = s.exponent;
  if (lo > hi) leaf.value = Set<R>::special(flags);
  else if (lo == hi) leaf.value = Set<R>::point(R::exact(lo, c), flags);
  else {
    if (lo < 0 && hi > 0) flags |= any_zero;
    leaf.value = Set<R>::between(R::exact(lo, c), R::exact(hi, c), flags);
  }
  return leaf;
}

template <class R>
std::vector<Leaf<R>> leaves_as(const Case& k, Context c) {
  std::vector<Leaf<R>> leaves;
  for (const Spread& s : k.leaves) leaves.push_back(leaf_as<R>(s, c));
  return leaves;
}

/// The summary of a sum as the evaluator makes it for long sums.
template <class R>
SumParts<R> summary(const Case& k, Context c) {
  SumParts<R> parts;
  SpecialLeaves special;
  parts.grid = INFINITY;
  for (const Leaf<R>& leaf : leaves_as<R>(k, c)) {
    const Set<R>& v = leaf.value;
    special.add(v.flags, v.may_be(has_nzero));
    ++parts.leaves;
    parts.products += leaf.is_product;
    parts.grid = std::min(parts.grid, leaf.grid);
    if (!v.has_reals()) {
      parts.has_reals = false;
      continue;
    }
    parts.is_point &= v.is_point;
    parts.lower = add(parts.lower, v.lo);
    parts.upper = add(parts.upper, v.hi);
    parts.magnitude = add(parts.magnitude, max_of(abs_of(v.lo), abs_of(v.hi)));
  }
  special.finish(parts);
  return parts;
}

/// Is the value in the set, as far as its enclosures tell? An element without freedom has one end.
template <class R>
bool is_in(double x, const Set<R>& s) {
  const std::uint8_t flag = flags_of(x);
  if (flag & (has_nan | any_infinity)) return s.flags & flag;
  if (!s.has_reals()) return false;
  if (x == 0 && !(s.flags & flag)) return false;
  return lower(s.lo) <= x && x <= upper(s.is_point ? s.lo : s.hi);
}

/// Every value of the format, infinities, NaN and both zeros included.
inline std::vector<double> codes_of(const Format& f) {
  std::vector<double> all;
  for (std::uint64_t code = 0; code < (std::uint64_t{1} << f.width()); ++code) all.push_back(decode(f, code));
  return all;
}

inline double lowest_bit_of(double x) {
  if (x == 0 || !std::isfinite(x)) return INFINITY;
  double q = std::ldexp(1.0, std::ilogb(x));
  while (std::fmod(x, q) != 0) q /= 2;
  return q;
}

/// Leaves of every kind; with `spread` some are sets of several values.
class RandomCases {
 public:
  RandomCases(std::uint64_t seed, const Format& f, const Format& a, const Format& b) : random_(seed), f_(f), a_(a), b_(b), plain_(codes_of(f)), first_(codes_of(a)), second_(codes_of(b)) {}

  std::uint64_t operator()(std::uint64_t n) { return random_() % n; }

  double pick(const std::vector<double>& codes, const Format& f, int kind) {
    switch (kind) {
      case 0: return codes[random_() % codes.size()];
      case 1: return (random_() & 1 ? 1 : -1) * (random_() & 1 ? f.max_finite() : next_down(f, f.max_finite()));
      case 2: return (random_() & 1 ? 1 : -1) * static_cast<double>(random_() % (f.has_subnormals ? 3 : 2)) * f.min_positive();
      case 3: return (random_() & 1 ? 1 : -1) * std::ldexp(1.0, f.emin() + static_cast<int>(random_() % 3));
      default: {
        double x;
        do x = codes[random_() % codes.size()];
        while (!std::isfinite(x));
        return x;
      }
    }
  }

  Case operator()(std::size_t n, double products, bool spread) {
    Case k;
    // Mostly of one kind: all ordinary, all tiny, all huge; specials seldom.
    const int kinds[] = {4, 4, 4, 4, 3, 2, 1, 0};
    const int kind = kinds[random_() % 8];
    while (k.leaves.size() < n) {
      Spread s;
      const bool product = static_cast<double>(random_() % 1000) < 1000 * products;
      const int own = random_() % 3 ? kind : 4;
      const std::size_t members = spread && random_() % 2 ? 2 + random_() % 2 : 1;
      if (product) {
        const double x = pick(first_, a_, own), y = pick(second_, b_, own);
        double grid_x = lowest_bit_of(x);
        s.members.push_back({x * y, true});
        for (std::size_t m = 1; m < members; ++m) {
          const double z = pick(first_, a_, own);
          grid_x = std::min(grid_x, lowest_bit_of(z));
          s.members.push_back({z * y, true});
        }
        const double grid_y = lowest_bit_of(y);
        s.grid = std::isinf(grid_x) || std::isinf(grid_y) ? INFINITY : grid_x * grid_y;
        s.exponent = 0;
      } else {
        s.grid = INFINITY;
        for (std::size_t m = 0; m < members; ++m) {
          double x = pick(plain_, f_, own);
          if (m == 0 && !k.leaves.empty() && !k.leaves.back().members[0].product && random_() % 4 == 0) x = -k.leaves.back().members[0].value;
          s.members.push_back({x, false});
          s.grid = std::min(s.grid, lowest_bit_of(x));
        }
      }
      // A leaf that may be special has no known grid, as in the evaluator.
      for (const Operand& o : s.members)
        if (!std::isfinite(o.value)) s.grid = 0;
      if (random_() % 4 == 0) s.grid = 0;
      k.leaves.push_back(s);
    }
    return k;
  }

 private:
  std::mt19937_64 random_;
  Format f_, a_, b_;
  std::vector<double> plain_, first_, second_;
};

/// What all assignments of members may give.
inline Values results(const Case& k, const std::function<Values(const std::vector<Operand>&)>& run) {
  Values all;
  std::vector<std::size_t> at(k.leaves.size(), 0);
  for (;;) {
    std::vector<Operand> leaves;
    for (std::size_t i = 0; i < at.size(); ++i) leaves.push_back(k.leaves[i].members[at[i]]);
    all.add(run(leaves));
    std::size_t i = 0;
    while (i < at.size() && ++at[i] == k.leaves[i].members.size()) at[i++] = 0;
    if (i == at.size()) return all;
  }
}

}  // namespace erx::test
