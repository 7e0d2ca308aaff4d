"""Reductions beside er.sum: mean, cumsum, prod, max, min.

`axis` is a number, several, or None for all; the result keeps the reduced axes with `keepdims`.
"""

from __future__ import annotations

import operator
from collections.abc import Sequence

import numpy as np

from . import _complex, _erx
from ._dtypes import DType
from ._elementwise import _as_is, _compute, _finished, _within
from ._arrays import tensor_of
from ._functions import Axes, _axes, _common, _number, _Operand, _rounded, _stored, _whole
from ._result import Result

def _count(shape: tuple[int, ...], axes: Sequence[int]) -> int:
    return int(np.prod([shape[a] for a in axes], dtype=np.int64))


def mean(x: object, axis: Axes = None, *, keepdims: bool = False, dtype: object = None) -> Result:
    """The sum in any order, divided by the number of elements, both in the compute format; rounded once. Of nothing NaN.

    errors: TypeError for integers and booleans without dtype=, as in PyTorch.
    source: NumPy mean.
    """
    a = _Operand(x, "x")
    stored = _common([a], dtype)
    if stored.category < 2:
        raise TypeError('er.mean takes numbers with a fraction: convert integers first, as in er.multiply(x, 1, dtype="float32")')
    axes = _axes(axis, len(a.shape))
    total = _erx.reduce("sum", _erx.opaque(_number(a.piece)), axes, keepdims)
    total = _erx.within(total, _compute(stored, [a]).kind, False)
    return _stored(_erx.apply("div", [total, _erx.literal(str(_count(a.shape, axes)))]), stored, [a], False)


def cumsum(x: object, axis: int, *, dtype: object = None) -> Result:
    """Element i is the sum of those up to i along the axis, each in any order, rounded once. Integers and booleans give int64.

    errors: ValueError for a wrong axis. source: NumPy cumsum.
    """
    a = _Operand(x, "x")
    stored = _common([a], dtype)
    axes = _axes(operator.index(axis), len(a.shape))
    if not axes:
        return _finished(_once(a.piece, _compute(stored, [a])), stored) if stored.category >= 2 else _as_is(_whole(a.piece))
    if stored.is_complex:  # of each part
        compute = _compute(stored, [a]).kind
        return _finished(_complex.together(tuple(_erx.within(_erx.reduce("cumsum", part, axes, False), compute, False)
                                                 for part in _complex.parts(_erx.opaque(a.piece)))), stored)
    running = _erx.reduce("cumsum", _erx.opaque(_whole(a.piece)), axes, False)
    return _as_is(running) if stored.category < 2 else _stored(running, stored, [a], False)


def _once(piece: _erx.Piece, compute: DType) -> _erx.Piece:
    """The value itself: an operation that rounds nothing, unless a compute format is asked for."""
    return _erx.within(_erx.apply("mul", [piece, _erx.literal("1")]), compute.kind, True)


def prod(x: object, axis: Axes = None, *, keepdims: bool = False, dtype: object = None) -> Result:
    """The product of n elements in any order, rounded once: p (1 + d)^(n-1) with |d| <= u of the compute format. Where some order leaves
    the range of the format on its way, also the infinity or NaN that this gives, and n - 1 errors of half the smallest value, each
    times at most the product of the factors above 1. Of nothing 1. Integers and booleans give int64.

    A complex product has (1 + u)^m - 1 of its absolute value as the error of each part, m = 9 (n - 1) / 4 rounded up.

    errors: SpecError for an x of more than two factors that is not data, and for complex products that may leave the range or have a
    factor that is not finite: there no order is like another, so write it as a chain of er.multiply.
    source: Higham, Accuracy and Stability of Numerical Algorithms, 2002, 3.1.
    """
    a = _Operand(x, "x")
    stored = _common([a], dtype)
    axes = _axes(axis, len(a.shape))
    if stored.category < 2:
        return _as_is(_erx.reduce("prod", _whole(a.piece), axes, keepdims))
    compute = _compute(stored, [a])
    n = _count(a.shape, axes)
    reach = _Reach(x, a, axes, keepdims, _narrower(compute, stored)) if n > 2 or stored.is_complex and n > 1 else None
    if stored.is_complex:
        if reach is not None:
            reach.require("er.prod of complex numbers")
        return _finished(_complex.product(a.piece, axes, keepdims, compute) if n else _complex.together(
            (_erx.reduce("prod", _complex.parts(a.piece)[0], axes, keepdims), _erx.literal("0"))), stored)

    def in_any_order(p: _erx.Piece) -> _erx.Piece:
        for _ in range(n - 1):
            p = _erx.within(_erx.apply("mul", [p, _erx.literal("1")]), compute.kind, False)
        return p if n > 1 else _once(p, compute)

    exact = _erx.reduce("prod", a.piece, axes, keepdims)
    if reach is None or not reach.leaves:
        return _finished(in_any_order(exact), stored)
    scale = _erx.input("scale", tensor_of(reach.scale), False)  # a power of two, so p is a value if p / scale is one
    errs = _erx.apply("mul", [scale, in_any_order(_erx.apply("div", [exact, scale]))])
    large = _erx.apply("gt", [_erx.apply("abs", [a.piece]), _erx.literal("1")])
    one = _erx.literal("1")
    parts = [_erx.reduce("prod", _erx.apply("where", [large, *p]), axes, keepdims) for p in ((a.piece, one), (one, a.piece))]
    early = _erx.apply("mul", [in_any_order(p) for p in parts])  # the large ones overflow, or the small ones are lost, on the way
    return _as_is(_erx.any_of([_rounded(errs, stored), _rounded(early, stored)], ""))


