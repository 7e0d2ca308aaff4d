#include "eval/ladder.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>

#include "eval/reduce.hpp"
#include "eval/sum_parts.hpp"

namespace erx {
namespace {

/// Everything that either set allows, as one interval.
template <class R>
Set<R> hull_of(const Set<R>& a, const Set<R>& b) {
  if (!a.has_reals()) return {b.lo, b.hi, static_cast<std::uint8_t>((a.flags & ~no_reals) | b.flags), b.is_point};
  if (!b.has_reals()) return {a.lo, a.hi, static_cast<std::uint8_t>(a.flags | (b.flags & ~no_reals)), a.is_point};
  return Set<R>::between(min_of(a.lo, b.lo), max_of(a.hi, b.hi), a.flags | b.flags);
}

template <class R>
Set<R> literal_set(const std::string& text, Context c) {
  if (text == "nan" || text == "true" || text == "false" || text == "inf" || text == "-inf") {
    if (text == "nan") return Set<R>::special(has_nan);
    if (text == "inf") return Set<R>::special(has_pinf);
    if (text == "-inf") return Set<R>::special(has_ninf);
    return Set<R>::point(R::exact(text == "true" ? 1 : 0, c), text == "true" ? 0 : has_pzero);
  }
  const R x = R::literal(text, c);
  const bool zero = compare(x, R{}) == Comparison::equal;
  return Set<R>::point(x, zero ? (text[0] == '-' ? has_nzero : has_pzero) : 0);
}

/// One element in a finer number type, operands included where what is stored is not exact.
template <class R>
class Climber {
 public:
  Climber(const Engine& engine, Context c) : engine_(engine), c_(c) {}

  Set<R> cone(const Cone& cone, std::int64_t flat, int assignment, int wanted = -1) {
    const Graph& graph = engine_.graph();
    const int first_step = static_cast<int>(cone.loads.size());
    std::vector<Set<R>> slots(cone.slots());
    for (int slot : cone.needed(assignment)) {
      if (slot < first_step) {
        const Cone::Load& l = cone.loads[slot];
        const std::int64_t at = offset(l.view, flat);
        slots[slot] = l.variable < 0 ? load(l.node, at) : plane(l.node, cone.branch(l.variable, assignment), at);
        continue;
      }
      const Cone::Step& step = cone.steps[slot - first_step];
      if (const int branch = cone.passes(step, assignment); branch >= 0) {
        slots[slot] = slots[step.operands[branch]];
        continue;
      }
      std::vector<Set<R>> operands;
      for (int o : step.operands) operands.push_back(slots[o]);
      const Node& node = graph[step.node];
      if (row(node).gather == Gather::pair) continue;  // one of its parts is wanted
      slots[slot] = formula_of<R>(row(node))(operands, cone.attributes(step, node, assignment), c_);
    }
    return wanted < 0 ? slots.back() : slots[wanted];
  }

  Set<R> cone_hull(const Cone& c, std::int64_t flat) {
    Set<R> all = cone(c, flat, 0);
    for (int a = 1; a < c.assignments(); ++a) all = hull_of(all, cone(c, flat, a));
    return all;
  }

  Set<R> sum(const SumNode& node, std::int64_t flat) { return sum_element<R>(node, flat, *this, c_); }

  Set<R> map(const Node& node, const Set<R>& x) { return formula_of<R>(row(node))({&x, 1}, node.attributes, c_); }

  Set<R> reduction(const SumNode& node, std::int64_t flat) { return reduce_element<R>(engine_.graph()[node.node], node, flat, *this, c_); }

  /// The states of one line, in the order of its steps. Operands are values of a format: what is stored of them is exact.
  std::vector<Set<R>> line_of_states(const ScanNode& scan, std::int64_t line) {
    ScanLine<R> read;
    const auto n = static_cast<std::size_t>(scan.steps);
    read.a.reserve(n);
    read.b.reserve(n);
    std::int64_t a = scan.a.at(scan.lines, line), b = scan.b.at(scan.lines, line);
    for (std::size_t t = 0; t < n; ++t, a += scan.a.step, b += scan.b.step) {
      read.a.push_back(load(scan.a.node, a));
      read.b.push_back(load(scan.b.node, b));
    }
    if (scan.init) read.init = load(scan.init->node, scan.init->at(scan.lines, line));
    return scan_states(read, scan.rule, c_);
  }

  // The interface that sum_parts reads.
  bool is_point(NodeId id) const { return engine_.stored(id).is_point; }
  Line line(NodeId id) const { return line_of(engine_.stored(id)); }

