"""Outputs among which are infinities and NaN: each is looked at as a number is, in blocks with and without them."""

import numpy as np
import pytest

import erx as er


def squares(n: int, share: float) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(n)
    x = rng.standard_normal(n).astype(np.float32)
    odd = np.array([np.inf, -np.inf, np.nan, 3e38, -3e38, 0.0, -0.0], np.float32)
    at = rng.random(n) < share
    x[at] = rng.choice(odd, at.sum())
    with np.errstate(all="ignore"):
        return x, x * x + x


@pytest.mark.parametrize("share", [0.001, 0.5, 1.0])
def test_every_wrong_special_value_is_found_and_no_right_one(share: float) -> None:
    x, out = squares(5000, share)
    result = er.expr("in f32 { x*x + x }")(x=x)
    report = result.check(out)
    assert report.ok
    assert report.tightness == 1.0
    rng = np.random.default_rng(1)
    places = np.sort(rng.choice(len(out), 40, replace=False))
    wrong = out.copy()
    for k in places:
        others = [v for v in (np.nan, np.inf, -np.inf, np.float32(7.25)) if not (v == out[k] or (np.isnan(v) and np.isnan(out[k])))]
        wrong[k] = others[rng.integers(len(others))]
    report = result.check(wrong)
    assert report.violations == len(places)
    assert np.array_equal(np.asarray(report.indices).ravel(), places)


def test_what_special_values_give_beside_numbers_goes_by_the_sign_of_the_numbers() -> None:
    values = np.array([np.inf, -np.inf, np.nan, 2.0, -3.0, 0.0, -0.0, 1e-40, -1e-40, 3e38], np.float32)
    a, b = (v.ravel().copy() for v in np.meshgrid(values, values))
    with np.errstate(all="ignore"):
        for text, out in {"x + y": a + b, "x - y": a - b, "x * y": a * b, "x / y": a / b}.items():
            result = er.expr(f"round<f32>({text})")(x=a, y=b)
            assert result.check(out, signed_zero=True).ok, text
            assert result.check(np.where(np.isinf(out), -out, out)).violations == np.isinf(out).sum(), text
            assert result.check(np.where(np.isnan(out), np.float32(1), out)).violations == np.isnan(out).sum(), text
