// The nodes that round, and the nodes whose value is a set.
#include "ops/families.hpp"
#include "ops/round_set.hpp"
#include "ops/round_tile.hpp"
#include "ops/row.hpp"
#include "ops/widen_tile.hpp"

namespace erx::families {

namespace {

bool always(const Attributes&) { return true; }

bool adds_freely(const Attributes& a) {
  const auto ordered = [](OrderKind k) { return k == OrderKind::seq || k == OrderKind::rseq || k == OrderKind::pairwise; };
  const bool one_order = ordered(a.order.kind) || (a.order.kind == OrderKind::blocked && ordered(a.order.inner) && ordered(a.order.outer));
  return !one_order || a.contraction == Contraction::free || rounds_freely(a.rounding);
}

Shape one_shape(std::span<const Shape> shapes, const Attributes&) { return shapes[0]; }

struct Round {
  template <class R>
  static Set<R> of(std::span<const Set<R>> x, const Attributes& a, Context c) {
    return round_set(x[0], *a.format, a.rounding, c);
  }
  static bool freedom(const Attributes& a) { return rounds_freely(a.rounding); }

  /// Either neighbour is down or up, where these overflow as the two neighbours do.
  static std::vector<Attributes> alternatives(const Attributes& a) {
    const bool two = a.rounding.mode == Mode::sr || a.rounding.mode == Mode::faithful;
    if (!two || a.rounding.flush != Flush::no || a.rounding.overflow == Overflow::nosat || !a.format->has_sign || !a.format->has_zero) return {};
    std::vector<Attributes> both(2, a);
    both[0].rounding.mode = Mode::rtn;
    both[1].rounding.mode = Mode::rtp;
    return both;
  }

  static bool tile(std::span<const Tile> x, const Tile& out, std::size_t n, const Attributes& a) {
    struct Hard {
      const Tile &x, &out;
      const Attributes& attributes;
    } hard{x[0], out, a};
    return round_tile(
        x[0], out, n, *a.format, a.rounding,
        [](std::size_t i, void* data) {
          const Hard& h = *static_cast<const Hard*>(data);
          write(h.out, i, round_set(read(h.x, i), *h.attributes.format, h.attributes.rounding, Context{}));
        },
        &hard);
  }
};

/// x, for rounded_formula: the rounding is all there is to do.
struct Same {
  static constexpr const lanes::Loops& loops = lanes::same;
  template <class R>
  static Set<R> of(std::span<const Set<R>> x, const Attributes&, Context) {
    return x[0];
  }
};

Op round_row(const Row& r) {
  Op op = map_row<Round>(r);
  op.rounded = &rounded_formula<Same>;
  return op;
}

struct AnyOf {
  template <class R>
  static Set<R> of(std::span<const Set<R>> x, const Attributes&, Context) {
    if (x.size() == 1) return x[0];
    SetBuilder<R> r;
    for (const Set<R>& s : x) {
      r.flag(s.flags & (has_nan | any_infinity | undecided));
      r.reals_of(s);
      const Parts p = parts(s);
      r.zeros(p.pz, p.nz);
    }
    return r.finish(false);
  }
};

/// The operand is one exact operation; its result may be off by what one rounding to nearest at precision F or better does
/// (ulp = 0), or by `ulp` ulps of F.
struct Within {
  template <class R>
  static Set<R> of(std::span<const Set<R>> x, const Attributes& a, Context c) {
    return widen(x[0], a, c);
  }
  static bool tile(std::span<const Tile> x, const Tile& out, std::size_t n, const Attributes& a) {
    return widen_tile(x[0], out, n, a, [&](std::size_t i) { write(out, i, widen(read(x[0], i), a, Context{})); });
  }
};

}  // namespace

std::span<const Op* const> rounding() {
  constexpr std::string_view numerics = "erx, docs: the rules that make every set sound";
  static const Op rows[] = {
      round_row({.name = "round",
                      .doc = "round<F, mode, overflow, ftz>(x): one rounding into the format F",
                      .source = "IEEE 754-2019, 4.3 and 7.4",
                      .type = rules::format_type,
                      .freedom = Round::freedom,
                      .alternatives = Round::alternatives,
                      .rounds = true,
                      .complex = on_complex::parts}),
      map_row<AnyOf>({.name = "any_of",
                      .doc = "any_of(x, y, ...): per element one of the alternatives",
                      .source = numerics,
                      .operands = 1,
                      .operands_max = -1,
                      .type = rules::join_type,
                      .freedom = always,
                      .choice = true,
                      .selects = true,
                      .complex = on_complex::choice}),
      map_row<Within>({.name = "within",
                       .doc = "within<F>(op(...)): one operation at precision F or better, a function within ulp=",
                       .source = numerics,
                       .freedom = always,
                       .complex = on_complex::parts}),
      make_row({.name = "acc",
                .doc = "acc<F, order, fma=, ftz=>(e): the sum e in the arithmetic of F, in some order",
                .source = numerics,
                .type = rules::format_type,
                .shape = one_shape,
                .freedom = adds_freely,
                .complex = on_complex::accumulated},
               Gather::accumulate),
      make_row({.name = "within_sum",
                .symbol = "within",
                .doc = "within<F>(sum): a sum at precision F or better, in any order",
                .source = numerics,
                .shape = one_shape,
                .freedom = always,
                .complex = on_complex::parts},
               Gather::accumulate),
  };
  static const std::vector<const Op*> all = pointers(rows);
  return all;
}

}  // namespace erx::families
