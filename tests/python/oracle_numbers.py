"""Real numbers with IEEE special values, and one rounding of them, written from the documents alone.

A number is a Fraction, an `Irrational`, or one of NAN, INF, NINF, NEG0 (the other zero is Fraction(0)). Nothing here is fast.
    round_to(Fraction(3, 10), F16)  ->  [Fraction(1229, 4096)]
"""
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property, lru_cache
from math import inf


class Special(str):
    """NaN, an infinity or -0. (Fraction(0) and -0.0 would be one key of a set.)"""
    __hash__ = str.__hash__


NAN, INF, NINF, NEG0 = Special("nan"), Special("inf"), Special("-inf"), Special("-0")
ZERO = Fraction(0)


class Undecided(Exception):
    """Two reals that no refinement told apart: the oracle has no answer for this element."""


class Unspecified(Exception):
    """The documents do not say what happens here."""


class Irrational:
    """A real known by ever narrower enclosures: `enclose(bits)` gives (lo, hi), about 2**-bits apart relatively."""

    def __init__(self, enclose):
        self.enclose_uncached = enclose
        self.known = {}

    def enclose(self, bits):
        if bits not in self.known:
            self.known[bits] = self.enclose_uncached(bits)
        return self.known[bits]


def decide(numbers, question):
    """`question` of points, answered for reals: refined until both ends answer alike."""
    if all(isinstance(x, Fraction) for x in numbers):
        return question(*numbers)
    for bits in (80, 200, 1000, 3000):
        ends = [(x, x) if isinstance(x, Fraction) else x.enclose(bits) for x in numbers]
        low, high = question(*(e[0] for e in ends)), question(*(e[1] for e in ends))
        mixed = len(numbers) == 2 and question(ends[0][0], ends[1][1]) != question(ends[0][1], ends[1][0])
        if low == high and not mixed:
            return low
    raise Undecided


def is_nan(x):
    return x is NAN


def is_infinite(x):
    return x is INF or x is NINF


def is_zero(x):
    return x is NEG0 or (isinstance(x, Fraction) and x == 0)


def is_negative(x):
    """The sign bit."""
    if isinstance(x, Special):
        return x is NINF or x is NEG0
    return x < 0 if isinstance(x, Fraction) else decide([x], lambda t: (t > 0) - (t < 0)) < 0


def from_float(x):
    if x != x:
        return NAN
    if x in (inf, -inf):
        return INF if x > 0 else NINF
    if x == 0:
        return NEG0 if str(float(x)).startswith("-") else ZERO
    return Fraction(float(x))


def to_float(x):
    """Of a value that is a double."""
    return float(x) if isinstance(x, (Fraction, Special)) else None


# --- exact operations ---------------------------------------------------------------------------------------------------

def hull_of(function, numbers, bits):
    """Ends of a function that is monotone in each argument over the enclosures."""
    ends = [(x, x) if isinstance(x, Fraction) else x.enclose(bits) for x in numbers]
    corners = [function(*c) for c in _corners(ends)]
    return min(corners), max(corners)


def _corners(ends):
    if not ends:
        return [()]
    return [(e, *rest) for e in ends[0] for rest in _corners(ends[1:])]


def lift(function, *numbers):
    if all(isinstance(x, Fraction) for x in numbers):
        return function(*numbers)
    return Irrational(lambda bits: hull_of(function, numbers, bits))


def signed_zero(negative):
    return NEG0 if negative else ZERO


def finite(x):
    return ZERO if x is NEG0 else x


def negate(x):
    if isinstance(x, Special):
        return {NAN: NAN, INF: NINF, NINF: INF, NEG0: ZERO}[x]
    return NEG0 if is_zero(x) else lift(lambda t: -t, x)


def add(x, y):
    if is_nan(x) or is_nan(y):
        return NAN
    if is_infinite(x) or is_infinite(y):
        return NAN if is_infinite(x) and is_infinite(y) and x is not y else (x if is_infinite(x) else y)
    if x is NEG0 and y is NEG0:
        return NEG0
    return lift(lambda s, t: s + t, finite(x), finite(y))


def subtract(x, y):
    return add(x, negate(y))


