// Products in twice the precision: every pair against the exact sum, over shapes, strides and kinds of data; the powers against exact norms.
#include <doctest/doctest.h>

#include <random>

#include "ops/anchored_product.hpp"
#include "ops/num/exact_sum.hpp"
#include "tests/ops/support.hpp"

using namespace erx;
using namespace erx::test;

namespace {

enum class Data { gaussian, cancelling, wide, one_large, integers, tiny, large };

struct Case {
  std::int64_t rows, depth, columns;
  Data data;
  bool a_by_columns = false, b_by_columns = false;
};

std::vector<double> make(std::mt19937_64& random, Data data, std::int64_t lines, std::int64_t depth, bool right) {
  std::normal_distribution<double> normal;
  std::vector<double> v(static_cast<std::size_t>(lines * depth));
  for (std::int64_t l = 0; l < lines; ++l)
    for (std::int64_t k = 0; k < depth; ++k) {
      double& x = v[static_cast<std::size_t>(l * depth + k)];
      x = normal(random);
      if (data == Data::cancelling && k % 2) x = right ? v[static_cast<std::size_t>(l * depth + k - 1)] : -v[static_cast<std::size_t>(l * depth + k - 1)];
      if (data == Data::wide) x *= std::exp(10 * normal(random));
      if (data == Data::one_large && k == depth / 3) x = std::ldexp(x, 60);
      if (data == Data::integers) x = static_cast<double>(static_cast<std::int64_t>(random() % 4001) - 2000);
      if (data == Data::tiny) x = std::ldexp(x, -390 - static_cast<int>(random() % 700));
      if (data == Data::large) x = std::ldexp(x, 380);
    }
  return v;
}

/// Lines of terms laid out along either axis, with room between lines.
struct Laid {
  std::vector<double> values;
  std::int64_t line, term;
};
Laid lay(const std::vector<double>& v, std::int64_t lines, std::int64_t depth, bool terms_side_by_side) {
  Laid m{{}, terms_side_by_side ? depth + 3 : 1, terms_side_by_side ? 1 : lines + 5};
  m.values.assign(static_cast<std::size_t>((lines + 5) * (depth + 3)), 7e77);
  for (std::int64_t l = 0; l < lines; ++l)
    for (std::int64_t k = 0; k < depth; ++k) m.values[static_cast<std::size_t>(l * m.line + k * m.term)] = v[static_cast<std::size_t>(l * depth + k)];
  return m;
}

/// The largest error, in parts of its bound.
double worst_of(const Case& c, std::uint64_t seed) {
  std::mt19937_64 random(seed);
  const std::vector<double> x = make(random, c.data, c.rows, c.depth, false), y = make(random, c.data, c.columns, c.depth, true);
  const Laid a = lay(x, c.rows, c.depth, !c.a_by_columns), b = lay(y, c.columns, c.depth, c.b_by_columns);
  LinePowers of_rows(c.rows, c.depth), of_columns(c.columns, c.depth);
  of_rows.measure(0, c.rows, a.values.data(), a.line, a.term);
  for (std::int64_t j = 0; j < c.columns; j += 10) of_columns.measure(j, std::min<std::int64_t>(10, c.columns - j), b.values.data() + j * b.line, b.line, b.term);
  for (std::int64_t piece = 0; piece < anchored_pieces(c.depth); ++piece)
    for (std::int64_t i = 0; i < c.rows; ++i) {
      ExactSum rest;  // power^2 - norm^2
      const double power = of_rows.of(piece)[i];
      rest.add_product(power, power);
      for (std::int64_t k = piece * anchored_terms; k < std::min(c.depth, (piece + 1) * anchored_terms); ++k) {
        const double v = x[static_cast<std::size_t>(i * c.depth + k)];
        rest.subtract_product(v, v);
      }
      CHECK(rest.sign() > 0);
      int exponent;
      CHECK(std::frexp(power, &exponent) == 0.5);
    }

  const std::size_t n = static_cast<std::size_t>(c.rows * c.columns);
  std::vector<double> high(n, nan_value), low(n, nan_value), error(static_cast<std::size_t>(c.columns));
  AnchoredProduct product({a.values.data(), c.rows, c.depth, a.line, a.term}, of_rows, {b.values.data(), c.depth, c.columns, b.term, b.line}, of_columns, high.data(), low.data());
  for (std::int64_t piece = 0; piece < anchored_pieces(c.depth); ++piece) product.add_piece(piece);
  double worst = 0;
  for (std::int64_t i = 0; i < c.rows; ++i) {
    product.normalize(i);
    anchored_errors(of_rows, i, of_columns, c.depth, error.data());
    for (std::int64_t j = 0; j < c.columns; ++j) {
      const std::size_t at = static_cast<std::size_t>(i * c.columns + j);
      ExactSum rest;
      rest.add_dot(x.data() + i * c.depth, 1, y.data() + j * c.depth, 1, static_cast<std::size_t>(c.depth));
      rest.add(-high[at]);
      rest.add(-low[at]);
      const F64 distance = abs_of(rest.f64());
      const double e = error[static_cast<std::size_t>(j)];
      worst = std::max(worst, distance.u / e);
      if (high[at] + low[at] == high[at] && distance.u <= e) continue;
      FAIL_CHECK("seed " << seed << ", element " << i << ", " << j << ": " << hex(high[at]) << " + " << hex(low[at]) << " is off by " << hex(distance.u) << ", bound " << hex(e));
    }
  }
  return worst;
}

}  // namespace

