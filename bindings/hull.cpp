#include "bindings/hull.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "eval/judge.hpp"
#include "eval/number_text.hpp"

namespace erx {
namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();

std::uint8_t flags_of(const Plane& p, std::size_t i) { return p.flags ? (*p.flags)[i] : 0; }

std::string value_text(const Type& type, double x) {
  if (type.is_boolean()) return x != 0 ? "true" : "false";
  return number_text(x);
}

}  // namespace

namespace {

/// An end that is zero has the sign that the set has there; arithmetic does not keep it.
void sign_zeros(Hull& h, std::size_t i) {
  const std::uint8_t zeros = h.flags[i] & any_zero;
  if (!zeros) return;
  if (h.lo[i] == 0) h.lo[i] = zeros & has_nzero ? -0.0 : 0.0;
  if (h.hi[i] == 0) h.hi[i] = zeros & has_pzero ? 0.0 : -0.0;
}

Hull hull_of(const std::vector<Plane>& planes, std::size_t n) {
  Hull h{std::vector<double>(n, infinity), std::vector<double>(n, -infinity), std::vector<std::uint8_t>(n, no_reals)};
  for (const Plane& p : planes)
    for (std::size_t i = 0; i < n; ++i) {
      const std::uint8_t f = flags_of(p, i);
      h.flags[i] = static_cast<std::uint8_t>((h.flags[i] | f) & ~no_reals) | (h.flags[i] & f & no_reals);
      if (!(f & no_reals)) {
        h.lo[i] = std::min(h.lo[i], p.lo()[i]);
        h.hi[i] = std::max(h.hi[i], p.hi()[i]);
      }
      if (f & has_pinf) h.lo[i] = std::min(h.lo[i], infinity), h.hi[i] = infinity;
      if (f & has_ninf) h.hi[i] = std::max(h.hi[i], -infinity), h.lo[i] = -infinity;
    }
  for (std::size_t i = 0; i < n; ++i) {
    if ((h.flags[i] & no_reals) && !(h.flags[i] & any_infinity)) h.lo[i] = h.hi[i] = std::numeric_limits<double>::quiet_NaN();
    sign_zeros(h, i);
  }
  return h;
}

}  // namespace

Hull hull_of(const SetTensor& sets) { return hull_of(sets.planes, static_cast<std::size_t>(sets.size())); }

Hull hull_of_imag(const SetTensor& sets) { return hull_of(sets.imag, sets.imag.empty() ? 0 : static_cast<std::size_t>(sets.size())); }

void join(Hull& all, const Hull& h) {
  for (std::size_t i = 0; i < all.lo.size(); ++i) {
    all.lo[i] = std::fmin(all.lo[i], h.lo[i]);  // a NaN end stands for nothing else
    all.hi[i] = std::fmax(all.hi[i], h.hi[i]);
    const auto no_finite = static_cast<std::uint8_t>(all.flags[i] & h.flags[i] & no_reals);
    all.flags[i] = static_cast<std::uint8_t>(((all.flags[i] | h.flags[i]) & ~no_reals) | no_finite);
    sign_zeros(all, i);
  }
}

std::string element_text(const SetTensor& sets, std::int64_t flat) {
  const auto i = static_cast<std::size_t>(flat);
  if (!sets.imag.empty()) return Judge(sets, {}, {}, false).allowed(i);
  std::vector<std::string> parts;
  const auto add = [&](std::string part) {
    if (std::find(parts.begin(), parts.end(), part) == parts.end()) parts.push_back(std::move(part));
  };
  std::uint8_t special = 0;
  for (const Plane& p : sets.planes) {
    special |= flags_of(p, i);
    if (flags_of(p, i) & no_reals) continue;
    const double lo = p.lo()[i], hi = p.hi()[i];
    add(lo == hi ? "{" + value_text(sets.type, lo) + "}" : "[" + value_text(sets.type, lo) + ", " + value_text(sets.type, hi) + "]");
  }
  if (special & has_ninf) add("-inf");
  if (special & has_pinf) add("inf");
  if (special & has_nan) add("NaN");
  std::string text;
  for (const auto& part : parts) text += (text.empty() ? "" : " or ") + part;
  return text;
}

}  // namespace erx
