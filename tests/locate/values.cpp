// What the values of violations say: never written, a wrong sign, exchanged rows, an index that is off by one, a transposed result.
#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>

#include "planted_outputs.hpp"

using namespace erx;
using namespace erx::test;

namespace {

/// `right` are the only allowed values; the findings about `got`, as lines.
std::string explained(const Extents& extents, const std::vector<double>& right, const std::vector<double>& got) {
  std::vector<std::int64_t> outside;
  for (std::size_t i = 0; i < got.size(); ++i)
    if (!(got[i] == right[i])) outside.push_back(static_cast<std::int64_t>(i));
  const std::vector<float> distances(outside.size(), 1);
  const std::vector<std::uint8_t> mask;
  const auto at = [](const std::vector<double>& x, std::int64_t i) { return x[static_cast<std::size_t>(i)]; };
  const OutputValues values{[&](std::int64_t i) { return at(got, i); },
                            [&](std::int64_t set, std::int64_t value, bool negated) { return at(right, set) == (negated ? -1 : 1) * at(got, value); }};
  std::string lines;
  for (const Finding& f : explain_values({extents, outside, distances, std::ssize(got), mask}, values)) lines += f.text + "\n";
  return lines;
}

std::vector<double> noise(std::int64_t n, unsigned seed) {
  std::mt19937 random(seed);
  std::vector<double> x(static_cast<std::size_t>(n));
  for (double& e : x) e = 1 + random() % 100000;
  return x;
}

}  // namespace

TEST_CASE("values: elements that were never written") {
  const auto right = noise(64, 1);
  auto got = right;
  std::fill(got.begin() + 48, got.end(), 0.0);
  CHECK(explained({8, 8}, right, got) == "each of them is 0\nconsistent with elements that were never written\n");
  got[50] = 5;
  CHECK(explained({8, 8}, right, got) == "");
  std::fill(got.begin() + 48, got.end(), std::nan(""));
  CHECK(explained({8, 8}, right, got) == "each of them is NaN\n");
}

TEST_CASE("values: a wrong sign") {
  const auto right = noise(64, 2);
  auto got = right;
  for (double& x : got) x = -x;
  CHECK(explained({8, 8}, right, got) == "each of them has the sign of an allowed value changed\nconsistent with a wrong sign\n");
  got[0] = 3;
  CHECK(explained({8, 8}, right, got) == "");
}

TEST_CASE("values: exchanged rows, exchanged heads") {
  const auto right = noise(2 * 4 * 8, 3);
  auto got = right;
  std::swap_ranges(got.begin() + 16, got.begin() + 24, got.begin() + 40);
  CHECK(explained({8, 8}, right, got) == "each of the rows 2 and 5 holds what the other may hold\nconsistent with two rows exchanged\n");
  CHECK(explained({2, 4, 8}, right, got) == "");  // row 2 of the first and row 1 of the second
  got = right;
  for (int b = 0; b < 2; ++b) std::swap_ranges(got.begin() + b * 32, got.begin() + b * 32 + 8, got.begin() + b * 32 + 24);
  CHECK(explained({2, 4, 8, 1}, right, got) == "each of the indices 0 and 3 (axis 1) holds what the other may hold\nconsistent with two indices exchanged\n");
}

TEST_CASE("values: an index that is off by one") {
  const auto right = noise(96, 4);
  auto got = right;
  for (std::size_t i = 0; i < 96; ++i) got[i] = i % 12 == 11 ? 7 : right[i + 1];
  CHECK(explained({8, 12}, right, got) == "each is what the element one column further may be, where there is one\nconsistent with an index that is off by one\n");
  for (std::size_t i = 0; i < 96; ++i) got[i] = i % 12 == 11 ? right[i] : right[i + 1];
  CHECK(explained({8, 12}, right, got) == "each is what the element one column further may be, where there is one\nconsistent with an index that is off by one\n");
  for (std::size_t i = 12; i < 96; ++i) got[i] = right[i - 12];
  std::copy(right.begin(), right.begin() + 12, got.begin());
  CHECK(explained({8, 12}, right, got) == "each is what the element one row before may be, where there is one\nconsistent with an index that is off by one\n");
}

TEST_CASE("values: a transposed result") {
  const auto right = noise(2 * 36, 5);
  auto got = right;
  for (std::size_t i = 0; i < 72; ++i) got[i] = right[i / 36 * 36 + i % 6 * 6 + i / 6 % 6];
  CHECK(explained({2, 6, 6}, right, got) == "each is what the element with its row and column exchanged may be\nconsistent with a transposed result\n");
}

TEST_CASE("values: noise, and too few elements, are no evidence") {
  const auto right = noise(64, 6);
  CHECK(explained({8, 8}, right, noise(64, 7)) == "");
  auto got = right;
  got[3] = 0;
  got[9] = 0;
  CHECK(explained({8, 8}, right, got) == "");
}
