#include "eval/rounded_input.hpp"

#include <cstdint>

#include "ir/ieee.hpp"

namespace erx {

std::optional<RoundedInput> RoundedInput::of(const Engine& engine, const Cone& cone) {
  if (cone.loads.size() != 1 || cone.steps.size() != 1 || cone.steps[0].variable >= 0) return {};
  const Stored& stored = engine.stored(cone.loads[0].node);
  const Node& node = engine.graph()[cone.steps[0].node];
  if (!stored.in_place || !row(node).rounds_operand || rounds_freely(node.attributes.rounding)) return {};
  const std::optional<Elements> elements = stored.in_place->elements();
  if (!elements || (elements->kind != Elements::Kind::f64 && elements->kind != Elements::Kind::f32)) return {};
  if (reinterpret_cast<std::uintptr_t>(stored.in_place->data) % static_cast<std::uintptr_t>(elements->bytes()) != 0) return {};
  BulkRounding round(*node.attributes.format, node.attributes.rounding);
  if (!can_round_run(round)) return {};
  return RoundedInput(*stored.in_place, elements->kind, std::move(round));
}

Decoded RoundedInput::run(std::int64_t first, std::int64_t count, double* out, bool past_caches) const {
  const auto n = static_cast<std::size_t>(count);
  if (kind_ == Elements::Kind::f64) return round_run(round_, reinterpret_cast<const double*>(input_.data) + first, out, n, past_caches);
  return round_run(round_, reinterpret_cast<const float*>(input_.data) + first, out, n, past_caches);
}

bool RoundedInput::run(std::int64_t first, std::int64_t count, double* out, std::uint8_t* flags, bool past_caches) const {
  const auto n = static_cast<std::size_t>(count);
  if (kind_ == Elements::Kind::f64) return round_run(round_, reinterpret_cast<const double*>(input_.data) + first, out, flags, n, past_caches);
  return round_run(round_, reinterpret_cast<const float*>(input_.data) + first, out, flags, n, past_caches);
}

}  // namespace erx
