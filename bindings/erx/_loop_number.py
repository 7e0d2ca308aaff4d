"""The variable of a loop that is traced: a number that is not known yet, in indices and in arithmetic."""

from __future__ import annotations

import operator

from . import _erx

Place = tuple[tuple[str, int, int, int], list[tuple[str, int]]]


def _refuse(*_: object) -> object:
    raise TypeError("the variable of er.fold is not known while the function is traced once: use i, 2*i + 3 and the like, as an index of a "
                    "result or as a number; an array is indexed as er.array(x)[i]")


class LoopNumber:
    """A number that is linear in the variables of loops: base + sum of stride * variable."""

    __array_ufunc__ = None
    __index__ = __int__ = __float__ = __bool__ = __lt__ = __le__ = __gt__ = __ge__ = __floordiv__ = __mod__ = __truediv__ = _refuse

    def __init__(self, strides: dict[str, int], base: int, low: int, high: int) -> None:
        self._strides = {v: s for v, s in strides.items() if s}
        self._base, self._low, self._high = base, low, high  # low, high: its least and its largest value

    def __add__(self, other: object) -> LoopNumber:
        if isinstance(other, LoopNumber):
            strides = {v: self._strides.get(v, 0) + other._strides.get(v, 0) for v in self._strides | other._strides}
            return LoopNumber(strides, self._base + other._base, self._low + other._low, self._high + other._high)
        if not hasattr(other, "__index__"):
            return NotImplemented
        n = operator.index(other)  # type: ignore[arg-type]
        return LoopNumber(self._strides, self._base + n, self._low + n, self._high + n)

    __radd__ = __add__

    def __mul__(self, other: object) -> LoopNumber:
        if isinstance(other, LoopNumber):
            return _refuse()
        if not hasattr(other, "__index__"):
            return NotImplemented
        n = operator.index(other)  # type: ignore[arg-type]
        ends = sorted((self._low * n, self._high * n))
        return LoopNumber({v: s * n for v, s in self._strides.items()}, self._base * n, *ends)

    __rmul__ = __mul__

    def __neg__(self) -> LoopNumber:
        return self * -1

    def __sub__(self, other: object) -> LoopNumber:
        return self + (-other)  # type: ignore[operator]

    def __rsub__(self, other: object) -> LoopNumber:
        return -self + other

    def __eq__(self, other: object) -> bool:
        return True if other is self else _refuse()  # type: ignore[return-value]

    __hash__ = object.__hash__

    def _piece(self) -> _erx.Piece:
        """As it is written: 2 * i + 3."""
        piece = None
        for variable, stride in self._strides.items():
            term = _erx.loop_number(variable)
            if abs(stride) != 1:
                term = _erx.apply("mul", [_erx.literal(str(abs(stride))), term])
            if piece is None:
                piece = _erx.apply("neg", [term]) if stride < 0 else term
            else:
                piece = _erx.apply("sub" if stride < 0 else "add", [piece, term])
        base = _erx.literal(str(abs(self._base)))
        if piece is None:
            return _erx.apply("neg", [base]) if self._base < 0 else base
        return piece if self._base == 0 else _erx.apply("sub" if self._base < 0 else "add", [piece, base])

    def __repr__(self) -> str:
        return "<er: a number of a loop>"


class LoopTile:
    """A tile of er.tiles: it stands in an index of a result."""

    def __init__(self, variable: str, size: int, length: int) -> None:
        self._variable, self._size, self._length = variable, size, length

    __index__ = __add__ = __radd__ = __mul__ = __rmul__ = __sub__ = __rsub__ = lambda *_: _refuse_tile()

    def __repr__(self) -> str:
        return "<er: a tile of a loop>"


def _refuse_tile() -> object:
    raise TypeError("a tile stands only in an index of a result, as in x[t]; an array is indexed as er.array(x)[t]")


def moving_slice(part: object, n: int) -> Place | None:
    """An index that follows a loop: its slice where the variables are 0, and how it moves. None: an ordinary index."""
    if isinstance(part, LoopTile):
        if part._length > n:
            raise IndexError(f"tiles of {part._length} elements for a dimension of {n}")
        return ("range", 0, 1, part._size), [(part._variable, part._size)]
    if isinstance(part, LoopNumber):
        if part._low < 0 or part._high >= n:
            raise IndexError(f"the index runs from {part._low} to {part._high}, and the dimension has {n}")
        return ("index", part._base, 1, 1), list(part._strides.items())
    if not isinstance(part, slice) or not any(isinstance(p, LoopNumber) for p in (part.start, part.stop, part.step)):
        return None
    start, stop = part.start, part.stop
    step = 1 if part.step is None else part.step
    if not isinstance(start, LoopNumber) or not isinstance(stop, LoopNumber) or start._strides != stop._strides:
        raise TypeError("a slice that follows a loop has the same length in every step, as in x[2*i : 2*i + 2]")
    step = operator.index(step)
    length = stop._base - start._base
    if step < 1 or length < 1:
        raise TypeError("a slice that follows a loop runs forward and is not empty")
    if start._low < 0 or stop._high > n:
        raise IndexError(f"the slice runs from {start._low} to {stop._high}, and the dimension has {n}")
    return ("range", start._base, step, -(-length // step)), list(start._strides.items())
