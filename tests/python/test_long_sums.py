"""Sums over lines that are read in pieces, in each order, against the same additions one by one in float32."""

import ml_dtypes
import numpy as np
import pytest

import erx as er


def pairwise(x: np.ndarray, block: int) -> np.float32:
    if len(x) <= block:
        return np.cumsum(x, dtype=np.float32)[-1]
    middle = len(x) // 2
    return np.float32(pairwise(x[:middle], block) + pairwise(x[middle:], block))


@pytest.mark.parametrize("source", [np.float32, ml_dtypes.bfloat16])
@pytest.mark.parametrize("n, block", [(300001, 77), (262145, 128), (70000, 8192), (5000, 3), (1234, 1)])
def test_orders_of_long_lines(n, block, source):
    rng = np.random.default_rng(n)
    x = (rng.standard_normal(n) * np.exp(2 * rng.standard_normal(n))).astype(source)
    wide = x.astype(np.float32)
    ordered = {
        f"pairwise({block})": pairwise(wide, block),
        "seq": np.cumsum(wide, dtype=np.float32)[-1],
        "rseq": np.cumsum(wide[::-1], dtype=np.float32)[-1],
    }
    for order, want in ordered.items():
        r = er.expr(f"acc<f32, {order}>(sum(x))")(x=x)
        assert r.lo == r.hi == want, order
        assert not r.covers(np.nextafter(want, np.float32(np.inf))).any()
    free = er.expr("acc<f32>(sum(x))")(x=x)
    assert all(free.covers(want).all() for want in ordered.values())


@pytest.mark.parametrize("dtype, name", [(np.float32, "f32"), (np.float64, "f64")])
@pytest.mark.parametrize("kind", ["uniform", "alternating", "steps", "ends near overflow", "overflows", "infinite"])
def test_sequences_of_many_leaves(kind, dtype, name):
    rng = np.random.default_rng(5)
    n = 300_007
    x = {
        "uniform": rng.random(n),
        "alternating": np.where(np.arange(n) % 2, 1, -1) + 1e-5 * rng.standard_normal(n),
        "steps": rng.integers(-20, 21, n) / 8 + np.where(np.arange(n) < 50, 2.0 ** 20, 0),
        "ends near overflow": np.full(n, float(np.finfo(dtype).max) / n * 0.9),
        "overflows": np.where(np.arange(n) < n // 2, 1, -1) * (float(np.finfo(dtype).max) / n * 4),
        "infinite": np.where(np.arange(n) == 200_000, np.inf, 1),
    }[kind].astype(dtype)
    for order, leaves in [("seq", x), ("rseq", x[::-1])]:
        with np.errstate(over="ignore", invalid="ignore"):
            want = np.cumsum(leaves, dtype=dtype)[-1]
        r = er.expr(f"acc<{name}, {order}>(sum(x))")(x=x)
        assert r.covers(want).all(), order
        assert not r.covers(dtype(0)).any() and not r.covers(dtype(1)).any()
        if np.isfinite(want):
            assert r.lo == r.hi == want


def test_special_values_in_long_lines():
    x = np.ones(100_000, np.float32)
    for special in (np.float32(np.inf), np.float32(-np.inf), np.float32(np.nan)):
        x[777] = special
        for order in ("any", "seq", "rseq", "pairwise(128)"):
            r = er.expr(f"acc<f32, {order}>(sum(x))")(x=x)
            assert r.covers(special).all() and not r.covers(np.float32(1)).any()


def test_a_line_that_others_read_too():
    x = np.random.default_rng(3).standard_normal(5000).astype(np.float32)
    r = er.expr("round<f32>(x - round<f32>(sum(x)))")(x=x)
    total = np.float32(sum(map(float, x)))
    assert r.covers(x - total).all()
    r = er.expr("round<f64>(exp(sum(x) / 1000))")(x=x)  # the sum is computed again, more finely
    assert r.lo == r.hi and abs(r.lo - np.exp(x.astype(np.float64).sum() / 1000)) < 1e-12
