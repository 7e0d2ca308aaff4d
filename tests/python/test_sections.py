"""A check in sections says what a check of everything at once says: verdicts, places, distances, alternatives, findings, tightness.

Tiles of a given size are what makes small results come apart.

    ERX_SECTIONS=5000 ERX_SEED=3 pytest -s tests/python/test_sections.py
"""
import json
import os

import numpy as np
import pytest

import erx as er
from test_tiers import candidates, case_of, ends, evaluated_by, result_of

COUNT = int(os.environ.get("ERX_SECTIONS", 250))
SEED = int(os.environ.get("ERX_SEED", 1))


def told(result, out, **how):
    report = json.loads(result.check(out, **how).to_json())
    report.pop("seconds")
    report.pop("decided")  # what several sections read is counted in each
    return report


def fresh(result, **how):
    """Evaluated anew, so that nothing is known of it."""
    return evaluated_by(result, **how)


@pytest.mark.parametrize("batch", range(5))
def test_random_specs(batch):
    for k in range(max(COUNT // 5, 1)):
        case, rng = case_of(SEED * 10**6 + 7 * 10**7 + batch * 10**5 + k)
        if case is None:
            continue
        result = result_of(case)
        outs = candidates(*ends(result)[:2], rng)
        dtype = np.float64 if str(result.dtype) != "real" else np.float32
        for tile in (1, 2):
            for out in rng.sample(outs, 3):
                with np.errstate(all="ignore"):
                    out = np.asarray(out, dtype)
                mask = None if rng.random() < 0.7 else np.asarray(np.array([rng.random() for _ in range(out.size)]).reshape(out.shape) < 0.5)
                zero = rng.random() < 0.3
                whole = told(fresh(result), out, where=mask, signed_zero=zero)
                parts = told(fresh(result, tile=tile, threads=2), out, where=mask, signed_zero=zero)
                assert whole == parts, (case.text, tile)
                assert (fresh(result, tile=tile).covers(out, where=mask, signed_zero=zero) == result.covers(out, where=mask, signed_zero=zero)).all(), case.text


ROWS = np.random.default_rng(4).standard_normal((9, 6)).astype(np.float32)
SPECS = {
    "product": ("spec s(A: f32[M, K], B: f32[N, K]) -> bf16[M, N] { return round<bf16>(acc<f32>(A @ transpose(B))) }", [ROWS, ROWS[:5]]),
    "softmax": ("spec s(x: f32[M, N]) -> f32[M, N] { return round<f32>(softmax(x)) }", [ROWS]),
    "two results": ("spec s(x: f32[M, N]) -> (y: f32[M, N], m: f32[M]) { let m = max(x, axis=1); return (round<f32>(x - m[:, None]), m) }", [ROWS]),
    "one choice for the call": ('spec s(x: f32[M, N]) -> f16[M, N] { return any_of<"how">(round<f16>(x), round<f16>(round<bf16>(x))) }', [ROWS]),
    "everything mixed": ("spec s(x: f32[M, N]) -> f32[M, N] { return round<f32>(x - max(x)) }", [ROWS]),
    "alternatives": ("spec s(x: f32[M, N]) -> f16[M, N] { return any_of(round<f16>(3 * x), round<f16>(3 * round<bf16>(x))) }", [ROWS]),
    "split": ("spec s(x: f32[M, K]) -> f32[M] { return acc<f32, split({2, 3})>(sum(x, axis=1)) }", [ROWS]),
}


def outputs(name, rng):
    spec = er.parse(SPECS[name][0])(*SPECS[name][1])
    results = spec if isinstance(spec, tuple) else (spec,)
    outs = [np.asarray(r.lo, np.float32) for r in results]
    yield spec, outs
    for k in range(len(outs)):
        for wrong in (np.roll(outs[k], 1, axis=0), -outs[k], np.zeros_like(outs[k]), np.where(rng.random(outs[k].shape) < 0.2, outs[k] * 1.25, outs[k])):
            yield spec, outs[:k] + [wrong.astype(np.float32)] + outs[k + 1:]
        if outs[k].ndim == 2 and outs[k].shape[0] == outs[k].shape[1]:
            yield spec, outs[:k] + [outs[k].T.copy()] + outs[k + 1:]


@pytest.mark.parametrize("name", SPECS)
def test_named_specs(name):
    text, inputs = SPECS[name]
    for _, outs in outputs(name, np.random.default_rng(5)):
        def check(**how):
            spec = er.parse(text)(*inputs)
            first = spec[0] if isinstance(spec, tuple) else spec
            group = first._group.evaluated_by(**how)
            results = er._result.results_of(group)
            report = json.loads(results.check(*outs).to_json())
            report.pop("seconds")
            report.pop("decided")
            return report
        whole = check()
        for tile in (1, 2, 4):
            assert check(tile=tile) == whole, (name, tile)


def test_rules_ask_how_many_elements_there_are_in_all():
    """A sum of few leaves in all has a sharper bound: a section of one that has many keeps the bound of the whole."""
    x = np.random.default_rng(7).standard_normal((2100, 2000)).astype(np.float32)
    spec = er.parse("spec s(x: f32[M, N]) -> f32[M] { return acc<f32>(sum(x, axis=1)) }")
    result = spec(x)
    few = spec(x[:100])
    assert (few.hi - few.lo < (result.hi - result.lo)[:100]).all()  # so there is something to be told apart
    for end in (result.lo, result.hi):
        report = told(fresh(spec(x), tile=40), end.astype(np.float32))
        assert report == told(fresh(spec(x)), end.astype(np.float32))
        assert report["verdict"] == "covered", report["verdict"]


def test_large_results_come_apart():
    """Above the size that is evaluated at once: places, distances and findings are those of the whole."""
    rng = np.random.default_rng(6)
    x = rng.standard_normal((3000, 1111)).astype(np.float32)
    spec = er.parse("spec s(x: f32[M, N]) -> f32[M, N] { return round<f32>(exp(x) - max(x, axis=1, keepdims=true)) }")
    result = spec(x)
    right = (np.exp(x.astype(np.float64)) - x.max(1, keepdims=True)).astype(np.float32)
    assert result.check(right).violations == 0
    wrong = right.copy()
    wrong[2000:, 17] = np.nextafter(wrong[2000:, 17], np.float32(np.inf))
    report = result.check(wrong)
    known = spec(x)
    assert known.lo.shape == x.shape
    at_once = known.check(wrong)
    assert report.violations == at_once.violations == 1000
    assert str(report).splitlines()[:12] == str(at_once).splitlines()[:12]
    assert np.asarray(report.indices).tolist() == [[k, 17] for k in range(2000, 3000)]
