// Rows of pairs rounded at once, against each end of what a pair may be, rounded by itself.
#include <doctest/doctest.h>

#include <cmath>
#include <random>

#include "eval/pair_row.hpp"
#include "ops/num/exact_sum.hpp"

using namespace erx;

namespace {

/// high + low + shift, rounded to nearest even.
double nearest(double high, double low, double shift, const Format& f) {
  ExactSum s;
  s.add(high);
  s.add(low);
  s.add(shift);
  const Chopped c = s.chopped();
  return c.significand == 0 ? 0 : round_to(c, f, {});
}

struct Row {
  std::vector<double> high, low, error;
  void put(double h, double l, double e) {
    const double s = h + l;  // |low| is at most half an ulp of high
    high.push_back(s);
    low.push_back(std::isfinite(s) ? l - (s - h) : 0);
    error.push_back(e);
  }
};

/// Values beside those of the format, beside the middles between them, and beside powers of two.
Row row_for(const Format& f, std::mt19937_64& random) {
  Row row;
  std::normal_distribution<double> normal;
  for (int k = 0; k < 4000; ++k) {
    const int e = k % 3 == 0 ? static_cast<int>(random() % 8) - 4 : static_cast<int>(random() % static_cast<unsigned>(f.emax() - f.emin() + 6)) + f.emin() - 3;
    const int p = f.precision();
    double x = std::ldexp(std::floor(std::ldexp(1 + std::ldexp(static_cast<double>(random() >> 12), -52), p)), e - p);  // on half a spacing
    if (k % 4 == 1) x = std::ldexp(1.0, e);
    if (k % 16 == 5) x = f.max_finite();
    if (k % 8 == 3) x = std::ldexp(normal(random), e);
    const double step = std::ldexp(x, -p - 1 - (k % 5) * 7);
    const double l = (random() % 2 ? 1 : -1) * std::ldexp(normal(random), -static_cast<int>(random() % 12)) * std::ldexp(std::fabs(x), -53);
    double near = x + (k % 7 < 3 ? 0 : (random() % 2 ? step : -step));
    if (random() % 2) near = -near;
    const double spacing = std::ldexp(1.0, e - p);
    const double errors[] = {0, std::ldexp(std::fabs(x), -100), std::fabs(l) / 2, spacing / 8, spacing / 4, spacing * 0.49, spacing};
    row.put(near, l, errors[random() % 7]);
  }
  row.put(0, 0, 0);
  row.put(INFINITY, 0, 0);
  row.put(NAN, NAN, NAN);
  row.put(0x1p-1074, 0, 0);
  row.put(0x1.fffffffffffffp1023, 0, 0);
  return row;
}

}  // namespace

TEST_CASE("rows of pairs: what is decided is what every number within the error rounds to") {
  std::mt19937_64 random(77);
  for (const Format& f : all_formats()) {
    const bool is_double = f.precision() == 53 && f.emax() == 1023;
    const BulkRounding to(f, {});
    if (!is_double && !to.is_fast()) continue;
    Row row = row_for(f, random);
    const std::size_t n = row.high.size();
    for (const bool negative : {false, true}) {
      std::vector<double> out(n);
      std::vector<std::uint8_t> open(n);
      const PairRow pairs{n, row.high.data(), row.low.data(), row.error.data(), negative};
      if (is_double) round_pairs_to_double(pairs, out.data(), open.data());
      else round_pairs(pairs, to, out.data(), open.data());
      int decided = 0, decidable = 0;
      for (std::size_t j = 0; j < n; ++j) {
        if (!std::isfinite(row.high[j])) {
          CHECK(open[j]);
          continue;
        }
        const double below = nearest(row.high[j], row.low[j], -row.error[j], f), above = nearest(row.high[j], row.low[j], row.error[j], f);
        decidable += below == above && below != 0 && std::isfinite(below);
        if (open[j]) continue;
        ++decided;
        const double wanted = negative ? -below : below;
        if (below == above && out[j] == wanted && wanted != 0 && std::isfinite(wanted)) continue;
        FAIL_CHECK(f.name << ", element " << j << ": " << row.high[j] << " + " << row.low[j] << " within " << row.error[j] << " gives " << out[j] << ", may round to " << below << " and "
                          << above);
      }
      CHECK(decided > n / 4);
      CHECK(decided > decidable / 2);
      // In place: the results may lie over the pairs.
      std::vector<double> over = row.high;
      std::vector<std::uint8_t> again(n);
      const PairRow in_place{n, over.data(), row.low.data(), row.error.data(), negative};
      if (is_double) round_pairs_to_double(in_place, over.data(), again.data());
      else round_pairs(in_place, to, over.data(), again.data());
      CHECK(again == open);
      for (std::size_t j = 0; j < n; ++j)
        if (!open[j]) CHECK(over[j] == out[j]);
    }
  }
}
