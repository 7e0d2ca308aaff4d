"""Gradients of er.where, er.max, er.prod and the normalisations: PyTorch's autograd, the exact gradient of the language, and mistakes."""
import numpy as np
import pytest
import torch

import erx as er
from test_backward import FLOATS, assert_gradients, autograd, values

F = torch.nn.functional
WIDE, HALVES = FLOATS[:2], FLOATS[2:]

# One input and its gradient: the call, PyTorch's, the text of the exact function, and whether grad has one element for each row.
ROWS = {
    "max": (er.max, lambda t: t.amax(1), "max(x, axis=1)", True),
    "min": (er.min, lambda t: t.amin(1), "min(x, axis=1)", True),
    "prod": (er.prod, lambda t: t.prod(1), "prod(x, axis=1)", True),
    "softmax": (er.softmax, lambda t: t.softmax(1), "exp(x) / sum(exp(x), axis=1, keepdims=true)", False),
    "log_softmax": (er.log_softmax, lambda t: t.log_softmax(1), "x - log(sum(exp(x), axis=1, keepdims=true))", False),
    "logsumexp": (er.logsumexp, lambda t: t.logsumexp(1), "log(sum(exp(x), axis=1))", True),
}


def inputs(seed, shape, dtype, rows):
    x, grad = values(seed, *shape, dtype=dtype), values(seed + 1, *shape, dtype=dtype)
    return x, grad[:, 0].contiguous() if rows else grad


@pytest.mark.parametrize("dtype", WIDE, ids=str)
@pytest.mark.parametrize("row", ROWS)
def test_autograd_and_the_exact_gradient_are_inside(row, dtype):
    function, live, text, rows = ROWS[row]
    for k, shape in enumerate([(3, 1), (5, 9), (1, 33) if row != "softmax" or dtype == torch.float32 else (1, 15)]):
        x, grad = inputs(40 + 2 * k, shape, dtype, rows)
        result = function.backward(x, grad, 1)
        assert_gradients(result, autograd(live, grad, x))
        if shape[1] < 20:
            f = result[0].dtype.kind
            exact = er.expr(f"round<{f}>(vjp({text}, wrt=x, grad=g))")(x=x, g=grad)
            assert np.array_equal(exact.lo, exact.hi) and result[0].covers(exact.lo).all()


@pytest.mark.parametrize("dtype", HALVES, ids=str)
def test_half_formats_where_nothing_is_stored_in_between(dtype):
    for k, shape in enumerate([(3, 1), (5, 9), (2, 33)]):
        x, grad, y = (values(60 + 3 * k + i, *shape, dtype=dtype) for i in range(3))
        row, w = grad[:, 0].contiguous(), y[0]
        assert_gradients(er.where.backward(x > y, x, y, grad), autograd(lambda a, b: torch.where(x > y, a, b), grad, x, y))
        assert_gradients(er.max.backward(x, row, 1), autograd(lambda t: t.amax(1), row, x))
        assert_gradients(er.min.backward(x, row[:, None], 1, keepdims=True), autograd(lambda t: t.amin(1, keepdim=True), row[:, None], x))
        assert_gradients(er.rms_norm.backward(x, grad, shape[1:], w), autograd(lambda a, b: F.rms_norm(a, shape[1:], b), grad, x, w))


@pytest.mark.parametrize("dtype", HALVES, ids=str)
def test_half_formats_where_the_stored_result_is_used(dtype):
    """PyTorch's backward starts from the stored result; each chain covers it, and the function itself, which stores nothing, does not."""
    name = str(dtype)[6:]
    x, grad = values(70, 5, 33, dtype=dtype), values(71, 5, 33, dtype=dtype)
    for axis in (1, 0):
        y, out = x.softmax(axis), autograd(lambda t: t.softmax(axis), grad, x)[0]
        along = er.sum(er.multiply(grad, y, dtype="float32"), axis, keepdims=True)
        er.assert_covers(er.multiply(er.subtract(grad, along, dtype="float32"), y, dtype=name), out)
        assert not er.softmax.backward(x, grad, axis)[0].check(out)

        y, out = x.log_softmax(axis), autograd(lambda t: t.log_softmax(axis), grad, x)[0]
        total = er.sum(er.multiply(grad, 1, dtype="float32"), axis, keepdims=True)
        er.assert_covers(er.subtract(grad, er.multiply(er.exp(y, dtype="float32"), total), dtype=name), out)
        assert not er.log_softmax.backward(x, grad, axis)[0].check(out)
    row = grad[:, :1].contiguous()
    y, out = x.logsumexp(1, keepdim=True), autograd(lambda t: t.logsumexp(1, keepdim=True), row, x)[0]
    er.assert_covers(er.multiply(row, er.exp(er.subtract(x, y))), out)
    x = x[:, :5]
    y, out = x.prod(1, keepdim=True), autograd(lambda t: t.prod(1, keepdim=True), row, x)[0]
    er.assert_covers(er.multiply(row, er.divide(y, x)), out)


