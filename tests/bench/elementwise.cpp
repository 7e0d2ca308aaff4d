// Elementwise work beside plain float64 work over the same data, one thread, without Python: rounding beside memcpy, certified functions
// beside libmvec's. Medians of interleaved runs in thread CPU time, as ratios. Not a test: no ratio is asserted.
//   build/tests/erx_bench_elementwise [round|functions|wide|rows] [rounds]
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <functional>
#include <random>
#include <string>
#include <vector>

#include "bindings/call.hpp"
#include "eval/buffer.hpp"
#include "eval/evaluate.hpp"
#include "ir/format.hpp"
#include "ops/clones.hpp"
#include "ops/round_run.hpp"
#include "ops/stream_copy.hpp"

#if defined(__x86_64__)
#include <immintrin.h>
#define ERX_PEER(name) extern "C" __m256d _ZGVdN4v_##name(__m256d); extern "C" __m512d _ZGVeN8v_##name(__m512d);
ERX_PEER(exp) ERX_PEER(exp2) ERX_PEER(expm1) ERX_PEER(log) ERX_PEER(log2) ERX_PEER(log10) ERX_PEER(log1p) ERX_PEER(sin) ERX_PEER(cos) ERX_PEER(tanh) ERX_PEER(erf)
#endif

using namespace erx;

namespace {

constexpr std::size_t n = std::size_t{1} << 24;

double seconds(const std::function<void()>& work) {
  timespec a{}, b{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &a);
  work();
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &b);
  return static_cast<double>(b.tv_sec - a.tv_sec) + 1e-9 * static_cast<double>(b.tv_nsec - a.tv_nsec);
}

struct Times {
  std::vector<double> all;
  double median() const {
    std::vector<double> sorted = all;
    std::sort(sorted.begin(), sorted.end());
    return sorted[sorted.size() / 2];
  }
  double least() const { return *std::min_element(all.begin(), all.end()); }
  double most() const { return *std::max_element(all.begin(), all.end()); }
};

/// `works` in turn, `rounds` times.
std::vector<Times> interleaved(const std::vector<std::function<void()>>& works, int rounds) {
  std::vector<Times> times(works.size());
  for (int r = 0; r < rounds; ++r)
    for (std::size_t k = 0; k < works.size(); ++k) times[k].all.push_back(seconds(works[k]));
  return times;
}

void print(const std::string& name, const Times& t, const Times& peer, const std::string& more = "") {
  std::printf("%-34s %6.2f of the peer   %7.1f ms (%.1f to %.1f), peer %.1f ms (%.1f to %.1f)  %s\n", name.c_str(), t.median() / peer.median(), t.median() * 1e3, t.least() * 1e3,
              t.most() * 1e3, peer.median() * 1e3, peer.least() * 1e3, peer.most() * 1e3, more.c_str());
  std::fflush(stdout);
}

template <class Values>
Tensor aliased(const Values& values, Storage storage, const char* format) {
  Tensor t;
  t.type = Type::of(*find_format(format));
  t.storage = storage;
  t.extents = {static_cast<std::int64_t>(values.size())};
  t.byte_strides = {sizeof values[0]};
  t.data = reinterpret_cast<const std::byte*>(values.data());
  return t;
}

Counters evaluate(const std::string& text, const std::map<std::string, Tensor>& arguments) {
  const Call call = make_call(parse(text)->spec(), arguments);
  EvaluateOptions options;
  options.threads = 1;
  Evaluation e(call.graph, call.inputs, options);
  e.result(0);
  return e.counters();
}

std::string decided(const Counters& c) {
  const auto climbed = c.big + c.exact + c.open;
  char text[100];
  std::snprintf(text, sizeof text, "climbed %lld (%.1e)", static_cast<long long>(climbed), static_cast<double>(climbed) / n);
  return text;
}

