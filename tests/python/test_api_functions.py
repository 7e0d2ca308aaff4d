"""er.add, er.multiply, er.sum, er.matmul, er.gemm, er.any_of, er.round: what they allow, judged by exact arithmetic and by PyTorch."""
from fractions import Fraction

import ml_dtypes
import numpy as np
import pytest
import torch

import erx as er

DTYPES = ["float32", "float64", "float16", "bfloat16"]
PRECISION = {"float64": 53, "float32": 24, "float16": 11, "bfloat16": 8}
EMIN = {"float64": -1022, "float32": -126, "float16": -14, "bfloat16": -126}


def nearest(x: Fraction, dtype: str) -> float:
    """x rounded to nearest even, from the definition (no overflow)."""
    if x == 0:
        return 0.0
    e = 0
    while abs(x) >= Fraction(2) ** (e + 1):
        e += 1
    while abs(x) < Fraction(2) ** e:
        e -= 1
    unit = Fraction(2) ** (max(e, EMIN[dtype]) - PRECISION[dtype] + 1)
    return float(round(x / unit) * unit)  # Python's round of a Fraction is to even


def tensor(rng, shape, dtype, scale=1.0):
    return torch.tensor(rng.standard_normal(shape) * scale).to(getattr(torch, dtype))


def exact(t):
    return [Fraction(v) for v in t.double().flatten().tolist()]


def shifted(t, ulps):
    """Each element moved by so many steps of its dtype."""
    ints = {2: torch.int16, 4: torch.int32, 8: torch.int64}[t.element_size()]
    return (t.contiguous().view(ints) + ulps).view(t.dtype)


def is_one_value(r):
    return np.array_equal(r.lo, r.hi)


# One operation

@pytest.mark.parametrize("dtype", DTYPES)
def test_one_operation_on_stored_values_allows_one_value(dtype):
    rng = np.random.default_rng(1)
    x, y = tensor(rng, 500, dtype), tensor(rng, 500, dtype, 0.01)
    for r, op, torch_op in [(er.add(x, y), lambda a, b: a + b, torch.add), (er.multiply(x, y), lambda a, b: a * b, torch.mul),
                            (er.add(x, y, alpha=-1), lambda a, b: a - b, torch.sub)]:
        expected = [nearest(op(a, b), dtype) for a, b in zip(exact(x), exact(y))]
        assert is_one_value(r) and r.lo.tolist() == expected
        out = torch_op(x, y)
        er.assert_covers(r, out)
        assert not r.covers(shifted(out, 1)).any() and not r.covers(shifted(out, -1)).any()
        assert r.dtype == dtype


def test_subnormal_products_of_bfloat16_round_once():
    # Through float32 or not, the same: so one value is allowed, and PyTorch gives it.
    rng = np.random.default_rng(2)
    x = tensor(rng, 4000, "bfloat16", 2.0**-60)
    y = tensor(rng, 4000, "bfloat16", 2.0**-72)
    r = er.multiply(x, y)
    assert is_one_value(r) and r.lo.tolist() == [nearest(a * b, "bfloat16") for a, b in zip(exact(x), exact(y))]
    er.assert_covers(r, x * y)


def test_where_rounding_twice_differs_both_values_are_allowed():
    # tf32 through float32: subnormal products with bits below float32's smallest value.
    def even(n, bits):  # n / 2^bits to the nearest integer
        return round(Fraction(n, 2**bits))

    found = []
    for i in range(1025, 2048, 2):
        for j in range(1025, 2048, 2):
            low = i * j % 2**19  # only beside a midpoint
            if abs(low - 2**18) < 2**6 and even(i * j, 19) != even(even(i * j, 6), 13):
                found.append((i, j))
    for i, j in found:
        r = er.multiply(er.array(i * 2.0**-75, dtype="tf32"), er.array(j * 2.0**-80, dtype="tf32"))
        once, twice = even(i * j, 19) * 2.0**-136, even(even(i * j, 6), 13) * 2.0**-136
        assert r.covers(once) and r.covers(twice) and not r.covers(once + 2.0**-134)
    assert len(found) > 3
    assert is_one_value(er.multiply(er.array(1.5, dtype="bf16"), er.array(1.0078125, dtype="bf16")))


