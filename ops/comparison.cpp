// Comparisons, logic and choice.
#include "ops/families.hpp"
#include "ops/logic.hpp"
#include "ops/row.hpp"

namespace erx::families {

namespace {

Can less(Comparison c) { return c == Comparison::less ? Can::yes : c == Comparison::unknown ? Can::maybe : Can::no; }
Can not_less(Comparison c) { return c == Comparison::less ? Can::no : c == Comparison::unknown ? Can::maybe : Can::yes; }

template <bool or_equal, bool swapped>
struct Order {  // x < y; x <= y; swapped: y < x, y <= x
  template <class R>
  static Set<R> of(Operands<R> operands, const Attributes&, Context c) {
    const Set<R>&x = operands[swapped], &y = operands[!swapped];
    const bool rx = x.has_reals(), ry = y.has_reals();
    const bool xp = x.may_be(has_pinf), xn = x.may_be(has_ninf), yp = y.may_be(has_pinf), yn = y.may_be(has_ninf);
    Can yes = can((xn && (ry || yp)) || (yp && (rx || xn)) || (or_equal && ((xn && yn) || (xp && yp))));
    Can no = can(x.may_be(has_nan) || y.may_be(has_nan) || (xp && (ry || yn)) || (yn && (rx || xp)) ||
                 (!or_equal && ((xn && yn) || (xp && yp))));
    if (rx && ry) {
      if (or_equal) {  // x <= y: not y < x
        yes = yes | not_less(compare(y.hi, x.lo));
        no = no | less(compare(y.lo, x.hi));
      } else {
        yes = yes | less(compare(x.lo, y.hi));
        no = no | not_less(compare(x.hi, y.lo));
      }
    }
    return truth<R>(yes, no, operands, c);
  }
};

template <bool negated>
struct Equal {
  template <class R>
  static Set<R> of(Operands<R> operands, const Attributes&, Context c) {
    const Set<R>&x = operands[0], &y = operands[1];
    const bool rx = x.has_reals(), ry = y.has_reals();
    const bool xp = x.may_be(has_pinf), xn = x.may_be(has_ninf), yp = y.may_be(has_pinf), yn = y.may_be(has_ninf);
    Can yes = can((xp && yp) || (xn && yn));
    Can no =
        can(x.may_be(has_nan) || y.may_be(has_nan) || (xp && (ry || yn)) || (xn && (ry || yp)) || (yp && (rx || xn)) || (yn && (rx || xp)));
    if (rx && ry) {
      const Comparison below = compare(x.hi, y.lo), above = compare(y.hi, x.lo);
      if (below != Comparison::less && above != Comparison::less)
        yes = yes | (below == Comparison::unknown || above == Comparison::unknown ? Can::maybe : Can::yes);
      const bool surely_same = below == Comparison::equal && above == Comparison::equal;
      if (!surely_same) no = no | (x.is_point && y.is_point && below == Comparison::unknown ? Can::maybe : Can::yes);
    }
    return negated ? truth<R>(no, yes, operands, c) : truth<R>(yes, no, operands, c);
  }
};

struct Not {
  template <class R>
  static Set<R> of(Operands<R> x, const Attributes&, Context c) {
    return truth<R>(can_be_false(x[0]), can_be_true(x[0]), x, c);
  }
};

struct Where {
  template <class R>
  static Set<R> of(Operands<R> operands, const Attributes&, Context) {
    const Set<R>&c = operands[0], &x = operands[1], &y = operands[2];
    const Can yes = can_be_true(c), no = can_be_false(c);
    if (no == Can::no) return x;
    if (yes == Can::no) return y;
    Set<R> s;
    s.flags = static_cast<std::uint8_t>(((x.flags | y.flags) & ~no_reals) | (x.flags & y.flags & no_reals) | (c.flags & undecided));
    const bool known = yes == Can::yes && no == Can::yes;  // both branches are possible
    if (!known) s.flags |= undecided;
    s.is_point = c.is_point && x.is_point && y.is_point;
    if (!s.has_reals()) return Set<R>::special(s.flags);
    if (!x.has_reals() || !y.has_reals()) {
      const Set<R>& only = x.has_reals() ? x : y;
      s.lo = only.lo;
      s.hi = only.hi;
      s.is_point = only.is_point;
      return s;
    }
    s.lo = known ? min_of(x.lo, y.lo) : either(x.lo, y.lo);
    s.hi = s.is_point ? s.lo : known ? max_of(x.hi, y.hi) : either(x.hi, y.hi);
    return s;
  }
};

template <class F>
Op comparison_row(std::string_view name, std::string_view symbol, std::string_view doc, ComplexRule complex = nullptr) {
  return map_row<F>({.name = name,
                     .symbol = symbol,
                     .doc = doc,
                     .source = "IEEE 754-2019, 5.11",
                     .operands = 2,
                     .type = rules::bool_type,
                     .complex = complex});
}

}  // namespace

std::span<const Op* const> comparison() {
  using namespace rules;
  static const Op rows[] = {
      comparison_row<Order<false, false>>("lt", "<", "x < y; false for NaN"),
      comparison_row<Order<true, false>>("le", "<=", "x <= y; false for NaN"),
      comparison_row<Order<false, true>>("gt", ">", "x > y; false for NaN"),
      comparison_row<Order<true, true>>("ge", ">=", "x >= y; false for NaN"),
      comparison_row<Equal<false>>("eq", "==", "x == y; false for NaN, true for -0 == +0", on_complex::both),
      comparison_row<Equal<true>>("ne", "!=", "x != y; true for NaN, false for -0 != +0", on_complex::either),
      map_row<And>({.name = "and", .symbol = "and", .doc = "x and y, for bools", .source = "logic", .operands = 2, .type = logic_type}),
      map_row<Or>({.name = "or", .symbol = "or", .doc = "x or y, for bools", .source = "logic", .operands = 2, .type = logic_type}),
      map_row<Not>({.name = "not", .symbol = "not", .doc = "not x, for bools", .source = "logic", .type = logic_type}),
      map_row<Where>({.name = "where",
                      .doc = "where(c, x, y): x where c, else y; reads only the branch taken",
                      .source = "NumPy where",
                      .operands = 3,
                      .type = choice_type,
                      .selects = true,
                      .complex = on_complex::parts}),
  };
  static const std::vector<const Op*> all = pointers(rows);
  return all;
}

}  // namespace erx::families