def multiply(x, y):
    if is_nan(x) or is_nan(y):
        return NAN
    if is_infinite(x) or is_infinite(y):
        if is_zero(x) or is_zero(y):
            return NAN
        return NINF if is_negative(x) != is_negative(y) else INF
    if is_zero(x) or is_zero(y):
        return signed_zero(is_negative(x) != is_negative(y))
    return lift(lambda s, t: s * t, x, y)


def divide(x, y):
    if is_nan(x) or is_nan(y):
        return NAN
    if (is_infinite(x) and is_infinite(y)) or (is_zero(x) and is_zero(y)):
        return NAN
    negative = is_negative(x) != is_negative(y)
    if is_infinite(x) or is_zero(y):
        return NINF if negative else INF
    if is_zero(x) or is_infinite(y):
        return signed_zero(negative)
    if isinstance(y, Irrational):
        decide([y], lambda t: t > 0)
        return Irrational(lambda bits: hull_of(lambda s, t: s / t, (x, y), _apart_from_zero(y, bits)))
    return lift(lambda s, t: s / t, x, y)


def _apart_from_zero(y, bits):
    while y.enclose(bits)[0] <= 0 <= y.enclose(bits)[1]:
        bits *= 2
    return bits


def absolute(x):
    return negate(x) if not is_nan(x) and is_negative(x) else x


def compare(x, y):
    """-1, 0, 1, or None where one is NaN."""
    if is_nan(x) or is_nan(y):
        return None
    order = {NINF: -1, INF: 1}
    if is_infinite(x) or is_infinite(y):
        a, b = order.get(x, 0) if isinstance(x, Special) else 0, order.get(y, 0) if isinstance(y, Special) else 0
        return (a > b) - (a < b)
    return decide([finite(x), finite(y)], lambda s, t: (s > t) - (s < t))


def maximum(x, y):
    if is_nan(x) or is_nan(y):
        return NAN
    return x if compare(x, y) >= 0 else y


def minimum(x, y):
    return negate(maximum(negate(x), negate(y)))


# --- formats and one rounding -------------------------------------------------------------------------------------------

@lru_cache(maxsize=None)
def power_of_two(k):
    return Fraction(2) ** k


@dataclass(frozen=True)
class Format:
    """e exponent bits, m fraction bits; `has_inf`, `has_nan`; `top` is the largest finite value."""
    text: str
    e: int
    m: int
    has_inf: bool = True
    has_nan: bool = True
    top: Fraction = None

    @cached_property
    def emin(self):
        return 2 - 2 ** (self.e - 1)

    @cached_property
    def emax(self):
        return 2 ** (self.e - 1) - 1

    @cached_property
    def max_finite(self):
        return self.top if self.top is not None else (2 - Fraction(1, 2**self.m)) * power_of_two(self.emax)

    @cached_property
    def min_normal(self):
        return power_of_two(self.emin)

    @cached_property
    def eta(self):
        return power_of_two(self.emin - self.m)

    def contains(self, other):
        return self.m >= other.m and self.emin - self.m <= other.emin - other.m and self.max_finite >= other.max_finite and (
            self.has_inf or not other.has_inf) and (self.has_nan or not other.has_nan)


F64, F32, F16, BF16 = Format("f64", 11, 52), Format("f32", 8, 23), Format("f16", 5, 10), Format("bf16", 8, 7)
TF32 = Format("tf32", 8, 10)
E5M2 = Format("f8e5m2", 5, 2)
E4M3FN = Format("f8e4m3fn", 4, 3, has_inf=False, top=Fraction(448))
TINY = Format("float<e=3, m=2>", 3, 2)
SMALL = Format("float<e=4, m=3>", 4, 3)


def quantum(x, fmt):
    """Distance of neighbours of the format at |x|, its exponent range taken as unbounded above."""
    x = abs(x)
    exponent = x.numerator.bit_length() - x.denominator.bit_length()
    if power_of_two(exponent) > x:
        exponent -= 1
    return power_of_two(max(exponent, fmt.emin) - fmt.m)


