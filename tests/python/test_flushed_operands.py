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


TINY_X, SMALL_Y = np.float32([2.0**-130]), np.float32([2.0**-126])
SELECTIONS = ["where(w, x, 0.3)", "any_of(0.3, x)", "any_of(any_of(1.0, 0.5), x)", "minimum(x, 0.3)", "maximum(x, any_of(0, -0.5))", "clamp(x, -0.3, 0.3)",
              "-where(w, -x, 0.3)", "abs(where(w, x, 0.3))", "concat(where(w, x, 0.3), y)[0:1]", "x"]


@pytest.mark.parametrize("text", SELECTIONS)
def test_what_selects_among_values_passes_them_to_the_operation_that_reads_them(text):
    """A number beside a tensor makes the selection real; the tensor's subnormal is still an operand that hardware flushes."""
    def covers(options, tail, out):
        spec = er.parse(f"spec s(x: f32[N], y: f32[N], w: bool[N]) -> f32[N] {{ return in f32{options} {{ {text} {tail} }} }}")
        return bool(spec(x=TINY_X, y=SMALL_Y, w=np.array([True])).covers(np.float32(out)).all())
    assert covers(", daz", "+ y", SMALL_Y) and not covers(", daz", "+ y", SMALL_Y + TINY_X)
    assert covers("", "+ y", SMALL_Y + TINY_X) and not covers("", "+ y", SMALL_Y)
    assert covers(", daz=free", "+ y", SMALL_Y) and covers(", daz=free", "+ y", SMALL_Y + TINY_X)
    within = er.parse(f"spec s(x: f32[N], y: f32[N], w: bool[N]) -> f32[N] {{ return round<f32>(within<f32, ftz>({text} * 1048576)) }}")
    result = within(x=TINY_X, y=SMALL_Y, w=np.array([True]))
    assert result.covers(np.zeros(1, np.float32)).all() and result.covers(TINY_X * np.float32(1048576)).all()
