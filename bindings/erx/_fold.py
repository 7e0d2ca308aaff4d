"""Bounded loops: a Python function is traced once and becomes the body of a `fold`."""

from __future__ import annotations

import inspect
import math
import operator
from collections.abc import Callable

from . import _erx
from ._loop_number import LoopNumber, LoopTile
from ._result import Result, operand, result_of

_most_steps = 100000


class Tiles:
    """The range of a loop over slices of at most `size` elements; see er.tiles."""

    def __init__(self, length: int, size: int) -> None:
        self.length, self.size = length, size

    def __repr__(self) -> str:
        return f"er.tiles({self.length}, {self.size})"


def tiles(length: int, size: int) -> Tiles:
    """Slices of `size` elements one after the other, the last one perhaps shorter: what er.fold runs over.

    parameters: length, the elements of the axis, at least 0; size, those of a tile, at least 1.
    returns: a range for er.fold. errors: ValueError.
    """
    length, size = operator.index(length), operator.index(size)
    if length < 0 or size < 1:
        raise ValueError("a length is at least 0, and a tile has at least one element")
    return Tiles(length, size)


def fold(f: Callable[..., object], init: object, over: range | int | Tiles) -> Result | tuple[Result, ...]:
    """The state after a bounded loop: ``s = f(s, i)`` for each i, starting with `init`. `f` is called once, to be written down.

    A plain number takes the type and the shape that its state has after a step, as in a text. Where functions of er use it, whose roundings
    depend on types, `f` is called once more with them.

    parameters: f, of the states and the variable: it returns the next state, of several a tuple; init, the start value: an array, a
    result or a number, of several a tuple; over, ``range(n)``, ``range(a, b)``, a number of steps, or ``er.tiles(n, size)``, whose
    variable is an index: ``x[t]``. The variable of a range is a number and an index: ``x[i]``, ``x[2*i : 2*i + 2]``, ``i * s``.
    returns: a Result of the last state, of several a tuple. Its spec is the text ``fold (s = ..) over i in 0..n { next .. }``.
    bound: that of the text; steps choose independently, and a state is one stored tensor in each.
    errors: SpecError where type or shape of a state change in a step, or more than 100000 steps; TypeError for a loop variable where
    Python needs its value; ValueError for a range with another step than 1.
    """
    several = isinstance(init, tuple)
    given = init if isinstance(init, tuple) else (init,)
    if not given:
        raise ValueError("er.fold needs a state")
    if not callable(f):
        raise TypeError(f"er.fold takes a function of the state and the loop variable, got {type(f).__name__}")
    names = _names(f, len(given))
    starts = [_start(x, name) for x, name in zip(given, names)]
    states = [_erx.state(name, start) for name, start in zip(names, starts)]
    variable = f"{names[-1]}#{states[0].age}"
    first, count, tile, rest, index = _steps(over, variable)
    if count + (rest > 0) > _most_steps:
        raise _erx.SpecError(f"a loop has at most {_most_steps} steps, and this has {count + (rest > 0)}")
    pieces = _step(f, states, index, names, several)
    made = _erx.fold(starts, states, pieces, variable, names[-1], first, count, tile, rest)
    numbers = [k for k, x in enumerate(given) if isinstance(x, (int, float))]
    if _erx.depends_on_types(pieces):
        for _ in numbers:  # a type goes from state to state
            changed = [k for k in numbers if (states[k].type, states[k].shape) != (pieces[k].type, pieces[k].shape)]
            if not changed:
                break
            states = [_erx.state(name, pieces[k] if k in changed else states[k]) for k, name in enumerate(names[:-1])]
            variable = f"{names[-1]}#{states[0].age}"
            first, count, tile, rest, index = _steps(over, variable)
            pieces = _step(f, states, index, names, several)
            made = _erx.fold(starts, states, pieces, variable, names[-1], first, count, tile, rest)
    results = tuple(result_of(p) for p in made)
    return results if several else results[0]


def _step(f: Callable[..., object], states: list[_erx.Piece], index: object, names: list[str], several: bool) -> list[_erx.Piece]:
    """What the function makes of the states."""
    after = f(*(result_of(s) for s in states), index)
    following = after if isinstance(after, tuple) else (after,)
    if len(following) != len(states) or isinstance(after, tuple) != several:
        raise TypeError(f"the state has {len(states)} value{'s' if len(states) > 1 else ''}, and the function returns "
                        + (f"a tuple of {len(after)}" if isinstance(after, tuple) else "one value"))
    return [operand(x, name) for x, name in zip(following, names)]


def _start(x: object, name: str) -> _erx.Piece:
    """Infinities stand as themselves, like other numbers; an array is an input of another name than the state."""
    if isinstance(x, float) and math.isinf(x):
        piece = _erx.literal("inf")
        return _erx.apply("neg", [piece]) if x < 0 else piece
    return operand(x, f"{name}0")


def _names(f: Callable[..., object], states: int) -> list[str]:
    """As the function calls them, where it does."""
    plain = ["s"] if states == 1 else [f"s{k}" for k in range(1, states + 1)]
    try:
        parameters = list(inspect.signature(f).parameters.values())
    except (TypeError, ValueError):
        return [*plain, "i"]
    positional = [p.name for p in parameters if p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD)]
    required = [p for p in parameters if p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD) and p.default is p.empty]
    open_ended = any(p.kind == p.VAR_POSITIONAL for p in parameters)
    if not open_ended and (len(positional) < states + 1 or len(required) > states + 1):
        raise TypeError(f"the function of er.fold takes {states} state{'s' if states > 1 else ''} and the loop variable, "
                        f"and this one takes {len(positional)} argument{'s' if len(positional) != 1 else ''}")
    names = positional[:states + 1]
    is_plain = len(names) == states + 1 and all(n.isascii() and n.isidentifier() and not n.startswith("_") and not _erx.is_word(n) for n in names)
    return names if is_plain else [*plain, "i"]


def _steps(over: object, variable: str) -> tuple[int, int, int, int, LoopNumber | LoopTile]:
    """First number, steps of one form, length of a tile and of the short one behind them; what the function is called with."""
    if isinstance(over, Tiles):
        whole, rest = divmod(over.length, over.size)
        size = over.size
        if whole == 0 and rest:  # one short tile
            whole, rest, size = 1, 0, over.length
        return 0, whole, size, rest, LoopTile(variable, size, over.length)
    if isinstance(over, range):
        if over.step != 1:
            raise ValueError("a loop counts up by 1: take range(n) and index with 2*i, or n - 1 - i")
        first, count = over.start, len(over)
    elif hasattr(over, "__index__") and not isinstance(over, bool):
        first, count = 0, operator.index(over)  # type: ignore[arg-type]
        if count < 0:
            raise ValueError("a number of steps is at least 0")
    else:
        raise TypeError(f"er.fold runs over range(n), a number of steps or er.tiles(n, size), not {type(over).__name__}")
    return first, count, 0, 0, LoopNumber({variable: 1}, 0, first, first + max(count - 1, 0))
