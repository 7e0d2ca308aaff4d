// What may be bound to an input: an argument must be exactly representable in the declared type; nothing is ever rounded silently.
//   require_representable(t, Type::of(*find_format("bf16")), "A");
//   Error: input `A` is declared bf16, but A[0, 1] is 4.01, which is no bf16 value (the nearest is 4)
#pragma once
#include <optional>
#include <string>
#include <string_view>

#include "eval/tensor.hpp"
#include "ir/error.hpp"

namespace erx {

/// An element that `declared` does not hold: its place and a clause that says what is wrong with it.
struct Misfit {
  std::int64_t flat = 0;  // -1: the tensor as a whole
  std::string what;       // "is 0.3, which is no bf16 value (the nearest is 0.30078125)"
};

/// The first element that is no value of `declared`. `real` holds every number; `bool` holds only booleans.
std::optional<Misfit> misfit(const Tensor&, const Type& declared);

/// errors: Error naming the input, the first offending index, its value and the nearest value of the declared type.
void require_representable(const Tensor&, const Type& declared, std::string_view name);

/// The same elements with `declared` as their type (converted where the bits mean another format). Needs representable elements.
Tensor as_declared(Tensor, const Type& declared);

/// A double next to an exact decimal or fraction ("0.3", "3/10"), and whether it is that very number.
struct CloseDouble {
  double value = 0;
  bool exact = false;
};
CloseDouble close_double(std::string_view text);

}  // namespace erx
