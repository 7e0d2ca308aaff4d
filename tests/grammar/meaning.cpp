// What texts mean: the graph that each construct becomes, in canonical text.
#include <doctest/doctest.h>

#include "helpers.hpp"
#include "ir/loop.hpp"
#include "ir/print.hpp"

using namespace erx;
using namespace erx::test;

namespace {

const std::vector<std::string> abc = {"a=f32[2,2]", "b=f32[2,2]", "c=f32[2,2]"};

std::string means(const std::string& text, std::vector<std::string> inputs = abc) {
  const auto program = parse(text);
  std::vector<std::string> used;
  for (const auto& p : program->spec().parameters) {
    for (const auto& i : inputs) {
      if (i.rfind(p.name + "=", 0) == 0) used.push_back(i);
    }
  }
  return to_erx(*program->spec().lower(bindings(used)));
}

int count(const std::string& text, const std::string& what) {
  int n = 0;
  for (std::size_t at = text.find(what); at != text.npos; at = text.find(what, at + 1)) ++n;
  return n;
}

}  // namespace

TEST_CASE("in: each arithmetic operation written inside rounds once") {
  CHECK(means("in f32 { a * b + c }") == "round<f32>(round<f32>(a * b) + c)");
  CHECK(means("in bf16 { round<bf16>(a) }") == "round<bf16>(a)");
  CHECK(means("in f32 { -a }") == "-a");
  CHECK(means("in f32 { abs(a) }") == "abs(a)");
  CHECK(means("in f32 { where(a < b, a, 0.1) }") == "where(a < b, a, 0.1)");
  CHECK(means("in f32 { maximum(a, max(b)) }") == "maximum(a, max(b))");
  CHECK(means("in f32 { a.T[0, :] }") == "a.T[0, :]");
  CHECK(means("in f32 { a @ b }") == "round<f32>(a @ b)");
  CHECK(means("in f32 { sum(a) / 3 }") == "round<f32>(round<f32>(sum(a)) / 3)");
  CHECK(means("in f32 { mean(a) }") == "round<f32>(sum(a) / 4)");
  CHECK(means("in f32 { 1 / 3 * a }") == "round<f32>(round<f32>(1 / 3) * a)");
  CHECK(means("in f32 { exact(a * b) + c }") == "round<f32>(a * b + c)");
  CHECK(means("in f32 { bf16(a * b) + c }") == "round<f32>(round<bf16>(round<f32>(a * b)) + c)");
  CHECK(means("in f32 { acc<f32>(a @ b + c) * a }") == "round<f32>(acc<f32>(a @ b + c) * a)");
  CHECK(means("in f32, ulp=2 { exp(a) }") == "approx<f32, ulp=2>(exp(a))");
  CHECK(means("in f32, ftz { a * b }") == "round<f32, ftz>(a * b)");
  CHECK(means("in f32 { exp(a) }") == "round<f32>(exp(a))");
  CHECK(means("in f64 { in f32 { a * b } + c }") == "round<f64>(round<f32>(a * b) + c)");
  CHECK(parse("spec f(x: f32[N]) -> f32[N] { return in f32 { exp(x) } }")->warnings.size() == 1);
  CHECK(parse("spec f(x: f32[N]) -> f32[N] { return in f32, ulp=1 { exp(x) } }")->warnings.empty());
}

TEST_CASE("in: a name wider than the format is refused, wherever it reaches an operation") {
  const std::vector<std::string> wide = {"x=f64[2]", "y=f32[2]", "alpha=real", "n=i32[2]"};
  for (const char* text :
       {"in f32 { x * y }", "in f32 { y + -x }", "in f32 { where(y > 0, x, y) * y }", "in f32 { abs(x) + y }", "in f32 { alpha * y }",
        "in f32 { x }", "in f32 { let t = y * y; t * x[0] }", "in f32 { any_of(x, y) * y }", "in f32 { maximum(x, y) * y }"}) {
    INFO(text);
    CHECK(mistakes(text, {"x=f64[2]", "y=f32[2]", "alpha=real"}).find("wider than f32") ==
          std::string::npos);  // the unused inputs are the mistake
    CHECK_THROWS_WITH_AS(means(text, wide), doctest::Contains("wider than f32"), Error);
  }
  CHECK(means("in f32 { f32(x) * y }", wide) == "round<f32>(round<f32>(x) * y)");
  CHECK(means("in f32 { exact(x * x) + y }", wide) == "round<f32>(x * x + y)");
  CHECK(means("in f32 { where(x > 0, y, y) * y }", wide) == "round<f32>(where(x > 0, y, y) * y)");
  CHECK(means("in f32 { y * 2 ** 3 }", wide) == "round<f32>(y * round<f32>(2**3))");
}

