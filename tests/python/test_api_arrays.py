"""What may be bound to an input or checked as an output, and what is refused."""
import array as stdlib_array
from decimal import Decimal
from fractions import Fraction

import ml_dtypes
import numpy as np
import pytest
import torch

import erx as er

IDENTITY = er.expr("x")
VALUES = [[1.0, -2.0, 0.5], [0.0, 4.0, -0.25]]
ML = ["bfloat16", "float8_e4m3fn", "float8_e5m2", "float8_e4m3fnuz", "float8_e5m2fnuz", "float8_e4m3", "float8_e3m4", "float8_e4m3b11fnuz",
      "float4_e2m1fn", "float6_e2m3fn", "float6_e3m2fn"]
TORCH = ["float64", "float32", "float16", "bfloat16", "float8_e4m3fn", "float8_e5m2", "float8_e4m3fnuz", "float8_e5m2fnuz"]


def values_of(x):
    r = IDENTITY(x=x)
    assert np.array_equal(r.lo, r.hi)
    return r.lo


class OnlyDlpack:
    """An array of a library that is not known here."""

    def __init__(self, tensor):
        self.tensor = tensor

    def __dlpack__(self, **options):
        return self.tensor.__dlpack__(**options)

    def __dlpack_device__(self):
        return self.tensor.__dlpack_device__()


@pytest.mark.parametrize("name", ["float64", "float32", "float16"] + ML)
def test_numpy_and_ml_dtypes(name):
    values = [[1.0, -2.0, 0.5], [0.0, 4.0, -0.5]] if "4_" in name else VALUES
    x = np.array(values).astype(np.dtype(getattr(ml_dtypes, name) if name in ML else name))
    r = IDENTITY(x=x)
    assert r.dtype == name
    for view in (x, x.T, x[:, ::-1], x[::2], x[:, 1:2], np.asfortranarray(x), x[:0], x[1, 2]):
        assert np.array_equal(values_of(view), view.astype(np.float64))
        assert IDENTITY(x=x).covers(x).all()


@pytest.mark.parametrize("name", ["int8", "int16", "int32", "int64", "uint8", "uint16", "uint32"])
def test_integers(name):
    info = np.iinfo(name)
    x = np.array([info.min, 0, 7, info.max], name)
    r = IDENTITY(x=x)
    assert r.dtype == name and (r.lo <= x).all() and (x <= r.hi).all()
    if name != "int64":  # its ends are float64
        assert r.lo.tolist() == x.tolist() == r.hi.tolist()
    assert r.covers(x).all() and not r.covers(x[::-1].copy()).all()


def test_other_layouts_of_numpy():
    x = np.array(VALUES)
    assert np.array_equal(values_of(x.astype(">f4")), x)
    assert np.array_equal(values_of(x.astype(">f2")), x)
    assert np.array_equal(values_of(np.broadcast_to(x[0], (4, 3))), np.broadcast_to(x[0], (4, 3)))
    raw = np.zeros(7, np.uint8)[1:5].view(np.float32)  # not aligned
    assert values_of(raw).tolist() == [0.0]


def test_raw_bits_take_the_declared_format():
    x = np.array(VALUES).astype(ml_dtypes.bfloat16)
    bits = x.view("V2")
    spec = er.parse("spec f(x: bf16[M, N]) -> bf16[M, N] { return x }")
    assert np.array_equal(spec(x=bits).lo, VALUES)
    assert spec(x=x).covers(bits).all()
    assert np.array_equal(er.array(bits, dtype="bfloat16").lo, VALUES)
    with pytest.raises(TypeError, match="bits"):
        IDENTITY(x=bits)
    for declared in ("f32", "f8e5m2", "f64", "complex<f16>", "i16", "bool"):  # of another size, or no format
        with pytest.raises(TypeError, match="bits"):
            er.parse(f"spec f(x: {declared}[N]) -> {declared}[N] {{ return x }}")(x=bits[0])
    tiny = np.array(VALUES).astype(ml_dtypes.float8_e5m2)
    assert np.array_equal(er.parse("spec f(x: f8e5m2[M, N]) -> f8e5m2[M, N] { return x }")(x=tiny.view("V1")).lo, tiny.astype(np.float64))


@pytest.mark.parametrize("name", TORCH)
def test_torch(name):
    x = torch.tensor(VALUES).to(getattr(torch, name))
    wide = x.double().numpy()
    for view in (x, x.T, x[:, 1:2], x[:0], x[1, 2], OnlyDlpack(x) if "float8" not in name else x):
        expected = view.tensor.double().numpy() if isinstance(view, OnlyDlpack) else view.double().numpy()
        r = IDENTITY(x=view)
        assert r.dtype == name and r.shape == expected.shape
        assert np.array_equal(values_of(view), expected)
    assert IDENTITY(x=x).covers(x).all()
    assert not IDENTITY(x=x).covers(x + x if "float8" not in name else (x.float() * 2).to(x.dtype)).all()
    assert np.array_equal(wide, x.double().numpy())


