// Reductions that combine two elements at a time, in any order: exact, so the order does not show.
#include <limits>

#include "ops/arithmetic.hpp"
#include "ops/families.hpp"
#include "ops/logic.hpp"
#include "ops/row.hpp"

namespace erx::families {

using namespace rules;

namespace {

/// The place of the first largest element; NaN is the largest. An element left out by a mask is the empty set.
/// Place i is possible if, at its best, x_i is above every earlier element at its worst and not below any later one.
struct ArgMax {
  enum Rank { none, ninf, real, pinf, nan };
  template <class R>
  struct End {
    Rank rank;
    R value;
  };
  template <class R>
  static End<R> best(const Set<R>& x) {
    if (x.may_be(has_nan)) return {nan, {}};
    if (x.may_be(has_pinf)) return {pinf, {}};
    if (x.has_reals()) return {real, x.hi};
    return {x.may_be(has_ninf) ? ninf : none, {}};
  }
  template <class R>
  static End<R> worst(const Set<R>& x) {
    if (x.may_be(has_ninf)) return {ninf, {}};
    if (x.has_reals()) return {real, x.lo};
    if (x.may_be(has_pinf)) return {pinf, {}};
    return {x.may_be(has_nan) ? nan : none, {}};
  }
  template <class R>
  static Can above(const End<R>& x, const End<R>& y) {
    if (x.rank != real || y.rank != real) return can(x.rank > y.rank);
    const Comparison c = compare(y.value, x.value);
    return c == Comparison::less ? Can::yes : c == Comparison::unknown ? Can::maybe : Can::no;
  }
  static Can opposite(Can c) { return c == Can::yes ? Can::no : c == Can::no ? Can::yes : Can::maybe; }

  template <class R>
  static End<R> larger(const End<R>& x, const End<R>& y) {
    if (x.rank != real || y.rank != real) return x.rank < y.rank ? y : x;
    return {real, max_of(x.value, y.value)};
  }

  template <class R>
  static Set<R> of(Operands<R> x, const Attributes&, Context c) {
    std::vector<End<R>> behind(x.size() + 1, End<R>{none, {}});  // the largest of the worst ends behind each place
    for (std::size_t i = x.size(); i-- > 0;) behind[i] = larger(behind[i + 1], worst(x[i]));
    End<R> before{none, {}};
    SetBuilder<R> r;
    r.flag(undecided_of(x));
    for (std::size_t i = 0; i < x.size(); ++i) {
      const End<R> top = best(x[i]);
      if (top.rank != none) {
        const Can possible = std::min(above(top, before), opposite(above(behind[i + 1], top)));
        r.flag(undecided, possible == Can::maybe);
        if (possible != Can::no) r.real(R::exact(static_cast<double>(i), c));
        r.zeros(possible != Can::no && i == 0, false);
      }
      before = larger(before, worst(x[i]));
    }
    return r.finish(all_points(x));
  }
};

/// As reduced_shape, of at least one element.
Shape place_shape(std::span<const Shape> shapes, const Attributes& attributes) {
  for (std::int64_t axis : attributes.axes) {
    const bool known = axis >= 0 && axis < static_cast<std::int64_t>(shapes[0].size());
    const Dim* d = known ? &shapes[0][static_cast<std::size_t>(axis)] : nullptr;
    if (d && d->is_number() && d->value() == 0)
      throw RuleBroken{"argmax of nothing: axis " + std::to_string(axis) + " of " + to_string(shapes[0]) + " is empty", 0, to_string(shapes[0])};
  }
  return reduced_shape(shapes, attributes);
}

Type place_type(std::span<const Type>, const Attributes&) { return Type::integer(); }

}  // namespace

std::span<const Op* const> reduce() {
  constexpr double inf = std::numeric_limits<double>::infinity();
  static const Op rows[] = {
      map_row<Maximum>({.name = "max",
                        .doc = "max(x, axis=, keepdims=): NaN if any is; of nothing -inf",
                        .source = "IEEE 754-2019, 9.6",
                        .type = same_type,
                        .shape = reduced_shape,
                        .empty = -inf},
                       Gather::reduce),
      map_row<Minimum>({.name = "min",
                        .doc = "min(x, axis=, keepdims=): NaN if any is; of nothing inf",
                        .source = "IEEE 754-2019, 9.6",
                        .type = same_type,
                        .shape = reduced_shape,
                        .empty = inf},
                       Gather::reduce),
      map_row<Mul>({.name = "prod",
                    .doc = "prod(x, axis=, keepdims=): the exact product; of nothing 1",
                    .source = "IEEE 754-2019, 9.4",
                    .type = arithmetic_type,
                    .shape = reduced_shape,
                    .arithmetic = true,
                    .empty = 1},
                   Gather::reduce),
      map_row<Or>({.name = "any",
                   .doc = "any(x, axis=, keepdims=): of nothing false",
                   .source = "logic",
                   .type = logic_type,
                   .shape = reduced_shape,
                   .empty = 0},
                  Gather::reduce),
      map_row<And>({.name = "all",
                    .doc = "all(x, axis=, keepdims=): of nothing true",
                    .source = "logic",
                    .type = logic_type,
                    .shape = reduced_shape,
                    .empty = 1},
                   Gather::reduce),
      map_row<Mul>({.name = "cumprod",
                    .doc = "cumprod(x, axis=): element i is the exact product of those up to i along the axis",
                    .source = "NumPy cumprod; IEEE 754-2019, 9.4",
                    .type = arithmetic_type,
                    .shape = prefix_shape,
                    .arithmetic = true,
                    .empty = 1,
                    .prefix = true},
                   Gather::reduce),
      map_row<ArgMax>({.name = "argmax",
                       .doc = "argmax(x, axis=, keepdims=): the place of the first largest element, NaN being the largest; of nothing an error",
                       .source = "NumPy argmax",
                       .type = place_type,
                       .shape = place_shape,
                       .whole = true},
                      Gather::reduce),
  };
  static const std::vector<const Op*> all = pointers(rows);
  return all;
}

}  // namespace erx::families
