"""The oracle itself: against NumPy and ml_dtypes where these round once, and against values worked out by hand."""
import random
from fractions import Fraction as Q

import ml_dtypes
import numpy as np
import pytest

import oracle
import oracle_functions
from oracle_numbers import BF16, E4M3FN, E5M2, F16, F32, INF, NAN, NEG0, Format, from_float, round_to, step, to_float
from oracle_orders import Additions

P3 = Format("three bits", 8, 2)


@pytest.mark.parametrize("fmt, dtype", [(F16, np.float16), (BF16, ml_dtypes.bfloat16), (E5M2, ml_dtypes.float8_e5m2), (E4M3FN, ml_dtypes.float8_e4m3fn)])
def test_rounds_as_numpy_from_float32(fmt, dtype):
    rng = random.Random(1)
    x = np.array([rng.gauss(0, 1) * 2.0 ** rng.randint(-40, 20) for _ in range(5000)], np.float32)
    x[::3] = (x[::3].view(np.uint32) & np.uint32(0xFFF80000)).view(np.float32)  # ties
    with np.errstate(all="ignore"):
        expected = x.astype(dtype).astype(np.float64)
    got = np.array([to_float(round_to(from_float(float(v)), fmt)[0]) for v in x])
    assert np.array_equal(got, expected, equal_nan=True)


@pytest.mark.parametrize("fmt, dtype", [(F16, np.float16), (F32, np.float32)])
def test_steps_as_nextafter(fmt, dtype):
    rng = random.Random(2)
    for _ in range(2000):
        x = dtype(rng.gauss(0, 1) * 2.0 ** rng.randint(-14 if fmt is F16 else -140, 14))
        for up in (False, True):
            assert to_float(step(from_float(float(x)), fmt, up)) == float(np.nextafter(x, dtype(np.inf if up else -np.inf)))


def test_rounding_by_hand():
    assert round_to(Q(464), E4M3FN) == [Q(448)] and round_to(Q(465), E4M3FN) == [NAN]
    assert round_to(Q(464), E4M3FN, "rna") == [NAN] and round_to(Q(500), E4M3FN, "rne", "sat") == [Q(448)]
    assert round_to(Q(65520), F16) == [INF] and round_to(Q(65519), F16) == [Q(65504)]
    assert round_to(Q(65505), F16, "rtp") == [INF] and round_to(Q(10**6), F16, "rtz") == [Q(65504)]
    assert round_to(1 + Q(1, 2**8), BF16) == [Q(1)] and round_to(1 + Q(1, 2**8), BF16, "rto") == [1 + Q(1, 2**7)]
    assert set(round_to(1 + Q(1, 2**10), BF16, "sr")) == {Q(1), 1 + Q(1, 2**7)}
    assert round_to(-Q(1, 2**200), F16) == [NEG0] and round_to(Q(1, 2**20), F16, ftz="yes") == [Q(0)]
    assert set(round_to(Q(1, 2**14) - Q(1, 2**26), F16, ftz="yes")) == {Q(0), Q(1, 2**14)}
    assert round_to(oracle_functions.exp(Q(1)), BF16) == [Q(87, 32)]


def test_orders_by_hand():
    leaves = [Q(1024), Q(16), Q(128)]
    assert Additions(P3).any(leaves) == {Q(1024), Q(1280)}  # the second only with one rounding of all three
    assert Additions(P3).assoc(leaves) == {Q(1024)} and Additions(P3).seq([Q(16), Q(128), Q(1024)]) == {Q(1024)}
    products = [(Q(5, 4), Q(5, 4)), (Q(-1), Q(3, 2))]  # 25/16 rounds to 3/2
    assert Additions(P3, "never").any(products) == {Q(0)} and Additions(P3, "free").any(products) == {Q(0), Q(1, 16)}
    assert Additions(P3, "always").seq(products) == {Q(0)} and Additions(P3, "free").seq(products) == {Q(0), Q(1, 16)}
    three = [Q(4), Q(1, 2), Q(1, 2)]
    assert Additions(P3).seq(three) == {Q(4)} and Additions(P3).rseq(three) == {Q(5)} and Additions(P3).pairwise(three, 1) == {Q(5)}
    assert Additions(P3).height([Q(1)] * 4, 2) == {Q(4)} and Additions(P3).height([Q(1)] * 4, 1) == set()


def test_choices_are_listed_once_and_shared():
    rng = random.Random(0)
    two = oracle.AnyOf(oracle.Literal(Q(1)), oracle.Literal(Q(2)))
    assert oracle.outcomes(oracle.Map("sub", two, two), (), 10, rng) == ([Q(0)], True)
    again = oracle.AnyOf(oracle.Literal(Q(1)), oracle.Literal(Q(2)))
    values, complete = oracle.outcomes(oracle.Map("sub", two, again), (), 10, rng)
    assert set(values) == {Q(-1), Q(0), Q(1)} and complete
    assert oracle.outcomes(oracle.Map("add", two, again), (), 2, rng)[1] is False


def test_contraction_fuses_either_product_of_an_addition():
    a = oracle.Literal(Q(5, 4))  # 25/16 rounds to 3/2
    left, right = oracle.Map("mul", a, a), oracle.Map("mul", a, a)
    difference = oracle.Map("sub", left, right)
    inside = {id(left), id(right), id(difference)}
    assert oracle.outcomes(oracle.Block(P3, difference, inside), (), 10, random.Random(0)) == ([Q(0)], True)
    values, complete = oracle.outcomes(oracle.Block(P3, difference, inside, contract=True), (), 10, random.Random(0))
    assert complete and set(values) == {Q(0), Q(1, 16), Q(-1, 16)}
