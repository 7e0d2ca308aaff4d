"""Results: for each element the set of values that a spec allows."""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterator, Sequence
from decimal import Decimal
from fractions import Fraction

import numpy as np

from . import _erx
from ._arrays import tensor_of
from ._dtypes import DType, of_text
from ._loop_number import LoopNumber, moving_slice

Shape = tuple[int, ...]
Scalar = (bool, int, float, complex, Fraction, Decimal)  # exact numbers


class Uncopied:
    """What holds an evaluation is shared, never copied; each class says what to keep instead."""

    _no_copies: str

    def __copy__(self):  # it never changes
        return self

    def __reduce_ex__(self, protocol: object):
        raise TypeError(self._no_copies)


class Report(Uncopied):
    """What a check found. True if every element is allowed; ``str()`` explains."""

    _no_copies = "a report cannot be pickled or deep-copied: keep str(report) or report.to_json()"

    def __init__(self, report: _erx.Report, advice: str = "") -> None:
        self._report = report
        self._advice = advice

    def __bool__(self) -> bool:
        return self.ok

    @property
    def ok(self) -> bool:
        return self._report.ok

    @property
    def applicable(self) -> bool:
        """False where an `assume` of the spec fails: then nothing was shown."""
        return self._report.applicable

    @property
    def violations(self) -> int:
        """How many elements are outside their set, over all results."""
        return self._report.violations

    @property
    def indices(self) -> np.ndarray | tuple[np.ndarray, ...]:
        """The violating elements, one row of indices each; for several results a tuple of such arrays."""
        each = tuple(r.indices for r in self._report.results)
        return each[0] if len(each) == 1 else each

    @property
    def tightness(self) -> float:
        """The mean number of allowed values of the output's format per element; 1 where each has a single one."""
        results = [r for r in self._report.results if r.checked]
        total = sum(r.checked for r in results)
        return sum(r.tightness * r.checked for r in results) / total if total else float("nan")

    @property
    def max_ulps(self) -> float:
        """The largest distance of an element from its set, in ulps of the output's format."""
        return max((r.max_ulps for r in self._report.results), default=0.0)

    @property
    def where(self) -> list[str]:
        """Where the violations lie and what their distances and values show, as in the text; of several results with their names."""
        return self._findings(False)

    @property
    def causes(self) -> list[str]:
        """What the violations are consistent with; empty where nothing speaks for a cause."""
        return self._findings(True)

    def _findings(self, causes: bool) -> list[str]:
        several = len(self._report.results) > 1
        return [f"{r.name}: {text}" if several else text
                for r in self._report.results for kind, text in r.findings if (kind == "cause") == causes]

    def plot(self, result: int | str | None = None, axes: object = None) -> np.ndarray:
        """Draws where the violations of one result lie, with matplotlib: a panel for each leading index (or a group of them), and the mean
        distance by column. `result` is its index or name, without it the one with the most violations. Returns the axes, in an array."""
        from ._plot import draw

        return draw(self._report, result, axes)

    def to_json(self) -> str:
        return self._report.to_json()

    def __str__(self) -> str:
        return self._report.text + self._advice

    def __repr__(self) -> str:
        if self.ok and not any(r.checked for r in self._report.results):
            return "<er.Report: covered, but no element was checked>"
        return f"<er.Report: {'covered' if self.ok else f'{self.violations} violations' if self.applicable else 'inapplicable'}>"


