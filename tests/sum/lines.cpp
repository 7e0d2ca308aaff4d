// The vector loops of sums that are no matrix products, in any order and in one order, against the same sums leaf by leaf in exact arithmetic.
#include <algorithm>
#include <cmath>
#include <random>

#include "eval/evaluate.hpp"
#include "ops/op.hpp"
#include "ops/rounding.hpp"
#include "tests/sum/checks.hpp"

namespace erx::test {
namespace {

using Found = std::optional<std::string>;
using Tier = EvaluateOptions::Tier;

struct Case {
  std::string name;
  Format operand, sum;
  Order order = {};
  Contraction contraction = Contraction::free;
  bool product = false, negative = false, rounds = true;
  int shape = 0;  // 0: one long sum, 1: rows, 2: columns, 3: columns with a factor that they share, 4: two axes that are no run in memory,
                  // 5, 6: rows and columns with more leaves than are read one by one
  int data = 0;
  std::optional<Format> stored = {};
};

constexpr const char* data_names[] = {"gaussian", "wide", "integers", "sparse", "subnormal", "specials", "near overflow", "cancelling", "tiny",
                                        "near half a spacing", "below doubles"};

double draw(std::mt19937_64& random, const Case& c, std::size_t i, double before, bool second) {
  std::normal_distribution<double> normal;
  double x = normal(random);
  switch (c.data) {
    case 1: x = std::copysign(std::exp(10 * normal(random)), x); break;
    case 2: x = static_cast<double>(static_cast<std::int64_t>(random() % 33) - 16); break;
    case 3: x = random() % 8 ? (random() % 2 ? 0.0 : -0.0) : x; break;
    case 4: x *= c.operand.min_normal() * std::ldexp(1.0, static_cast<int>(random() % 4) - 2); break;
    case 5:
      if (random() % 300 == 0) x = random() % 2 ? INFINITY : random() % 2 ? -INFINITY : NAN;
      break;
    case 6: x *= c.operand.max_finite() / 64; break;
    case 7: x = i % 2 ? -before * (random() % 4 ? 1 : 1 + 0x1p-5 * normal(random)) : x; break;
    case 8: x *= std::max(c.operand.min_normal(), 0x1p-540); break;
    case 9: x = std::ldexp(random() % 2 ? 1 + 0x1p-23 : 1 - 0x1p-23, -static_cast<int>(random() % 12)); break;
    case 10: x = i < 37 ? 0x1p-541 : static_cast<double>(second ? random() % 2 : 1); break;  // a first product of 2^-1082, and odd sums
    default: break;
  }
  return std::isfinite(x) ? round_to(x, c.operand, {.overflow = Overflow::sat}) : c.operand.has_infinity() ? x : 0;
}

struct Problem {
  std::shared_ptr<const Graph> graph;
  std::vector<Tensor> inputs;
};

Problem problem_of(const Case& c, std::uint64_t seed) {
  std::mt19937_64 random(seed);
  const Extents extents[] = {{2311}, {37, 523}, {523, 37}, {523, 37}, {23, 11, 29}, {3, 1400003}, {350003, 12}};
  const Extents& all = extents[c.shape];
  const auto tensor = [&](const Extents& e, bool second) {
    std::vector<double> v(static_cast<std::size_t>(size_of(e)));
    for (std::size_t i = 0; i < v.size(); ++i) v[i] = draw(random, c, i, i ? v[i - 1] : 0, second);
    return Tensor::of(Type::of(c.operand), e, v);
  };
  Problem p;
  auto g = std::make_shared<Graph>();
  const auto input = [&](const char* name, const Extents& e) {
    p.inputs.push_back(tensor(e, !p.inputs.empty()));
    return build_input(*g, name, Type::of(c.operand), shape_of(e));
  };
  NodeId x = input("x", all);
  if (c.product) x = build(*g, op("mul"), {x, input("y", c.shape == 3 ? Extents{all[0], 1} : all)});
  Attributes over;
  over.axes = c.shape == 0 ? std::vector<std::int64_t>{0} : c.shape == 1 || c.shape == 5 ? std::vector<std::int64_t>{1} : c.shape == 4 ? std::vector<std::int64_t>{0, 2} : std::vector<std::int64_t>{0};
  NodeId s = build(*g, op("sum"), {x}, over);
  if (c.negative) {
    p.inputs.push_back(Tensor::scalar(0));
    s = build(*g, op("sub"), {build_input(*g, "zero", Type::real(), {}, true), s});
  }
  if (c.rounds) {
    Attributes t;
    t.format = c.sum;
    t.order = c.order;
    t.contraction = c.contraction;
    s = build(*g, op("acc"), {s}, t);
  }
  if (c.stored) {
    Attributes t;
    t.format = c.stored;
    s = build(*g, op("round"), {s}, t);
  }
  g->results.push_back({"", s, {}});
  p.graph = g;
  return p;
}

Found differs(const Case& c, const Plane& fast, const Plane& exact) {
  for (std::size_t i = 0; i < fast.lo_d->size(); ++i) {
    const std::uint8_t f = fast.flags ? (*fast.flags)[i] : 0, e = exact.flags ? (*exact.flags)[i] : 0;
    const bool reals = !(e & no_reals), zero = reals && (*exact.lo_d)[i] <= 0 && (*exact.hi_u)[i] >= 0;
    const bool settles = c.rounds || c.stored;
    bool same = (f & ~any_zero) == (e & ~any_zero) && (!zero || (e & any_zero & ~f) == 0);
    if (reals && settles) same &= (*fast.lo_d)[i] == (*exact.lo_d)[i] && (*fast.hi_u)[i] == (*exact.hi_u)[i];
    if (reals && !settles) same &= (*fast.lo_d)[i] <= (*exact.lo_u)[i] && (*fast.lo_u)[i] >= (*exact.lo_d)[i];
    if (same) continue;
    char text[200];
    std::snprintf(text, sizeof text, ": element %zu is [%a, %a] flags %d, exactly [%a, %a] flags %d", i, (*fast.lo_d)[i], (*fast.hi_u)[i], f, (*exact.lo_d)[i],
                  (*exact.hi_u)[i], e);
    return c.name + text;
  }
  return {};
}

Found one(const Case& c, std::uint64_t seed, Figures& figures) {
  const Problem p = problem_of(c, seed);
  const auto evaluate = [&](Tier lowest, int threads) {
    EvaluateOptions options;
    options.lowest = lowest;
    options.threads = threads;
    return Evaluation(p.graph, p.inputs, options);
  };
  Evaluation fast = evaluate(Tier::f64, 1), two = evaluate(Tier::f64, 2), exact = evaluate(c.shape < 5 ? Tier::exact : Tier::big, 2);
  const Plane &x = fast.result(0).planes.at(0), &y = exact.result(0).planes.at(0), &z = two.result(0).planes.at(0);
  ++figures.cases;
  if (Found f = differs(c, x, y)) return *f + ", seed " + std::to_string(seed);
  if (!(*x.lo_d == *z.lo_d) || !(*x.hi_u == *z.hi_u)) return c.name + ": two threads give other sets";
  return {};
}

Found all_lines(int effort, Figures& figures) {
  const Format f64 = *find_format("f64"), f32 = *find_format("f32"), bf16 = *find_format("bf16"), f16 = *find_format("f16"), e5m2 = *find_format("f8e5m2");
  const Order any, seq{.kind = OrderKind::seq}, rseq{.kind = OrderKind::rseq}, pairs{.kind = OrderKind::pairwise, .numbers = {8}},
      blocks{.kind = OrderKind::blocked, .numbers = {32}, .inner = OrderKind::seq, .outer = OrderKind::seq},
      back{.kind = OrderKind::blocked, .numbers = {32}, .inner = OrderKind::rseq, .outer = OrderKind::rseq},
      forth{.kind = OrderKind::blocked, .numbers = {24}, .inner = OrderKind::rseq, .outer = OrderKind::seq};
  const struct {
    const char* name;
    Order order;
  } orders[] = {{"any", any}, {"seq", seq}, {"rseq", rseq}, {"pairwise(8)", pairs}, {"blocked(32)", blocks}, {"blocked(32), both from the right", back}, {"blocked(24), from the right", forth}};
  const struct {
    Format operand, sum;
  } formats[] = {{f32, f32}, {bf16, f32}, {f64, f64}, {f16, f16}, {bf16, bf16}, {e5m2, f16}};
  int number = 0;
  for (const auto& [order_name, order] : orders)
    for (const auto& [operand, sum] : formats)
      for (int shape = 0; shape < 5; ++shape)
        for (int data = 0; data < 9; ++data)
          for (const bool product : {false, true}) {
            if (shape == 3 && !product) continue;
            ++number;
            // A part of the combinations, the same each time; all of them with more effort.
            if (number % (effort >= 100 ? 1 : 5) != 0) continue;
            Case c{"", operand, sum, order};
            c.contraction = std::array{Contraction::free, Contraction::never, Contraction::always}[static_cast<std::size_t>(number / 5 % 3)];
            c.shape = shape;
            c.data = data;
            c.product = product;
            if (order.kind == OrderKind::any && number % 3 == 0) c.rounds = false;
            if (number % 4 == 0 || (!c.rounds && number % 2)) c.stored = number % 8 ? bf16 : f64;
            c.name = std::string(order_name) + (c.rounds ? " acc " : " exact ") + sum.name + " of " + operand.name + (product ? " products" : "") + ", shape " + std::to_string(shape) +
                     ", " + data_names[data] + ", contraction " + std::to_string(static_cast<int>(c.contraction)) + (c.stored ? ", stored in " + c.stored->name : "");
            if (Found f = one(c, static_cast<std::uint64_t>(number), figures)) return f;
          }
  // A fused product of 48 bits in a format of 8; a product that float64 does not hold beside a sum half way between two results.
  for (const Contraction contraction : {Contraction::free, Contraction::always})
    for (const Order& order : {seq, rseq}) {
      Case c{"fused f32 products near half a spacing of bf16", f32, bf16, order, contraction};
      c.product = true;
      c.shape = 1;
      c.data = 9;
      if (Found f = one(c, 3, figures)) return f;
    }
  Case below{"a product below doubles", f64, f64};
  below.product = true;
  below.rounds = false;
  below.shape = 2;
  below.data = 10;
  below.stored = bf16;
  if (Found f = one(below, 5, figures)) return f;
  // In any order the bound alone counts only where leaves are many.
  for (const int data : {0, 1, 2, 5, 7, 8})
    for (const int shape : {5, 6}) {
      ++number;
      const auto& [operand, sum] = formats[static_cast<std::size_t>(data) % 3];
      Case c{"any order over many leaves, shape " + std::to_string(shape) + ", " + data_names[data], operand, sum};
      c.shape = shape;
      c.data = data;
      c.product = number % 2;
      if (number % 3 == 0) c.stored = bf16;
      if (Found f = one(c, static_cast<std::uint64_t>(number), figures)) return f;
    }
  return {};
}

}  // namespace

const std::vector<Check>& line_checks() {
  static const std::vector<Check> all = {{"sums along lines", all_lines}};
  return all;
}

}  // namespace erx::test