@pytest.mark.parametrize("dtype", DTYPES)
def test_add_with_alpha(dtype):
    rng = np.random.default_rng(3)
    x, y = tensor(rng, 1000, dtype), tensor(rng, 1000, dtype)
    a = torch.tensor(0.3, dtype=x.dtype).item()
    out = torch.add(x, y, alpha=0.3)
    plain = er.add(x, y, alpha=a)
    stored = er.add(x, er.multiply(y, a, dtype=dtype))
    either = er.any_of(plain, stored)
    er.assert_covers(either, out)
    once = np.array([nearest(p + Fraction(a) * q, dtype) for p, q in zip(exact(x), exact(y))])
    twice = np.array([nearest(p + Fraction(nearest(Fraction(a) * q, dtype)), dtype) for p, q in zip(exact(x), exact(y))])
    assert plain.covers(once).all() and stored.covers(twice).all() and is_one_value(stored)
    assert either.covers(once).all() and either.covers(twice).all()
    assert either.dtype == dtype
    if dtype in ("float16", "bfloat16"):
        differ = once != twice
        assert differ.sum() > 50
        for i in np.flatnonzero(plain.hi > plain.lo):  # float32's slack shows only beside a midpoint
            midpoint = (Fraction(plain.lo[i]) + Fraction(plain.hi[i])) / 2
            error = abs(exact(x)[i] + Fraction(a) * exact(y)[i] - midpoint)
            assert error <= (abs(exact(x)[i]) + abs(Fraction(a) * exact(y)[i])) / 2**22
        assert (plain.covers(twice) & differ).sum() <= 5 and not (stored.covers(once) & differ).any()
        step = shifted(torch.tensor(np.minimum(once, twice)).to(x.dtype), 1).double().numpy()
        inside = differ & (np.abs(once - twice) > 1.5 * np.abs(step - np.minimum(once, twice)))
        between = torch.tensor((once + twice) / 2).to(x.dtype).double().numpy()
        strictly = inside & (between > np.minimum(once, twice)) & (between < np.maximum(once, twice))
        if dtype == "float16":
            assert strictly.sum() > 10
        assert not (either.covers(between) & strictly).any()


def test_scalars_are_exact_and_do_not_change_the_format():
    x = torch.tensor([1.0, 3.0, -5.0]).bfloat16()
    r = er.multiply(x, 0.1)
    assert r.dtype == "bfloat16"
    assert r.covers(np.array([nearest(Fraction(0.1) * v, "bfloat16") for v in exact(x)])).all()
    er.assert_covers(r, x * 0.1)
    assert is_one_value(er.multiply(x, 2.5)) and is_one_value(er.add(x, 1))
    assert er.multiply(x, 1, dtype="float32").dtype == "float32"
    assert er.multiply(2, x).lo.tolist() == [2, 6, -10]


def test_multiply_by_one_converts():
    rng = np.random.default_rng(4)
    x = tensor(rng, 200, "float32")
    r = er.multiply(x, 1, dtype="bfloat16")
    assert is_one_value(r) and r.covers(x.bfloat16()).all()
    y = tensor(rng, 200, "float16")
    total = er.sum(er.multiply(y, 1, dtype="float32"))
    er.assert_covers(total, torch.sum(y, dtype=torch.float32))
    assert total.dtype == "float32"


# Special values

def test_a_scale_of_zero_makes_its_product_absent():
    x = torch.tensor([1.0, 2.0])
    nan = torch.tensor([float("nan"), float("inf")])
    assert er.add(x, nan, alpha=0).lo.tolist() == [1, 2] == er.add(x, nan, alpha=0).hi.tolist()
    A, C = torch.eye(2), torch.full((2, 2), float("nan"))
    assert er.gemm(A, A, C, beta=0).covers(torch.eye(2)).all()
    assert not er.gemm(A, A, C, beta=0).covers(C).any()
    assert er.gemm(C, A, A, alpha=0).covers(torch.eye(2)).all()
    assert er.gemm(C, A, C, alpha=0, beta=0).covers(torch.zeros(2, 2)).all()
    er.assert_covers(er.gemm(A, A, C, beta=0), torch.addmm(C, A, A, beta=0))


