"""vjp against derivatives found otherwise: forward, with dual numbers of exact rationals; of functions, by difference quotients at
60 digits, which tell the nearest double.
"""
import random
from fractions import Fraction

import mpmath
import numpy as np
import pytest

import erx as er

SEED = 11


class Dual:
    """a + b e with e * e = 0."""
    __array_priority__ = 100

    def __init__(self, a, b=0):
        self.a, self.b = Fraction(a), Fraction(b)

    @staticmethod
    def of(x):
        return x if isinstance(x, Dual) else Dual(x)

    def __add__(self, o):
        o = Dual.of(o)
        return Dual(self.a + o.a, self.b + o.b)

    def __mul__(self, o):
        o = Dual.of(o)
        return Dual(self.a * o.a, self.a * o.b + self.b * o.a)

    def __truediv__(self, o):
        o = Dual.of(o)
        return Dual(self.a / o.a, (self.b * o.a - self.a * o.b) / (o.a * o.a))

    def __neg__(self):
        return Dual(-self.a, -self.b)

    def __sub__(self, o):
        return self + -Dual.of(o)

    def __rsub__(self, o):
        return Dual.of(o) - self

    def __rtruediv__(self, o):
        return Dual.of(o) / self

    __radd__, __rmul__ = __add__, __mul__

    def __pow__(self, n):
        result = Dual(1)
        for _ in range(n):
            result = result * self
        return result

    def __abs__(self):
        return -self if self.a < 0 else self

    def __gt__(self, o):
        return self.a > Dual.of(o).a

    def __lt__(self, o):
        return self.a < Dual.of(o).a

    def __ge__(self, o):
        return self.a >= Dual.of(o).a

    def __le__(self, o):
        return self.a <= Dual.of(o).a


def duals(x, at=None):
    out = np.empty(x.shape, object)
    for i in np.ndindex(*x.shape):
        out[i] = Dual(float(x[i]), int(i == at))
    return out


def where(c, x, y):
    return np.where(c, *np.broadcast_arrays(np.asarray(x, object), np.asarray(y, object)))




def masked_sum(x, m):
    return np.sum(where(m, x, Dual(0)), axis=1)


