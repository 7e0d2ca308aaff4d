#include "ops/op.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <map>

#include "ops/complex.hpp"
#include "ops/families.hpp"
#include "ops/row.hpp"

namespace erx {

Op make_row(const Row& r, Gather gather) {
  if (r.name.empty() || r.doc.empty() || r.source.empty()) throw Bug("an op row needs a name, a doc line and a source");
  Op op;
  op.name = r.name;
  op.symbol = r.symbol;
  op.doc = r.doc;
  op.source = r.source;
  op.gather = gather;
  op.operands_min = r.operands;
  op.operands_max = r.operands_max ? r.operands_max : r.operands;
  op.type = r.type;
  op.shape = r.shape;
  op.view = r.view;
  op.element = r.element;
  op.freedom = r.freedom;
  op.alternatives = r.alternatives;
  op.is_rational = r.rational;
  op.arithmetic = r.arithmetic || r.function;
  op.is_function = r.function;
  op.open_ends = r.open_ends;
  op.is_product = r.product;
  op.is_choice = r.choice;
  op.selects = r.selects;
  op.rounds_operand = r.rounds;
  op.sum_role = r.sum_role;
  op.empty = r.empty;
  op.is_prefix = r.prefix;
  op.is_whole = r.whole;
  op.complex = r.complex;
  return op;
}

std::span<const Op* const> all_ops() {
  static const std::vector<const Op*> rows = [] {
    std::vector<const Op*> all;
    for (auto family : {families::source(), families::elementwise(), families::comparison(), families::integers(), families::functions(),
                        families::rounding(), families::approximate(), families::casts(), families::reduce(), families::sum(), families::linalg(), families::scan(), families::loop(), families::layout(),
                        families::composed(), families::complex()})
      all.insert(all.end(), family.begin(), family.end());
    return all;
  }();
  return rows;
}

const Op* find_op(std::string_view name) {
  static const std::map<std::string_view, const Op*> by_name = [] {
    std::map<std::string_view, const Op*> names;
    for (const Op* op : all_ops())
      if (!names.emplace(op->name, op).second) throw Bug("two rows named " + std::string(op->name));
    return names;
  }();
  const auto found = by_name.find(name);
  return found == by_name.end() ? nullptr : found->second;
}

const Op& op(std::string_view name) {
  if (const Op* found = find_op(name)) return *found;
  throw Bug("no op named " + std::string(name));
}

View View::contiguous(const Extents& extents) { return {extents, contiguous_strides(extents), 0}; }

namespace {

std::string count_of(int n) { return std::to_string(n) + (n == 1 ? " operand" : " operands"); }

void check_count(const Op& op, std::size_t n) {
  const int given = static_cast<int>(n);
  if (given >= op.operands_min && (op.operands_max < 0 || given <= op.operands_max)) return;
  const std::string name = op.symbol.empty() ? std::string(op.name) : std::string(op.symbol);
  std::string wanted = count_of(op.operands_min);
  if (op.operands_max < 0)
    wanted = "at least " + wanted;
  else if (op.operands_max != op.operands_min)
    wanted = std::to_string(op.operands_min) + " to " + count_of(op.operands_max);
  throw RuleBroken{name + " takes " + wanted + ", found " + std::to_string(given)};
}

/// A literal, or the negation of one, if it is a double exactly.
std::optional<double> written_value(const Graph& g, const Node& node) {
  static const Op* const literal = find_op("literal");
  static const Op* const neg = find_op("neg");
  static const Op* const broadcast = find_op("broadcast");
  if (node.op == broadcast) return written_value(g, g[node.operands[0]]);  // zeros, ones, full
  if (node.op == neg) {  // "-1" is written so
    const auto inner = written_value(g, g[node.operands[0]]);
    return inner ? std::optional(-*inner) : std::nullopt;
  }
  if (node.op != literal) return {};
  const std::string& text = node.attributes.text;
  double x = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), x);
  if (error != std::errc() || end != text.data() + text.size()) return {};
  if (std::isfinite(x) && compare(Exact::literal(text), Exact::exact(x)) != Comparison::equal) return {};
  return x;
}

