// Tiles: the bulk kernel of every row is its formula, element by element.
#include <doctest/doctest.h>

#include "ops/bulk.hpp"
#include "tests/ops/support.hpp"

using namespace erx;
using namespace erx::test;

namespace {

/// A tile with arrays of its own.
struct Owned {
  std::vector<double> lo_d, lo_u, hi_d, hi_u;
  std::vector<std::uint8_t> flags;
  Tile tile;

  Owned(std::size_t n, bool point, bool exact, bool scalar = false)
      : lo_d(n), lo_u(exact ? 0 : n), hi_d(point ? 0 : n), hi_u(point ? 0 : n), flags(n) {
    tile.lo_d = lo_d.data();
    tile.lo_u = exact ? lo_d.data() : lo_u.data();
    tile.hi_d = point ? tile.lo_d : hi_d.data();
    tile.hi_u = point ? tile.lo_u : hi_u.data();
    tile.flags = flags.data();
    tile.is_point = point;
    tile.scalar = scalar;
  }
  Owned(const Owned&) = delete;
};

enum class Content { plain, zeros, wild };

double number(Doubles& random, bool moderate) {
  double x = moderate ? random.moderate() : random();
  if (random.bits() % 3 == 0) x = double(random.bits() % 7) / 2 - 1;
  return x;
}

void fill(Owned& t, Doubles& random, Content content, bool boolean) {
  bool plain = true;
  const bool moderate = random.bits() % 2;
  for (std::size_t i = 0; i < t.lo_d.size(); ++i) {
    double a = number(random, moderate), b = number(random, moderate);
    if (boolean) a = double(random.bits() % 2), b = double(random.bits() % 2);
    while (content == Content::plain && a == 0) a = number(random, moderate), b = a;
    if (a > b) std::swap(a, b);
    t.lo_d[i] = a;
    if (t.tile.lo_u != t.tile.lo_d) t.lo_u[i] = boolean ? b : random.bits() % 2 ? a : std::nextafter(a, inf);
    if (!t.tile.is_point) {
      const double top = t.tile.lo_u[i];
      t.hi_d[i] = std::max(top, b);
      t.hi_u[i] = random.bits() % 2 || boolean ? t.hi_d[i] : std::nextafter(t.hi_d[i], inf);
    }
    const double low = t.tile.lo_d[i], high = t.tile.hi_u[i];
    std::uint8_t flags = 0;
    if (low <= 0 && high >= 0) flags |= static_cast<std::uint8_t>((boolean ? 1 : 1 + random.bits() % 3) * has_pzero);
    if (content == Content::plain) {
      // plain: 0 is impossible even where an enclosure touches it
      flags = 0;
    }
    if (content == Content::wild && !boolean && random.bits() % 4 == 0) {
      flags |= static_cast<std::uint8_t>(t.tile.is_point ? 1u << random.bits() % 3 : random.bits() % 8);
      if (t.tile.is_point || (random.bits() % 2 && (flags & 7))) flags = (flags & 7) | no_reals;
    }
    t.flags[i] = flags;
    plain = plain && flags == 0;
  }
  t.tile.plain = plain;
}

bool same(const Set<F64>& a, const Set<F64>& b) {
  if (a.flags != b.flags) return false;
  return !a.has_reals() || (a.lo.d == b.lo.d && a.lo.u == b.lo.u && a.hi.d == b.hi.d && a.hi.u == b.hi.u);
}

void check_row(const Op& op, int operands, int bool_operands, const Attributes& attributes, Doubles& random, bool result_point_possible) {
  for (int round = 0; round < 200; ++round) {
    const std::size_t n = 1 + random.bits() % 70;
    const auto content = static_cast<Content>(random.bits() % 3);
    std::vector<std::unique_ptr<Owned>> x;
    std::vector<Tile> tiles;
    bool points = true;
    for (int k = 0; k < operands; ++k) {
      const bool scalar = random.bits() % 5 == 0, point = random.bits() % 4 != 0, exact = random.bits() % 2;
      points = points && point;
      x.push_back(std::make_unique<Owned>(scalar ? 1 : n, point, exact, scalar));
      fill(*x.back(), random, content, bool_operands >> k & 1);
      tiles.push_back(x.back()->tile);
    }
    Owned out(n, points && result_point_possible && random.bits() % 4, false);
    op.bulk(tiles, out.tile, n, attributes);
    for (std::size_t i = 0; i < n; ++i) {
      std::vector<Set<F64>> sets;
      std::string text(op.name);
      for (const Tile& t : tiles) {
        sets.push_back(read(t, i));
        text += "\n  " + show(sets.back());
      }
      const Set<F64> wanted = op.map.f64(sets, attributes, {});
      Set<F64> got = read(out.tile, i);
      CAPTURE(text);
      CAPTURE(show(wanted));
      CAPTURE(show(got));
      CHECK(same(wanted, got));
    }
  }
}

}  // namespace

TEST_CASE("tiles: the bulk kernel of every row is its formula") {
  Doubles random(20260105);
  for (const Op* op : all_ops()) {
    if (!op->bulk) continue;
    CAPTURE(op->name);
    const auto o = oracles().find(op->name);
    if (o != oracles().end()) {
      check_row(*op, o->second.operands, o->second.bool_operands, {}, random, true);
    } else if (op->freedom) {
      for (const char* format : {"bf16", "f16", "f32", "f8e4m3fn", "f64", "f4e2m1fn", "f8e8m0fnu"})
        for (Mode mode : {Mode::rne, Mode::rna, Mode::rtz, Mode::rtp, Mode::rtn, Mode::rto, Mode::sr}) {
          Attributes a;
          a.format = *find_format(format);
          a.rounding.mode = mode;
          a.whole = Type::integer(8);
          check_row(*op, op->operands_max < 0 ? 3 : 1, 0, a, random, !op->freedom(a));
          if (op->name == "within" || op->name == "approx") {
            a.ulp = 2;
            check_row(*op, 1, 0, a, random, false);
          }
          a.rounding.flush = Flush::yes;
          a.rounding.overflow = Overflow::sat;
          check_row(*op, 1, 0, a, random, !op->freedom(a));
        }
    } else {  // pow
      check_row(*op, op->operands_min, 0, {}, random, true);
    }
  }
}

TEST_CASE("tiles: a scalar parameter that is 0 makes products absent in bulk too") {
  Doubles random(20260106);
  Attributes scales;
  for (std::uint8_t k : {1, 2, 3}) {
    scales.scales = k;
    check_row(op("mul"), 2, 0, scales, random, true);
  }
}
