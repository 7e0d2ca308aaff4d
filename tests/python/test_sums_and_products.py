"""Sums and products of PyTorch and NumPy in every dtype, shape and stride, against the functions' defaults or the natural spec.

Each output is covered and, one ulp outside its set, refuted. Wrong accumulators, and outputs that lost a term, are refuted.
"""
import zlib

import numpy as np
import pytest
import torch

import erx as er
from test_pytorch import assert_sharp

FLOATS = {"f64": torch.float64, "f32": torch.float32, "bf16": torch.bfloat16, "f16": torch.float16}
INTEGERS = {"i8": torch.int8, "i16": torch.int16, "i32": torch.int32, "i64": torch.int64, "u8": torch.uint8}
COMPLEX = {"f32": torch.complex64, "f64": torch.complex128}
PARTS = {torch.complex64: torch.float32, torch.complex128: torch.float64}
LONG = ((100_000,), 0)
# shape, axis
SHAPES = [((), None), ((0,), 0), ((1,), 0), ((7,), 0), ((5, 7), 0), ((5, 7), 1), ((5, 7), None), ((3, 0), 1), ((0, 3), 1), ((1, 999), 1),
          ((33, 65), 0), ((3, 5, 7), 1), ((3, 5, 7), (0, 2)), ((2, 3, 4, 5), (1, 3)), LONG]
LAYOUTS = ["plain", "stepped", "transposed", "broadcast", "negative"]


def wide(f):
    """The format that kernels accumulate in."""
    return "f64" if f == "f64" else "f32"


def tensor(seed, shape, dtype, layout="plain"):
    """Random numbers of a shape, in memory laid out as said."""
    g = torch.Generator().manual_seed(zlib.crc32(repr((seed, shape, str(dtype))).encode()))

    def numbers(shape):
        if not dtype.is_floating_point and not dtype.is_complex:
            return torch.randint(0 if dtype == torch.uint8 else -100, 100, shape, generator=g).to(dtype)
        return torch.randn(shape, generator=g, dtype=torch.complex128 if dtype.is_complex else torch.float64).to(dtype)

    if layout == "stepped" and shape:
        return numbers((*shape[:-1], 2 * shape[-1]))[..., ::2]
    if layout == "transposed" and len(shape) > 1:
        return numbers((*shape[:-2], shape[-1], shape[-2])).mT
    if layout == "broadcast" and shape:
        return numbers((1, *shape[1:])).expand(shape)
    return numbers(shape)


def array(seed, shape, dtype, layout="plain"):
    a = tensor(seed, shape, dtype, layout).numpy()
    return a[..., ::-1] if layout == "negative" and a.ndim else a


