#include "eval/refine.hpp"

#include <cmath>
#include <limits>

#include "ops/clones.hpp"
#include "ops/dot2.hpp"
#include "ops/op.hpp"
#include "ops/planted.hpp"

namespace erx {

ERX_VECTOR_CLONES double magnitude_dot(const double* x, const double* y, std::size_t n) {
  constexpr std::size_t lanes = 16;
  double sum[lanes] = {};
  std::size_t k = 0;
  for (; k + lanes <= n; k += lanes)
    for (std::size_t l = 0; l < lanes; ++l) sum[l] += std::fabs(x[k + l] * y[k + l]);
  double total = 0;
  for (; k < n; ++k) total += std::fabs(x[k] * y[k]);
  for (double s : sum) total += s;
  return total;
}

void magnitude_in_float64(MatrixRow& row, std::size_t depth) {
  const double n = static_cast<double>(depth) + 16;
  row.magnitude_relative = n * 0x1p-53 * (1 + 0x1p-20);
  row.magnitude_absolute = n * 0x1p-1074;
  row.magnitude_may_be_exact = true;
}

std::optional<Set<F64>> refine(MatrixRow one, const double* x, const double* y, std::size_t depth, bool rounds, const MatrixRowRule& rule) {
  const double n = static_cast<double>(depth) + 16;
  double magnitude;
  if (rounds && !one.magnitude_may_be_exact) {  // it came from float32
    magnitude = magnitude_dot(x, y, depth);
    one.magnitude = &magnitude;
    magnitude_in_float64(one, depth);
  }
  const double centre = dot2(x, y, depth);
  one.users_round = false;
  one.centre = &centre;
  one.relative = n * n * 0x1p-104;
  one.absolute += std::fabs(centre) * 0x1p-52;
  double lo_d, lo_u, hi_d, hi_u;
  std::uint8_t flags, hard;
  rule(one, &lo_d, &lo_u, &hi_d, &hi_u, &flags, &hard);
  if (hard) return {};
  return Set<F64>::between(F64{lo_d, lo_u}, F64{hi_d, hi_u}, flags);
}

std::optional<Set<F64>> rounded_to_double(const MatrixRow& one, const double* x, const double* y, std::size_t depth) {
  const double norm = one.row_norm * one.norm[0];
  if (!(norm < std::numeric_limits<double>::infinity())) return {};
  const double n = static_cast<double>(depth) + 16;
  const Doubled sum = dot2_pair(x, y, depth);
  if (!rounds_to_high(sum, planted(Mistake::doubles_without_error) ? 0 : norm * n * n * 0x1p-104 + 2 * one.absolute)) return {};
  return Set<F64>::point(F64::exact(one.negative ? -sum.high : sum.high));
}

bool rounds_to_double(const Node& node) {
  const Format& f = *node.attributes.format;
  const Rounding& r = node.attributes.rounding;
  return f.precision() == 53 && f.emax() == 1023 && f.has_subnormals && r.mode == Mode::rne && r.flush == Flush::no;
}

}  // namespace erx
