"""More functions of single elements: subtract, divide, negative, where, exp, log; the default tolerance is that of er.add.

Shapes broadcast as in NumPy; formats are promoted as in PyTorch. Where a fraction has to come out, integers are rounded once to
float32, PyTorch's default format.
"""

from __future__ import annotations

from collections.abc import Sequence

from . import _complex, _erx
from ._dtypes import DType, compute_type
from ._functions import _common, _converted, _is_rounded, _number, _Operand, _rounded, _stored, _tensor, _whole, add, multiply
from ._result import Result


def _within(op: str, compute: DType, *operands: _erx.Piece) -> _erx.Piece:
    """One operation at the precision of `compute` or better; a function within 2 ulp."""
    return _erx.within(_erx.apply(op, list(operands)), compute.kind, False)


def _finished(piece: _erx.Piece, stored: DType) -> Result:
    return Result(_erx.Group([_rounded(piece, stored)], True), 0)


def _as_is(piece: _erx.Piece) -> Result:
    """A value that needs no rounding."""
    return Result(_erx.Group([piece], True), 0)


def _floating(operands: Sequence[_Operand], dtype: object) -> DType:
    """The promoted type with a fraction: of integers and booleans float32."""
    stored = _common(operands, dtype)
    if stored.category >= 2:
        return stored
    if dtype is not None:
        raise _erx.SpecError(f"a result with a fraction cannot be stored as {stored}")
    single = DType("float32")
    for o in operands:
        if not o.is_scalar:
            o.cast(single)
    return single


def _compute(stored: DType, operands: Sequence[_Operand]) -> DType:
    return compute_type(stored, [o.dtype for o in operands if not o.is_scalar])


def subtract(x: object, y: object, *, alpha: object = 1, dtype: object = None) -> Result:
    """x - alpha * y, rounded once; shapes broadcast. `alpha` is taken exactly; 0 makes the product absent.

    errors: TypeError for booleans, SpecError for shapes that do not broadcast and formats without a common one.
    source: IEEE 754-2019, 5.4.1; PyTorch's promotion.
    """
    if isinstance(alpha, (Result, bool)):
        raise TypeError("alpha has to be a number")
    _tensor(alpha, "alpha")
    return add(x, y, alpha=-alpha, dtype=dtype)


def divide(x: object, y: object, *, dtype: object = None) -> Result:
    """x / y, rounded once; shapes broadcast; integers give float32. A kernel that multiplies by a reciprocal is a chain:
    er.multiply(x, er.divide(1, y)). A complex quotient is the textbook's formula, Smith's or the scaled one, each operation
    within the compute format.

    errors: SpecError for shapes that do not broadcast. source: IEEE 754-2019, 5.4.1; Smith, CACM 5 (1962) 435.
    """
    a, b = _Operand(x, "x"), _Operand(y, "y")
    points = {id(o): o.piece for o in (a, b) if not o.is_scalar and not o.is_real and o.shape == () and o.dtype.is_floating}
    stored = _floating([a, b], dtype)
    if stored.is_complex:
        return _finished(_complex.quotient(_number(a.piece), _number(b.piece), _compute(stored, [a, b])), stored)
    # A quotient is innocuous to round twice only where nothing is rounded in between.
    compute = _compute(stored, [a, b])
    quotient = _stored(_erx.apply("div", [a.piece, b.piece]), stored, [a, b], compute == stored)
    if any(_is_rounded(v, compute) for v in (x, y)):  # PyTorch uses a Python scalar in the compute format
        (first, left), (second, right) = _converted(x, "x", compute), _converted(y, "y", compute)
        tail = f", dtype={str(stored)!r})" if dtype is not None else ")"
        quotient._others = [(f"er.divide({left}, {right}{tail}", lambda: divide(first, second, dtype=dtype))]
    if a.is_scalar and not b.is_scalar:  # PyTorch multiplies by the stored reciprocal
        numerator, written = _converted(x, "x", compute)
        tail = f", dtype={str(stored)!r})" if dtype is not None else ")"
        quotient._others = [*quotient._others, (f"er.multiply(er.divide(1, y), {written}{tail}", lambda: multiply(divide(1, y), numerator, dtype=dtype))]
    kept = [points.get(id(o), o.piece) for o in (a, b)]
    if kept == [a.piece, b.piece]:
        return quotient
    wide = _stored(_erx.apply("div", kept), stored, [a, b], False)
    return _as_is(_erx.any_of([quotient._piece, wide._piece], ""))


def negative(x: object, *, dtype: object = None) -> Result:
    """-x, exactly (the sign of a zero and of an infinity too), in the dtype of x.

    errors: TypeError for booleans. source: IEEE 754-2019, 5.5.1.
    """
    a = _Operand(x, "x")
    if a.dtype.kind == "bool":
        raise TypeError("booleans have no negative: use er.array(mask, dtype=...) for numbers")
    stored = _common([a], dtype)
    piece = _erx.apply("neg", [a.piece])
    return _as_is(piece) if stored.category < 2 or stored.kind == piece.type else _finished(piece, stored)


def where(condition: object, x: object, y: object, *, dtype: object = None) -> Result:
    """x where the condition holds, else y; the branch that is not taken is not read. All three broadcast; formats are promoted.

    errors: TypeError for a condition that is not boolean. source: NumPy where.
    """
    c = _Operand(condition, "condition")
    if c.dtype.kind != "bool":
        raise TypeError("the condition has to be boolean")
    a, b = _Operand(x, "x"), _Operand(y, "y")
    stored = _common([a, b], dtype)
    pieces = [{0: lambda p: p, 1: _whole}.get(stored.category, _number)(o.piece) for o in (a, b)]
    piece = _erx.apply("where", [c.piece, *pieces])
    return _as_is(piece) if stored.category < 2 or stored.kind == piece.type else _finished(piece, stored)


def exp(x: object, *, dtype: object = None) -> Result:
    """e to the x: within 2 ulp of the compute format, then one rounding. Integers give float32. Of a + bi the parts are
    exp(a) cos(b) and exp(a) sin(b), each operation within the compute format.

    source: IEEE 754-2019, 9.2; 2 ulp is the default tolerance of functions.
    """
    return _function("exp", x, dtype)


def log(x: object, *, dtype: object = None) -> Result:
    """The natural logarithm: within 2 ulp of the compute format, then one rounding; -inf at 0, NaN below. Integers give float32.

    errors: SpecError for complex x. source: IEEE 754-2019, 9.2; 2 ulp is the default tolerance of functions.
    """
    return _function("log", x, dtype)


def _function(op: str, x: object, dtype: object) -> Result:
    a = _Operand(x, "x")
    stored = _floating([a], dtype)
    if stored.is_complex and op == "exp":
        return _finished(_complex.exponential(_number(a.piece), _compute(stored, [a])), stored)
    return _finished(_within(op, _compute(stored, [a]), _number(a.piece)), stored)
