// What a sum may become when it is rounded in some order: the rules of `acc` and `within`, for one element.
// A sum is summarised by the sums of its leaves' ends and of their magnitudes; fixed orders and short sums read every leaf.
//   bound (any order, n leaves in F): |s^ - s| <= (n-1) u P;  products: n u (P + n eta/2) + n eta/2
//   source: Rump, BIT 52 (2012) 201; Jeannerod & Rump, SIAM J. Matrix Anal. 34 (2013) 338
#pragma once
#include <cstdint>
#include <vector>

#include "ir/graph.hpp"
#include "ops/num/big.hpp"
#include "ops/num/exact.hpp"
#include "ops/num/f64.hpp"

namespace erx {

/// How a sum is rounded; the same for every element of a node.
struct SumRule {
  bool rounds = false;   // false: exact (Gather::sum)
  bool within = false;   // at precision of the format or better; the result is a real
  Format format = {};
  Order order = {};
  Contraction contraction = Contraction::free;
  Flush flush = Flush::no;
  bool products_fit = false;  // significands of all products fit: p_a + p_b <= p

  /// Below this many leaves `any` takes the exact hull, which needs every leaf.
  std::int64_t hull_leaves = 4;
  std::int64_t kept_order_leaves = 8;   // the same for `assoc`
  /// Up to this many leaves the chain rule reads every leaf; beyond, the closed bound has to do.
  std::int64_t chain_leaves = 8;
  bool needs_leaves(std::int64_t leaves) const;
};

/// One leaf: an element, or the exact product of two.
template <class R>
struct Leaf {
  Set<R> value;
  bool is_product = false;
  double grid = 0;         // a power of two that divides both ends; 0: unknown, infinite: 0
  int exponent = -100000;  // for tensor cores: the sum of the factors' exponent fields
};

/// A sum of one element, without its order.
template <class R>
struct SumParts {
  R lower{}, upper{};     // sums of the leaves' lower and of their upper ends
  R magnitude{};          // P: sum of the larger magnitude of each leaf
  std::int64_t leaves = 0;
  std::int64_t products = 0;
  double grid = 0;        // a power of two that divides every end of every leaf; 0: unknown, infinite: all leaves are 0
  std::uint8_t flags = 0; // special values that the exact sum may be, from special leaves
  bool has_reals = true;  // every leaf may be finite
  bool negative_zero = false;  // every leaf may be -0
  bool is_point = true;
};

/// Special values and signs of zero of a sum, leaf by leaf.
class SpecialLeaves {
 public:
  void add(std::uint8_t flags, bool may_be_negative_zero);
  bool all_negative_zero() const { return all_nzero_; }
  template <class R>
  void finish(SumParts<R>&) const;  // sets flags, has_reals (never back to true) and negative_zero

 private:
  int leaves_ = 0, pinf_ = 0, ninf_ = 0;
  bool nan_ = false, only_nan_ = false, only_pinf_ = false, only_ninf_ = false, all_nzero_ = true;
};

/// The radius around the exact sum in any order: relative * P + absolute.
/// bound: plain leaves (n-1) u P; inexact products n u (P + n eta/2) + n eta/2; flushing, or a format
/// without subnormals, adds nu per operation and its growth.
struct ClosedBound {
  double relative = 0, absolute = 0;
};
ClosedBound closed_bound(const SumRule&, std::int64_t leaves, bool inexact_products);

/// The set of a rounded (or exact) sum in any order.
template <class R>
Set<R> sum_of_parts(const SumParts<R>&, const SumRule&, Context);
/// The same with a radius known to be enough (the chain rule); the smaller of the two counts.
template <class R>
Set<R> sum_of_parts(const SumParts<R>&, const SumRule&, const R& radius, Context);

/// The set of a rounded sum whose order is fixed, or that is short enough for the exact hull.
template <class R>
Set<R> sum_of_leaves(const std::vector<Leaf<R>>&, const SumRule&, Context);

}  // namespace erx
