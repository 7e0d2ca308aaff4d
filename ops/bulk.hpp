// The formula of a row over tiles: element by element, from the same template as the other tiers.
//   op.bulk = &bulk_formula<Add>;
#pragma once
#include <array>
#include <span>
#include <vector>

#include "ops/lanes.hpp"
#include "ops/num/f64.hpp"
#include "ops/op.hpp"

namespace erx {

inline Set<F64> read(const Tile& t, std::size_t i) {
  if (t.scalar) i = 0;
  Set<F64> s;
  s.flags = t.plain ? 0 : t.flags[i];
  s.lo = {t.lo_d[i], t.lo_u[i]};
  s.is_point = t.is_point;
  s.hi = t.is_point ? s.lo : F64{t.hi_d[i], t.hi_u[i]};
  return s;
}

inline void write(const Tile& t, std::size_t i, const Set<F64>& s) {
  t.flags[i] = s.flags;
  t.lo_d[i] = s.lo.d;
  t.lo_u[i] = s.lo.u;
  if (t.is_point) {
    if (!s.is_point) throw Bug("a set of several values where one was expected");
    return;
  }
  t.hi_d[i] = s.hi.d;
  t.hi_u[i] = s.hi.u;
}

/// Operands of which one is special and the others are special or numbers: what they make is told by the signs of the numbers.
template <class F>
concept SpecialsGoBySign = requires { requires F::specials_go_by_sign; };

/// Sets without reals, of the same special values, make the same: infinities and NaN come in crowds, and are worked out once.
class SpecialResults {
 public:
  /// by_sign: also beside single numbers of the same sign.
  template <class Make>
  Set<F64> operator()(std::span<const Set<F64>> x, bool by_sign, const Make& make) {
    if (x.empty() || x.size() > 2) return make(x);
    constexpr std::size_t positive = 256, negative = 512, width = 10;
    std::size_t key = 0;
    bool special = false;
    for (const Set<F64>& s : x) {
      key <<= width;
      if (!s.has_reals()) {
        key |= s.flags;
        special = true;
      } else if (by_sign && s.is_point && s.flags == 0 && (s.lo.d > 0 || s.lo.u < 0)) {
        key |= s.lo.d > 0 ? positive : negative;
      } else {
        return make(x);
      }
    }
    if (!special) return make(x);
    Known& known = known_[(key ^ key >> 3 ^ key >> 8 ^ key >> 13) % known_.size()];
    if (known.key != key) known = {key, make(x)};
    return known.result;
  }

 private:
  struct Known {
    std::size_t key = ~std::size_t{0};
    Set<F64> result;
  };
  std::array<Known, 16> known_;
};

/// Tiles of formula F by branch-free loops, the hard elements by the formula.
template <class F>
bool tile_by_lanes(const lanes::Loops& loops, std::span<const Tile> x, const Tile& out, std::size_t n, const Attributes& attributes) {
  SpecialResults special;
  return lanes::run(loops, x, out, n, [&](std::size_t i) {
    std::array<Set<F64>, 2> operands;
    for (std::size_t k = 0; k < x.size(); ++k) operands[k] = read(x[k], i);
    write(out, i, special(std::span<const Set<F64>>(operands).first(x.size()), SpecialsGoBySign<F>, [&](std::span<const Set<F64>> some) { return F::template of<F64>(some, attributes, Context{}); }));
  });
}

/// A formula with a whole-tile path says so: `static bool tile(operands, out, n, attributes)`, false if it does not apply.
template <class F>
concept HasTilePath = requires(std::span<const Tile> x, const Tile& out, const Attributes& a) {
  { F::tile(x, out, std::size_t{}, a) } -> std::same_as<bool>;
};

/// A formula whose branch-free loops are known says so: `static constexpr const lanes::Loops& loops`.
template <class F>
concept HasLoops = requires { F::loops.exact; };

template <class F>
void bulk_formula(std::span<const Tile> operands, const Tile& out, std::size_t n, const Attributes& attributes) {
  if constexpr (HasTilePath<F>)
    if (F::tile(operands, out, n, attributes)) return;
  if constexpr (HasLoops<F>)
    if (tile_by_lanes<F>(F::loops, operands, out, n, attributes)) return;
  std::array<Set<F64>, 4> few;
  std::vector<Set<F64>> many(operands.size() > few.size() ? operands.size() : 0);
  const std::span<Set<F64>> x = many.empty() ? std::span(few).first(operands.size()) : std::span(many);
  SpecialResults special;
  for (std::size_t i = 0; i < n; ++i) {
    for (std::size_t k = 0; k < operands.size(); ++k) x[k] = read(operands[k], i);
    write(out, i, special(x, SpecialsGoBySign<F>, [&](std::span<const Set<F64>> some) { return F::template of<F64>(some, attributes, Context{}); }));
  }
}

}  // namespace erx