  bool known(NodeId id, std::int64_t at, Known& k) const {
    const Stored& s = engine_.stored(id);
    if (!s.in_place) return known_at(s.hull, at, k);
    k.lo = k.hi = s.in_place->at(at);
    k.flags = k.lo != 0 ? 0 : std::signbit(k.lo) ? has_nzero : has_pzero;
    return std::isfinite(k.lo);
  }

  Set<R> load(NodeId id, std::int64_t at) {
    const Stored& s = engine_.stored(id);
    if (s.in_place) return s.in_place->element<R>(at, c_);
    const Node& node = engine_.graph()[id];
    const Plane& p = s.hull;
    const bool exact = is_exact_at(p, at);
    if (exact) return from_plane(p, at, s.is_point);
    if (const auto* outside = engine_.outside(id))
      return outside->engine ? Climber<R>(*outside->engine, c_).load(outside->node, at) : from_plane(p, at, false);
    if (const Tensor* tensor = engine_.input(id)) return tensor->element<R>(at, c_);
    if (row(node).gather == Gather::source) return literal_set<R>(node.attributes.text, c_);
    if (s.sum || s.reduction) {  // one element may read the same sum many times
      const auto known = sums_.find({id, at});
      if (known != sums_.end()) return known->second;
      const Set<R> found = s.sum ? sum(*s.sum, at) : reduction(*s.reduction, at);
      if (sums_.size() < max_sums) sums_.emplace(std::pair{id, at}, found);
      return found;
    }
    if (s.join && !s.tensor.settled) {
      const auto [node_there, place] = s.join->source(at);
      return load(node_there, place);
    }
    if (s.cone && !s.tensor.settled) return cone_hull(*s.cone, at);
    return from_plane(p, at, false);
  }

  /// One of several planes: where it is a mere enclosure, the members of the cone that lie in it.
  Set<R> plane(NodeId id, int k, std::int64_t at) {
    const Stored& s = engine_.stored(id);
    const Plane& p = s.tensor.planes[k];
    const Set<R> enclosure = from_plane(p, at, false);
    if (!enclosure.has_reals() || is_exact_at(p, at) || s.tensor.settled || !s.cone) return enclosure;
    const std::size_t i = static_cast<std::size_t>(at);
    std::optional<Set<R>> finer;
    for (int a = 0; a < s.cone->assignments(); ++a) {
      const Set<R> member = cone(*s.cone, at, a);
      if (!member.has_reals() || upper(member.is_point ? member.lo : member.hi) < (*p.lo_d)[i] || lower(member.lo) > (*p.hi_u)[i]) continue;
      finer = finer ? hull_of(*finer, member) : member;
    }
    if (!finer) return enclosure;
    finer->flags = enclosure.flags;
    return *finer;
  }

 private:
  static constexpr std::size_t max_sums = 1 << 16;
  const Engine& engine_;
  Context c_;
  std::map<std::pair<NodeId, std::int64_t>, Set<R>> sums_;  // of this precision, read by this element

  static bool is_exact_at(const Plane& p, std::int64_t at) {
    const std::size_t i = static_cast<std::size_t>(at);
    const std::uint8_t flags = p.flags ? (*p.flags)[i] : 0;
    return (*p.lo_d)[i] == (*p.lo_u)[i] && (*p.hi_d)[i] == (*p.hi_u)[i] && !(flags & undecided);
  }

  Set<R> from_plane(const Plane& p, std::int64_t at, bool point) const {
    const std::size_t i = static_cast<std::size_t>(at);
    const std::uint8_t flags = p.flags ? (*p.flags)[i] : 0;
    if (flags & no_reals) return Set<R>::special(flags);
    const double lo_d = (*p.lo_d)[i], lo_u = (*p.lo_u)[i], hi_d = (*p.hi_d)[i], hi_u = (*p.hi_u)[i];
    const R lo = R::between(lo_d, lo_u, c_);
    if (point || (lo_d == lo_u && hi_d == hi_u && lo_d == hi_d)) return Set<R>::point(lo, flags);
    return Set<R>::between(lo, R::between(hi_d, hi_u, c_), flags);
  }

