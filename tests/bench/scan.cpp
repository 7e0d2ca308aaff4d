// The loops of a recurrence beside plain float64 loops over the same data, 8 x 1024 steps x 1024 lines: medians of interleaved runs.
// Not a test: no ratio is asserted. One thread; operands and results lie in memory, so both are bound by its speed to some part.
//   build/tests/erx_bench_scan [rounds]
#include <algorithm>
#include <array>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <random>
#include <vector>

#include "ops/clones.hpp"
#include "ops/scan_tile.hpp"

using namespace erx;

namespace {

constexpr std::size_t batch = 8, steps = 1024, lines = 1024, width = 256;

ERX_VECTOR_CLONES void plain_row(const double* a, const double* b, double* h, double* out, std::size_t n) {
  ERX_INDEPENDENT
  for (std::size_t i = 0; i < n; ++i) {
    h[i] = a[i] * h[i] + b[i];
    out[i] = h[i];
  }
}

struct Data {
  std::vector<double> a, b, lo, hi;
  std::vector<std::uint8_t> flags;
};

void plain(Data& d) {
  for (std::size_t q = 0; q < batch; ++q) {
    std::vector<double> h(lines, 0);
    for (std::size_t t = 0; t < steps; ++t) {
      const std::size_t at = (q * steps + t) * lines;
      plain_row(&d.a[at], &d.b[at], h.data(), &d.lo[at], lines);
    }
  }
}

void certified(Data& d, const ScanRule& rule) {
  for (std::size_t q = 0; q < batch; ++q)
    for (std::size_t first = 0; first < lines; first += width) {
      ScanTile tile(rule, width, nullptr, nullptr);
      for (std::size_t t = 0; t < steps; t += 16) {
        std::vector<ScanStepRow> rows;
        for (std::size_t k = 0; k < 16; ++k) {
          const std::size_t at = (q * steps + t + k) * lines + first;
          rows.push_back({&d.a[at], &d.a[at], &d.b[at], &d.b[at], &d.lo[at], &d.hi[at], &d.flags[at]});
        }
        tile.run(rows.data(), rows.size());
      }
      for (std::size_t i = 0; i < width; ++i)
        if (tile.is_open(i)) std::printf("a line was left open\n");
    }
}

template <class F>
double seconds(F f) {
  const auto start = std::chrono::steady_clock::now();
  f();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

}  // namespace

int main(int argc, char** argv) {
  const int rounds = argc > 1 ? std::atoi(argv[1]) : 5;
  const std::size_t n = batch * steps * lines;
  Data d{std::vector<double>(n), std::vector<double>(n), std::vector<double>(n), std::vector<double>(n), std::vector<std::uint8_t>(n)};
  std::mt19937_64 random(1);
  std::uniform_real_distribution<double> decay(0.5, 0.999);
  std::normal_distribution<double> normal;
  for (std::size_t i = 0; i < n; ++i) {
    d.a[i] = static_cast<float>(decay(random));
    d.b[i] = static_cast<float>(normal(random));
  }
  for (const char* name : {"f32", "bf16", "f64"})
    for (int order = 0; order < 4; ++order) {
      ScanRule rule;
      rule.format = *find_format(name);
      rule.in_order = order > 0;
      rule.contraction = std::array{Contraction::free, Contraction::free, Contraction::always, Contraction::never}[static_cast<std::size_t>(order)];
      std::vector<double> base, ours;
      for (int k = 0; k < rounds; ++k) {
        base.push_back(seconds([&] { plain(d); }));
        ours.push_back(seconds([&] { certified(d, rule); }));
      }
      const double least = *std::min_element(base.begin(), base.end()), own = *std::min_element(ours.begin(), ours.end());
      std::nth_element(base.begin(), base.begin() + rounds / 2, base.end());
      std::nth_element(ours.begin(), ours.begin() + rounds / 2, ours.end());
      const char* const orders[] = {"any", "seq", "seq, fma=always", "seq, fma=never"};
      std::printf("scan<%s, %s>: ratio of medians %.2f, of the fastest %.2f (plain %.2f ns, ours %.2f ns a state)\n", name, orders[order], ours[static_cast<std::size_t>(rounds / 2)] / base[static_cast<std::size_t>(rounds / 2)],
                  own / least, least / static_cast<double>(n) * 1e9, own / static_cast<double>(n) * 1e9);
    }
}
