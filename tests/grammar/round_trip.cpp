// parse(print(g)) is g, and printing again gives the same text.
#include <doctest/doctest.h>

#include <algorithm>

#include "helpers.hpp"
#include "ir/print.hpp"

using namespace erx;
using namespace erx::test;

namespace {

void check_round_trip(const std::string& text, const std::vector<std::string>& inputs) {
  INFO(text);
  const auto g = lower(text, inputs);
  const std::string printed = to_erx(*g);
  INFO(printed);
  std::shared_ptr<const Graph> again;
  try {
    again = lower(printed, inputs);
  } catch (const Error& e) {
    FAIL(render(e.diagnostics));
  }
  std::string why;
  const bool equal = same(*g, *again, why);
  INFO(why);
  CHECK(equal);
  CHECK(to_erx(*again) == printed);
}

struct Case {
  std::string text;
  std::vector<std::string> inputs;
};

const std::vector<Case> cases = {
    {"round<bf16>(alpha*A) @ B + C", {"alpha=real", "A=bf16[2,3]", "B=bf16[3,4]", "C=f32[2,4]"}},
    {"a - (b - c) - d", {"a=f32[2]", "b=f32[2]", "c=f32[2]", "d=f32[2]"}},
    {"(a + b) * c - -d / (e * f)", {"a=f32[2]", "b=f32[2]", "c=f32[2]", "d=f32[2]", "e=f32[2]", "f=f32[2]"}},
    {"-a ** 2 + (-a) ** 2 + 2 ** -3 + a ** 3 ** 2", {"a=f32[2]"}},
    {"where(a < b and not (c >= d or e == 0), a, inf)", {"a=f32[2]", "b=f32[2]", "c=f32[2]", "d=f32[2]", "e=f32[2]"}},
    {"where(a < b, c > (d), true)", {"a=f32[2]", "b=f32[2]", "c=f32[2]", "d=f32[2]"}},
    {"(a < b) == (c < d)", {"a=f32[2]", "b=f32[2]", "c=f32[2]", "d=f32[2]"}},
    {"a // b % c @ d", {"a=f32[2]", "b=f32[2]", "c=f32[2]", "d=f32[2]"}},
    {"x[1:, ::-1, None, -1].T", {"x=f32[4,5,6]"}},
    {"x[..., 0, 3:1:-1] + sum(x[1:1, ::2, 4::-1]) + x[None, 0, 0, 1:2]", {"x=f32[4,5,6]"}},
    {"transpose(x, (0, 2, 1)) + x.mT", {"x=f32[4,5,6]"}},
    {"reshape(x, (6, 4)) + transpose(reshape(x, -1, 6), (1, 0)) + broadcast(y, (6, 4))", {"x=f32[4,6]", "y=f32[4]"}},
    {"reshape(x, (24,)) + full((24,), y) + zeros(24) + ones((24,))", {"x=f32[4,6]", "y=f32"}},
    {"sum(x) + sum(x, axis=0)[0] + sum(x, axis=(0, 1), keepdims=true)[0, 0] + mean(x, axis=1)[0]", {"x=f32[4,6]"}},
    {"max(x, axis=-1, keepdims=true) - min(x) + prod(x, axis=0)", {"x=f32[4,6]"}},
    {"sum(x where x > 0) + max(x where x > y, axis=1, keepdims=true) + mean(x where x < y, axis=-1)[0]", {"x=f32[4,6]", "y=f32[6]"}},
    {"cumsum(x, axis=0) + cumprod(x where x != 0, axis=1) + cumsum(y)[0] * argmax(x) - argmax(x, axis=1, keepdims=true)",
     {"x=f32[4,6]", "y=f32[6]"}},
    {"acc<f32, seq>(cumsum(x * y, axis=1) + sum(x where x > 0) - cumsum(x where y > 0, axis=0))", {"x=f32[4,6]", "y=f32[6]"}},
    {"within<f32>(cumsum(x * y + 1, axis=1) / sum(x * y where x > y))", {"x=f32[4,6]", "y=f32[6]"}},
    {"concat(x, flip(x, axis=1), axis=1) + concat((y, y)) * repeat(y, 2)", {"x=f32[4,6]", "y=f32[6]"}},
    {"stack([y, -y], axis=1) @ eye(2) + repeat(y, 2, axis=0)[:6, None] * iota(2) + diagonal(x)[0]", {"x=f32[4,6]", "y=f32[6]"}},
    {"einsum(\"ij,kj->ki\", x, x) + einsum(\"ii->\", x[:, :4]) + acc<f32>(einsum(\"j,ij->i\", y, x))", {"x=f32[4,6]", "y=f32[6]"}},
    {"within<f32>(einsum(\"bij,jk->bik\", z, w) * 2) + einsum(\"...ij,jk,k->...i\", z, w, w[0])[..., None]", {"z=f32[2,3,4]", "w=f32[4,4]"}},
    {"spec f(x: f32[M, K], y: f32[K, N]) -> f32[N, M] {\n  return acc<f32>(einsum(\"mk,kn->nm\", concat(x, x)[:len(x)], repeat(y, 2, axis=0)[::2]))\n}",
     {"x=f32[4,6]", "y=f32[6,3]"}},
    {"any(x > 0, axis=1) or all(x < 0, axis=1)", {"x=f32[4,6]"}},
    {"round<f16, rtz, sat, ftz>(x) + round<float<e=5, m=3>, sr>(x) + f8e4m3fn(x) + round<f32, ftz=free>(x)", {"x=f64[4]"}},
    {"round<float<e=6, m=4, bias=20, inf=none, nan=top>>(x)", {"x=f64[4]"}},
    {"in f32, contract { a*b + c*d - e*f + -(a*c) }", {"a=f32[2]", "b=f32[2]", "c=f32[2]", "d=f32[2]", "e=f32[2]", "f=f32[2]"}},
    {"in f32, contract, ftz, daz, ulp=3 { let t = exp(a) * b; let u = t + a*b; u * u + b.T * a }", {"a=f32[2]", "b=f32[2]"}},
    {"in bf16 { exact(a * b) + c * in f32 { a / b } }", {"a=bf16[2]", "b=bf16[2]", "c=bf16[2]"}},
    {"acc<f32>(A @ B) + acc<f32, seq, fma=never>(A @ B) + acc<f32, assoc, ftz=yes>(A @ B + C)",
     {"A=bf16[2,3]", "B=bf16[3,4]", "C=f32[2,4]"}},
    {"acc<f32, pairwise(8)>(sum(x)) + acc<f32, blocked(64, inner=rseq, outer=seq)>(sum(x)) + acc<f32, height(9)>(sum(x))", {"x=f32[100]"}},
    {"acc<f32, split({1, 2, 4}, store=bf16), fma=always, ftz=free>(sum(x)) + acc<f32, tensor_core(L=16, F=25)>(sum(x)) + acc<f32, "
     "split(3)>(sum(x))",
     {"x=f32[100]"}},
    {"acc<f32>(x - y + sum(x * y, axis=0, keepdims=true) - (x - y) + 1)", {"x=f32[3]", "y=f32[3]"}},
    {"within<bf16>(A @ B + alpha * C)", {"alpha=real", "A=bf16[2,3]", "B=bf16[3,4]", "C=f32[2,4]"}},
    {"within<f32>(exp(x - max(x, axis=-1, keepdims=true)) / sum(exp(x), axis=-1, keepdims=true))", {"x=f32[2,3]"}},
    {"within<f32>(a * b / c * (a + b) + mean(a) - a * b * c)", {"a=f32[2]", "b=f32[2]", "c=f32[2]"}},
    {"within<f32>(within<f32>(a * b) + c - within<f32>(a + b) + (a - (b + c)))", {"a=f32[2]", "b=f32[2]", "c=f32[2]"}},
    {"within<f32>(round<bf16>(a + b) * exact(a / b + c) + any_of(a * b, c) / where(a < b * c, -a, -(b + c)))",
     {"a=f32[2]", "b=f32[2]", "c=f32[2]"}},
    {"within<f32>(acc<f32>(sum(a * b) + round<f32>(exp(c))) * within<bf16>(a * b) ** 3 + sqrt(a)**2)",
     {"a=f32[2]", "b=f32[2]", "c=f32[2]"}},
    {"within<f32>(maximum(a, b) - abs(a) * 2 + approx<f32, ulp=4>(tanh(a * b)))", {"a=f32[2]", "b=f32[2]"}},
    {"approx<bf16, ulp=2>(exp(x)) + approx<f32, ulp=0.5, rtz>(x / 3)", {"x=bf16[2]"}},
    {"any_of<\"path\">(x, -x) + any_of<\"path\">(x, abs(x)) + any_of(x)", {"x=f32[2]"}},
    {"any_of<\"a \\\"b\\\" \\\\\">(x, -x)", {"x=f32[2]"}},
    {"let y = any_of(x, -x); let z = y - y; z * y", {"x=f32[2]"}},
    {"let y = x + 1\nlet z = y\ny * z", {"x=f32[2]"}},
    {"alpha * x + 0 * x + 0x1.8p-3 * x + nan", {"alpha=real", "x=f32[2]"}},
    {"(1 + 2) * 3 / (4 * 5) ** 2 - - 1", {}},
    {"spec f(A: bf16[M, K], B: bf16[K, N], alpha: real = 1 / sqrt(K), bias: f32[N] = 0) -> bf16[M, N] {\n"
     "  let ab = acc<f32>(A @ B)\n  return round<bf16>(alpha * ab + bias)\n}",
     {"A=bf16[2,3]", "B=bf16[3,4]"}},
    {"spec f(q: bf16[H, D], m: bool[H], n: int = 2) -> (o: bf16[H, D], l: f32[H]) {\n"
     "  let (a, b) = (round<bf16>(q * n), sum(q, axis=1))\n  return (a, where(m, round<f32>(b), -inf))\n}",
     {"q=bf16[2,3]", "m=bool[2]"}},
    {"fn relu(x) { return maximum(x, 0) }\nfn gelu(x, k = 2) = x * sigmoid(k * x)\n"
     "spec f(x: f32[N]) -> f32[N] { return in f32 { relu(gelu(x) * 2) + gelu(x, k=3) } }",
     {"x=f32[3]"}},
    {"z * w - x * conj(z) / w + complex(x, imag(w)) / x", {"z=complex64[2]", "w=complex64[2]", "x=f32[2]"}},
    {"round<f32>(alpha * z) + x * real(beta)", {"alpha=complex", "beta=complex", "z=complex64[2]", "x=f32[2]"}},
    {"acc<f32, seq>(A @ B + C - z * z) + within<f32>(A @ B + alpha * C)",
     {"A=complex64[2,3]", "B=complex64[3,2]", "C=complex64[2,2]", "z=complex64", "alpha=complex"}},
    {"within<f32>(z * w * 2 + mean(z) - sum(w, axis=0)) + approx<f32, ulp=2>(abs(z))", {"z=complex64[2]", "w=complex64[2]"}},
    {"in f32, contract { let t = x * x; z + t - conj(w) + z / x }", {"z=complex64[2]", "w=complex64[2]", "x=f32[2]"}},
    {"let y = any_of(z, conj(z), x); let c = any_of<\"p\">(y, w); where(z == w and z != x, y, c) - real(c)",
     {"z=complex64[2]", "w=complex64[2]", "x=f32[2]"}},
    {"let y = z * w; let s = acc<f32>(round<f32>(y) * z); (reshape(s, (2, 1)).T[0, ::-1], complex<bf16>(y), complex<f32>(x, x))",
     {"z=complex64[2]", "w=complex64[2]", "x=f32[2]"}},
    {"spec f<T: format>(A: complex<T>[M, K], B: complex<T>[K, N], alpha: complex = complex(1, 2) / 3, z: complex<f32> = 2) -> (p: complex<T>[M, N], q: complex<f32>[M, N]) {\n"
     "  let ab = acc<f32>(A @ B)\n  return (ab, round<f32>(alpha * ab + z))\n}",
     {"A=complex64[2,3]", "B=complex64[3,4]"}},
    {"fold (h = a) over i in 0..4 { next f32(h * 0.5 + a[i] * i) }", {"a=f32[4]"}},
    {"fold (h = 0) over i in 2..5 { next f32(h * 0.5 + a[2*i - 3] + a[9 - i]) }", {"a=f32[10]"}},
    {"let (m, s) = fold (m = -inf, s = 0) over t in tiles(10, 3) { let n = maximum(m, max(a[t])); next (n, f32(s * exp(m - n) + sum(a[t]))) }; f32(s + log(m))",
     {"a=f32[10]"}},
    {"1 - fold (h = 0) over i in 0..3 { let u = fold (r = 1) over j in 0..3 { next f32(r + x[i, j] * i) }; next f32(u * h) } * 2", {"x=f32[3,3]"}},
    {"let y = any_of(a, -a); let z = fold (h = y, g = y) over i in 0..3 { let u = any_of(h, g); next (f32(u - u + y), round<f32, sr>(g + u)) }; y",
     {"a=f32[3]"}},
    {"let y = any_of(a, -a); let (p, q) = fold (h = y, g = y) over i in 0..3 { let u = any_of(h, g); next (f32(u - u + y), round<f32, sr>(g + u)) }; p - q * y",
     {"a=f32[3]"}},
    {"fold (h = 0) over i in 0..3 { next acc<f32>(h + sum(a * a[i:i + 2:1][0]) - a[i]) } + acc<f32>(sum(a))", {"a=f32[4]"}},
    {"fn step(h, i) { let y = h * i\n return y + y }\nspec f(x: f32[N], y: f32[N]) -> f32[N] { let h = x * y; return f32(fold (g = h) over i in 0..N { next f32(step(g, y)) }) }",
     {"x=f32[4]", "y=f32[4]"}},
    {"fn power(x, n) { return fold (p = x) over i in 0..3 { next f32(p * x) } }\nspec f(i: f32[N]) -> f32[N] { return fold (p = i) over k in 0..4 { next power(p, 2) } }",
     {"i=f32[4]"}},
    {"in f32 { fold (h = zeros(4)) over i in 0..4 { next h + a * b[i] } } + within<f32>(fold (h = 0) over i in 0..4 { next h + a[i] * b[i] })",
     {"a=f32[4]", "b=f32[4]"}},
    {"format e5m3 = float<e=5, m=3>\nspec f(x: e5m3[N]) -> e5m3[N] { return round<e5m3>(x / 3) }", {"x=f8e5m2[3]"}},
};

}  // namespace

