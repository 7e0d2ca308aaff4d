"""An independent interpreter of small specs: it lists every legal execution, in exact rationals.

Written from the design documents, not from the C++. A tree of the classes below is evaluated for one element of its result;
each choice that an implementation has is a call of `Run.choose`, and `outcomes` replays the evaluation through all choices.
    x = Input([1, 2], (2,));  outcomes(Round(F16, Acc(F16, Sum(x, (0,)))), ())  ->  ([Fraction(3)], True)
"""
from itertools import product as cartesian

import oracle_numbers as num
from oracle_functions import FUNCTIONS
from oracle_numbers import ZERO, add, multiply, negate, round_to
from oracle_orders import Additions


class Run:
    """One execution: each stored element and each choice, made once."""

    def __init__(self, script, rng=None):
        self.script, self.rng = script, rng
        self.widths, self.made, self.memo = [], [], {}

    def choose(self, options):
        if len(options) == 1:
            return options[0]
        place = len(self.made)
        if place < len(self.script):
            pick = self.script[place]
        else:
            pick = self.rng.randrange(len(options)) if self.rng else 0
        self.made.append(pick)
        self.widths.append(len(options))
        return options[pick]


    def choose_once(self, label, options):
        """A labelled choice: the same at every place and element."""
        if label not in self.memo:
            self.memo[label] = self.choose(options)
        return self.memo[label]