def nearest_steps(k, mode):
    """Integers that the real k rounds to: one, or both neighbours."""
    low = k.numerator // k.denominator
    if low == k:
        return [low]
    high, rest = low + 1, k - low
    half = Fraction(1, 2)
    if mode in ("rne", "rna"):
        if rest != half:
            return [low if rest < half else high]
        if mode == "rne":
            return [low if low % 2 == 0 else high]
        return [low if k < 0 else high]
    return {"rtz": [high if k < 0 else low], "rtp": [high], "rtn": [low], "rto": [low if low % 2 else high],
            "sr": [low, high], "faithful": [low, high]}[mode]


def overflowed(negative, fmt, mode, overflow):
    """What a result beyond the largest finite value becomes."""
    top = -fmt.max_finite if negative else fmt.max_finite
    if overflow in ("sat", "sat_finite") or not (fmt.has_inf or fmt.has_nan):
        return [top]
    beyond = (NINF if negative else INF) if fmt.has_inf else NAN
    if mode in ("rne", "rna") or (overflow == "nosat" and mode not in ("sr", "faithful")):
        return [beyond]
    toward_top = {"rtz": True, "rto": True, "rtp": negative, "rtn": not negative}
    if mode in ("sr", "faithful"):
        return [top, beyond]
    return [top if toward_top[mode] else beyond]


def round_point(x, fmt, mode, overflow, ftz):
    q = quantum(x, fmt)
    results = []
    for steps in nearest_steps(x / q, mode):
        r = steps * q
        past_directed = overflow == "nosat" and mode not in ("rne", "rna", "sr", "faithful") and abs(x) > fmt.max_finite
        if abs(r) > fmt.max_finite or past_directed:
            results += overflowed(x < 0, fmt, mode, overflow)
            continue
        r = r if r != 0 else signed_zero(x < 0)
        zero = signed_zero(x < 0)
        subnormal = not is_zero(r) and abs(r) < fmt.min_normal
        at_the_edge = not is_zero(r) and abs(r) == fmt.min_normal and abs(x) < fmt.min_normal
        if ftz == "no" or not (subnormal or at_the_edge):
            results.append(r)
        elif ftz == "yes" and subnormal:
            results.append(zero)
        else:
            results += [r, zero]
    return tuple(dict.fromkeys(results))


def round_to(x, fmt, mode="rne", overflow="", ftz="no"):
    """Every result that one rounding may give."""
    if is_nan(x):
        if not fmt.has_nan:
            raise Unspecified
        return [NAN]
    if is_infinite(x):
        top = fmt.max_finite if x is INF else -fmt.max_finite
        if overflow == "sat" or not (fmt.has_inf or fmt.has_nan):
            return [top]
        return [x if fmt.has_inf else NAN]
    if is_zero(x):
        return [x]
    return list(decide([x], lambda t: (round_point(t, fmt, mode, overflow, ftz)) if t else (t,)))


def step(x, fmt, up):
    """The neighbour of a value of the format; past the largest comes an infinity; -0 and 0 are one."""
    if is_infinite(x):
        return None if (x is INF) == up else (-fmt.max_finite if x is NINF else fmt.max_finite)
    x = finite(x)
    if abs(x) == fmt.max_finite and (x > 0) == up:
        return (INF if up else NINF) if fmt.has_inf else None
    if x == 0:
        return fmt.eta if up else -fmt.eta
    q = quantum(x, fmt)
    toward_zero = (x > 0) != up
    if toward_zero and abs(x) / q == 2**fmt.m and abs(x) > fmt.min_normal:
        q /= 2
    return x + q if up else x - q


def ulp(x, fmt):
    """The unit in the last place at the real x, at least the smallest value."""
    return fmt.eta if is_zero(x) else decide([x], lambda t: quantum(t, fmt) if t else fmt.eta)


def neighbour(x, fmt, up):
    """One step further, overflow being a step past the largest value and the last one."""
    if is_nan(x):
        return x
    if is_infinite(x):
        return x if (x is INF) == up else step(x, fmt, up)
    x = finite(x)
    if abs(x) == fmt.max_finite and (x > 0) == up:
        return overflowed(not up, fmt, "rne", "")[0]
    return step(x, fmt, up)
