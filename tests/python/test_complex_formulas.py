"""Quotients and products of complex numbers against every formula and order that is granted, executed in float32 step by step."""
import itertools

import numpy as np
import pytest

import erx as er

f = np.float32


def times(x, y, fused=0):
    """(a + bi)(c + di); `fused`: which product is not rounded before the addition."""
    (a, b), (c, d) = x, y

    def both(p, q, r, s, sign):
        products = [np.float64(p) * np.float64(q), sign * np.float64(r) * np.float64(s)]  # exact in float64
        kept = [v if k + 1 == fused else np.float64(f(v)) for k, v in enumerate(products)]
        return nearest_sum(*kept)
    return both(a, c, b, d, -1), both(a, d, b, c, 1)


def nearest_sum(p, q):
    """p + q of float64 numbers rounded once to float32."""
    total = p + q
    rest = q - (total - p) if abs(p) >= abs(q) else p - (total - q)  # exact where nothing overflows
    near = f(total)
    if rest != 0 and np.isfinite(total) and f(np.nextafter(total, np.inf if rest > 0 else -np.inf)) != near:
        near = f(np.nextafter(total, np.inf if rest > 0 else -np.inf))
    return near


def in_every_order(factors):
    if len(factors) == 1:
        return {factors[0]}
    found = set()
    for mask in range(1, 2 ** (len(factors) - 1)):
        parts = [[x for k, x in enumerate(factors) if (mask >> k & 1) == side] for side in (0, 1)]
        found |= {times(p, q, fused) for p, q in itertools.product(*map(in_every_order, parts)) for fused in range(3)}
    return found


def as_complex(z):
    """With the signs of zeros."""
    out = np.empty((), np.complex64)
    out.real, out.imag = z
    return out


def test_products_in_every_order():
    rng = np.random.default_rng(1)
    outside = 0
    for trial in range(40):
        n = int(rng.integers(2, 5))
        parts = rng.choice([1, -1, 3, -3, 0, 1 + 2.0**-23, 1 - 2.0**-24], (n, 2)) if trial % 4 == 0 else rng.standard_normal((n, 2)) * 2.0 ** rng.integers(-8, 8, (n, 2))
        parts = parts.astype(f)
        x = np.array([as_complex(p) for p in parts])
        r, values = er.prod(x), in_every_order([tuple(p) for p in parts])
        for z in values:
            assert r.covers(as_complex(z), signed_zero=True), (x, z, r.lo, r.hi)
        lo, hi = r.lo, r.hi
        size = np.hypot(*max(values, key=lambda z: np.hypot(*z)))
        assert hi.real - lo.real <= 2 * (9 / 4 * (n - 1) + 3) * 2.0**-24 * size * 1.01
        outside += not r.covers(as_complex((f(hi.real + 0.01 * size), f(lo.imag))))
    assert outside >= 35


def textbook(a, b, c, d):
    norm = c * c + d * d
    return (a * c + b * d) / norm, (b * c - a * d) / norm


def smith(a, b, c, d):
    if c == 0 and d == 0:
        return a / abs(c), b / abs(d)
    if abs(c) >= abs(d):
        ratio = d / c
        scale = f(1) / (c + d * ratio)
        return (a + b * ratio) * scale, (b - a * ratio) * scale
    ratio = c / d
    scale = f(1) / (c * ratio + d)
    return (a * ratio + b) * scale, (b * ratio - a) * scale


def scaled(a, b, c, d):
    scale = f(1) / max(abs(c), abs(d))
    return textbook(a * scale, b * scale, c * scale, d * scale)


@pytest.mark.parametrize("formula", [textbook, smith, scaled])
def test_quotients_by_each_formula(formula):
    rng = np.random.default_rng(2)
    with np.errstate(all="ignore"):
        for trial in range(300):
            parts = (rng.standard_normal(4) * 2.0 ** rng.integers(-70 if trial % 3 == 0 else -6, 70 if trial % 3 == 0 else 6, 4)).astype(f)
            if trial % 5 == 0:
                parts[rng.integers(4)] = rng.choice([0, -0.0, 1, np.inf, -np.inf, np.nan, 2.0**-149, 3e38])
            x, y = as_complex(parts[:2]), as_complex(parts[2:])
            out = as_complex(formula(*parts))
            r = er.divide(x, y)
            assert r.covers(out), (formula.__name__, x, y, out, r.lo, r.hi)
            if trial % 15 not in (0, 3, 5, 6, 9, 10, 12) and formula is smith:
                size = f(abs(out))
                assert not r.covers(as_complex((f(out.real + size / 64), out.imag))) and not r.covers(as_complex((out.real, f(out.imag - size / 64))))
