"""Mathematical functions with the default tolerance, stored once in their dtype.

The tolerance is `within` the format that the operation computes in (float32 for narrower formats): any order of a sum, fused or
not; the result is then rounded once to its dtype. Where one operation on values of the dtype is computed in that dtype, or in at
least twice its precision and two bits more, rounding twice gives what rounding once gives, so exactly one value is allowed.
"""

from __future__ import annotations

from collections.abc import Sequence

from . import _erx
from ._arrays import tensor_of
from ._dtypes import DType, compute_type, promoted, rounds_alike
from ._result import Result, Scalar, _axis, operand


Axes = int | Sequence[int] | None


def _axes(axis: Axes, ndim: int) -> list[int]:
    if axis is None:
        return list(range(ndim))
    given = list(axis) if isinstance(axis, Sequence) else [axis]
    if ndim == 0 and len(given) == 1 and given[0] in (0, -1):
        return []  # as in NumPy and PyTorch: a number is its own only row
    axes = [_axis(a, ndim) for a in given]
    if len(set(axes)) != len(axes):
        raise ValueError("an axis is given twice")
    return sorted(axes)


class _Operand:
    """An operand of a function: a piece and what it counts for in the promotion."""

    def __init__(self, x: object, name: str) -> None:
        self.tensor = None if isinstance(x, Result) else _tensor(x, name)
        self.value = x if isinstance(x, Scalar) else None
        self.is_scalar = self.value is not None
        self.piece = operand(x, name)
        self.shape = self.piece.shape
        self.dtype = DType(self.piece.type)
        if self.is_scalar:
            self.dtype = DType("bool" if isinstance(x, bool) else "int" if isinstance(x, int) else "complex" if isinstance(x, complex)
                               else "real")

    @property
    def is_real(self) -> bool:
        return self.dtype.is_exact

    def fits(self, stored: DType) -> bool:
        """Are its elements values of `stored`?"""
        if not self.is_scalar:
            return not self.is_real and stored.holds(self.dtype)
        return _erx.fits(self.tensor, stored.kind)

    def cast(self, stored: DType) -> None:
        """As PyTorch casts: a wider 0-d operand or an integer is rounded once to the common type."""
        if self.is_scalar or self.is_real or not stored.is_floating or stored.holds(self.dtype):
            return
        if self.dtype.is_floating and self.shape != ():
            return  # dtype= narrower than the operands: only the result is rounded
        self.piece = _erx.round(_number(self.piece), stored.part.kind, "rne", "", False)
        self.dtype = stored.part

    def as_complex(self) -> None:
        """As PyTorch promotes: a real operand of a complex operation has 0 for its imaginary part, which multiplies too."""
        self.piece = _complex(_number(self.piece))

    def as_whole(self) -> None:
        """A literal takes its type from the other operand; where that is a number too, it is an integer."""
        self.piece = _erx.input("n", self.tensor, False)


def _tensor(x: object, name: str) -> _erx.Tensor:
    try:
        return tensor_of(x)
    except TypeError as error:
        raise TypeError(f"{name}: {error}") from None


def _number(piece: _erx.Piece) -> _erx.Piece:
    """Booleans as 1 and 0."""
    if piece.type != "bool":
        return piece
    return _erx.apply("where", [piece, _erx.literal("1"), _erx.literal("0")])


def _whole(piece: _erx.Piece) -> _erx.Piece:
    """Booleans as the integers 1 and 0: each is the sum of itself."""
    return _erx.reduce("sum", piece, [], False) if piece.type == "bool" else piece


def _complex(piece: _erx.Piece) -> _erx.Piece:
    return piece if piece.type.startswith("complex") else _erx.apply("complex", [piece, _erx.literal("0")])


