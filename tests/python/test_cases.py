"""Real cases from public reports in small form: is this difference rounding or a bug? Each asserts what is covered and what is refuted."""
import os
import pathlib
import random
import subprocess

import ml_dtypes
import numpy as np
import torch

import erx as er

EXAMPLES = pathlib.Path(__file__).parents[2] / "examples"
ERX = os.environ.get("ERX", str(pathlib.Path(__file__).resolve().parents[2] / "build" / "erx"))


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


def test_c5_baddbmm_that_ignored_alpha():
    k = 128
    A, B, C = np.ones((1, 2, k), np.float16), np.ones((1, k, 2), np.float16), np.zeros((1, 2, 2), np.float16)
    spec = er.expr("round<f16>(in f32, contract { round<f32>(alpha) * acc<f32>(A @ B) + round<f32>(beta) * C })")
    first, second = (spec(A=A, B=B, C=C, alpha=alpha, beta=0) for alpha in (0.1, 0.2))
    for same in (np.float16(k * 0.1), np.float16(k * 0.2), np.float16(0), np.float16(k)):
        out = np.full((1, 2, 2), same)
        assert not (first.covers(out).all() and second.covers(out).all())  # whatever the one result was
    for alpha, result, other in ((0.1, first, second), (0.2, second, first)):
        out = torch.baddbmm(torch.from_numpy(C), torch.from_numpy(A), torch.from_numpy(B), alpha=alpha, beta=0)
        er.assert_covers(result, out)
        assert refused(other, out) == 4


def test_c11_float32_sum_that_is_far_from_an_exact_sum_of_zero():
    n = 8194  # the smallest n whose sums may differ
    x = (np.arange(n, dtype=np.float64) - n / 2 + 0.5).astype(np.float32)
    wide = er.expr("acc<f32>(sum(x))")(x=x)
    er.assert_covers(wide, x.sum())
    er.assert_covers(wide, torch.from_numpy(x).sum())
    er.assert_covers(wide, np.float32(0))
    report = wide.check(np.float32(0))
    assert report.tightness > 1000  # the report says how much is allowed
    assert "tightness" in str(report)
    off = np.float32(0.5)  # a sum in some order: whole multiples of 1/2 below 2^24
    assert float(wide.hi) >= off and er.expr("acc<f64>(sum(x))")(x=x).lo == 0
    exact = er.expr("acc<f64>(sum(x))")(x=x)
    assert exact.lo == exact.hi == 0 and refused(exact, np.float64(0.5)) == 1 and refused(exact, np.float64(0)) == 0

    # The report's length, without its gigabyte of data: blocks that add up to the same, in the same magnitudes.
    m = 2**17
    y = (np.arange(m, dtype=np.float64) - m / 2 + 0.5).astype(np.float32) * np.float32(1024)
    long = er.expr("acc<f32>(sum(y))")(y=y)
    er.assert_covers(long, np.float32(131072))
    assert refused(er.expr("acc<f64>(sum(y))")(y=y), np.float64(131072)) == 1


def test_c12_split_k_with_partial_sums_stored_in_bf16():
    rng = np.random.default_rng(12)
    m, n, part = 8, 8, 64
    wide = er.expr("round<bf16>(acc<f32>(A @ B))")
    stored_parts = er.expr("round<bf16>(acc<f32, split({2, 3, 4, 5, 6}, store=bf16)>(A @ B))")
    for parts in (2, 3, 4, 5, 6):
        A = torch.from_numpy(rng.standard_normal((m, parts * part)))
        B = torch.from_numpy(rng.standard_normal((parts * part, n)))
        # The last part takes back all but a hundredth of the others.
        head = (parts - 1) * part
        A[:, head:] = 0
        B[head:, :] = 0
        A, B = A.bfloat16(), B.bfloat16()
        partial = A[:, :head].double() @ B[:head].double()
        for j in range(n):
            A[:, head + j] = (-0.99 * partial[:, j]).bfloat16()
            B[head + j, j] = 1
        total = torch.zeros(m, n)
        for p in range(parts):
            piece = slice(p * part, (p + 1) * part)
            total = total + (A[:, piece].float() @ B[piece].float()).bfloat16().float()
        out = total.bfloat16()
        er.assert_covers(stored_parts(A=A, B=B), out)
        assert refused(wide(A=A, B=B), out) > m * n / 4
        er.assert_covers(wide(A=A, B=B), A @ B)
        # A stored part that was lost is refused by both.
        lost = (total - (A[:, :part].float() @ B[:part].float()).bfloat16().float()).bfloat16()
        assert refused(stored_parts(A=A, B=B), lost) > m * n / 2


def test_c16_a_correct_tensor_core_kernel():
    A, B = np.float16([[1 + 2.0**-8, 1.5 * 2.0**-12]]), np.float16([[1.0], [2.0**-12]])
    bf16 = ml_dtypes.bfloat16
    truncated, nearest = np.array([[1.0]], bf16), np.array([[1.0078125]], bf16)  # the hardware cuts the second product off
    ieee = er.expr("round<bf16>(acc<f32>(A @ B))")(A=A, B=B)
    assert refused(ieee, truncated) == 1 and refused(ieee, nearest) == 0
    cores = er.expr("round<bf16>(acc<f32, tensor_core(L=16, F=25)>(A @ B))")(A=A, B=B)
    er.assert_covers(cores, truncated)
    assert refused(cores, np.array([[1.015625]], bf16)) == 1 and refused(cores, np.array([[0.9921875]], bf16)) == 1


