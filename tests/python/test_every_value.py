"""Every bf16 and f16 value through every function of one number, rounded once: against mpmath, which knows nothing of this code.

A sixteenth of the values in every run; all of them with   ERX_LONG=1 pytest tests/python/test_every_value.py
"""
import math
import os

import ml_dtypes
import mpmath
import numpy as np
import pytest

import erx as er

STEP = 1 if os.environ.get("ERX_LONG") else 16
FORMATS = {"bf16": (ml_dtypes.bfloat16, 8, -126, 127), "f16": (np.float16, 11, -14, 15)}  # precision, emin, emax
INF = math.inf
# The exact function, and its values at the infinities, +0 and -0 by IEEE 754-2019 section 9.2.1 (and C's annex F).
FUNCTIONS = {
    "exp": (mpmath.exp, (0.0, INF), (1.0, 1.0)), "exp2": (lambda x: mpmath.power(2, x), (0.0, INF), (1.0, 1.0)),
    "expm1": (mpmath.expm1, (-1.0, INF), (0.0, -0.0)), "log": (mpmath.log, (math.nan, INF), (-INF, -INF)),
    "log2": (lambda x: mpmath.log(x) / mpmath.log(2), (math.nan, INF), (-INF, -INF)),
    "log10": (lambda x: mpmath.log(x) / mpmath.log(10), (math.nan, INF), (-INF, -INF)),
    "log1p": (mpmath.log1p, (math.nan, INF), (0.0, -0.0)), "sin": (mpmath.sin, (math.nan, math.nan), (0.0, -0.0)),
    "cos": (mpmath.cos, (math.nan, math.nan), (1.0, 1.0)), "tanh": (mpmath.tanh, (-1.0, 1.0), (0.0, -0.0)),
    "erf": (mpmath.erf, (-1.0, 1.0), (0.0, -0.0)), "sigmoid": (lambda x: 1 / (1 + mpmath.exp(-x)), (0.0, 1.0), (0.5, 0.5)),
    "sqrt": (mpmath.sqrt, (math.nan, INF), (0.0, -0.0)), "rsqrt": (lambda x: 1 / mpmath.sqrt(x), (math.nan, 0.0), (INF, -INF)),
    "floor": (mpmath.floor, (-INF, INF), (0.0, -0.0)), "ceil": (mpmath.ceil, (-INF, INF), (0.0, -0.0)),
    "trunc": (lambda x: mpmath.sign(x) * mpmath.floor(abs(x)), (-INF, INF), (0.0, -0.0)),
    "rint": (mpmath.nint, (-INF, INF), (0.0, -0.0)), "abs": (abs, (INF, INF), (0.0, 0.0)), "sign": (mpmath.sign, (-1.0, 1.0), (0.0, -0.0)),
}
DOMAIN = {"log": 0, "log2": 0, "log10": 0, "log1p": -1, "sqrt": 0, "rsqrt": 0}
ODD = {"sin", "tanh", "erf", "expm1", "log1p", "floor", "ceil", "trunc", "rint"}  # a zero result has the sign of x
SATURATED = {"tanh": 1, "erf": 1}


def values(name):
    """All values of the format as doubles, infinities included, NaN not."""
    dtype = FORMATS[name][0]
    bits = np.arange(0, 65536, dtype=np.uint32).astype(np.uint16)
    x = bits.view(dtype).astype(np.float64)
    return x[~np.isnan(x)]


def to_odd(v):
    """The 53-bit double that any rounding to fewer bits treats as it would the real v: cut, with the last bit set if something was lost."""
    with mpmath.workprec(53):
        y = float(+v)
    if y in (INF, -INF) or y == v:
        return y
    if abs(y) < 1e-290:  # far below both formats: the sign is all that counts
        return math.copysign(1e-290, v)
    if abs(v) < abs(y):
        y = math.nextafter(y, 0)
    return y if np.float64(y).view(np.int64) & 1 else math.nextafter(y, math.copysign(INF, y))


