"""Random specs: each as its `.erx` text and, independently, as a tree of the oracle.

    case = Generator(random.Random(7)).case();  case.text, case.inputs, case.node
"""
import re
from dataclasses import dataclass, field

import ml_dtypes
import numpy as np

import oracle
import oracle_operators as more
import oracle_numbers as num
from oracle_numbers import BF16, E4M3FN, E5M2, F16, F32, SMALL, TF32, TINY

DTYPES = {"f16": np.float16, "bf16": ml_dtypes.bfloat16, "f32": np.float32,
          "f8e4m3fn": ml_dtypes.float8_e4m3fn, "f8e5m2": ml_dtypes.float8_e5m2}
STORED = [F16, BF16, F32, E4M3FN, E5M2]  # formats that an array can have
FORMATS = [F16, BF16, F32, E5M2, E4M3FN, TINY, SMALL, TF32]
MODES = ["rne", "rna", "rtz", "rtp", "rtn", "rto", "sr", "faithful"]
LITERALS = ["0.3", "0.1", "2", "1.5", "7", "0", "1e-3", "0.0625", "60000", "3", "1"]
ORDERS = [("any", ("any",))] * 4 + [("seq", ("seq",))] * 2 + [
    ("assoc", ("assoc",)), ("rseq", ("rseq",)), ("pairwise(1)", ("pairwise", 1)), ("pairwise(2)", ("pairwise", 2)),
    ("blocked(2)", ("blocked", 2)), ("blocked(2, inner=any, outer=seq)", ("blocked", 2, "any", "seq")),
    ("blocked(2, inner=rseq, outer=rseq)", ("blocked", 2, "rseq", "rseq")), ("height(3)", ("height", 3)),
    ("split({1, 2})", ("split", (1, 2), None)), ("split({2}, store=bf16)", ("split", (2,), BF16))]
DETERMINISTIC = {"seq", "rseq", "pairwise(1)", "pairwise(2)"}
NAME = r"\b[xst]\d+\b"
ATOM, UNARY, TERM, SUM, COMPARISON = 9, 7, 6, 5, 3


@dataclass
class Expr:
    text: str
    node: object
    level: int = ATOM           # of its outermost operator
    fmt: object = None          # the format that holds it, or None for a real
    inside: set = field(default_factory=set)  # ids of the nodes written in this text, names excluded

    @property
    def shape(self):
        return self.node.shape


@dataclass
class Case:
    text: str
    inputs: dict
    node: object
    fmt: object  # of the result, or None for a real
    is_spec: bool
    deterministic: bool  # no node with freedom, even where all its choices agree


