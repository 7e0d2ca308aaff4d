// Certified products of matrices beside the float64 product of the same data, without Python: tensors in memory, verdict out, the whole
// check on all threads; the product by the same BLAS on the same threads, a share of the rows each, from operands that are float64 already.
// Medians of interleaved runs. Not a test: no ratio is asserted.
//   build/tests/erx_bench_products [rounds [part of a name]]
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <random>
#include <string>
#include <vector>

#include "eval/check.hpp"
#include "eval/parallel.hpp"
#include "ops/gemm.hpp"
#include "ops/op.hpp"
#include "ops/rounding.hpp"
#include "tests/stored_tensor.hpp"

using namespace erx;

namespace {

double seconds(const std::function<void()>& work) {
  const auto start = std::chrono::steady_clock::now();
  work();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

double median(std::vector<double> all) {
  std::sort(all.begin(), all.end());
  return all[all.size() / 2];
}

struct Row {
  std::string name;
  const char *in, *out;
  std::int64_t batch, m, k, n;
  bool acc = false;  // added up in f32 in any order
};

std::shared_ptr<const Graph> graph_of(const Row& r) {
  auto g = std::make_shared<Graph>();
  const auto shape = [&](std::int64_t rows, std::int64_t columns) { return r.batch > 1 ? Shape{Dim(r.batch), Dim(rows), Dim(columns)} : Shape{Dim(rows), Dim(columns)}; };
  const Type type = Type::of(*find_format(r.in));
  const NodeId a = build_input(*g, "A", type, shape(r.m, r.k)), b = build_input(*g, "B", type, shape(r.k, r.n));
  NodeId s = build(*g, op("matmul"), {a, b});
  Attributes attributes;
  if (r.acc) {
    attributes.format = *find_format("f32");
    s = build(*g, op("acc"), {s}, attributes);
  }
  if (!r.acc || std::string(r.out) != "f32") {
    attributes.format = *find_format(r.out);
    s = build(*g, op("round"), {s}, attributes);
  }
  g->results.push_back({"", s, {}});
  return g;
}

void run(const Row& r, int rounds) {
  std::mt19937_64 random(1);
  std::normal_distribution<double> normal;
  const Format in = *find_format(r.in), out = *find_format(r.out);
  const auto values = [&](std::int64_t n) {
    std::vector<double> x(static_cast<std::size_t>(n));
    for (double& v : x) v = round_to(normal(random), in, {});
    return x;
  };
  const auto extents = [&](std::int64_t rows, std::int64_t columns) { return r.batch > 1 ? Extents{r.batch, rows, columns} : Extents{rows, columns}; };
  const std::vector<double> a = values(r.batch * r.m * r.k), b = values(r.batch * r.k * r.n);
  std::vector<double> c(static_cast<std::size_t>(r.batch * r.m * r.n));
  const int threads = thread_count({});
  const std::int64_t share = r.batch > 1 ? r.m : (r.m + threads - 1) / threads, shares = (r.m + share - 1) / share;
  const auto product = [&] {
    parallel_blocks(r.batch * shares, {}, [&](std::int64_t task) {
      const std::int64_t batch = task / shares, first = task % shares * share;
      gemm({a.data() + (batch * r.m + first) * r.k, std::min(share, r.m - first), r.k, r.k, 1}, {b.data() + batch * r.k * r.n, r.k, r.n, r.n, 1},
           c.data() + (batch * r.m + first) * r.n);
    });
  };
  product();
  std::vector<double> results(c.size());
  for (std::size_t i = 0; i < c.size(); ++i) results[i] = round_to(c[i], out, {});
  const auto graph = graph_of(r);
  const std::vector<Tensor> inputs = {stored_tensor(in, extents(r.m, r.k), a), stored_tensor(in, extents(r.k, r.n), b)}, outputs = {stored_tensor(out, extents(r.m, r.n), results)};
  Report report;
  std::vector<double> plain, certified;
  for (int k = 0; k < rounds; ++k) {
    plain.push_back(seconds(product));
    certified.push_back(seconds([&] {
      Evaluation e(graph, inputs);
      report = check(e, outputs);
    }));
  }
  const auto least = [](const std::vector<double>& x) { return *std::min_element(x.begin(), x.end()); };
  std::printf("%-42s ratio %5.2f, of the fastest %5.2f   product %8.3f ms, check %8.3f ms   in float64 %lld, compensated %lld, exact %lld%s\n", r.name.c_str(), median(certified) / median(plain),
              least(certified) / least(plain), 1e3 * least(plain), 1e3 * least(certified), static_cast<long long>(report.counters.bulk), static_cast<long long>(report.counters.compensated),
              static_cast<long long>(report.counters.big + report.counters.exact), report.ok() ? "" : "   NOT COVERED");
  std::fflush(stdout);
}

}  // namespace

int main(int argc, char** argv) {
  const int rounds = argc > 1 ? std::atoi(argv[1]) : 25;
  std::printf("the product beside: %s\n", library_is_behind() ? "tiles of our own, since the library has no kernel for this processor (OpenBLAS: choose one by OPENBLAS_CORETYPE)" : "BLAS");
  const Row rows[] = {{"bf16 -> bf16, n = 256", "bf16", "bf16", 1, 256, 256, 256},
                      {"f16 -> f16, n = 256", "f16", "f16", 1, 256, 256, 256},
                      {"bf16 -> f32, n = 256", "bf16", "f32", 1, 256, 256, 256},
                      {"bf16 -> bf16, n = 1024", "bf16", "bf16", 1, 1024, 1024, 1024},
                      {"bf16 -> f32, n = 1024", "bf16", "f32", 1, 1024, 1024, 1024},
                      {"f32 -> f32, n = 1024", "f32", "f32", 1, 1024, 1024, 1024},
                      {"acc<f32>, f32, n = 1024", "f32", "f32", 1, 1024, 1024, 1024, true},
                      {"round<bf16>(acc<f32>), bf16, n = 1024", "bf16", "bf16", 1, 1024, 1024, 1024, true},
                      {"64 x (256 x 64 x 256), bf16", "bf16", "bf16", 64, 256, 64, 256},
                      {"1024 x (32 x 32 x 32), bf16", "bf16", "bf16", 1024, 32, 32, 32},
                      {"bf16 -> bf16, n = 2048", "bf16", "bf16", 1, 2048, 2048, 2048}};
  for (const Row& r : rows)
    if (argc < 3 || r.name.find(argv[2]) != std::string::npos) run(r, r.m > 1024 ? std::max(3, rounds / 5) : rounds);
}
