// Sums of products of which a leaf is surely infinite or NaN: told by the special leaves alone, unless finite leaves may overflow.
//   if (auto s = special_sum(sum, flat, [&](NodeId id) { return reader.line(id); })) return *s;
#pragma once
#include <cmath>
#include <cstring>
#include <limits>
#include <optional>

#include "eval/sum_parts.hpp"

namespace erx {

/// What a single exact factor is: a number, or one special value; nothing of a factor that may be several.
struct Factor64 {
  double value;          // of an infinity: that
  bool is_nan = false;

  static std::optional<Factor64> of(const Line& line, std::int64_t at) {
    constexpr double infinity = std::numeric_limits<double>::infinity();
    const std::uint8_t special = line.flags ? line.flags[at] & static_cast<std::uint8_t>(~any_zero) : 0;
    switch (special) {
      case 0: return Factor64{line.values[at]};
      case no_reals | has_nan: return Factor64{0, true};
      case no_reals | has_pinf: return Factor64{infinity};
      case no_reals | has_ninf: return Factor64{-infinity};
      default: return {};
    }
  }
};

/// Calls visit(i) for the special values among n flags `step` apart.
template <class Visit>
void for_each_special(const std::uint8_t* flags, std::int64_t step, std::int64_t n, const Visit& visit) {
  constexpr std::uint64_t special = 0x0101010101010101u * static_cast<std::uint8_t>(~any_zero);
  for (std::int64_t i = 0; i < n; ++i) {
    for (std::uint64_t eight; step == 1 && i + 8 <= n; i += 8) {
      std::memcpy(&eight, flags + i, 8);
      if (eight & special) break;
    }
    if (i < n && (flags[i * step] & static_cast<std::uint8_t>(~any_zero))) visit(i);
  }
}

/// The sum of |x y|, in some order: eight sums side by side need not wait for one another.
inline double magnitude_along(const double* x, std::int64_t step_x, const double* y, std::int64_t step_y, std::int64_t n) {
  constexpr std::int64_t side_by_side = 8;
  double sums[side_by_side] = {};
  std::int64_t i = 0;
  for (; i + side_by_side <= n; i += side_by_side)
    for (std::int64_t k = 0; k < side_by_side; ++k) sums[k] += std::fabs(x[(i + k) * step_x] * y[(i + k) * step_y]);
  for (; i < n; ++i) sums[0] += std::fabs(x[i * step_x] * y[i * step_y]);
  double all = 0;
  for (const double s : sums) all += s;
  return all;
}

/// The set of one element, by the rules of sum_of_parts. line_of(node): its exact elements.
/// returns: nothing where every leaf may be finite, or the rules have to look at more.
template <class LineOf>
std::optional<Set<F64>> special_sum(const SumNode& sum, std::int64_t flat, const LineOf& line_of) {
  if (sum.rule.needs_leaves(sum.leaves) || !sum.flushed_below.empty()) return {};
  SpecialLeaves special;
  bool any = false, any_nan = false, any_open = false;
  double magnitude = 0;  // of the finite leaves
  for (const Term& term : sum.terms) {
    if (!term.b || term.scales || term.reduced.size() != 1 || !term.is_plain()) return {};
    const Line x = line_of(term.a.node), y = line_of(term.b->node);
    if (!x.values || !y.values) return {};
    const std::int64_t a = strided_offset(sum.extents, term.a.out_strides, flat), b = strided_offset(sum.extents, term.b->out_strides, flat);
    const std::int64_t n = term.reduced[0], step_a = term.a.reduced_strides[0], step_b = term.b->reduced_strides[0];
    const auto visit = [&](std::int64_t i) {
      const auto u = Factor64::of(x, a + i * step_a), v = Factor64::of(y, b + i * step_b);
      if (!u || !v) {
        any_open = true;
        return;
      }
      const double product = term.negative ? -u->value * v->value : u->value * v->value;  // NaN of infinity and 0
      any_nan |= u->is_nan || v->is_nan || std::isnan(product);
      any = true;
      special.add(static_cast<std::uint8_t>(no_reals | (product > 0 ? has_pinf : has_ninf)), false);
    };
    if (x.flags) for_each_special(x.flags + a, step_a, n, visit);
    if (any_nan) return Set<F64>::special(has_nan);
    if (y.flags)
      for_each_special(y.flags + b, step_b, n, [&](std::int64_t i) {
        if (!x.flags || !(x.flags[a + i * step_a] & static_cast<std::uint8_t>(~any_zero))) visit(i);  // else it was seen
      });
    if (any_nan) return Set<F64>::special(has_nan);
    if (!sum.rule.rounds) continue;
    magnitude += magnitude_along(x.values + a, step_a, y.values + b, step_b, n);  // of a special factor the value is 0
  }
  if (!any || any_open) return {};
  SumParts<F64> parts;
  special.finish(parts);
  if (parts.flags == has_nan || !sum.rule.rounds || planted(Mistake::rest_unwatched)) return Set<F64>::special(parts.flags);
  // Finite leaves that cannot overflow change nothing: P + e, with room for the roundings here, is below the largest value.
  const double n = static_cast<double>(sum.leaves);
  const ClosedBound bound = closed_bound(sum.rule, sum.leaves, true);
  const double most = magnitude * (1 + (n + 8) * 0x1p-52) + n * 0x1p-1070;
  if ((most + bound.relative * most + bound.absolute) * (1 + 0x1p-40) < sum.rule.format.max_finite()) return Set<F64>::special(parts.flags);
  return {};
}

}  // namespace erx
