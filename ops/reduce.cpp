// Reductions that combine two elements at a time, in any order: exact, so the order does not show.
#include <limits>

#include "ops/arithmetic.hpp"
#include "ops/families.hpp"
#include "ops/logic.hpp"
#include "ops/row.hpp"

namespace erx::families {

using namespace rules;

std::span<const Op* const> reduce() {
  constexpr double inf = std::numeric_limits<double>::infinity();
  static const Op rows[] = {
      map_row<Maximum>({.name = "max",
                        .doc = "max(x, axis=, keepdims=): NaN if any is; of nothing -inf",
                        .source = "IEEE 754-2019, 9.6",
                        .type = same_type,
                        .shape = reduced_shape,
                        .empty = -inf},
                       Gather::reduce),
      map_row<Minimum>({.name = "min",
                        .doc = "min(x, axis=, keepdims=): NaN if any is; of nothing inf",
                        .source = "IEEE 754-2019, 9.6",
                        .type = same_type,
                        .shape = reduced_shape,
                        .empty = inf},
                       Gather::reduce),
      map_row<Mul>({.name = "prod",
                    .doc = "prod(x, axis=, keepdims=): the exact product; of nothing 1",
                    .source = "IEEE 754-2019, 9.4",
                    .type = arithmetic_type,
                    .shape = reduced_shape,
                    .arithmetic = true,
                    .empty = 1},
                   Gather::reduce),
      map_row<Or>({.name = "any",
                   .doc = "any(x, axis=, keepdims=): of nothing false",
                   .source = "logic",
                   .type = logic_type,
                   .shape = reduced_shape,
                   .empty = 0},
                  Gather::reduce),
      map_row<And>({.name = "all",
                    .doc = "all(x, axis=, keepdims=): of nothing true",
                    .source = "logic",
                    .type = logic_type,
                    .shape = reduced_shape,
                    .empty = 1},
                   Gather::reduce),
  };
  static const std::vector<const Op*> all = pointers(rows);
  return all;
}

}  // namespace erx::families
