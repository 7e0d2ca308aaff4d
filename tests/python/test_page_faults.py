"""Mistakes that kernels make, in the functions of docs/pytorch.md: each is refuted, and the right output beside it is not."""
import numpy as np
import pytest
import torch

import erx as er
from test_backward import values

HALVES = [torch.bfloat16, torch.float16]
F = torch.nn.functional
INF, NAN = float("inf"), float("nan")


def used(value, dtype):
    return torch.tensor(value, dtype=dtype).item()


@pytest.mark.parametrize("dtype", HALVES, ids=str)
def test_a_stored_intermediate(dtype):
    A, B, C = values(1, 24, 40, dtype=dtype), values(2, 40, 16, dtype=dtype), values(3, 24, 16, dtype=dtype)
    gemm = er.gemm(A, B, C, alpha=0.5, beta=3)
    er.assert_covers(gemm, torch.addmm(C, A, B, alpha=0.5, beta=3))
    for wrong in [(A @ B) * 0.5 + C * 3, torch.addmm(C * 3, A, B, alpha=0.5) if dtype == torch.float16 else (A @ B) * 0.5 + 3 * C, C * 3 + 0.5 * (A @ B).float().to(dtype)]:
        assert gemm.check(wrong).violations > 30
    x, y, w = values(4, 40, 30, dtype=dtype), values(5, 40, 30, dtype=dtype), values(6, 30, dtype=dtype)
    cases = [(er.sum(er.multiply(x, 1, dtype="float32"), 0), (x[:20].sum(0) + x[20:].sum(0)).float()),
             (er.softmax(x, 1), torch.exp(x - x.amax(1, keepdim=True)) / torch.exp(x - x.amax(1, keepdim=True)).sum(1, keepdim=True)),
             (er.log_softmax(x, 1), x - x.logsumexp(1, keepdim=True)), (er.mean(x, 0), x.sum(0) / 40),
             (er.rms_norm(x, 30, w), (x * torch.rsqrt((x * x).mean(1, keepdim=True))) * w),
             (er.layer_norm(x, 30, w, w), F.layer_norm(x, (30,)) * w + w), (er.divide(x, y), x * (1 / y)),
             (er.add(x, y, alpha=1.5), x + y * 1.5), (er.cumsum(x, 0), torch.stack([x[:k + 1].sum(0) if k < 20 else x[:20].sum(0) + x[20:k + 1].sum(0) for k in range(40)]))]
    for result, wrong in cases:
        assert result.check(wrong).violations > wrong.numel() // 50 + 2, result.spec


@pytest.mark.parametrize("dtype", HALVES + [torch.float32], ids=str)
def test_alpha_rounded_when_it_should_not_be(dtype):
    """alpha is exact: where a kernel rounds it to the dtype, or cuts it to an integer, the result shows it."""
    x, y, A, C = values(7, 800, dtype=dtype), values(8, 800, dtype=dtype), values(9, 20, 20, dtype=dtype), values(10, 20, 20, dtype=dtype)
    lower = {torch.float32: torch.bfloat16}.get(dtype, dtype)
    alpha, rounded = 0.3, used(0.3, lower)
    assert er.add(x, y, alpha=alpha).check((x.double() + rounded * y.double()).to(dtype)).violations > 10
    assert er.add(x, y, alpha=rounded).check((x.double() + rounded * y.double()).to(dtype))
    exact = alpha * (A.double() @ A.double()) + 1.3 * C.double()
    result = er.gemm(A, A, C, alpha=alpha, beta=1.3)
    er.assert_covers(result, exact.to(dtype))
    if dtype != torch.float32:
        assert result.check((rounded * (A.double() @ A.double()) + used(1.3, lower) * C.double()).to(dtype)).violations > 10
    assert result.check(torch.addmm(C, A, A, alpha=0, beta=1)).violations > 380
    assert er.multiply(x, alpha).check((x.double() * rounded).to(dtype)).violations > 10


RESULTS = {
    "add": (lambda x: er.add(x, x), lambda x: x + x), "multiply": (lambda x: er.multiply(x, x), lambda x: x * x), "sum": (lambda x: er.sum(x, 1), lambda x: x.sum(1)),
    "mean": (lambda x: er.mean(x, 1), lambda x: x.mean(1)), "cumsum": (lambda x: er.cumsum(x, 1), lambda x: x.cumsum(1)), "max": (lambda x: er.max(x, 1), lambda x: x.amax(1)),
    "min": (lambda x: er.min(x, 1), lambda x: x.amin(1)), "prod": (lambda x: er.prod(x, 1), lambda x: x.prod(1)), "exp": (er.exp, torch.exp), "log": (er.log, torch.log),
    "matmul": (lambda x: er.matmul(x, x.T), lambda x: x @ x.T), "gemm": (lambda x: er.gemm(x, x.T, torch.ones(len(x), len(x), dtype=x.dtype)), lambda x: torch.addmm(torch.ones(len(x), len(x), dtype=x.dtype), x, x.T)),
    "softmax": (lambda x: er.softmax(x, 1), lambda x: x.softmax(1)), "log_softmax": (lambda x: er.log_softmax(x, 1), lambda x: x.log_softmax(1)),
    "logsumexp": (lambda x: er.logsumexp(x, 1), lambda x: x.logsumexp(1)), "layer_norm": (lambda x: er.layer_norm(x, 3), lambda x: F.layer_norm(x, (3,))),
    "rms_norm": (lambda x: er.rms_norm(x, 3), lambda x: F.rms_norm(x, (3,))), "where": (lambda x: er.where(x > 0, x, 1.0), lambda x: torch.where(x > 0, x, 1.0)),
    "divide": (lambda x: er.divide(x, x), lambda x: x / x), "subtract": (lambda x: er.subtract(x, x), lambda x: x - x), "negative": (er.negative, torch.neg),
}


