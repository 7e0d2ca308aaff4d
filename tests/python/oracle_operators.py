"""Operators of the oracle beyond its core: running sums, masks, places, products by letters, tensors put together.

    Prefix("sum", x, 0)   Masked(Reduce("max", x, (0,)), mask)   Einsum("ij,jk->ik", a, b)   Join([a, b], 0)
"""
from fractions import Fraction
from itertools import product as cartesian

import oracle_numbers as num
from oracle import Node, Reduce, broadcast_index, total_of
from oracle_numbers import add, divide, multiply, negate


class Prefix(Reduce):
    """cumsum, cumprod: an element is made of those up to its own."""

    def __init__(self, op, node, axis):
        super().__init__(op, node, (axis,))
        self.axis, self.shape = axis, node.shape

    def places(self, index, run):
        for k in range(index[self.axis] + 1):
            yield index[:self.axis] + (k,) + index[self.axis + 1:]


class Masked(Reduce):
    """A reduction without the elements where the mask is false."""

    def __init__(self, reduction, mask):
        self.__dict__.update(reduction.__dict__)
        self.reduction, self.mask = reduction, mask

    def places(self, index, run):
        for place in self.reduction.places(index, run):
            if self.mask.at(run, broadcast_index(place, self.mask.shape)):
                yield place


class Mean(Node):
    """The exact sum divided by the number of its elements."""

    def __init__(self, reduction):
        self.reduction, self.shape = reduction, reduction.shape

    def count(self, run, index):
        return Fraction(sum(1 for _ in self.reduction.places(index, run)))

    def element(self, run, index):
        return divide(self.reduction.at(run, index), self.count(run, index))


class ArgMax(Node):
    """The place of the first largest element along one axis; NaN is the largest."""

    def __init__(self, node, axis):
        self.node, self.axis = node, axis
        self.shape = node.shape[:axis] + node.shape[axis + 1:]

    def element(self, run, index):
        best = None
        for k in range(self.node.shape[self.axis]):
            x = self.node.at(run, index[:self.axis] + (k,) + index[self.axis:])
            if best is None or (not num.is_nan(best[1]) and (num.is_nan(x) or num.compare(x, best[1]) > 0)):
                best = k, x
        return Fraction(best[0])


class Join(Node):
    """concat: one after the other along an axis."""

    def __init__(self, nodes, axis):
        self.nodes, self.axis = nodes, axis
        first = nodes[0].shape
        self.shape = first[:axis] + (sum(n.shape[axis] for n in nodes),) + first[axis + 1:]

    def element(self, run, index):
        place = index[self.axis]
        for n in self.nodes:
            if place < n.shape[self.axis]:
                return n.at(run, index[:self.axis] + (place,) + index[self.axis + 1:])
            place -= n.shape[self.axis]


class Einsum(Node):
    """Explicit subscripts, without `...`. The summed letters are walked in the order of their first place."""

    def __init__(self, subscripts, *operands):
        left, self.result = subscripts.split("->")
        self.terms, self.operands = left.split(","), operands
        self.lengths = {}
        for term, o in zip(self.terms, operands):
            for letter, n in zip(term, o.shape):
                self.lengths[letter] = max(n, self.lengths.get(letter, 1))
        self.summed = [x for x in dict.fromkeys(left.replace(",", "")) if x not in self.result]
        self.shape = tuple(self.lengths[x] for x in self.result)

    def factors(self, run, index):
        for inner in cartesian(*(range(self.lengths[x]) for x in self.summed)):
            at = dict(zip(self.result, index)) | dict(zip(self.summed, inner))
            yield [o.at(run, tuple(at[x] for x in term)) for term, o in zip(self.terms, self.operands)]

    def element(self, run, index):
        total = None
        for values in self.factors(run, index):
            term = values[0]
            for v in values[1:]:
                term = multiply(term, v)
            total = term if total is None else add(total, term)
        return total_of(total, bool(self.summed))

    def leaves(self, run, index, negative):
        sign = negate if negative else (lambda v: v)
        if len(self.operands) == 1:
            return [sign(x) for (x,) in self.factors(run, index)]
        return [(sign(x), y) for x, y in self.factors(run, index)]