class Result(Uncopied):
    """The sets of all elements of one result. What was bound is captured: a later change of an array never changes a verdict."""

    _no_copies = "a result cannot be pickled or deep-copied: keep the text of its spec and the inputs to evaluate them again, or r.lo and r.hi"

    # So that `array + result` is this class's business.
    __array_ufunc__ = None

    def __init__(self, group: _erx.Group, index: int) -> None:
        self._group = group
        self._index = index

    # Other calls, for the report of a failure: what they are, and their results.
    _others: Sequence[tuple[str, Callable[[], Result]]] = ()

    @property
    def _piece(self) -> _erx.Piece:  # made for those who ask: a result that is only checked needs none
        return self._group.piece(self._index)

    @property
    def _argument(self) -> object:
        """What it is to a function that uses it: data where it is data."""
        piece = self._piece
        tensor = piece.tensor
        return piece if tensor is None else tensor

    @property
    def shape(self) -> Shape:
        return self._group.shape(self._index)

    @property
    def ndim(self) -> int:
        return len(self.shape)

    @property
    def size(self) -> int:
        return int(np.prod(self.shape, dtype=np.int64))

    @property
    def dtype(self) -> DType:
        return of_text(self._group.type(self._index))

    @property
    def name(self) -> str:
        """The name of a named result of a spec, else empty."""
        return self._group.names[self._index]

    @property
    def spec(self) -> str:
        """What is allowed, as canonical text."""
        return self._group.text

    @property
    def lo(self) -> np.ndarray:
        """The least allowed value of each element (NaN where only NaN is allowed)."""
        return self._group.hull(self._index)[0]

    @property
    def hi(self) -> np.ndarray:
        """The largest allowed value of each element."""
        return self._group.hull(self._index)[1]

    @property
    def real(self) -> Result:
        return self._view(_erx.apply("real", [self._piece]))

    @property
    def imag(self) -> Result:
        return self._view(_erx.apply("imag", [self._piece]))

    def conj(self) -> Result:
        return self._view(_erx.apply("conj", [self._piece]))

    def covers(self, out: object, compute: object = None, *, where: object = None, signed_zero: bool = False) -> np.ndarray:
        """For each element of `out`: is it allowed? `compute` is the format that `within` computes in, instead of its own."""
        return self._group.covers(self._index, _output(out, self), _mask(where), signed_zero, _kind(compute))

    def check(self, out: object, compute: object = None, *, where: object = None, signed_zero: bool = False,
              show: int = 5) -> Report:
        """A report that counts, lists and explains the elements that are not allowed."""
        group = self._group if len(self._group) == 1 else self._group.part(self._index)
        report = group.check([_output(out, self)], _mask(where), signed_zero, show, _kind(compute))
        if report.ok or not report.applicable:
            return Report(report)
        for call, other in self._others:
            if other().check(out, compute, where=where, signed_zero=signed_zero):
                return Report(report, f"  covered by: {call}\n    where PyTorch has a Python scalar, it rounds it first, or stores a reciprocal\n")
        return Report(report)

    def _view(self, piece: _erx.Piece) -> Result:
        return result_of(piece, self._group.declared(self._index))

    def reshape(self, *shape: int | Shape) -> Result:
        wanted = list(shape[0]) if len(shape) == 1 and not isinstance(shape[0], int) else list(shape)
        if wanted.count(-1) > 1:
            raise ValueError("only one dimension may be -1")
        if -1 in wanted:
            rest = int(np.prod([n for n in wanted if n != -1], dtype=np.int64))
            wanted[wanted.index(-1)] = self.size // rest if rest else 0
        if any(n < 0 for n in wanted):
            raise ValueError("dimensions may not be negative")
        return self._view(_erx.reshape(self._piece, [operator.index(n) for n in wanted]))

    def transpose(self, *axes: int | Shape) -> Result:
        order = list(axes[0]) if len(axes) == 1 and not isinstance(axes[0], int) else list(axes)
        order = [_axis(a, self.ndim) for a in order] or list(range(self.ndim))[::-1]
        return self._view(_erx.transpose(self._piece, order))

    @property
    def T(self) -> Result:
        return self.transpose()

    def __getitem__(self, index: object) -> Result:
        slices, moving = _slices(index, self.shape)
        return self._view(_erx.index(self._piece, slices, moving))

    def __len__(self) -> int:
        if not self.shape:
            raise TypeError("a 0-d result has no length")
        return self.shape[0]

    def __iter__(self) -> Iterator[Result]:
        return (self[i] for i in range(len(self)))

    def __repr__(self) -> str:
        spec = self.spec
        return f"<er.Result {self.dtype}{list(self.shape)}: {spec if len(spec) <= 100 else spec[:97] + '...'}>"

    # A set of allowed values is not equal to a value, and `assert result == array` must not pass or fail by identity.

    def __eq__(self, other: object) -> bool:
        if other is None or other is self:
            return other is self
        raise TypeError("a result is a set of allowed values for each element: it has no ==; ask result.covers(output), or compare lo and hi")

    def __ne__(self, other: object) -> bool:
        return not self == other

    __hash__ = object.__hash__

    # Exact operations on the values, as in a spec; a real result is stored when it is checked.

    def __add__(self, other: object) -> Result:
        return _binary("add", self, other)

    def __radd__(self, other: object) -> Result:
        return _binary("add", other, self)

    def __sub__(self, other: object) -> Result:
        return _binary("sub", self, other)

    def __rsub__(self, other: object) -> Result:
        return _binary("sub", other, self)

    def __mul__(self, other: object) -> Result:
        return _binary("mul", self, other)

    def __rmul__(self, other: object) -> Result:
        return _binary("mul", other, self)

    def __truediv__(self, other: object) -> Result:
        return _binary("div", self, other)

    def __rtruediv__(self, other: object) -> Result:
        return _binary("div", other, self)

    def __matmul__(self, other: object) -> Result:
        return _binary("matmul", self, other)

    def __rmatmul__(self, other: object) -> Result:
        return _binary("matmul", other, self)

    def __neg__(self) -> Result:
        return result_of(_erx.apply("neg", [self._piece]))

    def __abs__(self) -> Result:
        return result_of(_erx.apply("abs", [self._piece]))


