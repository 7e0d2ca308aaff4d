// Rules of types and shapes, views, and what build() adds.
#include <doctest/doctest.h>

#include <numeric>

#include "ops/gradient.hpp"
#include "tests/ops/support.hpp"

using namespace erx;
using namespace erx::test;

namespace {

Type f(const char* name) { return Type::of(*find_format(name)); }

struct Small {
  Graph g;
  NodeId input(Type type, Shape shape, bool parameter = false) {
    return build_input(g, "x" + std::to_string(g.size()), std::move(type), std::move(shape), parameter);
  }
  NodeId literal(std::string text) {
    Attributes a;
    a.text = std::move(text);
    return build(g, op("literal"), {}, a);
  }
  const Node& call(const char* name, std::vector<NodeId> x, Attributes a = {}) { return g[build(g, op(name), std::move(x), std::move(a))]; }
  std::string message(const char* name, std::vector<NodeId> x, Attributes a = {}) {
    try {
      build(g, op(name), std::move(x), std::move(a));
    } catch (const RuleBroken& broken) {
      return broken.what;
    }
    return "";
  }
};

Attributes axes(std::vector<std::int64_t> list, bool keep = false) {
  Attributes a;
  a.axes = std::move(list);
  a.keepdims = keep;
  return a;
}

const Dim M("M"), N("N"), K("K");

/// Elements of a view in C order, as positions in memory.
std::vector<std::int64_t> positions(const View& v) {
  std::vector<std::int64_t> all;
  const std::int64_t n = size_of(v.extents);
  for (std::int64_t i = 0; i < n; ++i) {
    std::int64_t rest = i, at = v.offset;
    for (std::size_t k = v.extents.size(); k-- > 0;) {
      at += rest % v.extents[k] * v.strides[k];
      rest /= v.extents[k];
    }
    all.push_back(at);
  }
  return all;
}

}  // namespace

TEST_CASE("op rows: complete and without double names") {
  std::map<std::string_view, int> names;
  for (const Op* row : all_ops()) {
    CAPTURE(row->name);
    CHECK(++names[row->name] == 1);
    CHECK_FALSE(row->doc.empty());
    CHECK_FALSE(row->source.empty());
    CHECK(find_op(row->name) == row);
    CHECK(&op(row->name) == row);
    CHECK((row->gather == Gather::view) == (row->view != nullptr));
    CHECK((row->gather == Gather::map || row->gather == Gather::reduce) == bool(row->map));
    CHECK(bool(row->map) == (row->bulk != nullptr));
  }
  CHECK(find_op("no such op") == nullptr);
  CHECK_THROWS_AS(op("no such op"), Bug);
  CHECK(all_ops().size() >= 50);
}

TEST_CASE("op rows: each has a gradient or a reason why none") {
  for (const Op* row : all_ops()) {
    if (row->gather == Gather::composed) continue;
    CAPTURE(row->name);
    const GradientRule& rule = gradient_of(*row);
    const bool has_formula = rule.formula != nullptr;
    CHECK(has_formula == rule.why_none.empty());
    CHECK(rule.why_none.find("is known") == std::string_view::npos);
    if (row->freedom) CHECK_FALSE(has_formula);
  }
}

TEST_CASE("types: exact results are real, choices keep a format, literals join") {
  Small s;
  const NodeId b = s.input(f("bf16"), {M}), h = s.input(f("f16"), {M}), w = s.input(f("f32"), {M}), i = s.input(Type::integer(8), {M}),
               m = s.input(Type::boolean(), {M}), e = s.input(f("f8e8m0fnu"), {M});
  CHECK(s.call("add", {b, b}).type == Type::real());
  CHECK(s.call("add", {i, i}).type == Type::integer());
  CHECK(s.call("add", {i, m}).type == Type::integer());
  CHECK(s.call("add", {i, s.literal("1")}).type == Type::integer());
  CHECK(s.call("add", {i, s.literal("0.5")}).type == Type::real());
  CHECK(s.call("div", {i, i}).type == Type::real());
  CHECK(s.call("lt", {b, h}).type == Type::boolean());
  CHECK(s.call("maximum", {b, w}).type == f("f32"));
  CHECK(s.call("maximum", {b, h}).type == Type::real());
  CHECK(s.call("maximum", {b, s.literal("0")}).type == f("bf16"));
  CHECK(s.call("maximum", {b, s.literal("0.1")}).type == Type::real());
  CHECK(s.call("maximum", {s.input(f("f64"), {}), s.literal("0.1")}).type == Type::real());
  CHECK(s.call("maximum", {s.input(f("f64"), {}), s.literal("0.5")}).type == f("f64"));
  CHECK(s.call("where", {m, b, s.literal("-inf")}).type == f("bf16"));
  CHECK(s.call("where", {m, s.input(f("f8e4m3fn"), {M}), s.literal("-inf")}).type == Type::real());
  CHECK(s.call("where", {m, m, m}).type == Type::boolean());
  CHECK(s.call("neg", {b}).type == f("bf16"));
  CHECK(s.call("neg", {e}).type == Type::real());
  CHECK(s.call("neg", {i}).type == Type::integer());
  CHECK(s.call("max", {b}, axes({0})).type == f("bf16"));
  CHECK(s.call("sum", {b}, axes({0})).type == Type::real());
  CHECK(s.call("sum", {m}, axes({0})).type == Type::integer());
  CHECK(s.call("exp", {b}).type == Type::real());
  Attributes r;
  r.format = *find_format("bf16");
  CHECK(s.call("round", {w}, r).type == f("bf16"));
  CHECK(s.call("acc", {w}, r).type == f("bf16"));
  CHECK(s.call("within", {w}, r).type == Type::real());
  CHECK(s.message("where", {b, b, b}) == "the condition of where has to be bool, found bf16");
  CHECK(s.message("and", {m, b}) == "a condition has to be bool, found bf16");
  CHECK(s.message("maximum", {m, b}) == "bool and bf16 have no common type");
  CHECK(s.message("round", {m}, r) == "a bool cannot be rounded");
  CHECK(s.message("exp", {b, b}) == "exp takes 1 operand, found 2");
  CHECK(s.message("any_of", {}) == "any_of takes at least 1 operand, found 0");
}