def test_arrays_and_scalars_follow_ieee():
    nan = torch.tensor([float("nan"), float("inf"), 1.0])
    r = er.multiply(nan, 0)
    assert np.isnan(r.lo[:2]).all() and r.lo[2] == 0
    assert r.covers(nan * 0).all()
    big = torch.tensor([65504.0]).half()
    r = er.add(big, big)
    assert r.lo[0] == np.inf and r.covers(big + big).all() and not r.covers(big).any()
    zero = torch.tensor([0.0, -0.0])
    assert er.add(zero, -zero).covers(zero + -zero, signed_zero=True).all()
    assert er.multiply(zero, -1.0).covers(zero * -1.0, signed_zero=True).all()
    assert not er.multiply(zero, -1.0).covers(zero, signed_zero=True).any()


# Promotion

@pytest.mark.parametrize("a", ["bfloat16", "float16", "float32", "float64", "int32", "int64", "uint8", "int8", "bool"])
@pytest.mark.parametrize("b", ["bfloat16", "float16", "float32", "float64", "int32", "int64", "uint8", "int8", "bool"])
@pytest.mark.parametrize("shapes", [((3,), (3,)), ((3,), ()), ((), (3,)), ((), ())])
def test_formats_are_promoted_as_pytorch_does(a, b, shapes):
    x, y = torch.ones(shapes[0], dtype=getattr(torch, a)), torch.ones(shapes[1], dtype=getattr(torch, b))
    out = torch.add(x, y)
    r = er.add(x, y)
    if a == b == "bool":
        assert r.dtype == "bool" and r.covers(out).all() and not r.covers(~out).any()
        return
    assert r.dtype == out.dtype or (r.dtype == "int64" and "int" in str(out.dtype))  # integers are exact
    assert r.covers(out).all() and not r.covers(out + 1).any()


@pytest.mark.parametrize("scalar", [2, 2.5, True])
@pytest.mark.parametrize("name", ["bfloat16", "float32", "int32", "float64"])
def test_python_scalars_are_promoted_as_pytorch_does(scalar, name):
    x = torch.ones(3, dtype=getattr(torch, name))
    out = torch.mul(x, scalar)
    r = er.multiply(x, scalar)
    assert (r.dtype == out.dtype or name == "int32") and r.covers(out).all()


def test_what_cannot_be_promoted_is_an_error():
    x = np.ones(2, ml_dtypes.float8_e4m3fn)
    y = np.ones(2, ml_dtypes.float8_e5m2)
    with pytest.raises(er.SpecError, match="common type"):
        er.add(x, y)
    assert er.add(x, y, dtype="bfloat16").lo.tolist() == [2, 2]
    assert er.add(x, x).dtype == "float8_e4m3fn"
    with pytest.raises(er.SpecError, match="dtype="):
        er.sum(er.expr("x")(x=1.5) * np.ones(2))


def test_a_wider_scalar_tensor_is_rounded_once_to_the_promoted_format():
    x = torch.ones(2).bfloat16()
    c = torch.tensor(1.00390625 + 2**-20)
    r = er.multiply(x, c)
    assert r.dtype == "bfloat16" and r.lo.tolist() == [1.0078125] * 2 == r.hi.tolist()


# Sums

@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("shape,axis,keepdims", [((300,), None, False), ((7, 41), 1, True), ((7, 41), 0, False), ((3, 5, 11), (0, -1), False),
                                                 ((0, 4), 0, False), ((), None, False), ((5, 0), 0, False)])
def test_sum(dtype, shape, axis, keepdims):
    rng = np.random.default_rng(5)
    x = tensor(rng, shape, dtype)
    r = er.sum(x, axis, keepdims=keepdims)
    out = torch.sum(x) if axis is None else torch.sum(x, axis, keepdim=keepdims)
    assert r.shape == tuple(out.shape) and r.dtype == out.dtype
    er.assert_covers(r, out)
    if out.numel():
        # One step of the dtype past the hull is refused.
        ints = {2: torch.int16, 4: torch.int32, 8: torch.int64}[out.element_size()]
        above = shifted(torch.tensor(r.hi).to(out.dtype), torch.tensor(np.where(r.hi >= 0, 1, -1)).to(ints))
        assert not r.covers(torch.where(torch.tensor(r.hi) == 0, torch.ones_like(above), above)).any()


