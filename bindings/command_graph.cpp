// erx graph: a spec as canonical text, or as DOT.
#include <iostream>

#include "bindings/arguments.hpp"
#include "bindings/call.hpp"
#include "bindings/commands.hpp"
#include "ir/print.hpp"

namespace erx {

int graph_command(const GraphArguments& arguments) {
  const LoadedSpec loaded = load_spec(arguments.spec);
  std::string text;
  if (arguments.in.empty() && !arguments.dot) {
    text = loaded.spec().canonical_text();
  } else {
    const Call call = make_call(loaded.spec(), read_inputs(loaded.spec(), arguments.in));
    text = arguments.dot ? to_dot(*call.graph) : to_list(*call.graph);
  }
  std::cout << text << (text.ends_with('\n') ? "" : "\n");
  return covered;
}

}  // namespace erx
