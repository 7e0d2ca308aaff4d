"""What the functions of docs/pytorch.md take and refuse: tensors of every kind, wrong shapes and dtypes; each message names the argument."""
import ml_dtypes
import numpy as np
import pytest
import torch

import erx as er

ONE = torch.ones(2, 3)


def refused(error, match, call):
    with pytest.raises(error, match=match):
        call()


@pytest.mark.parametrize("function, arguments", [
    (er.matmul, "A B"), (er.gemm, "A B C"), (er.multiply, "x y"), (er.add, "x y"), (er.subtract, "x y"), (er.divide, "x y"), (er.sum, "x"), (er.mean, "x"), (er.prod, "x"),
    (er.max, "x"), (er.min, "x"), (er.exp, "x"), (er.log, "x"), (er.negative, "x"),
], ids=lambda v: getattr(v, "__name__", ""))
def test_the_argument_is_named(function, arguments):
    names = arguments.split()
    bad = {"sparse": torch.eye(3).to_sparse(), "device": torch.ones(3, 3, device="meta"), "strings": np.array([["a"]]), "objects": np.array([[None]]), "None": None,
           "text": "1", "masked": np.ma.masked_array(np.ones((3, 3)), mask=False), "quantized": torch.quantize_per_tensor(torch.ones(3, 3), 0.1, 0, torch.qint8)}
    hints = {"sparse": "to_dense", "device": "meta", "quantized": "dequantize", "masked": "where="}
    for place, name in enumerate(names):
        for kind, value in bad.items():
            if kind == "None" and name == "C":
                continue
            given = [torch.eye(3)] * len(names)
            given[place] = value
            with pytest.raises(TypeError, match=rf"^`?{name}`?: ") as caught:
                function(*given)
            assert hints.get(kind, "") in str(caught.value)


def test_shapes():
    for call in (lambda: er.add(ONE, torch.ones(2)), lambda: er.multiply(ONE, torch.ones(4)), lambda: er.where(ONE > 0, ONE, torch.ones(2)),
                 lambda: er.matmul(ONE, ONE), lambda: er.matmul(ONE, torch.ones(2)), lambda: er.gemm(ONE, ONE.T, torch.ones(3)), lambda: er.layer_norm(ONE, 3, torch.ones(2))):
        refused(er.SpecError, "shape|broadcast|2|3", call)
    refused(er.SpecError, "broadcast", lambda: er.gemm(ONE, ONE.T, torch.ones(2, 2, 2)))
    refused(er.SpecError, "0-d|dimension|shape", lambda: er.matmul(torch.tensor(1.0), ONE))
    refused(ValueError, "reduce_batch", lambda: er.gemm(ONE, ONE.T, reduce_batch=True))
    refused(ValueError, "last dimensions", lambda: er.layer_norm(ONE, (2,)))
    for function in (er.sum, er.mean, er.prod, er.max, er.min, er.logsumexp, er.softmax, er.log_softmax, er.cumsum):
        refused(ValueError, "axis 2 is out of range", lambda f=function: f(ONE, 2))
    for function in (er.sum, er.mean, er.prod, er.max, er.min, er.logsumexp):
        refused(ValueError, "twice", lambda f=function: f(ONE, (0, -2)))


def test_an_output_of_another_shape_or_dtype():
    result = er.matmul(ONE, ONE.T)
    refused(er.SpecError, r"shape|\[2, 3\]", lambda: result.check(ONE))
    refused(er.SpecError, r"shape|\[2\]", lambda: result.covers(torch.ones(2)))
    refused(er.SpecError, "type|int", lambda: result.check(torch.ones(2, 2, dtype=torch.int64)))
    refused(er.SpecError, "type|complex", lambda: result.check(torch.ones(2, 2, dtype=torch.complex64)))
    refused(TypeError, "boolean", lambda: result.check(ONE @ ONE.T, where=torch.ones(2, 2)))
    assert result.check((ONE @ ONE.T).requires_grad_())


def test_dtypes_that_do_not_promote():
    a, b = np.ones(2, ml_dtypes.float8_e4m3fn), np.ones(2, ml_dtypes.float8_e5m2)
    for function in (er.add, er.multiply, er.divide, er.matmul, er.subtract):
        refused(er.SpecError, "common type", lambda f=function: f(a, b))
        assert function(a, b, dtype="bfloat16").dtype == "bfloat16"
    refused(er.SpecError, "common type", lambda: er.gemm(a, a, b))
    refused(er.SpecError, "bfloat61", lambda: er.sum(ONE, dtype="bfloat61"))
    refused(er.SpecError, "fraction", lambda: er.divide(torch.ones(2, dtype=torch.int64), 2, dtype="int64"))
    refused(er.SpecError, "complex", lambda: er.add(torch.ones(2, dtype=torch.complex64), 1.0, dtype="float32"))


def test_scales():
    for bad in (torch.ones(2), [1, 2], "1", None):
        refused(TypeError, "alpha", lambda v=bad: er.add(ONE, ONE, alpha=v))
        refused(TypeError, "alpha", lambda v=bad: er.gemm(ONE, ONE.T, alpha=v))
        refused(TypeError, "beta", lambda v=bad: er.gemm(ONE, ONE.T, torch.ones(2, 2), beta=v))
    refused(TypeError, "alpha is complex", lambda: er.add(ONE, ONE, alpha=1j))
    assert er.gemm(ONE, ONE.T, torch.ones(2, 2), alpha=torch.tensor(0.5), beta=np.float32(2)).lo.tolist() == [[3.5, 3.5]] * 2


