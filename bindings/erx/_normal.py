"""Normalisations, in the formulas that kernels compute: softmax, log_softmax, logsumexp, layer_norm, rms_norm.

Every operation is `within` the compute format, a function within 2 ulp; the result is rounded once to the dtype of x (integers
give float32). A kernel with another formula (a running mean, for one) may leave the set; say so with a chain or a spec.
"""

from __future__ import annotations

from collections.abc import Sequence

from . import _erx
from ._dtypes import DType
from ._elementwise import _compute, _finished, _floating, _within
from ._functions import Axes, _axes, _factor, _number, _Operand
from ._reductions import _count
from ._result import Result


class _Formula:
    """Pieces at the precision of one compute format."""

    def __init__(self, compute: DType) -> None:
        self.compute = compute

    def __call__(self, op: str, *operands: _erx.Piece) -> _erx.Piece:
        return _within(op, self.compute, *operands)

    def sum(self, terms: _erx.Piece, axes: Sequence[int]) -> _erx.Piece:
        return _erx.within(_erx.reduce("sum", terms, list(axes), True), self.compute.kind, False)

    def mean(self, terms: _erx.Piece, axes: Sequence[int], count: int) -> _erx.Piece:
        return self("div", self.sum(terms, axes), _erx.literal(str(count)))

    def exponentials(self, x: _erx.Piece, axes: Sequence[int]) -> tuple[_erx.Piece, _erx.Piece]:
        """exp(x - max), and their sum."""
        e = self("exp", self("sub", x, _erx.reduce("max", x, list(axes), True)))
        return e, self.sum(e, axes)

    def softmax(self, x: _erx.Piece, axes: Sequence[int]) -> _erx.Piece:
        e, total = self.exponentials(x, axes)
        return _erx.any_of([self("div", e, total), self("mul", e, self("div", _erx.literal("1"), total))], "")

    def log_softmax(self, x: _erx.Piece, axes: Sequence[int]) -> _erx.Piece:
        largest = _erx.reduce("max", x, list(axes), True)
        total = self("log", self.sum(self("exp", self("sub", x, largest)), axes))
        return self("sub", _erx.apply("sub", [x, largest]), total)

    def logsumexp(self, x: _erx.Piece, axes: Sequence[int]) -> _erx.Piece:
        """A maximum that is infinite is not subtracted."""
        largest = _erx.reduce("max", x, list(axes), True)
        infinite = _erx.apply("eq", [_erx.apply("abs", [largest]), _erx.literal("inf")])
        shift = _erx.apply("where", [infinite, _erx.literal("0"), largest])
        return self("add", self("log", self.sum(self("exp", self("sub", x, shift)), axes)), shift)

    def centred(self, x: _erx.Piece, axes: Sequence[int], count: int, eps: _erx.Piece) -> tuple[_erx.Piece, _erx.Piece, _erx.Piece]:
        """x - mean, 1 / sqrt(mean of its squares + eps), and the mean."""
        mean = self.mean(x, axes, count)
        centred = self("sub", x, mean)
        variance = self.mean(_erx.apply("mul", [centred, centred]), axes, count)
        return centred, self.reciprocal_root(self("add", variance, eps)), mean

    def root_mean_square(self, x: _erx.Piece, axes: Sequence[int], count: int, eps: _erx.Piece) -> _erx.Piece:
        """1 / sqrt(mean of the squares + eps)."""
        return self.reciprocal_root(self("add", self.mean(_erx.apply("mul", [x, x]), axes, count), eps))

    def reciprocal_root(self, x: _erx.Piece) -> _erx.Piece:
        """As one function, or as a square root and a division."""
        return _erx.any_of([self("rsqrt", x), self("div", _erx.literal("1"), self("sqrt", x))], "")


def _prepared(x: object, dtype: object) -> tuple[_erx.Piece, DType, _Formula, tuple[int, ...]]:
    a = _Operand(x, "x")
    stored = _floating([a], dtype)
    if stored.is_complex:
        raise _erx.SpecError("a normalisation takes real numbers")
    return _erx.opaque(_number(a.piece)), stored, _Formula(_compute(stored, [a])), a.shape


