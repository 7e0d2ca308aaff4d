"""Names of element types, and which type the operands of a function share."""

from __future__ import annotations

from . import _erx


class DType(str):
    """The name of an element type, equal to every other spelling of it: ``r.dtype == "bf16"``, ``== torch.bfloat16``.

    The text is NumPy's long name, so that ``numpy.dtype(r.dtype)`` works where NumPy (or ml_dtypes) has the type. ``real`` is
    the type of an exact result that has not been stored.
    """

    kind: str  # the spelling in a spec: "bf16", "i32", "bool", "real"

    def __new__(cls, name: object) -> DType:
        if isinstance(name, cls):
            return name
        kind = _erx.type_of(spelling(name))
        self = super().__new__(cls, _long_name(kind))
        self.kind = kind
        return self

    def __eq__(self, other: object) -> bool:
        try:
            return str.__eq__(self, DType(other))
        except (TypeError, ValueError):
            return False

    def __ne__(self, other: object) -> bool:
        return not self == other

    # NumPy looks names up as text.
    __hash__ = str.__hash__

    @property
    def is_floating(self) -> bool:
        return self.category == 2 and self.kind != "real"

    @property
    def category(self) -> int:
        """0 for bool, 1 for integers, 2 for numbers with a fraction: the higher one decides a common type."""
        if self.kind == "bool":
            return 0
        return 1 if self.kind == "int" or self.kind[0] in "iu" else 2

    @property
    def precision(self) -> int:
        return _erx.precision(self.kind)

    def holds(self, other: DType) -> bool:
        """Every value of `other` is a value of this type."""
        return _erx.type_contains(self.kind, other.kind)


_integers = {"i": "int", "u": "uint"}


def spelling(name: object) -> str:
    """A type's name as a text: of a string, a NumPy or PyTorch dtype, or a scalar class."""
    if isinstance(name, str):
        text = str.__str__(name)
    elif isinstance(name, type):
        text = {float: "float64", int: "int64", bool: "bool"}.get(name, name.__name__)
    else:
        text = getattr(name, "name", None) or str(name)
    text = text.removeprefix("torch.")
    for short, long in _integers.items():
        if text.startswith(long) and text[len(long):].isdigit():
            return short + text[len(long):]
    return "bool" if text == "bool_" else text


def _long_name(kind: str) -> str:
    if kind == "int":
        return "int64"
    if kind[0] in _integers and kind[1:].isdigit():
        return _integers[kind[0]] + kind[1:]
    if kind in ("bool", "real") or kind.startswith("float<"):
        return kind
    return (_erx.format_aliases(kind) or [kind])[0]


def common(a: DType, b: DType) -> DType:
    """The narrowest usual type that holds both, as PyTorch promotes: bfloat16 with float16 gives float32."""
    if a.category != b.category:
        return max(a, b, key=lambda t: t.category)
    if a.holds(b):
        return a
    if b.holds(a):
        return b
    wider = ("i16", "i32", "i64") if a.category == 1 else ("f32", "f64")
    narrow = a.category == 2 and min(a.precision, b.precision) <= 5  # formats of 8 bits and less are not promoted
    for t in () if narrow else map(DType, wider):
        if t.holds(a) and t.holds(b):
            return t
    raise _erx.SpecError(f"{a} and {b} have no common type; give dtype=, or convert one of them with er.round")


def promoted(arrays: list[DType], zero_dimensional: list[DType], scalars: list[int]) -> DType | None:
    """PyTorch's rule: 0-d operands and Python scalars count only by a higher category. None: there is nothing with a type."""
    result = None
    for group in (arrays, zero_dimensional):
        own = None
        for t in group:
            own = t if own is None else common(own, t)
        if own is not None and (result is None or own.category > result.category):
            result = own
    if not scalars:
        return result
    category = max(scalars)
    if result is None:
        return DType(("bool", "int64", "float64")[category])
    return DType(("bool", "int64", "float32")[category]) if category > result.category else result


def compute_type(stored: DType, sources: list[DType]) -> DType:
    """What the default tolerance computes in: float32 for narrower formats, and never less than the sources hold."""
    result = stored if stored.precision >= 24 else DType("f32")
    for t in [stored, *sources]:
        if t.is_floating and not result.holds(t):
            result = DType("f64")
    return result


def rounds_alike(stored: DType, compute: DType) -> bool:
    """Is one sum or product of two values of `stored`, rounded to `compute` and then to `stored`, always as if rounded once?

    True from 2p + 2 bits on (Figueroa 1995) while `compute` is not subnormal. A sum that `stored` holds as a subnormal is exact. A
    product has at most 2p bits: one that is no value of `compute`, but less than half its smallest value from a midpoint of `stored`,
    would need log2(ratio of the smallest values) + 1.
    """
    p = stored.precision
    if compute == stored:
        return True
    return compute.precision >= 2 * p + 2 and _erx.min_positive(stored.kind) / _erx.min_positive(compute.kind) >= 2.0 ** (2 * p)