def test_sum_of_integers_and_booleans_is_int64():
    assert er.sum(torch.tensor([200, 100], dtype=torch.uint8)).lo == 300
    r = er.sum(torch.tensor([[True, True], [False, True]]), 0)
    assert r.dtype == "int64" and r.lo.tolist() == [1, 2] and r.covers(torch.tensor([1, 2])).all() and not r.covers(torch.tensor([2, 2])).all()


def test_wrong_axes():
    for axis in (2, (0, 0), (0, -2)):
        with pytest.raises(ValueError):
            er.sum(np.ones((2, 2)), axis)


def test_integer_valued_sums_have_one_value_in_any_order():
    x = torch.arange(1000).float()
    r = er.sum(x)
    assert r.lo == r.hi == 499500


# Products

@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("a,b", [((5, 7), (7, 3)), ((64, 300), (300, 65)), ((2, 3, 4), (2, 4, 5)), ((4,), (4, 3)), ((3, 4), (4,)), ((2, 1, 3, 4), (5, 4, 2)),
                                 ((3, 0), (0, 2)), ((0, 3), (3, 2)), ((1, 1), (1, 1))])
def test_matmul(dtype, a, b):
    rng = np.random.default_rng(6)
    A, B = tensor(rng, a, dtype), tensor(rng, b, dtype)
    r = er.matmul(A, B)
    out = torch.matmul(A.double(), B.double()).to(A.dtype) if len(a) == 1 or len(b) == 1 else torch.matmul(A, B)
    assert r.shape == tuple(out.shape) and r.dtype == dtype
    er.assert_covers(r, out)
    if out.numel() and min(a + b) > 1:
        broken = torch.matmul(A, B.flip(-1)) if len(b) > 1 else torch.matmul(A.flip(-1), B)
        assert not r.check(broken)


@pytest.mark.parametrize("dtype", DTYPES)
def test_gemm_as_addmm(dtype):
    rng = np.random.default_rng(7)
    A, B, C = tensor(rng, (33, 70), dtype), tensor(rng, (70, 21), dtype), tensor(rng, (33, 21), dtype)
    for alpha, beta in [(1, 1), (0.5, -2), (1, 0), (-1, 0.25), (0, 1)]:
        out = torch.addmm(C, A, B, alpha=alpha, beta=beta)
        r = er.gemm(A, B, C, alpha=alpha, beta=beta)
        er.assert_covers(r, out)
        assert not r.check(torch.addmm(C, A, B, alpha=alpha, beta=beta + 1))
    row = tensor(rng, (21,), dtype)
    er.assert_covers(er.gemm(A, B, row), torch.addmm(row, A, B))
    with pytest.raises(er.SpecError, match="broadcast"):
        er.gemm(A, B, torch.ones(2, 33, 21))
    with pytest.raises(er.SpecError):
        er.gemm(A, B, torch.ones(4))


def test_gemm_loops_chains_and_reduced_batches():
    rng = np.random.default_rng(8)
    A, B, C = tensor(rng, (3, 4, 40), "bfloat16"), tensor(rng, (3, 40, 5), "bfloat16"), tensor(rng, (4, 5), "bfloat16")
    out = torch.addbmm(C, A, B, beta=0.5)
    y = C
    for i in range(3):
        y = er.gemm(A[i], B[i], y, beta=0.5 if i == 0 else 1)
    er.assert_covers(y, out)
    once = er.gemm(A, B, C, beta=0.5, reduce_batch=True)
    assert once.shape == (4, 5)
    whole = (A.double() @ B.double()).sum(0) + 0.5 * C.double()
    er.assert_covers(once, whole.float().bfloat16())
    v, w = er.array([1, 2, 3], dtype="float32"), er.array([4, 5], dtype="float32")
    outer = er.gemm(v.reshape((3, 1)), w.reshape((1, 2)), torch.ones(3, 2))
    er.assert_covers(outer, torch.addr(torch.ones(3, 2), torch.tensor([1.0, 2, 3]), torch.tensor([4.0, 5])))
    first = er.gemm(er.multiply(A[0], 0.3), B[0])  # alpha * A stored first
    er.assert_covers(first, (A[0] * 0.3) @ B[0])


