// Reductions of two elements at a time (max, min, prod, any, all) over a run in memory, by the row's own formula over tiles: each step combines one
// half of a tile with the other, so that nearly all of it is done in vector loops. The order does not show: the operations are exact.
//   ReduceLine line(engine, node, reduction);   Set<F64> s = line.element(e);
#pragma once
#include <algorithm>
#include <array>
#include <memory>
#include <optional>

#include "eval/engine.hpp"
#include "ops/bulk.hpp"
#include "ops/number_tile.hpp"
#include "ops/tile.hpp"

namespace erx {

/// The length of the run that one element combines, in elements that follow on one another; 0: they do not.
inline std::int64_t reduced_run(const SumNode& reduction) {
  const Term& term = reduction.terms[0];
  std::int64_t run = 1;
  for (std::size_t k = term.reduced.size(); k-- > 0;) {
    if (term.reduced[k] != 1 && term.a.reduced_strides[k] != run) return 0;
    run *= term.reduced[k];
  }
  return term.is_plain() ? run : 0;
}

class ReduceLine {
 public:
  static bool fits(const Node& node, const SumNode& reduction) {
    constexpr std::int64_t worth = 32;
    return !row(node).is_whole && reduced_run(reduction) >= worth;
  }

  ReduceLine(const Engine& engine, const Node& node, const SumNode& reduction)
      : node_(node), op_(row(node)), stored_(engine.stored(reduction.terms[0].a.node)), extents_(reduction.extents),
        strides_(reduction.terms[0].a.out_strides), run_(reduced_run(reduction)) {}

  Set<F64> element(std::int64_t e) const {
    std::int64_t at = 0;
    for (std::size_t k = extents_.size(); k-- > 0; e /= extents_[k]) at += e % extents_[k] * strides_[k];
    constexpr auto most = static_cast<std::int64_t>(tile_size);
    const Buffer buffer(static_cast<std::size_t>(std::min(run_, most)));
    std::optional<Set<F64>> total;
    for (std::int64_t first = 0; first < run_; first += most) {
      const auto n = static_cast<std::size_t>(std::min(most, run_ - first));
      fold(read(at + first, n, buffer.of(0)), n, buffer, total);
    }
    return *total;
  }

 private:
  const Node& node_;
  const Op& op_;
  const Stored& stored_;
  Extents extents_, strides_;
  std::int64_t run_;

  /// What is read, and two tiles to combine into in turn.
  struct Buffer {
    explicit Buffer(std::size_t n) : size(n), ends(new double[12 * n]), flags(new std::uint8_t[3 * n]) {}
    std::size_t size;
    std::unique_ptr<double[]> ends;
    std::unique_ptr<std::uint8_t[]> flags;
    Tile of(std::size_t k) const {
      double* first = ends.get() + 4 * k * size;
      return {.lo_d = first, .lo_u = first + size, .hi_d = first + 2 * size, .hi_u = first + 3 * size, .flags = flags.get() + k * size};
    }
  };

  Tile read(std::int64_t at, std::size_t n, Tile t) const {
    if (const Tensor* tensor = stored_.in_place) {
      t.lo_u = t.hi_d = t.hi_u = t.lo_d;
      tensor->decode(at, static_cast<std::int64_t>(n), t.lo_d);
      const Decoded found = fill_flags(t.lo_d, t.flags, n);
      t.plain = found == Decoded::nonzero;
      t.numbers = found != Decoded::special;
      return t;
    }
    const Plane& p = stored_.hull;
    t.lo_d = p.lo_d->data() + at;
    t.lo_u = p.lo_u->data() + at;
    t.hi_d = p.hi_d->data() + at;
    t.hi_u = p.hi_u->data() + at;
    t.is_point = stored_.is_point;
    if (p.flags) t.flags = p.flags->data() + at;
    t.plain = !p.flags || all_flags_zero(t.flags, n);
    t.numbers = are_numbers(t, n);
    return t;
  }

  static Tile from(const Tile& t, std::size_t first) {
    Tile rest = t;
    for (double** end : {&rest.lo_d, &rest.lo_u, &rest.hi_d, &rest.hi_u}) *end += first;
    rest.flags += first;
    return rest;
  }

  void one(const Set<F64>& x, std::optional<Set<F64>>& total) const {
    total = total ? op_.map.f64(std::array{*total, x}, node_.attributes, {}) : x;
  }

  void fold(Tile t, std::size_t n, const Buffer& buffer, std::optional<Set<F64>>& total) const {
    constexpr std::size_t few = 8;
    for (std::size_t turn = 1; n > few; turn = 3 - turn) {
      if (n % 2) one(special_free(erx::read(t, n - 1)), total);
      n /= 2;
      Tile half = buffer.of(turn);
      half.is_point = t.is_point;
      if (t.is_point) {
        half.hi_d = half.lo_d;
        half.hi_u = half.lo_u;
      }
      op_.bulk(std::array{t, from(t, n)}, half, n, node_.attributes);
      if (t.is_point) settle_point(half, n);
      else half.plain = all_flags_zero(half.flags, n);
      t = half;
    }
    for (std::size_t i = 0; i < n; ++i) one(special_free(erx::read(t, i)), total);
  }

  /// What has no reals has no ends.
  static Set<F64> special_free(const Set<F64>& s) { return s.has_reals() ? s : Set<F64>::special(s.flags); }
};

}  // namespace erx
