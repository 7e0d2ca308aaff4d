// An operation and its rounding in one pass over a tile: element by element what the two formulas give one after the other.
#include <doctest/doctest.h>

#include "ops/bulk.hpp"
#include "ops/number_tile.hpp"
#include "ops/round_set.hpp"
#include "tests/ops/support.hpp"

using namespace erx;
using namespace erx::test;

namespace {

/// Single numbers, or enclosures of single numbers.
struct Points {
  std::vector<double> d, u;
  std::vector<std::uint8_t> flags;
  Tile tile;

  Points(std::size_t n, bool exact, bool scalar) : d(n), u(exact ? 0 : n), flags(n) {
    tile.lo_d = tile.hi_d = d.data();
    tile.lo_u = tile.hi_u = exact ? d.data() : u.data();
    tile.flags = flags.data();
    tile.scalar = scalar;
  }
  Points(const Points&) = delete;
};

/// Values of few bits, and what lies beside them: sums and products next to midpoints of a format.
double number(Doubles& random, bool wild) {
  if (wild) return random();
  const double x = std::ldexp(static_cast<double>(random.bits() % 1024), static_cast<int>(random.bits() % 24) - 18);
  const double beside = random.bits() % 3 ? 0 : std::ldexp(1.0, -static_cast<int>(random.bits() % 70) - 10);
  return (random.bits() % 2 ? 1 : -1) * (x + beside);
}

void fill(Points& p, Doubles& random, bool wild, bool zeros, bool special) {
  for (std::size_t i = 0; i < p.d.size(); ++i) {
    double x = number(random, wild);
    if (zeros && random.bits() % 3 == 0) x = random.bits() % 2 ? 0.0 : -0.0;
    while (!zeros && x == 0) x = number(random, wild);
    p.d[i] = x;
    if (p.tile.lo_u != p.tile.lo_d) p.u[i] = x != 0 && random.bits() % 2 ? std::nextafter(x, inf) : x;
    p.flags[i] = x != 0 ? 0 : std::signbit(x) ? has_nzero : has_pzero;
    if (special && random.bits() % 4 == 0) {
      const std::uint8_t one[] = {has_nan, has_pinf, has_ninf};
      p.flags[i] = no_reals | one[random.bits() % 3];
      p.d[i] = 0;
      if (p.tile.lo_u != p.tile.lo_d) p.u[i] = 0;
    }
  }
  if (random.bits() % 3) return settle_point(p.tile, p.d.size());
  // As they are stored: a zero of either sign, or of one that its double does not tell.
  for (std::size_t i = 0; i < p.d.size(); ++i)
    if (p.d[i] == 0 && !(p.flags[i] & no_reals)) p.flags[i] = static_cast<std::uint8_t>((1 + random.bits() % 3) * has_pzero);
  p.tile.plain = all_flags_zero(p.flags.data(), p.flags.size());
  p.tile.numbers = are_numbers(p.tile, p.d.size());
}

void check_rounded(const Op& op, int operands, const Attributes& rounding, Doubles& random, std::int64_t& written) {
  const Attributes own = op.rounds_operand ? rounding : Attributes{};  // round is done twice below, which is once
  for (int round = 0; round < 40; ++round) {
    const std::size_t n = 1 + random.bits() % (round ? 70 : tile_size);
    const bool wild = random.bits() % 3 == 0, zeros = random.bits() % 2, special = random.bits() % 4 == 0;
    std::vector<std::unique_ptr<Points>> x;
    std::vector<Tile> tiles;
    for (int k = 0; k < operands; ++k) {
      const bool scalar = random.bits() % 5 == 0;
      x.push_back(std::make_unique<Points>(scalar ? 1 : n, random.bits() % 4 != 0, scalar));
      fill(*x.back(), random, wild, zeros, special);
      tiles.push_back(x.back()->tile);
    }
    Points out(n, false, false);
    const RoundedTile made = op.rounded(tiles, out.tile, n, {}, rounding);
    if (made == RoundedTile::none) continue;
    written += static_cast<std::int64_t>(n);
    Tile result = out.tile;
    if (made != RoundedTile::sets) result.lo_u = result.hi_d = result.hi_u = result.lo_d;
    result.plain = made == RoundedTile::nonzero;
    for (std::size_t i = 0; i < n; ++i) {
      std::vector<Set<F64>> sets;
      std::string text(op.name);
      for (const Tile& t : tiles) {
        sets.push_back(read(t, i));
        text += "\n  " + show(sets.back());
      }
      const Set<F64> wanted = round_set(op.map.f64(sets, own, {}), *rounding.format, rounding.rounding, Context{});
      const Set<F64> got = read(result, i);
      CAPTURE(text);
      CAPTURE(rounding.format->name);
      CAPTURE(name_of(rounding.rounding.mode));
      CAPTURE(show(wanted));
      CAPTURE(show(got));
      const bool as_sharp = got.flags == wanted.flags && (!got.has_reals() || (got.lo.d >= wanted.lo.d && got.lo.u <= wanted.lo.u));
      const bool sharper = (wanted.flags & undecided) || wanted.lo.d != wanted.lo.u;  // an exact result that float64 does not hold
      CHECK((as_sharp || sharper));
      // What was open is decided by the exact formula.
      if (sharper && !(got.flags & undecided) && got.lo.d == got.lo.u && op.is_rational) {
        std::vector<Set<Exact>> exact;
        bool known = true;
        for (const Set<F64>& s : sets) {
          known = known && s.lo.d == s.lo.u;
          exact.push_back(s.has_reals() ? Set<Exact>::point(Exact::exact(s.lo.d, {}), s.flags) : Set<Exact>::special(s.flags));
        }
        if (!known) continue;
        const Set<Exact> truth = round_set(op.map.exact(exact, own, {}), *rounding.format, rounding.rounding, Context{});
        CHECK(got.flags == truth.flags);
        if (truth.has_reals()) CHECK(got.lo.d == lower(truth.lo));
      }
      // A zero of a tile of numbers has its sign in the double.
      if (made == RoundedTile::numbers && got.lo.d == 0) CHECK(std::signbit(got.lo.d) == ((got.flags & has_nzero) != 0));
    }
  }
}

}  // namespace

TEST_CASE("tiles: an operation and its rounding at once are the two formulas in turn") {
  Doubles random(20261130);
  for (const Op* op : all_ops()) {
    if (!op->rounded) continue;
    CAPTURE(op->name);
    std::int64_t written = 0;
    for (const char* format : {"bf16", "f16", "f32", "tf32", "f64", "f8e4m3fn", "f8e4m3fnuz", "f4e2m1fn"})
      for (const Mode mode : {Mode::rne, Mode::rna, Mode::rtz, Mode::rtp, Mode::rtn})
        for (const Overflow overflow : {Overflow::by_format, Overflow::sat}) {
          Attributes a;
          a.format = *find_format(format);
          a.rounding.mode = mode;
          a.rounding.overflow = overflow;
          check_rounded(*op, op->operands_min, a, random, written);
        }
    CHECK(written > 0);
  }
}