def test_accumulating_in_the_stored_format_needs_that_compute_format():
    ones = torch.ones(1, 300).bfloat16()
    r = er.matmul(ones, ones.T)
    assert r.lo == r.hi == 300
    stuck = torch.full((1, 1), 256.0).bfloat16()  # 256 + 1 is 256 in bfloat16
    assert not r.check(stuck) and r.check(stuck, "bfloat16")


# Choices, roundings

def test_any_of_keeps_the_alternatives_apart():
    x = np.array([1.0, 2.0], np.float32)
    r = er.any_of(x, x + 2)
    assert r.covers(x).all() and r.covers(x + 2).all() and not r.covers(x + 1).any()
    labelled = er.any_of(x, x + 2, label="whole")
    assert labelled.check(x) and labelled.check(x + 2)
    assert not labelled.check(np.array([1.0, 4.0], np.float32))
    assert r.check(np.array([1.0, 4.0], np.float32))
    with pytest.raises(TypeError):
        er.any_of()


def test_round():
    x = np.array([1.01, -1.01, 1e6])
    assert er.round(x, "bfloat16", "rtp").lo.tolist()[:2] == [1.015625, -1.0078125]
    assert er.round(x, "float16").lo[2] == np.inf and er.round(x, "float16", overflow="sat").lo[2] == 65504
    assert er.round([1e-7], "float16", flush=True).lo.tolist() == [0]
    assert er.round(x, "bf16", "sr").hi[0] > er.round(x, "bf16", "sr").lo[0]
    with pytest.raises(er.SpecError, match="mode"):
        er.round(x, "bf16", "up")
    with pytest.raises(er.SpecError, match="bfloat16"):
        er.round(x, "bfloat61")
    assert er.round([True, False], "float16").lo.tolist() == [1, 0]


def test_the_spec_of_a_function_is_readable():
    x = torch.ones(2).half()
    assert str(er.add(x, 2 * x).spec) == "round<f16>(x + y)"
    assert str(er.add(x, 2 * x, alpha=0.3).spec) == "round<f16>(within<f32>(x + alpha * y))"
    both = er.any_of(er.add(x, 2 * x, alpha=0.5), er.add(x, er.multiply(2 * x, 0.5)))
    assert str(both.spec) == "any_of(round<f16>(within<f32>(x + alpha * y)), round<f16>(x + round<f16>(y * 0.5)))"
    assert str(er.matmul(x, 3 * x).spec) == "round<f16>(within<f32>(A @ B))"
    assert str(er.gemm(x, 3 * x, 2 * x[0], alpha=0.5).spec) == "round<f16>(within<f32>(alpha * (A @ B) + C))"


@pytest.mark.parametrize("dtype,compute", [("float32", "f32"), ("float64", "f64"), ("bfloat16", "f32"), ("float16", "f32")])
def test_functions_mean_what_the_text_means(dtype, compute):
    rng = np.random.default_rng(9)
    A, B, C = tensor(rng, (4, 6), dtype), tensor(rng, (6, 3), dtype), tensor(rng, (4, 3), dtype)
    name = er.array(0.0, dtype=dtype).dtype.kind
    pairs = [
        (er.matmul(A, B), f"within<{compute}>(A @ B)"),
        (er.gemm(A, B, C, alpha=0.3, beta=0.7), f"within<{compute}>(alpha * (A @ B) + beta * C)"),
        (er.gemm(A, B, C), f"within<{compute}>(A @ B + C)"),
        (er.sum(A, 1), f"within<{compute}>(sum(A, axis=1))"),
        (er.add(A, 2 * A, alpha=0.3), f"within<{compute}>(A + alpha * D)"),
        (er.add(A, 2 * A), "A + D"),
        (er.multiply(A, 2 * A), "A * D"),
    ]
    inputs = {"A": A, "B": B, "C": C, "D": 2 * A, "alpha": 0.3, "beta": 0.7}
    for result, text in pairs:
        e = er.expr(f"round<{name}>({text})")
        written = e(**{k: inputs[k] for k in e.parameters})
        assert np.array_equal(result.lo, written.lo) and np.array_equal(result.hi, written.hi), text
