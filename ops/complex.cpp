// Complex numbers as pairs, and the rows that make them and take them apart.
#include "ops/complex.hpp"

#include "ops/arithmetic.hpp"
#include "ops/families.hpp"
#include "ops/row.hpp"

namespace erx {
namespace {

const Op& pair_op() {
  static const Op& row = op("complex");
  return row;
}
const Op& real_op() {
  static const Op& row = op("real");
  return row;
}
const Op& imag_op() {
  static const Op& row = op("imag");
  return row;
}

bool is_written_pair(const Node& n) { return n.op == &pair_op() && n.name.empty(); }

NodeId zeros(Graph& g, const Shape shape, const Span& at) {  // a copy: that of a node would move as the graph grows
  Attributes zero;
  zero.text = "0";
  const NodeId id = build_plain(g, op("literal"), {}, zero, at);
  if (shape.empty()) return id;
  Attributes as;
  as.shape = shape;
  return build_plain(g, op("broadcast"), {id}, as, at);
}

NodeId of_shape(Graph& g, NodeId id, const Shape shape, const Span& at) {
  if (g[id].shape == shape) return id;
  Attributes as;
  as.shape = shape;
  return build_plain(g, op("broadcast"), {id}, as, at);
}

NodeId part(Graph& g, NodeId z, const Op& which, const Span& at) {
  Node node;
  node.op = &which;
  node.operands = {z};
  node.type = g[z].type.part();
  node.shape = g[z].shape;
  node.span = at;
  return g.append(std::move(node));
}

NodeId make(Graph& g, const char* name, std::vector<NodeId> operands, const Span& at) { return build_plain(g, op(name), std::move(operands), {}, at); }

}  // namespace

bool is_scalar_parameter(const Graph& g, NodeId id) {
  const Node& n = g[id];
  return n.scalar_parameter || ((n.op == &real_op() || n.op == &imag_op()) && g[n.operands[0]].scalar_parameter);
}

ComplexParts parts_of(Graph& g, NodeId z, const Span& at) {
  if (!g[z].type.is_complex) return {z, zeros(g, g[z].shape, at)};
  if (is_written_pair(g[z])) return {g[z].operands[0], g[z].operands[1]};
  return {part(g, z, real_op(), at), part(g, z, imag_op(), at)};
}

NodeId pair(Graph& g, NodeId re, NodeId im, const Span& at) {
  const std::vector<Shape> both = {g[re].shape, g[im].shape};
  const Shape shape = rules::broadcast_shape(both, {});
  for (int i = 0; i < 2; ++i) {
    if (g[i ? im : re].type.is_boolean()) throw RuleBroken{"a part of a complex number is a number, found bool", i, "use where(m, 1, 0)"};
  }
  return build_plain(g, pair_op(), {of_shape(g, re, shape, at), of_shape(g, im, shape, at)}, {}, at);
}

NodeId as_complex(Graph& g, NodeId x, const Span& at) {
  if (g[x].type.is_complex) return x;
  const auto [re, im] = parts_of(g, x, at);
  return pair(g, re, im, at);
}

namespace on_complex {

NodeId parts(Graph& g, const Op& op, const std::vector<NodeId>& operands, const Attributes& a, const Span& at) {
  std::vector<NodeId> re, im;
  for (NodeId id : operands) {
    const ComplexParts p = g[id].type.is_boolean() ? ComplexParts{id, id} : parts_of(g, id, at);  // a condition is that of both
    re.push_back(p.re);
    im.push_back(p.im);
  }
  const NodeId first = build(g, op, re, a, at), second = build(g, op, im, a, at);
  return pair(g, first, second, at);
}

namespace {

/// The order of the leaves tells orders apart.
bool keeps_order(const Order& order) { return order.kind != OrderKind::any && order.kind != OrderKind::height && order.kind != OrderKind::tensor_core; }

/// x with an axis of length 1: after its last one, or before its last but one.
NodeId with_axis(Graph& g, NodeId x, bool at_end, const Span& at) {
  Attributes a;
  const std::size_t rank = g[x].shape.size();
  for (std::size_t k = 0; k < rank; ++k) {
    if (!at_end && k + 2 == rank) a.slices.push_back({Slice::Kind::new_axis});
    a.slices.push_back({Slice::Kind::range, 0, 1, -1});
  }
  if (at_end) a.slices.push_back({Slice::Kind::new_axis});
  return build_plain(g, op("index"), {x}, std::move(a), at);
}

/// x @ y -+ u @ v as sum(x y -+ u v).
NodeId one_sum(Graph& g, NodeId id, const Span& at) {
  const Node node = g[id];
  bool has_column = false;
  const auto products = [&](NodeId half) {
    NodeId x = g[half].operands[0], y = g[half].operands[1];
    const bool has_row = g[x].shape.size() > 1;
    has_column = g[y].shape.size() > 1;
    if (has_column) x = with_axis(g, x, true, at);
    if (has_row && has_column) y = with_axis(g, y, false, at);
    return build_plain(g, op("mul"), {x, y}, {}, at);
  };
  const NodeId first = products(node.operands[0]), second = products(node.operands[1]);
  const NodeId both = build_plain(g, row(node), {first, second}, {}, at);
  Attributes over;
  over.axes = {static_cast<std::int64_t>(g[both].shape.size()) - 1 - has_column};
  return build_plain(g, op("sum"), {both}, std::move(over), at);
}

/// Of a sum that goes in order, products of complex matrices, (p @ q - r @ s, p @ s + r @ q), take both their products in turn.
ComplexParts in_turn(Graph& g, const ComplexParts& z, const Span& at) {
  const Node re = g[z.re], im = g[z.im];
  const auto is_chain = [](const Node& n) { return n.name.empty() && (row(n).sum_role == SumRole::plus || row(n).sum_role == SumRole::minus); };
  if (!is_chain(re) || !is_chain(im)) return z;
  const auto is_product = [&](NodeId k) { return g[k].name.empty() && row(g[k]).sum_role == SumRole::contraction; };
  const std::vector<NodeId>&a = re.operands, &b = im.operands;
  if (row(re).sum_role == SumRole::minus && row(im).sum_role == SumRole::plus && is_product(a[0]) && is_product(a[1]) && is_product(b[0]) && is_product(b[1])) {
    const auto &pq = g[a[0]].operands, &rs = g[a[1]].operands;
    if (g[b[0]].operands == std::vector<NodeId>{pq[0], rs[1]} && g[b[1]].operands == std::vector<NodeId>{rs[0], pq[1]})
      return {one_sum(g, z.re, at), one_sum(g, z.im, at)};
  }
  if (re.op != im.op) return z;
  const ComplexParts x = in_turn(g, {a[0], b[0]}, at), y = in_turn(g, {a[1], b[1]}, at);
  const auto chain = [&](const Node& n, NodeId id, NodeId left, NodeId right) {
    return left == n.operands[0] && right == n.operands[1] ? id : build_plain(g, row(n), {left, right}, n.attributes, at);
  };
  return {chain(re, z.re, x.re, y.re), chain(im, z.im, x.im, y.im)};
}

}  // namespace

NodeId accumulated(Graph& g, const Op& op, const std::vector<NodeId>& operands, const Attributes& a, const Span& at) {
  if (!keeps_order(a.order)) return parts(g, op, operands, a, at);
  const ComplexParts z = in_turn(g, parts_of(g, operands[0], at), at);
  const NodeId re = build(g, op, {z.re}, a, at), im = build(g, op, {z.im}, a, at);
  return pair(g, re, im, at);
}

NodeId product(Graph& g, const Op& op, const std::vector<NodeId>& operands, const Attributes& a, const Span& at) {
  const NodeId x = operands[0], y = operands[1];
  const auto times = [&](NodeId p, NodeId q) { return build(g, op, {p, q}, a, at); };
  if (!g[x].type.is_complex || !g[y].type.is_complex) {
    const bool left = g[x].type.is_complex;
    const ComplexParts z = parts_of(g, left ? x : y, at);
    const NodeId re = left ? times(z.re, y) : times(x, z.re), im = left ? times(z.im, y) : times(x, z.im);
    return pair(g, re, im, at);
  }
  const ComplexParts p = parts_of(g, x, at), q = parts_of(g, y, at);
  const NodeId rr = times(p.re, q.re), ii = times(p.im, q.im), ri = times(p.re, q.im), ir = times(p.im, q.re);
  const NodeId re = make(g, "sub", {rr, ii}, at), im = make(g, "add", {ri, ir}, at);
  return pair(g, re, im, at);
}

NodeId quotient(Graph& g, const Op& op, const std::vector<NodeId>& operands, const Attributes& a, const Span& at) {
  const NodeId x = operands[0], y = operands[1];
  const ComplexParts p = parts_of(g, x, at);
  if (!g[y].type.is_complex) {
    const NodeId re = build(g, op, {p.re, y}, a, at), im = build(g, op, {p.im, y}, a, at);
    return pair(g, re, im, at);
  }
  const ComplexParts q = parts_of(g, y, at);
  const auto sum = [&](const char* how, NodeId s, NodeId t, NodeId u, NodeId v) {
    const NodeId left = make(g, "mul", {s, t}, at), right = make(g, "mul", {u, v}, at);
    return make(g, how, {left, right}, at);
  };
  const NodeId square = sum("add", q.re, q.re, q.im, q.im);
  const NodeId above = sum("add", p.re, q.re, p.im, q.im), beside = sum("sub", p.im, q.re, p.re, q.im);
  const NodeId re = build(g, op, {above, square}, a, at), im = build(g, op, {beside, square}, a, at);
  return pair(g, re, im, at);
}

namespace {

NodeId joined(Graph& g, const Op& op, const char* how, const std::vector<NodeId>& operands, const Attributes& a, const Span& at) {
  const ComplexParts p = parts_of(g, operands[0], at), q = parts_of(g, operands[1], at);
  const NodeId re = build(g, op, {p.re, q.re}, a, at), im = build(g, op, {p.im, q.im}, a, at);
  return make(g, how, {re, im}, at);
}

}  // namespace

NodeId both(Graph& g, const Op& op, const std::vector<NodeId>& operands, const Attributes& a, const Span& at) {
  return joined(g, op, "and", operands, a, at);
}

NodeId either(Graph& g, const Op& op, const std::vector<NodeId>& operands, const Attributes& a, const Span& at) {
  return joined(g, op, "or", operands, a, at);
}

NodeId magnitude(Graph& g, const Op&, const std::vector<NodeId>& operands, const Attributes&, const Span& at) {
  const ComplexParts p = parts_of(g, operands[0], at);
  return make(g, "hypot", {p.re, p.im}, at);
}

NodeId choice(Graph& g, const Op& op, const std::vector<NodeId>& operands, const Attributes& a, const Span& at) {
  std::vector<NodeId> alternatives;
  for (NodeId id : operands) {
    const auto [re, im] = parts_of(g, id, at);
    alternatives.push_back(pair(g, re, im, at));
  }
  return build_plain(g, op, alternatives, a, at);
}

namespace {

NodeId real_part(Graph& g, const Op&, const std::vector<NodeId>& operands, const Attributes&, const Span& at) {
  const NodeId z = operands[0];
  return is_written_pair(g[z]) ? g[z].operands[0] : part(g, z, real_op(), at);
}

NodeId imaginary_part(Graph& g, const Op&, const std::vector<NodeId>& operands, const Attributes&, const Span& at) {
  const NodeId z = operands[0];
  return is_written_pair(g[z]) ? g[z].operands[1] : part(g, z, imag_op(), at);
}

NodeId conjugate(Graph& g, const Op&, const std::vector<NodeId>& operands, const Attributes&, const Span& at) {
  const ComplexParts p = parts_of(g, operands[0], at);
  return pair(g, p.re, make(g, "neg", {p.im}, at), at);
}

}  // namespace
}  // namespace on_complex

namespace families {
namespace {

Type complex_type(std::span<const Type> types, const Attributes&) {
  return Type::complex(join(types[0], types[1]));
}

/// A real number is its own real part and its own conjugate.
struct Itself {
  template <class R>
  static Set<R> of(Operands<R> x, const Attributes&, Context) {
    return x[0];
  }
};

struct Zero {
  template <class R>
  static Set<R> of(Operands<R>, const Attributes&, Context c) {
    return Set<R>::point(R::exact(0, c), has_pzero);
  }
};

Type whole_type(std::span<const Type>, const Attributes&) { return Type::integer(); }  // 0
Type whole_or_same(std::span<const Type> types, const Attributes&) { return types[0].is_boolean() ? Type::integer() : types[0]; }

/// sqrt(x*x + y*y): increasing in |x| and |y|.
struct Hypot {
  template <class R>
  static Set<R> of(Operands<R> x, const Attributes&, Context c) {
    SetBuilder<R> r;
    r.flag(undecided_of(x));
    const auto spoils = [&](int nan, int other) { return x[nan].may_be(has_nan) && (x[other].has_reals() || x[other].may_be(has_nan)); };
    r.flag(has_nan, spoils(0, 1) || spoils(1, 0));
    r.flag(has_pinf, x[0].may_be(any_infinity) || x[1].may_be(any_infinity));
    if (x[0].has_reals() && x[1].has_reals()) {
      const bool point = x[0].is_point && x[1].is_point;
      R lo = length(least(x[0], c), least(x[1], c));
      R hi = point ? lo : length(max_of(abs_of(x[0].lo), abs_of(x[0].hi)), max_of(abs_of(x[1].lo), abs_of(x[1].hi)));
      r.reals(std::move(lo), std::move(hi), point);
      r.zeros(x[0].may_be(any_zero) && x[1].may_be(any_zero), false);
    }
    return r.finish(all_points(x));
  }

