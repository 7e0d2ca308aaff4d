// What formulas over sets share: which signs and special values an operand may have, and how a result is put together.
// Every helper only ever enlarges a set. Where an enclosure was too wide to tell whether a special value is possible, the result
// carries `undecided`, so that a finer tier has another look.
//   const Parts a = parts(x);   if (a.infinite() && b.zero()) result.flag(has_nan);
#pragma once
#include <span>

#include "ops/num/big.hpp"
#include "ops/num/exact.hpp"
#include "ops/num/f64.hpp"
#include "ops/op.hpp"

namespace erx {

/// What a value may be.
struct Parts {
  bool nan = false, pinf = false, ninf = false;
  bool neg = false, pos = false;  // a real below, above 0
  bool pz = false, nz = false;    // +0, -0
  bool unsure = false;            // whether 0 is possible, or which sign a real has, is not told by the enclosure
  bool real() const { return neg || pos || zero(); }
  bool zero() const { return pz || nz; }
  bool infinite() const { return pinf || ninf; }
  bool positive() const { return pos || pz || pinf; }  // sign bit clear
  bool negative() const { return neg || nz || ninf; }
};

/// The reals of x reach 0.
template <class R>
bool reaches_zero(const Set<R>& x) {
  return x.has_reals() && (may_be_below_zero(x.lo) || may_be_zero(x.lo)) && (may_be_above_zero(x.hi) || may_be_zero(x.hi));
}

template <class R>
Parts parts(const Set<R>& x) {
  Parts p;
  p.nan = x.may_be(has_nan);
  p.pinf = x.may_be(has_pinf);
  p.ninf = x.may_be(has_ninf);
  if (!x.has_reals()) return p;
  p.neg = may_be_below_zero(x.lo);
  p.pos = may_be_above_zero(x.hi);
  if (reaches_zero(x)) {
    p.pz = x.may_be(has_pzero);
    p.nz = x.may_be(has_nzero);
    const auto open = [](const R& end) { return may_be_zero(end) && !is_exact(end); };
    p.unsure = open(x.lo) || open(x.hi);
  }
  return p;
}

/// Parts of -x.
inline Parts opposite(Parts p) {
  std::swap(p.pinf, p.ninf);
  std::swap(p.neg, p.pos);
  std::swap(p.pz, p.nz);
  return p;
}

constexpr std::uint8_t flag_if(bool condition, std::uint8_t flag) { return condition ? flag : 0; }

template <class R>
bool all_points(std::span<const Set<R>> operands) {
  for (const Set<R>& x : operands)
    if (!x.is_point) return false;
  return true;
}

template <class R>
std::uint8_t undecided_of(std::span<const Set<R>> operands) {
  std::uint8_t flags = 0;
  for (const Set<R>& x : operands) flags |= x.flags & undecided;
  return flags;
}

/// A result in the making.
template <class R>
class SetBuilder {
 public:
  void flag(std::uint8_t flags, bool condition = true) {
    if (condition) flags_ |= flags;
  }
  /// Adds the reals between two ends, or one real.
  void reals(R lo, R hi, bool is_point) {
    if (!has_reals_) {
      lo_ = std::move(lo);
      hi_ = std::move(hi);
      is_point_ = is_point;
      has_reals_ = true;
      return;
    }
    lo_ = min_of(lo_, lo);
    hi_ = max_of(hi_, hi);
    is_point_ = false;
  }
  void real(R x) { reals(x, x, true); }
  void reals_of(const Set<R>& x) {
    if (x.has_reals()) reals(x.lo, x.hi, x.is_point);
  }
  /// Which zeros the result may be; kept only if its reals reach 0.
  void zeros(bool plus, bool minus) { zeros_ |= flag_if(plus, has_pzero) | flag_if(minus, has_nzero); }

  /// `single`: the operands have one value each, so the result has; what looks like several is an open enclosure.
  Set<R> finish(bool single) const {
    if (!has_reals_) return Set<R>::special(flags_);
    Set<R> s{lo_, hi_, flags_, is_point_};
    if (single && !is_point_) {
      s = Set<R>::point(either(lo_, hi_), static_cast<std::uint8_t>(flags_ | undecided));
    }
    if (zeros_ && reaches_zero(s)) s.flags |= zeros_;
    return s;
  }

 private:
  R lo_{}, hi_{};
  std::uint8_t flags_ = 0, zeros_ = 0;
  bool is_point_ = true, has_reals_ = false;
};

template <class R>
Set<R> exactly(double x, Context c, std::uint8_t flags = 0) {
  return Set<R>::point(R::exact(x, c), flags);
}

}  // namespace erx
