"""Formulas of complex numbers, as libraries compute them: quotients, exponentials, products of many.

A formula gives the two parts; every operation in it is within the compute format.
"""

from __future__ import annotations

from collections.abc import Sequence

from . import _erx
from ._dtypes import DType

Piece = _erx.Piece
Parts = tuple[Piece, Piece]


def parts(z: Piece) -> Parts:
    if not z.type.startswith("complex"):
        return z, _erx.literal("0")
    return _erx.apply("real", [z]), _erx.apply("imag", [z])


def together(z: Parts) -> Piece:
    return _erx.apply("complex", list(z))


class _Steps:
    """Operations at the precision of one compute format."""

    def __init__(self, compute: DType) -> None:
        self.kind = compute.kind

    def __call__(self, op: str, *operands: Piece) -> Piece:
        return _erx.within(_erx.apply(op, list(operands)), self.kind, False)

    def products(self, op: str, a: Piece, b: Piece, c: Piece, d: Piece) -> Piece:
        """a b + c d, or their difference; fused or not."""
        return self(op, _erx.apply("mul", [a, b]), _erx.apply("mul", [c, d]))

    def scaled(self, op: str, a: Piece, b: Piece, c: Piece) -> Piece:
        """a b + c, or the difference."""
        return self(op, _erx.apply("mul", [a, b]), c)


def quotient(x: Piece, y: Piece, compute: DType) -> Piece:
    """x / y: the textbook's formula, Smith's, and the one that scales both by the larger part of y.

    x, y: complex, of one shape or broadcast. source: Smith, Algorithm 116, CACM 5 (1962) 435; the vector loops and the scalar
    operator of PyTorch; NumPy.
    """
    f = _Steps(compute)
    (a, b), (c, d) = parts(x), parts(y)
    size = [_erx.apply("abs", [t]) for t in (c, d)]
    one, zero = _erx.literal("1"), _erx.literal("0")

    def textbook(a: Piece, b: Piece, c: Piece, d: Piece) -> Parts:
        norm = f.products("add", c, c, d, d)
        return f("div", f.products("add", a, c, b, d), norm), f("div", f.products("sub", b, c, a, d), norm)

    def smith(a: Piece, b: Piece, c: Piece, d: Piece, sign: str) -> Parts:
        """Where |c| >= |d|; with the parts exchanged elsewhere."""
        ratio = f("div", d, c)
        scale = f("div", one, f.scaled("add", d, ratio, c))
        swapped = [a, _erx.apply("mul", [b, ratio])], [b, _erx.apply("mul", [a, ratio])]
        re = f("mul", f("add", *swapped[0]), scale)
        im = f("mul", f("sub", *(swapped[1] if sign == "+" else reversed(swapped[1]))), scale)
        return re, im

    first, second = smith(a, b, c, d, "+"), smith(b, a, d, c, "-")
    larger = _erx.apply("ge", size)
    nothing = _erx.apply("eq", [_erx.apply("maximum", size), zero])
    by_zero = f("div", a, size[0]), f("div", b, size[1])
    chosen = [_erx.apply("where", [nothing, z, _erx.apply("where", [larger, p, q])]) for z, p, q in zip(by_zero, first, second)]
    scale = f("div", one, _erx.apply("maximum", size))
    scaled = textbook(*(f("mul", t, scale) for t in (a, b, c, d)))
    return _erx.any_of([together(z) for z in (textbook(a, b, c, d), tuple(chosen), scaled)], "")


def exponential(z: Piece, compute: DType) -> Piece:
    """e^a cos b and e^a sin b; where b is 0 the imaginary part may be that 0. source: C23, G.6.3.1."""
    f = _Steps(compute)
    a, b = parts(z)
    size = f("exp", a)
    re, im = f("mul", size, f("cos", b)), f("mul", size, f("sin", b))
    real = _erx.apply("eq", [b, _erx.literal("0")])
    kept = _erx.apply("where", [real, size, re]), _erx.apply("where", [real, b, im])
    return _erx.any_of([together((re, im)), together(kept)], "")


def product(z: Piece, axes: Sequence[int], keepdims: bool, compute: DType) -> Piece:
    """The product p of n numbers in any order: each part p +- ((1 + u)^m - 1) |p| with m = 9 (n - 1) / 4 rounded up.

    A complex product has a relative error of at most sqrt(5) u, underflow apart (the caller has excluded it: the rest of 9/4 u is
    room for it). source: Brent, Percival, Zimmermann, Error bounds on complex floating-point multiplication, 2007.
    """
    shape = list(z.shape)
    kept = [k for k in range(len(shape)) if k not in axes]
    count = 1
    for k in axes:
        count *= shape[k]
    line = _erx.reshape(_erx.transpose(z, [*kept, *axes]), [*(shape[k] for k in kept), count])
    whole = [("range", 0, 1, shape[k]) for k in kept]

    def piece(x: Piece, start: int, n: int) -> Piece:
        return _erx.index(x, [*whole, ("range", start, 1, n)])

    rest: list[Piece] = []
    n = count
    while n > 1:
        if n % 2:
            rest.append(piece(line, n - 1, 1))
        line, n = _erx.apply("mul", [piece(line, 0, n // 2), piece(line, n // 2, n // 2)]), n // 2
    for x in rest:
        line = _erx.apply("mul", [line, x])
    result_shape = [1 if k in axes else n for k, n in enumerate(shape)] if keepdims else [shape[k] for k in kept]
    p = _erx.reshape(line, result_shape)
    one, three = _erx.literal("1"), _erx.literal("3")
    third = _erx.input("third", _erx.rational("1/3"), False)  # no value of any format, so that each step errs
    size, out = _erx.apply("abs", [p]), []
    for part in parts(p):
        growth = third
        for _ in range((9 * (count - 1) + 3) // 4):
            growth = _erx.within(_erx.apply("mul", [growth, one]), compute.kind, False)
        more = _erx.apply("sub", [_erx.apply("mul", [three, growth]), one])
        error = _erx.apply("mul", [_erx.any_of([more, _erx.apply("neg", [more])], ""), size])
        value = _erx.apply("add", [part, error])
        # A zero has either sign, by the order.
        none = _erx.apply("eq", [value, _erx.literal("0")])
        out.append(_erx.any_of([value, _erx.apply("where", [none, _erx.apply("neg", [value]), value])], ""))
    return together((out[0], out[1]))
