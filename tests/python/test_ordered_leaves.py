"""The order of the leaves in ordered sums: a sum's terms take turns at each of its places, as a loop over them does."""
import numpy as np
import pytest

import erx as er

F = np.float32


def additions(leaves):
    """One after the other, in float32."""
    total = F(0)
    for x in leaves:
        total = F(total + x)
    return total


def pairwise(leaves):
    if len(leaves) <= 2:
        return additions(leaves)
    middle = len(leaves) // 2
    return F(pairwise(leaves[:middle]) + pairwise(leaves[middle:]))


ORDERS = {"seq": additions, "rseq": lambda x: additions(x[::-1]), "pairwise(2)": pairwise,
          "blocked(4, inner=seq, outer=seq)": lambda x: additions([additions(x[i:i + 4]) for i in range(0, len(x), 4)]),
          "blocked(4, inner=rseq, outer=seq)": lambda x: additions([additions(x[i:i + 4][::-1]) for i in range(0, len(x), 4)]),
          "blocked(4, inner=seq, outer=rseq)": lambda x: additions([additions(x[i:i + 4]) for i in range(0, len(x), 4)][::-1]),
          "blocked(3, inner=rseq, outer=rseq)": lambda x: additions([additions(x[i:i + 3][::-1]) for i in range(0, len(x), 3)][::-1])}


def numbers(*shape, seed=0):
    return (np.random.default_rng(seed).standard_normal(shape) * 10.0 ** np.random.default_rng(seed + 1).integers(-3, 4, shape)).astype(F)


@pytest.mark.parametrize("order", ORDERS)
def test_terms_inside_a_sum_take_turns(order):
    a, c, d = numbers(300, 9, seed=1), numbers(300, 9, seed=2), numbers(300, seed=3)
    fold = ORDERS[order]
    result = er.expr(f"acc<f32, {order}>(sum(a - c, axis=1) + d)")(a=a, c=c, d=d)
    loop = np.array([fold([v for k in range(9) for v in (a[i, k], -c[i, k])] + [d[i]]) for i in range(300)], F)
    er.assert_covers(result, loop)
    apart = np.array([fold([*a[i], *-c[i], d[i]]) for i in range(300)], F)
    assert result.check(apart).violations > 100
    er.assert_covers(er.expr(f"acc<f32, {order}>(sum(a, axis=1) - sum(c, axis=1) + d)")(a=a, c=c, d=d), apart)


def test_nested_sums_and_masks():
    x, c = numbers(40, 5, 4, seed=4), numbers(40, 5, seed=5)
    m = np.random.default_rng(6).random((40, 5)) < 0.7
    loop = [additions([v for j in range(5) for v in (*x[i, j], -c[i, j])]) for i in range(40)]
    er.assert_covers(er.expr("acc<f32, seq>(sum(sum(x, axis=2) - c, axis=1))")(x=x, c=c), np.array(loop, F))
    masked = [additions([v for j in range(5) if m[i, j] for v in (*x[i, j], -c[i, j])]) for i in range(40)]
    er.assert_covers(er.expr("acc<f32, seq>(sum(sum(x, axis=2) - c where m, axis=1))")(x=x, c=c, m=m), np.array(masked, F))


def test_a_running_sum_is_the_loop():
    a, c = numbers(50, 12, seed=7), numbers(50, 12, seed=8)
    loop = np.array([[additions([v for j in range(k + 1) for v in (a[i, j], -c[i, j])]) for k in range(12)] for i in range(50)], F)
    er.assert_covers(er.expr("acc<f32, seq>(cumsum(a - c, axis=1))")(a=a, c=c), loop)


@pytest.mark.parametrize("shapes", [((3, 6), (6, 2)), ((6,), (6, 2)), ((3, 6), (6,)), ((6,), (6,)), ((2, 3, 6), (6, 2))])
def test_products_of_complex_matrices_take_both_products_of_a_term_in_turn(shapes):
    A, B = (numbers(*s, seed=9) + 1j * numbers(*s, seed=10) for s in shapes)
    A, B = A.astype(np.complex64), B.astype(np.complex64)

    def part(x, y, u, v, sign):
        total = F(0)
        for k in range(6):
            total = F(F(total + F(x[k] * y[k])) + F(sign) * F(u[k] * v[k]))
        return total
    rows, columns = np.atleast_2d(A).reshape(-1, 6), B.reshape(6, -1).T
    loop = np.array([[complex(part(a.real, b.real, a.imag, b.imag, -1), part(a.real, b.imag, a.imag, b.real, 1)) for b in columns] for a in rows])
    for order in ("seq", "split({1})", "assoc"):
        result = er.expr(f"acc<f32, {order}>(A @ B)")(A=A, B=B)
        er.assert_covers(result, loop.astype(np.complex64).reshape(result.shape))


@pytest.mark.parametrize("order", [name for name in ORDERS if name.startswith("blocked")])
@pytest.mark.parametrize("count", [1, 2, 3, 4, 5, 12, 13, 300])
def test_blocks_have_one_value_the_loop_s(order, count):
    """No other value is allowed, and the blocks of products are those of their rounded products."""
    x, y = numbers(40, count, seed=11), numbers(40, count, seed=12)
    fold = ORDERS[order]
    for text, leaves in ((f"acc<f32, {order}>(sum(x, axis=1))", x), (f"acc<f32, {order}, fma=never>(sum(x * y, axis=1))", x * y)):
        result = er.expr(text)(**({"x": x, "y": y} if "y" in text else {"x": x}))
        loop = np.array([fold(list(row)) for row in leaves], F)
        np.testing.assert_array_equal(result.lo, loop)
        np.testing.assert_array_equal(result.hi, loop)
        np.testing.assert_array_equal(er.expr(text)(**({"x": x, "y": y} if "y" in text else {"x": x}))._group.evaluated_by(lowest="exact").hull(0)[0], loop)
