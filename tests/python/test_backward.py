"""Gradients from Python: PyTorch's autograd, the exact gradient of the language inside, and a neighbour refuted."""
import numpy as np
import pytest
import torch

import erx as er

FLOATS = [torch.float64, torch.float32, torch.bfloat16, torch.float16]


def values(seed, *shape, dtype):
    wide = torch.complex128 if dtype.is_complex else torch.float64
    return torch.randn(shape, generator=torch.Generator().manual_seed(seed), dtype=wide).to(dtype)


def autograd(function, grad, *inputs):
    leaves = [x.detach().clone().requires_grad_() for x in inputs]
    return torch.autograd.grad(function(*leaves), leaves, grad)


def assert_gradients(results, outs, exact=None):
    assert len(results) == len(outs)
    er.assert_covers(results, *outs)
    assert all(out.numel() == 0 for out in outs) or not results.check(*(out + 1000 for out in outs))
    for k, (r, out) in enumerate(zip(results, outs)):
        er.assert_covers(r, out)
        assert r.shape == tuple(out.shape) and r.dtype == out.dtype
        if exact is not None:
            er.assert_covers(r, exact[k].to(out.dtype))
        if out.is_complex() or not out.numel():
            continue
        moved, index = out.clone(), tuple(n // 2 for n in out.shape)
        hi = torch.tensor(np.asarray(r.hi)[index]).to(out.dtype)
        moved[index] = torch.nextafter(hi, torch.tensor(float("inf"), dtype=out.dtype))
        assert r.check(moved).violations == 1


@pytest.mark.parametrize("dtype", FLOATS + [torch.complex64], ids=str)
@pytest.mark.parametrize("left, right", [((3, 5), (5, 4)), ((2, 3, 5), (2, 5, 4)), ((3, 5), (5,)), ((5,), (5, 4)), ((5,), (5,)), ((1, 1), (1, 1))])
def test_matmul(left, right, dtype):
    A, B = values(1, *left, dtype=dtype), values(2, *right, dtype=dtype)
    grad = values(3, *torch.matmul(A, B).shape, dtype=dtype)
    outs = autograd(torch.matmul, grad, A, B)
    assert_gradients(er.matmul.backward(A, B, grad), outs)


@pytest.mark.parametrize("dtype", FLOATS, ids=str)
def test_matmul_sums_over_broadcast_batches_once(dtype):
    wide = torch.float64
    for left, right in [((2, 1, 3, 4), (3, 4, 2)), ((3, 4), (2, 4, 5)), ((4,), (2, 4, 3)), ((2, 3, 4), (4,))]:
        A, B = values(4, *left, dtype=dtype), values(5, *right, dtype=dtype)
        grad = values(6, *torch.matmul(A, B).shape, dtype=dtype)
        exact = autograd(torch.matmul, grad.to(wide), A.to(wide), B.to(wide))
        for r, out in zip(er.matmul.backward(A, B, grad), exact):
            er.assert_covers(r, out.to(dtype))
    # PyTorch rounds each batch's product before it sums the copies: a chain.
    A, B = values(4, 2, 1, 8, 9, dtype=dtype), values(5, 3, 9, 7, dtype=dtype)
    grad = values(6, 2, 3, 8, 7, dtype=dtype)
    out = autograd(torch.matmul, grad, A, B)[0]
    chain = er.sum(er.matmul(grad, B.mT), 1, keepdims=True)
    er.assert_covers(chain, out)
    if dtype in FLOATS[2:]:
        assert not er.matmul.backward(A, B, grad)[0].check(out)


@pytest.mark.parametrize("dtype", FLOATS, ids=str)
def test_elementwise(dtype):
    rows = [(er.add, torch.add), (er.subtract, torch.sub), (er.multiply, torch.mul)]
    for (function, live), shapes in ((r, s) for r in rows for s in [((7, 9), (7, 9)), ((0, 3), (3,)), ((1,), (1,))]):
        x, y = values(7, *shapes[0], dtype=dtype), values(8, *shapes[1], dtype=dtype)
        grad = values(9, *shapes[0], dtype=dtype)
        assert_gradients(function.backward(x, y, grad), autograd(live, grad, x, y))
    x, y, grad = values(7, 7, 9, dtype=dtype), values(8, 9, dtype=dtype), values(9, 7, 9, dtype=dtype)
    for function, live in rows:  # copies of y: one sum
        exact = autograd(live, grad.double(), x.double(), y.double())
        for r, out in zip(function.backward(x, y, grad), exact):
            er.assert_covers(r, out.to(dtype))
    # PyTorch rounds the products before it sums the copies.
    out = autograd(torch.mul, grad, x, y)[1]
    er.assert_covers(er.sum(er.multiply(grad, x), 0), out)


@pytest.mark.parametrize("dtype", FLOATS, ids=str)
def test_others(dtype):
    x, grad = values(10, 5, 9, dtype=dtype), values(11, 5, 9, dtype=dtype)
    row = grad[:, 0].contiguous()
    assert_gradients(er.negative.backward(x, grad), autograd(torch.neg, grad, x))
    assert_gradients(er.sum.backward(x, row, 1), autograd(lambda t: t.sum(1), row, x))
    assert_gradients(er.mean.backward(x, row[:, None], 1, keepdims=True), autograd(lambda t: t.mean(1, keepdim=True), row[:, None], x))
    assert_gradients(er.log.backward(x * x, grad), autograd(torch.log, grad, x * x))
    assert_gradients(er.cumsum.backward(x, grad, 1), autograd(lambda t: t.cumsum(1), grad, x))
    if dtype in FLOATS[:2]:  # in half precision PyTorch multiplies by the stored exponential
        assert_gradients(er.exp.backward(x, grad), autograd(torch.exp, grad, x))
    else:
        er.assert_covers(er.multiply(grad, er.exp(x)), autograd(torch.exp, grad, x)[0])
    y = (x.double() + 3).to(dtype)
    for r, out in zip(er.divide.backward(x, y, grad), autograd(torch.div, grad.double(), x.double(), y.double())):
        er.assert_covers(r, out.to(dtype))


def test_gemm_and_what_has_no_gradient():
    A, B, C = (values(k, 4, 4, dtype=torch.float32) for k in range(3))
    grad = values(5, 4, 4, dtype=torch.float32)
    outs = autograd(lambda a, b, c: torch.addmm(c, a, b, alpha=0.5, beta=2), grad, A, B, C)
    assert_gradients(er.gemm.backward(A, B, C, grad, alpha=0.5, beta=2), outs)
    er.assert_covers(er.gemm.backward(A, B, C[0], grad)[2], grad.double().sum(0).float())
    assert len(er.gemm.backward(A, B, None, grad)) == 2
    assert len(er.multiply.backward(A, 2.0, grad)) == 1
    assert len(er.multiply.backward(A, torch.arange(4), grad)) == 1
    with pytest.raises(er.SpecError, match="shape"):
        er.matmul.backward(A, B, grad[0])


@pytest.mark.parametrize("text, backward", [("A @ B", "matmul"), ("A * B", "multiply"), ("A + B", "add"), ("A - B", "subtract"), ("A / B", "divide")])
def test_the_exact_gradient_of_the_language_is_inside(text, backward):
    A, B, grad = (values(k, 3, 3, dtype=torch.bfloat16) for k in (20, 21, 22))
    for x, r in zip("AB", getattr(er, backward).backward(A, B, grad)):
        exact = er.expr(f"round<bf16>(vjp({text}, wrt={x}, grad=g))")
        value = exact(**{k: v for k, v in (("A", A), ("B", B), ("g", grad)) if k in exact.parameters})
        assert np.array_equal(value.lo, value.hi) and r.covers(value.lo).all()


def test_a_narrower_accumulator_is_refuted():
    x, y, grad = torch.ones(4000, 1).bfloat16(), torch.ones(1).bfloat16(), torch.ones(4000, 1).bfloat16()
    stuck = torch.full((1,), 256.0).bfloat16()
    for function in (er.add, er.multiply):
        r = function.backward(x, y, grad)[1]
        assert r.check(stuck).violations == 1 and r.check(stuck, "bfloat16") and r.check(torch.tensor([4000.0]).bfloat16())
    A = torch.ones(1, 4000).bfloat16()
    assert er.matmul.backward(torch.ones(1, 1).bfloat16(), A, A)[0].check(stuck[None]).violations == 1


@pytest.mark.parametrize("dtype", [torch.complex64, torch.complex128], ids=str)
def test_complex_quotients_exponentials_and_running_sums(dtype):
    x, y, grad = (values(k, 5, 7, dtype=dtype) for k in (30, 31, 32))
    real = values(33, 5, 7, dtype=torch.float32 if dtype == torch.complex64 else torch.float64)
    assert_gradients(er.divide.backward(x, y, grad), autograd(torch.div, grad, x, y))
    assert_gradients(er.divide.backward(real, y, grad), autograd(torch.div, grad, real, y))
    assert_gradients(er.divide.backward(x, real, grad), autograd(torch.div, grad, x, real))
    assert_gradients(er.divide.backward(x, y[0], grad), autograd(torch.div, grad, x, y[0]))
    assert_gradients(er.exp.backward(x, grad), autograd(torch.exp, grad, x))
    assert_gradients(er.cumsum.backward(x, grad, 0), autograd(lambda t: t.cumsum(0), grad, x))
    if dtype == torch.complex128:  # the conjugate forgotten
        wrong = [t.conj() for t in autograd(torch.div, grad.conj(), x, y)]
        assert er.divide.backward(x, y, grad).check(*wrong).violations > 60
