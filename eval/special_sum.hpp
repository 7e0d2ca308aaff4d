// Sums of products of which a leaf is surely infinite or NaN: told by the special leaves alone, unless finite leaves may overflow.
//   if (auto s = special_sum(sum, flat, [&](NodeId id) { return reader.line(id); })) return *s;
#pragma once
#include <cmath>
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

/// The set of one element, by the rules of sum_of_parts. line_of(node): its exact elements.
/// returns: nothing where every leaf may be finite, or the rules have to look at more.
template <class LineOf>
std::optional<Set<F64>> special_sum(const SumNode& sum, std::int64_t flat, const LineOf& line_of) {
  if (sum.rule.needs_leaves(sum.leaves) || !sum.flushed_below.empty()) return {};
  SpecialLeaves special;
  bool any = false;
  double magnitude = 0;  // of the finite leaves
  for (const Term& term : sum.terms) {
    if (!term.b || term.scales || term.reduced.size() != 1 || !term.is_plain()) return {};
    const Line x = line_of(term.a.node), y = line_of(term.b->node);
    if (!x.values || !y.values) return {};
    std::int64_t a = 0, b = 0, rest = flat;
    for (std::size_t k = sum.extents.size(); k-- > 0;) {
      a += rest % sum.extents[k] * term.a.out_strides[k];
      b += rest % sum.extents[k] * term.b->out_strides[k];
      rest /= sum.extents[k];
    }
    std::int64_t p = a, q = b;
    for (std::int64_t i = 0; i < term.reduced[0]; ++i, p += term.a.reduced_strides[0], q += term.b->reduced_strides[0]) {
      const unsigned specials = (x.flags ? x.flags[p] : 0u) | (y.flags ? y.flags[q] : 0u);
      if (!(specials & ~unsigned{any_zero})) {
        magnitude += std::fabs(x.values[p] * y.values[q]);
        continue;
      }
      const auto u = Factor64::of(x, p), v = Factor64::of(y, q);
      if (!u || !v) return {};
      const double product = term.negative ? -u->value * v->value : u->value * v->value;  // NaN of infinity and 0
      if (u->is_nan || v->is_nan || std::isnan(product)) return Set<F64>::special(has_nan);
      any = true;
      special.add(static_cast<std::uint8_t>(no_reals | (product > 0 ? has_pinf : has_ninf)), false);
    }
  }
  if (!any) return {};
  SumParts<F64> parts;
  special.finish(parts);
  if (parts.flags == has_nan || !sum.rule.rounds) return Set<F64>::special(parts.flags);
  // Finite leaves that cannot overflow change nothing: P + e, with room for the roundings here, is below the largest value.
  const double n = static_cast<double>(sum.leaves);
  const ClosedBound bound = closed_bound(sum.rule, sum.leaves, true);
  const double most = magnitude * (1 + (n + 8) * 0x1p-52) + n * 0x1p-1070;
  if ((most + bound.relative * most + bound.absolute) * (1 + 0x1p-40) < sum.rule.format.max_finite()) return Set<F64>::special(parts.flags);
  return {};
}

}  // namespace erx
