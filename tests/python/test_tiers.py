"""Tiers of precision: a higher one narrows a set and never moves it, and no verdict flips on it; tiles and threads change nothing.

`Group.evaluated_by` forces a tier: `lowest`, where every element begins; `highest`, beyond which none climbs.

    ERX_TIERS=5000 ERX_SEED=3 pytest -s tests/python/test_tiers.py
"""
import os
import random
import re

import numpy as np
import pytest

import erx as er
from erx._result import Result
from expressions import Generator
from graphs import Graphs

COUNT = int(os.environ.get("ERX_TIERS", 250))
SEED = int(os.environ.get("ERX_SEED", 1))
NAN, PINF, NINF, NO_REALS = 1, 2, 4, 32


def evaluated_by(result, **how):
    return Result(result._group.evaluated_by(**how), result._index)


def ends(result):
    return result._group.hull(result._index)


def candidates(lo, hi, rng):
    """Outputs that a verdict may be asked for: the ends, their neighbours, values between, special values."""
    lo, hi = np.asarray(lo, float), np.asarray(hi, float)
    between = lo + (hi - lo) * rng.random()
    outs = [lo, hi, between]
    for step in (np.float32, np.float16):
        with np.errstate(all="ignore"):
            outs += [np.nextafter(lo.astype(step), step(-np.inf)), np.nextafter(hi.astype(step), step(np.inf)), between.astype(step)]
    return outs + [np.full(lo.shape, v) for v in (np.nan, np.inf, -np.inf, 0.0, -0.0)]


def verdicts(result, outs):
    dtype = np.float64 if str(result.dtype) != "real" else np.float32
    with np.errstate(all="ignore"):
        return np.array([np.asarray(result.covers(np.asarray(o, dtype), signed_zero=z)) for o in outs for z in (False, True)])


def contains(outer, inner):
    """Of hulls: every member of `inner` is one of `outer`."""
    (lo, hi, flags), (lo_in, hi_in, flags_in) = outer, inner
    real = (flags_in & NO_REALS) == 0
    holds = ~real | (((flags & NO_REALS) == 0) & (lo <= lo_in) & (hi_in <= hi))
    specials = NAN | PINF | NINF
    return bool(np.all(holds & ((flags_in & specials & ~flags) == 0)))


def same(a, b):
    return all(np.asarray(x).tobytes() == np.asarray(y).tobytes() for x, y in zip(a, b))


def case_of(seed):
    rng = random.Random(seed)
    case = Graphs(rng).graph() if seed % 5 == 0 else Generator(rng, depth=rng.choice([1, 2, 2, 3])).case()
    return case, rng


def result_of(case):
    return er.parse(case.text)(**case.inputs) if case.is_spec else er.expr(case.text)(**case.inputs)


