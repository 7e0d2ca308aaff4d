"""Every result that additions in one format may give, for each order of `acc`. A leaf is a number or a pair of factors.

    Additions(F16).results([Fraction(1), Fraction(2)], ("any",))  ->  {Fraction(3)}
"""
from fractions import Fraction
from functools import lru_cache
from itertools import combinations, product as cartesian

from oracle_numbers import add, multiply, round_to, signed_zero


class Additions:
    def __init__(self, fmt, fma="free", ftz="no"):
        self.fmt, self.fma, self.ftz = fmt, fma, ftz

    def results(self, leaves, order):
        kind, *numbers = order
        return getattr(self, kind)(leaves, *numbers)

    def rounded(self, x, fmt=None):
        return round_to(x, fmt or self.fmt, ftz=self.ftz)

    def leaf(self, leaf, root):
        """What a leaf offers to its parent, or to the result where it is the root."""
        if not isinstance(leaf, tuple):
            return [leaf]
        products = [multiply(x, y) for x in self.read(leaf[0]) for y in self.read(leaf[1])]
        separate = [v for exact in products for v in self.rounded(exact)]
        # Under `always` too: fused with an accumulator that starts at zero, a product is rounded.
        return list(dict.fromkeys(separate if root or self.fma == "never" else [*products, *separate]))

    def read(self, factor):
        """Hardware that flushes results reads subnormal factors as zero too."""
        subnormal = self.ftz != "no" and isinstance(factor, Fraction) and factor != 0 and abs(factor) < self.fmt.min_normal
        return [factor, signed_zero(factor < 0)] if subnormal else [factor]

    def sums(self, *children):
        results = set()
        for values in cartesian(*children):
            total = values[0]
            for v in values[1:]:
                total = add(total, v)
            results.update(self.rounded(total))
        return results

    def any(self, leaves):
        """Every tree over every permutation, nodes that add several terms with one rounding included."""
        return self.trees(leaves, lambda subset: partitions(subset))

    def trees(self, leaves, parts_of):
        n, table = len(leaves), {}
        for size in range(1, n + 1):
            for subset in combinations(range(n), size):
                if size == 1:
                    table[subset] = self.leaf(leaves[subset[0]], root=n == 1)
                else:
                    table[subset] = set().union(*(self.sums(*(table[part] for part in parts)) for parts in parts_of(subset)))
        return set(table[tuple(range(n))])

    def assoc(self, leaves):
        n, table = len(leaves), {}
        for length in range(1, n + 1):
            for i in range(n - length + 1):
                if length == 1:
                    table[i, i + 1] = self.leaf(leaves[i], root=n == 1)
                else:
                    table[i, i + length] = set().union(*(self.sums(table[i, k], table[k, i + length]) for k in range(i + 1, i + length)))
        return set(table[0, n])

    def seq(self, leaves):
        if len(leaves) == 1:
            return set(self.leaf(leaves[0], root=True))
        first, second = leaves[:2]
        state = self.sums(self.leaf(first, root=isinstance(second, tuple)), self.next_leaf(second))
        if isinstance(first, tuple) and isinstance(second, tuple) and self.fma == "free":
            state |= self.sums([multiply(*first)], self.leaf(second, root=True))  # of two products either one may be fused
        for leaf in leaves[2:]:
            state = self.sums(state, self.next_leaf(leaf))
        return state

    def next_leaf(self, leaf):
        """What a leaf adds to the accumulator of a sequence."""
        return [multiply(*leaf)] if self.fma == "always" and isinstance(leaf, tuple) else self.leaf(leaf, root=False)

    def rseq(self, leaves):
        return self.seq(leaves[::-1])

    def pairwise(self, leaves, block):
        if len(leaves) <= block:
            return self.seq(leaves)
        middle = len(leaves) // 2
        return self.sums(self.pairwise(leaves[:middle], block), self.pairwise(leaves[middle:], block))

    def blocked(self, leaves, block, inner="seq", outer="any"):
        blocks = [self.results(leaves[i:i + block], (inner,)) for i in range(0, len(leaves), block)]
        return set().union(*(self.results(list(values), (outer,)) for values in cartesian(*blocks)))

    def split(self, leaves, parts, store):
        size = -(-len(leaves) // parts)
        pieces = [self.any(leaves[i:i + size]) for i in range(0, len(leaves), size)]
        stored = [{s for v in piece for s in round_to(v, store or self.fmt, ftz=self.ftz)} for piece in pieces]
        return set().union(*(self.any(list(values)) for values in cartesian(*stored)))

    def height(self, leaves, limit):
        """Binary trees of height at most the limit."""
        n, table = len(leaves), {}

        def of(subset, h):
            if (subset, h) not in table:
                if len(subset) == 1:
                    table[subset, h] = set(self.leaf(leaves[subset[0]], root=n == 1))
                else:
                    table[subset, h] = set().union(*(self.sums(of(a, h - 1), of(b, h - 1)) for a, b in halves(subset)
                                                     if max(len(a), len(b)) <= 2 ** (h - 1))) if h else set()
            return table[subset, h]
        return of(tuple(range(n)), limit)


@lru_cache(maxsize=4096)
def partitions(items):
    """All partitions into two or more parts, each part sorted."""
    def split(rest):
        if not rest:
            yield []
            return
        first, others = rest[0], rest[1:]
        for size in range(len(others) + 1):
            for chosen in combinations(others, size):
                left = tuple(x for x in others if x not in chosen)
                for tail in split(left):
                    yield [(first, *chosen)] + tail
    return [p for p in split(tuple(items)) if len(p) > 1]


@lru_cache(maxsize=4096)
def halves(items):
    return [p for p in partitions(items) if len(p) == 2]
