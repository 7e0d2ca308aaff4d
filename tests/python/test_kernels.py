"""Kernels written in the language as its page teaches it: what PyTorch (or the loop written out) computes is allowed, a wrong kernel is not."""

import numpy as np
import pytest
import torch

import erx as er

F32 = np.float32


def torch_of(seed: int):
    return torch.Generator().manual_seed(seed)


def adam(n, seed):
    spec = """
spec adam(p: f32[N], g: f32[N], m: f32[N], v: f32[N], step: int, lr: real = 1e-3, b1: real = 0.9, b2: real = 0.999, eps: real = 1e-8)
    -> (p1: f32[N], m1: f32[N], v1: f32[N]) {
  let m1 = in f32, contract { m + exact(round<f32>(1 - b1)) * (g - m) }
  let v1 = in f32, contract { v * round<f32>(b2) + exact(round<f32>(1 - b2)) * g * g }
  let c1 = 1 - b1 ** step
  let c2 = 1 - b2 ** step
  let denom = in f32, contract { sqrt(v1) / exact(round<f32>(sqrt(c2))) + round<f32>(eps) }
  return (in f32, contract { p - exact(round<f32>(lr / c1)) * (m1 / denom) }, m1, v1)
}
"""
    p, g, m, v = torch.randn(4, n, generator=torch_of(seed))
    v = v.abs()
    q = torch.nn.Parameter(p.clone())
    optimizer = torch.optim.Adam([q], lr=1e-3, foreach=False)
    q.grad = g.clone()
    state = optimizer.state[q] = {"step": torch.tensor(4.0), "exp_avg": m.clone(), "exp_avg_sq": v.clone()}
    optimizer.step()
    right = (q.detach(), state["exp_avg"], state["exp_avg_sq"])
    wrong = (p - 1e-3 * right[1] / (right[2].sqrt() + 1e-8), *right[1:])  # no correction of the bias
    return spec, {"p": p, "g": g, "m": m, "v": v, "step": 5}, right, wrong


def rms_norm_with_residual(n, seed):
    spec = """
spec rms_norm_residual(x: bf16[T, D], residual: bf16[T, D], weight: bf16[D], eps: real = 1e-6) -> (y: bf16[T, D], h: bf16[T, D]) {
  let h = in bf16 { x + residual }
  let v = acc<f32>(sum(in f32 { h * h }, axis=-1, keepdims=true))
  let r = approx<f32, ulp=2>(rsqrt(in f32 { v / D + f32(eps) }))
  return (in bf16 { round<bf16>(in f32 { h * r }) * weight }, h)
}
"""
    x, residual = torch.randn(2, 3, n, generator=torch_of(seed)).bfloat16()
    weight = torch.randn(n, generator=torch_of(seed + 1)).bfloat16()
    h = x + residual
    r = torch.rsqrt((h.float() * h.float()).sum(-1, keepdim=True) / n + 1e-6)
    late = (h.float() * r * weight.float()).bfloat16()  # the weight in f32: one rounding is missing
    return spec, {"x": x, "residual": residual, "weight": weight}, ((h.float() * r).bfloat16() * weight, h), (late, h)


def moe_gate(n, seed):
    spec = """
spec moe_gate(x: bf16[T, D], w: bf16[E, D], keep: bool[T, E]) -> (probs: f32[T, E], weights: bf16[T, E]) {
  let logits = round<bf16>(acc<f32>(x @ w.T))
  let p = round<f32>(within<f32>(softmax(logits)))
  let masked = where(keep, p, 0)
  let total = acc<f32>(sum(masked, axis=-1, keepdims=true))
  return (p, round<bf16>(in f32 { masked / total }))
}
"""
    x, w = torch.randn(5, n, generator=torch_of(seed)).bfloat16(), torch.randn(7, n, generator=torch_of(seed + 1)).bfloat16()
    p = torch.softmax(torch.nn.functional.linear(x, w), -1, dtype=torch.float32)
    keep = torch.zeros(5, 7, dtype=torch.bool).scatter(1, p.topk(2, -1).indices, True)
    masked = torch.where(keep, p, 0.0)
    return spec, {"x": x, "w": w, "keep": keep}, (p, (masked / masked.sum(-1, keepdim=True)).bfloat16()), (p, masked.bfloat16())


