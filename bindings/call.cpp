#include "bindings/call.hpp"

#include <functional>

#include "eval/bind.hpp"

namespace erx {
namespace {

// A 1-element array of shape () and a number are alike to a declared type; only extents tell a scalar parameter.
Tensor fitted(Tensor t, const std::optional<Type>& declared, const std::string& name) {
  if (!declared) return t;
  require_representable(t, *declared, name);
  return as_declared(std::move(t), *declared);
}

}  // namespace

Binding binding_of(const Tensor& t) {
  Binding b{t.type, t.extents};
  if (!t.extents.empty() || t.is_complex()) return b;
  if (t.storage == Storage::rational) {
    const CloseDouble x = close_double(t.text);
    if (x.exact) b.value = x.value;
  } else {
    b.value = t.at(0);
  }
  return b;
}

std::optional<Type> declared_type(const Spec& spec, const std::string& name) {
  for (const Parameter& p : spec.parameters)
    if (p.name == name) return p.type;
  return {};
}

namespace {

Call call_with(const Spec& spec, std::map<std::string, Tensor> arguments, const std::function<std::shared_ptr<const Graph>(const std::map<std::string, Binding>&)>& lower) {
  std::map<std::string, Binding> bindings;
  for (auto& [name, tensor] : arguments) {
    tensor = fitted(std::move(tensor), declared_type(spec, name), name);
    bindings[name] = binding_of(tensor);
  }
  Call call{lower(bindings), {}};
  for (const NodeId id : call.graph->inputs) {
    const Node& input = (*call.graph)[id];
    const auto found = arguments.find(input.attributes.text);
    if (found == arguments.end()) throw Bug("the graph has an input `" + input.attributes.text + "` that is not bound");
    // A generic parameter gets its type from the spec only now.
    call.inputs.push_back(fitted(found->second, input.type, input.attributes.text));
  }
  return call;
}

}  // namespace

Call make_call(const Spec& spec, std::map<std::string, Tensor> arguments) {
  return call_with(spec, std::move(arguments), [&](const auto& bindings) { return spec.lower(bindings); });
}

Call make_call(const Spec& spec, std::map<std::string, Tensor> arguments, const Syntax& expression, const std::string& result) {
  return call_with(spec, std::move(arguments), [&](const auto& bindings) { return spec.lower_variant(expression, result, bindings); });
}

Tensor as_output(const Graph& graph, const Result& result, Tensor output) {
  const Type& type = result.declared ? *result.declared : graph[result.node].type;
  if (!type.is_floating() || !output.type.is_floating() || type.is_complex != output.type.is_complex || misfit(output, type)) return output;
  return as_declared(std::move(output), type);
}

std::string result_name(const std::string& name) { return name.empty() ? "output" : name; }

}  // namespace erx
