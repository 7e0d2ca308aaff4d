// Recurrences whose executions are followed: the one order of `seq`, and the hull over all trees of short lines.
#include "ops/scan.hpp"

#include "ops/families.hpp"
#include "ops/planted.hpp"
#include "ops/row.hpp"
#include "ops/scan_step.hpp"

namespace erx {

ScanRule scan_rule(const Attributes& a) {
  ScanRule rule;
  rule.format = *a.format;
  rule.in_order = a.order.kind == OrderKind::seq;
  rule.contraction = a.contraction;
  rule.flush = a.rounding.flush;
  return rule;
}

namespace {

template <class R>
Set<R> zero(Context c) {
  return Set<R>::point(R::exact(0, c), has_pzero);
}

template <class R>
bool may_be_left_out(const std::optional<Set<R>>& init) {
  if (planted(Mistake::scan_first_step)) return false;
  return !init || (init->may_be(any_zero) && reaches_zero(*init));
}

template <class R>
std::vector<Set<R>> in_order(const ScanLine<R>& line, const ScanRule& rule, Context c) {
  const ScanStep<R> step(rule, c);
  std::vector<Set<R>> states;
  Set<R> h = line.init.value_or(zero<R>(c));
  for (std::size_t t = 0; t < line.a.size(); ++t) {
    h = step.apply(line.a[t], h, line.b[t]);
    // The first state of a line that starts at 0 may be b_1 itself: that differs where a_1 is no number, in the sign of 0, and flushed.
    if (t == 0 && may_be_left_out(line.init)) {
      const Set<R>& b = line.b[0];
      const bool same = h.is_point && b.is_point && h.flags == b.flags && (!h.has_reals() || compare(h.lo, b.lo) == Comparison::equal);
      if (!same) h = joined(h, b);
    }
    states.push_back(h);
  }
  return states;
}

/// The hull over every tree, by ranges of steps: a range is the composition of two shorter ones, both parts of it in the same tree.
/// Sound: by induction every value that a tree gives a range lies in the range's sets, and a step on sets holds the step on members.
template <class R>
std::vector<Set<R>> all_trees(const ScanLine<R>& line, const ScanRule& rule, Context c) {
  const ScanStep<R> step(rule, c);
  const std::size_t n = line.a.size();
  std::vector<Set<R>> f((n + 1) * (n + 1)), x(f.size());  // [first * (n+1) + last]; 0 is h_0
  const auto at = [n](std::size_t first, std::size_t last) { return first * (n + 1) + last; };
  x[at(0, 0)] = line.init.value_or(zero<R>(c));
  std::vector<Set<R>> states;
  for (std::size_t last = 1; last <= n; ++last) {
    f[at(last, last)] = line.a[last - 1];
    x[at(last, last)] = line.b[last - 1];
    for (std::size_t first = last; first-- > 0;) {
      for (std::size_t cut = first + 1; cut <= last; ++cut) {  // first .. cut-1, then cut .. last
        const Set<R> value = step.apply(f[at(cut, last)], x[at(first, cut - 1)], x[at(cut, last)]);
        x[at(first, last)] = cut == first + 1 ? value : joined(x[at(first, last)], value);
        if (first == 0) continue;
        const Set<R> factor = step.product(f[at(cut, last)], f[at(first, cut - 1)]);
        f[at(first, last)] = cut == first + 1 ? factor : joined(f[at(first, last)], factor);
      }
    }
    states.push_back(may_be_left_out(line.init) ? joined(x[at(0, last)], x[at(1, last)]) : x[at(0, last)]);
  }
  return states;
}

/// What both sets allow; `sharp` is the one whose signs of zero count.
template <class R>
Set<R> both(const Set<R>& sharp, const Set<R>& bound) {
  if (!sharp.has_reals() || !bound.has_reals()) {
    const std::uint8_t specials = sharp.flags & bound.flags & (has_nan | any_infinity);
    return Set<R>::special(static_cast<std::uint8_t>(specials | ((sharp.flags | bound.flags) & undecided)));
  }
  Set<R> s = Set<R>::between(max_of(sharp.lo, bound.lo), min_of(sharp.hi, bound.hi));
  s.flags = static_cast<std::uint8_t>((sharp.flags & bound.flags & (has_nan | any_infinity)) | (sharp.flags & any_zero) | ((sharp.flags | bound.flags) & undecided));
  return s;
}

}  // namespace

template <class R>
std::vector<Set<R>> scan_states(const ScanLine<R>& line, const ScanRule& rule, Context c) {
  if (rule.in_order) return in_order(line, rule, c);
  if (planted(Mistake::scan_in_order)) return in_order(line, rule, c);
  std::vector<Set<R>> states = scan_bounds(line, rule, c);
  if (static_cast<std::int64_t>(line.a.size()) > rule.hull_steps) return states;
  const std::vector<Set<R>> hulls = all_trees(line, rule, c);
  for (std::size_t t = 0; t < states.size(); ++t) states[t] = both(hulls[t], states[t]);
  return states;
}

template std::vector<Set<F64>> scan_states(const ScanLine<F64>&, const ScanRule&, Context);
template std::vector<Set<Big>> scan_states(const ScanLine<Big>&, const ScanRule&, Context);
template std::vector<Set<Exact>> scan_states(const ScanLine<Exact>&, const ScanRule&, Context);

namespace families {
namespace {

/// That of a and b together; h_0 has it without the axis.
Shape state_shape(std::span<const Shape> shapes, const Attributes& attributes) {
  const Shape all = rules::broadcast_shape(shapes.first(2), attributes);
  if (attributes.axes.size() != 1) throw Bug("a recurrence goes along one axis");
  const std::int64_t axis = attributes.axes[0];
  if (axis < 0 || axis >= static_cast<std::int64_t>(all.size()))
    throw RuleBroken{"axis " + std::to_string(axis) + " is out of range for shape " + to_string(all), -1, to_string(all)};
  if (shapes.size() < 3) return all;
  Shape first = all;
  first.erase(first.begin() + axis);
  const auto start = broadcast(first, shapes[2]);
  if (!start || *start != first)
    throw RuleBroken{"`init` of shape " + to_string(shapes[2]) + " does not broadcast to " + to_string(first) + ", the shape without the axis", 2,
                     to_string(shapes[2])};
  return all;
}

bool has_choice(const Attributes& a) {
  return a.order.kind != OrderKind::seq || a.contraction == Contraction::free || a.rounding.flush != Flush::no;
}

}  // namespace

std::span<const Op* const> scan() {
  static const Op rows[] = {make_row({.name = "scan",
                                      .doc = "scan<F, order, fma=, ftz=>(a, b, init=0, axis=-1, reverse=false): every state of h_t = a_t h_(t-1) + b_t",
                                      .source = "erx, docs: the rules that make every set sound",
                                      .operands = 2,
                                      .operands_max = 3,
                                      .type = rules::format_type,
                                      .shape = state_shape,
                                      .freedom = has_choice},
                                     Gather::recurrence)};
  static const std::vector<const Op*> all = pointers(rows);
  return all;
}

}  // namespace families
}  // namespace erx
