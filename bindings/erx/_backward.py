"""Gradients: er.matmul.backward(A, B, grad) and the like give one Result for each differentiable input, in order.

Each has the shape and dtype of its input, its sums over the copies of a broadcast operand and over a contraction are one sum within the
compute format, rounded once. Integers, booleans and Python scalars have no gradient and are left out. A complex gradient is
PyTorch's: the conjugate factor times `grad`, and its real part for a real input.
"""

from __future__ import annotations

from collections.abc import Sequence

from . import _complex, _erx
from ._dtypes import DType, compute_type
from ._elementwise import divide, exp, log, negative, subtract
from ._functions import Axes, _axes, _factor, _number, _Operand, _rounded, add, gemm, matmul, multiply, sum
from ._reductions import _count, cumsum, mean
from ._result import Result, Results

Piece = _erx.Piece


def _conj(x: Piece) -> Piece:
    return _erx.apply("conj", [x]) if x.type.startswith("complex") else x


def _times(x: Piece, y: Piece) -> Piece:
    return _erx.apply("mul", [x, y])


class _Gradients:
    """The results of one call."""

    def __init__(self, grad: object, shape: Sequence[int], operands: Sequence[_Operand]) -> None:
        self.grad = _Operand(grad, "grad")
        self.operands = operands
        if self.grad.shape != tuple(shape):
            raise _erx.SpecError(f"grad has the shape {list(self.grad.shape)}, and the result {list(shape)}")
        if not self.grad.dtype.is_floating:
            raise TypeError("grad has to be stored numbers with a fraction")
        self.piece = _erx.opaque(self.grad.piece)
        self._pieces: list[Piece] = []

    def compute(self, o: _Operand) -> DType:
        kinds = [p.dtype for p in (*self.operands, self.grad) if not p.is_scalar]
        return compute_type(o.dtype, kinds)

    def has(self, o: _Operand | None) -> bool:
        return o is not None and not o.is_scalar and o.dtype.is_floating

    def append(self, o: _Operand | None, *terms, factor: Piece | None = None, whole: bool = False) -> None:
        """Each `term(compute)`, a formula of the gradient, has the broadcast shape of o; `factor` scales what was summed; `whole`: it is
        within the format already."""
        if not self.has(o):
            return
        compute = self.compute(o)
        pieces = [self._summed(o, term(compute), compute, factor, whole) for term in terms]
        self._pieces.append(_rounded(pieces[0] if len(pieces) == 1 else _erx.any_of(pieces, ""), o.dtype))

    def _summed(self, o: _Operand, piece: Piece, compute: DType, factor: Piece | None, whole: bool) -> Piece:
        extra = len(piece.shape) - len(o.shape)
        copies = [k for k, n in enumerate(piece.shape) if k < extra or (o.shape[k - extra] == 1 and n != 1)]
        if copies:
            piece = _erx.reduce("sum", piece, copies, False)
        if not o.dtype.is_complex and piece.type.startswith("complex"):
            piece = _erx.apply("real", [piece])
        if factor is not None:
            piece = _times(factor, _erx.within(piece, compute.kind, False))
        if piece.tensor is None and not whole:
            piece = _erx.within(piece, compute.kind, False)
        return _erx.reshape(piece, list(o.shape)) if piece.shape != o.shape else piece

    def results(self) -> Results:
        group = _erx.Group(self._pieces, True)
        return Results(Result(group, i) for i in range(len(self._pieces)))


def _operands(*named: tuple[object, str]) -> list[_Operand]:
    return [_Operand(x, name) for x, name in named]


