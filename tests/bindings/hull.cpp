#include "bindings/hull.hpp"

#include <doctest/doctest.h>

#include <cmath>
#include <limits>

using namespace erx;

namespace {

const double infinity = std::numeric_limits<double>::infinity();

Plane plane(std::vector<double> lo, std::vector<double> hi, std::vector<std::uint8_t> flags) {
  Plane p;
  p.lo_d = p.lo_u = std::make_shared<erx::Doubles>(lo.begin(), lo.end());
  p.hi_d = p.hi_u = std::make_shared<erx::Doubles>(hi.begin(), hi.end());
  if (!flags.empty()) p.flags = std::make_shared<erx::FlagBytes>(flags.begin(), flags.end());
  return p;
}

SetTensor sets(std::vector<Plane> planes, std::int64_t n) {
  SetTensor s;
  s.type = Type::of(*find_format("f32"));
  s.extents = {n};
  s.planes = std::move(planes);
  return s;
}

}  // namespace

TEST_CASE("hull: infinities belong to it, NaN only where nothing else is possible") {
  const std::uint8_t nothing = no_reals;
  const SetTensor s = sets({plane({1, 1, 0, 0, 0, -2}, {2, 1, 0, 0, 0, 3},
                                  {0, has_nan, std::uint8_t(nothing | has_nan), std::uint8_t(nothing | has_pinf), std::uint8_t(nothing | has_ninf | has_nan), has_pinf})}, 6);
  const Hull h = hull_of(s);
  CHECK(h.lo[0] == 1);
  CHECK(h.hi[0] == 2);
  CHECK(h.lo[1] == 1);
  CHECK(h.hi[1] == 1);
  CHECK(std::isnan(h.lo[2]));
  CHECK(std::isnan(h.hi[2]));
  CHECK(h.lo[3] == infinity);
  CHECK(h.hi[3] == infinity);
  CHECK(h.lo[4] == -infinity);
  CHECK(h.hi[4] == -infinity);
  CHECK(h.lo[5] == -2);
  CHECK(h.hi[5] == infinity);
  CHECK(h.flags[1] == has_nan);
  CHECK(h.flags[2] == (no_reals | has_nan));
  CHECK(element_text(s, 0) == "[1, 2]");
  CHECK(element_text(s, 1) == "{1} or NaN");
  CHECK(element_text(s, 4) == "-inf or NaN");
}

TEST_CASE("hull: planes are joined, and one with reals is enough to have reals") {
  const SetTensor s = sets({plane({5, 0}, {6, 0}, {}), plane({1, 0}, {2, 0}, {std::uint8_t(no_reals | has_nan), std::uint8_t(no_reals | has_ninf)})}, 2);
  const Hull h = hull_of(s);
  CHECK(h.lo[0] == 5);
  CHECK(h.hi[0] == 6);
  CHECK(h.flags[0] == has_nan);
  CHECK(h.lo[1] == -infinity);
  CHECK(h.hi[1] == 0);
  CHECK(element_text(s, 0) == "[5, 6] or NaN");
  const SetTensor same = sets({plane({1}, {1}, {}), plane({1}, {1}, {}), plane({2}, {2}, {})}, 1);
  CHECK(element_text(same, 0) == "{1} or {2}");
}
