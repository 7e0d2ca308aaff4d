// The results of one call, evaluated when they are first asked for: what er.Result stands on.
// A group is shared by the results of a tuple, so that a labelled choice is one choice for all of them.
//   Group g(results, "gemm");   g.check({out}, options, {});   g.hull(0)
#pragma once
#include <pybind11/numpy.h>
#include <pybind11/pybind11.h>

#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "bindings/composition.hpp"
#include "bindings/prepared_call.hpp"
#include "eval/check.hpp"

namespace erx {

class Group {
 public:
  Group(std::vector<PieceResult> results, std::string name);
  /// Of a call whose inputs are all data, in the order of its graph: pieces are made when they are asked for.
  Group(std::shared_ptr<const PreparedCall>, std::vector<Tensor> inputs);

  std::size_t size() const;
  const std::string& name(std::size_t i) const;
  bool is_declared(std::size_t i) const;
  const Node& node(std::size_t i) const;  // its type and shape

  const std::vector<PieceResult>& results() const;
  std::string text() const;  // canonical `.erx` text

  /// The same results, evaluated in another way: for tests, whose verdicts may not depend on it.
  std::shared_ptr<Group> evaluated_by(const EvaluateOptions& how) const;

  /// `compute`: the format of every `within`, or none. `outputs` one for each result.
  Report check(std::vector<Tensor> outputs, const CheckOptions& options, const std::optional<Format>& compute);
  pybind11::array covers(std::size_t i, Tensor output, const CheckOptions& options, const std::optional<Format>& compute);

  /// (lo, hi, flags) of result i: float64, or int64 for integers and bool for booleans; flags as in ops/num/set.hpp.
  pybind11::tuple hull(std::size_t i);

 private:
  struct Evaluated;
  std::shared_ptr<Evaluated> evaluated(const std::optional<Format>& compute);

  std::shared_ptr<const PreparedCall> call_;
  std::vector<Tensor> inputs_;  // of the call
  std::uint64_t age_ = 0;       // of its pieces: they count as made with it, whenever they are
  mutable std::vector<PieceResult> results_;
  std::string name_;
  EvaluateOptions how_;
  std::map<std::string, std::shared_ptr<Evaluated>> evaluated_;  // by the compute format's name
};

}  // namespace erx
