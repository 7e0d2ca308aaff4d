// The sets of all elements of one tensor: a few planes, each at most one interval and flags per element.
// After settling, an element's ends are exact doubles or, where no tier could decide, the outer hull.
//   s.planes.size()   alternatives kept apart;   s.planes[0].lo[i], s.planes[0].hi[i], s.planes[0].flags[i]
#pragma once
#include <cstdint>
#include <memory>
#include <vector>

#include "eval/buffer.hpp"
#include "ir/shape.hpp"
#include "ir/type.hpp"
#include "ops/num/set.hpp"

namespace erx {

/// Arrays over elements in C order. lo_d..lo_u encloses the lower end, hi_d..hi_u the upper; arrays may be shared
/// (exact ends: d is u; deterministic elements: lo is hi).
struct Plane {
  using Array = std::shared_ptr<Doubles>;
  Array lo_d, lo_u, hi_d, hi_u;
  std::shared_ptr<FlagBytes> flags;  // nullptr: all 0

  const double* lo() const { return lo_d->data(); }  // outer ends
  const double* hi() const { return hi_u->data(); }
};

struct SetTensor {
  Type type;
  Extents extents;
  std::vector<Plane> planes;
  std::vector<Plane> imag;  // of a complex type: imaginary parts, plane by plane beside the real ones, which then hold no others
  bool settled = true;
  std::int64_t size() const { return size_of(extents); }
};

}  // namespace erx