TEST_CASE("products in twice the precision: within their bound of the exact sums") {
  const std::vector<Case> cases = {
      {57, 1223, 61, Data::gaussian}, {57, 1223, 61, Data::gaussian, true, true}, {8, 128, 8, Data::gaussian}, {9, 129, 33, Data::gaussian, false, true},
      {1, 1, 1, Data::gaussian},      {1, 300, 1, Data::wide},                    {37, 700, 41, Data::wide, true}, {33, 1024, 35, Data::cancelling},
      {13, 511, 70, Data::one_large}, {5, 0, 3, Data::gaussian},                  {31, 400, 5, Data::integers},    {20, 300, 20, Data::tiny},
      {20, 300, 20, Data::large},     {3, 100000, 2, Data::gaussian},             {2, 1 << 20, 1, Data::wide}};
  for (std::size_t k = 0; k < cases.size(); ++k) {
    const double worst = worst_of(cases[k], 100 + k);
    MESSAGE("case " << k << ": largest error " << worst << " of its bound");
    if (cases[k].data == Data::gaussian && cases[k].depth > 100) CHECK(worst > 1e-6);  // the bound is about something
  }
}

TEST_CASE("products in twice the precision: what is not finite stays in its row and column") {
  const std::int64_t n = 40, depth = 150;
  std::mt19937_64 random(3);
  std::vector<double> a = make(random, Data::gaussian, n, depth, false), b = make(random, Data::gaussian, n, depth, true);
  a[static_cast<std::size_t>(7 * depth + 3)] = inf;
  a[static_cast<std::size_t>(9 * depth + 149)] = 1e300;
  b[static_cast<std::size_t>(11 * depth + 5)] = nan_value;
  LinePowers rows(n, depth), columns(n, depth);
  rows.measure(0, n, a.data(), depth, 1);
  columns.measure(0, n, b.data(), depth, 1);
  std::vector<double> high(static_cast<std::size_t>(n * n)), low(high.size()), error(static_cast<std::size_t>(n));
  AnchoredProduct product({a.data(), n, depth, depth, 1}, rows, {b.data(), depth, n, 1, depth}, columns, high.data(), low.data());
  for (std::int64_t piece = 0; piece < anchored_pieces(depth); ++piece) product.add_piece(piece);
  for (std::int64_t i = 0; i < n; ++i) {
    product.normalize(i);
    anchored_errors(rows, i, columns, depth, error.data());
    for (std::int64_t j = 0; j < n; ++j) {
      if (i == 7 || i == 9 || j == 11) continue;
      ExactSum rest;
      rest.add_dot(a.data() + i * depth, 1, b.data() + j * depth, 1, static_cast<std::size_t>(depth));
      rest.add(-high[static_cast<std::size_t>(i * n + j)]);
      rest.add(-low[static_cast<std::size_t>(i * n + j)]);
      CHECK(abs_of(rest.f64()).u <= error[static_cast<std::size_t>(j)]);
    }
  }
}
