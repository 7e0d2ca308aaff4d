// One side of a matrix sum: lines (rows of A, columns of B) of terms, as exact doubles with strides.
// Several products are one product of matrices laid side by side: A @ B - C @ D is [A, -C] @ [B; D], whose leaves are those of both.
//   MatrixOperand a = matrix_operand(engine, sum, false);   a.values[a.offset(batch) + i * a.line + k * a.term]
#pragma once
#include "eval/engine.hpp"

namespace erx {

struct MatrixOperand {
  const Doubles* values = nullptr;
  const FlagBytes* flags = nullptr;  // nullptr: all 0
  std::int64_t line = 0, term = 0;   // strides in elements
  Extents batch_extents, batch_strides;
  std::int64_t lines = 0, depth = 0;
  bool negative = false;  // the whole product is subtracted

  std::int64_t offset(std::int64_t batch) const;

  std::shared_ptr<const Doubles> own_values;  // of several terms
  std::shared_ptr<const FlagBytes> own_flags;
};

/// The terms of `sum` that are products of matrices; `right`: their second factors.
MatrixOperand matrix_operand(const Engine&, const SumNode& sum, bool right);

}  // namespace erx
