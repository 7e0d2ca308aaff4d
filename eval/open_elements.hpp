// Elements of a panel of a matrix product that the first stage leaves open, and what the second stage reads of them:
// their factors as contiguous lines, and many of them side by side as one row of the rule.
//   OpenRow row;   row.add(element, panel_row, finer_magnitude);   rule(row.row(panel_row), ...)
#pragma once
#include <algorithm>
#include <cstdint>
#include <vector>

#include "eval/matrix_row.hpp"

namespace erx {

/// Lines of a panel, contiguous, copied in groups of a cache line: a strided line by itself costs a miss for each element.
class Lines {
 public:
  Lines(const double* data, std::int64_t lines, std::int64_t line_stride, std::int64_t depth, std::int64_t term_stride)
      : data_(data), lines_(lines), line_stride_(line_stride), depth_(depth), term_stride_(term_stride) {}

  /// Cheap where the calls come in order of `line`, or the lines lie contiguous.
  const double* operator()(std::int64_t line) {
    if (term_stride_ == 1) return data_ + line * line_stride_;
    const std::int64_t group = line / width;
    if (group != group_) copy(group);
    return buffer_.data() + line % width * depth_;
  }

 private:
  static constexpr std::int64_t width = 8;
  const double* data_;
  std::int64_t lines_, line_stride_, depth_, term_stride_, group_ = -1;
  std::vector<double> buffer_;

  void copy(std::int64_t group) {
    group_ = group;
    buffer_.resize(static_cast<std::size_t>(width * depth_));
    const std::int64_t count = std::min(width, lines_ - group * width);
    const double* from = data_ + group * width * line_stride_;
    for (std::int64_t k = 0; k < depth_; ++k)
      for (std::int64_t c = 0; c < count; ++c) buffer_[static_cast<std::size_t>(c * depth_ + k)] = from[c * line_stride_ + k * term_stride_];
  }
};

/// Elements of a panel that wait for the second stage, with the terms beside the product.
struct OpenElement {
  std::int64_t i;
  std::size_t j;
  bool leaf_by_leaf;
  double other, other_magnitude, other_grid;
};

/// Open elements side by side, as one row of the rule: what is the row's there is each element's here.
struct OpenRow {
  std::vector<double> centre, magnitude, norm, grid, other, other_magnitude, other_grid;

  void clear() {
    for (auto* v : {&centre, &magnitude, &norm, &grid, &other, &other_magnitude, &other_grid}) v->clear();
  }
  void add(const OpenElement& e, const MatrixRow& row, double finer_magnitude) {
    centre.push_back(row.centre[e.j]);
    magnitude.push_back(finer_magnitude);
    norm.push_back(row.row_norm * row.norm[e.j]);
    grid.push_back(row.row_grid * row.grid[e.j]);
    other.push_back(e.other);
    other_magnitude.push_back(e.other_magnitude);
    other_grid.push_back(e.other_grid);
  }
  /// `like` any row of the panel, without the terms beside the product.
  MatrixRow row(const MatrixRow& like) const {
    MatrixRow r = like;
    r.columns = centre.size();
    r.centre = centre.data();
    r.magnitude = magnitude.data();
    r.norm = norm.data();
    r.grid = grid.data();
    r.row_norm = r.row_grid = 1;
    return r;
  }
};

}  // namespace erx