def test_tensors_that_need_care():
    for x in (ONE.clone().requires_grad_(), torch.nn.Parameter(ONE.clone()), ONE.T.contiguous().T, ONE.expand(4, 2, 3)[1], torch.view_as_real(torch.complex(ONE, ONE))[..., 0]):
        assert er.sum(x).lo == 6
    z = torch.tensor([1 + 2j])
    assert er.multiply(z.conj(), 1).lo[0] == 1 - 2j and er.add(z.conj().imag, 0).lo[0] == -2  # lazily conjugated and negated
    payload = np.array([0x7FC00001, 0xFFC00000, 0x7FA00000], np.uint32).view(np.float32)  # NaN is one value
    assert er.add(payload, 1).covers(payload).all() and er.add(payload, 1).covers(np.full(3, np.nan, np.float32)).all()
    with torch.no_grad():
        x = torch.ones(3)
        r = er.add(x, 1)
        x += 1
    assert r.lo.tolist() == [2, 2, 2]  # captured before


def test_nothing_to_reduce_is_as_in_pytorch():
    for shape, axis in (((0,), 0), ((2, 0), 1), ((0, 2), 0)):
        x = torch.ones(shape)
        for function, live in ((er.sum, torch.sum), (er.mean, torch.mean), (er.prod, torch.prod)):
            er.assert_covers(function(x, axis), live(x, axis))
        for function, live in ((er.max, torch.amax), (er.min, torch.amin)):
            refused(ValueError, "no elements", lambda f=function: f(x, axis))
            refused(IndexError, "non-zero", lambda f=live: f(x, axis))
        for function, live in ((er.softmax, torch.softmax), (er.log_softmax, torch.log_softmax), (er.cumsum, torch.cumsum)):
            er.assert_covers(function(x, axis), live(x, axis))
    er.assert_covers(er.logsumexp(torch.ones(0, 2), 1), torch.logsumexp(torch.ones(0, 2), 1))
    er.assert_covers(er.matmul(torch.ones(2, 0), torch.ones(0, 3)), torch.ones(2, 0) @ torch.ones(0, 3))
    er.assert_covers(er.max(torch.ones(0, 2), 1), torch.ones(0, 2).amax(1))


@pytest.mark.parametrize("x, y", [(1, 2), (True, 2), (1, 2.0), (1, 1j), (True, True), (0.1, 0.2), (True, 2.5), (1 + 1j, 2)])
def test_numbers_alone_have_pytorch_s_dtypes(x, y):
    for function, live in ((er.add, torch.add), (er.multiply, torch.mul), (er.divide, torch.div), (er.subtract, torch.sub)):
        if True in (x, y) and function is er.subtract and isinstance(x, bool):
            continue  # PyTorch refuses booleans there
        result, out = function(x, y), live(x, y)
        assert result.dtype == out.dtype and result.shape == () and result.check(out), (function, x, y)
    mask = torch.tensor([True, False])
    er.assert_covers(er.where(mask, torch.tensor([True, True]), torch.tensor([2, 3])), torch.where(mask, torch.tensor([True, True]), torch.tensor([2, 3])))
    assert er.where(torch.tensor(True), x, y).dtype == torch.where(torch.tensor(True), x, y).dtype


@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float16], ids=str)
def test_a_device_that_converts_alpha_to_float32(dtype):
    """As CUDA's kernels do for the narrow formats: the float32 alpha, one rounding."""
    x, y = (torch.randn(2000, generator=torch.Generator().manual_seed(k)).to(dtype) for k in (1, 2))
    alpha = torch.tensor(0.3).item()
    out = (x.float() + alpha * y.float()).to(dtype)
    er.assert_covers(er.add(x, y, alpha=alpha), out)
    assert er.add(x, y, alpha=torch.tensor(0.3, dtype=dtype).item()).check(out).violations > 20
    assert er.add(x, er.multiply(y, alpha, dtype=dtype)).check(out).violations > 100


def test_gemm_takes_vectors_and_batches():
    g = torch.Generator().manual_seed(5)
    for left, right, addend in [((5,), (5,), ()), ((4, 5), (5,), (4,)), ((5,), (5, 3), (3,)), ((5,), (2, 5, 3), (2, 3)), ((2, 4, 5), (5,), (4,)), ((2, 4, 5), (5, 3), (3,)),
                                ((2, 1, 4, 5), (3, 5, 6), (1, 6)), ((4, 0), (0, 3), (4, 1))]:
        for dtype in (torch.float64, torch.float32, torch.bfloat16):
            A, B, C = (torch.randn(s, generator=g, dtype=torch.float64).to(dtype) for s in (left, right, addend))
            exact = 0.5 * torch.matmul(A.double(), B.double()) - 3 * C.double()
            result = er.gemm(A, B, C, alpha=0.5, beta=-3)
            assert result.shape == tuple(exact.shape)
            er.assert_covers(result, exact.to(dtype))
            assert result.check((exact + exact.abs() / 8 + 1).to(dtype)).violations == exact.numel()
