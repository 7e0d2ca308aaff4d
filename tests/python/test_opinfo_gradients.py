"""PyTorch's autograd on its own samples of its operators: each gradient is covered by the .backward of the er function.

float32, also with infinities, NaN, -0 and subnormals planted, and complex64; in half precision PyTorch stores more, which docs/pytorch.md tells as chains (tests/python/test_backward_more.py).
"""
import warnings

import pytest
import torch

import erx as er

import expecttest  # noqa: F401  PyTorch's samples need it

from torch.testing._internal.common_methods_invocations import op_db  # noqa: E402

from opinfo import planted  # noqa: E402


def reduction(function):
    def row(x, g, args, kwargs):
        dim = args[0] if args else kwargs.get("dim")
        dim = None if isinstance(dim, (tuple, list)) and not dim else dim
        return function.backward(x, g, dim, keepdims=args[1] if len(args) > 1 else kwargs.get("keepdim", False))
    return row


def scaled(x, g, args, kwargs):
    return er.gemm.backward(args[0], args[1], x, g, alpha=kwargs.get("alpha", 1), beta=kwargs.get("beta", 1))


def product(x, g, args, kwargs):
    return er.matmul.backward(x, args[0], g)


def along(function):
    return lambda x, g, args, kwargs: function.backward(x, g, args[0])


def pair(function):
    return lambda x, g, args, kwargs: function.backward(x, args[0], g, **kwargs)


ROWS = {
    "add": pair(er.add), "sub": pair(er.subtract), "mul": pair(er.multiply), "div": pair(er.divide), "where": lambda x, g, args, kwargs: er.where.backward(args[0], x, args[1], g),
    "neg": lambda x, g, args, kwargs: er.negative.backward(x, g), "exp": lambda x, g, args, kwargs: er.exp.backward(x, g), "log": lambda x, g, args, kwargs: er.log.backward(x, g),
    "sum": reduction(er.sum), "mean": reduction(er.mean), "prod": reduction(er.prod), "amax": reduction(er.max), "amin": reduction(er.min), "logsumexp": reduction(er.logsumexp),
    "cumsum": along(er.cumsum), "softmax": along(er.softmax), "log_softmax": along(er.log_softmax), "matmul": product, "mm": product, "mv": product, "bmm": product, "dot": product,
    "addmm": scaled, "baddbmm": scaled, "addmv": scaled,
    "nn.functional.layer_norm": lambda x, g, args, kwargs: er.layer_norm.backward(x, g, *args, **kwargs), "nn.functional.rms_norm": lambda x, g, args, kwargs: er.rms_norm.backward(x, g, *args, **kwargs),
}
# Complex gradients that er does not have; products that may leave the range.
REFUSED = {("log", torch.complex64), ("logsumexp", torch.complex64), ("nn.functional.rms_norm", torch.complex64), ("prod", torch.complex64), ("prod", torch.float32)}
OPERATORS = [o for o in op_db if o.name in ROWS and o.variant_test_name in ("", "no_rounding_mode")]


def operands(operator, sample):
    """In the order of the er function's results."""
    given = (sample.input, *sample.args, *sample.kwargs.values())
    if operator.name in ("addmm", "baddbmm", "addmv"):
        given = (*sample.args, sample.input)  # A, B, C
    return [t for t in given if isinstance(t, torch.Tensor) and (t.dtype.is_floating_point or t.dtype.is_complex)]


def with_planted(x, seed):
    return planted(x, seed).requires_grad_(x.requires_grad) if isinstance(x, torch.Tensor) and x.dtype == torch.float32 and x.numel() else x


@pytest.mark.parametrize("dtype, plant", [(torch.float32, False), (torch.float32, True), (torch.complex64, False)], ids=["float32", "planted", "complex64"])
@pytest.mark.parametrize("operator", OPERATORS, ids=lambda o: o.name)
def test_autograd_is_covered(operator, dtype, plant):
    if dtype not in operator.supported_backward_dtypes("cpu"):
        pytest.skip("PyTorch has no such gradient")
    torch.manual_seed(0)
    elements = refused = 0
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        samples = [s for s in operator.sample_inputs("cpu", dtype, requires_grad=True) if s.kwargs.get("dtype") is None]
    for k, s in enumerate(samples[:: 1 + len(samples) // 10]):
        if plant:
            s.input, s.args = with_planted(s.input, k), tuple(with_planted(x, 100 * i + k) for i, x in enumerate(s.args, 1))
        out = operator.op(s.input, *s.args, **s.kwargs)
        inputs = operands(operator, s)
        if not out.requires_grad or out.numel() > 400:
            continue
        grad = torch.randn(out.shape, dtype=out.dtype, generator=torch.Generator().manual_seed(k))
        outs = torch.autograd.grad(out, [t for t in inputs if t.requires_grad], grad)
        try:
            results = ROWS[operator.name](s.input, grad, s.args, s.kwargs)
        except er.SpecError:
            refused += 1
            continue
        for result, gradient in zip([r for r, t in zip(results, inputs) if t.requires_grad], outs, strict=True):
            er.assert_covers(result, gradient)
            assert result.shape == tuple(gradient.shape)
            finite = gradient.isfinite()
            if finite.all() and gradient.numel():
                assert result.check(gradient + 1e6 * (gradient.abs() + 1)).violations > 0
            elements += gradient.numel()
    assert (elements or refused) and (not refused or (operator.name, dtype) in REFUSED)