def _common(operands: Sequence[_Operand], dtype: object) -> DType:
    """The type of the result; operands are cast to the promoted type as PyTorch does."""
    arrays = [o.dtype for o in operands if not o.is_scalar and o.shape != () and not o.is_real]
    points = [o.dtype for o in operands if not o.is_scalar and o.shape == () and not o.is_real]
    scalars = [o.dtype.category for o in operands if o.is_scalar]
    shared = None
    if arrays or points or not any(o.is_real and not o.is_scalar for o in operands):
        try:
            shared = promoted(arrays, points, scalars)
        except _erx.SpecError:
            if dtype is None:
                raise
    if shared is None:
        if dtype is None:
            raise _erx.SpecError("the operands are exact results without a dtype: give dtype=, or store them with er.round")
        return DType(dtype)
    for o in operands:
        o.cast(shared)
        if shared.is_complex:
            o.as_complex()
    stored = shared if dtype is None else DType(dtype)
    if stored.category < 2 and all(o.is_scalar for o in operands):
        for o in operands:
            o.as_whole()
    return stored


def _stored(operation: _erx.Piece, stored: DType, operands: Sequence[_Operand], single: bool, same: _Operand | None = None) -> Result:
    """`operation` within its compute format, rounded once. `single`: it is one operation, so that double rounding can be innocuous;
    `same`: its value is that of this operand, up to the sign."""
    if stored.category < 2:
        if operation.type != "int":
            raise _erx.SpecError(f"a result with a fraction cannot be stored as {stored}")
        return Result(_erx.Group([operation], True), 0)
    if not stored.is_floating:
        raise _erx.SpecError(f"a result cannot be stored as {stored}")
    if operation.type.startswith("complex") and not stored.is_complex:
        raise _erx.SpecError(f"a complex result cannot be stored as {stored}")
    compute = compute_type(stored, [o.dtype for o in operands if not o.is_scalar])
    innocuous = single and rounds_alike(stored, compute) and all(o.fits(stored) for o in operands)
    innocuous = innocuous or (same is not None and same.fits(compute))
    piece = _erx.within(operation, compute.kind, innocuous)
    return Result(_erx.Group([_rounded(piece, stored)], True), 0)


def _rounded(piece: _erx.Piece, stored: DType, mode: str = "rne", overflow: str = "", flush: bool = False) -> _erx.Piece:
    """One rounding of each part."""
    return _erx.round(_complex(piece) if stored.is_complex else piece, stored.part.kind, mode, overflow, flush)


def _factor(value: object, name: str, stored: DType) -> tuple[_erx.Piece, complex]:
    """An exact scalar that makes its product absent where it is 0, and its value."""
    if isinstance(value, Result):
        if value.shape != ():
            raise TypeError(f"{name} has to be a number")
        return value._piece, float("nan")
    tensor = _tensor(value, name)
    if tensor.shape != ():
        raise TypeError(f"{name} has to be a number")
    if tensor.type.startswith("complex") and not stored.is_complex:
        raise TypeError(f"{name} is complex, and the operands are not")
    whole = stored.category < 2 and tensor.type != "real"
    return _erx.input(name, tensor if whole else _erx.as_real(tensor), True), _erx.nearest(tensor)


def _is_rounded(x: object, stored: DType) -> bool:
    """A Python scalar that is no value of the type; exact here, rounded first by PyTorch."""
    return (isinstance(x, Scalar) and not isinstance(x, (bool, complex)) and stored.is_floating and not stored.is_complex
            and not _erx.fits(tensor_of(x), stored.kind))


def _converted(x: object, name: str, stored: DType) -> tuple[object, str]:
    """An operand as PyTorch uses it, and how that is written."""
    if not isinstance(x, Scalar):
        return x, name
    if not _is_rounded(x, stored):
        return x, repr(x)
    return array(x, stored), f"er.array({x!r}, dtype={str(stored)!r})"


def array(data: object, dtype: object = None) -> Result:
    """Stored values without another library. Numbers that `dtype` does not hold are rounded to it once, to nearest even."""
    if isinstance(data, Result):
        if data._piece.tensor is None:
            raise TypeError("er.array takes data; use er.round for a result")
        tensor = data._piece.tensor
    else:
        tensor = tensor_of(data, None if dtype is None else DType(dtype).kind)
    if dtype is None:
        if tensor.type in ("real", "complex"):
            tensor = _erx.checked(tensor, "f64" if tensor.type == "real" else "complex128")
    else:
        wanted = DType(dtype)
        rounds = wanted.is_floating and tensor.type != wanted.kind
        tensor = (_erx.stored if rounds else _erx.checked)(tensor, wanted.kind)
    return Result(_erx.Group([_erx.input("x", tensor, False)], True), 0)