def fp8_gemm_with_block_scales(n, seed):
    spec = """
spec fp8_gemm(A: f8e4m3fn[M, K], sa: f32[M, K / 4], B: f8e4m3fn[K, N], sb: f32[K / 4, N / 4]) -> bf16[M, N] {
  let s = fold (c = zeros((M, N))) over b in 0..K / 4 {
    let part = acc<f32>(A[:, 4*b:4*b + 4] @ B[4*b:4*b + 4, :])
    next in f32, contract { c + part * (sa[:, b][:, None] * repeat(sb[b, :], 4, axis=0)) }
  }
  return bf16(s)
}
"""
    k = 4 * n
    a = torch.randn(3, k, generator=torch_of(seed)).to(torch.float8_e4m3fn)
    b = torch.randn(k, 8, generator=torch_of(seed + 1)).to(torch.float8_e4m3fn)
    sa, sb = torch.rand(3, n, generator=torch_of(seed + 2)), torch.rand(n, 2, generator=torch_of(seed + 3))

    def product(scale_of_b):
        c = torch.zeros(3, 8)
        for i in range(n):
            c = c + (a[:, 4 * i:4 * i + 4].float() @ b[4 * i:4 * i + 4].float()) * (sa[:, i:i + 1] * scale_of_b(i))
        return c.bfloat16()

    return (spec, {"A": a, "sa": sa, "B": b, "sb": sb}, (product(lambda i: sb[i].repeat_interleave(4)),),
            (product(lambda i: sb[i].repeat(4)),))


def attention_over_tiles(n, seed):
    spec = """
spec attention(Q: f32[M, D], K: f32[N, D], V: f32[N, E], scale: real = 1 / sqrt(D)) -> f32[M, E] {
  let (m, l, o) = fold (m = full((M, 1), -inf), l = zeros((M, 1)), o = zeros((M, E))) over t in tiles(N, 5) {
    let s = in f32 { round<f32>(scale) * acc<f32>(Q @ K[t, :].T) }
    let m1 = maximum(m, max(s, axis=1, keepdims=true))
    let p = approx<f32, ulp=4>(exp(in f32 { s - m1 }))
    let r = approx<f32, ulp=4>(exp(in f32 { m - m1 }))
    next (m1, in f32, contract { l * r + acc<f32>(sum(p, axis=1, keepdims=true)) }, in f32, contract { o * r + acc<f32>(p @ V[t, :]) })
  }
  return in f32 { o / l }
}
"""
    q, k, v = torch.randn(3, 4, generator=torch_of(seed)), torch.randn(n, 4, generator=torch_of(seed + 1)), torch.randn(n, 6, generator=torch_of(seed + 2))

    def attention(rescales):
        m, l, o = torch.full((3, 1), -torch.inf), torch.zeros(3, 1), torch.zeros(3, 6)
        for at in range(0, n, 5):
            s = F32(0.5).item() * (q @ k[at:at + 5].T)
            m1 = torch.maximum(m, s.amax(1, keepdim=True))
            p, r = torch.exp(s - m1), torch.exp(m - m1) if rescales or at == 0 else torch.ones(3, 1)
            l, o, m = l * r + p.sum(1, keepdim=True), o * r + p @ v[at:at + 5], m1
        return o / l

    return spec, {"Q": q, "K": k, "V": v}, (attention(True),), (attention(False),)


def rotary_embedding(n, seed):
    spec = """
spec rope(x: bf16[T, D], c: bf16[T, D / 2], s: bf16[T, D / 2]) -> bf16[T, D] {
  let a = x[:, :D / 2]
  let b = x[:, D / 2:]
  return concat(in bf16 { a * c - b * s }, in bf16 { b * c + a * s }, axis=-1)
}
"""
    x = torch.randn(5, 2 * n, generator=torch_of(seed)).bfloat16()
    c, s = torch.randn(2, 5, n, generator=torch_of(seed + 1)).bfloat16()
    a, b = x[:, :n], x[:, n:]
    fused = torch.cat([a.float() * c - b.float() * s, b.float() * c + a.float() * s], -1).bfloat16()
    return spec, {"x": x, "c": c, "s": s}, (torch.cat([a * c - b * s, b * c + a * s], -1),), (fused,)


def convolution(n, seed):
    spec = """
spec conv1d(x: f32[C, L], w: f32[O, C, W], b: f32[O]) -> f32[O, L - W + 1] {
  let windows = stack(x[:, 0:L - W + 1], x[:, 1:L - W + 2], x[:, 2:L - W + 3], axis=1)
  return acc<f32>(einsum("ocw,cwl->ol", w, windows) + b[:, None])
}
"""
    x, w, b = (torch.randn(*shape, generator=torch_of(seed + i)) for i, shape in enumerate([(3, n + 2), (4, 3, 3), (4,)]))
    return (spec, {"x": x, "w": w, "b": b}, (torch.nn.functional.conv1d(x[None], w, b)[0],),
            (torch.nn.functional.conv1d(x[None], w.flip(-1), b)[0],))


