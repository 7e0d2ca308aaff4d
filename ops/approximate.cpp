// The row of functions known by their error.
#include "ops/approximate.hpp"

#include <utility>
#include <vector>

#include "ops/families.hpp"
#include "ops/round_tile.hpp"
#include "ops/row.hpp"
#include "ops/widen_tile.hpp"

namespace erx::families {

namespace {

bool always(const Attributes&) { return true; }

/// The tile with `inside` of each end, kept in `ends`.
Tile moved_inside(Tile t, std::vector<double>& ends, std::size_t n) {
  const int count = t.is_point ? 1 : 2;
  ends.resize(2 * static_cast<std::size_t>(count) * n);
  double* at = ends.data();
  for (const auto& [d, u] : {std::pair(&t.lo_d, &t.lo_u), std::pair(&t.hi_d, &t.hi_u)}) {
    if (t.is_point && d == &t.hi_d) break;
    for (std::size_t i = 0; i < n; ++i) {
      const F64 moved = inside(F64{(*d)[i], (*u)[i]}, {});
      at[i] = moved.d;
      at[n + i] = moved.u;
    }
    *d = at;
    *u = at + n;
    at += 2 * n;
  }
  if (t.is_point) {
    t.hi_d = t.lo_d;
    t.hi_u = t.lo_u;
  }
  return t;
}

struct Approx {
  template <class R>
  static Set<R> of(std::span<const Set<R>> x, const Attributes& a, Context c) {
    return approximate(x, a, c);
  }

  /// With ulp= alone: widened by a loop, then rounded by one; what either leaves goes through the formula.
  static bool tile(std::span<const Tile> x, const Tile& out, std::size_t n, const Attributes& a) {
    if (x.size() != 1 || a.bounds != 0 || a.steps != 0 || !(a.ulp > 0) || out.is_point || a.ulp != at_least(a.ulp)) return false;
    std::vector<double> ends(4 * tile_size, 1.0);
    std::vector<std::uint8_t> flags(tile_size, 0);
    Tile wide;
    wide.lo_d = ends.data();
    wide.lo_u = wide.lo_d + tile_size;
    wide.hi_d = wide.lo_u + tile_size;
    wide.hi_u = wide.hi_d + tile_size;
    wide.flags = flags.data();
    wide.is_point = false;
    std::vector<std::size_t> left;
    std::vector<double> inner;
    const Tile from = stands_for(a, 0) && !x[0].scalar ? moved_inside(x[0], inner, n) : x[0];  // elements with flags go through the formula
    if (!widen_tile(from, wide, n, a, [&](std::size_t i) { left.push_back(i); })) return false;
    if (!round_tile(wide, out, n, *a.format, a.rounding, [](std::size_t i, void* more) { static_cast<std::vector<std::size_t>*>(more)->push_back(i); }, &left))
      return false;
    for (const std::size_t i : left) {
      const std::array<Set<F64>, 1> operand = {read(x[0], i)};
      write(out, i, approximate<F64>(operand, a, Context{}));
    }
    return true;
  }
};

}  // namespace

std::span<const Op* const> approximate() {
  static const Op rows[] = {
      map_row<Approx>({.name = "approx",
                       .doc = "approx<F, ulp=, steps=, rel=, abs=, lo=, hi=, src=>(f): what an approximate function f may return",
                       .source = "erx, docs: the rules that make every set sound",
                       .operands = 1,
                       .operands_max = 5,
                       .type = [](std::span<const Type> types, const Attributes& a) { return rules::format_type(types, a); },
                       .freedom = always}),
  };
  static const std::vector<const Op*> all = pointers(rows);
  return all;
}

}  // namespace erx::families