def add(x: object, y: object, *, alpha: object = 1, dtype: object = None) -> Result:
    """x + alpha * y, rounded once. `alpha` is taken exactly; 0 makes the product absent. Of two booleans `or`, as in NumPy.

    errors: SpecError for shapes that do not broadcast and formats without a common one, TypeError for booleans with alpha.
    source: IEEE 754-2019, 5.4.1; PyTorch's promotion.
    """
    a, b = _Operand(x, "x"), _Operand(y, "y")
    stored = _common([a, b], dtype)
    factor, value = _factor(alpha, "alpha", stored)
    if stored.category == 0:
        if value != 1:
            raise TypeError("booleans are added without alpha, as `or`; use er.array(mask, dtype=...) for numbers")
        return Result(_erx.Group([_erx.apply("or", [a.piece, b.piece])], True), 0)
    if value == 1 or value == -1:
        total = _stored(_erx.apply("add" if value == 1 else "sub", [a.piece, b.piece]), stored, [a, b], True)
    else:
        total = _stored(_erx.apply("add", [a.piece, _erx.apply("mul", [factor, b.piece])]), stored, [a, b], False)
    if any(_is_rounded(s, stored) for s in (x, y, alpha)):
        given, texts = zip(*(_converted(s, n, stored) for s, n in ((x, "x"), (y, "y"), (alpha, "alpha"))))
        first, second, scale = given
        tail = f", dtype={str(stored)!r})" if dtype is not None else ")"
        plain = f"er.add({texts[0]}, {texts[1]}" + (f", alpha={texts[2]}" if value != 1 else "") + tail
        total._others = [(plain, lambda: add(first, second, alpha=scale, dtype=dtype))]
        if value not in (1, -1) and not isinstance(y, Scalar):
            chain = f"er.add({texts[0]}, er.multiply({texts[1]}, {texts[2]}){tail}"
            total._others += [(chain, lambda: add(first, multiply(second, scale), dtype=dtype)),
                              (f"er.any_of({plain}, {chain})",
                               lambda: any_of(add(first, second, alpha=scale, dtype=dtype), add(first, multiply(second, scale), dtype=dtype)))]
    return total


def multiply(x: object, y: object, *, dtype: object = None) -> Result:
    """x * y, rounded once. A 0-d operand in a wider format may be rounded to the common one first, or not: PyTorch's CPU kernels
    multiply bfloat16 and float16 tensors by it in float32. Of two booleans `and`, as in NumPy.

    errors: SpecError for shapes that do not broadcast and formats without a common one. source: IEEE 754-2019, 5.4.1.
    """
    a, b = _Operand(x, "x"), _Operand(y, "y")
    exact = [a.piece, b.piece]
    points = [o for o in (a, b) if not o.is_scalar and not o.is_real and o.shape == () and o.dtype.is_floating]
    stored = _common([a, b], dtype)
    if stored.category == 0:
        return Result(_erx.Group([_erx.apply("and", [a.piece, b.piece])], True), 0)
    same = a if b.value in (1, -1) else b if a.value in (1, -1) else None
    product = _stored(_erx.apply("mul", [a.piece, b.piece]), stored, [a, b], not stored.is_complex, None if stored.is_complex else same)
    if any(_is_rounded(s, stored) for s in (x, y)):
        wide = compute_type(stored, [o.dtype for o in (a, b) if not o.is_scalar])
        (first, left), (second, right) = _converted(x, "x", wide), _converted(y, "y", wide)
        tail = f", dtype={str(stored)!r})" if dtype is not None else ")"
        product._others = [(f"er.multiply({left}, {right}{tail}", lambda: multiply(first, second, dtype=dtype))]
    if stored.is_complex or all(o.piece is piece for o, piece in zip((a, b), exact) if o in points):
        return product
    kept = [piece if o in points else o.piece for o, piece in zip((a, b), exact)]
    return any_of(product, _stored(_erx.apply("mul", kept), stored, [a, b], False))


def sum(x: object, axis: Axes = None, *, keepdims: bool = False, dtype: object = None) -> Result:
    """The sum over `axis` (all of them if None), in any order, rounded once. Integers and booleans give int64."""
    a = _Operand(x, "x")
    stored = _common([a], dtype)
    if stored.category == 0:
        stored = DType("int64")
    unique = _axes(axis, len(a.shape))
    total = _erx.reduce("sum", _erx.opaque(a.piece), unique, keepdims)
    return _stored(total, stored, [a], False)


