"""Reductions beside er.sum: mean, cumsum, prod, max, min.

`axis` is a number, several, or None for all; the result keeps the reduced axes with `keepdims`.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from . import _erx
from ._dtypes import DType
from ._elementwise import _as_is, _compute, _finished, _within
from ._functions import _common, _number, _Operand, _stored
from ._result import Result, _axis

Axes = int | Sequence[int] | None


def _axes(axis: Axes, ndim: int) -> list[int]:
    if axis is None:
        return list(range(ndim))
    axes = [_axis(a, ndim) for a in (axis if isinstance(axis, Sequence) else [axis])]
    if len(set(axes)) != len(axes):
        raise ValueError("an axis is given twice")
    return sorted(axes)


def _whole(piece: _erx.Piece) -> _erx.Piece:
    """Booleans as the integers 1 and 0: each is the sum of itself."""
    return _erx.reduce("sum", piece, [], False) if piece.type == "bool" else piece


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
    if not a.shape:
        raise ValueError("er.cumsum needs a dimension")
    running = _erx.reduce("cumsum", _erx.opaque(_whole(a.piece)), [_axis(axis, len(a.shape))], False)
    return _as_is(running) if stored.category < 2 else _stored(running, stored, [a], False)


def prod(x: object, axis: Axes = None, *, keepdims: bool = False, dtype: object = None) -> Result:
    """The product of n elements in any order: p (1 + d)^(n-1) with |d| <= u of the compute format, rounded once. Of nothing 1.
    Integers and booleans give int64.

    errors: SpecError for complex x, for an x that is not data, and where the partial products of some order may leave the normal
    range of the compute format or of the dtype: there no order is like another, so write it as a chain of er.multiply.
    source: Higham, Accuracy and Stability of Numerical Algorithms, 2002, 3.1.
    """
    a = _Operand(x, "x")
    stored = _common([a], dtype)
    axes = _axes(axis, len(a.shape))
    exact = _erx.reduce("prod", _whole(a.piece), axes, keepdims)
    if stored.category < 2:
        return _as_is(exact)
    if stored.is_complex:
        raise _erx.SpecError("er.prod takes real numbers: write a complex product as a chain of er.multiply")
    compute = _compute(stored, [a])
    n = _count(a.shape, axes)
    if n > 2:
        _require_range(x, a, axes, _narrower(compute, stored))
    for _ in range(n - 1):
        exact = _erx.within(_erx.apply("mul", [exact, _erx.literal("1")]), compute.kind, False)
    return _finished(exact, stored)


def _narrower(a: DType, b: DType) -> DType:
    return a if _erx.min_positive(a.kind) * 2.0 ** a.precision > _erx.min_positive(b.kind) * 2.0 ** b.precision else b


def _require_range(x: object, a: _Operand, axes: Sequence[int], narrow: DType) -> None:
    """No subset of the factors has a product near the ends of the format's normal range."""
    result = x if isinstance(x, Result) else Result(_erx.Group([a.piece], True), 0)
    if result._piece.tensor is None:
        raise _erx.SpecError("er.prod of more than two factors takes data, not an earlier result: write it as a chain of er.multiply")
    values = np.abs(result.lo.astype(np.float64))
    ordinary = np.isfinite(values) & (values > 0)
    exponents = np.log2(np.where(ordinary, values, 1.0))
    lowest = np.log2(_erx.min_positive(narrow.kind)) + narrow.precision - 1
    # Formats have as many large binades as small ones; n roundings may add up to 1.45 n u binades.
    room = -lowest - 2 - 1.5 * _count(a.shape, axes) * 2.0 ** -narrow.precision
    for part in (np.maximum(exponents, 0), np.maximum(-exponents, 0)):
        if part.size and part.sum(axis=tuple(axes)).max(initial=0) > room:
            raise _erx.SpecError(f"in some orders the partial products leave the range of {narrow}: write the order as a chain of "
                                 "er.multiply")


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
