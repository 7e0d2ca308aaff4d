// What a spec returns has to be what it declares: the number of values, their types and shapes.
#include <cmath>

#include "grammar/lower.hpp"
#include "grammar/words.hpp"

namespace erx {
namespace {

/// The integers that a node may be, as far as the types of its inputs tell; nothing if they do not.
std::optional<Set<Exact>> range_of(const Graph& graph, NodeId root) {
  std::vector<std::optional<Set<Exact>>> known(root + 1);
  const Exact one = Exact::exact(1);
  const auto between = [](double lo, const Exact& hi) { return Set<Exact>::between(Exact::exact(lo), hi, has_pzero); };
  for (NodeId id = 0; id <= root; ++id) {
    const Node& node = graph[id];
    const Op& op = row(node);
    const auto number = node.op == &erx::op("literal") && node.type.is_real() ? Exact::literal(node.attributes.text) : Exact::unknown();
    if (node.type.is_boolean()) {
      known[id] = between(0, one);
    } else if (node.type.is_integer() && node.type.bits > 0) {
      const int bits = node.type.bits - (node.type.is_signed ? 1 : 0);
      known[id] = between(node.type.is_signed ? -std::ldexp(1.0, bits) : 0, sub(Exact::exact(std::ldexp(1.0, bits)), one));
    } else if (number.is_known()) {
      known[id] = Set<Exact>::point(number, compare(number, Exact()) == Comparison::equal ? has_pzero : 0);
    } else if (op.gather == Gather::view) {
      known[id] = known[node.operands[0]];
    } else if (op.gather == Gather::map && op.is_rational && !node.operands.empty()) {
      std::vector<Set<Exact>> operands;
      for (NodeId o : node.operands)
        if (known[o]) operands.push_back(*known[o]);
      if (operands.size() != node.operands.size() || node.attributes.format) continue;
      const Set<Exact> s = op.map.exact(operands, node.attributes, {});
      if (s.has_reals() && !s.may_be(has_nan | any_infinity) && is_exact(s.lo) && is_exact(s.hi)) known[id] = s;
    }
  }
  return known[root];
}

bool fits(const Graph& graph, NodeId id, const Type& type) {
  const auto range = range_of(graph, id);
  if (!range || !type.is_integer() || type.bits == 0) return false;
  const int bits = type.bits - (type.is_signed ? 1 : 0);
  const Exact least = Exact::exact(type.is_signed ? -std::ldexp(1.0, bits) : 0), past = Exact::exact(std::ldexp(1.0, bits));
  return compare(range->lo, least) != Comparison::less && compare(range->hi, past) == Comparison::less;
}

}  // namespace

void Lowering::give_one(const Declared& declared, const Value& given) {
  const Value v = declared.type && !given.is_tuple ? as_declared(given, *declared.type) : given;
  if (v.is_tuple) {
    Diagnostic d{v.at, "a tuple where one result is declared", "several are declared by names, as in -> (y: f32[N], z: f32[N])"};
    if (declared.span) std::move(d).note(declared.span, "declared here");
    error(std::move(d));
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
    const bool is_value = number && want.is_floating() && holds_literal(want.format, graph[*number].attributes.text);
    if (!is_value && !(node.type.is_integer() && fits(graph, *v.node, want))) {
      const std::string found = is_complex(v) && !want.is_complex ? "complex" : node.type.is_real() ? "not rounded" : to_string(node.type);
      Diagnostic d{v.at, "the result is " + found + ", and " + to_string(want) + " is declared", "expected " + to_string(want)};
      if (declared.span) std::move(d).note(declared.span, "declared here");
      if (want.is_floating() && !node.type.is_boolean() && (want.is_complex || !is_complex(v))) {
        std::move(d).suggest(v.at, "round<" + want.format.name + ">(" + std::string(v.at.text()) + ")");
      }
      if (want.is_integer() && want.bits > 0 && node.type.is_integer()) {
        std::move(d).suggest(v.at, "wrap<" + to_string(want) + ">(" + std::string(v.at.text()) + ")");
      } else if (want.is_integer() && want.bits > 0 && !node.type.is_boolean()) {
        d.notes.push_back({{}, "cast<" + to_string(want) + "> truncates, saturate<" + to_string(want) + "> rounds and cuts, wrap<" + to_string(want) +
                                   "> keeps the low bits"});
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
