"""Random complex specs: each as its text and, independently, as a pair of trees of the oracle.

    case = Complex(random.Random(7)).case();  case.text, case.inputs, case.pair
"""
import re
from dataclasses import dataclass

import numpy as np

import oracle
import oracle_complex as cx
from oracle_numbers import BF16, F16, F32, from_float

EDGES = [np.inf, -np.inf, np.nan, 0.0, -0.0]
ORDERS = [("any", ("any",)), ("any", ("any",)), ("seq", ("seq",)), ("rseq", ("rseq",)), ("pairwise(1)", ("pairwise", 1))]


@dataclass
class Written:
    text: str
    node: object       # a Pair, or a Node of the oracle for a real value
    fmt: object = None  # the format that holds it; None: not rounded
    atom: bool = True

    @property
    def is_complex(self):
        return isinstance(self.node, cx.Pair)

    @property
    def operand(self):
        return self.text if self.atom else f"({self.text})"


@dataclass
class Case:
    text: str
    inputs: dict
    pair: object


class Complex:
    def __init__(self, rng, special=False):
        self.rng, self.special, self.inputs, self.names = rng, special, {}, []
        self.shape = rng.choice([(), (2,), (2, 2)])

    def number(self):
        if self.special and self.rng.random() < 0.3:
            return self.rng.choice(EDGES)
        return self.rng.choice([self.rng.randint(-8, 8) / 4, float(np.float16(self.rng.gauss(0, 1)))])

    def values(self, name, shape, is_complex):
        count = int(np.prod(shape))
        parts = [[self.number() for _ in range(count)] for _ in range(2 if is_complex else 1)]
        array = np.empty(count, np.complex64 if is_complex else np.float32)
        array.real = parts[0]
        if is_complex:
            array.imag = parts[1]
        self.inputs[name] = array.reshape(shape)
        nodes = [oracle.Input([from_float(x) for x in p], shape) for p in parts]
        return cx.Pair(*nodes) if is_complex else nodes[0]

    def leaf(self):
        if self.names and self.rng.random() < 0.4:
            return self.rng.choice(self.names)
        is_complex = self.rng.random() < 0.8
        name = ("z" if is_complex else "x") + str(len(self.inputs))
        shape = self.rng.choice([self.shape, self.shape, ()])
        new = Written(name, self.values(name, shape, is_complex), F32)
        self.names.append(new)
        return new

    def complex_leaf(self):
        leaf = self.leaf()
        while not leaf.is_complex:
            leaf = self.leaf()
        return leaf

    def pair(self, depth):
        """A complex expression."""
        rng = self.rng
        if depth == 0:
            return self.complex_leaf()
        kind = rng.choice(["plus", "minus", "times", "scaled", "divided", "negative", "conj", "made", "rounded", "any_of", "where", "acc",
                           "exact", "stored"])
        if kind in ("plus", "minus"):
            a, b = self.pair(depth - 1), self.either(depth - 1)
            if rng.random() < 0.5:
                a, b = b, a
            symbol, make = ("+", cx.plus) if kind == "plus" else ("-", cx.minus)
            nodes = [w.node if w.is_complex else cx.from_real(w.node) for w in (a, b)]
            return Written(f"{a.operand} {symbol} {b.operand}", make(*nodes), atom=False)
        if kind == "times":
            a, b = self.pair(depth - 1), self.pair(depth - 1)
            return Written(f"{a.operand} * {b.operand}", cx.times(a.node, b.node), atom=False)
        if kind in ("scaled", "divided"):
            a, x = self.pair(depth - 1), self.real(depth - 1)
            if kind == "scaled":
                return Written(f"{x.operand} * {a.operand}", cx.scaled(x.node, a.node), atom=False)
            return Written(f"{a.operand} / {x.operand}", cx.divided(a.node, x.node), atom=False)
        if kind == "negative":
            a = self.pair(depth - 1)
            return Written(f"-{a.operand}", cx.negative(a.node), a.fmt, False)
        if kind == "conj":
            a = self.pair(depth - 1)
            return Written(f"conj({a.text})", cx.conj(a.node), a.fmt)
        if kind == "made":
            a, b = self.real(depth - 1), self.real(depth - 1)
            return Written(f"complex({a.text}, {b.text})", cx.Pair(a.node, b.node))
        if kind == "rounded":
            a, fmt = self.pair(depth - 1), rng.choice([F16, BF16, F32])
            mode = rng.choice(["rne", "rne", "rtz", "faithful"])
            return Written(f"round<{fmt.text}, {mode}>({a.text})", cx.rounded(fmt, a.node, mode), fmt)
        if kind == "any_of":
            some = [self.pair(depth - 1) for _ in range(2)]
            fmt = F32 if all(a.fmt for a in some) else None
            return Written(f"any_of({', '.join(a.text for a in some)})", cx.any_of(*(a.node for a in some)), fmt)
        if kind == "where":
            x, a, b = self.real(0), self.pair(depth - 1), self.pair(depth - 1)
            condition = oracle.Map("lt", x.node, oracle.Literal(from_float(0.0)))
            return Written(f"where({x.operand} < 0, {a.text}, {b.text})", cx.where(condition, a.node, b.node))
        if kind == "acc":
            return self.acc(depth)
        if kind == "stored":
            return self.stored(depth)
        a = self.pair(depth - 1)
        return Written(f"exact({a.text})", a.node)

    def either(self, depth):
        return self.pair(depth) if self.rng.random() < 0.7 else self.real(depth)

    def real(self, depth):
        rng = self.rng
        if depth > 0 and rng.random() < 0.6:
            a = self.pair(depth - 1)
            which = rng.choice(["real", "imag"])
            return Written(f"{which}({a.text})", a.node.re if which == "real" else a.node.im, a.fmt)
        leaf = self.leaf()
        while leaf.is_complex:
            leaf = self.leaf()
        return leaf

    def stored(self, depth):
        """A leaf of F32 for sums."""
        a = self.pair(depth - 1)
        if a.fmt is None:
            return Written(f"round<f32>({a.text})", cx.rounded(F32, a.node), F32)
        return a

    def acc(self, depth):
        """Sums of two-factor products and terms, each part by itself in the order's additions."""
        rng = self.rng
        terms, node, text = rng.randint(1, 2), None, ""
        for k in range(terms):
            a, b = self.stored(depth), self.stored(depth)
            term = cx.times(a.node, b.node) if k == 0 or rng.random() < 0.5 else a.node
            written = f"{a.operand} * {b.operand}" if term is not a.node else a.operand
            node = term if node is None else cx.plus(node, term)
            text += (" + " if text else "") + written
        words, order = rng.choice(ORDERS)
        fma = rng.choice(["free", "never"])
        return Written(f"acc<f32, {words}, fma={fma}>({text})", cx.both(lambda p: oracle.Acc(F32, p, order, fma), node), F32)

    def case(self):
        result = self.pair(3)
        if result.fmt is None:
            fmt = self.rng.choice([F16, F32])
            result = Written(f"round<{fmt.text}>({result.text})", cx.rounded(fmt, result.node), fmt)
        used = {name: x for name, x in self.inputs.items() if re.search(rf"\b{name}\b", result.text)}
        return Case(result.text, used, result.node)