@pytest.mark.parametrize("row", RESULTS)
def test_a_nan_lost_or_invented(row):
    function, live = RESULTS[row]
    x = torch.tensor([[1.0, 2, 3], [NAN, 1, 2], [INF, 1, 2], [-INF, 1, 2], [INF, -INF, 1], [-0.0, 0, -1], [2.0**-140, -1, 1], [3e38, 3e38, -1]])
    out, result = live(x), function(x)
    er.assert_covers(result, out)
    lost = torch.where(out.isnan(), torch.ones_like(out), out)
    report = result.check(lost)
    if row != "where":
        assert report.violations == int(out.isnan().sum()) > 0, str(report)
    certain = out.isfinite() & torch.from_numpy(np.isfinite(result.lo) & np.isfinite(result.hi))
    if row == "rms_norm":
        certain[-1] = False  # squares overflow: a sum that may reach both infinities is NaN too
    assert certain.any()
    invented = torch.where(certain, torch.full_like(out, NAN), out)
    assert result.check(invented).violations == int(certain.sum())


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16], ids=str)
def test_the_wrong_sign_of_a_zero(dtype):
    zero = torch.tensor([[0.0, -0.0, 0.0, -0.0]], dtype=dtype)
    other = torch.tensor([[-0.0, -0.0, 0.0, 0.0]], dtype=dtype)
    one = torch.tensor([[1.0, -1.0, -1.0, 1.0]], dtype=dtype)
    cases = [(er.add(zero, other), zero + other), (er.multiply(zero, one), zero * one), (er.subtract(zero, other), zero - other), (er.divide(zero, one), zero / one),
             (er.negative(zero), -zero), (er.multiply(zero, -2.0), zero * -2.0), (er.add(zero, 1.5, alpha=0), zero), (er.where(one > 0, zero, other), torch.where(one > 0, zero, other)),
             (er.prod(torch.cat([zero, one]), 0), (zero * one)[0]), (er.max(zero[:, 1:2], 1), zero[:, 1])]
    cases += [(r, None) for r in (er.matmul(zero[:, 1:2], one[:, :1]), er.mean(zero[:, 1:2], 1), er.sum(other[:, :2], 1), er.cumsum(other[:, :2], 1))]
    for result, out in cases:
        if out is None:  # a sum may begin with +0
            assert all(result.check(torch.full(result.shape, z, dtype=dtype), signed_zero=True) for z in (0.0, -0.0))
            continue
        er.assert_covers(result, out, signed_zero=True)
        assert result.check(-out) and result.check(-out, signed_zero=True).violations > 0, result.spec


@pytest.mark.parametrize("row", ["matmul", "dot", "mv", "addmm", "small"])
def test_each_path_of_bfloat16_products(row, capfd):
    """A library multiplies large bfloat16 matrices, PyTorch's own loops the small ones: each is covered, an accumulator in bfloat16 is not."""
    dtype = torch.bfloat16
    n = {"dot": 6000, "small": 9}.get(row, 80)
    shapes = {"dot": ((n,), (n,)), "mv": ((n, n), (n,))}.get(row, ((n, n), (n, n)))
    A, B = values(20, *shapes[0], dtype=dtype), values(21, *shapes[1], dtype=dtype)
    C = values(22, *torch.matmul(A, B).shape, dtype=dtype)
    capfd.readouterr()
    with torch.backends.mkldnn.verbose(torch.backends.mkldnn.VERBOSE_ON):
        out = torch.addmm(C, A, B) if row == "addmm" else torch.matmul(A, B)
    ran = [line for line in capfd.readouterr().out.splitlines() if "exec" in line and "matmul" in line]
    if not torch.ops.mkldnn._is_mkldnn_bf16_supported():
        pytest.skip("this CPU's library does not multiply bfloat16")
    assert bool(ran) == (row != "small"), ran
    result = er.gemm(A, B, C) if row == "addmm" else er.matmul(A, B)
    er.assert_covers(result, out)
    total = torch.zeros(out.shape, dtype=dtype) + (C if row == "addmm" else 0)
    columns = A.unsqueeze(-1) if A.dim() == 1 else A.mT.unsqueeze(-1)
    for k in range(shapes[0][-1]):
        total = total + columns[k].squeeze(-1) * B[k] if min(A.dim(), B.dim()) == 1 else total + columns[k] * B[k]
    if row != "small":
        assert result.check(total).violations > total.numel() // 3 and result.check(total, "bfloat16")