# text, the same with NumPy, shapes of x and y
CASES = [
    ("x * y - x / (y * y + 1) + x", lambda x, y: x * y - x / (y * y + 1) + x, (2, 3), (3,)),
    ("-x ** 3 + abs(x) * y", lambda x, y: -(x ** 3) + abs(x) * y, (2, 3), (2, 1)),
    ("fma(x, y, x)", lambda x, y: x * y + x, (2, 3), (2, 3)),
    ("maximum(x, y) * x + minimum(x, y)", lambda x, y: where(x > y, x, y) * x + where(x < y, x, y), (2, 3), (2, 3)),
    ("fmax(x, y) - fmin(x, 2 * y)", lambda x, y: where(x > y, x, y) - where(x < y * 2, x, y * 2), (2, 3), (3,)),
    ("clamp(x, -1, 2) * y", lambda x, y: where(x < -1, Dual(-1), where(x > 2, Dual(2), x)) * y, (2, 3), (3,)),
    ("where(x > y, x * x, y)", lambda x, y: where(x > y, x * x, y), (2, 3), (3,)),
    ("x @ y", lambda x, y: x @ y, (2, 3), (3, 4)),
    ("x @ y", lambda x, y: x @ y, (3,), (3, 4)),
    ("x @ y", lambda x, y: x @ y, (2, 3), (3,)),
    ("x @ y", lambda x, y: x @ y, (3,), (3,)),
    ("x @ y", lambda x, y: x @ y, (2, 2, 3), (3, 2)),
    ("x @ y", lambda x, y: x @ y, (2, 1, 2, 3), (3, 3, 2)),
    ("x @ y", lambda x, y: x @ y, (3,), (2, 3, 2)),
    ("sum(x * y, axis=(0, -1))", lambda x, y: np.sum(x * y, axis=(0, -1)), (2, 3, 2), (2, 3, 1)),
    ("sum(x * x where y > 0, axis=1)", lambda x, y: masked_sum(x * x, y > 0), (3, 4), (3, 4)),
    ("mean(x * y, axis=0, keepdims=true) * x", lambda x, y: np.sum(x * y, axis=0, keepdims=True) / 3 * x, (3, 2), (2,)),
    ("prod(x, axis=1) * y", lambda x, y: np.prod(x, axis=1) * y, (2, 3), (2,)),
    ("prod(x * y)", lambda x, y: np.prod(x * y), (2, 3), (3,)),
    ("prod(x, axis=(0, 2), keepdims=true) * y", lambda x, y: np.prod(x, axis=(0, 2), keepdims=True) * y, (2, 3, 2), (3, 1)),
    ("prod(x where y > 0, axis=0)", lambda x, y: np.prod(where(y > 0, x, Dual(1)), axis=0), (3, 2), (3, 2)),
    ("cumsum(x * y, axis=0) * x", lambda x, y: np.cumsum(x * y, axis=0) * x, (3, 2), (2,)),
    ("cumprod(x, axis=-1) * y", lambda x, y: np.cumprod(x, axis=-1) * y, (2, 4), (4,)),
    ("cumprod(x where y > 0, axis=0)", lambda x, y: np.cumprod(where(y > 0, x, Dual(1)), axis=0), (3, 2), (3, 2)),
    ("max(x, axis=1) * min(y, axis=0)", lambda x, y: np.max(x, axis=1) * np.min(y, axis=0), (2, 3), (3, 2)),
    ("max(x where abs(y) > 1, axis=1, keepdims=true) * x", lambda x, y: np.max(where(abs(y) > 1, x, Dual(-100)), axis=1, keepdims=True) * x, (3, 5), (3, 5)),
    ("reshape(x, (3, 2)).T * y", lambda x, y: x.reshape(3, 2).T * y, (2, 3), (3,)),
    ("transpose(x, (2, 0, 1)) @ y", lambda x, y: np.transpose(x, (2, 0, 1)) @ y, (2, 3, 2), (3, 2)),
    ("broadcast(x, (2, 2, 3)) * y", lambda x, y: np.broadcast_to(x, (2, 2, 3)) * y, (2, 3), (2, 1, 1)),
    ("x[1:, ::-1, None] * y", lambda x, y: x[1:, ::-1, None] * y, (3, 2), (2,)),
    ("x[::2, 0] * y + x[-1, 1:]", lambda x, y: x[::2, 0] * y + x[-1, 1:], (5, 2), (3,)),
    ("x[4:0:-3, 1:1] + y", lambda x, y: x[4:0:-3, 1:1] + y, (5, 2), (1,)),
    ("x[3::-2] * y", lambda x, y: x[3::-2] * y, (5,), (2,)),
    ("concat(x, y * x[:1], x, axis=0) ** 2", lambda x, y: np.concatenate([x, y * x[:1], x], 0) ** 2, (2, 3), (3,)),
    ("stack(x, y, axis=1) * x[:, None]", lambda x, y: np.stack([x, y], 1) * x[:, None], (2, 3), (2, 3)),
    ("flip(x, axis=0) @ repeat(y, 2)", lambda x, y: np.flip(x, 0) @ np.repeat(y, 2), (2, 4), (2,)),
    ("diagonal(x) * y", lambda x, y: np.diagonal(x) * y, (3, 4), (3,)),
    ("diagonal(x, 2, 0) * y", lambda x, y: np.diagonal(x, 0, 2, 0) * y, (3, 2, 4), (3,)),
    ('einsum("ij,kj,ik->i", x, y, x)', lambda x, y: np.einsum("ij,kj,ik->i", x, y, x), (3, 3), (3, 3)),
    ('einsum("iij,j->ji", x, y)', lambda x, y: np.einsum("iij,j->ji", x, y), (2, 2, 3), (3,)),
    ("x % 2 + floor(x) * y + argmax(x) * x", lambda x, y: x - floor(x / 2) * 2 + floor(x) * y + argmax(x) * x, (4,), (4,)),
]


