// erx check: is this output possible under the spec?
#include <iostream>

#include "bindings/arguments.hpp"
#include "bindings/call.hpp"
#include "bindings/commands.hpp"
#include "bindings/files.hpp"
#include "bindings/readers.hpp"
#include "bindings/report_json.hpp"
#include "bindings/session.hpp"
#include "eval/check.hpp"

namespace erx {
namespace {

CheckOptions options_of(const CheckArguments& arguments) {
  CheckOptions options;
  if (!arguments.where.empty()) {
    options.where = read_tensor(arguments.where, {});
    if (!options.where->type.is_boolean()) throw Error("--where `" + arguments.where + "` is " + describe(*options.where) + ", not a mask of booleans");
  }
  options.signed_zero = arguments.signed_zero;
  options.show = arguments.show;
  return options;
}

void write_json(const std::string& path, const Report& report) {
  if (path == "-") std::cout << to_json(report);
  else if (!path.empty()) write_file(path, to_json(report));
}

}  // namespace

int check_command(const CheckArguments& arguments) {
  const LoadedSpec loaded = load_spec(arguments.spec);
  Call call = make_call(loaded.spec(), read_inputs(loaded.spec(), arguments.in));
  const std::vector<Tensor> outputs = read_outputs(*call.graph, arguments.out);
  const CheckOptions options = options_of(arguments);
  Session session(arguments.evaluation);
  Evaluation evaluation(call.graph, std::move(call.inputs), session.options());
  const Report report = check(evaluation, outputs, options);
  session.clear();
  if (arguments.json != "-") {
    const std::string text = report.text();
    std::cout << text << (text.ends_with('\n') ? "" : "\n");
  }
  write_json(arguments.json, report);
  return !report.applicable ? inapplicable : report.ok() ? covered : violated;
}

}  // namespace erx
