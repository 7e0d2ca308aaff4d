// How many values of a format an interval holds: for ends that are values themselves, by their ranks; else count_values.
//   MemberCounter counter(format);   counter(1.0, 2.0)   counter.in_total(lo, hi, n)
#pragma once
#include <cstdint>
#include <optional>

#include "ir/format.hpp"

namespace erx {

/// What the rank of a value among those of its format needs.
struct RankRule {
  double normal = 0, per_step = 0;  // smallest normal; 1 / smallest subnormal
  int shift = 0;                    // unused fraction bits of a double
  std::int64_t first = 0;           // rank of the smallest normal is taken from its bits, less this
};

class MemberCounter {
 public:
  /// Without a format integers are counted.
  explicit MemberCounter(const std::optional<Format>&);

  double operator()(double lo, double hi) const;

  /// Of n intervals together; nothing where an end is not a value of the format.
  std::optional<std::int64_t> in_total(const double* lo, const double* hi, std::size_t n) const;

 private:
  std::optional<Format> format_;
  bool by_ranks_ = false;
  RankRule rule_;
};

}  // namespace erx