def test_torch_with_strides_bits_and_gradients():
    x = torch.arange(24.0).reshape(4, 6).to(torch.bfloat16)
    for view in (x[::2, ::3], x.T[1:], x.expand(2, 4, 6), x[:, None]):
        assert np.array_equal(values_of(view), view.float().numpy())
    leaf = torch.ones(3, requires_grad=True)
    assert values_of(leaf).tolist() == [1, 1, 1] and values_of(leaf * 2).tolist() == [2, 2, 2]
    assert leaf.requires_grad
    assert values_of(torch.nn.Parameter(torch.ones(2))).tolist() == [1, 1]
    assert IDENTITY(x=torch.tensor([True, False])).lo.tolist() == [True, False]
    assert values_of(torch._neg_view(torch.ones(2))).tolist() == [-1, -1]
    r = er.expr("x + 1")(x=x)
    x.add_(1)  # a later change
    assert r.lo[0, 0] == 1


@pytest.mark.parametrize("name", TORCH + ["int8", "int16", "int32", "int64", "uint8", "bool", "complex64", "complex128"])
def test_torch_of_every_size(name):
    """Few elements are read where they lie, many through an array of NumPy."""
    for n in (0, 1, 5, 4096, 4097, 9000):
        x = (torch.arange(n) % (2 if name == "bool" else 5) - (0 if name in ("uint8", "bool") else 2)).to(getattr(torch, name))
        wide = x.to(torch.complex128 if x.is_complex() else torch.float64).numpy()
        r = IDENTITY(x=x)
        assert r.dtype == name and r.shape == (n,) and np.array_equal(r.lo, wide)
        assert r.check(x) and r.covers(x).all()
        if n > 1:
            other = x.clone()
            other[n // 2] = x[n // 2 - 1]
            assert r.check(other).violations == 1
            assert np.array_equal(IDENTITY(x=x[1:]).lo, wide[1:])  # not at the start of its memory


def test_torch_that_has_no_memory_to_read():
    assert IDENTITY(x=torch.ones(3).expand(3)).lo.tolist() == [1, 1, 1]
    with pytest.raises((TypeError, RuntimeError)):
        torch.vmap(lambda t: torch.tensor(IDENTITY(x=t).lo))(torch.ones(2, 2))
    fake = torch._efficientzerotensor(3)
    try:
        values = IDENTITY(x=fake).lo
    except (TypeError, RuntimeError):
        pass
    else:
        assert values.tolist() == [0, 0, 0]


@pytest.mark.parametrize("name", ["float32", "float64", "float16", "bfloat16", "int64", "uint8", "bool"])
def test_dlpack(name):
    x = torch.tensor([[1, 0, 1], [0, 1, 1]]).to(getattr(torch, name))
    assert np.array_equal(values_of(OnlyDlpack(x)), x.double().numpy())
    assert np.array_equal(values_of(OnlyDlpack(x.T)), x.T.double().numpy())
    assert values_of(OnlyDlpack(x[0, 0])).shape == ()
    assert values_of(OnlyDlpack(x[:0])).shape == (0, 3)


def test_other_protocols():
    class OnlyArray:
        def __array__(self, dtype=None, copy=None):
            return np.array(VALUES)

    assert np.array_equal(values_of(OnlyArray()), VALUES)
    assert values_of(stdlib_array.array("f", [1.0, 2.0])).tolist() == [1, 2]
    assert values_of(memoryview(np.array([1.5]))).tolist() == [1.5]


def test_numbers_are_exact():
    e = er.expr("x * 3")
    assert e(x=0.1).covers(3 * 0.1) == (round(3 * 0.1, 20) == float(3 * Fraction(0.1)))
    third = e(x=Fraction(1, 3))
    assert third.lo <= 1 <= third.hi and third.covers(1.0) and not third.covers(np.nextafter(1.0, 2))
    assert e(x=Decimal("0.5")).lo == 1.5
    assert e(x=True and 2).lo == 6
    for wide in (2**70, 2**53):
        one = er.expr("x - y")(x=wide + 1, y=wide)
        assert one.covers(1.0) and not one.covers(0.0) and not one.covers(2.0)
    assert er.expr("round<f32>(x)")(x=np.float64(0.1)).lo == np.float32(0.1)
    assert np.isnan(er.expr("x + 1")(x=float("nan")).lo) and er.expr("x + 1")(x=float("inf")).lo == np.inf
    assert er.expr("where(c, 1, 2)")(c=True).lo == 1


def test_nested_lists():
    assert np.array_equal(values_of(VALUES), VALUES)
    assert values_of([[1, 2], (3, 4)]).tolist() == [[1, 2], [3, 4]]
    assert values_of([]).shape == (0,)
    assert values_of([torch.tensor(1.5), np.float32(2)]).tolist() == [1.5, 2]
    with pytest.raises(ValueError):
        IDENTITY(x=[[1, 2], [3]])
    r = er.expr("x / 2")(x=[1.0, 2.0])
    assert r.covers([0.5, 1]).all() and not r.covers([1, 1]).all()


@pytest.mark.parametrize("bad", [
    "text", b"bytes", None, {"a": 1}, print, object(), np.array([None, 1]), np.array(["a"]), np.array([b"a"]), np.zeros(2, np.clongdouble),
    np.array(["2020-01-01"], "M8[D]"), np.zeros(2, [("a", "f4")]), np.zeros(2, np.longdouble), np.ma.masked_array([1.0], [True]),
    [1, "a"], [None], ["a", "b"],
    pytest.param(torch.eye(2).to_sparse(), id="sparse"), pytest.param(torch.ones(2, device="meta"), id="meta"),
    pytest.param(torch.quantize_per_tensor(torch.ones(2), 1.0, 0, torch.qint8), id="quantized"),
    pytest.param(torch.nested.nested_tensor([torch.ones(2)]), id="nested"),
], ids=lambda x: type(x).__name__)
def test_the_wrong_kind_of_argument(bad):
    with pytest.raises(TypeError):
        IDENTITY(x=bad)
    with pytest.raises(TypeError):
        er.expr("x + 1")(x=1.0).covers(bad)
    with pytest.raises(TypeError):
        er.add(bad, 1.0)


def test_stored_values_without_another_library():
    a = er.array([0.1, 1.00390625, -3.0, float("inf")], dtype="bfloat16")  # the second is a tie
    assert a.lo.tolist() == [0.10009765625, 1.0, -3.0, np.inf] and a.dtype == "bfloat16" and a.shape == (4,)
    assert er.array([[1, 2]], dtype="float8_e4m3fn").reshape((2, 1)).lo.tolist() == [[1], [2]]
    assert er.array([1, 2]).dtype == "int64" and er.array([1.5]).dtype == "float64" and er.array(2.5).dtype == "float64"
    assert er.array([2**24 + 1, -(2**62) - 1], dtype="float32").lo.tolist() == [2**24, -(2**62)]
    assert er.array([1, 2], dtype="int8").dtype == "int8"
    assert er.array(torch.tensor([1.0009765625]), dtype=torch.bfloat16).lo.tolist() == [1.0]
    assert er.array(np.float32([2.5]), dtype="float<e=4, m=1>").lo.tolist() == [2.0]
    with pytest.raises(er.SpecError, match="300"):
        er.array([300], dtype="int8")
    with pytest.raises(er.SpecError, match="bfloat16"):
        er.array([1.0], dtype="bfloat61")
    with pytest.raises(er.SpecError, match="NaN"):
        er.array([float("nan")], dtype="float4_e2m1fn")


def test_every_code_of_small_formats_reads_as_ml_dtypes_says():
    for name in ML:
        dtype = np.dtype(getattr(ml_dtypes, name))
        count = min(2 ** ml_dtypes.finfo(dtype).bits, 2**16)
        codes = np.arange(count, dtype=np.uint16 if dtype.itemsize == 2 else np.uint8).view(dtype)
        expected = codes.astype(np.float64)
        assert np.array_equal(IDENTITY(x=codes).lo, expected, equal_nan=True), name
        zeros = expected == 0
        assert np.array_equal(np.signbit(IDENTITY(x=codes).lo[zeros]), np.signbit(expected[zeros])), name


@pytest.mark.parametrize("size", [3, 6000])
def test_tensors_of_pytorch_without_elements_of_their_own_are_refused(size):
    e = er.expr("round<f32>(x)")

    def read(x):
        with pytest.raises(TypeError, match="torch.func"):
            e(x=x + 1)
        return x

    torch.func.functionalize(read)(torch.arange(float(size)))
    torch.vmap(read)(torch.ones(2, size))
    t = torch.ones(size)
    t.untyped_storage().resize_(4)
    with pytest.raises(TypeError, match="storage"):
        e(x=t)
    t.untyped_storage().resize_(0)
    with pytest.raises(TypeError, match="input `x`: the storage of a tensor was freed"):
        e(x=t)
    from torch._subclasses.fake_tensor import FakeTensorMode

    with FakeTensorMode():
        fake = torch.ones(size)
    with pytest.raises(TypeError, match="cannot be read"):
        e(x=fake)
    part = torch.arange(float(size))[1:]
    assert np.array_equal(e(x=part).lo, np.arange(1.0, size))