def laws(result, rng, text):
    """Asserts every law; returns how the tiers' sets compare with the whole ladder's."""
    whole = ends(result)
    by = {name: evaluated_by(result, **how) for name, how in {
        "float64 alone": {"highest": "f64"}, "up to MPFR": {"highest": "big"}, "MPFR alone": {"lowest": "big", "highest": "big"},
        "exact": {"lowest": "exact"}, "tiles of 1": {"tile": 1, "threads": 3}, "tiles of 3": {"tile": 3, "threads": 1}}.items()}
    hulls = {name: ends(r) for name, r in by.items()}
    for name in ("tiles of 1", "tiles of 3"):
        assert same(hulls[name], whole), (name, text)
    for outer, inner in (("float64 alone", "up to MPFR"), ("float64 alone", "MPFR alone")):
        assert contains(hulls[outer], hulls[inner]), (outer, inner, text, hulls[outer], hulls[inner])
    for name in ("up to MPFR", "MPFR alone", "float64 alone"):
        assert contains(hulls[name], whole), (name, text, hulls[name], whole)
    # What is settled is decided alike from wherever an element starts.
    if str(result.dtype) != "real":
        assert same(hulls["exact"], whole), ("exact", text, hulls["exact"], whole)
    else:
        assert contains(whole, hulls["exact"]) or contains(hulls["exact"], whole), ("exact", text)
    outs = candidates(*whole[:2], rng)
    verdict = verdicts(result, outs)
    for name in ("exact", "tiles of 1", "tiles of 3"):
        flips = np.argwhere(verdicts(by[name], outs) != verdict)
        assert not len(flips), (name, text, [(outs[i[0] // 2][tuple(i[1:])], "signed zero" if i[0] % 2 else "", verdict[tuple(i)]) for i in flips[:5]])
    refused = ~verdict
    for name in ("float64 alone", "up to MPFR", "MPFR alone"):
        assert not np.any(~verdicts(by[name], outs) & verdict), (name, text)  # refused below, allowed above: never
    assert refused.any() or np.all(whole[2] & NAN), text  # NaN beside everything: nothing can be refused
    return same(hulls["float64 alone"], whole), same(hulls["up to MPFR"], whole)


@pytest.mark.parametrize("batch", range(5))
def test_tiers_nest_and_no_verdict_flips(batch):
    alone = upto = cases = 0
    for k in range(max(COUNT // 5, 1)):
        case, rng = case_of(SEED * 10**6 + batch * 10**5 + k)
        if case is None:
            continue
        same_alone, same_upto = laws(result_of(case), rng, case.text)
        alone, upto, cases = alone + same_alone, upto + same_upto, cases + 1
    print(f"{cases} specs: float64 alone has the same sets for {alone}, up to MPFR for {upto}")


def decided_by(result):
    text = str(result.check(np.zeros(result.shape, np.float64)))
    line = next(x for x in text.splitlines() if "decided by" in x)
    return [int(n.replace(",", "")) for n in re.findall(r" (\d[\d,]*)(?:,| |$)", line.split(":", 1)[1])]


def test_a_forced_tier_is_in_force():
    """0.1 * 10.0048828125 is a tie of f16, which no binary enclosure decides: exact rationals do."""
    x = np.float32([10.0048828125])
    spec = er.parse("spec s(x: f32[N]) -> f16[N] { return round<f16>(0.1 * x) }")(x=x)
    widths = {name: float((r.hi - r.lo)[0]) for name, r in {
        "whole": spec, "f64": evaluated_by(spec, highest="f64"), "big": evaluated_by(spec, highest="big")}.items()}
    assert widths == {"whole": 0, "f64": 2.0**-10, "big": 2.0**-10}
    assert spec.lo[0] == 1
    assert decided_by(evaluated_by(spec, lowest="exact"))[3] == 1
    root = er.parse("spec s(x: f32[N]) -> f16[N] { return round<f16>(sqrt(x)) }")(x=np.float32([1.001953125**2]))
    assert (evaluated_by(root, highest="f64").hi >= root.hi).all() and root.lo == root.hi
    assert decided_by(evaluated_by(root, lowest="big"))[2] == 1


@pytest.mark.parametrize("first", ["", "lo"])
def test_what_was_asked_before_changes_no_verdict(first):
    """A real result that was looked at keeps float64 ends; what is stored from it is decided from its own operands."""
    x = np.float64([10 * (1 + 2.0**-24), 3.0])
    result = er.expr("any_of(0.1 * x, 0.7 * x)")(x=x)
    if first:
        assert result.lo.shape == (2,)
    assert result.covers(np.float32([1.0, 2.1])).all()
    assert list(result.covers(np.float32([1 + 2.0**-23, 0.3]))) == [False, True]


MATRICES = ["acc<f32>(A @ B)", "round<bf16>(acc<f32>(A @ B + C))", "round<f32>(A @ B)", "within<f32>(A @ B - C)", "acc<bf16>(round<bf16>(A) @ round<bf16>(B))"]


@pytest.mark.parametrize("text", MATRICES)
def test_products_of_matrices_on_every_tier(text):
    rng = np.random.default_rng(3)
    A = rng.standard_normal((23, 70)).astype(np.float16)
    B = rng.standard_normal((70, 21)).astype(np.float16)
    B[:, 5] = np.round(B[:, 5] * 4)
    A[3] = np.round(A[3] * 4)
    C = (A.astype(np.float64) @ B.astype(np.float64)).astype(np.float32)
    inputs = {"A": A, "B": B, "C": C}
    laws(er.expr(text)(**{n: v for n, v in inputs.items() if n in text}), random.Random(7), text)


def test_a_tier_without_a_name():
    with pytest.raises(ValueError, match="f64, big and exact"):
        er.expr("round<f32>(x)")(x=1.5)._group.evaluated_by(lowest="best")