def floor(x):
    return np.array([Dual(v.a.__floor__()) for v in x], object)


def argmax(x):
    return int(np.argmax([float(v.a) for v in x]))


def exact_gradient(function, x, y, grad, which):
    """Element by element: the derivative in the direction of one of them."""
    values = (x, y)
    out = np.empty(values[which].shape, object)
    for at in np.ndindex(*values[which].shape):
        operands = [duals(v, at if k == which else None) for k, v in enumerate(values)]
        result = np.asarray(function(*operands), object)
        out[at] = sum((Fraction(float(g)) * r.b for g, r in zip(grad.reshape(-1), np.broadcast_to(result, grad.shape).reshape(-1))), Fraction(0))
    return out


def data(rng, shape):
    size = int(np.prod(shape))
    values = rng.sample(range(-40, 40), size) if size < 60 else [rng.randint(-40, 40) for _ in range(size)]
    return (np.array(values) / 8 + 1 / 64).reshape(shape).astype(np.float32)


@pytest.mark.parametrize("text, function, shape_x, shape_y", CASES, ids=[c[0] for c in CASES])
def test_is_the_exact_derivative(text, function, shape_x, shape_y):
    rng = random.Random(SEED)
    for k in range(4):
        x, y = data(rng, shape_x), data(rng, shape_y) + np.float32(1 / 128)  # none of x is one of y
        if k == 3 and "prod" in text:
            x.reshape(-1)[:2] = 0  # the product of the others, not the product divided
        grad = data(rng, np.asarray(function(duals(x), duals(y)), object).shape)
        for which, name in enumerate("xy"):
            expected = exact_gradient(function, x, y, grad, which)
            spec = er.expr(f"round<f64>(vjp({text}, wrt={name}, grad=g))")
            inputs = {n: v for n, v in (("x", x), ("y", y), ("g", grad))}
            r = spec(**inputs)
            nearest = np.vectorize(float, otypes=[float])(expected)
            assert r.shape == expected.shape
            assert np.array_equal(r.lo, nearest) and np.array_equal(r.hi, nearest), f"seed {SEED}\n{spec}\nx = {x.tolist()}\ny = {y.tolist()}\ng = {grad.tolist()}\n{r.lo}\n{nearest}"


FUNCTIONS = {
    "sqrt(x)": mpmath.sqrt, "rsqrt(x)": lambda t: 1 / mpmath.sqrt(t), "exp(x)": mpmath.exp, "exp2(x)": lambda t: mpmath.power(2, t),
    "expm1(x)": mpmath.expm1, "log(x)": mpmath.log, "log2(x)": lambda t: mpmath.log(t, 2), "log10(x)": mpmath.log10,
    "log1p(x)": mpmath.log1p, "sin(x)": mpmath.sin, "cos(x)": mpmath.cos, "tanh(x)": mpmath.tanh,
    "erf(x)": mpmath.erf, "sigmoid(x)": lambda t: 1 / (1 + mpmath.exp(-t)), "x ** 5": lambda t: t ** 5, "pow(x, 0.5)": mpmath.sqrt, "2.5 ** x": lambda t: mpmath.mpf(2.5) ** t,
    "x ** x": lambda t: t ** t, "exp(-x * x) * log(1 + tanh(x)) / sqrt(x)": lambda t: mpmath.exp(-t * t) * mpmath.log(1 + mpmath.tanh(t)) / mpmath.sqrt(t),
}


