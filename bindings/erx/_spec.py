"""Specs and expressions written as text."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping

from . import _erx
from ._arrays import tensor_of
from ._result import Result, Results, Uncopied, results_of


class Spec(Uncopied):
    """A spec or an expression: call it with its inputs to get a Result, or a tuple of Results."""

    _no_copies = "a spec cannot be pickled or deep-copied: keep its text, str(spec)"

    def __init__(self, spec: _erx.Spec) -> None:
        self._spec = spec
        self._name: str = spec.name
        self._declared = {name: kind for name, kind, _ in spec.parameters}
        self._parameters = tuple(self._declared)

    @property
    def name(self) -> str:
        """The spec's name; empty for an expression."""
        return self._name

    @property
    def parameters(self) -> tuple[str, ...]:
        return self._parameters

    def __call__(self, /, *arguments: object, **named: object) -> Result | Results:
        if arguments:
            self._take(arguments, named)
        declared = self._declared
        return results_of(self._spec.call({name: _bound(name, x, declared.get(name)) for name, x in named.items()}))

    def _take(self, arguments: tuple[object, ...], named: dict[str, object]) -> None:
        """Positional arguments by their names."""
        parameters = self._parameters
        if not self._name:
            raise TypeError("the inputs of an expression are given by name, as in e(A=A, B=B)")
        if len(arguments) > len(parameters):
            raise TypeError(f"{self.name}() takes {len(parameters)} inputs, but {len(arguments)} were given")
        for name, argument in zip(parameters, arguments):
            if name in named:
                raise TypeError(f"{self.name}() got two values for the input `{name}`")
            named[name] = argument

    def __str__(self) -> str:
        return self._spec.text.strip()

    def __repr__(self) -> str:
        return f"<er.Spec {self.name or str(self)!r}>"


def _bound(name: str, x: object, declared: str | None) -> object:
    if isinstance(x, Result):
        return x._argument
    try:
        return tensor_of(x, declared)
    except TypeError as error:
        raise TypeError(f"input `{name}`: {error}") from None


def _no_spec(name: object, names: list[str]) -> str:
    near = _erx.did_you_mean(name, names) if isinstance(name, str) else ""
    there = f"there {'is' if len(names) == 1 else 'are'}: {', '.join(names) or 'none'}"
    return f"there is no spec `{name}`; " + (f"did you mean `{near}`?" if near else there)


class Program(Uncopied, Mapping):
    """The specs of a file by name: ``er.load("x.erx")["gemm"]``."""

    _no_copies = "specs cannot be pickled or deep-copied: keep the text they were made of"

    def __init__(self, specs: list[_erx.Spec]) -> None:
        self._specs = {s.name: Spec(s) for s in specs}

    def __getitem__(self, name: str) -> Spec:
        try:
            return self._specs[name]
        except KeyError:
            raise KeyError(_no_spec(name, list(self._specs))) from None

    def __call__(self, /, *_: object, **__: object) -> Result | Results:
        raise TypeError(f"this text has {len(self)} specs: choose one by its name, as in specs[{next(iter(self), '..')!r}](..); "
                        f"there are: {', '.join(self._specs) or 'none'}")

    def __iter__(self) -> Iterator[str]:
        return iter(self._specs)

    def __len__(self) -> int:
        return len(self._specs)

    def __repr__(self) -> str:
        return f"<er.Program {', '.join(self._specs)}>"


def _program(specs: list[_erx.Spec]) -> Spec | Program:
    return _SingleSpec(specs[0]) if len(specs) == 1 else Program(specs)


class _SingleSpec(Spec):
    """The only spec of a file: callable, and indexable by its name as well."""

    def __getitem__(self, name: str) -> Spec:
        if name != self.name:
            raise KeyError(_no_spec(name, [self.name]))
        return self


def expr(text: str) -> Spec:
    """One expression; its free names are the inputs, typed by what is bound to them."""
    if not isinstance(text, str):
        raise TypeError(f"expected the text of an expression, got {type(text).__name__}")
    specs = _erx.parse(text, "<expr>")
    if len(specs) != 1 or specs[0].name:
        raise _erx.SpecError("er.expr takes one expression; use er.parse for a text with specs")
    return Spec(specs[0])


def parse(text: str, name: str = "<string>") -> Spec | Program:
    """The spec of a text, or all of them by name where there are several."""
    if not isinstance(text, str):
        raise TypeError(f"expected the text of a spec, got {type(text).__name__}")
    return _program(_erx.parse(text, name))


def load(path: str | os.PathLike) -> Spec | Program:
    """The spec of a file, or all of them by name where there are several."""
    return _program(_erx.load(os.fspath(path)))