@pytest.mark.parametrize("dtype", HALVES, ids=str)
def test_layer_norm_keeps_its_statistics_in_the_half_format(dtype):
    x, grad, w, b = (values(80 + i, *s, dtype=dtype) for i, s in enumerate([(5, 33), (5, 33), (33,), (33,)]))
    _, mean, root = torch.native_layer_norm(x, (33,), w, b, 1e-5)
    assert mean.dtype == dtype
    outs = autograd(lambda a, c, d: F.layer_norm(a, (33,), c, d), grad, x, w, b)
    kind = er.array([0], dtype=dtype).dtype.kind
    chain = er.parse(f"""spec of_x(x: {kind}[N, D], g: {kind}[N, D], w: {kind}[D], mean: {kind}[N, 1], r: {kind}[N, 1]) -> {kind}[N, D] {{
      let h = within<f32>(g * w)
      let total = within<f32>(sum(h, axis=1, keepdims=true))
      let along = within<f32>(sum(h * x, axis=1, keepdims=true))
      let q = within<f32>((total * mean - along) * (r * r * r) / 33)
      return round<{kind}>(within<f32>(r * h + q * x - (q * mean + total * r / 33)))
    }}""")
    er.assert_covers(chain(x, grad, w, mean, root), outs[0])
    results = er.layer_norm.backward(x, grad, 33, w, b)
    assert not results[0].check(outs[0])
    for r, out in zip(results[1:], outs[1:]):  # the rows are added in the dtype
        assert not r.check(out) and r.check(out, str(dtype)[6:])


@pytest.mark.parametrize("dtype", WIDE, ids=str)
def test_normalisations(dtype):
    longest = [((1, 17), (17,))] if dtype == torch.float32 else []  # float64 climbs, and is slow
    for k, (shape, last) in enumerate([((3, 1), (1,)), ((5, 7), (7,)), ((1, 2, 3), (2, 3)), *longest]):
        x, grad, w, b = (values(90 + 4 * k + i, *s, dtype=dtype) for i, s in enumerate([shape, shape, last, last]))
        assert_gradients(er.layer_norm.backward(x, grad, last, w, b), autograd(lambda a, c, d: F.layer_norm(a, last, c, d), grad, x, w, b))
        assert_gradients(er.layer_norm.backward(x, grad, last), autograd(lambda a: F.layer_norm(a, last), grad, x))
        assert_gradients(er.rms_norm.backward(x, grad, last, w), autograd(lambda a, c: F.rms_norm(a, last, c), grad, x, w))
        f = er.array([0], dtype=dtype).dtype.kind
        if shape == (5, 7):
            text = "(x - mean(x, axis=1, keepdims=true)) / sqrt(mean((x - mean(x, axis=1, keepdims=true)) ** 2, axis=1, keepdims=true) + 1e-5)"
            for wrt, r in zip("xwb", er.layer_norm.backward(x, grad, last, w, b)):
                e = er.expr(f"round<{f}>(vjp({text} * w + b, wrt={wrt}, grad=g))")
                assert r.covers(e(**{p: {"x": x, "w": w, "b": b, "g": grad}[p] for p in e.parameters}).lo).all()
            for wrt, r in zip("xw", er.rms_norm.backward(x, grad, last, w, 0.25)):
                e = er.expr(f"round<{f}>(vjp(x / sqrt(mean(x * x, axis=1, keepdims=true) + 0.25) * w, wrt={wrt}, grad=g))")
                assert r.covers(e(x=x, w=w, g=grad).lo).all()


