#include "ops/enclosed_sum.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>

#include "ops/clones.hpp"

namespace erx {
namespace {

constexpr std::size_t lanes = EnclosedSum::lanes;

/// Both ends in lanes; residuals: the bits of all residuals together, without signs.
struct Lanes {
  double high[2][lanes] = {}, low[2][lanes] = {}, magnitude[lanes] = {};
  std::uint64_t residuals[2][lanes] = {};
};

[[gnu::always_inline]] inline double magnitude_of(double x) { return std::bit_cast<double>(std::bit_cast<std::uint64_t>(x) & 0x7fffffffffffffffu); }
[[gnu::always_inline]] inline double select(bool condition, double yes, double no) {
  const std::uint64_t mask = -static_cast<std::uint64_t>(condition);
  return std::bit_cast<double>((std::bit_cast<std::uint64_t>(yes) & mask) | (std::bit_cast<std::uint64_t>(no) & ~mask));
}
[[gnu::always_inline]] inline double larger_of(double x, double y) { return x > y ? x : y; }

/// high + low gains x + rest exactly, but for the rounding of low.
[[gnu::always_inline]] inline void add_to(double& high, double& low, std::uint64_t& residuals, double x, double rest) {
  const double s = high + x, t = s - high, r = (high - (s - t)) + (x - t);
  low += r + rest;
  residuals |= (std::bit_cast<std::uint64_t>(r) | std::bit_cast<std::uint64_t>(rest)) << 1;
  high = s;
}

/// May the residual of a product be lost? What it misses is far below the bound, but the product is not exact.
[[gnu::always_inline]] inline std::uint64_t underflows(double product, double x, double y) {
  return static_cast<std::uint64_t>((magnitude_of(product) < 0x1p-960) & (x != 0) & (y != 0));
}

ERX_VECTOR_CLONES void add_rows(const double* d, const double* u, std::size_t n, Lanes& all) {
  Lanes l = all;
  for (std::size_t i = 0; i < n; i += lanes)
    for (std::size_t k = 0; k < lanes; ++k) {
      add_to(l.high[0][k], l.low[0][k], l.residuals[0][k], d[i + k], 0);
      add_to(l.high[1][k], l.low[1][k], l.residuals[1][k], u[i + k], 0);
      l.magnitude[k] += larger_of(magnitude_of(d[i + k]), magnitude_of(u[i + k]));
    }
  all = l;
}

/// Which ends give the least and the greatest product follows from the signs; of two factors around 0 the largest magnitudes do.
ERX_VECTOR_CLONES void add_product_rows(const double* a_d, const double* a_u, const double* b_d, const double* b_u, std::size_t n, Lanes& all) {
  Lanes l = all;
  for (std::size_t i = 0; i < n; i += lanes)
    for (std::size_t k = 0; k < lanes; ++k) {
      const double x_d = a_d[i + k], x_u = a_u[i + k], y_d = b_d[i + k], y_u = b_u[i + k];
      const bool around_zero = (y_d < 0) & (y_u > 0), negative = y_u <= 0;
      const double x_most = larger_of(magnitude_of(x_d), magnitude_of(x_u)), y_most = larger_of(magnitude_of(y_d), magnitude_of(y_u));
      double x_least = select(negative, x_u, x_d), x_greatest = select(negative, x_d, x_u);
      double y_least = select(x_least >= 0, y_d, y_u), y_greatest = select(x_greatest >= 0, y_u, y_d);
      x_least = select(around_zero, x_most, x_least);
      x_greatest = select(around_zero, x_most, x_greatest);
      y_least = select(around_zero, -y_most, y_least);
      y_greatest = select(around_zero, y_most, y_greatest);
      const double least = x_least * y_least, greatest = x_greatest * y_greatest;
      l.residuals[0][k] |= underflows(least, x_least, y_least);
      l.residuals[1][k] |= underflows(greatest, x_greatest, y_greatest);
      add_to(l.high[0][k], l.low[0][k], l.residuals[0][k], least, __builtin_fma(x_least, y_least, -least));
      add_to(l.high[1][k], l.low[1][k], l.residuals[1][k], greatest, __builtin_fma(x_greatest, y_greatest, -greatest));
      l.magnitude[k] += x_most * y_most;
    }
  all = l;
}

ERX_VECTOR_CLONES void add_magnitudes(const double* d, const double* u, std::size_t n, double* magnitude) {
  for (std::size_t i = 0; i < n; i += lanes)
    for (std::size_t k = 0; k < lanes; ++k) magnitude[k] += larger_of(magnitude_of(d[i + k]), magnitude_of(u[i + k]));
}

void add_to(EnclosedSum::End& end, double high, double low, bool exact) {
  std::uint64_t residuals = 0;
  add_to(end.high, end.low, residuals, high, low);
  end.exact = end.exact && exact && residuals == 0;
}

/// In rows of lanes, the last one filled up with zeros: row(arrays, n).
template <std::size_t count, class Row>
void in_rows(const std::array<const double*, count>& arrays, std::size_t n, const Row& row) {
  const std::size_t even = n / lanes * lanes;
  row(arrays, even);
  if (even == n) return;
  double rest[count][lanes] = {};
  std::array<const double*, count> filled;
  for (std::size_t k = 0; k < count; ++k) {
    std::copy(arrays[k] + even, arrays[k] + n, rest[k]);
    filled[k] = rest[k];
  }
  row(filled, lanes);
}

}  // namespace

void EnclosedSum::add(const double* d, const double* u, std::size_t n) {
  Lanes l;
  in_rows(std::array{d, u}, n, [&](const auto& x, std::size_t count) { add_rows(x[0], x[1], count, l); });
  for (std::size_t k = 0; k < lanes; ++k) {
    for (int e = 0; e < 2; ++e) add_to(ends_[e], l.high[e][k], l.low[e][k], l.residuals[e][k] == 0);
    magnitude_ += l.magnitude[k];
  }
  leaves_ += static_cast<double>(n + 2 * lanes);
}

void EnclosedSum::add_products(const double* a_d, const double* a_u, const double* b_d, const double* b_u, std::size_t n) {
  Lanes l;
  in_rows(std::array{a_d, a_u, b_d, b_u}, n, [&](const auto& x, std::size_t count) { add_product_rows(x[0], x[1], x[2], x[3], count, l); });
  for (std::size_t k = 0; k < lanes; ++k) {
    for (int e = 0; e < 2; ++e) add_to(ends_[e], l.high[e][k], l.low[e][k], l.residuals[e][k] == 0);
    magnitude_ += l.magnitude[k];
  }
  leaves_ += static_cast<double>(n + 2 * lanes);
}

void EnclosedSum::negate() {
  std::swap(ends_[0], ends_[1]);
  for (End& e : ends_) e = {-e.high, -e.low, e.exact};
}

void EnclosedSum::add(const EnclosedSum& x) {
  for (int e = 0; e < 2; ++e) add_to(ends_[e], x.ends_[e].high, x.ends_[e].low, x.ends_[e].exact);
  magnitude_ += x.magnitude_;
  leaves_ += x.leaves_ + 2;
}

bool EnclosedSum::is_ordinary() const {
  // Finite ends: a leaf that is none shows in its end, and in the magnitude.
  return magnitude_ > 0x1p-900 && magnitude_ < 0x1p1000 && f64::is_finite(ends_[0].high + ends_[0].low) && f64::is_finite(ends_[1].high + ends_[1].low);
}

double EnclosedSum::error() const {
  const double n = 2 * leaves_ + 64;  // rounded, as the magnitude is: 1 + 2^-20 pays for it
  return n * n * 0x1p-106 * magnitude_ * (1 + 0x1p-20);
}

F64 EnclosedSum::value() const {
  const auto end = [&](const End& e, bool upper) {
    if (e.exact) return e.high;
    const F64 sum = f64::sum(e.high, e.low);
    return upper ? f64::sum(sum.u, error()).u : f64::sum(sum.d, -error()).d;
  };
  return {end(ends_[0], false), end(ends_[1], true)};
}

F64 EnclosedSum::magnitude() const {
  // A number of [d, u] has a magnitude within u - d of the larger one; what has been added is rounded once for each leaf.
  const F64 sum = value(), width = f64::sum(sum.u, -sum.d);
  const double error = f64::sum(leaves_ * 0x1p-52 * magnitude_, width.u).u;
  const double below = f64::sum(magnitude_, -error).d;
  return {below > 0 ? below : 0, f64::sum(magnitude_, error).u};
}

double sum_of_magnitudes(const double* d, const double* u, std::size_t n) {
  double magnitude[lanes] = {}, sum = 0;
  in_rows(std::array{d, u}, n, [&](const auto& x, std::size_t count) { add_magnitudes(x[0], x[1], count, magnitude); });
  for (const double m : magnitude) sum += m;
  return sum;
}

}  // namespace erx
