// How distances change along an axis: lost carries of blocked scans in many shapes, and what is no decay.
#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>

#include "planted_outputs.hpp"

using namespace erx;
using namespace erx::test;

namespace {

/// Distances, in ulps of float32, of a scan h_t = a_t h_(t-1) + b_t whose carry is lost at each multiple of `block`, along the last axis.
/// a_t = exp(-delta), delta uniform in [0, rate). Distances below one ulp are none.
Planted lost_carry(const Extents& extents, std::int64_t block, double rate, unsigned seed, bool reverse = false) {
  std::mt19937_64 random(seed);
  std::uniform_real_distribution<double> uniform(0, 1);
  Planted y(extents);
  const std::int64_t n = extents.back();
  for (std::int64_t base = 0; base < y.size(); base += n) {
    double right = 0, wrong = 0;
    for (std::int64_t t = 0; t < n; ++t) {
      const double delta = rate * uniform(random), a = std::exp(-delta), b = delta * uniform(random);
      right = a * right + b;
      wrong = t % block == 0 ? b : a * wrong + b;
      const double ulps = std::fabs(right - wrong) / std::ldexp(1.0, std::ilogb(right) - 23);
      y.ulps[static_cast<std::size_t>(base + (reverse ? n - 1 - t : t))] = static_cast<float>(ulps < 1 ? 0 : std::round(ulps));
    }
  }
  return y;
}

Finding decay_in(const Planted& y) {
  for (const Finding& f : y.findings())
    if (f.kind == "decay") return f;
  return {};
}

bool names(const Planted& y, const std::string& kind) {
  const auto all = y.findings();
  return std::any_of(all.begin(), all.end(), [&](const Finding& f) { return f.kind == kind; });
}

}  // namespace

TEST_CASE("distances: a lost carry is told by itself: where it starts, its period, the decay, what it is") {
  CHECK(lost_carry({2, 1, 64, 1024}, 128, 0.1, 1).text() ==
        "every element of columns from 128 on (axis 3)\n"
        "first violation in column 128 (axis 3); the distance repeats with period 128 and decays within each block, from about 11,000,000 ulps to about 18,000\n"
        "consistent with a lost carry, not with rounding: blocks of 128 columns that start without the state of the one before\n");
}

TEST_CASE("distances: any length, any block, any number of sequences, any rate") {
  int told = 0;
  for (unsigned seed = 1; seed <= 3; ++seed)
    for (const std::int64_t sequences : {1, 4, 32})
      for (const std::int64_t n : {128, 256, 1000, 1024})
        for (const std::int64_t block : {16, 32, 64, 100, 128, 256})
          for (const double rate : {0.1, 0.4, 2.0}) {
            if (block * 3 > n || (rate * static_cast<double>(block) < 4 && sequences < 4)) continue;  // three blocks at least, and a decay that stands out of the noise
            INFO("seed ", seed, ", ", sequences, " x ", n, ", block ", block, ", rate ", rate);
            const Planted y = lost_carry({sequences, n}, block, rate, seed);
            const Finding f = decay_in(y);
            CHECK(f.start == block);
            CHECK(f.period == block);
            CHECK(y.text().find("consistent with a lost carry, not with rounding") != std::string::npos);
            ++told;
          }
  CHECK(told > 200);
}

TEST_CASE("distances: two blocks have no period") {
  CHECK(lost_carry({8, 128}, 64, 0.2, 3).text() ==
        "every element of columns from 64 on\n"
        "first violation in column 64; the distance is largest there and decays behind it, from about 10,000,000 ulps to about 18,000\n"
        "consistent with a lost carry, not with rounding: the state before column 64 is missing\n");
}

TEST_CASE("distances: a scan from the end") {
  CHECK(lost_carry({32, 512}, 128, 0.1, 5, true).text() ==
        "every element of columns 0 to 383\n"
        "last violation in column 383; the distance repeats with period 128 and decays within each block, toward the start, from about 11,000,000 ulps to about 18,000\n"
        "consistent with a lost carry, not with rounding: blocks of 128 columns that start without the state of the one before (the scan runs from the end)\n");
}