TEST_CASE("contract: each product that feeds an addition, either of two, never through a let") {
  CHECK(means("in f32, contract { a * b + c }") == "any_of(round<f32>(round<f32>(a * b) + c), round<f32>(a * b + c))");
  CHECK(means("in f32, contract { c - a * b }") == "any_of(round<f32>(c - round<f32>(a * b)), round<f32>(c - a * b))");
  CHECK(means("in f32, contract { a * b + b * c }") ==
        "any_of(round<f32>(round<f32>(a * b) + round<f32>(b * c)), round<f32>(a * b + round<f32>(b * c)), round<f32>(round<f32>(a * b) + b "
        "* c))");
  CHECK(means("in f32, contract { -(a * b) + c }") == "any_of(round<f32>(-round<f32>(a * b) + c), round<f32>(-(a * b) + c))");
  CHECK(means("in f32, contract { (a * b).T + c }") == "any_of(round<f32>(round<f32>(a * b).T + c), round<f32>((a * b).T + c))");
  CHECK(means("in f32, contract { let t = a * b; t + c }") == "let t = round<f32>(a * b);\nround<f32>(t + c)");
  CHECK(means("in f32, contract { (a + b) * c }") == "round<f32>(round<f32>(a + b) * c)");
  CHECK(means("in f32, contract { exact(a * b) + c }") == "round<f32>(a * b + c)");
  CHECK(means("in f32, contract { bf16(a * b) + c }") == "round<f32>(round<bf16>(round<f32>(a * b)) + c)");
  CHECK(means("in f32, contract { a / b + c }") == "round<f32>(round<f32>(a / b) + c)");
  CHECK(means("in f32 { a * b + c }") == "round<f32>(round<f32>(a * b) + c)");
  // a chain: every addition has its own choice
  CHECK(count(means("in f32, contract { a * b + b * c + c * a + a }"), "any_of") == 2);
  // the operands of the alternatives are shared nodes
  const auto g = lower("in f32, contract { a * b + c }", abc);
  CHECK(g->size() == 3 + 1 + 1 + 2 + 2 + 1);
}

TEST_CASE("acc: the sum is exact, its leaves are what the text says") {
  CHECK(means("acc<f32>(a @ b + c - sum(a * b))") == "acc<f32>(a @ b + c - sum(a * b))");
  CHECK(means("acc<f32>(dot(a, b))") == "acc<f32>(a @ b)");
  CHECK(means("acc<f32>(round<f32>(a * b) * c + 0.5)") == "acc<f32>(round<f32>(a * b) * c + 0.5)");
  CHECK_THROWS_AS(means("acc<f32>(a + 0.3)"), Error);
  CHECK_THROWS_AS(means("acc<bf16>(a + b)"), Error);
  CHECK_THROWS_AS(means("acc<f32>(a + exp(b))"), Error);
  CHECK_THROWS_AS(means("acc<f32>(a + -(b * c))"), Error);
  CHECK(means("acc<f64>(a + b)") == "acc<f64>(a + b)");
  CHECK(means("acc<f32>(a + -b)") == "acc<f32>(a + -b)");
  const auto order = [](const std::string& words) {
    const auto g = lower("acc<f32, " + words + ">(sum(a))", {"a=f32[8]"});
    return (*g)[g->results[0].node].attributes;
  };
  CHECK(order("any").order == Order{});
  CHECK(order("seq").order.kind == OrderKind::seq);
  CHECK(order("rseq").order.kind == OrderKind::rseq);
  CHECK(order("assoc").order.kind == OrderKind::assoc);
  CHECK(order("pairwise(4)").order.numbers == std::vector<std::int64_t>{4});
  CHECK(order("height(5)").order.kind == OrderKind::height);
  CHECK(order("blocked(64)").order.inner == OrderKind::seq);
  CHECK(order("blocked(64, inner=rseq, outer=assoc)").order.outer == OrderKind::assoc);
}