  static std::int64_t offset(const View& view, std::int64_t flat) {
    std::int64_t at = view.offset;
    for (std::size_t k = view.extents.size(); k-- > 0;) {
      at += flat % view.extents[k] * view.strides[k];
      flat /= view.extents[k];
    }
    return at;
  }
};

template <class R>
bool is_decided(const Set<R>& s) {
  return !(s.flags & undecided) && (!s.has_reals() || (is_exact(s.lo) && is_exact(s.hi)));
}

template <class R>
Climbed result_of(const Set<R>& s, Climbed::By by) {
  const std::uint8_t flags = s.flags & ~undecided;
  if (!s.has_reals()) return {0, 0, flags, by};
  return {lower(s.lo), upper(s.hi), flags, by};
}

/// `element(climber)` in Big at growing precision, then exactly; the hull of the last enclosure if nothing decides.
template <class Element>
Climbed up_the_ladder(const Engine& engine, bool is_rational, const Element& element) {
  using Tier = EvaluateOptions::Tier;
  const Tier highest = engine.options().highest;
  if (highest == Tier::f64) {
    Climber<F64> climber(engine, {});
    const Set<F64> s = element(climber);
    return result_of(s, is_decided(s) ? Climbed::By::bulk : Climbed::By::open);
  }
  const auto exactly = [&]() -> std::optional<Climbed> {
    Climber<Exact> climber(engine, {});
    const Set<Exact> s = element(climber);
    if (is_decided(s)) return result_of(s, Climbed::By::exact);
    return {};
  };
  const bool exact_first = engine.options().lowest == Tier::exact;
  if (is_rational && exact_first)
    if (const auto found = exactly()) return *found;
  Climbed last;
  for (const int precision : {128, 512, 2048}) {
    Climber<Big> climber(engine, {precision});
    const Set<Big> s = element(climber);
    if (is_decided(s)) return result_of(s, Climbed::By::big);
    last = result_of(s, Climbed::By::open);
  }
  if (is_rational && highest == Tier::exact && !exact_first)
    if (const auto found = exactly()) return *found;
  return last;
}

}  // namespace

Climbed climb(const Engine& engine, const Cone& cone, std::int64_t flat, int assignment, int slot) {
  return up_the_ladder(engine, cone.is_rational, [&](auto& climber) { return climber.cone(cone, flat, assignment, slot); });
}

Climbed climb_hull(const Engine& engine, const Cone& cone, std::int64_t flat) {
  return up_the_ladder(engine, cone.is_rational, [&](auto& climber) { return climber.cone_hull(cone, flat); });
}

Climbed climb_reduction(const Engine& engine, const SumNode& reduction, std::int64_t flat) {
  return up_the_ladder(engine, true, [&](auto& climber) { return climber.reduction(reduction, flat); });
}

namespace {

template <class R>
std::vector<Climbed> results_of(const std::vector<Set<R>>& states, Climbed::By by) {
  std::vector<Climbed> results;
  results.reserve(states.size());
  for (const Set<R>& s : states) results.push_back(result_of(s, is_decided(s) ? by : Climbed::By::open));
  return results;
}

}  // namespace

std::vector<Climbed> scan_in_float64(const Engine& engine, const ScanNode& scan, std::int64_t line) {
  const std::vector<Set<F64>> states = Climber<F64>(engine, {}).line_of_states(scan, line);
  std::vector<Climbed> results = results_of(states, Climbed::By::bulk);
  for (std::size_t t = 0; t < results.size(); ++t)
    if (!is_decided(states[t])) results[t].flags |= undecided;
  return results;
}

std::vector<Climbed> climb_line(const Engine& engine, const ScanNode& scan, std::int64_t line) {
  using Tier = EvaluateOptions::Tier;
  const auto decided = [](const auto& states) { return std::all_of(states.begin(), states.end(), [](const auto& s) { return is_decided(s); }); };
  const Tier highest = engine.options().highest;
  if (highest == Tier::f64) return results_of(Climber<F64>(engine, {}).line_of_states(scan, line), Climbed::By::bulk);
  std::vector<Climbed> last;
  if (engine.options().lowest != Tier::exact || highest != Tier::exact) {
    for (const int precision : {128, 512, 2048}) {
      const auto states = Climber<Big>(engine, {precision}).line_of_states(scan, line);
      last = results_of(states, Climbed::By::big);
      if (decided(states)) return last;
    }
  }
  return highest == Tier::exact ? results_of(Climber<Exact>(engine, {}).line_of_states(scan, line), Climbed::By::exact) : last;
}

Set<F64> literal_element(const std::string& text) { return literal_set<F64>(text, {}); }

Climbed climb(const Engine& engine, const SumNode& sum, const Node* then, std::int64_t flat) {
  return up_the_ladder(engine, true, [&](auto& climber) {
    const auto s = climber.sum(sum, flat);
    return then ? climber.map(*then, s) : s;
  });
}

}  // namespace erx
