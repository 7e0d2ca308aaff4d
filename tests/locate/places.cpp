// Which elements are wrong: structures planted by hand, and what the report says of them, word for word.
#include <doctest/doctest.h>

#include <algorithm>

#include "planted_outputs.hpp"

using namespace erx;
using namespace erx::test;

TEST_CASE("places: a single element, a few, everything, nothing") {
  CHECK(Planted({4, 6}).text() == "");
  Planted one({512, 384});
  one.ulps[777] = 1;
  CHECK(one.text() == "a single element\n");
  for (const std::int64_t at : {5, 60000, 100001}) one.ulps[static_cast<std::size_t>(at)] = 2;
  CHECK(one.text() == "4 single elements\n");
  CHECK(Planted({8, 16}).fill([](const Extents&) { return 3; }).text() == "every element checked\n");
  std::mt19937 random(4);
  CHECK(Planted({64, 64}).fill([&](const Extents&) { return random() % 50 == 0 ? 0 : 3; }).text() == "97.7 % of all elements checked\n");
  CHECK(Planted({}).fill([](const Extents&) { return 3; }).text() == "every element checked\n");
}

TEST_CASE("places: a last tile that was lost") {
  CHECK(Planted({100, 130}).fill([](const Extents& i) { return i[0] >= 96 && i[1] >= 96 ? 1e6 : 0; }).text() ==
        "every element of the block of rows from 96 on and columns from 96 on\n");
  CHECK(Planted({100, 130}).fill([](const Extents& i) { return i[0] >= 96 ? 1e6 : 0; }).text() == "every element of rows from 96 on\n");
  CHECK(Planted({1000}).fill([](const Extents& i) { return i[0] >= 992 ? 1e6 : 0; }).text() == "every element of indices from 992 on\n");
}

TEST_CASE("places: one bad head, a whole batch") {
  CHECK(Planted({2, 4, 16, 8}).fill([](const Extents& i) { return i[1] == 2 ? 40 : 0; }).text() == "every element of index 2 (axis 1)\n");
  CHECK(Planted({3, 4, 16, 8}).fill([](const Extents& i) { return i[0] == 1 ? 40 : 0; }).text() == "every element of index 1 (axis 0)\n");
  std::mt19937 random(1);
  CHECK(Planted({2, 4, 16, 8}).fill([&](const Extents& i) { return i[1] == 2 && random() % 4 == 0 ? 40 : 0; }).text() ==
        "only in index 2 (axis 1) (27 % of the elements there)\n");
}

TEST_CASE("places: two rows, a column at a period, runs at a period") {
  CHECK(Planted({32, 64}).fill([](const Extents& i) { return i[0] == 3 || i[0] == 17 ? 99 : 0; }).text() == "every element of rows 3 and 17\n");
  CHECK(Planted({32, 64}).fill([](const Extents& i) { return i[1] % 8 == 5 ? 99 : 0; }).text() == "every element of columns 5, 13, ..., 61 (period 8)\n");
  CHECK(Planted({32, 60}).fill([](const Extents& i) { return i[1] % 16 >= 8 ? 99 : 0; }).text() ==
        "every element of columns 8 to 15, 24 to 31, ..., 56 to 59 (period 16)\n");
  CHECK(Planted({32, 64}).fill([](const Extents& i) { return i[1] / 8 == 1 || i[1] == 40 ? 99 : 0; }).text() == "every element of columns 8 to 15 and 40\n");
}

TEST_CASE("places: a block of rows and columns") {
  CHECK(Planted({64, 96}).fill([](const Extents& i) { return i[0] / 16 == 1 && i[1] / 32 == 2 ? 50 : 0; }).text() ==
        "every element of the block of rows 16 to 31 and columns from 64 on\n");
  std::mt19937 random(2);
  CHECK(Planted({64, 96}).fill([&](const Extents& i) { return i[0] / 16 == 1 && i[1] / 32 == 1 && random() % 20 != 0 ? 50 : 0; }).text() ==
        "94.5 % of the elements of the block of rows 16 to 31 and columns 32 to 63\n");
}