def welford(n, seed):
    spec = """
spec welford(x: f32[N]) -> (mean: f32, var: f32) {
  let (n, m, s) = fold (n = 0, m = 0, s = 0) over i in 0..N {
    let n1 = f32(n + 1)
    let d = in f32 { x[i] - m }
    let m1 = in f32 { m + d / n1 }
    next (n1, m1, in f32, contract { s + d * (x[i] - m1) })
  }
  return (m, in f32 { s / n })
}
"""
    x = np.random.default_rng(seed).standard_normal(n + 1).astype(F32)
    m, s = F32(0), F32(0)
    for i, v in enumerate(x):
        d = v - m
        m = F32(m + F32(d / F32(i + 1)))
        s = F32(s + F32(d * F32(v - m)))
    return spec, {"x": x}, (m, F32(s / F32(n + 1))), (m, F32(s / F32(n)))  # the other variance


def int8_gemm_with_zero_points(n, seed):
    spec = """
spec int8_gemm(A: u8[M, K], B: i8[K, N], za: u8, zb: i8, sa: f32, sb: f32, sc: f32, zc: u8) -> u8[M, N] {
  let s = wrap<i32>((A - za) @ (B - zb))
  let scale = in f32 { sa * sb / sc }
  return saturate<u8>(rint(in f32 { f32(s) * scale }) + zc)
}
"""
    rng = np.random.default_rng(seed)
    a, b = rng.integers(0, 256, (3, n)).astype(np.uint8), rng.integers(-128, 128, (n, 5)).astype(np.int8)

    def product(zero_of_b):
        s = (a.astype(np.int32) - 7) @ (b.astype(np.int32) - zero_of_b)
        scale = F32(F32(F32(0.002) * F32(0.03)) / F32(0.5))
        return np.clip(np.rint(s.astype(F32) * scale) + 12, 0, 255).astype(np.uint8)

    numbers = {"za": 7, "zb": -30, "sa": F32(0.002), "sb": F32(0.03), "sc": F32(0.5), "zc": 12}
    return spec, {"A": a, "B": b, **numbers}, (product(-30),), (product(30),)


def prefix_sum(n, seed):
    spec = """
spec prefix(x: f32[M, N]) -> (serial: f32[M, N], parallel: f32[M, N]) {
  return (acc<f32, seq>(cumsum(x, axis=1)), acc<f32, assoc>(cumsum(x, axis=1)))
}
"""
    x = torch.randn(3, n, generator=torch_of(seed))
    serial = np.cumsum(x.numpy(), axis=1, dtype=F32)
    return spec, {"x": x}, (serial, torch.cumsum(x, 1)), (serial, torch.cumsum(x, 1) - x)  # without the element itself


def moving_average(n, seed):
    spec = """
spec ema(avg: bf16[N], x: bf16[N], decay: real = 0.99) -> bf16[N] {
  return any_of(
    bf16(in f32, contract { avg * f32(decay) + x * exact(f32(1 - decay)) }),
    in bf16 { avg * bf16(decay) + x * exact(bf16(1 - decay)) })
}
"""
    avg, x = torch.randn(2, 40 * n, generator=torch_of(seed)).bfloat16()
    right = (avg.float() * F32(0.99).item() + x.float() * F32(0.01).item()).bfloat16()
    return spec, {"avg": avg, "x": x}, (right,), ((avg * 0.9).bfloat16() + (x * 0.1).bfloat16(),)


kernels = [adam, rms_norm_with_residual, moe_gate, fp8_gemm_with_block_scales, attention_over_tiles, rotary_embedding, convolution, welford,
           int8_gemm_with_zero_points, prefix_sum, moving_average]


@pytest.mark.parametrize("n", [3, 8, 33])
@pytest.mark.parametrize("kernel", kernels)
def test_kernel(kernel, n):
    refused = False
    for seed in range(3):
        spec, inputs, right, wrong = kernel(n, 1000 * n + 10 * seed)
        result = er.parse(spec)(**inputs)
        report = result.check(*right)
        assert report, f"seed {seed}\n{report}"
        refused |= not result.check(*wrong)
    assert refused or n == 3  # three elements may round alike