 private:
  /// The least magnitude of a set.
  template <class R>
  static R least(const Set<R>& s, Context c) {
    if (s.is_point) return abs_of(s.lo);
    const R low = min_of(abs_of(s.lo), abs_of(s.hi)), none = R::exact(0, c);
    const bool crosses = may_be_below_zero(s.lo) && may_be_above_zero(s.hi);
    const bool surely = !may_be_above_zero(s.lo) && !may_be_below_zero(s.hi);
    return !crosses ? low : surely ? none : either(low, none);
  }
  template <class R>
  static R length(const R& a, const R& b) {
    return sqrt_of(add(mul(a, a), mul(b, b)));
  }
};

}  // namespace

std::span<const Op* const> complex() {
  constexpr std::string_view c_annex = "C 7.3.9";
  static const Op rows[] = {
      make_row({.name = "complex", .doc = "complex(x, y): x + y i", .source = c_annex, .operands = 2, .type = complex_type}, Gather::pair),
      map_row<Itself>({.name = "real", .doc = "real(z): the real part", .source = c_annex, .type = whole_or_same, .complex = on_complex::real_part}),
      map_row<Zero>({.name = "imag", .doc = "imag(z): the imaginary part", .source = c_annex, .type = whole_type, .complex = on_complex::imaginary_part}),
      map_row<Itself>({.name = "conj", .doc = "conj(z): the conjugate", .source = c_annex, .type = whole_or_same, .complex = on_complex::conjugate}),
      map_row<Hypot>({.name = "hypot",
                      .doc = "hypot(x, y): sqrt(x*x + y*y), as abs of a complex number; inf if either is, even beside NaN",
                      .source = "IEEE 754-2019, 9.2",
                      .operands = 2,
                      .rational = false,
                      .function = true}),
  };
  static const std::vector<const Op*> all = pointers(rows);
  return all;
}

}  // namespace families
}  // namespace erx
