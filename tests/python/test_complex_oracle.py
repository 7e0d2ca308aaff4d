"""Random complex specs: every legal execution that the oracle lists is covered, both parts together; where it lists them all and
there is one, nothing else is."""
import os
import random

import numpy as np
import pytest

import erx as er
import oracle
from complex_expressions import Complex
from oracle_numbers import Undecided, Unspecified, to_float

COUNT = int(os.environ.get("ERX_RANDOM_CASES", 150))


def check(case, seed):
    rng = random.Random(seed)
    result = er.expr(case.text)(**case.inputs)
    singles = 0
    for index in oracle.indices(case.pair.shape):
        try:
            listed, complete = oracle.outcomes(case.pair, index, 200, rng)
        except (Undecided, Unspecified):
            continue
        found = {complex(*map(to_float, z)) if all(map(np.isfinite, map(to_float, z))) else tuple(map(to_float, z)) for z in listed}
        for value in listed:
            out = np.zeros(case.pair.shape, np.complex128)
            out[index] = complex(*map(to_float, value))
            assert result.covers(out)[index], f"seed {seed}: {case.text}\n{case.inputs}\nat {index}: {out[index]} is legal\n{result.check(out)}"
        if complete and len(found) == 1 and isinstance(next(iter(found)), complex):
            value = next(iter(found))
            lo, hi = result.lo[index], result.hi[index]
            if lo == hi:
                assert lo == value, f"seed {seed}: {case.text}: {lo} is not {value}"
                singles += 1
    return singles


@pytest.mark.parametrize("special", [False, True], ids=["numbers", "special"])
def test_every_legal_execution_is_covered(special):
    singles = 0
    for seed in range(COUNT):
        singles += check(Complex(random.Random(seed), special).case(), seed)
    assert singles > COUNT // 4


def test_a_mixed_pair_of_alternatives_is_refuted():
    for seed in range(40):
        rng = random.Random(seed)
        z, w = (np.array([complex(rng.randint(-9, 9), rng.randint(-9, 9)) for _ in range(3)], np.complex64) for _ in range(2))
        result = er.expr("any_of(z, w)")(z=z, w=w)
        assert result.covers(z).all() and result.covers(w).all()
        mixed = z.real + 1j * w.imag
        expected = (mixed == z) | (mixed == w)
        assert (result.covers(mixed.astype(np.complex64)) == expected).all(), seed
