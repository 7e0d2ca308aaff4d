"""Gradients of er.where, er.max, er.min, er.prod and the normalisations, as in _backward.py.

A gradient is the formula that libraries compute, each operation within the compute format; its exact value (`vjp`) is one of the values
allowed. A library that keeps the stored result of the forward pass, or saved statistics in a narrow dtype, is a chain (docs/pytorch.md).
"""

from __future__ import annotations

from collections.abc import Sequence

from . import _erx
from ._backward import Piece, _Gradients, _operands, _spread, _times
from ._elementwise import where
from ._functions import Axes, _axes, _factor, _number, _Operand
from ._normal import _eps, _Formula, _last_axes, layer_norm, log_softmax, logsumexp, rms_norm, softmax
from ._reductions import _count, _narrower, _Reach, max, min, prod
from ._result import Results


def _apply(op: str, *operands: Piece) -> Piece:
    return _erx.apply(op, list(operands))


def _where(condition: object, x: object, y: object, grad: object) -> Results:
    """Gradients of er.where for x and y: grad where the branch was taken, 0 elsewhere, summed over the copies."""
    a, b = _operands((x, "x"), (y, "y"))
    c, zero = _Operand(condition, "condition").piece, _erx.literal("0")
    g = _Gradients(grad, where(condition, x, y).shape, [a, b])
    g.append(a, lambda _: _apply("where", c, g.piece, zero))
    g.append(b, lambda _: _apply("where", c, zero, g.piece))
    return g.results()


def _extremum(function):
    def backward(x: object, grad: object, axis: Axes = None, *, keepdims: bool = False) -> Results:
        a = _Operand(x, "x")
        g = _Gradients(grad, function(x, axis, keepdims=keepdims).shape, [a])
        axes = _axes(axis, len(a.shape))
        if g.has(a):
            chosen = _number(_apply("eq", a.piece, _erx.reduce(function.__name__, a.piece, axes, True)))
            count = _erx.reduce("sum", chosen, axes, True)
            g.append(a, lambda _: _apply("div", _times(_spread(g, a.shape, axes, keepdims), chosen), count))
        return g.results()

    backward.__doc__ = f"Gradient of er.{function.__name__}: in equal parts to the elements that are the result (as PyTorch's amax and amin)."
    return backward


def _prod(x: object, grad: object, axis: Axes = None, *, keepdims: bool = False) -> Results:
    """Gradient of er.prod: grad times the product of the others, n + 1 roundings in any order (a product of all, times grad, divided by
    the element is one of them). errors: as er.prod; SpecError for complex x.
    """
    a = _Operand(x, "x")
    g = _Gradients(grad, prod(x, axis, keepdims=keepdims).shape, [a])
    if a.dtype.is_complex:
        raise _erx.SpecError("er.prod.backward takes real numbers: write a complex product as a chain of er.multiply")
    axes = _axes(axis, len(a.shape))
    n = _count(a.shape, axes)
    if not g.has(a) or 0 in a.shape:
        g.append(a, lambda _: _spread(g, a.shape, axes, keepdims))  # nothing
        return g.results()
    compute = g.compute(a)
    _Reach(x, a, axes, True, _narrower(compute, a.dtype), grad).require("er.prod.backward")
    one, zero = _erx.literal("1"), _erx.literal("0")
    none = _apply("eq", a.piece, zero)
    zeros = _erx.reduce("sum", _number(none), axes, True)
    others = _erx.reduce("prod", _apply("where", none, one, a.piece), axes, True)  # of those that are not 0
    only = _apply("where", _apply("eq", zeros, zero), _apply("div", others, _apply("where", none, one, a.piece)),
                  _apply("where", _apply("and", none, _apply("eq", zeros, one)), others, zero))
    product = _times(_spread(g, a.shape, axes, keepdims), only)
    for _ in range(n + 1):
        product = _erx.within(_times(product, one), compute.kind, False)
    g.append(a, lambda _: product, whole=True)
    return g.results()


def _normalised(x: object, grad: object, function, axis: object, keepdims: bool | None = None):
    a = _Operand(x, "x")
    result = function(x, axis) if keepdims is None else function(x, axis, keepdims=keepdims)
    g = _Gradients(grad, result.shape, [a])
    f = _Formula(g.compute(a)) if g.has(a) else None
    return a, g, f, _axes(axis, len(a.shape)), _erx.opaque(a.piece)


def _softmax(x: object, grad: object, axis: int) -> Results:
    """Gradient of er.softmax: y * (grad - sum(grad * y)), or y * grad - y * sum(grad * y), for y = softmax(x)."""
    a, g, f, axes, piece = _normalised(x, grad, softmax, axis)
    if f is not None:
        y = f.softmax(piece, axes)
        total = f.sum(_times(g.piece, y), axes)
        g.append(a, lambda _: f("mul", f("sub", g.piece, total), y), lambda _: f("sub", _times(g.piece, y), _times(y, total)), whole=True)
    return g.results()


