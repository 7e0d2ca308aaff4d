// Exact sums along axes, whole and running.
#include "ops/families.hpp"
#include "ops/row.hpp"

namespace erx::families {

std::span<const Op* const> sum() {
  static const Op sum = make_row({.name = "sum",
                                  .doc = "sum(x, axis=, keepdims=): the exact sum over the axes; of nothing 0",
                                  .source = "IEEE 754-2019, 9.4 (special values)",
                                  .type = rules::arithmetic_type,
                                  .shape = rules::reduced_shape,
                                  .arithmetic = true,
                                  .sum_role = SumRole::reduction,
                                  .complex = on_complex::parts},
                                 Gather::sum);
  static const Op cumsum = make_row({.name = "cumsum",
                                     .doc = "cumsum(x, axis=): element i is the exact sum of those up to i along the axis",
                                     .source = "NumPy cumsum; IEEE 754-2019, 9.4 (special values)",
                                     .type = rules::arithmetic_type,
                                     .shape = rules::prefix_shape,
                                     .arithmetic = true,
                                     .sum_role = SumRole::reduction,
                                     .prefix = true},
                                    Gather::sum);
  static const Op* const rows[] = {&sum, &cumsum};
  return rows;
}

}  // namespace erx::families
