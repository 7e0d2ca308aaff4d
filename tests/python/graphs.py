"""Random graphs of 10 to 40 nodes: many `let`s over tensors of one to four dimensions, functions and folds among them.

    case = Graphs(random.Random(7)).graph();  case.text, case.inputs, case.node
"""
import re

import oracle
from expressions import ATOM, TERM, Case, Expr, Generator, bracketed
from oracle_numbers import BF16, E5M2, F16, F32, Fraction

BASES = [(2,), (3,), (2, 2), (2, 3), (1, 3), (2, 1, 2), (2, 2, 2), (1, 2, 3), (2, 1, 2, 1), (1, 2, 2, 2)]


class Graphs(Generator):
    def __init__(self, rng):
        super().__init__(rng, depth=1)
        self.functions = []

    # Names are used again more often than not: values flow through the graph.
    def input(self, shape, within=None):
        fits = [e for e in self.names if e.shape == shape and (within is None or (e.fmt is not None and within.contains(e.fmt)))]
        if fits and self.rng.random() < 0.8:
            return self.rng.choice(fits[-4:])
        return super().input(shape, within)

    def matmul(self, shape, depth):
        if len(shape) < 2:
            return self.sum(shape, depth)
        return self.product(shape, lambda s: self.real(s, depth - 1))

    def product(self, shape, make):
        if len(shape) == 2:
            return super().product(shape, make)
        k = self.rng.choice([1, 2, 2])  # batches of matrices, of both operands or of the first
        a, b = make(shape[:-1] + (k,)), make((shape[:-2] if self.rng.random() < 0.5 else ()) + (k, shape[-1]))
        return self.made(f"{self.wrapped(a, TERM)} @ {self.wrapped(b, TERM + 1)}", oracle.MatMul(a.node, b.node), [a, b], TERM)

    def view(self, shape, depth):
        if len(shape) < 3 or self.rng.random() < 0.5:
            return super().view(shape, depth)
        axes = list(range(len(shape)))
        self.rng.shuffle(axes)
        source = [0] * len(shape)
        for to, axis in enumerate(axes):
            source[axis] = shape[to]
        e = self.real(tuple(source), depth - 1)

        def at(index):
            back = [0] * len(index)
            for to, axis in enumerate(axes):
                back[axis] = index[to]
            return tuple(back)
        return self.made(f"transpose({e.text}, axes=({', '.join(map(str, axes))}))", oracle.View(e.node, shape, at), [e], fmt=e.fmt)

    # --- functions and folds: a body that is instantiated anew for each call and iteration ---

    def body(self):
        """A formula of two names, as its text and what it makes of two values; the format of its result."""
        rng = self.rng
        fmt = rng.choice([F16, BF16, F32])
        kind = rng.choice(["round", "stochastic", "block", "acc", "any_of", "within"])
        f = fmt.text
        if kind == "round":
            return f"round<{f}>(p * q + 0.5)", lambda p, q: oracle.Round(fmt, oracle.Map("add", oracle.Map("mul", p, q), half())), fmt
        if kind == "stochastic":
            self.freedom = True
            return f"round<{f}, sr>(p - 0.5 * q)", lambda p, q: oracle.Round(fmt, oracle.Map("sub", p, oracle.Map("mul", half(), q)), "sr"), fmt
        if kind == "block":
            self.freedom = True

            def make(p, q):
                p, q = (oracle.Let(oracle.Round(fmt, x)) for x in (p, q))
                product = oracle.Map("mul", p, q)
                total = oracle.Map("add", product, p)
                return oracle.Round(fmt, oracle.Block(fmt, total, {id(product), id(total)}, contract=True))
            return f"{{ let a = {f}(p)\n  let b = {f}(q)\n  return {f}(in {f}, contract {{ a * b + a }}) }}", make, fmt
        if kind == "acc":
            self.freedom = True

            def make(p, q):
                a, b, c = (oracle.Round(fmt, x) for x in (p, q, p))
                return oracle.Acc(fmt, oracle.Map("add", oracle.Map("sub", a, b), c))
            return f"acc<{f}>({f}(p) - {f}(q) + {f}(p))", make, fmt
        if kind == "any_of":
            self.freedom = True
            return f"{f}(any_of(p + q, p))", lambda p, q: oracle.Round(fmt, oracle.AnyOf(oracle.Map("add", p, q), p)), fmt
        self.freedom = True

        def make(p, q):
            product = oracle.Map("mul", p, q)
            total = oracle.Map("add", product, q)
            return oracle.Round(fmt, oracle.Within(fmt, total, {id(product), id(total)}))
        return f"{f}(within<{f}>(p * q + q))", make, fmt

    def called(self, shape):
        """A call of a function: its parameters name one value each."""
        text, make, fmt = self.body()
        name = f"f{len(self.functions)}"
        self.functions.append(f"fn {name}(p, q) {text if text.startswith('{') else '= ' + text}")
        a, b = self.real(shape, 1), self.real(shape, 0)
        return self.made(f"{name}({a.text}, {b.text})", make(oracle.Let(a.node), oracle.Let(b.node)), [a, b], fmt=fmt)

    def folded(self, shape):
        """A loop of two or three rounds over one state."""
        text, make, fmt = self.body()
        start, other = self.value_of(fmt, shape, 1), self.input(shape)
        rounds = self.rng.choice([2, 2, 3])
        state = oracle.Let(start.node)
        for _ in range(rounds):
            state = oracle.Let(make(state, other.node))
        name = f"f{len(self.functions)}"
        self.functions.append(f"fn {name}(p, q) {text if text.startswith('{') else '= ' + text}")
        loop = f"fold (h = {start.text}) over i in 0..{rounds} {{ next {name}(h, {other.text}) }}"
        return self.made(loop, state, [start, other], 0, fmt)

    def step(self, shape):
        rng = self.rng
        kind = rng.random()
        if kind < 0.15:
            return self.called(shape)
        if kind < 0.25:
            return self.folded(shape)
        e = self.real(shape, rng.choice([1, 1, 2]))
        # What is stored keeps the numbers of the oracle short.
        return e if e.fmt is not None or rng.random() < 0.3 else self.made(
            f"round<{(fmt := rng.choice([F32, F16, BF16, E5M2])).text}>({e.text})", oracle.Round(fmt, e.node), [e], fmt=fmt)

    def graph(self, least=10, most=40):
        """A spec whose graph has so many nodes that are read."""
        base = self.rng.choice(BASES)
        shapes = [base, base, base, base[::-1], base[1:] or base]
        for _ in range(60):
            e = self.step(self.rng.choice(shapes))
            name = f"t{len(self.lets)}"
            self.lets.append(f"let {name} = {e.text}")
            self.names.append(Expr(name, oracle.Let(e.node), ATOM, e.fmt))
            if e.shape == base and least <= count_nodes(e.node):
                break
        result = self.made(f"round<f32>({name})", oracle.Round(F32, self.names[-1].node), [], fmt=F32)
        lets = used_lets(self.lets, result.text)
        text = " ".join([*lets, *self.functions, result.text])
        inputs = {n: d for n, d in self.inputs.items() if re.search(rf"\b{n}\b", text)}
        signature = ", ".join(f"{n}: {'real' if f is None else f.text + bracketed(d.shape)}" for n, (d, f) in inputs.items())
        functions = [f for f in self.functions if re.search(rf"\b{f.split('(')[0][3:]}\(", " ".join(lets))]
        body = "\n  ".join([*lets, f"return {result.text}"])
        spec = "\n".join([*functions, f"spec s({signature}) -> f32{bracketed(e.shape)} {{\n  {body}\n}}\n"])
        fits = count_nodes(result.node) <= most and "spec" in spec
        return Case(spec, {n: d for n, (d, _) in inputs.items()}, result.node, F32, True, not self.freedom) if fits else None


def half():
    return oracle.Literal(Fraction(1, 2))


def used_lets(lets, text):
    """Only what the result reads: inputs of the others would not be declared."""
    used = []
    for let in reversed(lets):
        if re.search(rf"\b{let.split()[1]}\b", text):
            used.insert(0, let)
            text += " " + let
    return used


def operands_of(node):
    for name in ("node", "body"):
        if isinstance(getattr(node, name, None), oracle.Node):
            yield getattr(node, name)
    yield from getattr(node, "operands", ())


def count_nodes(node):
    seen, stack = set(), [node]
    while stack:
        n = stack.pop()
        if id(n) in seen:
            continue
        seen.add(id(n))
        stack += operands_of(n)
    return sum(1 for _ in seen)