TEST_CASE("shapes: messages name both dimensions") {
  Small s;
  const NodeId a = s.input(Type::real(), {M, K}), b = s.input(Type::real(), {K, N}), v = s.input(Type::real(), {K}),
               x = s.input(Type::real(), {});
  const NodeId batch = s.input(Type::real(), {Dim(7), Dim(1), K, N}), other = s.input(Type::real(), {Dim(5), M, K});
  CHECK(to_string(s.call("matmul", {a, b}).shape) == "[M, N]");
  CHECK(to_string(s.call("matmul", {a, v}).shape) == "[M]");
  CHECK(to_string(s.call("matmul", {v, b}).shape) == "[N]");
  CHECK(to_string(s.call("matmul", {v, v}).shape) == "[]");
  CHECK(to_string(s.call("matmul", {other, batch}).shape) == "[7, 5, M, N]");
  CHECK(to_string(s.call("matmul", {v, batch}).shape) == "[7, 1, N]");
  CHECK(s.message("matmul", {b, b}).find("the inner dimensions of @ differ: N and K") == 0);
  CHECK(s.message("matmul", {a, x}).find("@ needs at least one dimension") == 0);
  CHECK(s.message("matmul", {s.input(Type::real(), {Dim(2), M, K}), other}).find("differ") != std::string::npos);
  CHECK(s.message("add", {a, s.input(Type::real(), {N})}) == "shapes [M, K] and [N] do not broadcast: K and N differ");
  CHECK(to_string(s.call("add", {a, v}).shape) == "[M, K]");
  CHECK(to_string(s.call("sum", {batch}, axes({0, 3})).shape) == "[1, K]");
  CHECK(to_string(s.call("sum", {batch}, axes({0, 3}, true)).shape) == "[1, 1, K, 1]");
  CHECK(s.message("max", {v}, axes({1})).find("axis 1 is out of range") == 0);
  CHECK(s.message("max", {batch}, axes({1, 1})).find("axis 1 is out of range (or repeated)") == 0);
  Attributes r;
  r.shape = {K * M};
  CHECK(to_string(s.call("reshape", {a}, r).shape) == "[K*M]");
  CHECK(s.message("reshape", {b}, r).find("reshape changes the number of elements") == 0);
  CHECK(to_string(s.call("transpose", {batch}, axes({3, 0, 1, 2})).shape) == "[N, 7, 1, K]");
  CHECK(s.message("transpose", {a}, axes({0, 0})).find("transpose needs every axis") == 0);
  r.shape = {Dim(3), M, K};
  CHECK(to_string(s.call("broadcast", {a}, r).shape) == "[3, M, K]");
  r.shape = {M, Dim(3)};
  CHECK(s.message("broadcast", {a}, r).find("does not broadcast to [M, 3]") != std::string::npos);
}

