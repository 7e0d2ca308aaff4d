"""What a check says of where violations lie, from data to text: places, values, several results, masks, complex numbers, threads."""
import json

import numpy as np
import pytest

import erx as er


def noise(*shape, seed=0):
    return np.random.default_rng(seed).standard_normal(shape).astype(np.float32)


def said(spec, x, out, **options):
    report = er.expr(spec)(x=x).check(out, **options)
    assert not report
    text = str(report)
    for line in report.where:
        assert f"  where: {line}\n" in text
    for line in report.causes:
        assert f"  {line}\n" in text and line.startswith("consistent with ")
    told = json.loads(report.to_json())["results"][0]
    assert told["where"] == report.where and told["causes"] == report.causes
    assert len(told["outside"]) == len(told["outside_ulps"]) == min(report.violations, 10000)
    return report.where, report.causes


def test_values_that_belong_elsewhere():
    x = noise(8, 8)
    swapped = x.copy()
    swapped[[2, 5]] = x[[5, 2]]
    assert said("x", x, swapped) == (["every element of rows 2 and 5", "each of the rows 2 and 5 holds what the other may hold"], ["consistent with two rows exchanged"])
    where, causes = said("x", x, x.T.copy())
    assert where[-1] == "each is what the element with its row and column exchanged may be" and causes == ["consistent with a transposed result"]
    moved = np.concatenate([x[:, 1:], x[:, -1:]], axis=1)
    where, causes = said("x", x, moved)
    assert where == ["every element of columns 0 to 6", "each is what the element one column further may be, where there is one"]
    assert causes == ["consistent with an index that is off by one"]
    assert said("x", x, -x) == (["every element checked", "each of them has the sign of an allowed value changed"], ["consistent with a wrong sign"])
    assert said("x", x, np.full_like(x, np.nan)) == (["every element checked", "each of them is NaN"], [])


def test_wide_sets_are_asked_too():
    """Sums in any order: a row of a product that holds another row's values."""
    A, B = noise(16, 40, seed=1), noise(40, 12, seed=2)
    result = er.expr("acc<f32>(A @ B)")(A=A, B=B)
    out = A @ B
    er.assert_covers(result, out)
    wrong = out.copy()
    wrong[[3, 9]] = out[[9, 3]]
    report = result.check(wrong)
    assert report.where == ["every element of rows 3 and 9", "each of the rows 3 and 9 holds what the other may hold"]
    assert report.causes == ["consistent with two rows exchanged"]
    tail = out.copy()
    tail[12:, 8:] = 0
    report = result.check(tail)
    assert report.where == ["every element of the block of rows from 12 on and columns from 8 on", "each of them is 0"]
    assert report.causes == ["consistent with elements that were never written"]


def test_one_ulp_scattered_is_no_structure():
    x = noise(32, 64, seed=3)
    for share in (0.01, 0.05, 0.5):
        out = np.where(np.random.default_rng(4).random(x.shape) < share, np.nextafter(x, np.float32(9)), x)
        where, causes = said("x", x, out)
        assert causes == [] and where == ["scattered over the whole tensor"]


def test_only_what_a_mask_leaves():
    x = noise(16, 32, seed=5)
    out = x.copy()
    out[:, 16:] += 1
    mask = np.zeros(x.shape, bool)
    mask[::2] = True
    assert said("x", x, out, where=mask)[0] == ["every element of the block of rows 0, 2, ..., 14 (period 2) and columns from 16 on"]
    mask = np.zeros(x.shape, bool)
    mask[:, 16:] = True
    assert said("x", x, out, where=mask)[0] == ["every element checked"]


def test_complex_numbers():
    x = (noise(12, 16, seed=6) + 1j * noise(12, 16, seed=7)).astype(np.complex64)
    out = x.copy()
    out[4].imag += 1
    assert said("x", x, out)[0] == ["every element of row 4"]
    swapped = x.copy()
    swapped[:, [0, 3]] = x[:, [3, 0]]
    assert said("x", x, swapped)[1] == ["consistent with two columns exchanged"]


def test_several_results_are_named():
    spec = er.parse("spec s(x: f32[N, M]) -> (a: f32[N, M], b: f32[N, M]) {\n  return (x, round<f32>(2 * x))\n}")
    x = noise(8, 16, seed=8)
    a, b = x.copy(), 2 * x
    a[3] = 7
    b[:, 4:8] = 0
    report = spec(x=x).check(a, b)
    assert report.where == ["a: every element of row 3", "b: every element of columns 4 to 7", "b: each of them is 0"]
    assert report.causes == ["b: consistent with elements that were never written"]


@pytest.mark.parametrize("n", [1 << 16, 200_001])
def test_long_axes(n):
    x = noise(n, seed=9)
    out = x.copy()
    out[n // 2:] *= np.float32(1.5)
    assert said("x", x, out)[0][0] == f"every element of indices from {n // 2} on"
