// erx check: is this output possible under the spec?
#include <iostream>

#include "bindings/arguments.hpp"
#include "bindings/call.hpp"
#include "bindings/commands.hpp"
#include "bindings/files.hpp"
#include "bindings/plot.hpp"
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

void require_svg(const std::string& path) {
  if (path.empty() || path.ends_with(".svg")) return;
  throw Error("--plot `" + path + "` has to end in .svg: the command draws no other pictures" +
              (path.ends_with(".png") || path.ends_with(".pdf") ? " (from Python, report.plot() draws with matplotlib, which saves as " + path.substr(path.size() - 4) + " too)" : ""));
}

}  // namespace

int check_command(const CheckArguments& arguments) {
  require_svg(arguments.plot);
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
  if (!arguments.plot.empty() && report.applicable) write_file(arguments.plot, to_svg(report));
  return !report.applicable ? inapplicable : report.ok() ? covered : violated;
}

}  // namespace erx