def outcomes(node, index, limit, rng, tally=None):
    """Values of one element over its executions, and whether these are all of them; `tally.runs` counts the executions."""
    values, script = {}, []
    for _ in range(limit):
        run = Run(script)
        if tally:
            tally.runs += 1
        values.setdefault(node.at(run, index))
        script = run.made
        while script and script[-1] + 1 == run.widths[len(script) - 1]:
            script = script[:-1]
        if not script:
            return list(values), True
        script = script[:-1] + [script[-1] + 1]
    for _ in range(limit // 4):
        values.setdefault(node.at(Run([], rng), index))
        if tally:
            tally.runs += 1
    return list(values), False


def indices(shape):
    return list(cartesian(*(range(n) for n in shape)))


def broadcast_shape(*shapes):
    rank = max(map(len, shapes), default=0)
    padded = [(1,) * (rank - len(s)) + tuple(s) for s in shapes]
    return tuple(next((n for n in column if n != 1), 1) for column in zip(*padded))


def broadcast_index(index, shape):
    return tuple(0 if n == 1 else i for i, n in zip(index[len(index) - len(shape):], shape))


class Node:
    shape = ()
    free = False  # has a choice of its own

    def at(self, run, index):
        key = (id(self), index)
        if key not in run.memo:
            run.memo[key] = self.element(run, index)
        return run.memo[key]

    def operand(self, run, node, index):
        return node.at(run, broadcast_index(index, node.shape))


class Input(Node):
    def __init__(self, values, shape):
        self.values, self.shape = values, shape  # {index: number} or a flat list

    def element(self, run, index):
        flat = 0
        for i, n in zip(index, self.shape):
            flat = flat * n + i
        return self.values[flat]


class Literal(Input):
    def __init__(self, value):
        super().__init__([value], ())


class ScalarParameter(Literal):
    """An exact number bound to a free name: where it scales and is 0, its product is absent."""


class Let(Node):
    """A stored tensor: an opaque leaf. (Of a name alone it is another name: see `named`.)"""

    def __init__(self, node):
        self.node, self.shape = node, node.shape

    def element(self, run, index):
        return self.node.at(run, index)


def named(node):
    """What a name stands for in the end."""
    while isinstance(node, Let) and isinstance(node.node, (Let, ScalarParameter)):
        node = node.node
    return node


MAPS = {"add": add, "sub": num.subtract, "mul": multiply, "div": num.divide, **FUNCTIONS}
BLOCK_FUNCTIONS = {"sqrt", "exp", "log", "tanh", "exp2", "rsqrt"}
ROUNDED_IN_BLOCK = {"add", "sub", "mul", "div", "sqrt", "exp", "log", "tanh", "exp2", "rsqrt", "fma"}


class Map(Node):
    def __init__(self, op, *operands):
        self.op, self.operands = op, operands
        self.shape = broadcast_shape(*(o.shape for o in operands))

    def element(self, run, index):
        values = [self.operand(run, o, index) for o in self.operands]
        return self.apply(values)

    def apply(self, values):
        if self.op == "mul" and any(isinstance(named(o), ScalarParameter) and num.is_zero(v) for o, v in zip(self.operands, values)):
            return ZERO
        return MAPS[self.op](*values)


class Where(Node):
    def __init__(self, condition, yes, no):
        self.operands = (condition, yes, no)
        self.shape = broadcast_shape(*(o.shape for o in self.operands))

    def element(self, run, index):
        condition, yes, no = self.operands
        return self.operand(run, yes if self.operand(run, condition, index) else no, index)


class View(Node):
    """One element of the operand, at another index."""

    def __init__(self, node, shape, source):
        self.node, self.shape, self.source = node, shape, source

    def element(self, run, index):
        return self.node.at(run, self.source(index))


REDUCTIONS = {"sum": (add, ZERO), "prod": (multiply, num.Fraction(1)), "max": (num.maximum, num.NINF), "min": (num.minimum, num.INF),
              "any": (MAPS["or"], ZERO), "all": (MAPS["and"], num.Fraction(1))}


def total_of(total, summed):
    """The exact sum of terms; of nothing but negative zeros, an accumulator that starts at 0 makes 0 and another -0."""
    if total is num.NEG0 and summed:
        raise num.Unspecified
    return ZERO if total is None else total


class Reduce(Node):
    """sum, prod, max, min, any, all over axes."""

    def __init__(self, op, node, axes, keepdims=False):
        self.op, self.node, self.axes, self.keepdims = op, node, axes, keepdims
        if keepdims:
            self.shape = tuple(1 if i in axes else n for i, n in enumerate(node.shape))
        else:
            self.shape = tuple(n for i, n in enumerate(node.shape) if i not in axes)

    def places(self, index, run):
        if self.keepdims:
            index = tuple(i for k, i in enumerate(index) if k not in self.axes)
        for reduced in indices([self.node.shape[a] for a in self.axes]):
            kept, inner = iter(index), iter(reduced)
            yield tuple(next(inner) if i in self.axes else next(kept) for i in range(len(self.node.shape)))

    def element(self, run, index):
        values = [self.node.at(run, place) for place in self.places(index, run)]
        function, empty = REDUCTIONS[self.op]
        if not values:
            return empty
        total = values[0]
        for v in values[1:]:
            total = function(total, v)
        return total_of(total, self.op == "sum")


class MatMul(Node):
    """Two or more dimensions each; leading ones broadcast."""

    def __init__(self, a, b):
        self.operands = (a, b)
        self.shape = broadcast_shape(a.shape[:-2], b.shape[:-2]) + (a.shape[-2], b.shape[-1])

    def factors(self, run, index):
        a, b = self.operands
        for k in range(a.shape[-1]):
            batch_a = broadcast_index(index[:-2], a.shape[:-2]) if a.shape[:-2] else ()
            batch_b = broadcast_index(index[:-2], b.shape[:-2]) if b.shape[:-2] else ()
            yield a.at(run, batch_a + (index[-2], k)), b.at(run, batch_b + (k, index[-1]))

    def element(self, run, index):
        total = None
        for x, y in self.factors(run, index):
            term = multiply(x, y)
            total = term if total is None else add(total, term)
        return total_of(total, True)


class Round(Node):
    def __init__(self, fmt, node, mode="rne", overflow="", ftz="no"):
        self.fmt, self.node, self.shape = fmt, node, node.shape
        self.rounding = (mode, overflow, ftz)

    def element(self, run, index):
        return run.choose(round_to(self.node.at(run, index), self.fmt, *self.rounding))


class Approx(Node):
    """`approx<F, ulp=, steps=, rel=, abs=, lo=, hi=>(f)`: some of the values that it may return, the outermost among them."""

    def __init__(self, fmt, node, ulp=0, steps=0, rel=None, abs=None, lo=None, hi=None):
        self.fmt, self.node, self.ulp, self.steps = fmt, node, ulp, steps
        self.rel, self.abs, self.lo, self.hi = rel, abs, lo, hi
        self.shape = broadcast_shape(*(n.shape for n in (node, rel, abs, lo, hi) if n is not None))

    def element(self, run, index):
        f = self.operand(run, self.node, index)
        if isinstance(f, num.Special) and f is not num.NEG0:
            return run.choose(round_to(f, self.fmt))
        ends = self.ends(run, index, num.finite(f), num.subtract), self.ends(run, index, num.finite(f), add)
        between = round_to(self.cut(run, index, f), self.fmt)
        options = list(dict.fromkeys([*ends[0], *ends[1], *between]))
        finite = [v for v in options if isinstance(v, num.Fraction)]
        for side, top in ((ends[0], -self.fmt.max_finite), (ends[1], self.fmt.max_finite)):  # what overflows passes the last value
            if finite and any(num.is_nan(v) or num.is_infinite(v) for v in side):
                options += round_to(self.cut(run, index, top), self.fmt)  # lo= and hi= cut what NaN in a bound allows too
        return run.choose([s for v in options for s in ([ZERO, num.NEG0] if num.is_zero(v) else [v])])

    def ends(self, run, index, f, move):
        """The outermost values on one side: as overflow may give another, there may be two."""
        end = f
        if self.ulp:
            end = move(end, num.ulp(f, self.fmt) * self.ulp)
        for bound, scale in ((self.rel, num.absolute(f)), (self.abs, num.Fraction(1))):
            if bound is not None:
                end = move(end, multiply(num.absolute(self.operand(run, bound, index)), scale))
        end = self.cut(run, index, end)
        values = round_to(end, self.fmt)
        for _ in range(self.steps):
            values = [num.neighbour(v, self.fmt, move is add) for v in values]
        values = [round_to(self.cut(run, index, v), self.fmt) if self.steps else [v] for v in values]
        return [v for some in values for v in some]

    def cut(self, run, index, x):
        if self.lo is not None:
            x = num.maximum(x, self.operand(run, self.lo, index))
        return num.minimum(x, self.operand(run, self.hi, index)) if self.hi is not None else x


class Cast(Node):
    """cast, wrap and saturate to a type of integers; what C++ leaves open may be any value, of which three are tried."""

    def __init__(self, kind, bits, signed, node):
        self.kind, self.node, self.shape = kind, node, node.shape
        self.least = -(2 ** (bits - 1)) if signed else 0
        self.count = 2**bits

    def element(self, run, index):
        x = self.node.at(run, index)
        least, most = self.least, self.least + self.count - 1
        anything = [num.Fraction(least), num.Fraction(most), num.Fraction(1)]
        if num.is_nan(x):
            return run.choose(anything)
        if num.is_infinite(x):
            if self.kind == "saturate":
                return num.Fraction(most if x is num.INF else least)
            return run.choose(anything)
        whole = num.decide([num.finite(x)], round if self.kind == "saturate" else int)
        if self.kind == "saturate":
            return num.Fraction(min(max(whole, least), most))
        if self.kind == "wrap":
            return num.Fraction((whole - least) % self.count + least)
        return num.Fraction(whole) if least <= whole <= most else run.choose(anything)


class AnyOf(Node):
    """Per element one of the alternatives; with a label, one for the whole call."""

    def __init__(self, *operands, label=None):
        self.operands, self.label = operands, label
        self.shape = broadcast_shape(*(o.shape for o in operands))

    def element(self, run, index):
        if self.label is not None:
            return self.operand(run, self.operands[run.choose_once(self.label, range(len(self.operands)))], index)
        return self.operand(run, run.choose(self.operands), index)


class Block(Node):
    """`in F { body }`: operations written inside (nodes of class Map that `inside` holds) round once to F."""

    def __init__(self, fmt, body, inside, contract=False, ftz="no", daz="no", ulp=0):
        self.fmt, self.body, self.contract, self.shape = fmt, body, contract, body.shape
        self.inside = inside  # ids of the nodes written inside
        self.ftz, self.daz, self.ulp = ftz, daz, ulp

    def element(self, run, index):
        return self.value(run, self.body, index)

    def value(self, run, node, index):
        if id(node) not in self.inside:
            return node.at(run, index)
        key = (id(node), index)
        if key not in run.memo:
            run.memo[key] = self.evaluate(run, node, index)
        return run.memo[key]

    def part(self, run, node, index):
        return self.value(run, node, broadcast_index(index, node.shape))

    def rounded(self, run, x):
        return run.choose(round_to(x, self.fmt, ftz=self.ftz))

    def read(self, run, node, index):
        """An operand of an operation: under daz a subnormal value of the format is 0; what is exact is no such value."""
        x = self.part(run, node, index)
        is_exact = isinstance(node, ScalarParameter) or (isinstance(node, Map) and id(node) not in self.inside)
        if self.daz == "no" or not isinstance(x, num.Fraction) or x == 0 or abs(x) >= self.fmt.min_normal or is_exact:
            return x
        if round_to(x, self.fmt) != [x]:
            return x
        zero = num.signed_zero(x < 0)
        return zero if self.daz == "yes" else run.choose([x, zero])

    def is_product(self, node):
        return id(node) in self.inside and isinstance(node, Map) and node.op == "mul"

    def evaluate(self, run, node, index):
        if isinstance(node, Where):
            condition, yes, no = node.operands
            return self.part(run, yes if self.part(run, condition, index) else no, index)
        if isinstance(node, View):
            return self.value(run, node.node, node.source(index))
        if self.contract and node.op in ("add", "sub"):
            products = [o for o in node.operands if self.is_product(o)]
            fused = run.choose([None, *products])
            values = []
            for o in node.operands:
                if o is fused:
                    values.append(o.apply([self.read(run, f, broadcast_index(index, o.shape)) for f in o.operands]))
                else:
                    values.append(self.read(run, o, index))
            return self.rounded(run, node.apply(values))
        if node.op not in ROUNDED_IN_BLOCK:
            return node.apply([self.part(run, o, index) for o in node.operands])
        values = [self.read(run, o, index) for o in node.operands]
        if self.ulp and node.op in BLOCK_FUNCTIONS:
            function = Approx(self.fmt, Literal(node.apply(values)), self.ulp)
            run.memo[id(function), "kept"] = function  # what is remembered of it goes by its id
            return self.rounded(run, function.at(run, ()))  # a value of the format, which may be flushed
        return self.rounded(run, node.apply(values))


def leaves_of(run, node, index, negative=False):
    """The flat list of leaves: (value or pair of factors), sign applied to the value or the first factor."""
    sign = negate if negative else (lambda v: v)
    if isinstance(node, Map) and node.op in ("add", "sub"):
        a, b = node.operands
        return (leaves_of(run, a, broadcast_index(index, a.shape), negative)
                + leaves_of(run, b, broadcast_index(index, b.shape), negative != (node.op == "sub")))
    if isinstance(node, Reduce) and node.op == "sum":
        return [leaf for place in node.places(index, run) for leaf in leaves_of(run, node.node, place, negative)]
    if hasattr(node, "leaves"):
        return node.leaves(run, index, negative)
    if isinstance(node, MatMul):
        return [(sign(x), y) for x, y in node.factors(run, index)]
    if isinstance(node, Map) and node.op == "mul":
        a, b = node.operands
        return [(sign(a.at(run, broadcast_index(index, a.shape))), b.at(run, broadcast_index(index, b.shape)))]
    return [sign(node.at(run, index))]


class Acc(Node):
    """`acc<F, order, fma=, ftz=>(e)`: the value is any that the order's additions in F may give."""

    def __init__(self, fmt, node, order=("any",), fma="free", ftz="no"):
        self.node, self.shape, self.order = node, node.shape, order
        self.additions = Additions(fmt, fma, ftz)

    def element(self, run, index):
        leaves = leaves_of(run, self.node, index)
        if not leaves:
            return ZERO
        order = self.order
        if order[0] == "split":  # the number of parts is one choice for the whole call
            order = ("split", run.choose_once(id(self), order[1]), order[2])
        results = self.additions.results(leaves, order)
        if not results:  # no binary tree of that height holds so many leaves
            raise num.Unspecified
        return run.choose(sorted(results, key=str))


class Within(Node):
    """`within<F>(body)`: each operation at precision F or better, sums in any order. Some legal executions, not all."""

    def __init__(self, fmt, body, inside, ftz="no"):
        self.fmt, self.body, self.inside, self.shape, self.ftz = fmt, body, inside, body.shape, ftz
        better = num.Format("wide", 15, 2 * fmt.m + 4)
        more = num.Format("more", 15, fmt.m + 1)
        self.formats = (fmt, more, better)

    def element(self, run, index):
        return self.value(run, self.body, index)

    def value(self, run, node, index):
        if id(node) not in self.inside:
            return node.at(run, index)
        key = (id(node), index)
        if key not in run.memo:
            run.memo[key] = self.evaluate(run, node, index)
        return run.memo[key]

    def rounded(self, run, x):
        return run.choose(round_to(x, run.choose(self.formats), ftz=self.ftz))

    def read(self, run, node, x):
        """Hardware that flushes results reads subnormal operands as zero too: those of F, and no exact numbers."""
        if self.ftz == "no" or isinstance(node, (ScalarParameter, Map)) or not isinstance(x, num.Fraction) or x == 0 or abs(x) >= self.fmt.min_normal:
            return x
        return run.choose([x, num.signed_zero(x < 0)]) if round_to(x, self.fmt) == [x] else x

    def evaluate(self, run, node, index):
        if isinstance(node, View):
            return self.value(run, node.node, node.source(index))
        if hasattr(node, "count"):  # a mean: its sum, then one division
            return self.rounded(run, num.divide(self.value(run, node.reduction, index), node.count(run, index)))
        if isinstance(node, (Reduce, MatMul)) and getattr(node, "op", "sum") == "sum" or hasattr(node, "leaves") or (
                isinstance(node, Map) and node.op in ("add", "sub")):
            leaves = self.chain(run, node, index)
            additions = Additions(run.choose(self.formats), ftz=self.ftz)
            return run.choose(sorted(additions.any(leaves), key=str)) if leaves else ZERO
        values = [self.value(run, o, broadcast_index(index, o.shape)) for o in node.operands]
        if node.op in ROUNDED_IN_BLOCK:
            values = [self.read(run, o, v) for o, v in zip(node.operands, values)]
        result = node.apply(values) if isinstance(node, Map) else None
        return self.rounded(run, result) if node.op in ROUNDED_IN_BLOCK else result

    def chain(self, run, node, index, negative=False):
        sign = negate if negative else (lambda v: v)
        at = lambda o, i: broadcast_index(i, o.shape)  # noqa: E731
        if id(node) in self.inside and isinstance(node, Map) and node.op in ("add", "sub"):
            a, b = node.operands
            return self.chain(run, a, at(a, index), negative) + self.chain(run, b, at(b, index), negative != (node.op == "sub"))
        if id(node) in self.inside and isinstance(node, Reduce) and node.op == "sum":
            return [leaf for place in node.places(index, run) for leaf in self.chain(run, node.node, place, negative)]
        if id(node) in self.inside and hasattr(node, "leaves"):
            return node.leaves(run, index, negative)
        if id(node) in self.inside and isinstance(node, MatMul):
            a, b = node.operands
            return [(sign(self.value(run, a, index[:-1] + (k,))), self.value(run, b, (k,) + index[-1:])) for k in range(a.shape[-1])]
        if id(node) in self.inside and isinstance(node, Map) and node.op == "mul" and not any(
                isinstance(o, ScalarParameter) for o in node.operands):
            a, b = node.operands
            return [(sign(self.value(run, a, at(a, index))), self.value(run, b, at(b, index)))]
        return [sign(self.value(run, node, index))]