TEST_CASE("print: parse(print(g)) is g") {
  for (const Case& c : cases) {
    check_round_trip(c.text, c.inputs);
  }
}

TEST_CASE("print: a chain of ten thousand terms") {
  std::string sum = "a", product = "a";
  for (int i = 0; i < 10000; ++i) {
    sum += i % 2 ? " + a" : " - a";
    product += " * a";
  }
  for (const std::string& text : {sum, product, "within<f32>(" + sum + ")", "within<f32>(" + product + ")", "acc<f32>(" + sum + ")"}) {
    const auto g = lower(text, {"a=f32[2]"});
    const bool identical = to_erx(*g) == text;  // too long to show
    CHECK(identical);
  }
}

TEST_CASE("print: what nests deeply is written in parts") {
  std::string sum = "a", product = "a", mixed = "a";
  for (int i = 0; i < 5000; ++i) {
    sum += " + a";
    product += " * a";
    mixed += i % 2 ? " + a" : " * b - a";
  }
  for (const std::string& text : std::vector<std::string>{"in f32 { " + sum + " }", "in f32, contract { " + product + " }",
                                                          "in f32, contract { " + mixed + " }", "acc<f32>(in bf16 { " + mixed + " } + a)",
                                                          "fold (h = a) over i in 0..500 { next in f32 { exp(h) * a } }"}) {
    std::vector<std::string> inputs = {"a=bf16[2]"};
    if (text.find("b -") != text.npos) inputs.push_back("b=bf16[2]");
    const auto g = lower(text, inputs);
    const std::string printed = to_erx(*g);
    std::string why;
    const bool equal = same(*g, *lower(printed, inputs), why);
    INFO(why);
    CHECK(equal);
  }
}

