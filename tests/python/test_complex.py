"""Complex numbers: what they mean, live PyTorch and NumPy outputs, joint parts, and what is refuted."""
import json

import numpy as np
import pytest
import torch

import erx as er

pytestmark = pytest.mark.filterwarnings("ignore:overflow", "ignore:invalid value", "ignore:ComplexHalf")
inf, nan = float("inf"), float("nan")
DTYPES = [torch.complex64, torch.complex128]
EDGES = torch.tensor([inf, -inf, nan, 0.0, -0.0, 1.0, -2.5, 3e38])


def values(*shape, dtype=torch.complex64, seed=0):
    return torch.randn(shape, generator=torch.Generator().manual_seed(seed), dtype=dtype)


def special(*shape, dtype=torch.complex64, seed=0):
    """About one part in six is an edge."""
    g = torch.Generator().manual_seed(seed)
    x = torch.view_as_real(torch.randn(shape, generator=g, dtype=dtype)).clone()
    pick = torch.randint(0, 6 * len(EDGES), x.shape, generator=g)
    edge = pick < len(EDGES)
    x[edge] = EDGES[pick[edge]].to(x.dtype)
    return torch.view_as_complex(x)


def one_part_outside(result, out):
    """The output with one part of its middle element moved to the first number above its set."""
    moved = torch.view_as_real(out.clone())
    index = tuple(n // 2 for n in out.shape)
    hi = np.asarray(result.hi)[index]
    for part, end in ((0, hi.real), (1, hi.imag)):
        one = moved.clone()
        beyond = torch.tensor(float(end), dtype=one.dtype)
        one[(*index, part)] = torch.nextafter(beyond, torch.tensor(inf, dtype=one.dtype))
        yield torch.view_as_complex(one), index


def assert_sharp(result, out):
    er.assert_covers(result, out)
    for moved, index in one_part_outside(result, out):
        report = result.check(moved)
        assert report.violations == 1 and tuple(np.asarray(report.indices)[0]) == index
    swapped = torch.view_as_complex(torch.view_as_real(out).flip(-1).contiguous())
    assert not result.covers(swapped)[(swapped != out).numpy()].any()
    assert not result.covers(out.conj())[(out.imag != 0).numpy()].any()


def test_two_facts_about_special_values():
    r = er.multiply(complex(inf, 0), 1 + 0j)
    assert r.lo.real == inf and np.isnan(r.lo.imag) and r.covers(complex(inf, nan)) and not r.covers(complex(inf, 0))
    r = er.add(1 + 1j, complex(inf, 1), alpha=1j)
    assert r.lo == r.hi == complex(0, inf) and r.covers(complex(0, inf)) and not r.covers(complex(nan, inf))


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
@pytest.mark.parametrize("m, k, n", [(1, 1, 1), (3, 5, 7), (33, 65, 17), (64, 48, 40), (2, 300, 3)])
def test_matmul(dtype, m, k, n):
    A, B, C = values(m, k, dtype=dtype, seed=1), values(k, n, dtype=dtype, seed=2), values(m, n, dtype=dtype, seed=3)
    assert_sharp(er.matmul(A, B), A @ B)
    assert_sharp(er.matmul(A.conj(), B), A.conj() @ B)
    assert not er.matmul(A.conj(), B).covers(A @ B).any()
    for alpha, beta in [(1, 1), (0.5 - 2j, 1), (1j, 0.375 + 0.125j), (2, 0)]:
        out = torch.addmm(C, A, B, alpha=alpha, beta=beta)
        assert_sharp(er.gemm(A, B, C, alpha=alpha, beta=beta), out)


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
def test_bmm_mul_add_sum(dtype):
    A, B = values(4, 5, 6, dtype=dtype, seed=1), values(4, 6, 3, dtype=dtype, seed=2)
    assert_sharp(er.matmul(A, B), torch.bmm(A, B))
    x, y = values(7, 33, dtype=dtype, seed=3), values(7, 33, dtype=dtype, seed=4)
    assert_sharp(er.multiply(x, y), x * y)
    assert_sharp(er.add(x, y), x + y)
    for alpha in (2, -1, 0.375, 0.5 + 0.25j, 1j):
        assert_sharp(er.add(x, y, alpha=alpha), torch.add(x, y, alpha=alpha))
    assert_sharp(er.sum(x), x.sum())
    assert_sharp(er.sum(x, axis=0), x.sum(0))
    assert_sharp(er.sum(x, axis=1, keepdims=True), x.sum(1, keepdim=True))


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
def test_special_values_of_pytorch_are_covered(dtype):
    for seed in range(20):
        A, B = special(6, 5, dtype=dtype, seed=seed), special(5, 4, dtype=dtype, seed=seed + 100)
        x, y = special(40, dtype=dtype, seed=seed + 200), special(40, dtype=dtype, seed=seed + 300)
        er.assert_covers(er.multiply(x, y), x * y)
        er.assert_covers(er.sum(x.reshape(8, 5), axis=1), x.reshape(8, 5).sum(1))
        er.assert_covers(er.add(x, y), x.numpy() + y.numpy())
        er.assert_covers(er.add(x, y, alpha=0.5 - 2j), torch.add(x, y, alpha=0.5 - 2j))
        # PyTorch multiplies by alpha = 1 + 0j in complex arithmetic, in add and, after the sum, in matmul: an infinity or NaN in one
        # part makes the other NaN. Mathematics has an answer there, which is the one that is allowed.
        for result, out, exact in [(er.add(x, y), x + y, x.numpy() + y.numpy()), (er.matmul(A, B), A @ B, None)]:
            spoilt = out.isnan().numpy() if exact is None else out.isnan().numpy() & ~np.isfinite(exact)
            assert (result.covers(out) | spoilt).all(), str(result.check(out))


def test_promotion_is_that_of_pytorch():
    real32, real64, half = torch.ones(2), torch.ones(2, dtype=torch.float64), torch.ones(2, dtype=torch.bfloat16)
    c64, c128 = torch.ones(2, dtype=torch.complex64), torch.ones(2, dtype=torch.complex128)
    whole, point = torch.ones(2, dtype=torch.int64), torch.tensor(1 + 0j, dtype=torch.complex128)
    for a, b in [(real32, c64), (real64, c64), (half, c64), (c64, c128), (whole, c64), (real32, point), (real64, point), (half, point),
                 (whole, point), (c64, point), (real32, 1j), (real64, 1j), (half, 1j), (whole, 1j), (c64, 2.0), (c128, 1j)]:
        out = torch.mul(a, b)
        result = er.multiply(a, b)
        assert result.dtype == str(out.dtype).removeprefix("torch."), (a, b)
        er.assert_covers(result, out)


def test_real_operands_multiply_as_in_pytorch():
    x = torch.tensor([2.0, inf, 1.0])
    z = torch.tensor([complex(inf, 0), complex(1, 2), complex(nan, 1)], dtype=torch.complex64)
    er.assert_covers(er.multiply(x, z), x * z)
    er.assert_covers(er.matmul(x.reshape(3, 1), z.reshape(1, 3)), x.numpy().reshape(3, 1).astype(np.complex64) * z.numpy().reshape(1, 3))
    r = er.expr("x * z")(x=np.float32([2]), z=np.complex64([complex(inf, 0)]))  # in a spec a real factor scales each part
    assert r.lo[0] == complex(inf, 0)


def test_numpy_arrays_and_scalars():
    z = np.array([[1 + 2j, 3 - 1j]], np.complex64)
    r = er.expr("conj(z) * complex(0, 1)")(z=z)
    assert r.lo.tolist() == [[2 + 1j, -1 + 3j]] and r.covers((z.conj() * 1j)).all() and r.dtype == "complex"
    r = er.array([0.1 + 1j, 2], dtype="complex64")
    assert r.dtype == np.complex64 and r.lo[0] == np.complex64(0.1 + 1j) and r.real.dtype == "float32" and r.imag.lo.tolist() == [1, 0]
    assert er.array([1j, 2]).dtype == np.complex128
    assert er.round(er.array([1 / 3 + 1j]), "complex64").lo[0] == np.complex64(1 / 3 + 1j)
    assert (er.array([1 + 1j]) + 1).covers([2 + 1j]).all() and (2j * er.array([1 + 1j])).covers([-2 + 2j]).all()
    assert (er.array([3 + 4j]) / 2).covers([1.5 + 2j]).all() and abs(er.array([3 + 4j])).covers([5.0]).all()
    assert (er.array([3 + 4j]) / er.array([1 + 2j])).check([2.2 - 0.4j]).ok
    assert er.array([[1 + 1j, 2]]).T.conj().covers([[1 - 1j], [2]]).all()
    half = torch.tensor([1 + 2j], dtype=torch.complex32)
    assert er.array(half).dtype == "complex32" and er.array(half).lo[0] == 1 + 2j
    with pytest.raises(TypeError):
        er.add(1.0, 2.0, alpha=1j)
    with pytest.raises(er.SpecError, match="complex"):
        er.expr("exp(z)")(z=z)
    with pytest.raises(er.SpecError, match="complex"):
        er.multiply(z, z, dtype="float32")


def test_parts_of_a_choice_belong_together():
    z, w = np.array([1 + 1j, 5j], np.complex64), np.array([2 + 2j, 7], np.complex64)
    mixed = np.array([1 + 2j, 7 + 5j], np.complex64)
    for text in ["any_of(z, w)", 'any_of<"path">(z, w)', "let c = any_of(1, 0); where(c == 1, z, w)", "any_of(z, w) + 0", "conj(conj(any_of(z, w)))",
                 "let y = any_of(z, w); complex(real(y), imag(y))", "let y = any_of(z, w); round<f32>(y * 1)"]:
        r = er.expr(text)(z=z, w=w)
        assert r.check(z).ok and r.check(w).ok and not r.covers(mixed).any(), text
    r = er.any_of(er.array(z), er.array(w))
    assert r.covers(z).all() and r.covers(w).all() and not r.covers(mixed).any()
    # Elements choose by themselves, unless the choice has a label.
    each = np.array([z[0], w[1]])
    assert er.expr("any_of(z, w)")(z=z, w=w).check(each).ok and not er.expr('any_of<"path">(z, w)')(z=z, w=w).check(each).ok


def test_views_keep_the_parts_together():
    z = np.arange(1, 7).reshape(2, 3) + 1j
    w = z * 10 + 7j
    for make in (lambda r: r, lambda r: er.round(r, "complex64"), lambda r: r + 1):
        base = make(er.any_of(er.array(z), er.array(w)))
        a, b = make(er.array(z)).lo, make(er.array(w)).lo
        for view in (lambda x: x.T, lambda x: x.reshape(3, 2), lambda x: x[1], lambda x: x[:, ::-1].T):
            r, mixed = view(base), view(a).real + 1j * view(b).imag
            assert r.covers(view(a)).all() and r.covers(view(b)).all() and not r.covers(mixed).any()
    r = er.expr("let y = any_of(z, w); y.T - y.T")(z=z, w=w)
    assert r.covers(np.zeros((3, 2), complex)).all() and r.check(np.full((3, 2), 1j)).violations == 6


def test_a_stored_choice_is_one_number():
    z, w = np.array([1 + 1j, 2 + 3j]), np.array([4 - 1j, 5j])
    r = er.expr("let y = any_of(z, w); y - y")(z=z, w=w)
    assert r.covers(np.zeros(2, complex)).all() and not r.covers(np.array([1j, 1])).any()
    r = er.expr("let y = any_of(z, w); y * conj(y)")(z=z, w=w)
    assert r.lo.real.tolist() == [2, 13] and r.hi.real.tolist() == [17, 25] and (r.lo.imag == 0).all() and (r.hi.imag == 0).all()


def test_the_report_tells_both_parts():
    r = er.expr("round<f32>(z)")(z=np.array([1 + 2j]))
    report = r.check(np.array([np.nextafter(np.float32(1), np.float32(2)) + 2j], np.complex64))
    assert "got 1.0000001192092896+2j, allowed {1+2j}, 1 ulp away (real 1, imaginary 0)" in str(report)
    first = json.loads(report.to_json())["results"][0]["first"][0]
    assert first["ulps_of_parts"] == [1, 0] and first["got"] == "1.0000001192092896+2j"
    report = r.check(np.array([complex(1, nan)], np.complex64))
    assert "imaginary not comparable" in str(report) and "1+nanj" in str(report)


def test_conditions_and_scalars_of_specs():
    spec = er.parse("""spec f(z: complex<f32>[N], w: complex<f32>[N], alpha: complex = 1) -> complex<f32>[N] {
      return round<f32>(where(z == w, z, alpha * w))
    }""")
    z, w = np.array([1 + 1j, 2], np.complex64), np.array([1 + 1j, complex(inf, 1)], np.complex64)
    assert spec(z=z, w=w).lo[0] == 1 + 1j
    r = spec(z=z, w=w, alpha=2j)  # a part that is 0 makes its products absent
    assert r.lo[1] == complex(-2, inf) and r.check(np.array([1 + 1j, complex(-2, inf)], np.complex64)).ok
    assert spec(z=z, w=w, alpha=2).lo[1] == complex(inf, 2)
    with pytest.raises(er.SpecError, match="imaginary part that is 0.1"):
        spec(z=np.array([1 + 0.1j, 0]), w=w)
    with pytest.raises(er.SpecError, match="complex"):
        er.parse("spec f(x: f32[N], a: real) -> f32[N] { return round<f32>(a * x) }")(x=np.ones(2, np.float32), a=1j)
    real = er.parse("spec f(z: complex<f32>[N]) -> complex<f32>[N] { return z }")
    assert real(z=np.float32([1, 2])).lo.tolist() == [1, 2]
