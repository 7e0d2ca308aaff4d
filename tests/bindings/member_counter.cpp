// How many values of a format lie between two of its values: by ranks, many at once, as one by one.
#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <random>
#include <vector>

#include "eval/member_counter.hpp"
#include "ops/rounding.hpp"

using namespace erx;

TEST_CASE("values between ends: many intervals together have the sum of what each has") {
  std::mt19937_64 random(5);
  std::int64_t intervals = 0;
  for (const Format& f : all_formats()) {
    const MemberCounter counter(f);
    for (int kind = 0; kind < 3; ++kind)  // normal numbers; with zeros and subnormals; a block of each
      for (const std::size_t n : {std::size_t{1}, std::size_t{77}, std::size_t{1500}}) {
        std::vector<double> lo(n), hi(n);
        double expected = 0;
        const auto value = [&](std::size_t i) {
          const bool small = kind == 1 ? random() % 2 == 0 : kind == 2 && i >= 512 && i < 1024;
          const int exponent = small ? f.emin() - static_cast<int>(random() % 4) : std::min(f.emax(), f.emin() + static_cast<int>(random() % 40));
          const double x = std::ldexp(1 + static_cast<double>(random() % 8) / 8, exponent) * (random() % 2 && f.has_sign ? -1 : 1);
          return small && random() % 4 == 0 ? 0.0 : round_to(x, f, {Mode::rtz, Overflow::sat, Flush::no});
        };
        for (std::size_t i = 0; i < n; ++i) {
          lo[i] = value(i);
          hi[i] = random() % 3 ? lo[i] : value(i);
          if (hi[i] < lo[i]) std::swap(lo[i], hi[i]);
          expected += count_values(f, lo[i], hi[i]);
          CHECK(counter(lo[i], hi[i]) == count_values(f, lo[i], hi[i]));
        }
        const auto total = counter.in_total(lo.data(), hi.data(), n);
        if (!total) continue;
        intervals += static_cast<std::int64_t>(n);
        CHECK_MESSAGE(std::fabs(static_cast<double>(*total) - expected) <= expected * 0x1p-40, f.name << ", " << n << " intervals, kind " << kind);
        if (f.precision() < 50) {
          hi[n / 2] = std::ldexp(1 + std::ldexp(1.0, -f.precision()), f.emin() + 1);  // no value of the format
          lo[n / 2] = std::min(lo[n / 2], hi[n / 2]);
          CHECK(!counter.in_total(lo.data(), hi.data(), n));
        }
      }
  }
  CHECK(intervals > 20000);
}