def _products(g: _Gradients, a: _Operand, b: _Operand, factor: Piece | None) -> None:
    """Of A @ B: grad @ B^H and A^H @ grad, a vector being a matrix of one row or column."""
    left, right = _erx.opaque(a.piece), _erx.opaque(b.piece)
    shape = list(g.piece.shape)
    if len(a.shape) == 1:
        left, shape = _erx.reshape(left, [1, *a.shape]), [*shape[:len(shape) - (len(b.shape) > 1)], 1, *shape[len(shape) - (len(b.shape) > 1):]]
    if len(b.shape) == 1:
        right, shape = _erx.reshape(right, [*b.shape, 1]), [*shape, 1]
    grad = _erx.reshape(g.piece, shape) if shape != list(g.piece.shape) else g.piece

    def turned(x: Piece) -> Piece:
        order = list(range(len(x.shape)))
        return _conj(_erx.transpose(x, [*order[:-2], order[-1], order[-2]]))

    def as_matrix(product: Piece, o: _Operand, drop: int) -> Piece:
        if len(o.shape) > 1:
            return product
        batches = list(range(len(product.shape) - 2))  # a vector is shared by all batches
        kept = [n for k, n in enumerate(product.shape) if k >= len(batches) and k != len(product.shape) + drop]
        return _erx.reduce("sum", product, [*batches, len(product.shape) + drop], False) if kept else product

    g.append(a, lambda _: as_matrix(_erx.apply("matmul", [grad, turned(right)]), a, -2), factor=factor)
    g.append(b, lambda _: as_matrix(_erx.apply("matmul", [turned(left), grad]), b, -1), factor=factor)


def _matmul(A: object, B: object, grad: object) -> Results:
    """Gradients of er.matmul: grad @ B^H and A^H @ grad, each element one sum over the contraction and the broadcast batches."""
    a, b = _operands((A, "A"), (B, "B"))
    g = _Gradients(grad, matmul(A, B).shape, [a, b])
    _products(g, a, b, None)
    return g.results()


def _gemm(A: object, B: object, C: object, grad: object, *, alpha: object = 1, beta: object = 1) -> Results:
    """Gradients of er.gemm for A, B and C (of which None has none): alpha and beta scale the sums."""
    a, b = _operands((A, "A"), (B, "B"))
    c = None if C is None else _Operand(C, "C")
    g = _Gradients(grad, gemm(A, B, C).shape, [a, b] + ([] if c is None else [c]))
    scale, by = _factor(alpha, "alpha", g.grad.dtype)
    _products(g, a, b, None if by == 1 else _conj(scale))
    scale, by = _factor(beta, "beta", g.grad.dtype)
    g.append(c, lambda _: g.piece, factor=None if by == 1 else _conj(scale))
    return g.results()


def _add(x: object, y: object, grad: object, *, alpha: object = 1) -> Results:
    """Gradients of er.add: grad, and alpha * grad, summed over the copies of a broadcast operand."""
    a, b = _operands((x, "x"), (y, "y"))
    g = _Gradients(grad, add(x, y).shape, [a, b])
    scale, by = _factor(alpha, "alpha", g.grad.dtype)
    g.append(a, lambda _: g.piece)
    g.append(b, lambda _: g.piece, factor=None if by == 1 else _conj(scale))
    return g.results()


def _subtract(x: object, y: object, grad: object, *, alpha: object = 1) -> Results:
    """Gradients of er.subtract: grad, and -alpha * grad."""
    subtract(x, y)
    return _add(x, y, grad, alpha=-alpha)


def _multiply(x: object, y: object, grad: object) -> Results:
    """Gradients of er.multiply: the sums of grad * conj(y) and grad * conj(x) over the copies."""
    a, b = _operands((x, "x"), (y, "y"))
    g = _Gradients(grad, multiply(x, y).shape, [a, b])
    g.append(a, lambda _: _times(g.piece, _conj(b.piece)))
    g.append(b, lambda _: _times(g.piece, _conj(a.piece)))
    return g.results()