TEST_CASE("within: every operation widened, sums flattened, inner roundings stay") {
  const auto list = [](const std::string& text) { return to_list(*lower(text, abc)); };
  CHECK(count(list("within<f32>(a @ b + c + 0 * a)"), "within_sum<f32>") == 1);
  CHECK(count(list("within<f32>(a @ b + c * (a + b))"), "within_sum<f32>") == 2);
  for (const char* text : {"within<f32>(a @ b * c)", "within<f32>(a @ b / c)", "within<f32>((a @ b) * c)", "within<f32>(-(a @ b * c))"}) {
    CHECK(count(list(text), "within_sum<f32>") == 1);  // the product of matrices is a sum wherever it stands
    CHECK(count(list(text), "= within<f32>") == 1);
  }
  CHECK(count(list("within<f32>(a @ b @ c)"), "within_sum<f32>") == 2);
  CHECK(count(list("within<f32>(a * b * c)"), "= within<f32>") == 2);
  CHECK(count(list("within<f32>(a * b + c)"), "= within<f32>") == 0);
  CHECK(count(list("within<f32>(a + b + c + mean(c))"), "= within<f32>") == 1);
  const auto g = lower("within<f32>(exp(a)) + within<f32>(a / b) + within<f32>(a ** 3) + bf16(c)", abc);
  std::vector<double> ulps;
  for (NodeId id = 0; id < g->size(); ++id) {
    if ((*g)[id].op->name == "within") ulps.push_back((*g)[id].attributes.ulp);
  }
  CHECK(ulps == std::vector<double>{2, 0, 5});
}

TEST_CASE("scalars: exact parameters scale, stored numbers do not") {
  const auto scales = [](const std::string& text, const std::vector<std::string>& inputs) {
    const auto g = lower(text, inputs);
    int all = 0;
    for (NodeId id = 0; id < g->size(); ++id) all += (*g)[id].attributes.scales;
    return all;
  };
  CHECK(scales("alpha * a", {"alpha=real", "a=f32[2]"}) == 1);
  CHECK(scales("a * alpha", {"alpha=real", "a=f32[2]"}) == 2);
  CHECK(scales("let s = alpha; s * a", {"alpha=real", "a=f32[2]"}) == 1);
  CHECK(scales("0 * a", {"a=f32[2]"}) == 0);
  CHECK(scales("f32(alpha) * a", {"alpha=real", "a=f32[2]"}) == 0);
  CHECK(scales("alpha * a", {"alpha=f32", "a=f32[2]"}) == 0);
  const std::string spec = "spec f(x: f32[N], beta: real = 0, s: f32 = 0) -> f32[N] { return round<f32>(beta * x + s * x) }";
  CHECK(scales(spec, {"x=f32[2]"}) == 1);
  CHECK(scales(spec, {"x=f32[2]", "beta=real"}) == 1);
}

TEST_CASE("specs: dimensions, defaults, inputs") {
  const std::string spec =
      "spec f(A: bf16[M, K], s: f32[M, K / 2], n: int = 3, alpha: real = 1 / sqrt(K), bias: f32[M] = 0.5) -> f32[M] {\n"
      "  return round<f32>(alpha * sum(A, axis=1) + bias + n + len(s))\n}";
  const auto g = lower(spec, {"A=bf16[2,6]", "s=f32[2,3]"});
  CHECK(g->inputs.size() == 2);
  CHECK(to_erx(*g).find("alpha: real = 1 / sqrt(6)") != std::string::npos);
  CHECK(lower(spec, {"A=bf16[2,6]", "s=f32[2,3]", "bias=f32[2]", "n=int:4"})->inputs.size() == 4);
  CHECK_THROWS_WITH_AS(lower(spec, {"A=bf16[2,5]", "s=f32[2,3]"}), doctest::Contains("not a whole number"), Error);
  CHECK_THROWS_WITH_AS(lower(spec, {"A=bf16[2,6]", "s=f32[2,4]"}), doctest::Contains("has 4 where its type says 3"), Error);
  CHECK_THROWS_WITH_AS(lower(spec, {"A=bf16[2,6]", "s=f32[3,3]"}), doctest::Contains("`M` is 2 in `A` and 3 in `s`"), Error);
  CHECK_THROWS_WITH_AS(lower(spec, {"A=bf16[2,6]"}), doctest::Contains("missing input `s`"), Error);
  CHECK_THROWS_WITH_AS(lower(spec, {"A=bf16[2,6]", "s=f32[2,3]", "alhpa=real"}), doctest::Contains("no input `alhpa`"), Error);
  // a formula fixes its only unknown
  CHECK(lower("spec f(x: f32[2 * K + 1]) -> f32[K] { return x[0:K] }", {"x=f32[7]"})->results.size() == 1);
  CHECK_THROWS_AS(lower("spec f(x: f32[2 * K + 1]) -> f32[K] { return x[0:K] }", {"x=f32[8]"}), Error);
  // a whole number as a dimension
  const std::string counted = "spec f(n: int, x: f32[n, 2]) -> f32[2] { return x[n - 1] }";
  CHECK(lower(counted, {"n=int:3", "x=f32[3,2]"})->results.size() == 1);
  CHECK_THROWS_AS(lower(counted, {"n=int:3", "x=f32[4,2]"}), Error);
  // formats: G is accepted where F holds its values, and counts as F
  const auto widened = lower("spec f(x: f32[N]) -> f32[N] { return x }", {"x=bf16[3]"});
  CHECK(to_string((*widened)[widened->inputs[0]].type) == "f32");
  // the order of the inputs is that of the signature
  const auto ordered = lower("spec f(z: f32, n: int, a: f32) -> f32 { return a }", {"a=f32", "n=int:3", "z=f32"});
  CHECK((*ordered)[ordered->inputs[0]].name == "z");
  CHECK((*ordered)[ordered->inputs[2]].name == "a");
}