bool holds(const Type& t, double x) {
  if (t.is_integer()) return std::isfinite(x) && std::trunc(x) == x;
  if (!t.is_floating()) return false;
  if (std::isnan(x)) return t.format.has_nan();
  if (std::isinf(x)) return t.format.has_infinity() && (x > 0 || t.format.has_sign);
  return is_value(t.format, x);
}

/// The type that a literal takes beside operands of other types.
Type beside(const Graph& g, const Node& node, const std::vector<Type>& others) {
  if (!node.type.is_real()) return node.type;
  const auto x = written_value(g, node);
  if (!x) return node.type;
  for (const Type& t : others)
    if (holds(t, *x)) return t.is_integer() ? Type::integer() : t.part();
  return node.type;
}

/// The mask of a reduction says of each element whether it is there.
void check_mask(const Type& type, const Shape& mask, const Shape& masked) {
  if (!type.is_boolean()) throw RuleBroken{"a mask has to be bool, found " + to_string(type), 1, "compare it, as in x where x > 0"};
  const auto both = broadcast(masked, mask);
  if (!both || *both != masked)
    throw RuleBroken{"the mask of shape " + to_string(mask) + " does not broadcast to " + to_string(masked), 1, to_string(mask)};
}

}  // namespace

NodeId build(Graph& g, const Op& op, std::vector<NodeId> operands, Attributes attributes, Span span) {
  if (op.gather == Gather::composed) throw Bug(std::string(op.name) + " is written out in other rows");
  const std::size_t masks = attributes.masked ? 1 : 0;
  check_count(op, operands.size() - masks);
  if (op.gather == Gather::pair && !g[operands[0]].type.is_complex && !g[operands[1]].type.is_complex) return pair(g, operands[0], operands[1], span);
  for (std::size_t i = 0; i < operands.size(); ++i) {
    if (operands[i] >= g.size()) throw Bug("an operand has to precede its user");
    if (!g[operands[i]].type.is_complex) continue;
    if (op.complex) return op.complex(g, op, operands, attributes, span);
    throw RuleBroken{"`" + std::string(op.symbol.empty() ? op.name : op.symbol) + "` takes real numbers, and this is complex", static_cast<int>(i),
                     "take real(z), imag(z) or abs(z)"};
  }
  return build_plain(g, op, std::move(operands), std::move(attributes), std::move(span));
}

NodeId build_plain(Graph& g, const Op& op, std::vector<NodeId> operands, Attributes attributes, Span span) {
  const std::size_t masks = attributes.masked ? 1 : 0;
  std::vector<Type> types;
  std::vector<Shape> shapes;
  for (NodeId id : operands) {
    types.push_back(g[id].type);
    shapes.push_back(g[id].shape);
  }
  const std::vector<Type> written = types;
  for (std::size_t i = 0; i < operands.size(); ++i) types[i] = beside(g, g[operands[i]], written);

  if (masks) {
    check_mask(types.back(), shapes.back(), shapes.front());
    types.pop_back();
    shapes.pop_back();
  }
  Node node;
  node.op = &op;
  node.type = op.type ? op.type(types, attributes) : Type::real();
  node.shape = shapes.empty() ? attributes.shape : op.shape ? op.shape(shapes, attributes) : Shape{};
  attributes.scales = 0;
  if (op.is_product)
    for (std::size_t i = 0; i < operands.size() && i < 8; ++i)
      if (is_scalar_parameter(g, operands[i])) attributes.scales |= static_cast<std::uint8_t>(1u << i);
  attributes.open_ends = attributes.ulp > 0 && row(g[operands[0]]).open_ends;
  node.freedom = op.freedom && op.freedom(attributes);
  node.operands = std::move(operands);
  node.attributes = std::move(attributes);
  node.span = std::move(span);
  return g.append(std::move(node));
}

NodeId build_input(Graph& g, std::string name, Type type, Shape shape, bool scalar_parameter, Span span) {
  Node node;
  node.op = &op("input");
  node.attributes.text = name;
  node.name = std::move(name);
  node.type = std::move(type);
  node.shape = std::move(shape);
  node.scalar_parameter = scalar_parameter;
  node.span = std::move(span);
  const NodeId id = g.append(std::move(node));
  g.inputs.push_back(id);
  return id;
}

}  // namespace erx