def _divide(x: object, y: object, grad: object) -> Results:
    """Gradients of er.divide: grad / conj(y), and -grad * conj((x / y) / y)."""
    a, b = _operands((x, "x"), (y, "y"))
    g = _Gradients(grad, divide(x, y).shape, [a, b])
    is_complex = any(o.dtype.is_complex for o in (a, b, g.grad))

    def over(compute: DType, p: Piece, q: Piece) -> Piece:
        if is_complex:
            return _complex.quotient(_number(p), _number(q), compute)
        return _erx.within(_erx.apply("div", [p, q]), compute.kind, False)

    up = _complex.together(_complex.parts(g.piece)) if is_complex else g.piece
    single = a.shape == g.grad.shape  # not broadcast: the quotient itself, not a sum of quotients
    g.append(a, lambda f: over(f, g.piece, _conj(b.piece)), whole=is_complex and single)
    g.append(b, lambda f: _times(_erx.apply("neg", [up]), _conj(over(f, over(f, a.piece, b.piece), b.piece))))
    return g.results()


def _spread(g: _Gradients, shape: Sequence[int], axes: Sequence[int], keepdims: bool) -> Piece:
    kept = [1 if k in axes else n for k, n in enumerate(shape)]
    return _erx.broadcast(g.piece if keepdims else _erx.reshape(g.piece, kept), list(shape))


def _sum(x: object, grad: object, axis: Axes = None, *, keepdims: bool = False) -> Results:
    """Gradient of er.sum: grad at every element."""
    a = _Operand(x, "x")
    g = _Gradients(grad, sum(x, axis, keepdims=keepdims).shape, [a])
    g.append(a, lambda _: _times(_spread(g, a.shape, _axes(axis, len(a.shape)), keepdims), _erx.literal("1")))
    return g.results()


def _mean(x: object, grad: object, axis: Axes = None, *, keepdims: bool = False) -> Results:
    """Gradient of er.mean: grad / n at every element."""
    a = _Operand(x, "x")
    g = _Gradients(grad, mean(x, axis, keepdims=keepdims).shape, [a])
    axes = _axes(axis, len(a.shape))
    count = _erx.literal(str(_count(a.shape, axes)))
    g.append(a, lambda _: _erx.apply("div", [_spread(g, a.shape, axes, keepdims), count]))
    return g.results()


def _cumsum(x: object, grad: object, axis: int) -> Results:
    """Gradient of er.cumsum: the sums of grad from each element on."""
    a = _Operand(x, "x")
    g = _Gradients(grad, cumsum(x, axis).shape, [a])
    axes = _axes(axis, len(a.shape))
    back = [("range", n - 1 if d in axes else 0, -1 if d in axes else 1, n) for d, n in enumerate(a.shape)]
    if not axes or 0 in a.shape or not g.has(a):
        g.append(a, lambda _: _times(g.piece, _erx.literal("1")))
        return g.results()
    compute = g.compute(a).kind

    def from_each_on(p: Piece) -> Piece:
        return _erx.index(_erx.within(_erx.reduce("cumsum", _erx.index(p, back), axes, False), compute, False), back)

    parts = _complex.parts(g.piece) if g.piece.type.startswith("complex") else (g.piece,)
    sums = [from_each_on(p) for p in parts]
    g.append(a, lambda _: _complex.together((sums[0], sums[1])) if len(sums) == 2 else sums[0], whole=True)
    return g.results()


def _unary(function, factor):
    def backward(x: object, grad: object) -> Results:
        a = _Operand(x, "x")
        g = _Gradients(grad, function(x).shape, [a])
        g.append(a, lambda compute: factor(g, a, compute))
        return g.results()

    backward.__doc__ = f"Gradient of er.{function.__name__}."
    return backward


def _attach() -> None:
    matmul.backward, gemm.backward, add.backward, subtract.backward = _matmul, _gemm, _add, _subtract
    multiply.backward, divide.backward, sum.backward, mean.backward, cumsum.backward = _multiply, _divide, _sum, _mean, _cumsum
    negative.backward = _unary(negative, lambda g, a, f: _erx.apply("neg", [g.piece]))
    exp.backward = _unary(exp, lambda g, a, f: _times(g.piece, _conj(_complex.exponential(a.piece, f)) if a.dtype.is_complex else
                                                      _erx.within(_erx.apply("exp", [a.piece]), f.kind, False)))
    log.backward = _unary(log, lambda g, a, f: _erx.apply("div", [g.piece, a.piece]))


_attach()