TEST_CASE("specs: generic formats and batch dimensions") {
  const std::string spec =
      "spec add<T: format, Acc: format = f32>(x: T[...S, N], y: T[...S, N]) -> T[...S, N] { return round<T>(in Acc { x + y }) }";
  CHECK(means(spec, {"x=bf16[4,2,3]", "y=bf16[4,2,3]"}).find("round<bf16>(round<f32>(x + y))") != std::string::npos);
  CHECK(means(spec, {"x=f16[3]", "y=f16[3]"}).find("f16[3]") != std::string::npos);
  CHECK_THROWS_AS(means(spec, {"x=f16[3]", "y=bf16[3]"}), Error);
  CHECK_THROWS_AS(means(spec, {"x=f16[2,3]", "y=f16[4,3]"}), Error);
  CHECK_THROWS_AS(means(spec, {"x=f64[3]", "y=f64[3]"}), Error);  // wider than Acc
  CHECK(lower("spec f(x: f32[..., N]) -> f32[...] { return x }", {"x=f32[2,3,4]"})->results.size() == 1);
}

TEST_CASE("examples: values as they are written") {
  const auto program = parse(
      "spec f(x: f32[N, M], m: bool = true) -> (a: f32[N, M], b: f32) { return (x, 0) }\n"
      "example f \"one\" {\n  x = [[1, -2.5], [3/10, -1/3]]; m = false\n  covers a = [[nan, inf], [-inf, 0x1p3]]\n  rejects b = 1e-3\n}\n");
  REQUIRE(program->examples.size() == 1);
  const Example& e = program->examples[0];
  CHECK(e.text == "one");
  CHECK(e.lines.size() == 4);
  CHECK(e.lines[0].value.extents == Extents{2, 2});
  CHECK(e.lines[0].value.elements == std::vector<std::string>{"1", "-2.5", "3/10", "-1/3"});
  CHECK(e.lines[1].value.extents.empty());
  CHECK(e.lines[2].kind == ExampleLine::Kind::covers);
  CHECK(e.lines[2].name == "a");
  CHECK(e.lines[2].value.elements[3] == "8");
  CHECK(e.lines[3].kind == ExampleLine::Kind::rejects);
}

TEST_CASE("parsing: traps of the grammar") {
  CHECK(means("where(a < b, c > (a), b > c)") == "where(a < b, c > a, b > c)");
  CHECK(means("round<float<e=8, m=10>>(a)") == "round<tf32>(a)");
  CHECK(means("a + b # + c\n  * c") == "a + b * c");
  CHECK(means("a\n- b") == "a - b");  // between items and in brackets a newline is space
  CHECK(means("-a ** 2") == "-a**2");
  CHECK(means("2 ** -3 ** 2") == "2**-3**2");
  CHECK(means("a - b - c") == "a - b - c");
  CHECK(means("a - (b - c)") == "a - (b - c)");
}

