"""Names of element types, and which type the operands of a function share."""

from __future__ import annotations

import functools

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
        return of_text(spelling(name))

    def __eq__(self, other: object) -> bool:
        try:
            return str.__eq__(self, DType(other))
        except (TypeError, ValueError):
            return False

    def __ne__(self, other: object) -> bool:
        return not self == other

    # NumPy looks names up as text.
    __hash__ = str.__hash__

    @functools.cached_property
    def is_floating(self) -> bool:
        """Values of a format, or complex numbers with such parts."""
        return self.category >= 2 and not self.is_exact

    @property
    def is_exact(self) -> bool:
        return self.kind in ("real", "complex")

    @property
    def is_complex(self) -> bool:
        return self.kind.startswith("complex")

    @property
    def part(self) -> DType:
        """The type of the real and the imaginary part; a real type's own."""
        if not self.is_complex:
            return self
        return DType(self.kind[len("complex<"):-1] or "real")

    @functools.cached_property
    def category(self) -> int:
        """0 for bool, 1 for integers, 2 for numbers with a fraction, 3 for complex ones: the higher one decides a common type."""
        if self.is_complex:
            return 3
        if self.kind == "bool":
            return 0
        return 1 if self.kind == "int" or self.kind[0] in "iu" else 2

    @property
    def precision(self) -> int:
        return _erx.precision(self.part.kind)

    def holds(self, other: DType) -> bool:
        """Every value of `other` is a value of this type."""
        return _erx.type_contains(self.kind, other.kind)


@functools.lru_cache(maxsize=1024)  # a text means one type, and a type never changes
def of_text(text: str) -> DType:
    kind = _erx.type_of(text)
    dtype = str.__new__(DType, _long_name(kind))
    dtype.kind = kind
    return dtype


_integers = {"i": "int", "u": "uint"}
_complex = {"complex<f16>": "complex32", "complex<f32>": "complex64", "complex<f64>": "complex128"}


def spelling(name: object) -> str:
    """A type's name as a text: of a string, a NumPy or PyTorch dtype, or a scalar class."""
    if isinstance(name, str):
        text = str.__str__(name)
    elif isinstance(name, type):
        text = {float: "float64", int: "int64", bool: "bool", complex: "complex128"}.get(name, name.__name__)
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
    if kind in _complex:
        return _complex[kind]
    if kind in ("bool", "real") or kind.startswith(("float<", "complex")):
        return kind
    return (_erx.format_aliases(kind) or [kind])[0]


def common(a: DType, b: DType) -> DType:
    """The narrowest usual type that holds both, as PyTorch promotes: bfloat16 with float16 gives float32."""
    if a.is_complex != b.is_complex and min(a.category, b.category) == 2:
        return complex_of(common(a.part, b.part))
    if a.category != b.category:
        return max(a, b, key=lambda t: t.category)
    if a.is_complex:
        return complex_of(common(a.part, b.part))
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


def complex_of(t: DType) -> DType:
    """As PyTorch's toComplexType: bfloat16 and narrower formats give complex64, integers too."""
    if t.is_complex:
        return t
    parts = t if t.kind in ("f16", "f32", "f64", "real") else DType("f64" if t.is_floating and t.precision > 24 else "f32")
    return DType("complex" if parts.kind == "real" else f"complex<{parts.kind}>")


def promoted(arrays: list[DType], zero_dimensional: list[DType], scalars: list[int]) -> DType | None:
    """PyTorch's rule: 0-d operands and Python scalars count only by a higher category. None: there is nothing with a type."""
    result = None
    for group in (arrays, zero_dimensional):
        own = None
        for t in group:
            own = t if own is None else common(own, t)
        if own is not None and own.is_complex and result is not None and result.category == 2:
            own = complex_of(result)
        if own is not None and (result is None or own.category > result.category):
            result = own
    if not scalars:
        return result
    category = max(scalars)
    if result is None:
        return DType(("bool", "int64", "float32", "complex64")[category])  # as torch.add(1, 2.0)
    if category <= result.category:
        return result
    return complex_of(result) if category == 3 else DType(("bool", "int64", "float32")[category])


def compute_type(stored: DType, sources: list[DType]) -> DType:
    """What the default tolerance computes in: float32 for narrower formats, and never less than the sources hold."""
    result = stored.part if stored.precision >= 24 else DType("f32")
    for t in (t.part for t in [stored, *sources]):
        if t.is_floating and not result.holds(t):
            result = DType("f64")
    return result


def rounds_alike(stored: DType, compute: DType) -> bool:
    """Is one sum or product of two values of `stored`, rounded to `compute` and then to `stored`, always as if rounded once?

    True from 2p + 2 bits on (Figueroa 1995) while `compute` is not subnormal. A sum that `stored` holds as a subnormal is exact. A
    product has at most 2p bits: one that is no value of `compute`, but less than half its smallest value from a midpoint of `stored`,
    would need log2(ratio of the smallest values) + 1.
    """
    stored = stored.part
    p = stored.precision
    if compute == stored:
        return True
    return compute.precision >= 2 * p + 2 and _erx.min_positive(stored.kind) / _erx.min_positive(compute.kind) >= 2.0 ** (2 * p)