def exact(function, name, x):
    """A double that rounds as the exact value does."""
    if math.isinf(x):
        return FUNCTIONS[name][1][x > 0]
    if x == 0:
        return FUNCTIONS[name][2][math.copysign(1, x) < 0]
    if x < DOMAIN.get(name, -INF):
        return math.nan
    if name == "log1p" and x == -1:
        return -INF
    if name in ("exp", "exp2", "expm1", "sigmoid") and abs(x) > 1000:  # past both formats, or next to an end of the range
        tiny = 1e-290
        return {"exp": 1e290 if x > 0 else tiny, "exp2": 1e290 if x > 0 else tiny, "expm1": 1e290 if x > 0 else math.nextafter(-1, 0),
                "sigmoid": math.nextafter(1, 0) if x > 0 else tiny}[name]
    if name in SATURATED and abs(x) > 100:
        return math.copysign(math.nextafter(1, 0), x)
    with mpmath.workprec(160 + (160 if name in ("sin", "cos") else 0)):
        y = to_odd(function(mpmath.mpf(x)))
    if y == 0:
        return math.copysign(0.0, x) if name in ODD else 0.0
    return y


def rounded(y, name):
    """To nearest even at the precision of the format, in doubles that hold every step exactly."""
    _, p, emin, emax = FORMATS[name]
    y = np.asarray(y, np.float64)
    finite = np.isfinite(y) & (y != 0)
    exponent = np.maximum(np.frexp(np.where(finite, y, 1.0))[1] - 1, emin)
    quantum = np.ldexp(1.0, exponent - p + 1)
    r = np.where(finite, np.copysign(np.rint(np.abs(y) / quantum) * quantum, y), y)
    largest = (2 - 2.0 ** (1 - p)) * 2.0**emax
    return np.where(np.abs(r) > largest, np.copysign(INF, r), r)


@pytest.mark.parametrize("fmt", FORMATS)
@pytest.mark.parametrize("name", FUNCTIONS)
def test_every_value(name, fmt):
    x = values(fmt)[hash_offset(name, fmt)::STEP]
    x = np.concatenate([x, [0.0, -0.0, INF, -INF, 1.0, -1.0]])
    with np.errstate(all="ignore"):
        want = rounded([exact(FUNCTIONS[name][0], name, v) for v in x.tolist()], fmt)
        data = x.astype(FORMATS[fmt][0])
    result = er.expr(f"round<{fmt}>({name}(x))")(x=data)
    covered = np.asarray(result.covers(want, signed_zero=name != "sign"))
    wrong = np.flatnonzero(~covered)
    assert wrong.size == 0, f"{name}, {fmt}: {wrong.size} wrong, first x = {x[wrong[0]].hex()}: {want[wrong[0]].hex()} is refused"
    # And nothing beside it.
    lo, hi = np.asarray(result.lo, np.float64), np.asarray(result.hi, np.float64)
    plain = np.isfinite(want)
    assert np.array_equal(lo[plain], want[plain]) and np.array_equal(hi[plain], want[plain])
    beside = np.where(np.isnan(want), 1.0, np.nan)
    assert not np.asarray(result.covers(beside)).any()


def hash_offset(name, fmt):
    return sum(map(ord, name + fmt)) % STEP


def test_the_oracle_sees_a_wrong_rounding():
    """One step off, or rounded twice, is seen; and the double stands for the real."""
    with mpmath.workprec(200):
        v = 1 + mpmath.mpf(2) ** -8 + mpmath.mpf(2) ** -80
    assert rounded([to_odd(v)], "bf16")[0] == 1 + 2.0**-7
    assert rounded([float(v)], "bf16")[0] == 1.0  # a plain double has lost it
    x = np.array([0.5, 3.0], ml_dtypes.bfloat16)
    result = er.expr("round<bf16>(exp(x))")(x=x)
    want = rounded([exact(mpmath.exp, "exp", v) for v in (0.5, 3.0)], "bf16")
    assert result.covers(want).all() and not result.covers(want * (1 + 2.0**-7)).any()