TEST_CASE("names: what the language has is not defined again") {
  CHECK(mistakes("fn exp(x) = x\nspec f(x: f32) -> f32 { return x }") != "");
  CHECK(mistakes("fn mean(x) = x\nspec f(x: f32) -> f32 { return x }") != "");
  CHECK(mistakes("format bf16 = float<e=8, m=6>\nspec f(x: f32) -> f32 { return x }") != "");
  CHECK(mistakes("fn f(x) = y\nspec g(x: f32) -> f32 { return x }") != "");  // mistakes in what nothing uses are told
  CHECK(mistakes("\xEF\xBB\xBFspec g(x: f32) -> f32 { return x }") == "");
  CHECK(mistakes("spec g(x: f32[N], b: f32[P] = 0) -> f32[N] { return x }", {"x=f32[3]"}).find("no input tells the dimension `P`") !=
        std::string::npos);
  CHECK(mistakes("spec g(x: f32[N]) -> f32[Q] { return x }").find("unknown name `Q`") != std::string::npos);
}

TEST_CASE("choose: a labelled choice of a number") {
  const std::string spec = "spec f(x: f32[N]) -> f32 {\n  return choose s in {1, 2} { acc<f32, split(s)>(sum(x)) }\n}";
  CHECK(means(spec, {"x=f32[8]"}).find("any_of<\"s in {1, 2}\">(acc<f32, split({1})>(sum(x)), acc<f32, split({2})>(sum(x)))") != std::string::npos);
  const std::string two =
      "spec f(x: f32[N]) -> (a: f32[N], b: f32[N]) {\n  return choose s in {1, 2} { (round<f32>(x * s), round<f32>(x + s)) }\n}";
  CHECK(count(means(two, {"x=f32[8]"}), "any_of<\"s in {1, 2}\">") == 2);
  CHECK(mistakes("choose x in {1, 2} { choose x in {1, 2} { x } }") != "");
  CHECK(mistakes("choose x in {} { x }") != "");
}

TEST_CASE("fold: a bounded loop over state") {
  const std::string online =
      "spec f(x: f32[N]) -> (m: f32, l: f32) {\n"
      "  let (high, total) = fold (m = -inf, l = 0) over j in tiles(N, 3) {\n"
      "    let t = maximum(m, max(x[j]))\n"
      "    next (t, f32(l * exp(m - t) + sum(exp(x[j] - t))))\n"
      "  }\n"
      "  return (f32(high), f32(total))\n}";
  CHECK(mistakes(online) == "");
  const std::string printed = means(online, {"x=f32[7]"});
  CHECK(count(printed, "fold (m = -inf, l = 0) over j in tiles(6, 3) {") == 1);
  CHECK(count(printed, "max(x[") == 2);
  CHECK(count(printed, "x[6:7]") == 2);  // the last tile is short: it is written out
  std::string why;
  CHECK(same(*lower(online, {"x=f32[7]"}), *lower(printed, {"x=f32[7]"}), why));
  CHECK(means("fold (h = a) over i in 0..0 { next h * 2 }") == "a");
  CHECK(means("fold (h = a) over i in 0..1 { next h * 2 }") == "let h = a * 2;\nh");
  for (const char* text :
       {"fold (h = 0) over i in 0..3 { next (h, h) }", "fold (h = 0, h = 1) over i in 0..3 { next (h, h) }",
        "fold () over i in 0..3 { next () }", "fold (h = 0) over i in tiles(3, 0) { next h }", "fold (h = 0) over i in 3 { next h }",
        "fold (h = 0) over i in 0..1000000 { next h }", "fold (h = 0) over i in tiles(3, 2) { next h + i }",
        "fold (h = 0) over i in 0..2 { let h = 3; next h }", "fold (h = 0) over i in 0..2 { h + nope(i) }"}) {
    INFO(text);
    CHECK(mistakes(text) != "");
  }
}