TEST_CASE("places: a row, and a few strays elsewhere") {
  Planted y({64, 96});
  y.fill([](const Extents& i) { return i[0] == 9 ? 50 : 0; });
  for (const std::size_t at : {100, 3000, 5000}) y.ulps[at] = 1;
  CHECK(y.text() == "every element of row 9, and 3 elsewhere\n");
}

TEST_CASE("places: an off-by-one in a mask is a diagonal") {
  CHECK(Planted({2, 3, 32, 32}).fill([](const Extents& i) { return i[3] == i[2] ? 1000 : 0; }).text() == "every element of the diagonal column = row\n");
  CHECK(Planted({32, 32}).fill([](const Extents& i) { return i[1] == i[0] + 1 ? 1000 : 0; }).text() == "every element of the diagonal column = row + 1\n");
  CHECK(Planted({2, 4, 32, 32}).fill([](const Extents& i) { return i[0] == 1 && i[1] == 2 && i[3] == i[2] + 1 ? 1000 : 0; }).text() ==
        "every element of the diagonal column = row + 1 of index 1 (axis 0), index 2 (axis 1)\n");
  CHECK(Planted({32, 48}).fill([](const Extents& i) { return i[1] == i[0] - 2 || i[1] == i[0] ? 1000 : 0; }).text() ==
        "every element of the diagonals column = row - 2 and column = row\n");
  CHECK(Planted({32, 32}).fill([](const Extents& i) { return i[1] > i[0] ? 1000 : 0; }).text() == "every element of the triangle column >= row + 1\n");
  CHECK(Planted({32, 32}).fill([](const Extents& i) { return i[1] <= i[0] ? 1000 : 0; }).text() == "every element of the triangle column <= row\n");
}

TEST_CASE("places: scattered elements are no structure, however many") {
  for (const int seed : {1, 2, 3, 4, 5, 6, 7, 8}) {
    for (const int one_in : {2, 3, 10, 100, 2000}) {
      INFO("seed ", seed, ", one in ", one_in);
      std::mt19937 random(static_cast<unsigned>(seed));
      Planted y({4, 64, 128});
      y.fill([&](const Extents&) { return random() % static_cast<unsigned>(one_in) == 0 ? 1 + random() % 2 : 0; });
      CHECK((y.text() == "scattered over the whole tensor\n" || y.text() == std::to_string(y.outside().size()) + " single elements\n"));
    }
  }
}

TEST_CASE("places: whole rows or columns are no chance, even where they are most of all") {
  CHECK(Planted({8, 8}).fill([](const Extents& i) { return i[1] < 7 ? 3 : 0; }).text() == "every element of columns 0 to 6\n");
  CHECK(Planted({2, 4}).fill([](const Extents& i) { return i[0] == 1 ? 3 : 0; }).text() == "every element of row 1\n");
  CHECK(Planted({8}).fill([](const Extents& i) { return i[0] < 7 ? 3 : 0; }).text() == "scattered over the whole tensor\n");
}

TEST_CASE("places: few elements in a few indices are chance; the same indices again and again are not") {
  Planted y({8, 8});
  y.ulps[3] = y.ulps[5] = 1;  // both in row 0: one pair in eight is in one row
  CHECK(y.text() == "2 single elements\n");
  y.ulps[0] = y.ulps[1] = y.ulps[2] = y.ulps[4] = 1;
  CHECK(y.text() == "only in row 0 (75 % of the elements there)\n");
}

TEST_CASE("places: only what was checked counts") {
  Planted y({16, 32});
  y.fill([](const Extents& i) { return i[1] >= 16 ? 9 : 0; });
  y.mask.resize(y.ulps.size());
  for (std::int64_t i = 0; i < y.size(); ++i) y.mask[static_cast<std::size_t>(i)] = y.index(i)[0] % 2 == 0;
  CHECK(y.text() == "every element of the block of rows 0, 2, ..., 14 (period 2) and columns from 16 on\n");
  for (std::int64_t i = 0; i < y.size(); ++i) y.mask[static_cast<std::size_t>(i)] = y.index(i)[1] >= 16;
  CHECK(y.text() == "every element checked\n");
}
