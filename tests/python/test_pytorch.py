"""Live PyTorch outputs against specs: all covered; the same outputs with one planted fault: refuted.

The specs say what PyTorch's CPU kernels round, whatever the instruction set they pick at run time.
"""
import itertools
import zlib

import numpy as np
import pytest
import torch

import erx as er

NAMES = {torch.float32: "f32", torch.float64: "f64", torch.float16: "f16", torch.bfloat16: "bf16"}
DTYPES = list(NAMES)
HALVES = [torch.float16, torch.bfloat16]


def computing(dtype):
    """The format that kernels of a dtype compute in."""
    return "f64" if dtype == torch.float64 else "f32"


def values(generator, *shape, dtype, layout="plain"):
    if layout == "strided":
        return torch.randn(*shape[:-1], 2 * shape[-1], generator=generator, dtype=torch.float64).to(dtype)[..., ::2]
    if layout == "transposed":
        return torch.randn(*shape[:-2], shape[-1], shape[-2], generator=generator, dtype=torch.float64).to(dtype).mT
    return torch.randn(shape, generator=generator, dtype=torch.float64).to(dtype)


def seeded(*key):
    return torch.Generator().manual_seed(zlib.crc32(repr(key).encode()))


def next_above(x):
    return torch.nextafter(x, torch.full_like(x, float("inf")))


