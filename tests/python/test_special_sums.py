"""Special values of what adds up, multiplies or picks: every triple, judged by IEEE 754 arithmetic of the hardware and by fractions."""
import itertools
from fractions import Fraction

import numpy as np
import pytest

import erx as er

F32 = np.finfo(np.float32)
NAMES = ["-inf", "-max", "-1", "-min", "-0", "+0", "min", "1", "max", "inf", "NaN"]
SPECIALS = np.array([-np.inf, -F32.max, -1, -1e-45, -0.0, 0.0, 1e-45, 1, F32.max, np.inf, np.nan], np.float32)
TRIPLES = np.array(list(itertools.product(SPECIALS, repeat=3)), np.float32)
PAIRS = np.array(list(itertools.product(SPECIALS, repeat=4)), np.float32).reshape(-1, 2, 2)


def rounded(q):
    """A rational to nearest even in float32."""
    if q == 0:
        return np.float32(0)
    low = max(Fraction(2) ** -149, Fraction(2) ** (exponent(q) - 23))
    steps = q / low
    whole = steps.numerator // steps.denominator
    rest = steps - whole
    whole += rest > Fraction(1, 2) or (rest == Fraction(1, 2) and whole % 2)
    r = whole * low
    return np.float32(np.inf if r > Fraction(float(F32.max)) else -np.inf if r < -Fraction(float(F32.max)) else float(r))


def exponent(q):
    q, e = abs(q), abs(q).numerator.bit_length() - abs(q).denominator.bit_length()
    return e - 1 if Fraction(2) ** e > q else e


def exact_sum(values):
    """Added exactly, then rounded once; special values and zeros as IEEE 754 adds them, section 6.3 for the signs."""
    with np.errstate(all="ignore"):
        special = np.add.reduce([np.float64(v) for v in values])
    if not np.isfinite(special):
        return np.float32(special)
    total = sum(Fraction(float(v)) for v in values)
    return np.float32(-0.0) if total == 0 and all(np.signbit(v) and v == 0 for v in values) else rounded(total)


def exact_product(values):
    with np.errstate(all="ignore"):
        special = np.multiply.reduce([np.float64(v) for v in values])
    if np.isnan(special) or any(np.isinf(values)):
        return np.float32(special)
    product = Fraction(1)
    for v in values:
        product *= Fraction(float(v))
    return np.copysign(rounded(abs(product)), np.float32(-1 if np.signbit(values).sum() % 2 else 1))


def hardware_sums(values):
    """Every order of float32 additions."""
    with np.errstate(all="ignore"):
        return [(a + b) + c for a, b, c in itertools.permutations(values)]


def same(a, b):
    return (np.isnan(a) & np.isnan(b)) | ((a == b) & (np.signbit(a) == np.signbit(b)))


def only(text, want, signed_zero=True, terms=None, **inputs):
    """Covered everywhere, and none of the special values beside it."""
    result = er.expr(text)(**inputs)
    want = np.asarray(want, np.float32)
    covered = np.asarray(result.covers(want, signed_zero=signed_zero))
    wrong = np.flatnonzero(~covered)
    assert wrong.size == 0, f"{text}: {wrong.size} refused, first {inputs['x'][wrong[0]].tolist()} -> {want[wrong[0]]!r}"
    terms = inputs["x"] if terms is None else terms
    rows = np.abs(terms.reshape(len(want), -1))
    overflow_meets_infinity = np.isinf(rows).any(axis=1) & (rows == F32.max).any(axis=1)
    for other in SPECIALS:
        beside = np.full_like(want, other)
        # A sum may start at +0, so sums of -0 alone may be +0. Where an infinity meets what nearly overflows
        # the set holds NaN and infinities that no order gives: wider than need be, and known.
        legal = same(beside, want) | ((beside == 0) & (want == 0) & (np.signbit(want) | (not signed_zero))) | (~np.isfinite(beside) & overflow_meets_infinity)
        allowed = np.asarray(result.covers(beside, signed_zero=signed_zero)) & ~legal
        found = np.flatnonzero(allowed)
        assert found.size == 0, f"{text}: {inputs['x'][found[0]].tolist()} allows {other!r} beside {want[found[0]]!r}"
    return want.size


def test_exact_sums_and_products_of_every_triple():
    n = only("round<f32>(sum(x, axis=1))", [exact_sum(t) for t in TRIPLES], x=TRIPLES)
    n += only("round<f32>(prod(x, axis=1))", [exact_product(t) for t in TRIPLES], x=TRIPLES)
    print(f"{n} sums and products, each one value")


@pytest.mark.parametrize("order, fold", [("seq", (0, 1, 2)), ("rseq", (2, 1, 0)), ("pairwise(1)", (1, 2, 0)), ("blocked(2, outer=seq)", (0, 1, 2))])
def test_known_orders_of_every_triple(order, fold):
    a, b, c = (TRIPLES[:, k] for k in fold)
    with np.errstate(all="ignore"):
        want = (a + b) + c
    only(f"acc<f32, {order}>(sum(x, axis=1))", want, x=TRIPLES)


