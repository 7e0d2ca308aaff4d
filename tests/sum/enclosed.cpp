// Sums of enclosures and reductions, in vectors: the ends against exact sums of the ends, whole evaluations against multiple precision, and
// tile by tile against element by element.
#include <algorithm>
#include <cmath>
#include <random>

#include "bindings/call.hpp"
#include "eval/evaluate.hpp"
#include "ops/enclosed_sum.hpp"
#include "ops/num/exact_sum.hpp"
#include "tests/sum/checks.hpp"

namespace erx::test {
namespace {

using Found = std::optional<std::string>;
using Tier = EvaluateOptions::Tier;

std::string text_of(const char* format, auto... values) {
  char text[300];
  std::snprintf(text, sizeof text, format, values...);
  return text;
}

constexpr int kinds = 11;
const char* const kind_names[kinds] = {"gaussian", "wide", "cancelling", "integers", "around 0", "zeros", "least powers of two", "tiny", "large", "wide and cancelling", "1 or 2^-541"};

/// Enclosures of one kind, in order: the next one may answer the one before.
F64 draw(std::mt19937_64& random, int kind, const F64& before, std::size_t i) {
  std::normal_distribution<double> normal;
  double x = normal(random);
  const double width = random() % 4 ? std::fabs(normal(random)) * 0x1p-50 : 0;
  switch (kind) {
    case 1: x = std::copysign(std::exp(10 * normal(random)), x); break;
    case 2: return i % 2 ? F64{-before.u, -before.d} : F64{x, x + std::fabs(x) * width};
    case 3: return F64::exact(static_cast<double>(static_cast<std::int64_t>(random() % 2001) - 1000));
    case 4: return {-std::fabs(x) * 0x1p-40, random() % 3 ? std::fabs(normal(random)) * 0x1p-40 : 1};
    case 5:
      if (random() % 3) return random() % 2 ? F64{0, 0} : F64{-0.0, -0.0};
      break;
    case 6: return F64::exact(std::ldexp(1.0, -static_cast<int>(random() % 1000)));
    case 7: x *= 0x1p-540; break;
    case 8: x *= 0x1p400; break;
    case 9: return F64::exact(i % 2 ? -before.d : std::copysign(std::exp(10 * normal(random)), x));
    case 10: return F64::exact(i % 3 ? 1 : 0x1p-541);
    default: break;
  }
  return {x - std::fabs(x) * width, x + std::fabs(x) * width};
}

/// The ends of the sums against the exact sums of the ends.
Found ends(int effort, Figures& figures) {
  for (int number = 0; number < 40 * effort; ++number) {
    const std::uint64_t seed = 77 + static_cast<std::uint64_t>(number);
    std::mt19937_64 random(seed);
    const int kind = number % kinds, other = random() % 2 ? kind : static_cast<int>(random() % kinds);
    const bool products = number / kinds % 2;
    const std::size_t n = 1 + random() % (number % 5 ? 100 : 3000);
    std::vector<double> ends[4] = {std::vector<double>(n), std::vector<double>(n), std::vector<double>(n), std::vector<double>(n)};
    F64 x{}, y{};
    for (std::size_t i = 0; i < n; ++i) {
      x = draw(random, kind, x, i);
      y = draw(random, products ? other : 0, y, i);
      const double all[] = {x.d, x.u, y.d, y.u};
      for (int e = 0; e < 4; ++e) ends[e][i] = all[e];
    }
    EnclosedSum sum;
    const std::size_t half = random() % (n + 1);
    for (const auto& [first, count] : {std::pair{std::size_t{0}, half}, std::pair{half, n - half}}) {
      EnclosedSum part;
      if (products) part.add_products(&ends[0][first], &ends[1][first], &ends[2][first], &ends[3][first], count);
      else part.add(&ends[0][first], &ends[1][first], count);
      sum.add(part);
    }
    ++figures.cases;
    if (!sum.is_ordinary()) continue;
    ++figures.values;
    // Members: the ends; of products the corners, which hold the extremes, and some of them.
    const F64 found = sum.value(), magnitude = sum.magnitude();
    const auto name = [&] {
      return text_of("%zu %s of kinds %s and %s, seed %llu: [%a, %a] ", n, products ? "products" : "leaves", kind_names[kind], kind_names[other],
                     static_cast<unsigned long long>(seed), found.d, found.u);
    };
    for (int pick = 0; pick < 6; ++pick) {
      ExactSum exact, magnitudes;
      for (std::size_t i = 0; i < n; ++i) {
        double a = ends[0][i], b = products ? ends[2][i] : 1;
        if (pick == 1) a = ends[1][i];
        if (pick > 1) {  // the corner with the least or the greatest product
          const bool greatest = pick % 2;
          for (const double p : {ends[0][i], ends[1][i]})
            for (const double q : {products ? ends[2][i] : 1, products ? ends[3][i] : 1}) {
              ExactSum difference;
              difference.add_product(p, q);
              difference.subtract_product(a, b);
              if (pick < 4 ? (greatest ? difference.sign() > 0 : difference.sign() < 0) : random() % 2) a = p, b = q;
            }
        }
        exact.add_product(a, b);
        magnitudes.add_product(std::fabs(a), std::fabs(b));
      }
      ExactSum below = exact, above = exact;
      below.add(-found.d);
      above.add(-found.u);
      if (below.sign() < 0 || above.sign() > 0) return name() + text_of("does not hold a member's sum near %a", exact.f64().d);
      below = above = magnitudes;
      below.add(-magnitude.d);
      above.add(-magnitude.u);
      if (below.sign() < 0 || above.sign() > 0) return name() + text_of("magnitude [%a, %a] does not hold a member's near %a", magnitude.d, magnitude.u, magnitudes.f64().d);
      if (kind == 3 && !products && !(found.d == found.u)) return name() + "integers whose sum doubles hold are not exact";
    }
  }
  return {};
}

Tensor data(std::mt19937_64& random, int kind, const Extents& extents) {
  std::vector<double> v(static_cast<std::size_t>(size_of(extents)));
  std::normal_distribution<double> normal;
  for (std::size_t i = 0; i < v.size(); ++i) {
    double x = normal(random);
    if (kind == 1) x = i % 3 ? x : 30 * x;
    if (kind == 2) x = static_cast<double>(static_cast<int>(random() % 7) - 3);
    if (kind == 3) x = random() % 3 ? (random() % 2 ? 0.0 : -0.0) : x;
    if (kind == 4 && random() % 200 == 0) x = random() % 2 ? INFINITY : random() % 2 ? -INFINITY : NAN;
    v[i] = static_cast<float>(x);
  }
  return Tensor::of(Type::of(*find_format("f32")), extents, v);
}

/// Whole evaluations: an enclosure of a real number holds what multiple precision makes of it; what is rounded is the same set.
Found evaluations(int effort, Figures& figures) {
  const char* const texts[] = {"sum(exp(x), axis=1)",
                               "sum(exp(x), axis=0)",
                               "sum(exp(x))",
                               "sum(exp(x) - exp(y), axis=1)",
                               "sum(exp(x) * tanh(y), axis=1)",
                               "sum(exp(x) * y, axis=0)",
                               "sum((x / 3) * (x / 3), axis=1)",
                               "sum(x / 3, axis=1) - sum(tanh(y) * x, axis=1)",
                               "max(x, axis=1)",
                               "min(x)",
                               "max(x, axis=0)",
                               "max(exp(x) - 1, axis=1)",
                               "min(tanh(x) * y, axis=1)",
                               "sum(approx<f32, ulp=2>(exp(x)), axis=1)",
                               "max(approx<f32, ulp=2>(tanh(x)), axis=1)",
                               "sum(approx<f32, ulp=2>(exp(x)) - x, axis=1)",
                               "sum(exp(x - max(x, axis=1, keepdims=true)), axis=1)"};
  int number = 0;
  for (const char* text : texts)
    for (int kind = 0; kind < 5; ++kind) {
      if (++number % (effort >= 100 ? 1 : 2)) continue;
      std::mt19937_64 random(static_cast<std::uint64_t>(number));
      const Extents extents = number % 3 ? Extents{5, 67} : Extents{3, 1100};
      const std::map<std::string, Tensor> inputs = {{"x", data(random, kind, extents)}, {"y", data(random, number % 2 ? kind : 0, extents)}};
      const auto evaluate = [&](const std::string& spec, Tier lowest, int threads) {
        const auto program = parse(spec);
        std::map<std::string, Tensor> used;
        for (const auto& [name, tensor] : inputs)
          if (spec.find("(" + name) != std::string::npos || spec.find(" " + name) != std::string::npos) used[name] = tensor;
        const Call call = make_call(program->spec(), used);
        EvaluateOptions options;
        options.lowest = lowest;
        options.threads = threads;
        Evaluation e(call.graph, call.inputs, options);
        return e.result(0).planes.at(0);
      };
      const std::string stored = "round<f64>(" + std::string(text) + ")";
      const Plane fast = evaluate(text, Tier::f64, 1), two = evaluate(text, Tier::f64, 2), rounded = evaluate(stored, Tier::f64, 1), exact = evaluate(stored, Tier::big, 2);
      ++figures.cases;
      for (std::size_t i = 0; i < fast.lo_d->size(); ++i) {
        ++figures.values;
        const auto flags = [&](const Plane& p) { return p.flags ? (*p.flags)[i] : std::uint8_t{0}; };
        const auto at = [&](const char* what) {
          return std::string(text) + text_of(" (data %d, number %d), element %zu: [%a..%a, %a..%a] flags %d, rounded [%a, %a] flags %d, exactly [%a, %a] flags %d: %s", kind, number, i,
                                             (*fast.lo_d)[i], (*fast.lo_u)[i], (*fast.hi_d)[i], (*fast.hi_u)[i], flags(fast), (*rounded.lo_d)[i], (*rounded.hi_u)[i], flags(rounded),
                                             (*exact.lo_d)[i], (*exact.hi_u)[i], flags(exact), what);
        };
        if ((*fast.lo_d)[i] != (*two.lo_d)[i] || (*fast.hi_u)[i] != (*two.hi_u)[i] || flags(fast) != flags(two)) return at("two threads give another set");
        if (flags(rounded) != flags(exact)) return at("flags");
        if (flags(exact) & no_reals) continue;
        if ((*rounded.lo_d)[i] != (*exact.lo_d)[i] || (*rounded.hi_u)[i] != (*exact.hi_u)[i]) return at("tiers differ");
        // Rounding is monotone, and the ends are doubles.
        if (!((*fast.lo_d)[i] <= (*exact.lo_d)[i] && (*exact.lo_d)[i] <= (*fast.lo_u)[i])) return at("the lower end is not in its enclosure");
        if (!((*fast.hi_d)[i] <= (*exact.hi_u)[i] && (*exact.hi_u)[i] <= (*fast.hi_u)[i])) return at("the upper end is not in its enclosure");
        // The enclosures are a few units wide, of what is added, where nothing cancels.
        if (std::string(text).rfind("sum(exp(x), axis", 0) == 0 && kind == 0 && !((*fast.lo_u)[i] - (*fast.lo_d)[i] <= (*fast.lo_d)[i] * 0x1p-48)) return at("too wide");
      }
    }
  return {};
}

}  // namespace

const std::vector<Check>& enclosed_checks() {
  static const std::vector<Check> all = {{"sums of enclosures", ends}, {"sums of real numbers and reductions", evaluations}};
  return all;
}

}  // namespace erx::test
