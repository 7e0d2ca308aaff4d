// One result against one output: sections are added one by one, then the report tells what lies outside and what that is consistent with.
//   ResultCheck check(evaluation, 0, output, options);   check.add(Section{}, sets);   ResultReport r = check.counted();
#pragma once
#include "eval/check.hpp"
#include "eval/judge.hpp"
#include "eval/parts.hpp"

namespace erx {

class ResultCheck {
 public:
  /// The output outlives this. errors: Error for a shape or dtype that cannot be an output.
  ResultCheck(const Evaluation&, std::size_t result, const Tensor& output, const CheckOptions&);

  const std::optional<Format>& store() const { return how_.store; }
  /// Compares the output with the sets of one section.
  void add(const Section&, const SetTensor&);

  /// After all sections: what was counted and what is outside.
  ResultReport counted();
  /// The same with texts, alternatives and findings. `k`: the place of the result among those of `parts`.
  ResultReport explained(Evaluation::Parts& parts, std::size_t k);

 private:
  const Evaluation* evaluation_;
  const Tensor* output_;
  const CheckOptions* options_;
  Tensor re_, im_;
  OutputRule how_;
  std::optional<Format> format_;  // of the output
  std::vector<std::uint8_t> mask_;  // nonzero: is checked; empty: all are
  double members_ = 0;
  ResultReport report_;

  Got got(std::int64_t flat) const;
  Judge judge(const SetTensor&) const;
  Violation violation(Evaluation::Parts& parts, std::size_t k, std::int64_t flat);
};

}  // namespace erx
