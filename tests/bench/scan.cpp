// The loops of a recurrence beside plain float64 loops over the same data, 8 x 1024 steps x 1024 lines: medians of interleaved runs.
// Not a test: no ratio is asserted. Operands and results lie in memory, so both are bound by its speed to some part; the plain loops write
// their states, the others two ends and a byte of flags. One thread is measured by its own time, several by the clock.
//   build/tests/erx_bench_scan [rounds] [threads]
#include <algorithm>
#include <array>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <random>
#include <thread>
#include <vector>

#include "eval/buffer.hpp"
#include "ops/clones.hpp"
#include "ops/scan_tile.hpp"
#include "ops/stream_copy.hpp"

using namespace erx;

namespace {

constexpr std::size_t batch = 8, steps = 1024, lines = 1024, width = 1024;

ERX_VECTOR_CLONES void plain_row(const double* a, const double* b, double* h, double* out, std::size_t n) {
  ERX_INDEPENDENT
  for (std::size_t i = 0; i < n; ++i) {
    h[i] = a[i] * h[i] + b[i];
    out[i] = h[i];
  }
}

struct Data {
  Doubles a, b, lo, hi;  // large pages, as the evaluator's
  FlagBytes flags;
};

void plain(Data& d, std::size_t from, std::size_t to) {
  for (std::size_t q = from; q < to; ++q) {
    std::vector<double> h(lines, 0);
    for (std::size_t t = 0; t < steps; ++t) {
      const std::size_t at = (q * steps + t) * lines;
      plain_row(&d.a[at], &d.b[at], h.data(), &d.lo[at], lines);
    }
  }
}

/// As the evaluator runs it: results leave the cache row by row.
void certified(Data& d, const ScanRule& rule, std::size_t from, std::size_t to) {
  constexpr std::size_t chunk = 16;
  for (std::size_t q = from; q < to; ++q)
    for (std::size_t first = 0; first < lines; first += width) {
      ScanTile tile(rule, width, nullptr, nullptr);
      std::vector<ScanStepRow> rows(chunk);
      for (std::size_t t = 0; t < steps; t += chunk) {
        const auto at = [&](std::size_t k) { return (q * steps + t + k) * lines + first; };
        for (std::size_t k = 0; k < chunk; ++k) rows[k] = {&d.a[at(k)], &d.a[at(k)], &d.b[at(k)], &d.b[at(k)], &d.lo[at(k)], &d.hi[at(k)], &d.flags[at(k)]};
        tile.run(rows.data(), chunk, true);
      }
      end_of_stream();
      for (std::size_t i = 0; i < width; ++i)
        if (tile.is_open(i)) std::printf("a line was left open\n");
    }
}

/// Of `share(from, to)` over the batch.
template <class F>
double seconds(std::size_t threads, F share) {
  const auto now = [&] {
    timespec t{};
    clock_gettime(threads == 1 ? CLOCK_THREAD_CPUTIME_ID : CLOCK_MONOTONIC, &t);
    return static_cast<double>(t.tv_sec) + 1e-9 * static_cast<double>(t.tv_nsec);
  };
  const double start = now();
  if (threads == 1) {
    share(std::size_t{0}, batch);
  } else {
    std::vector<std::thread> all;
    for (std::size_t k = 0; k < threads; ++k) all.emplace_back([&, k] { share(batch * k / threads, batch * (k + 1) / threads); });
    for (std::thread& t : all) t.join();
  }
  return now() - start;
}

}  // namespace

int main(int argc, char** argv) {
  const int rounds = argc > 1 ? std::atoi(argv[1]) : 5;
  const std::size_t threads = argc > 2 ? static_cast<std::size_t>(std::clamp(std::atoi(argv[2]), 1, static_cast<int>(batch))) : 1;
  const std::size_t n = batch * steps * lines;
  Data d{Doubles(n), Doubles(n), Doubles(n, 0.0), Doubles(n, 0.0), FlagBytes(n, 0)};
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
        base.push_back(seconds(threads, [&](std::size_t from, std::size_t to) { plain(d, from, to); }));
        ours.push_back(seconds(threads, [&](std::size_t from, std::size_t to) { certified(d, rule, from, to); }));
      }
      const double least = *std::min_element(base.begin(), base.end()), own = *std::min_element(ours.begin(), ours.end());
      std::nth_element(base.begin(), base.begin() + rounds / 2, base.end());
      std::nth_element(ours.begin(), ours.begin() + rounds / 2, ours.end());
      const char* const orders[] = {"any", "seq", "seq, fma=always", "seq, fma=never"};
      std::printf("scan<%s, %s>: ratio of medians %.2f, of the fastest %.2f (plain %.2f ns, ours %.2f ns a state)\n", name, orders[order], ours[static_cast<std::size_t>(rounds / 2)] / base[static_cast<std::size_t>(rounds / 2)],
                  own / least, least / static_cast<double>(n) * 1e9, own / static_cast<double>(n) * 1e9);
    }
}