@pytest.mark.parametrize("dtype", FLOATS, ids=str)
def test_where_sums_over_copies_once_and_ties_share(dtype):
    x, y, grad = values(3, 300, 4, dtype=dtype), values(4, 4, dtype=dtype), values(5, 300, 4, dtype=dtype)
    mask = x > y
    for r, out in zip(er.where.backward(mask, x, y, grad), autograd(lambda a, b: torch.where(mask, a, b), grad.double(), x.double(), y.double())):
        er.assert_covers(r, out.to(dtype))
    tied = torch.tensor([[1.0, 3, 3, 3], [2, 2, 2, 2]], dtype=dtype)
    row = torch.tensor([1.0, 2], dtype=dtype)
    er.assert_covers(er.max.backward(tied, row, 1), *autograd(lambda t: t.amax(1), row, tied))
    er.assert_covers(er.min.backward(tied, row, 1), *autograd(lambda t: t.amin(1), row, tied))
    nan = torch.tensor([[1.0, float("nan")], [1, 2]], dtype=dtype)
    er.assert_covers(er.max.backward(nan, row, 1), *autograd(lambda t: t.amax(1), row, nan))
    zeros = torch.tensor([[1.0, 0, 3], [0, 2, 0], [1, 2, 4]], dtype=dtype)
    row = torch.tensor([1.0, 2, 3], dtype=dtype)
    er.assert_covers(er.prod.backward(zeros, row, 1), *autograd(lambda t: t.prod(1), row, zeros))
    er.assert_covers(er.prod.backward(tied, torch.tensor(2.0, dtype=dtype)), *autograd(torch.prod, torch.tensor(2.0, dtype=dtype), tied))


def test_a_narrower_accumulator_and_a_lost_term_are_refuted():
    ones = torch.ones(4000, 4).bfloat16()
    stuck = torch.full((4,), 256.0).bfloat16()
    r = er.where.backward(ones > 0, ones[:1] * 2, ones, ones)[0]
    assert r.shape == (1, 4) and r.check(stuck[None]).violations == 4 and r.check(torch.full((1, 4), 4000.0).bfloat16())
    r = er.layer_norm.backward(ones, ones, 4, ones[0], ones[0])[2]
    assert r.check(stuck).violations == 4 and r.check(stuck, "bfloat16")
    x, grad = values(1, 6, 40, dtype=torch.float32), values(2, 6, 40, dtype=torch.float32)
    y = x.softmax(1)
    assert er.softmax.backward(x, grad, 1)[0].check((grad - (grad * y)[:, 1:].sum(1, keepdim=True)) * y).violations > 200
    assert er.softmax.backward(x, grad, 1)[0].check(grad * y).violations > 200
    assert er.log_softmax.backward(x, grad, 1)[0].check(grad - y).violations > 200
    row = grad[:, 0].contiguous()
    assert er.logsumexp.backward(x, row, 1)[0].check(row[:, None] * torch.exp(x - x.amax(1, keepdim=True))).violations == 240
    out = autograd(lambda a: F.rms_norm(a, (40,)), grad, x)[0]
    assert er.rms_norm.backward(x, grad, 40)[0].check(out.bfloat16().float()).violations > 200
    r = er.prod.backward(x[:, :9], row, 1)[0]
    assert r.check(autograd(lambda t: t.prod(1), row, x[:, :9])[0].double().mul(1 + 2e-6).float()).violations > 40


def test_what_is_refused():
    x = torch.ones(2, 3)
    with pytest.raises(er.SpecError, match="shape"):
        er.softmax.backward(x, x[0], 1)
    with pytest.raises(er.SpecError, match="chain"):
        er.prod.backward(x * 1e20, torch.ones(2), 1)
    for factor in (float("nan"), float("inf")):  # with a zero, or without one, the others are NaN or not by the order
        with pytest.raises(er.SpecError, match="finite"):
            er.prod.backward(torch.tensor([[factor, 0.0, 2]]), torch.ones(1), 1)
    with pytest.raises(er.SpecError, match="real"):
        er.prod.backward(x.to(torch.complex64), torch.ones(2, dtype=torch.complex64), 1)
    with pytest.raises(TypeError, match="fraction"):
        er.max.backward(x, torch.ones(2, dtype=torch.int64), 1)
    assert er.where.backward(x > 0, x, 2.0, x)[0].shape == (2, 3) and len(er.where.backward(x > 0, x, 2.0, x)) == 1
