// Results of an increasing function, rounded, that stay the same over long ranges of arguments: far out they are 0, 1 or infinite. Where two
// arguments have one result, so has every argument in between: function and rounding never fall.
//   Plateaus known;  if (const Set<F64>* s = known.find(x)) return *s;  known.add(x, s);
#pragma once
#include <array>
#include <cstddef>

#include "ops/num/f64.hpp"
#include "ops/num/set.hpp"

namespace erx {

class Plateaus {
 public:
  /// x: a number.
  const Set<F64>* find(double x) const {
    for (const Plateau& p : known_)
      if (p.first <= x && x <= p.last) return &p.result;
    return nullptr;
  }

  /// The result at x, if it is one value or one infinity. (NaN comes of overflow on either side, and of arguments outside the domain.)
  void add(double x, const Set<F64>& s) {
    if (s.flags & (has_nan | undecided)) return;
    if (s.has_reals() ? !(s.is_point && s.lo.d == s.lo.u) : s.flags != (no_reals | has_pinf) && s.flags != (no_reals | has_ninf)) return;
    for (Plateau& p : known_) {
      if (p.first > p.last || s.flags != p.result.flags || (s.has_reals() && s.lo.d != p.result.lo.d)) continue;
      p.first = x < p.first ? x : p.first;
      p.last = x > p.last ? x : p.last;
      return;
    }
    known_[next_++ % known_.size()] = {x, x, s};
  }

 private:
  struct Plateau {
    double first = 1, last = 0;  // nothing
    Set<F64> result;
  };
  std::array<Plateau, 4> known_;
  std::size_t next_ = 0;
};

}  // namespace erx
