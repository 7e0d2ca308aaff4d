// Is this output possible under the spec? Every element that is not, with its place and distance.
//   Report r = check(evaluation, {output});   r.ok(), r.text()
#pragma once
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "eval/evaluate.hpp"
#include "eval/finding.hpp"
#include "eval/tensor.hpp"

namespace erx {

struct CheckOptions {
  std::optional<Tensor> where;   // bool mask; elements where it is false are not checked
  bool signed_zero = false;
  std::size_t show = 5;          // violations listed in the text
};

struct Interval {
  double lo, hi;
};

/// One output that the spec forbids.
struct Violation {
  std::vector<std::int64_t> index;
  std::string got;                  // shortest text that reads back as the same value
  std::string allowed;              // "{1.5}", "[1.5, 1.75] or {2}", "NaN"
  double ulps = 0;                  // distance to the nearest allowed value in ulps of the output format; infinite for a special value
  int nearest = 0;                  // which alternative came closest, counted from 0 (-1: only one)
  std::vector<double> parts = {};   // of a complex value: its distance in the real and in the imaginary part
};

struct ResultReport {
  std::string name;                 // of the result; "" for the only one
  std::shared_ptr<const Graph> graph;  // of the spec, for the texts that are written when they are read
  NodeId node = 0;                     // the result there
  Type type;                        // of the output
  Extents extents;
  std::int64_t checked = 0;
  std::int64_t violations = 0;
  std::vector<Violation> first;     // at most `show`
  std::vector<Finding> findings;    // where the violations lie, what their distances and values show, and what that is consistent with
  std::vector<std::string> alternatives;  // names of the alternatives of a top-level any_of
  std::vector<std::int64_t> outside;  // flat indices of all violations
  std::vector<float> distances;       // of each, in ulps; infinite for a special value
  double max_ulps = 0;
  double tightness = 0;             // mean number of allowed values of the output format per element (1: a single value)

  std::string spec() const;                  // its expression as canonical text
  std::vector<std::string> sources() const;  // where the errors of approximate functions come from (src=), each once
};

struct Report {
  std::string run;                  // the labelled choices under which this holds; "" without labels
  bool applicable = true;           // false: an `assume` fails, and nothing was checked
  std::string assumption;           // that one
  std::vector<ResultReport> results;
  Counters counters;
  double seconds = 0;

  bool ok() const;
  std::int64_t violations() const;
  std::string text() const;
};

/// `outputs` in the order of the results. errors: Error for a shape or dtype that cannot be an output.
Report check(Evaluation&, const std::vector<Tensor>& outputs, const CheckOptions& = {});

/// Per element of output i: is it covered? Nothing is where an `assume` fails.
std::vector<bool> covers(Evaluation&, std::size_t i, const Tensor& output, const CheckOptions& = {});

}  // namespace erx
