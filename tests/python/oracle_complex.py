"""Complex numbers for the oracle: pairs of its nodes, with the textbook formulas written out once more.

    z = Pair(Input([1, 2], (2,)), Input([0, 1], (2,)));  outcomes(times(z, z), (0,))  ->  ([(Fraction(1), Fraction(0))], True)
"""
from oracle import AnyOf, Literal, Map, MatMul, Node, Reduce, Round, View, Where, broadcast_index, broadcast_shape
from oracle_numbers import ZERO


class Pair:
    def __init__(self, re, im):
        self.shape = broadcast_shape(re.shape, im.shape)
        self.re, self.im = (p if p.shape == self.shape else View(p, self.shape, lambda i, p=p: broadcast_index(i, p.shape)) for p in (re, im))

    def at(self, run, index):
        return self.re.at(run, index), self.im.at(run, index)


def both(make, *operands):
    return Pair(make(*(o.re for o in operands)), make(*(o.im for o in operands)))


def from_real(x):
    return Pair(x, View(Literal(ZERO), x.shape, lambda index: ()))


def plus(a, b):
    return both(lambda x, y: Map("add", x, y), a, b)


def minus(a, b):
    return both(lambda x, y: Map("sub", x, y), a, b)


def negative(a):
    return both(lambda x: Map("neg", x), a)


def conj(a):
    return Pair(a.re, Map("neg", a.im))


def times(a, b, product=lambda x, y: Map("mul", x, y)):
    return Pair(Map("sub", product(a.re, b.re), product(a.im, b.im)), Map("add", product(a.re, b.im), product(a.im, b.re)))


def matmul(a, b):
    return times(a, b, MatMul)


def scaled(x, a):
    return both(lambda p: Map("mul", x, p), a)


def divided(a, x):
    return both(lambda p: Map("div", p, x), a)


def quotient(a, b):
    square = lambda x, y: Map("mul", x, y)  # noqa: E731
    below = Map("add", square(b.re, b.re), square(b.im, b.im))
    above = times(a, conj(b))
    return Pair(Map("div", above.re, below), Map("div", above.im, below))


def total(a, axes):
    return both(lambda p: Reduce("sum", p, axes), a)


def transposed(a):
    return both(lambda p: View(p, p.shape[::-1], lambda index: index[::-1]), a)


def rounded(fmt, a, *rounding):
    return both(lambda p: Round(fmt, p, *rounding), a)


def where(condition, a, b):
    return both(lambda x, y: Where(condition, x, y), a, b)


class _Choice(Node):
    """Which alternative an element is: one choice for both of its parts."""

    def __init__(self, count, shape):
        self.count, self.shape = count, shape

    def element(self, run, index):
        return run.choose(list(range(self.count)))


class _Part(Node):
    def __init__(self, choice, parts):
        self.choice, self.parts, self.shape = choice, parts, choice.shape

    def element(self, run, index):
        return self.operand(run, self.parts[self.choice.at(run, index)], index)


def any_of(*alternatives, label=None):
    if label is not None:
        return both(lambda *p: AnyOf(*p, label=label), *alternatives)
    choice = _Choice(len(alternatives), broadcast_shape(*(a.shape for a in alternatives)))
    return both(lambda *p: _Part(choice, p), *alternatives)