def _narrower(a: DType, b: DType) -> DType:
    a, b = a.part, b.part
    return a if _erx.min_positive(a.kind) * 2.0 ** a.precision > _erx.min_positive(b.kind) * 2.0 ** b.precision else b


class _Reach:
    """How far the products of some of the factors may go: `leaves` the range of a format, `scale`, a power of two that none exceeds."""

    def __init__(self, x: object, a: _Operand, axes: Sequence[int], keepdims: bool, narrow: DType, more: object = None) -> None:
        """`more`: one factor more for each product."""
        self.strict = a.dtype.is_complex or more is not None  # NaN is as an infinity: where it goes depends on the order
        logs = self._logs(x, a, axes, keepdims)
        if more is not None:
            logs = [p + q.reshape(p.shape) for p, q in zip(logs, self._logs(more, _Operand(more, "grad"), (), True))]
        above, below = logs
        lowest = np.log2(_erx.min_positive(narrow.kind)) + narrow.precision - 1
        n = _count(a.shape, axes) + (more is not None)
        # Formats have as many large binades as small ones; n roundings may add up to 1.45 n u binades, complex ones 3.3 n u. The parts of a
        # complex product may be p binades smaller than it is.
        is_complex = a.dtype.is_complex
        room = -lowest - 2 - (3.5 if is_complex else 1.5) * n * 2.0 ** -narrow.precision - is_complex * (narrow.precision + 2)
        self.narrow, self.finite = narrow, bool(np.isfinite(above).all())
        self.leaves = bool((above > room).any() or (below > room).any())
        self.scale = np.exp2(np.ceil(np.where(np.isfinite(above) & (below > room), above, 0.0) + 2.0 ** -20))
        if self.leaves and not np.isfinite(self.scale).all():
            self.require("er.prod")

    def _logs(self, x: object, a: _Operand, axes: Sequence[int], keepdims: bool) -> list[np.ndarray]:
        """The base 2 logarithms of the products of the factors above and below 1 (infinite for an infinite one, zeros left out)."""
        result = x if isinstance(x, Result) else Result(_erx.Group([a.piece], True), 0)
        if result._piece.tensor is None:
            raise _erx.SpecError("er.prod of more than two factors takes data, not an earlier result: write it as a chain of er.multiply")
        values = np.abs(result.lo.astype(np.complex128 if a.dtype.is_complex else np.float64))
        with np.errstate(divide="ignore"):
            exponents = np.where(values > 0, np.log2(values), 0.0)
        exponents = np.where(np.isnan(values), np.inf if self.strict else 0.0, exponents)
        return [part.sum(axis=tuple(axes), keepdims=keepdims) for part in (np.maximum(exponents, 0), np.maximum(-exponents, 0))]

    def require(self, what: str) -> None:
        if self.leaves or not self.finite:
            raise _erx.SpecError(f"{what}: a factor is not finite, or in some orders the partial products leave the range of {self.narrow}, so the "
                                 "result depends on the order: write it as a chain of er.multiply")


def max(x: object, axis: Axes = None, *, keepdims: bool = False) -> Result:
    """The largest element, exactly, in the dtype of x; NaN if any is.

    errors: ValueError for a maximum of nothing, SpecError for complex x. source: IEEE 754-2019, 9.6 (maximum).
    """
    return _extremum("max", x, axis, keepdims)


def min(x: object, axis: Axes = None, *, keepdims: bool = False) -> Result:  # noqa: A001
    """The least element, exactly, in the dtype of x; NaN if any is.

    errors: ValueError for a minimum of nothing, SpecError for complex x. source: IEEE 754-2019, 9.6 (minimum).
    """
    return _extremum("min", x, axis, keepdims)


def _extremum(op: str, x: object, axis: Axes, keepdims: bool) -> Result:
    a = _Operand(x, "x")
    stored = _common([a], None)
    axes = _axes(axis, len(a.shape))
    if _count(a.shape, axes) == 0:
        raise ValueError(f"er.{op} of no elements has no value")
    piece = _erx.reduce(op, a.piece, axes, keepdims)
    return _as_is(piece) if stored.category < 2 or stored.kind == piece.type else _finished(piece, stored)
