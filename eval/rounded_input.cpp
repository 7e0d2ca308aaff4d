#include "eval/rounded_input.hpp"

#include <array>
#include <cstdint>

#include "ir/ieee.hpp"
#include "ops/lanes.hpp"

namespace erx {

std::optional<RoundedInput> RoundedInput::of(const Engine& engine, const Cone& cone) {
  if (cone.loads.size() != 1 || cone.steps.empty() || cone.steps.size() > 2) return {};
  for (const Cone::Step& s : cone.steps)
    if (s.variable >= 0 || s.branch >= 0) return {};
  const Stored& stored = engine.stored(cone.loads[0].node);
  const Node& node = engine.graph()[cone.steps.back().node];
  if (!stored.in_place || !row(node).rounds_operand || rounds_freely(node.attributes.rounding)) return {};
  BulkRounding round(*node.attributes.format, node.attributes.rounding);
  const FunctionRun* function = nullptr;
  if (cone.steps.size() == 2) {
    const Op& op = row(engine.graph()[cone.steps[0].node]);
    function = op.loops ? op.loops->run : nullptr;
    if (!function || !can_function_run(round)) return {};
  } else if (!can_round_run(round)) {
    return {};
  }
  const std::optional<Elements> elements = stored.in_place->elements();
  if (!elements || reinterpret_cast<std::uintptr_t>(stored.in_place->data) % static_cast<std::uintptr_t>(elements->bytes()) != 0) return {};
  return RoundedInput(*stored.in_place, elements->kind, function, std::move(round));
}

/// work(array of float or double with the elements)
template <class Work>
auto RoundedInput::at(std::int64_t first, std::int64_t count, const Work& work) const {
  if (kind_ == Elements::Kind::f64) return work(reinterpret_cast<const double*>(input_.data) + first);
  if (kind_ == Elements::Kind::f32) return work(reinterpret_cast<const float*>(input_.data) + first);
  std::array<double, static_cast<std::size_t>(most)> decoded;
  input_.decode(first, count, decoded.data());
  return work(static_cast<const double*>(decoded.data()));
}

bool RoundedInput::put(std::int64_t first, std::int64_t count, ConeOutput& out, bool& flagged) const {
  const auto n = static_cast<std::size_t>(count);
  double* const to = out.place(first);
  const bool past_caches = out.past_caches();
  return at(first, count, [&](const auto* in) {
    if (function_) return function_run(*function_, round_, in, to, n, past_caches);
    if (!flagged && round_run(round_, in, to, n, past_caches) == Decoded::nonzero) return true;
    flagged = true;
    return round_run(round_, in, to, out.flags(first), n, past_caches);
  });
}

}  // namespace erx