def test_products_of_every_quadruple_in_order():
    small = PAIRS[~(np.abs(PAIRS) == F32.max).any(axis=(1, 2))]  # see `only`
    x, y = small[:, 0].copy(), small[:, 1].copy()
    with np.errstate(all="ignore"):
        products = x * y
        want = products[:, 0] + products[:, 1]
    # An accumulator may start at +0: the sign of a zero is left open.
    only("acc<f32, seq, fma=never>(sum(x * y, axis=1))", want, signed_zero=False, terms=products, x=x, y=y)


@pytest.mark.parametrize("text", ["acc<f32>(sum(x, axis=1))", "acc<f32, assoc>(sum(x, axis=1))", "within<f32>(sum(x, axis=1))", "acc<f32, height(3)>(sum(x, axis=1))",
                                  "acc<f32, ftz=free>(sum(x, axis=1))", "acc<f32, split({1, 2})>(sum(x, axis=1))"])
def test_free_orders_hold_every_execution_of_every_triple(text):
    result = er.expr(text)(x=TRIPLES)
    kept = [0, 3] if "assoc" in text else [0, 1] if "split" in text else range(6)  # of the permutations
    sums = np.array([hardware_sums(t) for t in TRIPLES], np.float32)
    if "assoc" in text:
        with np.errstate(all="ignore"):
            sums = np.stack([(TRIPLES[:, 0] + TRIPLES[:, 1]) + TRIPLES[:, 2], TRIPLES[:, 0] + (TRIPLES[:, 1] + TRIPLES[:, 2])], axis=1)
        kept = range(2)
    elif "split" in text:
        with np.errstate(all="ignore"):
            sums = np.stack([(TRIPLES[:, 0] + TRIPLES[:, 1]) + TRIPLES[:, 2]], axis=1)
        kept = range(1)
    for k in kept:
        covered = np.asarray(result.covers(sums[:, k], signed_zero=True))
        wrong = np.flatnonzero(~covered)
        assert wrong.size == 0, f"{text}: {TRIPLES[wrong[0]].tolist()} may give {sums[wrong[0], k]!r}, refused"
    once = np.array([exact_sum(t) for t in TRIPLES], np.float32)  # all three at once
    assert np.asarray(result.covers(once, signed_zero=True)).all()
    # A NaN alone stays a NaN.
    nan = np.isnan(TRIPLES).any(axis=1)
    assert not np.asarray(result.covers(np.zeros(len(TRIPLES), np.float32)))[nan].any()


def test_largest_and_smallest_of_every_triple():
    for text, want in (("max(x, axis=1)", np.max(TRIPLES, axis=1)), ("min(x, axis=1)", np.min(TRIPLES, axis=1))):
        only(text, want, signed_zero=False, x=TRIPLES)
    x = TRIPLES[:, :2]
    with np.errstate(all="ignore"):
        only("fmax(p, x)", np.fmax(x[:, 1], x[:, 0]), signed_zero=False, p=x[:, 1].copy(), x=x[:, 0].copy())
        only("fmin(p, x)", np.fmin(x[:, 1], x[:, 0]), signed_zero=False, p=x[:, 1].copy(), x=x[:, 0].copy())


def test_the_table():
    """The sums of every pair, as a reader checks them."""
    pairs = np.array(list(itertools.product(SPECIALS, repeat=2)), np.float32)
    result = er.expr("acc<f32>(sum(x, axis=1))")(x=pairs)
    with np.errstate(all="ignore"):
        want = pairs[:, 0] + pairs[:, 1]
    assert np.asarray(result.covers(want, signed_zero=True)).all()
    print("\n" + " " * 8 + "".join(f"{n:>10}" for n in NAMES))
    for i, name in enumerate(NAMES):
        print(f"{name:>8}" + "".join(f"{w:>10.3g}" for w in want[i * len(NAMES):(i + 1) * len(NAMES)]))


@pytest.mark.parametrize("n", [4, 25, 26, 130])
def test_zero_that_something_is_added_to_has_the_sign_of_the_last_operation(n):
    """`A @ B` is +0 where its zero terms have both signs, and -0 where all are -0; what is added or subtracted then is one operation."""
    rng = np.random.default_rng(n)
    zeros = lambda *shape: np.where(rng.random(shape) < 0.5, np.float32(-0.0), np.float32(0.0))
    A, B = zeros(n, n), rng.standard_normal((n, n)).astype(np.float32)
    A[0], B[:, 1] = -0.0, 1  # a row of -0 and a column of ones: their terms are all -0
    signs, others = np.signbit(A).astype(int), np.signbit(B).astype(int)
    product = np.where(signs @ (1 - others) + (1 - signs) @ others == n, np.float32(-0.0), np.float32(0.0))
    D = zeros(n, n)
    for C in (zeros(n, n), zeros(n), np.float32([-0.0]), np.full((n, 1), -0.0, np.float32)):
        for text, out in {"C - A @ B": C - product, "A @ B - C": product - C, "A @ B + C": product + C, "C - A @ B - D": C - product - D, "A @ B - (C - D)": product - (C - D),
                          "A @ B + (C - D)": product + (C - D)}.items():
            inputs = {"A": A, "B": B, "C": C} | ({"D": D} if "D" in text else {})
            for kind in ("f32", "bf16"):
                assert er.expr(f"round<{kind}>({text})")(**inputs).check(out.astype(np.float32), signed_zero=True).ok, (text, kind, C.shape)
            with np.errstate(divide="ignore"):
                assert er.expr(f"1 / round<f32>({text})")(**inputs).check(1 / out).ok, (text, C.shape)
