// A cone that is one rounding of an input, or of a function of it: no tile is made of numbers that go from memory to memory.
//   if (auto rounded = RoundedInput::of(engine, cone)) done = rounded->put(first, count, out, flagged);
#pragma once
#include <cstddef>
#include <optional>

#include "eval/cone_output.hpp"
#include "eval/engine.hpp"
#include "ops/function_run.hpp"
#include "ops/round_run.hpp"

namespace erx {

class RoundedInput {
 public:
  static std::optional<RoundedInput> of(const Engine&, const Cone&);

  static constexpr std::int64_t most = 8 * static_cast<std::int64_t>(tile_size);  // elements at once

  /// Elements first .. first + count; `flagged`: some need flags, most likely, and did here. returns: false where they are left to the tiles.
  bool put(std::int64_t first, std::int64_t count, ConeOutput& out, bool& flagged) const;

 private:
  RoundedInput(const Tensor& input, Elements::Kind kind, const FunctionRun* function, BulkRounding round)
      : input_(input), kind_(kind), function_(function), round_(std::move(round)) {}
  template <class Work>
  auto at(std::int64_t first, std::int64_t count, const Work& work) const;

  const Tensor& input_;
  Elements::Kind kind_;
  const FunctionRun* function_;  // null: the input itself
  BulkRounding round_;
};

}  // namespace erx
