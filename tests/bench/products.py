"""Certified products and sums beside NumPy's float64 of the same data: ratios, and what each tier decided.

    PYTHONPATH=build/python build/venv/bin/python tests/bench/products.py [part of a row's name] [--slow]

Arrays in, verdict out: binding, the sets of every element, and the check of an output. Medians of interleaved runs in one process, both
sides on all processors (OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1: on one). Between runs the process sleeps: the threads of NumPy's BLAS
spin for a tenth of a second after a product and would take a processor from whatever runs next. Not a test: no ratio is asserted.
"""

import statistics
import sys
import time

import ml_dtypes
import numpy as np

import erx as er

rng = np.random.default_rng(1)


def nearest(x: np.ndarray, dtype) -> np.ndarray:
    """x rounded once: float32 in between is rounded to odd."""
    f = x.astype(np.float32)
    if dtype == np.float32 or dtype == np.float64:
        return x.astype(dtype)
    bits = f.view(np.uint32).copy()
    inexact_even = (f.astype(np.float64) != x) & ((bits & 1) == 0)
    away = np.abs(f.astype(np.float64)) < np.abs(x)
    bits[inexact_even & away] += 1
    bits[inexact_even & ~away] -= 1
    return bits.view(np.float32).astype(dtype)


def gaussian(*shape):
    return rng.standard_normal(shape)


def lognormal(*shape):
    return np.exp(3 * rng.standard_normal(shape)) * rng.choice([-1.0, 1.0], shape)


def cancelling(a, b):
    """Pairs of terms of which all but 1 % cancels."""
    a[..., 1::2] = a[..., 0::2]
    b[..., 1::2, :] = -b[..., 0::2, :] * (1 + 0.01 * rng.standard_normal(b[..., 0::2, :].shape))
    return a, b


def ties(n):
    """Sums of float32 values that lie half way between two float32 values."""
    a, b = rng.integers(1, 64, (n, n)).astype(float), rng.integers(1, 64, (n, n)).astype(float)
    a[:, 0], b[0] = 2.0**13, 2.0**11  # 2^24, where the spacing is 2
    b[1:] += (b[1:] + np.eye(n)[1:]) % 2  # odd or even sums in equal parts
    return a, b


f32, f64, bf16, f16 = np.float32, np.float64, ml_dtypes.bfloat16, np.float16
rows = {}


def product(name, spec, shape, dtype, out, data=gaussian, make=None, runs=9):
    def prepare():
        batch, m, k, n = shape[:-3], *shape[-3:]
        a, b = make if make else (data(*batch, m, k), data(*batch, k, n))
        a, b = nearest(a, dtype), nearest(b, dtype)
        a64, b64 = a.astype(f64), b.astype(f64)
        bound = er.expr(spec)
        c = np.asarray(bound(A=a, B=b).lo).astype(out)
        return (lambda: np.matmul(a64, b64)), (lambda: bound(A=a, B=b).check(c)), runs

    rows[name] = prepare


for n in (256, 1024):
    product(f"bf16 -> bf16, n = {n}", "round<bf16>(A @ B)", (n, n, n), bf16, bf16)
    product(f"f16 -> f16, n = {n}", "round<f16>(A @ B)", (n, n, n), f16, f16)
    product(f"bf16 -> f32, n = {n}", "round<f32>(A @ B)", (n, n, n), bf16, f32)
product("f32 -> f32, n = 1024", "round<f32>(A @ B)", (1024,) * 3, f32, f32)
product("f32 -> f32, cancelling, n = 1024", "round<f32>(A @ B)", (1024,) * 3, f32, f32, make=cancelling(gaussian(1024, 1024), gaussian(1024, 1024)))
product("f32 -> f32, lognormal, n = 1024", "round<f32>(A @ B)", (1024,) * 3, f32, f32, data=lognormal)
product("f32 -> f32, all ties, n = 1024", "round<f32>(A @ B)", (1024,) * 3, f32, f32, make=ties(1024))
product("f64 -> f64, n = 256", "round<f64>(A @ B)", (256,) * 3, f64, f64, runs=3)
product("f64 -> f64, n = 1024", "round<f64>(A @ B)", (1024,) * 3, f64, f64, runs=3)
product("acc<f32, any>, f32, n = 1024", "acc<f32>(A @ B)", (1024,) * 3, f32, f32)
product("round<bf16>(acc<f32>), bf16, n = 1024", "round<bf16>(acc<f32>(A @ B))", (1024,) * 3, bf16, bf16)
product("round<bf16>(acc<f32>), lognormal, n = 1024", "round<bf16>(acc<f32>(A @ B))", (1024,) * 3, bf16, bf16, data=lognormal)
product("batched 64 x (256 x 64 x 256), bf16", "round<bf16>(A @ B)", (64, 256, 64, 256), bf16, bf16)
product("batched 1024 x (32 x 32 x 32), bf16", "round<bf16>(A @ B)", (1024, 32, 32, 32), bf16, bf16)
product("skinny 4096 x 4096 x 8, bf16", "round<bf16>(A @ B)", (4096, 4096, 8), bf16, bf16)
product("bf16 -> bf16, n = 4096, slow", "round<bf16>(A @ B)", (4096,) * 3, bf16, bf16, runs=3)


def total(name, spec, dtype, n=1 << 24, runs=5):
    def prepare():
        x = nearest(gaussian(n), dtype)
        x64 = x.astype(f64)
        bound = er.expr(spec)
        y = np.asarray(bound(x=x).lo).astype(f32)
        return (lambda: x64.sum()), (lambda: bound(x=x).check(y)), runs

    rows[name] = prepare


for dtype, name in ((f32, "f32"), (bf16, "bf16")):
    for order in ("any", "pairwise(128)", "seq"):
        total(f"sum of 16M {name}, {order}", f"acc<f32, {order}>(sum(x))", dtype)


def seconds(f) -> float:
    start = time.perf_counter()
    f()
    return time.perf_counter() - start


def main(wanted: str, slow: bool) -> None:
    for name, prepare in rows.items():
        if wanted not in name or (name.endswith("slow") and not slow):
            continue
        plain, check, runs = prepare()
        base, ours, reports = [], [], []
        for _ in range(runs):
            time.sleep(0.12)
            base.append(seconds(plain))
            time.sleep(0.12)
            ours.append(seconds(lambda: reports.append(check())))
        ratio = statistics.median(ours) / statistics.median(base)
        decided = next(line.strip() for line in str(reports[-1]).splitlines() if "decided by" in line)
        print(f"{name:45s} ratio {ratio:6.2f}, of the fastest {min(ours) / min(base):6.2f}   NumPy {min(base) * 1e3:.2f} ms, check {min(ours) * 1e3:.2f} ms"
              f"{'' if reports[-1].ok else '   NOT COVERED'}\n    {decided}", flush=True)


if __name__ == "__main__":
    main(next((a for a in sys.argv[1:] if a != "--slow"), ""), "--slow" in sys.argv)