def one_ulp_outside(result, out):
    """The output with its middle element moved to the first number above its set, and that element's index."""
    moved = out.clone()
    index = tuple(n // 2 for n in out.shape)
    hi = float(np.asarray(result.hi)[index])
    beyond = torch.tensor(hi, dtype=torch.float64).to(out.dtype)
    while float(beyond) <= hi:
        beyond = next_above(beyond)
    moved[index] = beyond
    return moved, index


def assert_sharp(result, out):
    """Covered; and with one element one ulp outside its set refuted there and nowhere else."""
    er.assert_covers(result, out)
    if out.numel() == 0:
        return
    moved, index = one_ulp_outside(result, out)
    report = result.check(moved)
    assert report.violations == 1 and tuple(np.asarray(report.indices)[0]) == index


MATRIX_SHAPES = [(1, 1, 1), (3, 5, 7), (8, 16, 8), (33, 65, 17), (1, 64, 9), (64, 1, 5), (2, 300, 3), (0, 4, 3), (3, 0, 2)]


@pytest.mark.parametrize("dtype", DTYPES, ids=NAMES.get)
@pytest.mark.parametrize("layout", ["plain", "strided", "transposed"])
def test_mm(dtype, layout):
    spec = er.expr(f"round<{NAMES[dtype]}>(acc<{computing(dtype)}>(A @ B))")
    for m, k, n in MATRIX_SHAPES:
        g = seeded("mm", m, k, n, str(dtype), layout)
        A, B = values(g, m, k, dtype=dtype, layout=layout), values(g, k, n, dtype=dtype, layout=layout)
        assert_sharp(spec(A=A, B=B), torch.mm(A, B))


ADDMM = {
    # A BLAS may scale an operand or the result, and may keep C in the accumulator.
    "wide": """any_of(
        round<F>(in G, contract {{ a * acc<G>(A @ B) + b * C }}),
        round<F>(acc<G>(A @ round<G>(a * B) + round<G>(b * C))),
        round<F>(acc<G>(round<G>(a * A) @ B + round<G>(b * C))))""",
    # One rounding, or beta * C stored first.
    "half": """any_of(
        round<F>(in G, contract {{ a * acc<G>(A @ B) + b * C }}),
        round<F>(in G, contract {{ a * acc<G>(A @ B) + round<F>(exact(b * C)) }}))""",
}


def addmm_spec(dtype, batch=""):
    f, g = NAMES[dtype], computing(dtype)
    body = ADDMM["half" if dtype in HALVES else "wide"].replace("<F>", f"<{f}>").replace("<G>", f"<{g}>").replace("in G", f"in {g}")
    body = body.replace("{{", "{").replace("}}", "}")
    return er.parse(f"""spec addmm(A: {f}[{batch}M, K], B: {f}[{batch}K, N], C: {f}[{batch}M, N], alpha: real, beta: real) -> {f}[{batch}M, N] {{
      let a = round<{g}>(alpha)
      let b = round<{g}>(beta)
      return where(beta == 0, round<{f}>(in {g} {{ a * acc<{g}>(A @ B) }}), {body})
    }}""")


@pytest.mark.parametrize("dtype", DTYPES, ids=NAMES.get)
@pytest.mark.parametrize("alpha, beta", [(1, 1), (0.7, 1.3), (-0.5, 0), (2, -1)])
def test_addmm(dtype, alpha, beta):
    spec = addmm_spec(dtype)
    for m, k, n in [(3, 5, 7), (33, 65, 17), (1, 64, 9), (64, 48, 32)]:
        g = seeded("addmm", m, k, n, str(dtype), alpha)
        A, B, C = values(g, m, k, dtype=dtype), values(g, k, n, dtype=dtype), values(g, m, n, dtype=dtype)
        assert_sharp(spec(A=A, B=B, C=C, alpha=alpha, beta=beta), torch.addmm(C, A, B, alpha=alpha, beta=beta))


@pytest.mark.parametrize("dtype", DTYPES, ids=NAMES.get)
def test_beta_zero_reads_no_c(dtype):
    A, B = values(seeded(1), 9, 33, dtype=dtype), values(seeded(2), 33, 5, dtype=dtype)
    C = torch.full((9, 5), float("nan"), dtype=dtype)
    result = addmm_spec(dtype)(A=A, B=B, C=C, alpha=0.7, beta=0)
    er.assert_covers(result, torch.addmm(C, A, B, alpha=0.7, beta=0))
    assert result.check(C).violations == 45


@pytest.mark.parametrize("dtype", DTYPES, ids=NAMES.get)
def test_bmm_and_baddbmm(dtype):
    product = er.expr(f"round<{NAMES[dtype]}>(acc<{computing(dtype)}>(A @ B))")
    sum_of_both = addmm_spec(dtype, batch="S, ")
    for s, m, k, n in [(1, 2, 3, 4), (3, 5, 7, 2), (2, 17, 64, 9), (0, 2, 3, 4)]:
        g = seeded("bmm", s, m, k, n, str(dtype))
        A, B, C = values(g, s, m, k, dtype=dtype), values(g, s, k, n, dtype=dtype), values(g, s, m, n, dtype=dtype)
        assert_sharp(product(A=A, B=B), torch.bmm(A, B))
        assert_sharp(sum_of_both(A=A, B=B, C=C, alpha=0.7, beta=1.3), torch.baddbmm(C, A, B, alpha=0.7, beta=1.3))


@pytest.mark.parametrize("dtype", DTYPES, ids=NAMES.get)
def test_elementwise(dtype):
    f, g = NAMES[dtype], computing(dtype)
    operations = {"+": torch.add, "-": torch.sub, "*": torch.mul, "/": torch.div}
    for (symbol, function), shapes in itertools.product(operations.items(), [((1000,), (1000,)), ((7, 33), (33,)), ((5, 1), (1, 9)), ((0, 3), (3,)), ((), (4,))]):
        x, y = (values(seeded(symbol, i, *s, str(dtype)), *s, dtype=dtype) for i, s in enumerate(shapes))
        assert_sharp(er.expr(f"round<{f}>(in {g} {{ x {symbol} y }})")(x=x, y=y), function(x, y))


@pytest.mark.parametrize("dtype", DTYPES, ids=NAMES.get)
def test_add_with_alpha(dtype):
    f, g = NAMES[dtype], computing(dtype)
    # The vector part computes in the wide format, the tail of a loop in the dtype itself.
    spec = er.expr(f"any_of(round<{f}>(in {g}, contract {{ x + round<{f}>(alpha) * y }}), in {f} {{ x + round<{f}>(alpha) * y }})")
    for n in (1, 7, 33, 1000):
        x, y = (values(seeded("alpha", n, i, str(dtype)), n, dtype=dtype) for i in range(2))
        for alpha in (0.3, -1.7, 2):
            assert_sharp(spec(x=x, y=y, alpha=alpha), torch.add(x, y, alpha=alpha))


@pytest.mark.parametrize("dtype", DTYPES, ids=NAMES.get)
def test_linear(dtype):
    f, g = NAMES[dtype], computing(dtype)
    spec = er.expr(f"any_of(round<{f}>(acc<{g}>(x @ W.T + b)), round<{f}>(in {g} {{ round<{f}>(acc<{g}>(x @ W.T)) + b }}))")
    for batch, inputs, outputs in [(4, 64, 8), (1, 64, 8), (33, 17, 5), (16, 300, 7)]:
        key = seeded("linear", batch, inputs, outputs, str(dtype))
        x, W, b = values(key, batch, inputs, dtype=dtype), values(key, outputs, inputs, dtype=dtype), values(key, outputs, dtype=dtype)
        assert_sharp(spec(x=x, W=W, b=b), torch.nn.functional.linear(x, W, b))


@pytest.mark.parametrize("dtype", DTYPES, ids=NAMES.get)
@pytest.mark.parametrize("layout", ["plain", "strided", "transposed"])
def test_sum(dtype, layout):
    f, g = NAMES[dtype], computing(dtype)
    for shape, axis in [((5, 7), 0), ((5, 7), 1), ((1, 1000), 1), ((100, 33), 0), ((3, 4, 5), 1), ((2, 0), 1)]:
        x = values(seeded("sum", *shape, axis, str(dtype), layout), *shape, dtype=dtype, layout=layout)
        assert_sharp(er.expr(f"round<{f}>(acc<{g}>(sum(x, axis={axis})))")(x=x), torch.sum(x, axis))


@pytest.mark.parametrize("dtype", DTYPES, ids=NAMES.get)
def test_matmul_broadcasts_batches(dtype):
    spec = er.expr(f"round<{NAMES[dtype]}>(acc<{computing(dtype)}>(A @ B))")
    for left, right in [((2, 3, 4), (4, 5)), ((3, 4), (2, 4, 5)), ((2, 1, 3, 4), (3, 4, 2))]:
        g = seeded("matmul", *left, *right, str(dtype))
        A, B = values(g, *left, dtype=dtype), values(g, *right, dtype=dtype)
        assert_sharp(spec(A=A, B=B), torch.matmul(A, B))


@pytest.mark.parametrize("dtype", DTYPES, ids=NAMES.get)
def test_long_sums_and_products(dtype):
    f, g = NAMES[dtype], computing(dtype)
    A, B = values(seeded("A", str(dtype)), 7, 4096, dtype=dtype), values(seeded("B", str(dtype)), 4096, 9, dtype=dtype)
    assert_sharp(er.expr(f"round<{f}>(acc<{g}>(A @ B))")(A=A, B=B), A @ B)
    x = values(seeded("x", str(dtype)), 30000, dtype=dtype)
    assert_sharp(er.expr(f"round<{f}>(acc<{g}>(sum(x)))")(x=x), torch.sum(x))


@pytest.mark.parametrize("dtype", DTYPES, ids=NAMES.get)
def test_wild_magnitudes_and_special_values(dtype):
    f, g = NAMES[dtype], computing(dtype)
    generator = seeded("wild", str(dtype))
    scale = torch.randint(-12, 5, (16, 24), generator=generator)
    A = values(generator, 16, 24, dtype=torch.float64).mul(2.0**scale).to(dtype)
    B = values(generator, 24, 16, dtype=torch.float64).mul(2.0 ** scale.T).to(dtype)
    A[1, 2], A[3, 4], B[5, 6], B[7, 8] = float("inf"), float("nan"), -float("inf"), 0
    A[9], A[10, ::2] = 0, 0
    er.assert_covers(er.expr(f"round<{f}>(acc<{g}>(A @ B))")(A=A, B=B), A @ B)
    er.assert_covers(er.expr(f"round<{f}>(in {g} {{ x / y }})")(x=A, y=B.T), A / B.T)
    er.assert_covers(er.expr(f"round<{f}>(in {g} {{ x * y }})")(x=A, y=B.T), A * B.T)


@pytest.mark.parametrize("dtype", DTYPES, ids=NAMES.get)
def test_square_root(dtype):
    """NumPy takes the processor's, which is correctly rounded; some builds of PyTorch call a vector library that is not."""
    f, g = NAMES[dtype], computing(dtype)
    x = values(seeded("sqrt", str(dtype)), 1000, dtype=dtype)
    assert_sharp(er.expr(f"round<{f}>(in {g}, ulp=1 {{ sqrt(abs(x)) }})")(x=x), torch.sqrt(torch.abs(x)))
    if dtype not in HALVES:
        assert_sharp(er.expr(f"round<{f}>(sqrt(abs(x)))")(x=x), torch.from_numpy(np.sqrt(np.abs(x.numpy()))))


@pytest.mark.parametrize("dtype", DTYPES, ids=NAMES.get)
def test_comparisons_and_selection(dtype):
    x, y = (values(seeded(name, str(dtype)), 1000, dtype=dtype) for name in ("left", "right"))
    assert_sharp(er.expr("maximum(x, y)")(x=x, y=y), torch.maximum(x, y))
    assert_sharp(er.expr("where(x > y, -x, abs(y))")(x=x, y=y), torch.where(x > y, -x, torch.abs(y)))


# --- planted faults -----------------------------------------------------------------------------------------------------

@pytest.mark.parametrize("dtype", HALVES, ids=NAMES.get)
def test_an_accumulator_of_the_operands_format_is_refuted(dtype):
    A, B = values(seeded(3), 8, 256, dtype=dtype), values(seeded(4), 256, 8, dtype=dtype)
    accumulator = torch.zeros(8, 8, dtype=dtype)
    for k in range(256):
        accumulator = accumulator + A[:, k : k + 1] * B[k : k + 1]
    result = er.expr(f"round<{NAMES[dtype]}>(acc<f32>(A @ B))")(A=A, B=B)
    assert result.check(accumulator).violations > 30
    er.assert_covers(er.expr(f"acc<{NAMES[dtype]}, seq>(A @ B)")(A=A, B=B), accumulator)


@pytest.mark.parametrize("dtype", HALVES, ids=NAMES.get)
def test_a_lost_cast_is_refuted(dtype):
    A, B = values(seeded(5), 8, 64, dtype=dtype), values(seeded(6), 64, 8, dtype=dtype)
    result = er.expr(f"round<{NAMES[dtype]}>(acc<f32>(A @ B))")(A=A, B=B)
    assert result.check(A.float() @ B.float()).violations > 50
    er.assert_covers(result, (A @ B).float())


@pytest.mark.parametrize("dtype", DTYPES, ids=NAMES.get)
def test_swapped_operands_are_refuted(dtype):
    A, B = values(seeded(7), 16, 16, dtype=dtype), values(seeded(8), 16, 16, dtype=dtype)
    result = er.expr(f"round<{NAMES[dtype]}>(acc<{computing(dtype)}>(A @ B))")(A=A, B=B)
    er.assert_covers(result, A @ B)
    assert result.check(B @ A).violations > 250
    x, y = values(seeded(9), 100, dtype=dtype), values(seeded(10), 100, dtype=dtype)
    assert er.expr(f"round<{NAMES[dtype]}>(x - y)")(x=x, y=y).check(y - x).violations == 100


@pytest.mark.parametrize("dtype", DTYPES, ids=NAMES.get)
def test_a_lost_last_term_is_refuted(dtype):
    A, B = values(seeded(11), 16, 65, dtype=dtype), values(seeded(12), 65, 16, dtype=dtype)
    result = er.expr(f"round<{NAMES[dtype]}>(acc<{computing(dtype)}>(A @ B))")(A=A, B=B)
    assert result.check(A[:, :64] @ B[:64]).violations > 200
