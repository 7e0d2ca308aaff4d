// vjp(E, wrt=x, grad=g): the exact gradient of an exact expression, written out as nodes.
#include "grammar/lower.hpp"
#include "ir/loop.hpp"
#include "ops/gradient.hpp"

namespace erx {

Value Lowering::vjp(const Syntax& s, const Manner& mode) {
  const Span at = span(s);
  Arguments given = arguments(s, {"wrt", "grad"}, 1, 1);
  if (!given.ok) return Value::unknown(at);
  if (mode.kind == Manner::Kind::within) {
    error(Diagnostic{at, "`vjp` is exact: `within` does not say how a kernel computes a gradient", "write its formula, or take it exactly"}.suggest(
        at, "exact(" + std::string(at.text()) + ")"));
    return Value::unknown(at);
  }
  for (const char* needed : {"wrt", "grad"}) {
    if (given.named.count(needed)) continue;
    error({at, "`vjp` needs `" + std::string(needed) + "=`", "as in vjp(E, wrt=x, grad=g)"});
    return Value::unknown(at);
  }
  const Syntax &wrt = *given.named.at("wrt"), &grad = *given.named.at("grad");
  Value e = expression(*given.positional[0], Manner{});
  if (!wrt.is(Form::name)) {
    error({span(wrt), "`wrt` names an input or a `let`", "expected a name"});
    return Value::unknown(at);
  }
  const Value x = expression(wrt, Manner{});
  Value g = expression(grad, Manner{});
  if (e.is_tuple || x.is_tuple || g.is_tuple) error({at, "`vjp` is of single values, not of tuples", ""});
  if (!e.node || !x.node || !g.node) {
    is_complete = false;
    return Value::unknown(at);
  }
  if (graph[*e.node].type.is_boolean()) {
    error({e.at, "a condition has no gradient", "this is bool"});
    return Value::unknown(at);
  }
  const Shape shape = graph[*e.node].shape;
  const auto both = erx::broadcast(graph[*g.node].shape, shape);
  if (!both || *both != shape) {
    error(Diagnostic{g.at, "`grad` has the shape " + to_string(graph[*g.node].shape) + ", and the expression " + to_string(shape), ""}.note(
        e.at, "it has shape " + to_string(shape)));
    return Value::unknown(at);
  }
  Value v = Value::unknown(at);
  if (graph[*g.node].shape != shape) {
    Attributes same;
    same.shape = shape;
    g = view(op("broadcast"), std::move(g), std::move(same), g.at);
  }
  WriteOut loops;  // a loop is differentiated step by step
  loops.names = [&](const std::string& name, std::int64_t) { return unique(name); };
  if (written_out_size(graph, max_nodes) >= max_nodes) {
    error({at, "the loops differentiated here become too large", "more than " + std::to_string(max_nodes) + " operations"});
    return Value::unknown(at);
  }
  e.node = write_out(graph, *e.node, *x.node, loops);
  try {
    v.node = gradient(graph, *e.node, *x.node, *g.node, at);
  } catch (const NoGradient& none) {
    const Node& node = graph[none.node];
    const Span place = node.span ? node.span : e.at;
    error(Diagnostic{place, "`vjp` cannot go through `" + std::string(node.op->name) + "`", std::string(none.why)}.note(
        at, "the gradient with respect to `" + wrt.text + "` is asked for here"));
    return Value::unknown(at);
  } catch (const RuleBroken& rule) {
    broken(rule, {*e.node}, {e.at}, at);
    return Value::unknown(at);
  }
  return one_operation(std::move(v), mode);
}

}  // namespace erx
