// One element of a result against one output: is it allowed, how many values are, how far away is it, and how is the set written.
// Of a complex result the parts are judged together: one alternative has to hold both.
//   Judge judge(sets, how);   judge.covers(i, {1.5});   judge.allowed(i)   // "{1.5} or [2, 2.5]"
#pragma once
#include <optional>
#include <string>
#include <vector>

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

/// count_values (ops/rounding.hpp) for ends that are values of the format, by bits.
class MemberCounter {
 public:
  explicit MemberCounter(const std::optional<Format>& format) : format_(format) {
    if (!format) return;
    const Format& f = *format;
    by_bits_ = f.has_sign && f.has_subnormals && f.has_zero && f.emin() - f.fraction_bits >= -1000;
    if (!by_bits_) return;
    normal_ = f.min_normal();
    per_step_ = 1 / f.min_positive();
    shift_ = 52 - f.fraction_bits;
    first_ = (std::int64_t{1023 + f.emin() - 1}) << f.fraction_bits;
  }

  double operator()(double lo, double hi) const {
    if (!format_) return std::floor(hi) - std::ceil(lo) + 1;
    if (!by_bits_ || !is_value(lo) || !is_value(hi)) return count_values(*format_, lo, hi);
    return static_cast<double>(rank(hi) - rank(lo) + 1);
  }

 private:
  std::optional<Format> format_;
  bool by_bits_ = false;
  double normal_ = 0, per_step_ = 0;
  int shift_ = 0;
  std::int64_t first_ = 0;

  bool is_value(double x) const {
    const double a = std::fabs(x);
    if (a < normal_) return a * per_step_ == std::floor(a * per_step_);
    return (std::bit_cast<std::uint64_t>(x) & ((std::uint64_t{1} << shift_) - 1)) == 0;
  }
  std::int64_t rank(double x) const {
    const double a = std::fabs(x);
    const std::int64_t r = a < normal_ ? static_cast<std::int64_t>(a * per_step_)
                                       : static_cast<std::int64_t>(std::bit_cast<std::uint64_t>(a) >> shift_) - first_;
    return x < 0 ? -r : r;
  }
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

  /// Is every set of the block one interval of numbers?
  bool is_plain(std::int64_t first, std::int64_t count) const;
  /// Such a block, without branches: sets of one value count one, the few wider ones are listed and counted.
  void check_plain(std::int64_t first, const std::vector<double>& values, double& members, std::vector<std::int64_t>& outside) const;

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