@pytest.mark.parametrize("text", FUNCTIONS)
def test_of_functions_is_the_derivative(text):
    rng = np.random.default_rng(SEED)
    x = rng.uniform(0.1, 3, 12).astype(np.float32)
    r = er.expr(f"round<f64>(vjp({text}, wrt=x, grad=1))")(x=x)
    with mpmath.workdps(150):
        h = mpmath.mpf(10) ** -50  # the error of the quotient is of the order of 1e-100
        for i, v in enumerate(x):
            t = mpmath.mpf(float(v))
            quotient = (FUNCTIONS[text](t + h) - FUNCTIONS[text](t - h)) / (2 * h)
            nearest = float(mpmath.mpf(quotient))
            assert r.lo[i] == r.hi[i] == nearest, f"{text} at {float(v).hex()}: {r.lo[i]!r}, difference quotient {nearest!r}"


def test_equal_elements_share():
    x, y = np.array([1.0, 3, 3, 2], np.float32), np.array([1.0, 2, 5, 2], np.float32)
    assert np.array_equal(er.expr("vjp(maximum(x, y), wrt=x, grad=4)")(x=x, y=y).lo, [2, 4, 0, 2])
    assert np.array_equal(er.expr("vjp(minimum(x, y), wrt=x, grad=4)")(x=x, y=y).lo, [2, 0, 4, 2])
    assert np.array_equal(er.expr("vjp(max(x), wrt=x, grad=4)")(x=x).lo, [0, 2, 2, 0])
    assert np.array_equal(er.expr("vjp(clamp(x, 1, 2), wrt=x, grad=4)")(x=x).lo, [4, 0, 0, 4])


def test_as_pytorch_has_them():
    """Gradients of a layer in float64 are near; those that are sums of exact products are the same."""
    import torch
    rng = np.random.default_rng(SEED)
    x, w, g = (rng.integers(-4, 5, n).astype(np.float32) for n in ((4, 3), (3, 5), (4, 5)))
    tx, tw = torch.tensor(x, requires_grad=True), torch.tensor(w, requires_grad=True)
    (torch.relu(tx @ tw).cumsum(1)).backward(torch.tensor(g))
    text = "cumsum(where(x @ w > 0, x @ w, 0), axis=1)"
    assert er.expr(f"round<f32>(vjp({text}, wrt=x, grad=g))")(x=x, w=w, g=g).check(tx.grad)
    assert er.expr(f"round<f32>(vjp({text}, wrt=w, grad=g))")(x=x, w=w, g=g).check(tw.grad)
    assert not er.expr(f"round<f32>(vjp({text}, wrt=w, grad=g))")(x=x, w=w, g=g).check(tw.grad + 1)


def test_names_and_named_sizes():
    spec = er.parse("""fn square(t) = t * t
spec f(x: f32[M, K], w: f32[K, N], g: f32[M, N]) -> (dx: f32[M, K], dh: f32[M, N], none: f32[M, K]) {
  let h = x @ w
  let y = square(h) + round<bf16>(w[0])
  return (round<f32>(vjp(y, wrt=x, grad=g)), round<f32>(vjp(y, wrt=h, grad=g)), round<f32>(vjp(w[0] * 2, wrt=x, grad=1)))
}""")
    rng = np.random.default_rng(SEED)
    x, w, g = (rng.integers(-4, 5, n).astype(np.float32) for n in ((2, 3), (3, 4), (2, 4)))
    dx, dh, none = spec(x=x, w=w, g=g)
    assert dx.check((2 * (x @ w) * g) @ w.T) and dh.check(2 * (x @ w) * g) and none.check(np.zeros((2, 3), np.float32))


def test_scan_of_choices_is_refused_and_of_others_is_not():
    x = np.array([1.0, 2], np.float32)
    for text in ("round<bf16>(x) * x", "any_of(x, -x)", "acc<f32>(sum(x))", "within<f32>(x * x)", "in f32 { x * x }"):
        with pytest.raises(er.SpecError, match="`vjp` cannot go through"):
            er.expr(f"vjp({text}, wrt=x, grad=1)")(x=x)
    # What does not depend on x may round; the gradient takes its set.
    r = er.expr("vjp(x * any_of(y, 3 * y), wrt=x, grad=1)")(x=x, y=x)
    assert r.check(np.array([1, 6], np.float32)) and not r.check(np.array([2, 2], np.float32))
