"""JAX on the CPU: its sums and products of every dtype, shape and layout, eager and compiled. XLA flushes subnormals."""
import jax
import jax.numpy as jnp
import numpy as np
import pytest

import erx as er

jax.config.update("jax_enable_x64", True)

FLOATS = ["float64", "float32", "bfloat16", "float16"]
FP8 = {"float8_e4m3fn": "f8e4m3fn", "float8_e5m2": "f8e5m2"}
INTEGERS = {"int8": "i8", "int16": "i16", "int32": "i32", "int64": "i64", "uint8": "u8"}
SHAPES = [((), None), ((0,), 0), ((1,), 0), ((7,), 0), ((5, 999), 1), ((5, 999), 0), ((33, 65), None), ((3, 0), 1), ((3, 5, 7), (0, 2)), ((20_000,), 0)]
PRODUCTS = [((3, 7), (7, 5)), ((7,), (7, 5)), ((3, 7), (7,)), ((129,), (129,)), ((33, 129), (129, 17)), ((1, 0), (0, 2)), ((2, 3, 9), (9, 4)), ((96, 512), (512, 48))]


def array(seed, shape, dtype):
    rng = np.random.default_rng(seed)
    if dtype.startswith(("int", "uint")):
        return jnp.asarray(rng.integers(0 if dtype[0] == "u" else -100, 100, shape)).astype(dtype)
    x = rng.standard_normal(shape)
    return jnp.asarray(x + 1j * rng.standard_normal(shape) if dtype.startswith("complex") else x).astype(dtype)


def covered(result, out):
    er.assert_covers(result, out)
    moved = np.array(out)
    if moved.size:
        at = tuple(n // 2 for n in moved.shape)
        moved[at] = moved[at] * 2 + 16
        assert result.check(moved).violations == 1


@pytest.mark.parametrize("compiled", [False, True])
@pytest.mark.parametrize("dtype", [*FLOATS, "complex64", "complex128"])
def test_sums(dtype, compiled):
    for shape, axis in SHAPES:
        x = array(1, shape, dtype)
        add = jax.jit(lambda x: jnp.sum(x, axis)) if compiled else lambda x: jnp.sum(x, axis)  # noqa: B023
        covered(er.sum(x, axis), add(x))


@pytest.mark.parametrize("compiled", [False, True])
@pytest.mark.parametrize("dtype", [*FLOATS, "complex64", "complex128"])
def test_products(dtype, compiled):
    for a, b in PRODUCTS:
        A, B = array(2, a, dtype), array(3, b, dtype)
        covered(er.matmul(A, B), (jax.jit(jnp.matmul) if compiled else jnp.matmul)(A, B))


def test_transposed_operands_and_einsum():
    A, B = array(4, (129, 33), "bfloat16"), array(5, (17, 129), "bfloat16")
    covered(er.matmul(A.T, B.T), A.T @ B.T)
    x, y = array(6, (4, 5, 6), "float32"), array(7, (6, 4), "float32")
    covered(er.expr('within<f32>(einsum("ijk,ki->j", x, y))')(x=x, y=y), jnp.einsum("ijk,ki->j", x, y))


@pytest.mark.parametrize("dtype", FP8)
def test_float8_is_added_in_float8_and_multiplied_through_float16(dtype):
    f = FP8[dtype]
    for shape, axis in SHAPES[3:8]:
        x = array(8, shape, dtype)
        over = "" if axis is None else f", axis={axis}"
        out = jnp.sum(x, axis)
        er.assert_covers(er.expr(f"round<{f}>(within<{f}>(sum(x{over})))")(x=x), out)
        if x.size > 100 and axis is not None:
            assert er.sum(x, axis).check(out).violations > 0  # no accumulator of float32
    for a, b in PRODUCTS[:5]:
        A, B = array(9, a, dtype), array(10, b, dtype)
        covered(er.expr(f"round<{f}>(round<f16>(within<f32>(A @ B)))")(A=A, B=B), A @ B)


@pytest.mark.parametrize("dtype", INTEGERS)
def test_integers(dtype):
    x = array(11, (33, 65), dtype)
    total = jnp.sum(x, 0)
    covered(er.sum(x, 0), total.astype(jnp.int64))  # uint64 for unsigned ones
    product = x @ x.T
    result = er.expr(f"wrap<{INTEGERS[dtype]}>(x @ x.T)")(x=x)
    er.assert_covers(result, product)
    assert result.check(np.array(product) ^ 1).violations == product.size


def test_a_wrong_accumulator_is_refuted():
    A, B = array(12, (8, 256), "bfloat16"), array(13, (256, 8), "bfloat16")
    out = jax.lax.fori_loop(0, 256, lambda k, c: c + A[:, k, None] * B[k], jnp.zeros((8, 8), jnp.bfloat16))
    assert er.matmul(A, B).check(out).violations > 32


def test_subnormals_are_flushed():
    x = jnp.asarray(np.float32([1e-40, 1e-40, 2.0**-126]))
    total = jnp.sum(x)
    er.assert_covers(er.expr("acc<f32, ftz=free>(sum(x))")(x=x), total)
    if float(total) == 2.0**-126:
        assert not er.expr("acc<f32>(sum(x))")(x=x).covers(total)
