// What is added to a product of matrices, row by row of the result: A @ B + C.
//   OtherTerms other(engine, sum, terms, columns);   other.read(batch, i, row);   if (other.is_special(j)) ...
#pragma once
#include <algorithm>
#include <limits>
#include <vector>

#include "eval/engine.hpp"
#include "eval/matrix_row.hpp"
#include "eval/sum_parts.hpp"

namespace erx {

/// The terms beside the product, for one row: their sum, magnitude and grid. A term that is special, or a sum that is not
/// exact in float64, is left to the scalar rule.
class OtherTerms {
 public:
  OtherTerms(const Engine& engine, const SumNode& sum, const std::vector<const Term*>& terms, std::size_t columns)
      : engine_(engine), sum_(sum), terms_(terms), value_(columns), magnitude_(columns), grid_(columns), special_(columns) {}

  void read(std::int64_t batch, std::int64_t row_index, MatrixRow& row) {
    const std::size_t rank = sum_.extents.size();
    for (std::size_t j = 0; j < value_.size(); ++j) {
      F64 total{}, magnitude{};
      double grid = std::numeric_limits<double>::infinity();
      bool special = false;
      for (const Term* t : terms_) {
        const auto factor = [&](const Factor& f) {
          const Plane& p = engine_.stored(f.node).hull;
          std::int64_t at = row_index * f.out_strides[rank - 2] + static_cast<std::int64_t>(j) * f.out_strides[rank - 1], rest = batch;
          for (std::size_t k = rank - 2; k-- > 0;) {
            at += rest % sum_.extents[k] * f.out_strides[k];
            rest /= sum_.extents[k];
          }
          special |= p.flags && ((*p.flags)[static_cast<std::size_t>(at)] & ~any_zero);
          return (*p.lo_d)[static_cast<std::size_t>(at)];
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
  bool is_special(std::size_t j) const { return special_[j]; }

 private:
  const Engine& engine_;
  const SumNode& sum_;
  const std::vector<const Term*>& terms_;
  std::vector<double> value_, magnitude_, grid_;
  std::vector<std::uint8_t> special_;
};

}  // namespace erx
