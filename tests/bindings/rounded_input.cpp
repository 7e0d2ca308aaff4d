// A rounding of an input, or of a function of it, which no tile is made for: the sets of the other tiers, whatever the input holds and however it lies.
#include <doctest/doctest.h>

#include <bit>
#include <cmath>
#include <random>
#include <string>
#include <vector>

#include "bindings/call.hpp"
#include "eval/evaluate.hpp"

using namespace erx;

namespace {

template <class T>
Tensor tensor_of(std::vector<T> values, Storage storage, const char* type, std::int64_t step) {
  auto kept = std::make_shared<std::vector<T>>(std::move(values));
  Tensor t;
  t.type = Type::of(*find_format(type));
  t.storage = storage;
  t.extents = {static_cast<std::int64_t>(kept->size()) / step};
  t.byte_strides = {static_cast<std::int64_t>(sizeof(T)) * step};
  t.data = reinterpret_cast<const std::byte*>(kept->data());
  t.owner = kept;
  return t;
}

Plane evaluate(const std::string& text, const Tensor& x, EvaluateOptions::Tier lowest, int threads) {
  const Call call = make_call(parse(text)->spec(), {{"x", x}});
  EvaluateOptions options;
  options.lowest = lowest;
  options.threads = threads;
  Evaluation e(call.graph, call.inputs, options);
  return e.result(0).planes.at(0);
}

std::uint8_t flags_of(const Plane& p, std::size_t i) { return p.flags ? (*p.flags)[i] : 0; }

template <class T>
void check(const char* type, Storage storage, const std::string& rounding, std::int64_t n, bool rare, std::int64_t step) {
  std::mt19937_64 random(static_cast<std::uint64_t>(n));
  std::vector<T> x(static_cast<std::size_t>(n * step));
  for (T& v : x) v = static_cast<T>(std::ldexp(static_cast<double>(static_cast<std::int64_t>(random())), static_cast<int>(random() % 12) - 66));
  const T odd[] = {T{0}, -T{0}, static_cast<T>(INFINITY), static_cast<T>(-INFINITY), static_cast<T>(NAN), static_cast<T>(1e30), static_cast<T>(-1e30), static_cast<T>(1e-30), static_cast<T>(-1e-30)};
  for (std::size_t i = rare ? x.size() / 2 : 0; i < x.size(); i += rare ? 20011 : 3) x[i] = odd[random() % std::size(odd)];
  const Tensor t = tensor_of(x, storage, type, step);
  const std::string text = "round<" + rounding + ">(x)";
  const Plane exact = evaluate(text, t, EvaluateOptions::Tier::exact, 2);
  for (const int threads : {1, 2}) {
    const Plane fast = evaluate(text, t, EvaluateOptions::Tier::f64, threads);
    std::int64_t wrong = 0;
    for (std::size_t i = 0; i < static_cast<std::size_t>(n); ++i)
      wrong += (*fast.lo_d)[i] != (*exact.lo_d)[i] || (*fast.hi_u)[i] != (*exact.hi_u)[i] || flags_of(fast, i) != flags_of(exact, i);
    CHECK_MESSAGE(wrong == 0, text << " of " << type << ", " << n << " elements, step " << step << ", " << threads << " threads");
  }
}

}  // namespace

TEST_CASE("a rounding of an input alone has the sets of the exact tier: specials, zeros, overflow, strides, every length") {
  for (const char* rounding : {"bf16", "f16", "f8e4m3fn", "f8e5m2fnuz, rtz", "f4e2m1fn", "f8e4m3fn, sat", "f6e3m2fn, rtp", "bf16, rne, ftz", "bf16, rto", "f8e8m0fnu", "float<e=4, m=5, sign=no>", "float<e=4, m=5, sign=no>, sat"})
    for (const std::int64_t n : {1, 31, 1024, 9001, 70000}) {
      for (const bool rare : {true, false}) {
        check<double>("f64", Storage::f64, rounding, n, rare, 1);
        check<float>("f32", Storage::f32, rounding, n, rare, 1);
      }
      check<double>("f64", Storage::f64, rounding, n, false, 2);
    }
  for (const bool rare : {true, false}) check<double>("f64", Storage::f64, "f8e4m3fn", 300007, rare, 1);  // past the caches
  check<float>("f32", Storage::f32, "bf16", 300007, true, 1);
}

