"""Elementwise work from Python, beside plain float64 work on the same data: ratios of medians of interleaved runs, and who decided.

    PYTHONPATH=build/python build/venv/bin/python tests/bench/elementwise.py [what ..]     rounding functions chain normal wide small

A time is that of a whole check: arrays in, report out. NumPy works on one thread, erx and PyTorch on all. The loops without Python,
beside memcpy and libmvec, are in elementwise.cpp. Not a test: no ratio is asserted.
"""

import os
import statistics
import sys
import tempfile
import time

import numpy as np
import torch

import erx as er

N = 1 << 24
FUNCTIONS = "exp log tanh erf sigmoid exp2 expm1 log2 log10 log1p sin cos sqrt rsqrt".split()
OF_POSITIVE = "log log2 log10 log1p sqrt rsqrt".split()


def seconds(f) -> float:
    start = time.perf_counter()
    f()
    return time.perf_counter() - start


def interleaved(rounds: int, *works) -> list[list[float]]:
    times = [[] for _ in works]
    for _ in range(rounds):
        for work, list_of in zip(works, times):
            list_of.append(seconds(work))
    return times


def show(name: str, ours: list[float], peer: list[float], peer_name: str, report: object = None) -> None:
    ratio = statistics.median(ours) / statistics.median(peer)
    text = f"{name:28s} {ratio:6.2f} of {peer_name} ({min(ours) * 1e3:.1f} to {max(ours) * 1e3:.1f} ms, peer {min(peer) * 1e3:.1f} to {max(peer) * 1e3:.1f} ms)"
    if report is not None:
        lines = str(report).splitlines()
        text += f"\n    {lines[0]}\n  {next(line for line in lines if 'decided by' in line)}"
    print(text, flush=True)


def check_beside(name, spec, inputs, out, peer, peer_name, rounds=5) -> None:
    reports = []
    ours, other = interleaved(rounds, lambda: reports.append(spec(**inputs).check(out)), peer)
    show(name, ours, other, peer_name, reports[-1])


DTYPES = {"bf16": torch.bfloat16, "f16": torch.float16, "f8e4m3fn": torch.float8_e4m3fn, "f32": torch.float32}


def rounded_by(spec, inputs, name):
    """An output inside the sets, as a kernel stores it: no kernel's own rounding is being judged here."""
    return torch.from_numpy(spec(**inputs).lo).to(DTYPES[name])


def rounding() -> None:
    x = np.random.default_rng(1).standard_normal(N) * 4
    copy = np.empty_like(x)
    for name in ("bf16", "f16", "f8e4m3fn"):
        spec = er.expr(f"round<{name}>(x)")
        check_beside(f"round into {name}", spec, {"x": x}, rounded_by(spec, {"x": x}, name), lambda: np.copyto(copy, x), "a copy")


def functions() -> None:
    x = (np.random.default_rng(2).standard_normal(N) * 4).astype(np.float32)
    for f in FUNCTIONS:
        inputs = {"x": np.abs(x) if f in OF_POSITIVE else x}
        wide = torch.from_numpy(inputs["x"]).double()
        for name in ("f32", "bf16"):
            spec = er.expr(f"round<{name}>({f}(x))")
            check_beside(f"{f} into {name}", spec, inputs, rounded_by(spec, inputs, name), lambda: getattr(torch, f)(wide), "PyTorch's float64", 3)


def chain() -> None:
    rng = np.random.default_rng(3)
    x, y = (rng.standard_normal(N).astype(np.float32) for _ in range(2))
    a, b = x.astype(np.float64), y.astype(np.float64)
    spec = er.expr("in f32 { (((((x + y)*x + y)*x + y)*x + y)*x + y)*x }")
    out = (((((x + y) * x + y) * x + y) * x + y) * x + y) * x
    check_beside("chain of 10, f32", spec, {"x": x, "y": y}, out, lambda: (((((a + b) * a + b) * a + b) * a + b) * a + b) * a, "NumPy's float64")


def normal() -> None:
    x = np.random.default_rng(4).standard_normal((4096, 4096)).astype(np.float32)
    wide = x.astype(np.float64)

    def softmax():
        e = np.exp(wide - wide.max(axis=1, keepdims=True))
        return e / e.sum(axis=1, keepdims=True)

    def layer_norm():
        mean = wide.mean(axis=1, keepdims=True)
        c = wide - mean
        return c / np.sqrt((c * c).mean(axis=1, keepdims=True) + 1e-5)

    for name, text, peer in (("softmax", "round<f32>(softmax(x))", softmax), ("layer_norm", "round<f32>(layer_norm(x, 1, 0))", layer_norm)):
        check_beside(f"{name} 4096 x 4096", er.expr(text), {"x": x}, peer().astype(np.float32), peer, "NumPy's float64", 3)


def wide() -> None:
    rng = np.random.default_rng(5)
    n = N // 16
    normal, sigma_10 = rng.standard_normal(n), np.exp(10 * rng.standard_normal(n)) * rng.choice([-1.0, 1.0], n)
    data = {"lognormal, sigma 10": sigma_10, "subnormal results": normal * 2.0**-140, "overflow": normal * 2.0**130,
            "all ties": np.round(normal * 64) / 64 + np.ldexp(1.0, -8 + np.frexp(normal)[1]), "zeros": np.where(normal > 0, 0, normal)}
    cases = {"round<bf16>(x)": (np.float64, lambda x: torch.from_numpy(x).bfloat16()),
             "round<f32>(exp(x))": (np.float32, lambda x: np.exp(x.astype(np.float64)).astype(np.float32)),
             "round<f32>(tanh(x))": (np.float32, lambda x: np.tanh(x.astype(np.float64)).astype(np.float32)),
             "in f32 { x*x + x }": (np.float32, lambda x: x * x + x)}
    for text, (dtype, kernel) in cases.items():
        spec = er.expr(text)
        times = {}
        for name, x in {"normal": normal, **data}.items():
            with np.errstate(over="ignore"):
                x = x.astype(dtype)
                out = kernel(x)
            times[name] = statistics.median([seconds(lambda: spec(x=x).check(out)) for _ in range(3)])
        ratios = "  ".join(f"{name}: {t / times['normal']:.1f}" for name, t in times.items())
        print(f"{text:24s} {ratios}  ({times['normal'] * 1e3:.1f} ms)", flush=True)


def small() -> None:
    a, b = (torch.randn(4, 4).bfloat16() for _ in range(2))
    spec = er.expr("round<bf16>(acc<f32>(A @ B))")
    out = a @ b
    result = spec(A=a, B=b)
    line = "\nspec s{} (x: f32[N], y: f32[N]) -> f32[N] {{\n  let z = round<f32>(x + y)\n  return round<f32>(z * y)\n}}"
    text = "".join(line.format(k) for k in range(20))
    with tempfile.NamedTemporaryFile("w", suffix=".erx", delete=False) as file:
        file.write(text)
    for name, f in {"check of 4 x 4, bound": lambda: result.check(out), "spec(A, B).check(out), 4 x 4": lambda: spec(A=a, B=b).check(out),
                    f"load, {len(text.splitlines())} lines": lambda: er.load(file.name)}.items():
        f()
        times = [seconds(f) for _ in range(300)]
        print(f"{name:32s} median {statistics.median(times) * 1e6:.0f} us, best {min(times) * 1e6:.0f} us", flush=True)
    os.unlink(file.name)


if __name__ == "__main__":
    for part in sys.argv[1:] or ["rounding", "functions", "chain", "normal", "wide", "small"]:
        {"rounding": rounding, "functions": functions, "chain": chain, "normal": normal, "wide": wide, "small": small}[part]()