TEST_CASE("distances: a state that is wrong from the start") {
  std::mt19937_64 random(7);
  std::uniform_real_distribution<double> uniform(0.9, 1);
  Planted y({4, 8, 256});
  y.fill([&](const Extents& i) { return i[0] == 0 ? 0 : std::floor(std::exp2(22 - 0.1 * static_cast<double>(i[2])) * uniform(random)); });
  CHECK(y.text() ==
        "99.9 % of the elements of the block of indices from 1 on (axis 0) and columns 0 to 219 (axis 2)\n"
        "first violation in column 0 (axis 2); the distance is largest there and decays behind it, from about 4,000,000 ulps to about 2\n"
        "consistent with a wrong state at the start, not with rounding\n");
}

TEST_CASE("distances: one axis of a tensor is transposed, the others are not") {
  const Planted rows = lost_carry({16, 256}, 64, 0.4, 9);
  Planted y({256, 16});
  y.fill([&](const Extents& i) { return rows.ulps[static_cast<std::size_t>(i[1] * 256 + i[0])]; });
  CHECK(decay_in(y).axis == 0);
  CHECK(y.text().find("first violation in row 64; the distance repeats with period 64") != std::string::npos);
}

TEST_CASE("distances: what only repeats is said to repeat") {
  Planted y({16, 96});
  std::mt19937 random(3);
  y.fill([&](const Extents& i) { return (i[1] % 12 < 6 ? 1 + i[1] % 12 : 12 - i[1] % 12) * 100 + random() % 20; });  // up and down
  CHECK(y.text() == "every element checked\nthe distance repeats with period 12 along the columns\n");
}

TEST_CASE("distances: differences that look like rounding are no structure") {
  for (unsigned seed = 1; seed <= 40; ++seed)
    for (const Extents& extents : {Extents{1, 64}, Extents{8, 128}, Extents{4, 16, 64}, Extents{1000}, Extents{2, 1024}})
      for (const unsigned one_in : {1u, 2u, 5u, 20u}) {
        std::mt19937 random(seed * 1000 + one_in);
        Planted y(extents);
        y.fill([&](const Extents&) { return random() % one_in == 0 ? 1 + static_cast<int>(random() % 4 == 0) : 0; });
        INFO("seed ", seed, ", ", to_string(shape_of(extents)), ", one in ", one_in, ": ", y.text());
        CHECK(!names(y, "decay"));
        CHECK(!names(y, "period"));
        CHECK(!names(y, "cause"));
        CHECK(!names(y, "diagonal"));
      }
}

TEST_CASE("distances: what wanders or swings slowly has no carry") {
  for (unsigned seed = 1; seed <= 60; ++seed) {
    std::mt19937_64 random(seed);
    std::normal_distribution<double> normal;
    Planted y({4, 256});
    std::vector<double> walk(256, 12);
    for (std::size_t i = 1; i < walk.size(); ++i) walk[i] = std::clamp(walk[i - 1] + 0.7 * normal(random), 3.0, 22.0);
    y.fill([&](const Extents& i) { return std::floor(std::exp2(walk[static_cast<std::size_t>(i[1])] + 0.3 * normal(random))); });
    INFO("seed ", seed, ": ", y.text());
    CHECK(!names(y, "cause"));
    y.fill([&](const Extents& i) { return std::floor(std::exp2(12 + 4 * std::sin(static_cast<double>(i[1]) / (5 + seed)) + 0.3 * normal(random))); });
    INFO("swings: ", y.text());
    CHECK(!names(y, "cause"));
  }
}

TEST_CASE("distances: an error that grows along the axis has no cause by itself") {
  Planted y({16, 200});
  y.fill([](const Extents& i) { return 1 + i[1] * i[1]; });
  CHECK(!names(y, "period"));
  CHECK(y.text().find("consistent with a lost carry") == std::string::npos);
}

TEST_CASE("distances: columns that are wrong at a period do not decay") {
  CHECK(Planted({16, 128}).fill([](const Extents& i) { return i[1] % 16 < 6 ? 1e6 : 0; }).text() == "every element of columns 0 to 5, 16 to 21, ..., 112 to 117 (period 16)\n");
  CHECK(Planted({16, 128}).fill([](const Extents& i) { return i[1] % 16 == 0 ? 1e6 : 0; }).text() == "every element of columns 0, 16, ..., 112 (period 16)\n");
}

TEST_CASE("distances: special values count as far away") {
  Planted y({4, 64});
  y.fill([](const Extents& i) { return i[1] >= 32 ? std::numeric_limits<float>::infinity() : 0; });
  CHECK(y.text() == "every element of columns from 32 on\n");
}