def _log_softmax(x: object, grad: object, axis: int) -> Results:
    """Gradient of er.log_softmax: grad - exp(y) * sum(grad), for y = log_softmax(x)."""
    a, g, f, axes, piece = _normalised(x, grad, log_softmax, axis)
    if f is not None:
        y = f("exp", f.log_softmax(piece, axes))
        g.append(a, lambda _: f("sub", g.piece, _times(y, f.sum(g.piece, axes))), whole=True)
    return g.results()


def _logsumexp(x: object, grad: object, axis: Axes, *, keepdims: bool = False) -> Results:
    """Gradient of er.logsumexp: grad * exp(x - y), for y = logsumexp(x)."""
    a, g, f, axes, piece = _normalised(x, grad, logsumexp, axis, keepdims)
    if f is not None:
        y = f("exp", f("sub", piece, f.logsumexp(piece, axes)))
        g.append(a, lambda _: f("mul", _spread(g, a.shape, axes, keepdims), y), whole=True)
    return g.results()


def _layer_norm(x: object, grad: object, normalized_shape: int | Sequence[int], weight: object = None, bias: object = None,
                eps: float = 1e-5) -> Results:
    """Gradients of er.layer_norm for x, weight and bias: with d = x - mean, r = 1 / sqrt(variance + eps) and h = grad * weight,

    r * (h - mean(h) - d r * mean(h * d r)), or with q = (sum(h) mean - sum(h x)) r^3 / n: r h + q x - (q mean + sum(h) r / n);
    sum(grad * d r), and sum(grad), over the copies of a weight.
    """
    given = [("weight", weight), ("bias", bias)]
    a, (w, b) = _Operand(x, "x"), [None if v is None else _Operand(v, name) for name, v in given]
    g = _Gradients(grad, layer_norm(x, normalized_shape, weight, bias, eps).shape, [o for o in (a, w, b) if o is not None])
    axes = _last_axes(a.shape, normalized_shape)
    n = _count(a.shape, axes)
    f, piece, count = _Formula(g.compute(a)), _erx.opaque(_number(a.piece)), _erx.literal(str(n))
    centred, root, mean = f.centred(piece, axes, n, _factor(eps, "eps", g.grad.dtype)[0])
    unit = f("mul", centred, root)
    h = g.piece if w is None else f("mul", g.piece, w.piece)

    moved = f("sub", _times(root, piece), _times(root, mean))  # d r, scaled first

    def factored(_) -> Piece:
        return f("mul", root, f("sub", _apply("sub", h, f.mean(h, axes, n)), _times(unit, f.mean(_times(h, unit), axes, n))))

    def expanded(_) -> Piece:
        total, along = f.sum(h, axes), f.sum(_times(h, piece), axes)
        cube = f("mul", f("mul", root, root), root)
        q = f("div", f("mul", f("sub", _times(total, mean), along), cube), count)
        shift = f("sub", _apply("neg", _times(q, mean)), f("div", f("mul", total, root), count))
        return f("add", _apply("add", _times(root, h), _times(q, piece)), shift)

    g.append(a, factored, expanded, whole=True)
    g.append(w, lambda _: _times(g.piece, unit), lambda _: _times(g.piece, moved))
    g.append(b, lambda _: g.piece)
    return g.results()


def _rms_norm(x: object, grad: object, normalized_shape: int | Sequence[int], weight: object = None, eps: float | None = None) -> Results:
    """Gradients of er.rms_norm for x and weight: with r = 1 / sqrt(mean(x^2) + eps) and h = grad * weight,

    r * (h - x r * mean(h * x r)), or r h - x (sum(h x) r^3 / n); sum(grad * x r) over the copies of the weight.
    """
    a, w = _Operand(x, "x"), None if weight is None else _Operand(weight, "weight")
    g = _Gradients(grad, rms_norm(x, normalized_shape, weight, eps).shape, [a] + ([] if w is None else [w]))
    axes = _last_axes(a.shape, normalized_shape)
    n = _count(a.shape, axes)
    f, piece = _Formula(g.compute(a)), _erx.opaque(_number(a.piece))
    root = f.root_mean_square(piece, axes, n, _eps(eps, f, g.grad.dtype))
    unit = f("mul", piece, root)
    h = g.piece if w is None else f("mul", g.piece, w.piece)

    def factored(_) -> Piece:
        return f("mul", root, f("sub", h, _times(unit, f.mean(_times(h, unit), axes, n))))

    def expanded(_) -> Piece:
        cube = f("mul", f("mul", root, root), root)
        q = f("div", f("mul", f.sum(_times(h, piece), axes), cube), _erx.literal(str(n)))
        return f("sub", _times(root, h), _times(q, piece))

    g.append(a, factored, expanded, whole=True)
    g.append(w, lambda _: _times(g.piece, unit))
    return g.results()


where.backward, prod.backward = _where, _prod
max.backward, min.backward = _extremum(max), _extremum(min)
softmax.backward, log_softmax.backward, logsumexp.backward = _softmax, _log_softmax, _logsumexp
layer_norm.backward, rms_norm.backward = _layer_norm, _rms_norm
