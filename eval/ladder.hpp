// The ladder of precision: one element of one node, computed again in a finer number type, with its own cone of operands.
// Big at growing precision, then Exact where every step is rational. The tiers are chosen here and nowhere else.
//   Climbed c = climb(engine, cone, flat, assignment);   c.lo, c.hi, c.flags
#pragma once
#include "eval/engine.hpp"
#include "eval/scan_node.hpp"

namespace erx {

/// Outer ends as doubles.
struct Climbed {
  double lo = 0, hi = 0;
  std::uint8_t flags = 0;
  enum class By { bulk, big, exact, open } by = By::open;
};

Climbed climb(const Engine&, const Cone&, std::int64_t flat, int assignment, int slot = -1);  // -1: the root
/// `then`: a map of one operand, on the sum; nullptr: the sum itself.
Climbed climb(const Engine&, const SumNode&, const Node* then, std::int64_t flat);

Climbed climb_reduction(const Engine&, const SumNode&, std::int64_t flat);

/// Every state of one line of a recurrence: in float64, some perhaps `undecided`; in finer types until all are decided.
std::vector<Climbed> scan_in_float64(const Engine&, const ScanNode&, std::int64_t line);
std::vector<Climbed> climb_line(const Engine&, const ScanNode&, std::int64_t line);

/// The set of a literal's text in the bulk tier.
Set<F64> literal_element(const std::string& text);

/// The hull over a cone's assignments, as the bulk tier of another node reads it.
Climbed climb_hull(const Engine&, const Cone&, std::int64_t flat);

}  // namespace erx