class Results(tuple):
    """The results of one call; a labelled choice is one choice for all of them. ``results["lse"]`` works for named ones."""

    def __getitem__(self, key):  # type: ignore[override]
        if isinstance(key, str):
            for r in self:
                if r.name == key:
                    return r
            raise KeyError(f"there is no result `{key}`; there are: {', '.join(r.name for r in self)}")
        return super().__getitem__(key)

    def check(self, *outs: object, compute: object = None, where: object = None, signed_zero: bool = False, show: int = 5) -> Report:
        """One report for all results; one output for each."""
        if len(outs) != len(self):
            raise TypeError(f"there are {len(self)} results, but {len(outs)} outputs were given")
        tensors = [_output(out, r) for out, r in zip(outs, self)]
        return Report(self[0]._group.check(tensors, _mask(where), signed_zero, show, _kind(compute)))


def results_of(group: _erx.Group) -> Result | Results:
    return Result(group, 0) if len(group) == 1 else Results(Result(group, i) for i in range(len(group)))


def result_of(piece: _erx.Piece, declared: bool = False) -> Result:
    """`declared`: it is stored in its own format, whatever the output's is."""
    return Result(_erx.Group([piece], declared), 0)


def assert_covers(result: Result | Results, *outs: object, compute: object = None, where: object = None,
                  signed_zero: bool = False, show: int = 5) -> None:
    """Fails with the report's text unless every element of `outs` is allowed."""
    __tracebackhide__ = True  # pytest then shows the line of the test
    if not isinstance(result, (Result, Results)):
        raise TypeError(f"expected a result of er, got {type(result).__name__}")
    if isinstance(result, Result) and len(outs) != 1:
        raise TypeError(f"there is one result, but {len(outs)} outputs were given")
    report = result.check(*outs, compute=compute, where=where, signed_zero=signed_zero, show=show)
    if not report:
        raise AssertionError(str(report))


