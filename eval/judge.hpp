// One element of a result against one output: is it allowed, how many values are, how far away is it, and how is the set written.
// Of a complex result the parts are judged together: one alternative has to hold both.
//   Judge judge(sets, how);   judge.covers(i, {1.5});   judge.allowed(i)   // "{1.5} or [2, 2.5]"
#pragma once
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "eval/member_counter.hpp"
#include "eval/set_tensor.hpp"
#include "ir/format.hpp"
#include "ops/num/f64.hpp"

namespace erx {

/// How an output is compared with a result.
struct OutputRule {
  std::optional<Format> store = {};      // the result is rounded into it first
  std::optional<Format> counted = {};    // members are counted in its values
  std::optional<Format> members = {};    // set: an output has to be a value of it
};

/// An element of an output.
struct Got {
  double re, im = 0;
};

/// Steps to the nearest allowed value, infinite for a special value; of a complex one in each part, to the alternative where the
/// larger of the two is least.
struct Distance {
  double re, im = 0;
  double ulps() const { return re > im ? re : im; }
};

class Judge {
 public:
  /// `steps`: the format that distances are counted in; none: plain differences.
  Judge(const SetTensor& sets, const OutputRule& how, const std::optional<Format>& steps, bool signed_zero)
      : sets_(sets), members_(how.members), steps_(steps), signed_zero_(signed_zero), counter_(how.counted) {}

  bool covers(std::size_t i, const Got&) const;
  double count(std::size_t i) const;  // of allowed values
  std::string allowed(std::size_t i) const;
  Distance distance(std::size_t i, const Got&) const;
  Distance distance(const Set<F64>& re, const Set<F64>* im, const Got&) const;

  /// Is every set one interval of numbers, and special values, whatever the sign of a zero?
  bool is_simple() const { return sets_.planes.size() == 1 && !is_complex() && !signed_zero_ && !members_; }
  /// A block of such sets, without branches where nothing is outside.
  void check_simple(std::int64_t first, std::span<const double> values, double& members, std::vector<std::int64_t>& outside) const;

 private:
  const SetTensor& sets_;
  std::optional<Format> members_, steps_;
  bool signed_zero_;
  MemberCounter counter_;

  bool is_complex() const { return !sets_.imag.empty(); }
  bool holds(const Set<F64>&, double) const;
  double away(const Set<F64>&, double) const;
  double numbers(const Set<F64>&) const;
};

/// "1.5", of a complex number "1.5-2j".
std::string got_text(const Got&, bool is_complex);

}  // namespace erx
