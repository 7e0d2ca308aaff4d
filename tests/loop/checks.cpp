#include "tests/loop/checks.hpp"

#include <bit>
#include <cmath>
#include <functional>
#include <random>

#include "bindings/call.hpp"
#include "eval/evaluate.hpp"
#include "ir/loop.hpp"

namespace erx::test {
namespace {

constexpr std::int64_t n = 50, m = 6;

struct Case {
  const char* name;
  const char* text;  // of x: f32[50], y: f32[50], z: f32[50, 6]
  bool is_wider = false;  // choices are kept apart from step to step where the loop is written out
};

const Case cases[] = {
    {"one state", "fold (h = 0) over i in 0..50 { next f32(h * 0.5 + x[i]) }"},
    {"a part of a range", "fold (h = x[3]) over i in 7..31 { next f32(h * 0.5 - x[2*i - 13] + y[49 - i]) }"},
    {"the number of the step", "fold (h = 0) over i in 3..50 { next f32(h / i + x[i] * i) }"},
    {"a vector", "fold (h = 0) over i in 0..50 { next f32(h * 0.5 + z[i]) }"},
    {"states that change places", "fold (a = x[0], b = y[0]) over i in 0..50 { next (b, f32(a - b * x[i])) }"},
    {"a state that stays", "fold (a = y, b = y[0]) over i in 0..50 { next (a, f32(b / 2 + a[i])) }"},
    {"tiles, the last one short", "fold (h = 0) over t in tiles(50, 8) { next f32(h + sum(x[t])) }"},
    {"online softmax", "fold (m = -inf, s = 0) over t in tiles(50, 7) { let n = maximum(m, max(x[t])); next (n, f32(s * exp(m - n) + sum(exp(x[t] - n)))) }"},
    {"loops in loops", "fold (h = 0) over i in 0..6 { let u = fold (r = x[i]) over j in 0..50 { next f32(r * 0.5 + z[j, i]) }; next f32(h * 2 + u) }"},
    {"tiles of matrices", "fold (h = zeros((6, 6))) over t in tiles(50, 16) { next acc<f32, seq>(h + z[t].T @ z[t]) }"},
    {"sums in any order", "fold (h = 0) over t in tiles(50, 8) { next acc<f32>(h + sum(x[t] * y[t])) }"},
    {"within", "fold (h = 0) over i in 0..50 { next round<bf16>(within<f32>(h * 0.5 + x[i] * y)) }"},
    {"a block", "in f32, contract { fold (h = 0) over i in 0..50 { next h * x[i] / 4 + y } }"},
    {"a narrow format", "fold (h = 0) over i in 0..50 { next round<f8e4m3fn>(h * 0.5 + x[i]) }"},
    {"float64", "fold (h = 0) over i in 0..50 { next f64(h / 3 + x[i]) }"},
    {"a real value from outside", "let e = exp(x) / 3; fold (h = 0) over i in 0..50 { next f32(h * 0.5 + e) }"},
    {"an exact sum from outside", "let e = sum(x) / 3; fold (h = 0) over i in 0..50 { next f32(h / 7 + e * y[i]) }"},
    {"views from outside", "let w = z.T; fold (h = 0) over i in 0..50 { next f32(h * 0.5 + w[:, i] * z[0]) }"},
    {"a condition", "where(fold (b = true) over i in 0..40 { next b and x[i] < 100 }, x, y)"},
    {"integers", "f32(fold (h = 1) over i in 0..50 { next wrap<i32>(h * 5 + i) })"},
    {"a state that is used twice", "let s = fold (h = y) over i in 0..50 { next f32(h * 0.5 + x[i]) }; f32(s * s + s[0])"},
    {"infinities and NaN", "fold (h = x) over i in 0..50 { next f32(h * h - x[i] * inf) }"},
    {"choices in the body", "fold (h = x) over i in 0..50 { next f32(any_of(h / 2 + y[i], h / 4)) }", true},
    {"many steps with choices", "fold (h = x[0]) over i in 0..50 { let u = fold (r = h) over j in 0..50 { next f32(any_of(r / 2 + y[j], r / 4) - r / 8) }; next u }", true},
    {"a choice from outside", "let c = any_of(x, y); fold (h = c) over i in 0..50 { let u = fold (r = h) over j in 0..50 { next f32(r / 2 + c - x[j]) }; next u }", true},
    {"stochastic", "fold (h = x) over i in 0..50 { let u = fold (r = h) over j in 0..50 { next round<bf16, sr>(r / 2 + y[j]) }; next u }", true},
    {"a label", "fold (h = x) over i in 0..50 { let u = fold (r = h) over j in 0..50 { next f32(any_of<\"p\">(r / 2 + y[j], r / 4)) }; next u }", true},
};

using Values = std::vector<double>;

Values random_values(std::mt19937_64& rng, std::int64_t count) {
  Values values;
  for (std::int64_t i = 0; i < count; ++i) {
    const double magnitude = std::ldexp(static_cast<double>(rng() >> 40), -22);  // 24 bits, below 4
    values.push_back(static_cast<float>((rng() & 1 ? -1 : 1) * magnitude));
  }
  return values;
}

bool has_loop(const Graph& g) {
  for (NodeId id = 0; id < g.size(); ++id)
    if (is_fold(g[id])) return true;
  return false;
}

std::string at(const Plane& p, std::size_t i) {
  return "[" + std::to_string((*p.lo_d)[i]) + ", " + std::to_string((*p.hi_u)[i]) + "] flags " + std::to_string(p.flags ? (*p.flags)[i] : 0);
}

/// The hull of all planes.
struct Hull {
  double lo = 0, hi = 0;
  std::uint8_t flags = 0;
  bool has_reals = false;
  bool operator==(const Hull&) const = default;
};

Hull hull_at(const SetTensor& t, std::size_t i) {
  Hull h;
  for (const Plane& p : t.planes) {
    const std::uint8_t flags = p.flags ? (*p.flags)[i] : 0;
    h.flags |= static_cast<std::uint8_t>(flags & ~no_reals);
    if (flags & no_reals) continue;
    h.lo = h.has_reals ? std::min(h.lo, (*p.lo_d)[i]) : (*p.lo_d)[i];
    h.hi = h.has_reals ? std::max(h.hi, (*p.hi_u)[i]) : (*p.hi_u)[i];
    h.has_reals = true;
  }
  return h;
}

std::optional<std::string> compare(const Case& c, unsigned seed, Figures& figures) {
  std::mt19937_64 rng(seed);
  const Type f32 = Type::of(*find_format("f32"));
  const auto program = parse(c.text);
  std::map<std::string, Tensor> all = {{"x", Tensor::of(f32, {n}, random_values(rng, n))}, {"y", Tensor::of(f32, {n}, random_values(rng, n))},
                                       {"z", Tensor::of(f32, {n, m}, random_values(rng, n * m))}};
  std::map<std::string, Tensor> inputs;
  for (const Parameter& p : program->spec().parameters) inputs.insert(*all.find(p.name));
  const Call call = make_call(program->spec(), inputs);
  if (!has_loop(*call.graph)) return std::string(c.name) + ": there is no loop in the graph";
  const auto whole = std::make_shared<const Graph>(written_out(*call.graph));
  if (has_loop(*whole)) return std::string(c.name) + ": a loop is left";
  Evaluation stepwise(call.graph, call.inputs), together(whole, call.inputs);
  if (stepwise.runs() != together.runs()) return std::string(c.name) + ": other labels";
  for (std::size_t run = 0; run < stepwise.runs(); ++run) {
    const SetTensor &one = stepwise.result(0, {}, run), &other = together.result(0, {}, run);
    ++figures.cases;
    for (std::size_t i = 0; i < static_cast<std::size_t>(one.size()); ++i) {
      ++figures.values;
      const Hull a = hull_at(one, i), b = hull_at(other, i);
      const bool holds = (!b.has_reals || (a.has_reals && a.lo <= b.lo && b.hi <= a.hi)) && !(b.flags & ~a.flags);
      if (c.is_wider ? holds : a == b) continue;
      return std::string(c.name) + ", seed " + std::to_string(seed) + ", element " + std::to_string(i) + ": step by step " + at(one.planes[0], i) + ", written out " +
             at(other.planes[0], i);
    }
  }
  return {};
}

std::optional<std::string> beside_written_out(int effort, Figures& figures) {
  for (int seed = 1; seed <= std::max(1, effort / 20); ++seed)
    for (const Case& c : cases)
      if (const auto found = compare(c, static_cast<unsigned>(seed), figures)) return found;
  return {};
}

/// h = f32(h / 2 + x[i]) and its relatives, as a C++ loop: a sum of two floats in double, rounded once more, is the sum rounded once.
struct Plain {
  const char* text;
  std::function<float(const Values& x, const Values& y)> loop;
};

const Plain plain[] = {
    {"fold (h = 0) over i in 0..50 { next f32(h * 0.5 + x[i]) }",
     [](const Values& x, const Values&) {
       float h = 0;
       for (int i = 0; i < n; ++i) h = static_cast<float>(h * 0.5 + x[static_cast<std::size_t>(i)]);
       return h;
     }},
    {"fold (a = x[0], b = y[0]) over i in 1..50 { next (b, f32(a - b + y[50 - i] + x[i])) }",
     [](const Values& x, const Values& y) {
       float a = static_cast<float>(x[0]), b = static_cast<float>(y[0]);
       for (std::size_t i = 1; i < n; ++i) {
         const __float128 exact = static_cast<__float128>(a) - b + y[n - i] + x[i];
         const float next = static_cast<float>(exact);
         a = b;
         b = next;
       }
       return a;
     }},
    {"fold (h = x[49]) over t in tiles(50, 8) { next f32(maximum(h * 0.5, max(x[t])) + y[0]) }",
     [](const Values& x, const Values& y) {
       float h = static_cast<float>(x[n - 1]);
       for (std::size_t first = 0; first < n; first += 8) {
         double most = h * 0.5;
         for (std::size_t i = first; i < std::min<std::size_t>(first + 8, n); ++i) most = std::max(most, x[i]);
         h = static_cast<float>(most + y[0]);
       }
       return h;
     }},
};

std::optional<std::string> beside_plain_loops(int effort, Figures& figures) {
  for (int seed = 1; seed <= std::max(3, effort); ++seed) {
    std::mt19937_64 rng(static_cast<unsigned>(seed));
    const Values x = random_values(rng, n), y = random_values(rng, n);
    const Type f32 = Type::of(*find_format("f32"));
    for (const Plain& p : plain) {
      const auto program = parse(p.text);
      std::map<std::string, Tensor> inputs;
      for (const Parameter& q : program->spec().parameters) inputs[q.name] = Tensor::of(f32, {n}, q.name == "x" ? x : y);
      const Call call = make_call(program->spec(), inputs);
      if (!has_loop(*call.graph)) return std::string(p.text) + ": there is no loop in the graph";
      Evaluation evaluation(call.graph, call.inputs);
      const Hull h = hull_at(evaluation.result(0), 0);
      const double value = p.loop(x, y);
      ++figures.values;
      if (h.has_reals && h.lo == value && h.hi == value) continue;
      return std::string(p.text) + ", seed " + std::to_string(seed) + ": the loop gives " + std::to_string(value) + ", the set is [" + std::to_string(h.lo) + ", " +
             std::to_string(h.hi) + "]";
    }
  }
  return {};
}

}  // namespace

const std::vector<Check>& loop_checks() {
  static const std::vector<Check> checks = {{"loops beside plain loops", beside_plain_loops}, {"loops beside the same steps written out", beside_written_out}};
  return checks;
}

}  // namespace erx::test