TEST_CASE("views: elements where NumPy has them") {
  Small s;
  const NodeId x = s.input(Type::real(), {Dim(3), Dim(4)});
  const View whole = View::contiguous({3, 4});
  const auto view = [&](const char* name, Attributes a) {
    const Node& node = s.call(name, {x}, std::move(a));
    const auto v = op(name).view(whole, node);
    REQUIRE(v);
    CHECK(v->extents == extents_of(node.shape));
    return *v;
  };
  CHECK(positions(view("transpose", axes({1, 0}))) == std::vector<std::int64_t>{0, 4, 8, 1, 5, 9, 2, 6, 10, 3, 7, 11});
  Attributes a;
  using Slices = std::vector<Slice>;
  const auto range = Slice::Kind::range;
  a.slices = Slices{{Slice::Kind::index, 1, 1, 0}, {range, 3, -2, 2}};
  CHECK(positions(view("index", a)) == std::vector<std::int64_t>{7, 5});
  a.slices = Slices{{Slice::Kind::new_axis, 0, 1, 0}, {range, 1, 1, 2}};
  CHECK(positions(view("index", a)) == std::vector<std::int64_t>{4, 5, 6, 7, 8, 9, 10, 11});
  a.slices = Slices{{range, 0, -1, -1}, {Slice::Kind::index, 0, 1, 0}};
  CHECK(positions(view("index", a)) == std::vector<std::int64_t>{8, 4, 0});
  a.slices = Slices{{range, 2, 1, 0}};
  CHECK(positions(view("index", a)).empty());
  a.slices = Slices{{Slice::Kind::index, 3, 1, 0}};
  CHECK(s.message("index", {x}, a) == "index 3 is out of range for axis 0 of shape [3, 4]");
  a.slices = Slices(3, Slice{range, 0, 1, 1});
  CHECK(s.message("index", {x}, a) == "too many indices for shape [3, 4]");
  Attributes b;
  b.shape = {Dim(2), Dim(3), Dim(4)};
  const View repeated = view("broadcast", b);
  CHECK(positions(repeated).size() == 24);
  CHECK(positions(repeated)[13] == 1);
}

TEST_CASE("views: reshape of any strides keeps C order or asks for a copy") {
  Doubles random(20260110);
  int kept = 0, copied = 0;
  for (int round = 0; round < 4000; ++round) {
    View v;
    std::int64_t n = 1;
    const std::size_t rank = random.bits() % 4;
    for (std::size_t k = 0; k < rank; ++k) {
      v.extents.push_back(static_cast<std::int64_t>(1 + random.bits() % 4));
      n *= v.extents.back();
    }
    v.strides = contiguous_strides(v.extents);
    for (std::size_t k = 0; k + 1 < rank; ++k)
      if (random.bits() % 3 == 0) std::swap(v.extents[k], v.extents[k + 1]), std::swap(v.strides[k], v.strides[k + 1]);
    if (rank && random.bits() % 3 == 0) v.strides[random.bits() % rank] *= -1;
    if (rank && random.bits() % 4 == 0) v.strides[random.bits() % rank] = 0;  // broadcast
    // random factors of n, with ones strewn in
    Shape to;
    for (std::int64_t rest = n; rest > 1;) {
      std::int64_t d = static_cast<std::int64_t>(1 + random.bits() % static_cast<std::uint64_t>(rest));
      if (rest % d != 0) continue;
      to.push_back(Dim(d));
      rest /= d;
    }
    if (random.bits() % 3 == 0) to.insert(to.begin(), Dim(1));
    Small s;
    Attributes a;
    a.shape = to;
    const Node& node = s.call("reshape", {s.input(Type::real(), shape_of(v.extents))}, a);
    const auto r = op("reshape").view(v, node);
    if (!r) {
      ++copied;
      continue;
    }
    ++kept;
    CHECK(positions(*r) == positions(v));
  }
  CHECK(kept > 1000);
  CHECK(copied > 100);
}

TEST_CASE("build: scales, freedom and order of operands") {
  Small s;
  const NodeId alpha = s.input(Type::real(), {}, true), x = s.input(f("bf16"), {M});
  CHECK(s.call("mul", {alpha, x}).attributes.scales == 1);
  CHECK(s.call("mul", {x, alpha}).attributes.scales == 2);
  CHECK(s.call("mul", {s.literal("2"), x}).attributes.scales == 0);
  CHECK(s.call("add", {alpha, x}).attributes.scales == 0);
  CHECK(s.call("any_of", {x, x}).freedom);
  CHECK_FALSE(s.call("add", {x, x}).freedom);
  Attributes r;
  r.format = *find_format("f32");
  CHECK_FALSE(s.call("round", {x}, r).freedom);
  r.rounding.mode = Mode::sr;
  CHECK(s.call("round", {x}, r).freedom);
  r.rounding = {};
  CHECK(s.call("acc", {x}, r).freedom);
  r.order.kind = OrderKind::seq;
  r.contraction = Contraction::never;
  CHECK_FALSE(s.call("acc", {x}, r).freedom);
  const NodeId free = build(s.g, op("any_of"), {x});
  CHECK(s.g.has_freedom(build(s.g, op("neg"), {free})));
  CHECK_FALSE(s.g.has_freedom(x));
  CHECK(s.g.inputs.size() == 2);
  CHECK(s.g[alpha].scalar_parameter);
  CHECK_THROWS_AS(build(s.g, op("neg"), {NodeId{9999}}), Bug);
}
