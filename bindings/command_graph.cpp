// erx graph: a spec as canonical text, or as DOT.
#include <iostream>

#include "bindings/arguments.hpp"
#include "bindings/call.hpp"
#include "bindings/commands.hpp"
#include "ir/print.hpp"

namespace erx {

namespace {

// Inputs give the graph of a call; without them dimensions keep their names.
std::shared_ptr<const Graph> graph_of(const Spec& spec, const std::vector<std::string>& in) {
  if (!in.empty()) return make_call(spec, read_inputs(spec, in)).graph;
  if (auto graph = spec.checked_graph()) return graph;
  throw Error("the graph of a bare expression or a generic spec depends on its inputs: give them with --in");
}

}  // namespace

int graph_command(const GraphArguments& arguments) {
  const LoadedSpec loaded = load_spec(arguments.spec);
  std::string text;
  if (arguments.dot) text = to_dot(*graph_of(loaded.spec(), arguments.in));
  else if (arguments.in.empty()) text = loaded.spec().canonical_text();
  else text = to_list(*graph_of(loaded.spec(), arguments.in));
  std::cout << text << (text.ends_with('\n') ? "" : "\n");
  return covered;
}

}  // namespace erx