void bench_round(int rounds) {
  Doubles x(n), out(n, 1.0);
  std::mt19937_64 random(1);
  for (double& v : x) v = std::ldexp(static_cast<double>(static_cast<std::int64_t>(random())), static_cast<int>(random() % 31) - 85);
  const Tensor t = aliased(x, Storage::f64, "f64");
  for (const char* name : {"bf16", "f16", "f8e4m3fn", "f8e5m2", "f8e4m3fnuz", "f8e5m2fnuz", "f8e4m3b11fnuz", "f8e8m0fnu", "f6e2m3fn", "f4e2m1fn"}) {
    const Format* format = find_format(name);
    if (!format) continue;
    const BulkRounding round(*format, {});
    const auto kernel = [&] {
      constexpr std::size_t run = 8192;
      for (std::size_t i = 0; i < n; i += run) round_run(round, x.data() + i, out.data() + i, run, true);
      end_of_stream();
    };
    Counters c;
    const auto times = interleaved({[&] { std::memcpy(out.data(), x.data(), n * sizeof(double)); }, kernel,
                                    [&] { c = evaluate(std::string("round<") + name + ">(x)", {{"x", t}}); }},
                                   rounds);
    print(std::string("round ") + name + ", kernel", times[1], times[0]);
    print(std::string("round ") + name + ", set", times[2], times[0], decided(c));
  }
}

using Loop = void (*)(const float*, double*, std::size_t);
#if defined(__x86_64__)
#define ERX_PEER_LOOP(name)                                                                                                        \
  __attribute__((target("avx512f"))) void loop8_##name(const float* x, double* y, std::size_t m) {                                      \
    for (std::size_t i = 0; i < m; i += 8) _mm512_storeu_pd(y + i, _ZGVeN8v_##name(_mm512_cvtps_pd(_mm256_loadu_ps(x + i))));          \
  }                                                                                                                                    \
  __attribute__((target("avx2"))) void loop4_##name(const float* x, double* y, std::size_t m) {                                        \
    for (std::size_t i = 0; i < m; i += 4) _mm256_storeu_pd(y + i, _ZGVdN4v_##name(_mm256_cvtps_pd(_mm_loadu_ps(x + i))));              \
  }
ERX_PEER_LOOP(exp) ERX_PEER_LOOP(exp2) ERX_PEER_LOOP(expm1) ERX_PEER_LOOP(log) ERX_PEER_LOOP(log2) ERX_PEER_LOOP(log10) ERX_PEER_LOOP(log1p)
ERX_PEER_LOOP(sin) ERX_PEER_LOOP(cos) ERX_PEER_LOOP(tanh) ERX_PEER_LOOP(erf)
bool wide() { return __builtin_cpu_supports("avx512f"); }
#define ERX_LOOP(name) (wide() ? loop8_##name : loop4_##name)
/// libmvec has none: 1 / (1 + exp(-x)) by its exp.
__attribute__((target("avx512f"))) void loop8_sigmoid(const float* x, double* y, std::size_t m) {
  const __m512d one = _mm512_set1_pd(1);
  for (std::size_t i = 0; i < m; i += 8)
    _mm512_storeu_pd(y + i, _mm512_div_pd(one, _mm512_add_pd(one, _ZGVeN8v_exp(_mm512_sub_pd(_mm512_setzero_pd(), _mm512_cvtps_pd(_mm256_loadu_ps(x + i)))))));
}
__attribute__((target("avx2"))) void loop4_sigmoid(const float* x, double* y, std::size_t m) {
  const __m256d one = _mm256_set1_pd(1);
  for (std::size_t i = 0; i < m; i += 4)
    _mm256_storeu_pd(y + i, _mm256_div_pd(one, _mm256_add_pd(one, _ZGVdN4v_exp(_mm256_sub_pd(_mm256_setzero_pd(), _mm256_cvtps_pd(_mm_loadu_ps(x + i)))))));
}
#else
#define ERX_LOOP(name) [](const float* x, double* y, std::size_t m) { for (std::size_t i = 0; i < m; ++i) y[i] = std::name(static_cast<double>(x[i])); }
#endif
ERX_VECTOR_CLONES void loop_sqrt(const float* x, double* y, std::size_t m) {
  for (std::size_t i = 0; i < m; ++i) y[i] = __builtin_sqrt(static_cast<double>(x[i]));
}
ERX_VECTOR_CLONES void loop_rsqrt(const float* x, double* y, std::size_t m) {
  for (std::size_t i = 0; i < m; ++i) y[i] = 1 / __builtin_sqrt(static_cast<double>(x[i]));
}

