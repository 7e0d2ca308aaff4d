"""Random specs against the oracle: every legal execution is covered, and a deterministic spec allows its one value only.

The number and the seed can be set: ERX_EXPRESSIONS=20000 ERX_SEED=5 pytest tests/python/test_random_expressions.py
"""
import os
import random

import numpy as np
import pytest

import erx as er
import oracle_numbers as num
from expressions import Generator
from oracle import indices, outcomes
from oracle_numbers import F32, INF, Undecided, Unspecified

COUNT = int(os.environ.get("ERX_EXPRESSIONS", 3000))
SEED = int(os.environ.get("ERX_SEED", 1))
BATCH = 250


def executions(case, rng, limit=200, tally=None):
    """Per element: the values of its legal executions and whether they are all; None where the oracle has no answer."""
    found = {}
    for index in indices(case.node.shape):
        try:
            found[index] = outcomes(case.node, index, limit, rng, tally)
        except (Undecided, Unspecified):
            found[index] = None
    return found


def stored(values, fmt):
    """What an array can hold of a real result: stored once, to nearest even, in f32."""
    if fmt is not None:
        return [num.to_float(v) for v in values]
    out = []
    for v in values:
        try:
            out += [num.to_float(r) for r in num.round_to(v, F32)]
        except Undecided:
            pass
    return out


def explain(seed, case, what):
    inputs = "\n".join(f"  {n} = {v.astype(np.float64).tolist() if hasattr(v, 'astype') else v} ({getattr(v, 'dtype', 'number')})"
                       for n, v in case.inputs.items())
    return f"{what}\nseed {seed}\n{case.text}\n{inputs}"


def evaluate(case):
    spec = er.parse(case.text) if case.is_spec else er.expr(case.text)
    return spec(**case.inputs)


def array(values, shape, fmt):
    """Values of the result's format: f64 holds them all."""
    return np.array(values, np.float64 if fmt is not None else np.float32).reshape(shape)


class Tally:
    """How sharp the sets are, over elements whose executions are all known."""

    def __init__(self):
        self.elements = self.single = self.skipped = self.runs = 0
        self.widths = []

    def __str__(self):
        mean = sum(self.widths) / len(self.widths) if self.widths else 1
        return (f"{self.elements} elements, {self.runs} executions, {self.skipped} without an answer of the oracle; {self.single} deterministic ones "
                f"are points; hulls of the others are {mean:.2f} times as wide as the executions' on average")


def covers_each(result, out, one_choice):
    """Which elements are covered; where one choice is made for the whole call, each element with a call of its own."""
    if not one_choice or out.size < 2:
        return np.asarray(result.covers(out))
    covered = np.zeros(out.shape, bool)
    for i in indices(out.shape):
        where = np.zeros(out.shape, bool)
        where[i] = True
        covered[i] = np.asarray(result.covers(out, where=where))[i]
    return covered


def judged(seed, case, found, tally):
    """The result of a case with its ends, and the executions that the oracle has of its elements."""
    known = {i: f for i, f in found.items() if f is not None}
    tally.elements += len(found)
    tally.skipped += len(found) - len(known)
    try:
        result = evaluate(case)
        lo, hi = np.asarray(result.lo), np.asarray(result.hi)
    except Exception as error:
        raise AssertionError(explain(seed, case, f"the call fails: {type(error).__name__}: {error}")) from error
    assert lo.shape == case.node.shape, explain(seed, case, f"shape {lo.shape}")
    return result, lo, hi, known


def check_case(seed, tally):
    rng = random.Random(seed)
    case = Generator(rng, depth=rng.choice([1, 2, 2, 3])).case()
    found = executions(case, rng, tally=tally)
    result, lo, hi, known = judged(seed, case, found, tally)
    columns = {i: stored(values, case.fmt) for i, (values, _) in known.items()}
    mask = np.zeros(case.node.shape, bool)
    for i, c in columns.items():
        mask[i] = bool(c)
    if not mask.any():
        return
    for k in range(max(map(len, columns.values()))):
        row = [columns[i][k % len(columns[i])] if i in columns and columns[i] else 0.0 for i in indices(case.node.shape)]
        out = array(row, case.node.shape, case.fmt)
        covered = covers_each(result, out, one_choice="split({1" in case.text).reshape(case.node.shape)
        wrong = [i for i in indices(case.node.shape) if mask[i] and not covered[i]]
        assert not wrong, explain(seed, case, f"a legal execution is refused at {wrong[0]}: {float(out[wrong[0]]).hex()}, "
                                  f"the set is within [{float(lo[wrong[0]])!r}, {float(hi[wrong[0]])!r}]")
    for i, (values, complete) in known.items():
        if complete:
            check_tightness(seed, case, result, i, values, lo[i], hi[i], tally)


def check_tightness(seed, case, result, index, values, lo, hi, tally):
    """The hull against the executions' hull; of a deterministic spec the one value, and nothing beside it."""
    if case.fmt is None:
        return
    finite = [num.finite(v) for v in values if isinstance(v, num.Fraction) or v is num.NEG0]
    if not case.deterministic:
        if finite:
            steps = count_steps(min(finite), max(finite), case.fmt)
            allowed = count_steps(num.from_float(lo), num.from_float(hi), case.fmt)
            if steps and allowed:
                tally.widths.append(allowed / steps)
        return
    assert len(values) == 1, explain(seed, case, f"the oracle found {values} for a deterministic spec")
    tally.single += 1
    value = num.to_float(values[0])
    if finite:
        assert lo == hi == value, explain(seed, case, f"one value {value!r} at {index}, the set is [{lo!r}, {hi!r}]")
        beside = [num.step(finite[0], case.fmt, up) for up in (False, True)] + [num.NAN, num.INF]
    else:
        beside = [num.ZERO, case.fmt.max_finite] + [s for s in (num.NAN, num.INF, num.NINF) if s is not values[0]]
    for other in beside:
        if other is None:
            continue
        out = np.zeros(case.node.shape)
        out[index] = num.to_float(other)
        covered = np.asarray(result.covers(out)).reshape(case.node.shape)
        assert not covered[index], explain(seed, case, f"{out[index]!r} at {index} is allowed beside the only value {value!r}")


def count_steps(low, high, fmt, most=1000):
    """Number of values of the format in [low, high]."""
    if isinstance(low, num.Special) and low is not num.NEG0 or isinstance(high, num.Special) and high is not num.NEG0:
        return None
    high = num.finite(high)
    n, x = 1, num.finite(low)
    while x < high and n < most:
        x = num.step(x, fmt, True)
        n += 1
        if x is INF or x is None:
            return n
    return n


@pytest.mark.parametrize("batch", range(COUNT // BATCH))
def test_every_execution_is_covered_and_single_values_are_exact(batch):
    tally = Tally()
    for k in range(BATCH):
        check_case(SEED * 10**6 + batch * BATCH + k, tally)
    print(tally)
    assert tally.single > BATCH / 10 and tally.skipped < tally.elements / 10