def matmul(A: object, B: object, *, dtype: object = None) -> Result:
    """A @ B with NumPy's batching and 1-D promotion, summed in any order, rounded once."""
    a, b = _Operand(A, "A"), _Operand(B, "B")
    stored = _common([a, b], dtype)
    return _stored(_erx.apply("matmul", [_erx.opaque(a.piece), _erx.opaque(b.piece)]), stored, [a, b], False)


def gemm(A: object, B: object, C: object = None, *, alpha: object = 1, beta: object = 1, reduce_batch: bool = False,
         dtype: object = None) -> Result:
    """alpha * (A @ B) + beta * C, rounded once; `alpha` and `beta` are taken exactly. With `beta` 0, C is not read, with `alpha` 0
    neither A nor B. C is broadcast to the shape of the product. `reduce_batch`: each element is one sum over all batches."""
    a, b = _Operand(A, "A"), _Operand(B, "B")
    c = None if C is None else _Operand(C, "C")
    operands = [a, b] + ([] if c is None else [c])
    stored = _common(operands, dtype)
    product = _erx.apply("matmul", [_erx.opaque(a.piece), _erx.opaque(b.piece)])
    if reduce_batch:
        batches = len(product.shape) - 2
        if batches < 1 or len(a.shape) < 2 or len(b.shape) < 2:
            raise ValueError("reduce_batch needs matrices with batch dimensions")
        product = _erx.reduce("sum", product, list(range(batches)), False)
    shape = product.shape
    factor, value = _factor(alpha, "alpha", stored)
    floating = stored.is_floating
    compute = compute_type(stored, [o.dtype for o in operands]).kind if floating else ""
    term = product
    if value != 1:
        # The sum is accumulated first, then scaled.
        term = _erx.apply("mul", [factor, _erx.within(product, compute, False) if floating else product])
    if c is not None:
        scale, by = _factor(beta, "beta", stored)
        piece = _erx.opaque(c.piece)
        scaled = piece if by == 1 else _erx.apply("mul", [scale, piece])
        term = _erx.apply("add", [term, scaled])
        if term.shape != shape:
            raise _erx.SpecError(f"C of shape {list(c.shape)} does not broadcast to the shape {list(shape)} of the product")
    result = _stored(term, stored, operands, False)
    scales = {"alpha": alpha, **({"beta": beta} if c is not None else {})}
    for kind in dict.fromkeys([DType(compute), stored.part]) if floating else ():  # products use scales in one of these formats
        if any(_is_rounded(v, kind) for v in scales.values()):
            used = {k: _converted(v, k, kind) for k, v in scales.items()}
            text = f"er.gemm(A, B{', C' if c is not None else ''}" + "".join(f", {k}={t}" for k, (_, t) in used.items())
            text += (", reduce_batch=True" if reduce_batch else "") + (f", dtype={str(stored)!r})" if dtype is not None else ")")
            given = {k: v for k, (v, _) in used.items()}
            result._others = [*result._others, (text, lambda given=given: gemm(A, B, C, **given, reduce_batch=reduce_batch, dtype=dtype))]
    return result


def any_of(*alternatives: object, label: str = "") -> Result:
    """Per element one of the alternatives; with `label`, one choice for the whole call, the same wherever the label stands."""
    if not alternatives:
        raise TypeError("er.any_of takes at least one alternative")
    pieces = [operand(x, f"x{i}") for i, x in enumerate(alternatives, 1)]
    declared = all(isinstance(x, Result) and x._group.declared(x._index) for x in alternatives)
    return Result(_erx.Group([_erx.any_of(pieces, label)], declared), 0)


def round(x: object, dtype: object, mode: str = "rne", *, overflow: str = "", flush: bool = False) -> Result:
    """x rounded once to `dtype`, of a complex x each part: modes rne rna rtz rtp rtn rto sr faithful; overflow sat, sat_finite or nosat."""
    piece = _number(operand(x, "x"))
    return Result(_erx.Group([_rounded(piece, DType(dtype), mode, overflow, flush)], False), 0)
