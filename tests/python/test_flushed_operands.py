"""`within<F, ftz>` by enumeration: each operation on every pair of values of a small format, operands and results flushed or not."""
import itertools
from fractions import Fraction

import numpy as np
import pytest
import torch

import erx as er
import oracle_numbers as num

TINY = num.Format("float<e=3, m=2>", 3, 2)
VALUES = sorted({s * Fraction(m, 4) * Fraction(2) ** e for s in (-1, 1) for e in range(-2, 4) for m in (4, 5, 6, 7)}
                | {s * k * TINY.eta for s in (-1, 1) for k in range(4)})
OPERATIONS = {"x + y": num.add, "x - y": num.subtract, "x * y": num.multiply, "x / y": num.divide, "fma(x, y, y)": lambda x, y: num.add(num.multiply(x, y), y),
              "x ** 2": lambda x, y: num.multiply(x, x)}


def readings(x):
    """What an operation may read for x."""
    return {x, num.signed_zero(x < 0)} if x != 0 and abs(x) < TINY.min_normal else {x}


def results(operation, x, y):
    for a, b in itertools.product(readings(x), readings(y)):
        for flush in ("no", "yes"):
            yield from num.round_to(operation(a, b), TINY, ftz=flush)


@pytest.mark.parametrize("text", OPERATIONS)
def test_operands_and_results_may_be_flushed(text):
    pairs = list(itertools.product(VALUES, VALUES))
    x, y = (np.array([float(p[k]) for p in pairs]) for k in (0, 1))
    spec = er.parse(f"spec s(x: {TINY.text}[N], y: {TINY.text}[N]) -> {TINY.text}[N] {{ return round<{TINY.text}>(within<{TINY.text}, ftz>({text})) }}")
    result = spec(x=x, y=y)
    legal = [list(dict.fromkeys(num.to_float(v) for v in results(OPERATIONS[text], *pair))) for pair in pairs]
    for k in range(max(map(len, legal))):
        out = np.array([values[k % len(values)] for values in legal])
        refused = np.flatnonzero(~np.asarray(result.covers(out)))
        assert not len(refused), f"{text} of {pairs[refused[0]]}: {out[refused[0]]} is refused"
    plain = er.parse(f"spec s(x: {TINY.text}[N], y: {TINY.text}[N]) -> {TINY.text}[N] {{ return round<{TINY.text}>(within<{TINY.text}>({text})) }}")(x=x, y=y)
    assert not all(np.asarray(plain.covers(np.array([v[k % len(v)] for v in legal]))).all() for k in range(2))  # the flag matters


def test_a_subnormal_divisor_may_be_read_as_zero():
    x, y = torch.tensor([1.0, 3.0]), torch.tensor([2.0**-127, 2.0**-149])
    flushed = er.expr("within<f32, ftz>(x / y)")(x=x, y=y)
    assert flushed.covers(torch.tensor([float("inf")] * 2)).all() and flushed.covers(x / y).all()
    kept = er.expr("within<f32>(x / y)")(x=x, y=y)
    assert kept.covers(torch.tensor([2.0**127, float("inf")])).all() and not kept.covers(torch.tensor([float("inf"), 0.0])).any()