TEST_CASE("fold: nodes do not grow with the number of steps") {
  const auto size = [](const std::string& text, int n) {
    std::string filled = text;
    for (std::size_t at; (at = filled.find('N')) != filled.npos;) filled.replace(at, 1, std::to_string(n));
    const auto g = lower(filled, {"a=f32[1000]"});
    std::size_t nodes = 0;
    const std::function<void(const Graph&)> count_nodes = [&](const Graph& graph) {
      for (NodeId id = 0; id < graph.size(); ++id, ++nodes)
        if (is_fold(graph[id])) count_nodes(graph[id].attributes.loop->body);
    };
    count_nodes(*g);
    return nodes;
  };
  for (const char* text :
       {"fold (h = 0) over i in 0..N { next f32(h * 0.5 + a[i]) }", "fold (m = -inf, s = 0) over t in tiles(N, 2) { let n = maximum(m, max(a[t])); next (n, f32(s * exp(m - n) + sum(a[t]))) }",
        "fold (h = 0) over i in 0..N { next f32(h * i + a[i]) }", "fold (h = a) over i in 0..N { next in f32 { exp(h) * a + a[i] } }",
        "fold (h = 0) over i in 0..N { next h + a[i] * 2 }", "fold (x = a[0], y = a[1]) over i in 0..N { next (y, f32(x + y)) }",
        "fold (h = 0) over i in 0..10 { let u = fold (r = h) over j in 0..N { next f32(r + a[i] * a[j]) }; next f32(u * i) }",
        "fold (h = 0) over i in 0..N { next f32(any_of(h + a[i], h)) }", "acc<f32>(sum(a) + fold (h = 0) over i in 0..N { next acc<f32>(h + a[i] * a[999 - i]) })"}) {
    INFO(text);
    CHECK(size(text, 10) == size(text, 1000));
    CHECK(size(text, 1000) < 40);
  }
}

TEST_CASE("fold: places that go in turns are a loop within a loop") {
  const std::vector<std::string> a = {"a=f32[100]"};
  CHECK(means("fold (h = 0) over i in 0..20 { next f32(h * 0.5 + a[i % 4]) }", a) ==
        "fold (h = 0) over i in 0..5 { next fold (h_2 = h) over i_2 in 0..4 { next round<f32>(h_2 * 0.5 + a[i_2]) } }");
  CHECK(means("fold (h = 0) over i in 0..20 { next f32(h * a[i] + a[i // 4]) }", a) ==
        "fold (h = 0) over i in 0..5 { next fold (h_2 = h) over i_2 in 0..4 { next round<f32>(h_2 * a[4*i + i_2] + a[i]) } }");
  CHECK(count(means("fold (h = 0) over i in 0..21 { next f32(h * a[i] + a[i // 4]) }", a), "fold (") == 2);
}

TEST_CASE("fold: steps of other forms are written out") {
  const std::vector<std::string> a = {"a=f32[100]"};
  CHECK(means("fold (h = 0) over i in 0..10 { next f32(h * 0.5 + a[i * i]) }", a).find("fold") == std::string::npos);
  CHECK(means("fold (h = 0) over i in 0..20 { next f32(h + sum(a[i:])) }", a).find("fold") == std::string::npos);
  CHECK(means("fold (h = 0) over i in 1..20 { next f32(h ** i) }", a).find("fold (h = 0) over i in 1..20") != std::string::npos);
  // the first step makes a value of f32
  const std::string peeled = means("fold (h = a[0] * a[1]) over i in 0..20 { next f32(h + a[i]) }", a);
  CHECK(count(peeled, "fold (") == 1);
  CHECK(peeled.find("over i in 1..20") != std::string::npos);
  // one stored tensor outside, a value of its own in each step inside
  CHECK(means("let y = any_of(a, -a); fold (h = y) over i in 0..20 { next f32(h + y[i] * y) }", a).find("any_of(a, -a)") != std::string::npos);
  CHECK(mistakes("fold (h = a) over i in 0..20 { next round<f32, sr>(sum(h where h > 0) + a) }", a).find("mask") != std::string::npos);
}

TEST_CASE("import: functions and formats of another file") {
  const auto source = std::make_shared<const Source>(Source{std::string(ERX_SOURCE_DIR) + "/tests/golden/main.erx",
                                                            "import \"imported/right.erx\"\nspec s(x: f32[N], by: f32) -> half_range[N] "
                                                            "{\n  return round<half_range>(scale(x, by=3) + scale(x))\n}\n"});
  const auto g = parse(source)->spec().lower(bindings({"x=f32[2]", "by=f32"}));
  CHECK(to_erx(*g).find("round<f8e4m3>") != std::string::npos);
  CHECK(count(to_erx(*g), " / 2") == 2);
}
