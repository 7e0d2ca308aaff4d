// Lines packed for tiles: every code of a format of 16 bits becomes what it is decoded to, in its place, and is measured.
#include <doctest/doctest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <vector>

#include "eval/packed_lines.hpp"
#include "ops/num/grid.hpp"

using namespace erx;

namespace {

Tensor all_codes(const Format& f, std::int64_t lines, std::int64_t terms, bool across) {
  auto bytes = std::make_shared<std::vector<std::byte>>(2 * static_cast<std::size_t>(lines * terms));
  for (std::int64_t i = 0; i < lines * terms; ++i) {
    const auto code = static_cast<std::uint16_t>(i * 40503);
    std::memcpy(bytes->data() + 2 * i, &code, 2);
  }
  Tensor t;
  t.type = Type::of(f);
  t.storage = Storage::code;
  t.extents = across ? Extents{terms, lines} : Extents{lines, terms};
  t.byte_strides = {2 * t.extents[1], 2};
  t.data = bytes->data();
  t.owner = bytes;
  return t;
}

}  // namespace

TEST_CASE("packed lines: every code of 16 bits, along and across, with norms and grids") {
  for (const char* name : {"bf16", "f16"})
    for (const bool across : {false, true})
      for (const std::int64_t most : {8, 24}) {
        const std::int64_t lines = 67, terms = 1003;  // neither fills its groups; more than 65536 elements
        const Tensor t = all_codes(*find_format(name), lines, terms, across);
        const OperandLines x{&t, nullptr, nullptr, across ? 1 : terms, across ? lines : 1};
        PackedLines packed(lines, terms, most);
        packed.pack(x, 0, 0, packed.groups());
        std::int64_t wrong = 0;
        for (std::int64_t l = 0; l < lines; ++l) {
          std::vector<double> line(static_cast<std::size_t>(terms));
          packed.copy(l, line.data());
          double square = 0, grid = INFINITY;
          for (std::int64_t k = 0; k < terms; ++k) {
            const double value = t.at(across ? k * lines + l : l * terms + k), got = line[static_cast<std::size_t>(k)];
            wrong += std::isnan(value) ? !std::isnan(got) : std::bit_cast<std::uint64_t>(value) != std::bit_cast<std::uint64_t>(got);
            square += value * value;
            if (std::isfinite(value)) grid = std::min(grid, lowest_bit(value));
          }
          const double norm = packed.profile().norm[static_cast<std::size_t>(l)];
          if (std::isfinite(square)) {
            CHECK(norm >= std::sqrt(square) * (1 - 0x1p-40));
            CHECK(norm <= std::sqrt(square) * (1 + 0x1p-40));
            CHECK(packed.profile().grid[static_cast<std::size_t>(l)] == grid);
          } else {
            CHECK(std::isinf(norm));
          }
        }
        CHECK_MESSAGE(wrong == 0, name << (across ? " across" : " along") << ", groups of " << most);
        for (std::int64_t g = 0, k = 0; g < packed.groups(); ++g)  // zeros stand for lines that are missing
          for (std::int64_t l = std::max<std::int64_t>(lines - packed.first(g), 0); l < packed.width(g); ++l)
            for (k = 0; k < terms; ++k) CHECK(packed.group(g)[k * packed.width(g) + l] == 0);
      }
}

TEST_CASE("packed lines: finite codes in short lines have their norms and grids") {
  for (const char* name : {"bf16", "f16"}) {
    const Format& f = *find_format(name);
    std::vector<double> values;
    for (std::uint64_t code = 0; code < 65536; ++code)
      if (const double v = decode(f, code); std::isfinite(v) && std::fabs(v) < 0x1p60 && (v == 0 || std::fabs(v) > 0x1p-60)) values.push_back(v);
    const auto terms = static_cast<std::int64_t>(8), lines = static_cast<std::int64_t>(values.size()) / terms;
    auto bytes = std::make_shared<std::vector<std::byte>>(2 * values.size());
    for (std::size_t i = 0; i < values.size(); ++i) {
      const auto code = static_cast<std::uint16_t>(encode(f, values[i]));
      std::memcpy(bytes->data() + 2 * i, &code, 2);
    }
    Tensor t;
    t.type = Type::of(f);
    t.storage = Storage::code;
    t.extents = {lines, terms};
    t.byte_strides = {2 * terms, 2};
    t.data = bytes->data();
    t.owner = bytes;
    PackedLines packed(lines, terms, 8);
    packed.pack({&t, nullptr, nullptr, terms, 1}, 0, 0, packed.groups());
    std::int64_t wrong = 0;
    for (std::int64_t l = 0; l < lines; ++l) {
      double square = 0, grid = INFINITY;
      for (std::int64_t k = 0; k < terms; ++k) {
        const double v = values[static_cast<std::size_t>(l * terms + k)];
        square += v * v;
        grid = std::min(grid, lowest_bit(v));
      }
      const double norm = packed.profile().norm[static_cast<std::size_t>(l)];
      if (square == 0) wrong += !std::isinf(norm);
      else wrong += !(norm >= std::sqrt(square) * (1 - 0x1p-40) && norm <= std::sqrt(square) * (1 + 0x1p-40));
      wrong += packed.profile().grid[static_cast<std::size_t>(l)] != grid;
    }
    CHECK(wrong == 0);
  }
}
