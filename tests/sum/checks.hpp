// The checks that the tests run once, and the planted mistakes one by one.
// Each returns the first legal execution that a rule leaves out, or nothing.
#pragma once
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "ir/format.hpp"

namespace erx::test {

struct Figures {
  long cases = 0, values = 0;
  struct Width {
    double sum = 0, largest = 0;
    long count = 0, needless = 0, single = 0;  // needless: wide sets of sums that have one result in every execution
  };
  std::map<std::string, Width> widths;  // of each rule, sums that may be flushed apart
  std::string rule;                     // whose widths are being measured; empty: none
  Width* width(bool flushes = false) { return rule.empty() ? nullptr : &widths[rule + (flushes ? ", ftz" : "")]; }
};

struct Check {
  std::string name;
  std::optional<std::string> (*run)(int effort, Figures&);
};

const std::vector<Check>& order_checks();   // ops: enumerated executions in small formats
const std::vector<Check>& tensor_core_checks();
const std::vector<Check>& bound_checks();  // ops: approx and the casts, counted out
const std::vector<Check>& chain_checks();   // eval: sums in sequence, in segments, against one addition after another
const std::vector<Check>& line_checks();    // eval: sums along lines, in vectors, against exact sums
const std::vector<Check>& enclosed_checks();  // eval: sums of enclosures and reductions, in vectors, against exact sums and multiple precision
const std::vector<Check>& matrix_checks();  // eval: products of matrices against exact sums

}  // namespace erx::test