def covered(result, out):
    """Complex and integer outputs have another notion of the next value: moved by one unit of their larger part."""
    er.assert_covers(result, out)
    a = np.asarray(out).copy()
    if a.size == 0:
        return
    index = tuple(n // 2 for n in a.shape)
    if np.iscomplexobj(a):
        # past the end of the set of the real part, alone
        real = np.asarray(result.hi)[index].real.astype(a.real.dtype)
        a[index] = complex(np.nextafter(real, np.array(np.inf, real.dtype)), a[index].imag)
    else:
        a[index] += 1
    report = result.check(a)
    assert report.violations == 1 and tuple(np.asarray(report.indices)[0]) == index


def axes(axis, shape):
    return tuple(range(len(shape))) if axis is None else axis


# --- sums and means -----------------------------------------------------------------------------------------------------

@pytest.mark.parametrize("layout", LAYOUTS[:4])
@pytest.mark.parametrize("f", FLOATS)
def test_sums_of_pytorch(f, layout):
    for shape, axis in SHAPES:
        x = tensor("sum", shape, FLOATS[f], layout)
        assert_sharp(er.sum(x, axis), torch.sum(x, axes(axis, shape)))
        if shape and x.numel() < 10_000:
            assert_sharp(er.sum(x, axis, keepdims=True), torch.sum(x, axes(axis, shape), keepdim=True))


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("f", ["f64", "f32"])
def test_sums_of_numpy(f, layout):
    for shape, axis in SHAPES:
        x = array("sum", shape, FLOATS[f], layout)
        assert_sharp(er.sum(x, axis), torch.from_numpy(np.array(np.sum(x, axis))))
        if x.size < 10_000:
            assert_sharp(er.sum(x, axis, keepdims=True), torch.from_numpy(np.array(np.sum(x, axis, keepdims=True))))


@pytest.mark.parametrize("layout", LAYOUTS)
def test_sums_of_numpy_in_float16(layout):
    """NumPy adds the rows of float16 in float16, and a contiguous line in float32: each addition is in float16 or better."""
    for shape, axis in SHAPES:
        if shape == (100_000,):
            continue  # stepped, it is stored in float16 every 8192 elements
        x = array("half", shape, torch.float16, layout)
        spec = "within<f16>(sum(x))" if axis is None else f"within<f16>(sum(x, axis={axis}))"
        assert_sharp(er.expr(f"round<f16>({spec})")(x=x), torch.from_numpy(np.array(np.sum(x, axis))))


def test_numpy_adds_rows_of_float16_in_float16():
    x = array("rows", (200, 300), torch.float16)
    out = np.sum(x, 0)
    assert er.sum(x, 0).check(out).violations > 200
    er.assert_covers(er.expr("acc<f16, seq>(sum(x, axis=0))")(x=x), out)


@pytest.mark.parametrize("layout", LAYOUTS[:4])
@pytest.mark.parametrize("f", FLOATS)
def test_means(f, layout):
    for shape, axis in SHAPES:
        x = tensor("mean", shape, FLOATS[f], layout)
        if 0 in shape or not isinstance(axis, int):
            continue
        spec = er.expr(f"round<{f}>(in {wide(f)} {{ acc<{wide(f)}>(sum(x, axis={axis})) / {shape[axis]} }})")
        default = er.expr(f"round<{f}>(within<{wide(f)}>(mean(x, axis={axis})))")
        reciprocal = er.expr(f"round<{f}>(in {wide(f)} {{ acc<{wide(f)}>(sum(x, axis={axis})) * (1 / {shape[axis]}) }})")
        out = torch.mean(x, axis)
        er.assert_covers(default(x=x), out)
        er.assert_covers(er.any_of(spec(x=x), reciprocal(x=x)), out)
        if f != "bf16":
            assert_sharp(default(x=x.numpy()), torch.from_numpy(np.array(np.mean(x.numpy(), axis))))
        result = default(x=x)
        if out.numel():
            off = out.clone()
            off.view(-1)[0] = off.view(-1)[0] * 1.25 + 1
            assert result.check(off).violations == 1


@pytest.mark.parametrize("layout", LAYOUTS[:4])
@pytest.mark.parametrize("kind", INTEGERS)
def test_sums_of_integers(kind, layout):
    for shape, axis in SHAPES:
        x = tensor("int", shape, INTEGERS[kind], layout)
        covered(er.sum(x, axis), torch.sum(x, axes(axis, shape)))
        covered(er.sum(x.numpy(), axis), np.sum(x.numpy(), axis, dtype=np.int64))


@pytest.mark.parametrize("layout", LAYOUTS[:4])
@pytest.mark.parametrize("f", COMPLEX)
def test_sums_and_means_of_complex_numbers(f, layout):
    for shape, axis in SHAPES:
        x = tensor("complex", shape, COMPLEX[f], layout)
        covered(er.sum(x, axis), torch.sum(x, axes(axis, shape)))
        covered(er.sum(x.numpy(), axis), np.sum(x.numpy(), axis))
        if isinstance(axis, int) and 0 not in shape:
            result = er.expr(f"round<{f}>(within<{f}>(mean(x, axis={axis})))")(x=x)
            er.assert_covers(result, torch.mean(x, axis))
            er.assert_covers(result, np.mean(x.numpy(), axis))


# --- products -----------------------------------------------------------------------------------------------------------

PRODUCTS = [((1, 1), (1, 1)), ((3, 5), (5, 7)), ((33, 65), (65, 17)), ((3, 0), (0, 2)), ((0, 4), (4, 3)), ((1, 999), (999, 1)),
            ((64, 1), (1, 5)), ((7,), (7, 3)), ((3, 7), (7,)), ((2, 3, 4), (2, 4, 5)), ((2, 1, 3, 4), (3, 4, 2))]


def products(make, dtype, layouts=LAYOUTS):
    for left, right in PRODUCTS:
        for layout in layouts:
            yield make("A", left, dtype, layout), make("B", right, dtype, layout)


@pytest.mark.parametrize("f", FLOATS)
def test_products_of_pytorch(f):
    for A, B in products(tensor, FLOATS[f]):
        assert_sharp(er.matmul(A, B), torch.matmul(A, B))
        if A.dim() == B.dim() == 3:
            assert_sharp(er.matmul(A, B), torch.bmm(A, B))


@pytest.mark.parametrize("f", ["f64", "f32", "f16"])
def test_products_of_numpy(f):
    for A, B in products(array, FLOATS[f]):
        assert_sharp(er.matmul(A, B), torch.from_numpy(np.array(np.matmul(A, B))))


@pytest.mark.parametrize("f", FLOATS)
def test_dot(f):
    for n, step in [(0, 1), (1, 1), (2, 3), (7, 2), (999, 1), (999, 3), (20_000 if f == "f64" else 100_000, 1)]:
        x, y = (tensor((name, step), (n * step,), FLOATS[f])[::step] for name in "xy")
        assert_sharp(er.matmul(x, y), torch.dot(x, y))
        if f != "bf16" and n < 1000:
            a, b = x.numpy()[::-1], y.numpy()
            assert_sharp(er.matmul(a, b), torch.from_numpy(np.array(np.dot(a, b))))


EINSUMS = [("ij,jk->ik", (5, 7), (7, 3)), ("ij,kj->ik", (5, 7), (3, 7)), ("ij,ij->i", (5, 70), (5, 70)), ("bij,bjk->bik", (2, 3, 4), (2, 4, 5)),
           ("ij,ij->j", (70, 5), (70, 5)), ("i,i->", (99,), (99,)), ("i,j->ij", (4,), (5,)), ("bij,bij->b", (3, 4, 5), (3, 4, 5))]


@pytest.mark.parametrize("f", FLOATS)
def test_einsum(f):
    for subscripts, left, right in EINSUMS:
        for layout in LAYOUTS[:4]:
            x, y = tensor("e", left, FLOATS[f], layout), tensor("f", right, FLOATS[f], layout)
            spec = er.expr(f'round<{f}>(within<{wide(f)}>(einsum("{subscripts}", x, y)))')
            assert_sharp(spec(x=x, y=y), torch.einsum(subscripts, x, y))
            if f != "bf16":  # NumPy adds float16 into its output
                spec = er.expr(f'round<{f}>(within<{f}>(einsum("{subscripts}", x, y)))')
                out = np.array(np.einsum(subscripts, x.numpy(), y.numpy()))
                assert_sharp(spec(x=x.numpy(), y=y.numpy()), torch.from_numpy(out))


@pytest.mark.parametrize("f", COMPLEX)
def test_products_of_complex_numbers(f):
    for A, B in products(tensor, COMPLEX[f], ["plain", "transposed"]):
        covered(er.matmul(A, B), torch.matmul(A, B))
        covered(er.matmul(A.numpy(), B.numpy()), np.matmul(A.numpy(), B.numpy()))
    for n in (1, 7, 999):
        x, y = tensor("x", (n,), COMPLEX[f], "stepped"), tensor("y", (n,), COMPLEX[f])
        covered(er.matmul(x, y), torch.dot(x, y))
        covered(er.matmul(x.conj(), y), torch.vdot(x, y))
        covered(er.matmul(x.numpy().conj(), y.numpy()), np.vdot(x.numpy(), y.numpy()))


@pytest.mark.parametrize("f", COMPLEX)
def test_einsum_of_complex_numbers(f):
    for subscripts, left, right in EINSUMS:
        x, y = tensor("e", left, COMPLEX[f]), tensor("f", right, COMPLEX[f])
        for out in (torch.einsum(subscripts, x, y), np.einsum(subscripts, x.numpy(), y.numpy())):
            covered(er.expr(f'round<{f}>(within<{f}>(einsum("{subscripts}", x, y)))')(x=x, y=y), out)
    z = tensor("z", (3, 4), COMPLEX[f])
    moved = er.expr(f'within<{f}>(einsum("ij->ji", z))')(z=z)
    covered(moved, z.T.resolve_conj())
    assert moved.check(z.T * (1 + 2.0**-20)).violations == 12


@pytest.mark.parametrize("kind", INTEGERS)
def test_products_of_integers(kind):
    """Products wrap in their dtype."""
    spec, contraction = er.expr(f"wrap<{kind}>(A @ B)"), er.expr(f'wrap<{kind}>(einsum("ij,kj->ik", A, B))')
    for A, B in products(tensor, INTEGERS[kind]):
        covered(spec(A=A, B=B), torch.matmul(A, B))
        covered(spec(A=A.numpy(), B=B.numpy()), np.matmul(A.numpy(), B.numpy()))
        if A.dim() == B.dim() == 2:
            covered(contraction(A=A, B=B.T), torch.einsum("ij,kj->ik", A, B.T))


# --- wrong accumulators -------------------------------------------------------------------------------------------------

def chopped(x, keep):
    """float64 numbers cut toward 0 to a dtype."""
    near = x.to(keep)
    inward = torch.nextafter(near, torch.zeros_like(near))
    return torch.where(near.double().abs() > x.abs(), inward, near)


@pytest.mark.parametrize("f", ["bf16", "f16"])
def test_sums_added_in_the_dtype_are_refuted(f):
    x = tensor("narrow", (300, 64), FLOATS[f])
    total = torch.zeros(64, dtype=FLOATS[f])
    for row in x:
        total = total + row
    assert er.sum(x, 0).check(total).violations > 32
    er.assert_covers(er.expr(f"acc<{f}, seq>(sum(x, axis=0))")(x=x), total)
    A, B = tensor("A", (64, 100), FLOATS[f]), tensor("B", (100, 32), FLOATS[f])
    total = torch.zeros(64, 32, dtype=FLOATS[f])
    for k in range(100):
        total = total + A[:, k : k + 1] * B[k]
    assert er.matmul(A, B).check(total).violations > 1000


@pytest.mark.parametrize("f", ["bf16", "f16"])
def test_a_result_cut_instead_of_rounded_is_refuted(f):
    x = tensor("cut", (1000, 40), FLOATS[f])
    cut = chopped(x.double().sum(1), FLOATS[f])
    assert 400 < er.sum(x, 1).check(cut).violations < 600  # half of the results round up
    A, B = tensor("cut A", (40, 64), FLOATS[f]), tensor("cut B", (64, 40), FLOATS[f])
    assert 700 < er.matmul(A, B).check(chopped(A.double() @ B.double(), FLOATS[f])).violations < 900


@pytest.mark.parametrize("n, least", [(2, 300), (3, 300), (6, 300)])
def test_additions_cut_instead_of_rounded_are_refuted(n, least):
    """Each addition in float32, toward 0. (Sums of 24 bits are exact in float64.)"""
    x = tensor("chopped", (1000, n), torch.float32).abs()
    total = x[:, 0]
    for k in range(1, n):
        total = chopped(total.double() + x[:, k].double(), torch.float32)
    spec = er.expr("acc<f32>(sum(x, axis=1))")
    assert spec(x=x).check(total).violations > least
    assert er.expr("acc<f32, seq>(sum(x, axis=1))")(x=x).check(total).violations > least
    er.assert_covers(spec(x=x), x.sum(1))


@pytest.mark.parametrize("f", FLOATS)
def test_a_lost_term_is_refuted(f):
    for n in (2, 33, 1000):
        x = tensor("lost", (50, n), FLOATS[f])
        lost = x.abs().argmax(1, keepdim=True)
        out = torch.sum(x.scatter(1, lost, 0), 1)
        assert er.sum(x, 1).check(out).violations == 50
        A, B = tensor("lost A", (20, n), FLOATS[f]), tensor("lost B", (n, 20), FLOATS[f])
        assert er.matmul(A, B).check(A[:, 1:] @ B[1:]).violations > 250


@pytest.mark.parametrize("f", COMPLEX)
def test_wrong_complex_products_are_refuted(f):
    A, B = tensor("A", (20, 33), COMPLEX[f]), tensor("B", (33, 20), COMPLEX[f])
    result = er.matmul(A, B)
    assert result.check(A[:, :32] @ B[:32]).violations == 400
    assert result.check(A.conj() @ B).violations == 400
    assert result.check((A @ B).conj()).violations == 400
    if f == "f64":
        assert result.check((A.to(torch.complex64) @ B.to(torch.complex64)).to(torch.complex128)).violations == 400
