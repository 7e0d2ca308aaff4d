"""Every row, remark and code block of docs/pytorch.md against live PyTorch: what is covered, and that a neighbour of the set is not."""
import numpy as np
import pytest
import torch

import erx as er

FLOATS = [torch.float64, torch.float32, torch.bfloat16, torch.float16]
HALVES = FLOATS[2:]
COMPLEX = [torch.complex64, torch.complex128]
INTEGERS = [torch.int64, torch.int32, torch.int8, torch.uint8]
LAYOUTS = ["contiguous", "transposed", "strided", "broadcast"]
PRODUCTS = [(1, 1, 1), (3, 5, 7), (0, 4, 3), (3, 0, 2), (33, 65, 17), (24, 300, 40)]
SCALES = [(1, 1), (0.7, 1.3), (-0.5, 0), (2, -1)]


def name(dtype):
    return str(dtype)[len("torch."):]


def parts(dtype):
    return {torch.complex64: torch.float32, torch.complex128: torch.float64}.get(dtype, dtype)


class Source:
    """Seeded values; each call gives new ones."""

    def __init__(self, seed):
        self.g = torch.Generator().manual_seed(seed)

    def plain(self, shape, dtype):
        if dtype in INTEGERS:
            return torch.randint(0 if dtype == torch.uint8 else -9, 10, shape, generator=self.g).to(dtype)
        wide = torch.complex128 if dtype in COMPLEX else torch.float64
        return torch.randn(shape, generator=self.g, dtype=wide).to(dtype)

    def __call__(self, *shape, dtype, layout="contiguous"):
        if layout == "transposed" and len(shape) > 1:
            return self.plain((*shape[:-2], shape[-1], shape[-2]), dtype).mT
        if layout == "strided" and shape:
            return self.plain((*shape[:-1], 2 * shape[-1] + 1), dtype)[..., 1::2]
        if layout == "broadcast" and len(shape) > 1:
            return self.plain((1, *shape[1:]), dtype).expand(shape)
        return self.plain(shape, dtype)


def above(result, index, dtype):
    """The first value of the dtype above the element's set, of a complex one above its real part's."""
    if dtype in COMPLEX:
        return above(result.real, index, parts(dtype)) + 1j * float(np.asarray(result.imag.lo)[index])
    hi = torch.tensor(np.asarray(result.hi)[index])
    if not dtype.is_floating_point:
        return int(hi) + 1
    stored = hi.to(dtype)
    while float(stored) <= float(hi):
        stored = torch.nextafter(stored, torch.tensor(float("inf"), dtype=dtype))
    return stored.item()