def softmax(x: object, axis: int, *, dtype: object = None) -> Result:
    """exp(x - max) / sum(exp(x - max)) along the axis: divided, or multiplied by the reciprocal of the sum. Shape of x.

    errors: ValueError for a wrong axis. source: PyTorch softmax, whose CPU kernels take the reciprocal.
    """
    piece, stored, f, shape = _prepared(x, dtype)
    axes = _axes(axis, len(shape))
    return _finished(f.softmax(piece, axes), stored)


def log_softmax(x: object, axis: int, *, dtype: object = None) -> Result:
    """x - max - log(sum(exp(x - max))) along the axis, the subtractions in either order. Shape of x.

    errors: ValueError for a wrong axis. source: PyTorch log_softmax.
    """
    piece, stored, f, shape = _prepared(x, dtype)
    axes = _axes(axis, len(shape))
    return _finished(f.log_softmax(piece, axes), stored)


def logsumexp(x: object, axis: Axes, *, keepdims: bool = False, dtype: object = None) -> Result:
    """log(sum(exp(x - max))) + max over the axes; a maximum that is infinite is not subtracted.

    errors: ValueError for a wrong axis and for no elements. source: PyTorch logsumexp.
    """
    piece, stored, f, shape = _prepared(x, dtype)
    axes = _axes(axis, len(shape))
    if _count(shape, axes) == 0:
        raise ValueError("er.logsumexp of no elements has no maximum to subtract")
    result = f.logsumexp(piece, axes)
    if not keepdims:
        result = _erx.reshape(result, [n for a, n in enumerate(shape) if a not in axes])
    return _finished(result, stored)


def _last_axes(shape: tuple[int, ...], normalized_shape: int | Sequence[int]) -> list[int]:
    wanted = tuple(normalized_shape) if isinstance(normalized_shape, Sequence) else (normalized_shape,)
    if not wanted or len(wanted) > len(shape) or tuple(shape[len(shape) - len(wanted):]) != wanted:
        raise ValueError(f"the last dimensions of {list(shape)} are not {list(wanted)}")
    return list(range(len(shape) - len(wanted), len(shape)))


def layer_norm(x: object, normalized_shape: int | Sequence[int], weight: object = None, bias: object = None, eps: float = 1e-5, *,
               dtype: object = None) -> Result:
    """(x - mean) / sqrt(mean((x - mean)^2) + eps) * weight + bias over the last dimensions. Shape of x. `eps` is exact.

    errors: ValueError for a normalized_shape that is not the end of the shape, SpecError for weights that do not broadcast.
    source: Ba, Kiros, Hinton, Layer normalization, 2016; PyTorch layer_norm.
    """
    piece, stored, f, shape = _prepared(x, dtype)
    axes = _last_axes(shape, normalized_shape)
    centred, scale, _ = f.centred(piece, axes, _count(shape, axes), _factor(eps, "eps", stored)[0])
    return _finished(_scaled(f, f("mul", centred, scale), weight, bias, shape), stored)


def rms_norm(x: object, normalized_shape: int | Sequence[int], weight: object = None, eps: float | None = None, *,
             dtype: object = None) -> Result:
    """x / sqrt(mean(x^2) + eps) * weight over the last dimensions. Shape of x. Without `eps` it is 2^(1-p) for
    the precision p of the compute format.

    errors: as in er.layer_norm. source: Zhang and Sennrich, Root mean square layer normalization, 2019; PyTorch rms_norm.
    """
    piece, stored, f, shape = _prepared(x, dtype)
    axes = _last_axes(shape, normalized_shape)
    scale = f.root_mean_square(piece, axes, _count(shape, axes), _eps(eps, f, stored))
    return _finished(_scaled(f, f("mul", piece, scale), weight, None, shape), stored)


def _eps(eps: float | None, f: _Formula, stored: DType) -> _erx.Piece:
    return _factor(2.0 ** (1 - f.compute.precision) if eps is None else eps, "eps", stored)[0]


def _scaled(f: _Formula, y: _erx.Piece, weight: object, bias: object, shape: tuple[int, ...]) -> _erx.Piece:
    given = [None if w is None else _Operand(w, name).piece for w, name in ((weight, "weight"), (bias, "bias"))]
    product = y if given[0] is None else _erx.apply("mul", [y, given[0]])
    if given[1] is not None:
        product = _erx.apply("add", [product, given[1]])  # fused or not
    result = product if product is y else _erx.within(product, f.compute.kind, False)
    if result.shape != shape:
        raise _erx.SpecError(f"weight and bias do not broadcast to the shape {list(shape)}")
    return result
