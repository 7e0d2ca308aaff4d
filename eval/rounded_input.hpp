// A cone that is one rounding of an input whose numbers lie side by side in memory: no tile is made of them.
//   if (auto rounded = RoundedInput::of(engine, cone)) found = rounded->run(first, count, out, true);
#pragma once
#include <cstddef>
#include <optional>

#include "eval/engine.hpp"
#include "ops/round_run.hpp"

namespace erx {

class RoundedInput {
 public:
  static std::optional<RoundedInput> of(const Engine&, const Cone&);

  /// Elements first .. first + count, as round_run has it; flags: all of them, if some element needs one.
  Decoded run(std::int64_t first, std::int64_t count, double* out, bool past_caches) const;
  bool run(std::int64_t first, std::int64_t count, double* out, std::uint8_t* flags, bool past_caches) const;

 private:
  RoundedInput(const Tensor& input, Elements::Kind kind, BulkRounding round) : input_(input), kind_(kind), round_(std::move(round)) {}
  const Tensor& input_;
  Elements::Kind kind_;
  BulkRounding round_;
};

}  // namespace erx
