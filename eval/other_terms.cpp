#include "eval/other_terms.hpp"

#include <algorithm>
#include <bit>
#include <limits>

#include "eval/sum_parts.hpp"
#include "ops/clones.hpp"

namespace erx {
namespace {

ERX_VECTOR_CLONES std::uint8_t any_of_flags(const std::uint8_t* flags, std::size_t n) {
  std::uint8_t found = 0;
  for (std::size_t j = 0; j < n; ++j) found |= flags[j];
  return found;
}

/// returns: the largest residual.
ERX_VECTOR_CLONES double add_rows(const double* centre, double sign, const double* other, std::size_t n, double* out) {
  std::uint64_t most = 0;  // magnitudes are ordered as their bits are
  ERX_INDEPENDENT
  for (std::size_t j = 0; j < n; ++j) {
    const double product = sign * centre[j], s = product + other[j];
    out[j] = s;
    const std::uint64_t lost = std::bit_cast<std::uint64_t>(f64::sum_residual(product, other[j], s)) & 0x7fffffffffffffff;
    most = lost > most ? lost : most;
  }
  return std::bit_cast<double>(most);
}

ERX_VECTOR_CLONES void measure(const double* x, std::size_t n, double* magnitudes, double* grids) {
  for (std::size_t j = 0; j < n; ++j) {
    magnitudes[j] = std::bit_cast<double>(std::bit_cast<std::uint64_t>(x[j]) & 0x7fffffffffffffff);
    grids[j] = lowest_bit(x[j]);
  }
}

}  // namespace

OtherTerms::OtherTerms(const Engine& engine, const SumNode& sum, const std::vector<const Term*>& terms, std::size_t columns)
    : engine_(engine), sum_(sum), terms_(terms), value_(columns), magnitude_(columns), grid_(columns), sums_(columns), special_(columns) {}

std::int64_t OtherTerms::at(const Factor& f, std::int64_t batch, std::int64_t row_index, std::int64_t column) const {
  const std::size_t rank = sum_.extents.size();
  std::int64_t at = row_index * f.out_strides[rank - 2] + column * f.out_strides[rank - 1];
  for (std::size_t k = rank - 2; k-- > 0;) {
    at += batch % sum_.extents[k] * f.out_strides[k];
    batch /= sum_.extents[k];
  }
  return at;
}

void OtherTerms::read(std::int64_t batch, std::int64_t row_index, std::int64_t column, MatrixRow& row) {
  if (const double* const one = values_of_one(batch, row_index, column)) {
    measure(one, value_.size(), magnitude_.data(), grid_.data());
    std::fill(special_.begin(), special_.end(), std::uint8_t{0});
    row.other = one;
    row.other_magnitude = magnitude_.data();
    row.other_grid = grid_.data();
    return;
  }
  for (std::size_t j = 0; j < value_.size(); ++j) {
    F64 total{}, magnitude{};
    double grid = std::numeric_limits<double>::infinity();
    bool special = false;
    for (const Term* t : terms_) {
      const auto factor = [&](const Factor& f) {
        const Plane& p = engine_.stored(f.node).hull;
        const auto place = static_cast<std::size_t>(at(f, batch, row_index, column + static_cast<std::int64_t>(j)));
        special |= p.flags && ((*p.flags)[place] & ~any_zero);
        return (*p.lo_d)[place];
      };
      const double x = factor(t->a);
      F64 leaf = F64::exact(x);
      double leaf_grid = lowest_bit(x);
      if (t->b) {
        const double y = factor(*t->b);
        leaf = mul(leaf, F64::exact(y));
        leaf_grid = product_grid(leaf_grid, lowest_bit(y));
      }
      total = add(total, t->negative ? neg(leaf) : leaf);
      magnitude = add(magnitude, abs_of(leaf));
      grid = std::min(grid, leaf_grid);
    }
    special_[j] = special || total.d != total.u || magnitude.d != magnitude.u;
    value_[j] = total.d;
    magnitude_[j] = magnitude.d;
    grid_[j] = grid;
  }
  row.other = value_.data();
  row.other_magnitude = magnitude_.data();
  row.other_grid = grid_.data();
}

/// What is added to the elements of a row; nullptr where some of it is special.
const double* OtherTerms::values(std::int64_t batch, std::int64_t row_index, std::int64_t column) {
  if (const double* const one = values_of_one(batch, row_index, column)) return one;
  MatrixRow row{};
  read(batch, row_index, column, row);
  return any_of_flags(special_.data(), special_.size()) ? nullptr : value_.data();
}

/// The same where that is one tensor, whose elements lie side by side or are one for the whole row.
const double* OtherTerms::values_of_one(std::int64_t batch, std::int64_t row_index, std::int64_t column) {
  const Term& t = *terms_[0];
  const std::int64_t step = t.a.out_strides.back();
  if (terms_.size() > 1 || t.b || step > 1) return nullptr;
  const Plane& p = engine_.stored(t.a.node).hull;
  const std::int64_t first = at(t.a, batch, row_index, column);
  if (p.flags && (any_of_flags(p.flags->data() + first, step == 0 ? 1 : value_.size()) & ~any_zero)) return nullptr;
  const double* const values = p.lo_d->data() + first;
  if (step == 1 && !t.negative) return values;
  for (std::size_t j = 0; j < value_.size(); ++j) value_[j] = t.negative ? -values[static_cast<std::int64_t>(j) * step] : values[static_cast<std::int64_t>(j) * step];
  return value_.data();
}

const double* OtherTerms::sums(std::int64_t batch, std::int64_t row_index, std::int64_t column, const double* centre, double sign, double& lost) {
  const double* const other = values(batch, row_index, column);
  if (!other) return nullptr;
  lost = add_rows(centre, sign, other, value_.size(), sums_.data());
  return sums_.data();
}

}  // namespace erx