TEST_CASE("print: what is written is what was read") {
  // canonical texts come back as they are
  for (const std::string text :
       {"round<bf16>(alpha * A) @ B + C", "within<f32>(exp(a - b) / sum(exp(a)))", "acc<f32, split({1, 2}, store=bf16)>(sum(a))",
        "approx<f32, ulp=2>(exp(a))", "a[0].T", "-a**2", "(a + b)**2", "not a < b", "a - (b - c)", "a @ b.T", "within<f32>(a * b * c)",
        "within<f32>((a + b) * c)", "within<f32>(exact(a + b) * c)", "any_of<\"p\">(a, b)"}) {
    std::vector<std::string> inputs;
    const auto program = parse(text);
    for (const auto& p : program->spec().parameters) inputs.push_back(p.name + (p.name == "alpha" ? "=real" : "=f32[3,3]"));
    CHECK(to_erx(*lower(text, inputs)) == text);
  }
}

TEST_CASE("print: no text for what a choice shares grows without bound") {
  std::string text = "x";
  for (int i = 0; i < 60; ++i) text = "in f32, contract { " + text + " * x + x * x }";
  const auto g = lower(text, {"x=f32[2]"});
  CHECK(to_erx(*g).size() < 20000);
}

TEST_CASE("print: DOT and list name every node") {
  const auto g = lower("let y = any_of<\"a\\\"b\">(x, -x); round<f16>(y * 0.5)", {"x=f32[2]"});
  const std::string dot = to_dot(*g), list = to_list(*g);
  CHECK(dot.rfind("digraph ", 0) == 0);
  CHECK(dot.back() == '\n');
  for (NodeId id = 0; id < g->size(); ++id) {
    CHECK(dot.find("  n" + std::to_string(id) + " [label=") != dot.npos);
    CHECK(list.find("%" + std::to_string(id)) != list.npos);
  }
  CHECK(std::count(dot.begin(), dot.end(), '{') == std::count(dot.begin(), dot.end(), '}'));
}
