"""Real cases from public reports in small form: is this difference rounding or a bug? Each asserts what is covered and what is refuted."""
import pathlib
import random

import ml_dtypes
import numpy as np
import torch

import erx as er

EXAMPLES = pathlib.Path(__file__).parents[2] / "examples"


def normal(seed, *shape, dtype=torch.float32):
    return torch.randn(*shape, generator=torch.Generator().manual_seed(seed)).to(dtype)


def refused(result, out):
    """Number of elements that are proved wrong."""
    return int((~np.asarray(result.covers(out))).sum())


def test_c1_add_with_alpha_in_half_precision():
    rng = random.Random(0)
    x = torch.tensor([rng.gauss(0, 1) for _ in range(1000)], dtype=torch.float16)
    y = torch.tensor([rng.gauss(0, 1) for _ in range(1000)], dtype=torch.float16)
    a = torch.tensor(0.3, dtype=torch.float16).item()
    plain = er.add(x, y, alpha=a)
    stored = er.add(x, er.multiply(y, a, dtype="float16"))
    either = er.any_of(plain, stored)
    er.assert_covers(either, torch.add(x, y, alpha=0.3))

    # Float64 holds x + a*y exactly, and one rounding follows.
    once = (x.double() + a * y.double()).half()
    twice = (x.double() + (a * y.double()).half().double()).half()
    differ = int((once != twice).sum())
    assert differ > 100
    for out, own, other in ((once, plain, stored), (twice, stored, plain)):
        assert refused(either, out) == 0 and refused(own, out) == 0
        assert refused(other, out) == differ

    low, high = torch.minimum(once, twice).numpy(), torch.maximum(once, twice).numpy()
    between = np.nextafter(low, np.float16(np.inf))
    gap = between < high
    assert 20 <= gap.sum() <= 50
    out = np.where(gap, between, low)
    assert np.array_equal(~np.asarray(either.covers(out)), gap)
    assert refused(either, low) == refused(either, high) == 0

    spec = er.load(str(EXAMPLES / "add_alpha.erx"))["add_alpha"](x=x, y=y, alpha=0.3)
    er.assert_covers(spec, torch.add(x, y, alpha=0.3))
    assert np.array_equal(~np.asarray(spec.covers(out)), gap)


def test_c3_addmm_that_truncated_alpha_and_beta():
    x, y = np.arange(6, dtype=np.float16).reshape(2, 3), np.arange(6, dtype=np.float16).reshape(3, 2)
    C = np.ones((2, 2), np.float16)
    spec = er.expr("round<f16>(in f32, contract { round<f32>(alpha) * acc<f32>(A @ B) + round<f32>(beta) * C })")
    result = spec(A=x, B=y, C=C, alpha=0.7, beta=1.3)
    report = result.check((0 * (x @ y) + 1 * C).astype(np.float16))
    assert not report and report.violations == 4
    er.assert_covers(result, torch.addmm(torch.from_numpy(C), torch.from_numpy(x), torch.from_numpy(y), alpha=0.7, beta=1.3))


def test_c4_matmul_that_accumulates_in_bf16():
    ones = torch.ones(1024, 1024, dtype=torch.bfloat16)
    out = torch.full((1024, 1024), 256, dtype=torch.bfloat16)
    wide = er.expr("round<bf16>(acc<f32>(A @ B))")
    assert wide(A=ones, B=ones).check(out).violations == 1024 * 1024
    er.assert_covers(wide(A=ones, B=ones), ones @ ones)
    narrow = er.expr("acc<bf16, seq>(A @ B)")(A=ones[:4], B=ones[:, :4])
    er.assert_covers(narrow, out[:4, :4])
    assert refused(narrow, (ones @ ones)[:4, :4]) == 16


def test_c6_gpu_in_tf32_mode():
    A, B, out = np.float32([[1024.5]]), np.float32([[1.0]]), np.float32([[1025.0]])
    assert not er.expr("acc<f32>(A @ B)")(A=A, B=B).check(out)
    er.assert_covers(er.expr("acc<f32>(round<tf32, rna>(A) @ round<tf32, rna>(B))")(A=A, B=B), out)
    to_even = er.expr("acc<f32>(round<tf32>(A) @ round<tf32>(B))")(A=A, B=B)
    assert not to_even.check(out)
    er.assert_covers(to_even, np.float32([[1024.0]]))


def test_c7_linear_layer_with_one_rounding_or_two():
    x, W, b = (normal(s, *shape, dtype=torch.bfloat16) for s, shape in ((1, (4, 64)), (2, (64, 8)), (3, (8,))))
    fused = er.expr("round<bf16>(acc<f32>(x @ W + b))")(x=x, W=W, b=b)
    stored = er.expr("round<bf16>(in f32 { round<bf16>(acc<f32>(x @ W)) + b })")(x=x, W=W, b=b)
    either = er.expr("""any_of(round<bf16>(acc<f32>(x @ W + b)),
                               round<bf16>(in f32 { round<bf16>(acc<f32>(x @ W)) + b }))""")(x=x, W=W, b=b)
    one, two = torch.addmm(b, x, W), (x @ W) + b
    er.assert_covers(fused, one)
    er.assert_covers(stored, two)
    er.assert_covers(either, one)
    er.assert_covers(either, two)
    assert refused(fused, two) > 0 and refused(stored, one) > 0
    moved = torch.nextafter(torch.maximum(one, two), torch.full_like(one, float("inf")))
    assert refused(either, moved) > 16


def test_c10_compiler_that_dropped_a_cast():
    x, W = normal(4, 16, 64, dtype=torch.bfloat16), normal(5, 64, 16, dtype=torch.bfloat16)
    b = normal(6, 16)
    spec = er.expr("in f32 { round<bf16>(acc<f32>(x @ W)) + b }")(x=x, W=W, b=b)
    er.assert_covers(spec, (x @ W).float() + b)
    dropped = x.float() @ W.float() + b
    assert refused(spec, dropped) > 200
    er.assert_covers(er.expr("in f32 { acc<f32>(x @ W) + b }")(x=x, W=W, b=b), dropped)


def test_c14_one_plus_w_computed_in_bf16():
    bf16 = ml_dtypes.bfloat16
    w, one, next_to_one = (np.array([v], bf16) for v in (2.0**-8, 1.0, 1 + 2.0**-7))
    tie = er.expr("round<bf16>(1 + w)")(w=w)
    er.assert_covers(tie, one)
    assert not tie.check(next_to_one)
    x = np.array([1.5], bf16)
    scaled = er.expr("round<bf16>(x * (1 + w))")(x=x, w=w)
    assert not scaled.check(x * one)
    er.assert_covers(scaled, np.array([1.5078125], bf16))
    er.assert_covers(er.expr("in bf16 { x * (1 + w) }")(x=x, w=w), x * one)


def test_c17_alpha_taken_exactly():
    ab = normal(7, 2000)
    out = torch.mul(ab, 0.3)
    converted = er.expr("in f32 { round<f32>(alpha) * ab }")(alpha=0.3, ab=ab)
    exact = er.expr("round<f32>(alpha * ab)")(alpha=0.3, ab=ab)
    er.assert_covers(converted, out)
    assert 600 < refused(exact, out) < 1400
    er.assert_covers(exact, (0.3 * ab.double()).float())