class Generator:
    def __init__(self, rng, depth=3):
        self.rng, self.depth = rng, depth
        self.inputs, self.names, self.lets, self.freedom = {}, [], [], False

    # --- leaves ---

    def number(self, fmt):
        rng = self.rng
        kind = rng.random()
        if kind < 0.04:
            return float(rng.choice(["nan", "inf", "-inf"])) if fmt.has_inf else float("nan")
        if kind < 0.12:
            return rng.choice([0.0, -0.0, float(fmt.eta), -float(fmt.eta), float(fmt.min_normal), float(fmt.max_finite)])
        if kind < 0.5:
            return float(rng.randint(-4, 4)) * 2.0 ** rng.randint(-2, 2)
        return rng.gauss(0, 1) * 2.0 ** rng.choice([0, 0, 0, -2, 2, 4])

    def input(self, shape, within=None):
        """A name: an input or a `let` of this shape, old or new."""
        rng = self.rng
        fits = [e for e in self.names if e.shape == shape and (within is None or (e.fmt is not None and within.contains(e.fmt)))]
        if fits and rng.random() < 0.4:
            return rng.choice(fits)
        choices = [f for f in STORED if within is None or within.contains(f)]
        if not choices:
            return None
        fmt = rng.choice(choices)
        with np.errstate(all="ignore"):
            data = np.array([self.number(fmt) for _ in range(int(np.prod(shape)))], np.float64).astype(DTYPES[fmt.text]).reshape(shape)
        name = f"x{len(self.inputs)}"
        self.inputs[name] = (data, fmt)
        node = oracle.Input([num.from_float(float(v)) for v in data.reshape(-1)], shape)
        self.names.append(Expr(name, node, ATOM, fmt))
        return self.names[-1]

    def literal(self):
        text = self.rng.choice(LITERALS)
        return Expr(text, oracle.Literal(num.Fraction(text)), ATOM)

    def scalar_parameter(self):
        value = self.rng.choice([0.5, 0.3, 0.0, 2.0, -1.0, 1e-3])
        name = f"s{len(self.inputs)}"
        self.inputs[name] = (value, None)
        return Expr(name, oracle.ScalarParameter(num.from_float(value)), ATOM)

    def value_of(self, fmt, shape, depth):
        """A value of the format without rounding: a name, or a rounding into it."""
        if depth <= 0 or self.rng.random() < 0.6:
            named = self.input(shape, within=fmt)
            if named is not None:
                return named
        e = self.real(shape, depth - 1)
        return self.made(f"round<{fmt.text}>({e.text})", oracle.Round(fmt, e.node), [e], fmt=fmt)

    def made_value(self, fmt, shape):
        e = self.input(shape)
        return self.made(f"round<{fmt.text}>({e.text})", oracle.Round(fmt, e.node), [e], fmt=fmt)

    # --- pieces of text ---

    @staticmethod
    def made(text, node, parts, level=ATOM, fmt=None):
        return Expr(text, node, level, fmt, set().union(*(p.inside for p in parts)) | {id(node)})

    def wrapped(self, e, level):
        """As an operand: parentheses where they are needed, and sometimes where not."""
        return f"({e.text})" if e.level < level or (e.level < ATOM and self.rng.random() < 0.3) else e.text

    def binary(self, op, a, b, within=None):
        if not (re.search(NAME, a.text) or re.search(NAME, b.text)):  # arithmetic of whole literals is not rounded: it counts
            b = self.input(b.shape, within) or self.opaque(self.made_value(within, b.shape))
        symbol, level = {"add": ("+", SUM), "sub": ("-", SUM), "mul": ("*", TERM), "div": ("/", TERM)}[op]
        return self.made(f"{self.wrapped(a, level)} {symbol} {self.wrapped(b, level + 1)}", oracle.Map(op, a.node, b.node), [a, b], level)

    def call(self, name, *args, fmt=None):
        return self.made(f"{name}({', '.join(a.text for a in args)})", oracle.Map(name, *(a.node for a in args)), args, fmt=fmt)

    def operand_shapes(self, shape):
        """Two shapes that broadcast to this one."""
        other = shape
        if self.rng.random() < 0.35:
            other = self.rng.choice([(), shape[1:], tuple(1 if self.rng.random() < 0.5 else n for n in shape)])
        pair = [shape, other]
        self.rng.shuffle(pair)
        return pair

    def pair(self, shape, make):
        a, b = self.operand_shapes(shape)
        return make(a), make(b)

    def comparison(self, shape, depth):
        symbol, op = self.rng.choice([("<", "lt"), ("<=", "le"), (">", "gt"), (">=", "ge"), ("==", "eq"), ("!=", "ne")])
        a, b = self.pair(shape, lambda s: self.real(s, depth - 1))
        c = self.made(f"{self.wrapped(a, SUM)} {symbol} {self.wrapped(b, SUM)}", oracle.Map(op, a.node, b.node), [a, b], COMPARISON)
        if self.rng.random() < 0.2:
            return self.made(f"not ({c.text})", oracle.Map("not", c.node), [c], 2)
        return c

    # --- expressions ---

    def real(self, shape, depth):
        """Any expression of real (or stored) elements with exactly this shape."""
        rng = self.rng
        if depth <= 0:
            kind = rng.random()
            if shape == () and kind < 0.3:
                return self.literal()
            if shape == () and kind < 0.4:
                return self.scalar_parameter()
            return self.input(shape)
        kinds = [self.arithmetic] * 4 + [self.running, self.product_of, self.place, self.einsum, self.joined, self.average, self.unary,
                                         self.where, self.sum, self.extremum, self.matmul, self.view, self.rounding, self.rounding,
                                         self.block, self.block, self.any_of, self.acc, self.acc, self.within, self.let, self.approx,
                                         self.cast]
        return rng.choice(kinds)(shape, depth)

    def arithmetic(self, shape, depth):
        op = self.rng.choice(["add", "add", "sub", "mul", "mul", "div"])
        a, b = self.pair(shape, lambda s: self.real(s, depth - 1))
        if self.rng.random() < 0.15:
            b = self.scalar_parameter()
            a = a if a.shape == shape else self.real(shape, depth - 1)
        return self.binary(op, a, b)

    def unary(self, shape, depth):
        e = self.real(shape, depth - 1)
        op = self.rng.choice(["neg", "neg", "abs", "sqrt", "exp", "tanh", "log", "exp2", "rsqrt", "sign", "floor", "ceil", "trunc", "rint",
                              "square", "fma"])
        if op == "square":
            return self.made(f"{self.wrapped(e, ATOM)}**2", oracle.Map(op, e.node), [e], UNARY)
        if op == "fma":
            return self.call(op, e, *self.pair(shape, lambda s: self.real(s, depth - 1)))
        if op == "neg":
            return self.made(f"-{self.wrapped(e, UNARY + 1)}", oracle.Map("neg", e.node), [e], UNARY, e.fmt)
        return self.call(op, e, fmt=e.fmt if op == "abs" else None)

    def where(self, shape, depth):
        a, b = self.pair(shape, lambda s: self.real(s, depth - 1))
        c = self.comparison(self.rng.choice([shape, ()]), depth)
        return self.made(f"where({c.text}, {a.text}, {b.text})", oracle.Where(c.node, a.node, b.node), [a, b, c])

    def reduced(self, shape, longest=3):
        """A shape with one more axis, that axis, and its text."""
        axis = self.rng.randrange(len(shape) + 1)
        inner = shape[:axis] + (self.rng.choice([1, 2, 2, longest]),) + shape[axis:]
        written = axis if self.rng.random() < 0.5 else axis - len(inner)
        return inner, axis, f"axis={written}" if len(inner) > 1 or self.rng.random() < 0.5 else ""

    def reduction(self, op, shape, make):
        rng = self.rng
        if rng.random() < 0.15 and 1 in shape:  # keepdims
            axis = shape.index(1)
            e = make(shape[:axis] + (rng.choice([2, 3]),) + shape[axis + 1:])
            return self.made(f"{op}({e.text}, axis={axis}, keepdims=true)", oracle.Reduce(op, e.node, (axis,), True), [e])
        if rng.random() < 0.15:  # two axes
            e = make((2,) + shape + (rng.choice([1, 2]),))
            axes = (0, len(shape) + 1)
            text = "" if not shape else f", axis=(0, {rng.choice([-1, axes[1]])})"
            return self.made(f"{op}({e.text}{text})", oracle.Reduce(op, e.node, axes), [e])
        inner, axis, text = self.reduced(shape)
        e = make(inner)
        node = oracle.Reduce(op, e.node, (axis,))
        return self.masked(op, e, node, text)

    def masked(self, op, e, node, text):
        """The reduction as written, sometimes with a mask."""
        written = e.text
        if self.rng.random() < 0.3:
            mask, test = self.mask(e.shape)
            written, node = f"{e.text} where {test}", more.Masked(node, mask)
        return self.made(f"{op}({', '.join(filter(None, [written, text]))})", node, [e])

    def mask(self, shape):
        """A test of an input, which has single values."""
        fits = [e for e in self.names if isinstance(e.node, oracle.Input) and e.shape == shape]
        named = self.rng.choice(fits) if fits else None
        while named is None or not isinstance(named.node, oracle.Input):
            named = self.input(self.rng.choice([shape, shape[-1:]]))
        return oracle.Map("gt", named.node, oracle.Literal(num.ZERO)), f"{named.text} > 0"

    def running(self, shape, depth):
        """cumsum, cumprod"""
        if not shape:
            return self.sum(shape, depth)
        op, axis = self.rng.choice(["cumsum", "cumsum", "cumprod"]), self.rng.randrange(len(shape))
        e = self.real(shape, depth - 1)
        node = more.Prefix("sum" if op == "cumsum" else "prod", e.node, axis)
        return self.masked(op, e, node, f"axis={self.rng.choice([axis, axis - len(shape)])}")

    def product_of(self, shape, depth):
        return self.reduction("prod", shape, lambda s: self.real(s, depth - 1))

    def place(self, shape, depth):
        inner, axis, text = self.reduced(shape)
        e = self.real(inner, depth - 1)
        place = self.made(f"argmax({', '.join(filter(None, [e.text, text]))})", more.ArgMax(e.node, axis), [e])
        return self.binary("add", place, self.input(()))

    def exactly(self, shape, e):
        """An expression that broadcasts to a shape, in that shape."""
        if e.shape == shape:
            return e
        skipped = len(shape) - len(e.shape)

        def source(i):
            return tuple(0 if n == 1 else k for k, n in zip(i[skipped:], e.shape))
        return self.made(f"broadcast({e.text}, {shape_text(shape)})", oracle.View(e.node, shape, source), [e], fmt=e.fmt)

    def letters(self, shape, make):
        """An einsum of two operands with this result."""
        rng = self.rng
        result = "abcde"[:len(shape)]
        summed = rng.choice(["k", "k", "kl", ""])
        length = dict(zip(result + summed, shape + tuple(rng.choice([1, 2, 3]) for _ in summed)))
        terms = []
        for _ in range(2):
            own = [x for x in result + summed if rng.random() < 0.7]
            rng.shuffle(own)
            terms.append(own)
        for x in result + summed:
            if not any(x in t for t in terms):
                rng.choice(terms).append(x)
        if rng.random() < 0.2 and terms[0]:
            terms[0].append(terms[0][0])  # a diagonal
        subscripts = ",".join("".join(t) for t in terms) + "->" + result
        parts = [self.exactly(shape, make(shape)) for shape in (tuple(length[x] for x in t) for t in terms)]
        return self.made(f'einsum("{subscripts}", {", ".join(p.text for p in parts)})', more.Einsum(subscripts, *(p.node for p in parts)), parts)

    def einsum(self, shape, depth):
        return self.letters(shape, lambda s: self.real(s, depth - 1))

    def joined(self, shape, depth):
        axis = next((k for k, n in enumerate(shape) if n > 1), None)
        if axis is None:
            return self.view(shape, depth)
        first = self.rng.randrange(1, shape[axis])
        shapes = [shape[:axis] + (n,) + shape[axis + 1:] for n in (first, shape[axis] - first)]
        parts = [self.exactly(s, self.real(s, depth - 1)) for s in shapes]
        return self.made(f"concat({', '.join(p.text for p in parts)}, axis={axis})", more.Join([p.node for p in parts], axis), parts)

    def average(self, shape, depth):
        e = self.reduction("sum", shape, lambda s: self.real(s, depth - 1))
        return self.made("mean" + e.text[3:], more.Mean(e.node), [e])

    def sum(self, shape, depth):
        return self.reduction("sum", shape, lambda s: self.real(s, depth - 1))

    def extremum(self, shape, depth):
        op = self.rng.choice(["max", "min", "maximum", "minimum", "fmax", "fmin"])
        if op in ("max", "min"):
            return self.reduction(op, shape, lambda s: self.real(s, depth - 1))
        return self.call(op, *self.pair(shape, lambda s: self.real(s, depth - 1)))

    def product(self, shape, make):
        """A @ B of this shape."""
        k = self.rng.choice([1, 2, 2, 3])
        a, b = make(shape[:-1] + (k,)), make((k, shape[-1]))
        return self.made(f"{self.wrapped(a, TERM)} @ {self.wrapped(b, TERM + 1)}", oracle.MatMul(a.node, b.node), [a, b], TERM)

    def matmul(self, shape, depth):
        if len(shape) != 2:
            return self.sum(shape, depth)
        return self.product(shape, lambda s: self.real(s, depth - 1))

    def view(self, shape, depth):
        kind = self.rng.choice(["T", "transpose", "reshape", "index", "slice", "broadcast"])
        if kind in ("T", "transpose") and len(shape) == 2:
            e = self.real(shape[::-1], depth - 1)
            text = f"{self.wrapped(e, ATOM)}.T" if kind == "T" else f"transpose({e.text}, axes=(1, 0))"
            return self.made(text, oracle.View(e.node, shape, lambda i: i[::-1]), [e], fmt=e.fmt)
        if kind == "reshape" and shape:
            size = int(np.prod(shape))
            e = self.real((size,), depth - 1)
            flat = lambda i: (int(np.ravel_multi_index(i, shape)),)  # noqa: E731
            return self.made(f"reshape({e.text}, {shape_text(shape)})", oracle.View(e.node, shape, flat), [e], fmt=e.fmt)
        if kind == "broadcast" and len(shape) == 2:
            e = self.real((1, shape[1]), depth - 1)
            return self.made(f"broadcast({e.text}, {shape_text(shape)})", oracle.View(e.node, shape, lambda i: (0, i[1])), [e], fmt=e.fmt)
        if kind == "slice" and shape:
            e = self.real((shape[0] + 1,) + shape[1:], depth - 1)
            return self.made(f"{self.wrapped(e, ATOM)}[1:]", oracle.View(e.node, shape, lambda i: (i[0] + 1,) + i[1:]), [e], fmt=e.fmt)
        e = self.real((2,) + shape, depth - 1)
        row = self.rng.choice([0, 1, -1])
        return self.made(f"{self.wrapped(e, ATOM)}[{row}]", oracle.View(e.node, shape, lambda i: (row % 2,) + i), [e], fmt=e.fmt)

    def rounding(self, shape, depth, fmt=None):
        rng = self.rng
        fmt, e = fmt or rng.choice(FORMATS), self.real(shape, depth - 1)
        if rng.random() < 0.15 and "<" not in fmt.text:
            return self.made(f"{fmt.text}({e.text})", oracle.Round(fmt, e.node), [e], fmt=fmt)
        mode = rng.choice(["rne"] * 4 + MODES)
        overflow = rng.choice([""] * 4 + ["sat", "sat_finite", "nosat"])
        ftz = rng.choice(["no"] * 5 + ["yes"])
        self.freedom |= mode in ("sr", "faithful") or ftz != "no"
        words = [fmt.text] + ([mode] if mode != "rne" or overflow or ftz == "yes" or rng.random() < 0.3 else [])
        words += [overflow] * bool(overflow) + ["ftz"] * (ftz == "yes")
        return self.made(f"round<{', '.join(words)}>({e.text})", oracle.Round(fmt, e.node, mode, overflow, ftz), [e], fmt=fmt)

    def approx(self, shape, depth):
        """A function, or anything else, known by its error."""
        rng = self.rng
        self.freedom = True
        e, fmt = self.real(shape, depth - 1), rng.choice(FORMATS)
        if rng.random() < 0.5:
            e = self.call(rng.choice(["exp", "tanh", "sqrt", "log"]), e)
        bounds, words, inside = {}, [], set(e.inside)
        for kind in rng.sample(["ulp", "steps", "rel", "abs"], rng.choice([1, 1, 2])):
            if kind in ("ulp", "steps"):
                bounds[kind] = rng.choice([1, 2])
                words.append(f"{kind}={bounds[kind]}")
                continue
            bound = self.real(rng.choice([shape, ()]), 0)
            bounds[kind] = bound.node
            words.append(f"{kind}={self.wrapped(bound, SUM)}")
        if rng.random() < 0.2:
            bounds["lo"] = oracle.Literal(num.ZERO)
            words.append("lo=0")
        node = oracle.Approx(fmt, e.node, **bounds)
        return Expr(f"approx<{fmt.text}, {', '.join(words)}>({e.text})", node, ATOM, fmt, inside | {id(node)})

    def cast(self, shape, depth):
        rng = self.rng
        e, fmt = self.real(shape, depth - 1), rng.choice([F32, TF32])
        kind = rng.choice(["cast", "wrap", "saturate"])
        self.freedom = True
        bits, signed = rng.choice([(8, True), (8, False), (16, True)])
        whole = oracle.Cast(kind, bits, signed, e.node)
        inner = Expr(f"{kind}<{'i' if signed else 'u'}{bits}>({e.text})", whole, ATOM, None, e.inside | {id(whole)})
        return self.made(f"round<{fmt.text}>({inner.text})", oracle.Round(fmt, whole), [inner], fmt=fmt)

    def block(self, shape, depth):
        rng, fmt = self.rng, self.rng.choice(FORMATS)
        contract = rng.random() < 0.5
        ftz, daz = rng.choice(["no"] * 5 + ["yes", "free"]), rng.choice(["no"] * 5 + ["yes", "free"])
        ulp = rng.choice([0, 0, 0, 1, 2])
        self.freedom |= contract or ftz != "no" or daz != "no" or ulp > 0
        body = self.written_inside(fmt, shape, depth)
        node = oracle.Block(fmt, body.node, body.inside, contract, ftz, daz, ulp)
        options = [w for w, on in (("contract", contract), (f"ulp={ulp}", ulp)) if on]
        options += [w if how == "yes" else f"{w}={how}" for w, how in (("ftz", ftz), ("daz", daz)) if how != "no"]
        text = f"in {', '.join([fmt.text, *options])} {{ {body.text} }}"
        # As an operand it stands in parentheses.
        return Expr(text, node, 0, None, {id(node)})

    def written_inside(self, fmt, shape, depth):
        """The body of `in F { }`: arithmetic on names and literals, and what does not round."""
        rng = self.rng
        if depth <= 0 or rng.random() < 0.15:
            if shape == () and rng.random() < 0.4:
                return self.literal()
            named = self.input(shape, within=fmt)
            return named if named is not None else self.opaque(self.rounding(shape, 1, fmt))
        kind = rng.choice(["binary"] * 5 + ["unary", "where", "extremum", "exact"])
        inner = lambda s: self.written_inside(fmt, s, depth - 1)  # noqa: E731
        if kind == "binary":
            a, b = self.pair(shape, inner)
            return self.binary(rng.choice(["add", "add", "sub", "mul", "mul", "div"]), a, b, fmt)
        if kind == "unary":
            e, op = inner(shape), rng.choice(["neg", "abs", "sqrt", "exp", "rsqrt", "exp2"])
            if op == "neg":
                return self.made(f"-{self.wrapped(e, UNARY + 1)}", oracle.Map("neg", e.node), [e], UNARY)
            return self.call(op, e)
        if kind == "where":
            a, b = self.pair(shape, inner)
            c, d = self.pair(shape, inner)
            test = self.made(f"{self.wrapped(c, SUM)} < {self.wrapped(d, SUM)}", oracle.Map("lt", c.node, d.node), [c, d], COMPARISON)
            return self.made(f"where({test.text}, {a.text}, {b.text})", oracle.Where(test.node, a.node, b.node), [a, b, test])
        if kind == "extremum":
            return self.call(rng.choice(["maximum", "minimum"]), *self.pair(shape, inner))
        a, b = self.pair(shape, lambda s: self.input(s, within=fmt) or self.literal())
        if a.shape != shape and b.shape != shape:
            return self.written_inside(fmt, shape, 0)
        e = self.binary(rng.choice(["add", "mul"]), a, b, fmt)
        return Expr(f"exact({e.text})", e.node, ATOM)

    @staticmethod
    def opaque(e):
        """Written inside a block, but rounding by itself: nothing in it belongs to the block."""
        return Expr(e.text, e.node, e.level, e.fmt)

    def any_of(self, shape, depth):
        self.freedom = True
        parts = [self.real(s, depth - 1) for s in self.operand_shapes(shape)]
        if self.rng.random() < 0.3:
            parts.append(self.real(shape, depth - 1))
        fmts = {p.fmt for p in parts}
        return self.made(f"any_of({', '.join(p.text for p in parts)})", oracle.AnyOf(*(p.node for p in parts)), parts,
                         fmt=fmts.pop() if len(fmts) == 1 else None)

    def acc(self, shape, depth):
        rng = self.rng
        fmt = rng.choice([F16, BF16, F32, SMALL, E5M2])
        leaf = lambda s: self.value_of(fmt, s, depth - 1)  # noqa: E731
        kind = rng.choice(["sum", "dot", "matmul", "chain", "sum+", "matmul+", "running", "einsum"])
        if kind.startswith("matmul") and len(shape) == 2:
            e = self.product(shape, leaf)
        elif kind == "chain":
            e = self.binary(rng.choice(["add", "sub"]), *self.pair(shape, leaf), fmt)
            if rng.random() < 0.5:
                e = self.binary("add", e, self.binary("mul", *self.pair(shape, leaf), fmt), fmt)
        elif kind == "dot":
            e = self.reduction("sum", shape, lambda s: self.binary("mul", *self.pair(s, leaf), fmt))
        elif kind == "running" and shape:
            e, axis = leaf(shape), rng.randrange(len(shape))
            e = self.masked("cumsum", e, more.Prefix("sum", e.node, axis), f"axis={axis}")
        elif kind == "einsum" and (made := self.letters(shape, leaf)).node.summed:
            e = made
        else:
            e = self.reduction("sum", shape, leaf)
        if kind.endswith("+"):
            e = self.binary(rng.choice(["add", "sub"]), e, leaf(shape), fmt)
        text, order = rng.choice([o for o in ORDERS if "store" not in o[0] or fmt.contains(BF16)])
        fma = rng.choice(["free", "free", "always", "never"])
        ftz = rng.choice(["no"] * 5 + ["yes", "free"])
        self.freedom |= text not in DETERMINISTIC or fma != "never" or ftz != "no"
        words = [fmt.text] + [text] * (text != "any" or rng.random() < 0.3)
        words += [f"fma={fma}"] * (fma != "free" or rng.random() < 0.2) + [f"ftz={ftz}"] * (ftz != "no")
        return self.made(f"acc<{', '.join(words)}>({e.text})", oracle.Acc(fmt, e.node, order, fma, ftz), [e], fmt=fmt)

    def within(self, shape, depth):
        self.freedom = True
        fmt = self.rng.choice([F16, BF16, F32])
        body = self.written_within(shape, min(depth, 2))
        ftz = self.rng.random() < 0.2
        node = oracle.Within(fmt, body.node, body.inside, "free" if ftz else "no")
        return Expr(f"within<{fmt.text}{', ftz' * ftz}>({body.text})", node, ATOM, None, {id(node)})

    def written_within(self, shape, depth):
        rng = self.rng
        if depth <= 0:
            return self.literal() if shape == () and rng.random() < 0.4 else self.input(shape)
        inner = lambda s: self.written_within(s, depth - 1)  # noqa: E731
        kind = rng.choice(["binary"] * 4 + ["unary", "sum", "dot", "running", "einsum", "mean"])
        if kind == "unary":
            e, op = inner(shape), rng.choice(["neg", "abs", "sqrt", "exp"])
            if op == "neg":
                return self.made(f"-{self.wrapped(e, UNARY + 1)}", oracle.Map("neg", e.node), [e], UNARY)
            return self.call(op, e)
        if kind == "sum":
            return self.reduction("sum", shape, inner)
        if kind == "mean":
            e = self.reduction("sum", shape, inner)
            return self.made("mean" + e.text[3:], more.Mean(e.node), [e])
        if kind == "running" and shape:
            e, axis = inner(shape), rng.randrange(len(shape))
            return self.masked("cumsum", e, more.Prefix("sum", e.node, axis), f"axis={axis}")
        if kind == "einsum":
            return self.letters(shape, self.input)
        if kind == "dot" and len(shape) == 2:
            return self.product(shape, lambda s: self.written_within(s, 0))
        return self.binary(rng.choice(["add", "sub", "mul", "div"]), *self.pair(shape, inner))

    def let(self, shape, depth):
        e = self.real(shape, depth - 1)
        name = f"t{len(self.lets)}"
        self.lets.append(f"let {name} = {e.text}")
        self.names.append(Expr(name, oracle.Let(e.node), ATOM, e.fmt))
        return self.names[-1]

    def case(self):
        shape = self.rng.choice([(), (2,), (3,), (2, 2), (2, 3), (1, 3)])
        rounded = self.rng.random() < 0.8
        e = self.rounding(shape, self.depth) if rounded else self.real(shape, self.depth)
        used = {n: d for n, d in self.inputs.items() if re.search(rf"\b{n}\b", " ".join([*self.lets, e.text]))}
        inputs = {n: d for n, (d, _) in used.items()}
        if not self.lets and (not rounded or self.rng.random() < 0.5):
            return Case(e.text, inputs, e.node, e.fmt if rounded else None, False, not self.freedom)
        if not rounded:
            e = self.made(f"round<f32>({e.text})", oracle.Round(F32, e.node), [e], fmt=F32)
        signature = ", ".join(f"{n}: {'real' if f is None else f.text + bracketed(d.shape)}" for n, (d, f) in used.items())
        body = "\n  ".join([*self.lets, f"return {e.text}"])
        return Case(f"spec s({signature}) -> {e.fmt.text}{bracketed(shape)} {{\n  {body}\n}}\n", inputs, e.node, e.fmt, True, not self.freedom)


def bracketed(shape):
    return f"[{', '.join(map(str, shape))}]" if shape else ""


def shape_text(shape):
    return f"({', '.join(map(str, shape))}{',' if len(shape) == 1 else ''})"
