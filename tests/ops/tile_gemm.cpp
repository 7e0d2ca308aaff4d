// Products of doubles by tiles of our own: exact for integers, in every corner of their blocks, wherever lines lie.
#include <doctest/doctest.h>

#include <random>
#include <vector>

#include "ops/tile_gemm.hpp"

using namespace erx;

TEST_CASE("products by tiles: integers, of every shape and direction of lines") {
  if (!has_tile_gemm()) return;  // a processor without AVX2
  std::mt19937_64 random(7);
  const std::int64_t sizes[] = {1, 2, 7, 8, 9, 23, 24, 25, 130, 257, 961};
  for (int round = 0; round < 60; ++round) {
    const auto any = [&] { return sizes[random() % std::size(sizes)]; };
    const std::int64_t m = any(), n = any(), k = round == 0 ? 0 : any(), gap = static_cast<std::int64_t>(random() % 3);
    const bool a_by_rows = random() % 2, b_by_rows = random() % 2;
    const auto values = [&](std::int64_t count) {
      std::vector<double> x(static_cast<std::size_t>(count));
      for (double& v : x) v = static_cast<double>(random() % 2001) - 1000;
      return x;
    };
    const std::int64_t line_a = (a_by_rows ? k : m) + gap, line_b = (b_by_rows ? n : k) + gap, line_c = n + gap;
    const std::vector<double> a = values(line_a * (a_by_rows ? m : k)), b = values(line_b * (b_by_rows ? k : n));
    std::vector<double> c(static_cast<std::size_t>(line_c * m), -7);
    tile_gemm({a.data(), m, k, a_by_rows ? line_a : 1, a_by_rows ? 1 : line_a}, {b.data(), k, n, b_by_rows ? line_b : 1, b_by_rows ? 1 : line_b}, c.data(), line_c);
    std::int64_t wrong = 0;
    for (std::int64_t i = 0; i < m; ++i)
      for (std::int64_t j = 0; j < line_c; ++j) {
        double sum = 0;
        for (std::int64_t t = 0; j < n && t < k; ++t)
          sum += a[static_cast<std::size_t>(a_by_rows ? i * line_a + t : t * line_a + i)] * b[static_cast<std::size_t>(b_by_rows ? t * line_b + j : j * line_b + t)];
        wrong += c[static_cast<std::size_t>(i * line_c + j)] != (j < n ? sum : -7);
      }
    CHECK_MESSAGE(wrong == 0, m << " x " << k << " x " << n);
  }
}