def test_c8_rms_norm_with_the_scaled_value_stored_or_not():
    norm = """
      let squares = acc<f32>(sum(x * x, axis=-1, keepdims=true))
      let r = approx<f32, ulp=2>(rsqrt(round<f32>(squares / D + round<f32>(eps))))"""
    head = "(x: bf16[N, D], w: bf16[D], eps: real) -> bf16[N, D] {" + norm
    stored, kept = (er.parse(f"spec {name}{head}\n  return {body}\n}}") for name, body in (
        ("stored", "round<bf16>(w * round<bf16>(in f32 { x * r }))"), ("kept", "round<bf16>(in f32 { x * r * w })")))
    x, w = normal(8, 4, 16, dtype=torch.bfloat16), 1 + normal(9, 16, dtype=torch.bfloat16) / 4
    r = torch.rsqrt(x.float().pow(2).mean(-1, keepdim=True) + 1e-6)
    two, one = w * (x.float() * r).bfloat16(), (x.float() * r * w.float()).bfloat16()
    inputs = dict(x=x, w=w, eps=1e-6)
    er.assert_covers(stored(**inputs), two)
    er.assert_covers(kept(**inputs), one)
    assert 5 < refused(stored(**inputs), one) < 40 and 5 < refused(kept(**inputs), two) < 40
    # PyTorch's own function is one of the two.
    own = torch.nn.functional.rms_norm(x, (16,), w, eps=1e-6)
    assert refused(stored(**inputs), own) == 0 or refused(kept(**inputs), own) == 0
    # The mean of squares was forgotten for the second half: r is off by a factor.
    wrong = w * (x.float() * torch.rsqrt(x[:, :8].float().pow(2).sum(-1, keepdim=True) / 16 + 1e-6)).bfloat16()
    assert refused(stored(**inputs), wrong) > 32 and refused(kept(**inputs), wrong) > 32


def test_c9_rotary_embedding_eager_and_compiled():
    halves = "concat(-q[:, 8:], q[:, :8], axis=1)"
    spec = er.expr(f"""any_of(
      round<bf16>(in f32 {{ round<bf16>(in f32 {{ q * c }}) + round<bf16>(in f32 {{ {halves} * s }}) }}),
      round<bf16>(in f32, contract {{ q * c + {halves} * s }}))""")
    eager_only = er.expr(f"round<bf16>(in f32 {{ round<bf16>(in f32 {{ q * c }}) + round<bf16>(in f32 {{ {halves} * s }}) }})")
    compiled_only = er.expr(f"round<bf16>(in f32, contract {{ q * c + {halves} * s }})")
    q = normal(10, 4, 16, dtype=torch.bfloat16)
    angle = torch.arange(3, 7)[:, None] * (10000.0 ** (-torch.arange(8) / 8))
    c, s = (torch.cat([f(angle)] * 2, 1).bfloat16() for f in (torch.cos, torch.sin))
    turned = torch.cat([-q[:, 8:], q[:, :8]], 1)
    eager = q * c + turned * s  # three roundings
    compiled = (q.float() * c.float() + turned.float() * s.float()).bfloat16()  # what a compiler makes of it: float32 until it is stored
    inputs = dict(q=q, c=c, s=s)
    for out in (eager, compiled):
        er.assert_covers(spec(**inputs), out)
    differ = int((eager != compiled).sum())
    assert differ > 4
    assert refused(eager_only(**inputs), compiled) == differ and refused(compiled_only(**inputs), eager) == differ
    assert refused(spec(**inputs), q * c - turned * s) > 32  # turned the other way
    interleaved = torch.stack([-q[:, 1::2], q[:, ::2]], -1).reshape(4, 16)
    assert refused(spec(**inputs), q * c + interleaved * s) > 32  # the other layout of pairs


def test_c13_a_kernel_that_writes_zeros(tmp_path):
    rng = np.random.default_rng(13)
    f8 = ml_dtypes.float8_e4m3fn
    A, B = ((rng.standard_normal(shape) / 32).astype(f8) for shape in ((16, 32), (32, 16)))
    true = A.astype(np.float32) @ B.astype(np.float32)
    assert np.abs(true).max() < 0.02 and np.abs(true).mean() < 0.005  # the signal
    zeros = np.zeros_like(true)
    assert np.allclose(zeros, true, atol=2e-2)  # such a test passes every kernel
    result = er.expr("acc<f32>(A @ B)")(A=A, B=B)
    er.assert_covers(result, true)
    report = result.check(zeros)
    assert report.violations == int((true != 0).sum()) > 250
    assert "each of them is 0" in report.where and report.causes == ["consistent with elements that were never written"]

    def warned(spec):
        (tmp_path / "spec.erx").write_text(f"spec gemm(A: f8e4m3fn[M, K], B: f8e4m3fn[K, N]) -> f32[M, N] {{\n  return {spec}\n}}\n" + """
example "small" {
  A = [[0.03125, 0.0625], [0.0625, -0.03125]]
  B = [[0.03125, 0], [0.0625, 0.03125]]
  covers [[0.0048828125, 0.001953125], [0, -0.0009765625]]
}
""")
        run = subprocess.run([ERX, "test", tmp_path / "spec.erx"], capture_output=True, text=True, check=True)
        assert "1 passed" in run.stdout
        return run.stderr
    assert warned("acc<f32>(A @ B)") == ""
    assert "vacuous: a kernel that writes only zeros would pass: 0 is allowed for 4 of 4 elements" in warned("approx<f32, abs=0.01>(A @ B)")
