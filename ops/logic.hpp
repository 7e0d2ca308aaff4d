// Truth values as sets: the formulas of `and` and `or`, and what comparisons are made of. A bool is a real that is 0 or 1; a point
// that is one of them, not known which, is [0, 1].
//   return truth<R>(Can::yes, Can::maybe, operands, context);   true is possible, false perhaps
#pragma once
#include <algorithm>

#include "ops/set_rules.hpp"

namespace erx {

template <class R>
using Operands = std::span<const Set<R>>;

enum class Can { no, maybe, yes };
inline Can operator|(Can a, Can b) { return std::max(a, b); }
inline Can can(bool possible) { return possible ? Can::yes : Can::no; }

template <class R>
Set<R> truth(Can yes, Can no, Operands<R> x, Context c) {
  const auto end = [&](Can zero, double otherwise) {  // 0 where that is possible
    return zero == Can::yes ? R::exact(0, c) : zero == Can::no ? R::exact(otherwise, c) : R::between(0, 1, c);
  };
  const R lo = end(no, 1);
  const R hi = yes == Can::yes ? R::exact(1, c) : yes == Can::no ? R::exact(0, c) : R::between(0, 1, c);
  const std::uint8_t flags = undecided_of(x) | flag_if(no != Can::no, has_pzero);
  if (yes == Can::no || no == Can::no) return Set<R>::point(yes == Can::no ? hi : lo, flags);
  if (!all_points(x)) return Set<R>::between(lo, hi, flags);
  return Set<R>::point(R::between(0, 1, c), flags | undecided);
}

// Of a bool: may it be true, false? Its ends are 0, 1 or [0, 1].
template <class R>
Can can_be_true(const Set<R>& x) {
  return !may_be_above_zero(x.hi) ? Can::no : may_be_zero(x.hi) ? Can::maybe : Can::yes;
}
template <class R>
Can can_be_false(const Set<R>& x) {
  return !may_be_zero(x.lo) ? Can::no : may_be_above_zero(x.lo) ? Can::maybe : Can::yes;
}

struct And {
  template <class R>
  static Set<R> of(Operands<R> x, const Attributes&, Context c) {
    const Can a = can_be_true(x[0]), b = can_be_true(x[1]);
    return truth<R>(std::min(a, b), can_be_false(x[0]) | can_be_false(x[1]), x, c);
  }
};

struct Or {
  template <class R>
  static Set<R> of(Operands<R> x, const Attributes&, Context c) {
    const Can a = can_be_false(x[0]), b = can_be_false(x[1]);
    return truth<R>(can_be_true(x[0]) | can_be_true(x[1]), std::min(a, b), x, c);
  }
};

}  // namespace erx
