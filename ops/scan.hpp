// The states of h_t = a_t h_{t-1} + b_t, rounded: what `scan` allows, for one line of elements along its axis.
// A step is the map x -> a x + b. Two maps compose to (f2 f1, f2 x1 + x2); the state h_t is what any binary tree over the steps
// 1 .. t makes of them (and of h_0), every multiplication and addition rounded once, a product that is added fused or not.
//   bound, any tree: |h^ - h| <= ((1+u)^D - 1) G_t + E_t + underflow, D = t - 1, one more with h_0 (docs/soundness.md)
//   scan_states(ScanLine<F64>{a, b, {}}, rule, {})   one set for each step
#pragma once
#include <optional>
#include <vector>

#include "ir/graph.hpp"
#include "ops/num/big.hpp"
#include "ops/num/exact.hpp"
#include "ops/num/f64.hpp"

namespace erx {

/// How a recurrence is rounded; the same for every line of a node.
struct ScanRule {
  Format format = {};
  bool in_order = false;  // seq: from the first step to the last
  Contraction contraction = Contraction::free;
  Flush flush = Flush::no;
  /// Lines of at most this many steps take the hull over all trees, which costs their cube.
  std::int64_t hull_steps = 6;

  bool flushes() const { return flush != Flush::no; }
};

ScanRule scan_rule(const Attributes&);

/// What one line reads, step by step; values of the format.
template <class R>
struct ScanLine {
  std::vector<Set<R>> a, b;
  std::optional<Set<R>> init;  // h_0; none: 0
};

/// parameters: a and b of equal length.  returns: the set of h_t for every t, in the order of the steps.
template <class R>
std::vector<Set<R>> scan_states(const ScanLine<R>&, const ScanRule&, Context);

/// The bound alone, whatever the length. Values of a point a that is a multiple of a power of two, and of b, may make all of it exact.
template <class R>
std::vector<Set<R>> scan_bounds(const ScanLine<R>&, const ScanRule&, Context);

}  // namespace erx
