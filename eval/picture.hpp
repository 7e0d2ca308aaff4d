// Where violations lie, as a picture: the last two axes are rows and columns of cells, each leading index is a panel.
// A cell stands for a bin of elements and holds the largest distance among them; what is larger than the limits is binned, never cut.
//   Picture p = picture_of(report.results[0], {.panels = 12, .rows = 60, .columns = 240});
#pragma once
#include <string>
#include <vector>

#include "eval/check.hpp"

namespace erx {

/// The most that is drawn.
struct PictureLimits {
  std::int64_t panels = 12, rows = 100, columns = 250;
};

struct Panel {
  std::string title;         // "[3, 0]", "[4, 0] to [7, 0]", "" for the only one
  std::vector<float> cells;  // row by row: the largest distance in ulps, 0 where none is outside, infinite for a special value
};

struct Picture {
  std::int64_t rows = 1, columns = 1;            // elements along the last two axes
  std::int64_t row_bin = 1, column_bin = 1;      // elements in a cell
  std::int64_t cell_rows = 1, cell_columns = 1;  // ceil(rows / row_bin), ..
  std::vector<Panel> panels;
  std::vector<double> by_column;  // for each column of cells the mean of log2(1 + distance) over its elements outside; NaN where there are none
  double smallest = 0, largest = 0;  // of the finite distances in cells; 0 if there are none
  bool has_special = false;
};

Picture picture_of(const ResultReport&, const PictureLimits&);

}  // namespace erx