struct Peer {
  const char* name;
  Loop loop;
  bool positive;
};
std::vector<Peer> peers() {
  return {{"exp", ERX_LOOP(exp), false}, {"log", ERX_LOOP(log), true}, {"tanh", ERX_LOOP(tanh), false}, {"erf", ERX_LOOP(erf), false},
#if defined(__x86_64__)
          {"sigmoid", wide() ? loop8_sigmoid : loop4_sigmoid, false},
#endif
          {"exp2", ERX_LOOP(exp2), false}, {"expm1", ERX_LOOP(expm1), false}, {"log2", ERX_LOOP(log2), true}, {"log10", ERX_LOOP(log10), true},
          {"log1p", ERX_LOOP(log1p), true}, {"sin", ERX_LOOP(sin), false}, {"cos", ERX_LOOP(cos), false}, {"sqrt", loop_sqrt, true}, {"rsqrt", loop_rsqrt, true}};
}

void bench_functions(int rounds) {
  std::vector<float> x(n), positive(n);
  std::vector<double> y(n, 1.0);
  std::mt19937_64 random(2);
  std::normal_distribution<float> normal(0, 4);
  for (std::size_t i = 0; i < n; ++i) positive[i] = std::fabs(x[i] = normal(random));
  for (const Peer& p : peers()) {
    const std::vector<float>& in = p.positive ? positive : x;
    const Tensor t = aliased(in, Storage::f32, "f32");
    Counters to_f32, to_bf16;
    const std::string call = std::string(p.name) + "(x))";
    const auto times = interleaved({[&] { p.loop(in.data(), y.data(), n); }, [&] { to_f32 = evaluate("round<f32>(" + call, {{"x", t}}); },
                                    [&] { to_bf16 = evaluate("round<bf16>(" + call, {{"x", t}}); }},
                                   rounds);
    print(std::string(p.name) + " into f32", times[1], times[0], decided(to_f32));
    print(std::string(p.name) + " into bf16", times[2], times[0], decided(to_bf16));
  }
}

void bench_chain(int rounds) {
  std::vector<float> x(n), z(n);
  std::vector<double> a(n), b(n), y(n);
  std::mt19937_64 random(3);
  std::normal_distribution<float> normal(0, 1);
  for (std::size_t i = 0; i < n; ++i) a[i] = x[i] = normal(random), b[i] = z[i] = normal(random);
  const std::map<std::string, Tensor> in = {{"x", aliased(x, Storage::f32, "f32")}, {"y", aliased(z, Storage::f32, "f32")}};
  Counters c;
  const auto pass = [&](auto f, const double* p, const double* q) {
    for (std::size_t i = 0; i < n; ++i) y[i] = f(p[i], q[i]);
  };
  const auto times = interleaved({[&] {
                                    pass([](double u, double v) { return u + v; }, a.data(), b.data());
                                    for (int k = 0; k < 9; ++k) {
                                      if (k % 2) pass([](double u, double v) { return u + v; }, y.data(), b.data());
                                      else pass([](double u, double v) { return u * v; }, y.data(), a.data());
                                    }
                                  },
                                  [&] { c = evaluate("in f32 { (((((x + y)*x + y)*x + y)*x + y)*x + y)*x }", in); }},
                                 rounds);
  print("chain of 10 in f32", times[1], times[0], decided(c));
}

}  // namespace

int main(int argc, char** argv) {
  const std::string what = argc > 1 ? argv[1] : "all";
  const int rounds = argc > 2 ? std::atoi(argv[2]) : 5;
  if (what == "all" || what == "round") bench_round(rounds);
  if (what == "all" || what == "functions") bench_functions(rounds);
  if (what == "all" || what == "chain") bench_chain(rounds);
}
