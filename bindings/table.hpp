// Rows of cells as aligned text; the last column is not padded.
//   Table t;  t.add({"bf16", "8"});  std::cout << t.text();
#pragma once
#include <string>
#include <vector>

namespace erx {

class Table {
 public:
  void add(std::vector<std::string> row) { rows_.push_back(std::move(row)); }
  std::string text() const;

 private:
  std::vector<std::vector<std::string>> rows_;
};

}  // namespace erx