def operand(x: object, name: str) -> _erx.Piece:
    """A piece for an operand of an operator or a function: a result as it is, data as an input, a short number as itself."""
    if isinstance(x, Result):
        return x._piece
    if isinstance(x, LoopNumber):
        return x._piece()
    tensor = tensor_of(x)
    if isinstance(x, (int, float)) and not isinstance(x, bool):
        literal = _literal(x)
        if literal is not None:
            return literal
    if isinstance(x, complex):
        parts = [_literal(x.real), _literal(x.imag)]
        if all(p is not None for p in parts):
            return _erx.apply("complex", parts)
    return _erx.input(name, tensor, False)


def _literal(x: int | float) -> _erx.Piece | None:
    """A short number as itself."""
    exact = Decimal(x)
    text = format(abs(exact), "f")
    if not exact.is_finite() or len(text) > 20:
        return None
    piece = _erx.literal(text)
    return _erx.apply("neg", [piece]) if exact.is_signed() else piece


def _binary(op: str, x: object, y: object) -> Result:
    try:
        pieces = [operand(x, "x"), operand(y, "y")]
    except TypeError:
        return NotImplemented
    return result_of(_erx.apply(op, pieces))


def _output(out: object, result: Result) -> _erx.Tensor:
    if isinstance(out, Result):
        tensor = out._piece.tensor
        if tensor is None:
            raise TypeError("the output to check has to be data, not a result of er")
        return tensor
    written = isinstance(out, (bool, int, float, complex, list, tuple))
    if written and not isinstance(out, (list, tuple)):
        out = np.asarray(out)
    # In a list 1 is written for 1.0 where the result is not an integer.
    dtype = result.dtype
    tensor = tensor_of(out, dtype.kind if dtype.is_floating else None, real_lists=dtype.category >= 2, borrowed=True)
    return _erx.as_complex(tensor) if written and dtype.is_complex else tensor


def _mask(where: object) -> _erx.Tensor | None:
    if where is None:
        return None
    tensor = tensor_of(where)
    if tensor.type != "bool":
        raise TypeError("where= has to be boolean")
    return tensor


def _kind(compute: object) -> str | None:
    return None if compute is None else DType(compute).kind


def _axis(axis: object, ndim: int) -> int:
    i = operator.index(axis)  # type: ignore[arg-type]
    if not -ndim <= i < ndim:
        raise ValueError(f"axis {i} is out of range for {ndim} dimensions")
    return i % ndim


def _slices(index: object, shape: Shape) -> tuple[list[tuple[str, int, int, int]], list[tuple[int, str, int]]]:
    """The slices, and those of them that follow the variable of a loop."""
    parts = list(index) if isinstance(index, tuple) else [index]
    given = sum(1 for p in parts if p is not None and p is not Ellipsis)
    if sum(1 for p in parts if p is Ellipsis) > 1:
        raise IndexError("an index may have one ellipsis")
    if given > len(shape):
        raise IndexError(f"{given} indices for {len(shape)} dimensions")
    if not any(p is Ellipsis for p in parts):
        parts.append(Ellipsis)
    at = next(i for i, p in enumerate(parts) if p is Ellipsis)
    parts[at:at + 1] = [slice(None)] * (len(shape) - given)
    slices, moving, axis = [], [], 0
    for part in parts:
        if part is None:
            slices.append(("new", 0, 1, 1))
            continue
        n = shape[axis]
        axis += 1
        place = moving_slice(part, n)
        if place is not None:
            moving += [(len(slices), variable, stride) for variable, stride in place[1]]
            slices.append(place[0])
            continue
        if isinstance(part, slice):
            start, stop, step = part.indices(n)
            slices.append(("range", start, step, len(range(start, stop, step))))
            continue
        if isinstance(part, (bool, np.bool_)) or not hasattr(part, "__index__"):
            raise TypeError("a result is indexed with integers, slices, None and ...")
        i = operator.index(part)  # type: ignore[arg-type]
        if not -n <= i < n:
            raise IndexError(f"index {i} is out of range for a dimension of {n}")
        slices.append(("index", i % n, 1, 1))
    return slices, moving