def assert_sharp(result, out):
    """Covered; and with one element an ulp outside its set refuted there and nowhere else."""
    er.assert_covers(result, out)
    assert result.shape == tuple(out.shape)
    if out.numel() == 0:
        return
    for index in {tuple(n // 2 for n in out.shape), tuple(n - 1 for n in out.shape)}:
        moved = out.clone()
        moved[index] = above(result, index, out.dtype)
        report = result.check(moved)
        assert report.violations == 1 and tuple(np.asarray(report.indices)[0]) == index, str(report)


def used(value, dtype):
    """A scalar as a matrix product uses it: in the compute format."""
    return torch.tensor(value, dtype=torch.float64 if parts(dtype) == torch.float64 else torch.float32).item()


def forms(A, B, C, alpha, beta):
    """What a BLAS may do beside the plain form: it scales an operand, or C, and stores it before the product."""
    plain = er.gemm(A, B, C, alpha=alpha, beta=beta)
    if A.dtype in HALVES:  # an empty product leaves C * beta, with beta in the dtype
        return plain if A.shape[-1] or beta == 0 else er.any_of(plain, er.multiply(C, torch.tensor(beta, dtype=C.dtype).item()))
    scaled = C if beta == 1 else er.multiply(C, beta)
    alternatives = [plain, er.gemm(er.multiply(A, alpha), B, C, beta=beta), er.gemm(A, er.multiply(B, alpha), C, beta=beta)]
    if beta != 0:
        alternatives += [er.gemm(A, B, scaled, alpha=alpha), er.gemm(er.multiply(A, alpha), B, scaled), er.gemm(A, er.multiply(B, alpha), scaled)]
    return er.any_of(*alternatives)


# --- matrix products ------------------------------------------------------------------------------------------------------

@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("dtype", FLOATS + COMPLEX + INTEGERS[:2], ids=name)
def test_products(dtype, layout):
    source = Source(1)
    for m, k, n in PRODUCTS[:4] if dtype in COMPLEX + INTEGERS else PRODUCTS:
        A, B = source(m, k, dtype=dtype, layout=layout), source(k, n, dtype=dtype, layout=layout)
        result = er.matmul(A, B)
        assert_sharp(result, A @ B)
        for call in (torch.matmul, torch.mm):
            out = torch.empty(m, n, dtype=dtype)
            er.assert_covers(result, call(A, B, out=out))
            er.assert_covers(result, out)
        batch = [source(2, *s, dtype=dtype, layout=layout) for s in ((m, k), (k, n))]
        assert_sharp(er.matmul(*batch), torch.bmm(*batch))


@pytest.mark.parametrize("dtype", FLOATS + COMPLEX, ids=name)
def test_vectors(dtype):
    source = Source(2)
    for m, k in [(1, 1), (5, 7), (33, 65), (3, 0)]:
        A, x, y = source(m, k, dtype=dtype), source(k, dtype=dtype), source(k, dtype=dtype)
        assert_sharp(er.matmul(x, A.mT), torch.matmul(x, A.mT)) if dtype not in HALVES else None
        if dtype in HALVES:  # PyTorch rounds each product of a dot product to the dtype
            products = er.sum(er.multiply(x, y))
            er.assert_covers(er.any_of(er.matmul(x, y), products), torch.dot(x, y))
            er.assert_covers(er.matmul(A, x), torch.mv(A, x))
            continue
        assert_sharp(er.matmul(A, x), torch.mv(A, x))
        assert_sharp(er.matmul(x, y), torch.dot(x, y))
        assert_sharp(er.matmul(x, y), x @ y)


@pytest.mark.parametrize("dtype", FLOATS, ids=name)
def test_matmul_promotes_vectors_and_broadcasts_batches_as_numpy(dtype):
    source = Source(3)
    for left, right in [((2, 3, 4), (4, 5)), ((3, 4), (2, 4, 5)), ((2, 1, 3, 4), (3, 4, 2)), ((4,), (2, 4, 3)), ((2, 3, 4), (4,)), ((1, 2, 3, 4), (2, 1, 4, 2))]:
        A, B = source(*left, dtype=dtype), source(*right, dtype=dtype)
        result, out = er.matmul(A, B), torch.matmul(A, B)
        assert result.shape == tuple(out.shape) == np.matmul(np.ones(left), np.ones(right)).shape
        if dtype not in HALVES or min(len(left), len(right)) > 1:
            assert_sharp(result, out)


@pytest.mark.parametrize("alpha, beta", SCALES)
@pytest.mark.parametrize("dtype", FLOATS, ids=name)
def test_addmm_and_baddbmm(dtype, alpha, beta):
    source = Source(4)
    a, b = used(alpha, dtype), used(beta, dtype)
    shapes = PRODUCTS[:4] + [(9, 33, 5)] + PRODUCTS[5:] * (dtype != torch.float64)
    for (m, k, n), layout in zip(shapes, LAYOUTS + LAYOUTS):
        A, B, C = source(m, k, dtype=dtype, layout=layout), source(k, n, dtype=dtype), source(m, n, dtype=dtype)
        result = forms(A, B, C, a, b)
        assert_sharp(result, torch.addmm(C, A, B, beta=beta, alpha=alpha))
        er.assert_covers(result, C.clone().addmm_(A, B, beta=beta, alpha=alpha))
        er.assert_covers(result, torch.addmm(C, A, B, beta=beta, alpha=alpha, out=torch.empty_like(C)))
        row = source(n, dtype=dtype)  # broadcast to the shape of the product
        er.assert_covers(forms(A, B, row, a, b), torch.addmm(row, A, B, beta=beta, alpha=alpha))
        A, B, C = source(2, m, k, dtype=dtype), source(2, k, n, dtype=dtype), source(2, m, n, dtype=dtype)
        result = forms(A, B, C, a, b)
        assert_sharp(result, torch.baddbmm(C, A, B, beta=beta, alpha=alpha))
        er.assert_covers(result, C.clone().baddbmm_(A, B, beta=beta, alpha=alpha))


@pytest.mark.parametrize("dtype", COMPLEX, ids=name)
def test_complex_and_integer_addmm(dtype):
    source = Source(5)
    A, B, C = source(3, 5, dtype=dtype), source(5, 4, dtype=dtype), source(3, 4, dtype=dtype)
    assert_sharp(er.gemm(A, B, C), torch.addmm(C, A, B))
    assert_sharp(er.gemm(A, B, C, alpha=-1), torch.addmm(C, A, B, alpha=-1))
    assert_sharp(er.gemm(A, B, C, beta=0), torch.addmm(C, A, B, beta=0))
    for integer in INTEGERS[:2]:
        A, B, C = source(3, 5, dtype=integer), source(5, 4, dtype=integer), source(3, 4, dtype=integer)
        assert_sharp(er.gemm(A, B, C, alpha=2, beta=-3), torch.addmm(C, A, B, alpha=2, beta=-3))


@pytest.mark.parametrize("dtype", FLOATS + COMPLEX, ids=name)
def test_a_scale_of_zero_reads_nothing(dtype):
    source = Source(6)
    A, B = source(3, 5, dtype=dtype), source(5, 4, dtype=dtype)
    nan, C = torch.full((3, 4), float("nan"), dtype=dtype), source(3, 4, dtype=dtype)
    result = er.gemm(A, B, nan, beta=0)
    assert_sharp(result, torch.addmm(nan, A, B, beta=0))
    assert not result.covers(nan).any()
    neither = er.gemm(torch.full_like(A, float("nan")), B, C, alpha=0)
    assert neither.covers(C).all() and not neither.covers(nan).any()
    if dtype not in HALVES:
        er.assert_covers(neither, torch.addmm(C, torch.full_like(A, float("nan")), B, alpha=0))


@pytest.mark.parametrize("dtype", FLOATS, ids=name)
def test_addbmm_is_a_loop(dtype):
    source, batches = Source(7), 3
    A, B, C = source(batches, 16, 20, dtype=dtype), source(batches, 20, 9, dtype=dtype), source(16, 9, dtype=dtype)
    for alpha, beta in SCALES:
        a, b = used(alpha, dtype), used(beta, dtype)
        out = torch.addbmm(C, A, B, beta=beta, alpha=alpha)
        y = C
        for i in range(batches):
            # Add batch i's product to the stored result, rounding once; beta scales only C, in the first call.
            y = er.gemm(A[i], B[i], y, alpha=a, beta=b if i == 0 else 1)
        er.assert_covers(y, out)
        once = er.gemm(A, B, C, alpha=a, beta=b, reduce_batch=True)
        assert once.shape == y.shape == tuple(out.shape)
        exact = a * (A.double() @ B.double()).sum(0) + (b * C.double() if b else 0)
        er.assert_covers(once, exact.to(dtype))
        assert not once.check(torch.full_like(out, 1e3))
        if dtype in HALVES:
            assert once.check(out).violations > 10 and y.check(out + 1).violations == out.numel()


@pytest.mark.parametrize("dtype", FLOATS, ids=name)
def test_scaling_first_is_a_chain(dtype):
    source = Source(8)
    A, B, C = source(9, 33, dtype=dtype), source(33, 7, dtype=dtype), source(9, 7, dtype=dtype)
    alpha, beta = used(0.3, dtype), used(0.7, dtype)
    operand, addend = er.gemm(er.multiply(A, alpha), B, C), er.gemm(A, B, er.multiply(C, beta), alpha=alpha)
    assert_sharp(operand, torch.addmm(C, A * alpha, B))
    assert_sharp(er.gemm(A, B, er.multiply(C, beta)), torch.addmm(C * beta, A, B))
    plain = er.gemm(A, B, C, alpha=alpha)
    if dtype in HALVES:
        assert plain.check(torch.addmm(C, A * alpha, B)).violations > 2
    assert addend.shape == (9, 7)


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("dtype", FLOATS, ids=name)
def test_addmv(dtype, layout):
    """Below 4096 products the half formats store beta * y, and with the matrix stored transposed alpha * (A @ x)."""
    source = Source(9)
    for m, k in [(5, 7), (1, 9)] + [(33, 65), (100, 90)] * (dtype != torch.float64):
        A, x, y = source(m, k, dtype=dtype, layout=layout), source(k, dtype=dtype), source(m, dtype=dtype)
        for alpha, beta in SCALES:
            # alpha and beta are used in the dtype, by a library for large products in float32
            a, b = (torch.tensor(v, dtype=dtype).item() for v in (alpha, beta))
            out = torch.addmv(y, A, x, beta=beta, alpha=alpha)
            wide = forms(A, x, y, used(alpha, dtype), used(beta, dtype))
            if dtype not in HALVES:
                er.assert_covers(wide, out)
                continue
            scaled = er.multiply(y, b) if b else er.array(torch.zeros(m), dtype=name(dtype))
            product = er.gemm(A, x, alpha=a)
            rounded = er.multiply(A, x)  # each product in the dtype, then their sum
            total = er.expr(f"round<{product.dtype.kind}>(within<f32>(s + a * sum(p, axis=1)))")(s=scaled, a=a, p=rounded)
            either = er.any_of(wide, er.gemm(A, x, y, alpha=a, beta=b), er.gemm(A, x, scaled, alpha=a), er.add(scaled, product), total)
            er.assert_covers(either, out)
            assert not either.check(out + 4)


@pytest.mark.parametrize("dtype", FLOATS, ids=name)
def test_addr(dtype):
    source = Source(10)
    for m, n in [(1, 1), (5, 7), (33, 20), (0, 3)]:
        C, v, w = source(m, n, dtype=dtype), source(m, dtype=dtype), source(n, dtype=dtype)
        for alpha, beta in SCALES:
            a, b = (torch.tensor(t, dtype=dtype).item() for t in (alpha, beta))
            vs, ws = er.array(v), er.array(w)
            result = er.gemm(vs.reshape((m, 1)), ws.reshape((1, n)), C, alpha=a, beta=b)
            out = torch.addr(C, v, w, beta=beta, alpha=alpha)
            if dtype in HALVES:
                assert result.covers(out, name(dtype)).all()
                if out.numel() > 600 and alpha == 0.7:
                    assert not result.check(out)
            else:
                # (alpha * v) * w: the scaled vector is stored
                chain = er.gemm(er.multiply(vs, a).reshape((m, 1)), ws.reshape((1, n)), C, beta=b)
                er.assert_covers(er.any_of(result, chain), out)


def test_tf32_inputs():
    """A device in TF32 mode rounds its operands; TF32 values are float32 values."""
    source = Source(11)
    A, B = source(8, 33, dtype=torch.float32), source(33, 5, dtype=torch.float32)
    a, b = (er.multiply(er.round(x, "tf32"), 1, dtype="float32") for x in (A, B))
    rounded = [(x.view(torch.int32) + 0xFFF + ((x.view(torch.int32) >> 13) & 1) & ~0x1FFF).view(torch.float32) for x in (A, B)]
    assert a.covers(rounded[0]).all() and np.array_equal(a.lo, a.hi)
    assert_sharp(er.matmul(*rounded), torch.mm(*rounded))
    er.assert_covers(er.matmul(a, b), torch.mm(*rounded))
    assert er.matmul(A, B).check(torch.mm(*rounded)).violations > 30


def test_parameters_of_backends():
    source, dtype = Source(12), torch.bfloat16
    A, B, C = source(8, 20, dtype=dtype), source(20, 8, dtype=dtype), source(8, 8, dtype=dtype)
    # offs: one call for each group of rows
    out, offs = torch.empty(8, 8, dtype=dtype), [0, 3, 3, 8]
    for lo, hi in zip(offs, offs[1:]):
        out[lo:hi] = A[lo:hi] @ B
        assert er.matmul(A[lo:hi], B).check(out[lo:hi])
    # trans_a, trans_b: op(A) and op(B), of an earlier result too
    assert_sharp(er.gemm(A.T, B.T, torch.zeros(20, 20, dtype=dtype)), torch.addmm(torch.zeros(20, 20, dtype=dtype), A.T, B.T))
    stored = er.multiply(A, 2)
    assert_sharp(er.matmul(stored.T, stored), (2 * A).T @ (2 * A))
    assert_sharp(er.matmul(stored.transpose(1, 0), stored), (2 * A).T @ (2 * A))
    # triangle: the rest of the output holds anything
    lower = torch.ones(8, 8).tril().bool()
    product = torch.addmm(C, A, B)
    broken = torch.where(lower, product, torch.full_like(product, float("nan")))
    result = er.gemm(A, B, C)
    assert result.check(broken, where=lower) and result.check(broken).violations == 28
    assert not result.check(torch.where(lower, product + 1, product), where=lower)
    # structure: a symmetric matrix is an ordinary one
    S = A @ A.T
    assert_sharp(er.matmul(S, B[:8]), S @ B[:8])


@pytest.mark.parametrize("dtype", HALVES, ids=name)
def test_a_narrower_accumulator_is_refuted(dtype):
    ones = torch.ones(2, 4000, dtype=dtype)
    narrow = torch.full((2, 2), 256.0 if dtype == torch.bfloat16 else 2048.0, dtype=dtype)  # adding 1 changes nothing any more
    for result in (er.matmul(ones, ones.T), er.gemm(ones, ones.T, torch.zeros(2, 2, dtype=dtype)), er.gemm(ones, ones.T)):
        assert result.check(narrow).violations == 4 and result.covers(narrow, name(dtype)).all()
        er.assert_covers(result, ones @ ones.T)
    assert er.sum(ones, 1).check(narrow[0]).violations == 2 and er.sum(ones, 1).covers(narrow[0], name(dtype)).all()


# --- elementwise operations and sums --------------------------------------------------------------------------------------

SHAPES = [((500,), (500,)), ((7, 33), (33,)), ((5, 1), (1, 9)), ((0, 3), (3,)), ((), (4,)), ((1,), (1,)), ((30, 50), (30, 50))]


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("dtype", FLOATS + COMPLEX + INTEGERS[:2], ids=name)
def test_multiply_and_add(dtype, layout):
    source = Source(20)
    for left, right in SHAPES:
        x, y = source(*left, dtype=dtype, layout=layout), source(*right, dtype=dtype, layout=layout)
        product, total = er.multiply(x, y), er.add(x, y)
        for result, out in ((product, x * y), (total, x + y), (er.subtract(x, y), x - y)):
            assert_sharp(result, out)
            assert result.dtype == out.dtype or not out.is_floating_point()
        er.assert_covers(product, torch.mul(x, y, out=torch.empty(product.shape, dtype=dtype)))
        if left == product.shape:
            er.assert_covers(total, x.clone().add_(y))
            er.assert_covers(product, x.clone().mul_(y))


@pytest.mark.parametrize("dtype", FLOATS, ids=name)
def test_add_with_alpha(dtype):
    source = Source(21)
    for n in (0, 1, 7, 33, 1000):
        x, y = source(n, dtype=dtype), source(n, dtype=dtype)
        for alpha in (0.3, -1.7, 2):
            a = torch.tensor(alpha, dtype=dtype).item()  # as the CPU kernel uses it
            plain, stored = er.add(x, y, alpha=a), er.add(x, er.multiply(y, a, dtype=name(dtype)))
            out = torch.add(x, y, alpha=alpha)
            er.assert_covers(er.any_of(plain, stored), out)
            er.assert_covers(er.any_of(plain, stored), x.clone().add_(y, alpha=alpha))
            if n:
                assert_sharp(er.any_of(plain, stored), out)
            if n == 1000 and alpha == 0.3 and dtype in HALVES:
                # Vectors round once; what is left over at the end of a loop twice.
                assert plain.covers(out)[:992].all() and stored.covers(out)[992:].all() and not stored.check(out)


@pytest.mark.parametrize("dtype", FLOATS + COMPLEX + INTEGERS, ids=name)
@pytest.mark.parametrize("layout", LAYOUTS[:3])
def test_sum(dtype, layout):
    source = Source(22)
    for shape, dim in [((5, 7), 0), ((5, 7), 1), ((1, 1000), 1), ((100, 33), 0), ((3, 4, 5), 1), ((2, 0), 1), ((1,), 0), ((4, 5), (0, 1))]:
        x = source(*shape, dtype=dtype, layout=layout)
        for keep in (False, True):
            assert_sharp(er.sum(x, dim, keepdims=keep), torch.sum(x, dim, keepdim=keep))
    x = source(3000, dtype=dtype)
    assert_sharp(er.sum(x), torch.sum(x))
    mask = torch.tensor([True, False, True])
    assert_sharp(er.sum(mask), torch.sum(mask))


@pytest.mark.parametrize("to", FLOATS, ids=name)
@pytest.mark.parametrize("dtype", FLOATS + INTEGERS, ids=name)
def test_sum_with_dtype_converts_first(dtype, to):
    x = Source(23)(50, 40, dtype=dtype)
    assert_sharp(er.sum(er.multiply(x, 1, dtype=name(to))), torch.sum(x, dtype=to))
    assert_sharp(er.sum(er.multiply(x, 1, dtype=name(to)), 1), torch.sum(x, 1, dtype=to))


def test_promotion():
    x, y = Source(24)(40, dtype=torch.bfloat16), Source(25)(40, dtype=torch.float16)
    assert er.multiply(x, y).dtype == torch.float32
    assert_sharp(er.multiply(x, y), x * y)
    assert_sharp(er.add(x, torch.tensor(1.5)), x + torch.tensor(1.5))
    assert er.add(x, torch.tensor(1.5)).dtype == torch.bfloat16
    assert er.add(torch.tensor(1.5), torch.tensor(1.5).bfloat16()).dtype == torch.float32
    n = torch.arange(40)
    assert_sharp(er.add(n, torch.tensor(0.5)), n + torch.tensor(0.5))  # a 0-d operand of a higher category counts
    third = torch.tensor(1 / 3, dtype=torch.float64)
    assert_sharp(er.add(x, third), x + third)
    assert_sharp(er.multiply(x, third), x * third)


def test_special_values():
    assert np.isnan(er.multiply(complex("inf"), 1 + 0j).imag.lo)
    one, infinite = torch.tensor([complex(1, 1)]), torch.tensor([complex(float("inf"), 1)])
    er.assert_covers(er.multiply(torch.tensor([complex("inf")]), torch.tensor([1 + 0j])), torch.tensor([complex("inf")]) * torch.tensor([1 + 0j]))
    result = er.add(1 + 1j, complex(float("inf"), 1), alpha=1j)
    assert result.imag.lo == np.inf and not np.isnan(result.real.lo)
    out = torch.add(one, infinite, alpha=1j)
    assert torch.isnan(out.real).all() and not er.add(one, infinite, alpha=1j).check(out)


@pytest.mark.parametrize("dtype", HALVES, ids=name)
def test_a_report_proposes_the_converted_scalar(dtype):
    x, y = Source(26)(500, dtype=dtype), Source(27)(500, dtype=dtype)
    made = {"er": er, "x": x, "y": y}
    calls = [(er.add(x, 0.123456789), x + 0.123456789), (er.add(x, y, alpha=0.3), torch.add(x, y, alpha=0.3))]
    calls.append((er.multiply(x, 0.123456789), x * torch.tensor(0.123456789, dtype=dtype)))
    A, B, C = Source(28)(40, 30, dtype=dtype), Source(29)(30, 40, dtype=dtype), Source(30)(40, 40, dtype=dtype)
    made |= {"A": A, "B": B, "C": C}
    rounded = [torch.tensor(v, dtype=dtype).item() for v in (0.3, 1.7)]  # as small addmv uses them
    calls.append((er.gemm(A, B, C, alpha=0.3, beta=1.7), (rounded[0] * (A.double() @ B.double()) + rounded[1] * C.double()).to(dtype)))
    calls.append((er.subtract(x, y, alpha=0.3), torch.sub(x, y, alpha=0.3)))
    for result, out in calls:
        text = str(result.check(out))
        proposed = [line.partition(": ")[2] for line in text.splitlines() if line.startswith("  covered by: ")]
        assert len(proposed) == 1, text
        er.assert_covers(eval(proposed[0], made), out)
        assert "covered by" not in str(result.check(out + 1)) and "covered by" not in str(result.check(result.lo))


def test_a_report_proposes_the_stored_reciprocal():
    """PyTorch divides a number by a tensor as it multiplies by the reciprocal."""
    x = Source(31)(400, dtype=torch.float32)
    for result, out in [(er.divide(0.1, x), 0.1 / x), (er.divide(3, x), 3 / x)]:
        report = result.check(out)
        proposed = [line.partition(": ")[2] for line in str(report).splitlines() if line.startswith("  covered by: ")]
        assert not report and len(proposed) == 1, str(report)
        er.assert_covers(eval(proposed[0], {"er": er, "x": x, "y": x}), out)
        text = str(result.check(out * 1.01))
        assert "VIOLATION" in text and "covered by" not in text
