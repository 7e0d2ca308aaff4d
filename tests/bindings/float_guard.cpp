// Flush-to-zero in the thread that calls, or in worker threads that were created with it: sets do not depend on it, and the caller
// finds its modes as they were.
#include <doctest/doctest.h>

#include <atomic>
#include <thread>

#include "eval/check.hpp"
#include "eval/crew.hpp"
#include "eval/float_guard.hpp"
#include "eval/parallel.hpp"
#include "ops/op.hpp"

#if defined(__SSE2__)

using namespace erx;

namespace {

constexpr unsigned flushing = 0x1f80 | 0x8000 | 0x0040;  // flush-to-zero, denormals-are-zero

/// For as long as it lives the calling thread flushes.
struct Flushing {
  unsigned saved = _mm_getcsr();
  Flushing() { _mm_setcsr(flushing); }
  ~Flushing() { _mm_setcsr(saved); }
};

std::shared_ptr<const Graph> halves() {
  auto g = std::make_shared<Graph>();
  const NodeId x = build_input(*g, "x", Type::of(*find_format("f64")), {Dim(4096)});
  NodeId y = build_input(*g, "y", Type::of(*find_format("f64")), {Dim(4096)});
  y = build(*g, op("mul"), {x, y});
  Attributes f64;
  f64.format = *find_format("f64");
  g->results.push_back({"", build(*g, op("round"), {y}, f64), {}});
  return g;
}

std::vector<Tensor> subnormals() {
  std::vector<double> x(4096), y(4096, 0.5);
  for (std::size_t i = 0; i < x.size(); ++i) x[i] = std::ldexp(static_cast<double>(i + 2), -1074);
  return {Tensor::of(Type::of(*find_format("f64")), {4096}, x), Tensor::of(Type::of(*find_format("f64")), {4096}, y)};
}

/// The inputs are made before anything flushes.
std::vector<double> lower_ends(int threads, const std::vector<Tensor>& inputs) {
  EvaluateOptions options;
  options.threads = threads;
  Evaluation e(halves(), inputs, options);
  const SetTensor& s = e.result(0);
  const std::vector<double> lo(s.planes.at(0).lo_d->begin(), s.planes.at(0).lo_d->end());
  return lo;
}

}  // namespace

TEST_CASE("float guard: sets are the same where the caller flushes subnormals, and its modes come back") {
  const std::vector<Tensor> inputs = subnormals();
  for (int threads : {1, 4}) {
    const std::vector<double> plain = lower_ends(threads, inputs);
    std::vector<double> flushed;
    unsigned after = 0;
    {
      const Flushing on;
      flushed = lower_ends(threads, inputs);
      after = _mm_getcsr() & ~0x3fu;  // without the exception flags
    }
    CHECK(after == (flushing & ~0x3fu));
    CHECK(plain == flushed);
    CHECK(plain[0] == 0x1p-1074);
    CHECK(plain[4094] == 0x1p-1074 * 2048);
  }
}

TEST_CASE("float guard: helping threads that were created flushing") {
  const std::vector<Tensor> inputs = subnormals();
  const std::vector<double> plain = lower_ends(1, inputs);
  // Every share waits for all others, so that each helper has one.
  constexpr int helpers = 11;  // more than there are yet: threads keep the modes that they are created with
  const auto modes = [&] {
    std::atomic<int> came = 0, flushed = 0;
    Crew::run(helpers, [&] {
      ++came;
      while (came <= helpers) std::this_thread::yield();
      flushed += (_mm_getcsr() & 0x8000) != 0;
    }, [] {});
    return flushed.load();
  };
  {
    const Flushing on;
    modes();
  }
  const int before = modes();
  CHECK(before > 0);
  CHECK(lower_ends(helpers + 1, inputs) == plain);
  CHECK(modes() == before);  // theirs again
}

TEST_CASE("float guard: directed rounding in the calling thread") {
  const std::vector<Tensor> inputs = subnormals();
  const std::vector<double> plain = lower_ends(1, inputs);
  const unsigned saved = _mm_getcsr();
  _mm_setcsr(0x1f80 | 0x4000);  // upward
  const std::vector<double> upward = lower_ends(1, inputs);
  _mm_setcsr(saved);
  CHECK(plain == upward);
}

#endif
