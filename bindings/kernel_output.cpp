#include "bindings/kernel_output.hpp"

#include <cmath>
#include <limits>
#include <optional>

#include "bindings/call.hpp"
#include "bindings/hull.hpp"
#include "eval/bind.hpp"
#include "eval/number_text.hpp"
#include "ir/error.hpp"
#include "ops/execution.hpp"

namespace erx {
namespace {

/// The one value that the planes hold at `i`; none where they hold several, or one that is no double.
std::optional<double> single(const std::vector<Plane>& planes, std::size_t i) {
  std::optional<double> value;
  for (const Plane& p : planes) {
    const std::uint8_t flags = p.flags ? (*p.flags)[i] : 0, special = flags & (has_nan | any_infinity);
    double x = 0;
    if (flags & no_reals) {
      if (special == 0) continue;  // this plane has no value here
      if (special != has_nan && special != has_pinf && special != has_ninf) return {};
      const double infinity = std::numeric_limits<double>::infinity();
      x = special == has_nan ? std::numeric_limits<double>::quiet_NaN() : special == has_pinf ? infinity : -infinity;
    } else {
      x = (*p.lo_d)[i];
      if (special || (*p.lo_u)[i] != x || (*p.hi_d)[i] != x || (*p.hi_u)[i] != x) return {};
      if (x == 0) x = flags & has_pzero || !(flags & has_nzero) ? 0.0 : -0.0;
    }
    if (value && !(*value == x || (std::isnan(*value) && std::isnan(x)))) return {};
    value = x;
  }
  return value;
}

Tensor tensor_of(const SetTensor& sets, const Type& type, const ExampleLine& line) {
  const auto part = [&](const std::vector<Plane>& planes) {
    std::vector<double> values(static_cast<std::size_t>(sets.size()));
    for (std::size_t i = 0; i < values.size(); ++i) {
      const auto x = single(planes, i);
      const auto flat = static_cast<std::int64_t>(i);
      if (!x) {
        Diagnostic d{line.span, "this expression has several values, or none that is a double", ""};
        d.label = "element " + index_text(unravel(flat, sets.extents)) + " is " + element_text(sets, flat);
        throw Error(std::move(d).note({}, "one execution is taken of sums, roundings and any_of; tensor_core is a bound that names none, and a cast of what does not fit stays free: write the order, or a wrap"));
      }
      values[i] = *x;
    }
    return Tensor::of(type.is_real() ? Type::of(*find_format("f64")) : type.part(), sets.extents, values);
  };
  if (!type.is_complex) return part(sets.planes);
  return as_declared(Tensor::complex(part(sets.planes), part(sets.imag)), type);
}

}  // namespace

std::vector<Tensor> kernel_outputs(const Spec& spec, const ExampleLine& line, const std::map<std::string, Tensor>& inputs, const EvaluateOptions& options) {
  const std::string result = line.kind == ExampleLine::Kind::mutant ? "" : line.name;
  Call call = make_call(spec, inputs, *line.expression, result);
  Evaluation evaluation(std::make_shared<const Graph>(one_execution(*call.graph)), std::move(call.inputs), options);
  std::vector<Tensor> outputs;
  for (std::size_t i = 0; i < evaluation.graph().results.size(); ++i) {
    const Result& r = evaluation.graph().results[i];
    outputs.push_back(tensor_of(evaluation.result(i), r.declared.value_or(evaluation.graph()[r.node].type), line));
  }
  return outputs;
}

}  // namespace erx
