// What a spec returns has to be what it declares: the number of values, their types and shapes.
#include "grammar/lower.hpp"
#include "grammar/words.hpp"

namespace erx {

void Lowering::give_one(const Declared& declared, const Value& v) {
  if (v.is_tuple) {
    error({v.at, "a tuple where one result is declared", ""});
    return;
  }
  if (!v.node) {
    is_complete = false;
    return;
  }
  const Node& node = graph[*v.node];
  if (declared.type && !contains(*declared.type, node.type)) {
    const Type& want = *declared.type;
    const auto number = literal_leaf(*v.node);
    const bool fits = number && want.is_floating() && holds_literal(want.format, graph[*number].attributes.text);
    if (!fits) {
      const std::string found = node.type.is_real() ? "not rounded" : to_string(node.type);
      Diagnostic d{v.at, "the result is " + found + ", and " + to_string(want) + " is declared", "expected " + to_string(want)};
      if (declared.span) std::move(d).note(declared.span, "declared here");
      if (want.is_floating() && !node.type.is_boolean()) {
        std::move(d).suggest(v.at, "round<" + want.format.name + ">(" + std::string(v.at.text()) + ")");
      }
      error(std::move(d));
      return;
    }
  }
  if (declared.shape && !(*declared.shape == node.shape)) {
    Diagnostic d{v.at, "the result has shape " + to_string(node.shape) + ", and " + to_string(*declared.shape) + " is declared",
                 "has shape " + to_string(node.shape)};
    if (declared.span) std::move(d).note(declared.span, "declared here");
    note_dims(d, {*v.node});
    error(std::move(d));
    return;
  }
  graph.results.push_back({declared.name, *v.node, declared.type});
}

void Lowering::give(const Syntax& list, const Value& v) {
  if (results.size() == 1 && !(v.is_tuple && v.parts.size() == 1)) {
    give_one(results[0], v);
    return;
  }
  if (!v.is_tuple) {
    if (v.node) {
      error(Diagnostic{v.at, "one value, and " + std::to_string(results.size()) + " results are declared", "return a tuple, as in (a, b)"}
                .note(span(list), "declared here"));
    }
    is_complete = false;
    return;
  }
  if (v.parts.size() != results.size()) {
    error(Diagnostic{v.at, std::to_string(v.parts.size()) + " values, and " + std::to_string(results.size()) + " results are declared", ""}
              .note(span(list), "declared here"));
    return;
  }
  for (std::size_t i = 0; i < results.size(); ++i) give_one(results[i], v.parts[i]);
}

}  // namespace erx