TEST_CASE("a function of an input and its rounding have the sets of multiple precision") {
  std::mt19937_64 random(5);
  std::normal_distribution<double> normal(0, 4);
  for (const char* function : {"exp", "exp2", "expm1", "log", "log2", "log10", "log1p", "sin", "cos", "tanh", "erf", "sigmoid", "sqrt", "rsqrt"})
    for (const char* rounding : {"f32", "bf16", "f8e4m3fn", "f16, rne, ftz", "bf16, rtz", "f8e5m2, sat"})
      for (const bool odd : {false, true}) {
        const std::int64_t n = 5000;
        std::vector<double> x(static_cast<std::size_t>(n));
        for (double& v : x) v = static_cast<float>(normal(random));
        const double special[] = {0.0, -0.0, INFINITY, -INFINITY, NAN, 1e30, -1e30, 1e-30, 1, -1, 4, 200, -200};
        for (std::size_t i = 1000; odd && i < x.size(); i += 37) x[i] = special[random() % std::size(special)];
        const std::string text = std::string("round<") + rounding + ">(" + function + "(x))";
        std::vector<float> floats(x.begin(), x.end());
        std::vector<std::uint16_t> halves;
        std::vector<double> widened;
        for (const float v : floats) {
          halves.push_back(static_cast<std::uint16_t>(std::bit_cast<std::uint32_t>(v) >> 16));
          widened.push_back(std::bit_cast<float>(static_cast<std::uint32_t>(halves.back()) << 16));
        }
        for (const Tensor& t : {tensor_of(x, Storage::f64, "f64", 1), tensor_of(floats, Storage::f32, "f32", 1), tensor_of(halves, Storage::code, "bf16", 1)}) {
          const Plane fast = evaluate(text, t, EvaluateOptions::Tier::f64, 1), slow = evaluate(text, t, EvaluateOptions::Tier::big, 2);
          std::int64_t wrong = 0;
          for (std::size_t i = 0; i < static_cast<std::size_t>(n); ++i)
            wrong += (*fast.lo_d)[i] != (*slow.lo_d)[i] || (*fast.hi_u)[i] != (*slow.hi_u)[i] || flags_of(fast, i) != flags_of(slow, i);
          CHECK_MESSAGE(wrong == 0, text << " of " << to_string(t.type) << std::string(odd ? ", with special values" : ""));
        }
      }
}

TEST_CASE("increasing functions far out have the sets of multiple precision: overflow to NaN on either side, zeros of either sign") {
  std::mt19937_64 random(6);
  for (const char* function : {"exp", "exp2", "expm1", "log", "log2", "log10", "log1p", "tanh", "erf", "sigmoid", "sqrt"})
    for (const char* rounding : {"f32", "bf16, rtz", "f8e4m3fn", "f8e4m3fn, sat", "f8e5m2fnuz", "f6e2m3fn, rtp", "f8e8m0fnu", "f16, rtn", "f8e5m2, rto", "float<e=4, m=5, sign=no>, sat"}) {
      const std::int64_t n = 3000;
      std::vector<double> x(static_cast<std::size_t>(n));
      for (double& v : x) {
        v = std::bit_cast<double>(random());
        if (random() % 8 == 0) v = static_cast<double>(static_cast<int>(random() % 9) - 4);
        if (random() % 8 == 0) v = random() % 2 ? INFINITY : random() % 2 ? -INFINITY : NAN;
        if (random() % 2) v = std::fabs(v);
      }
      const std::string text = std::string("round<") + rounding + ">(" + function + "(x))";
      const Tensor t = tensor_of(x, Storage::f64, "f64", 1);
      const Plane fast = evaluate(text, t, EvaluateOptions::Tier::f64, 2), slow = evaluate(text, t, EvaluateOptions::Tier::big, 1);
      std::int64_t wrong = 0;
      for (std::size_t i = 0; i < static_cast<std::size_t>(n); ++i) wrong += (*fast.lo_d)[i] != (*slow.lo_d)[i] || (*fast.hi_u)[i] != (*slow.hi_u)[i] || flags_of(fast, i) != flags_of(slow, i);
      CHECK_MESSAGE(wrong == 0, text);
    }
}
