"""Functions of reals for the oracle: exact where the value is rational, else enclosed by mpmath with a wide margin."""
from math import isqrt

import mpmath

from oracle_numbers import (INF, NAN, NEG0, NINF, ZERO, Fraction, Irrational, Special, Undecided, absolute, add, compare, decide, divide, is_nan,
                            is_negative, is_zero, maximum, minimum, multiply, negate, signed_zero)


def _mp(function, x, bits):
    """Enclosure of a function of a point: mpmath's error is far below the margin taken."""
    with mpmath.workprec(bits + 60):
        value = function(mpmath.mpf(x.numerator) / x.denominator)
        sign, mantissa, exponent, _ = value._mpf_
    if abs(exponent) > 60000:
        raise Undecided  # a number of a size that Fractions cannot carry
    exact = Fraction(-int(mantissa) if sign else int(mantissa)) * Fraction(2) ** exponent
    margin = abs(exact) / 2 ** (bits + 20)
    return exact - margin, exact + margin


def _monotone(function, x):
    def enclose(bits):
        if isinstance(x, Fraction):
            return _mp(function, x, bits)
        lo, hi = x.enclose(bits)
        ends = _mp(function, lo, bits) + _mp(function, hi, bits)
        return min(ends), max(ends)
    return Irrational(enclose)


def sqrt(x):
    if isinstance(x, Special):
        return {NAN: NAN, INF: INF, NINF: NAN, NEG0: NEG0}[x]
    if is_zero(x):
        return ZERO
    if is_negative(x):
        return NAN
    if isinstance(x, Fraction):
        root = Fraction(isqrt(x.numerator), isqrt(x.denominator))
        if root * root == x:
            return root
    return _monotone(mpmath.sqrt, x)


def exp(x):
    if isinstance(x, Special):
        return {NAN: NAN, INF: INF, NINF: ZERO, NEG0: Fraction(1)}[x]
    if is_zero(x):
        return Fraction(1)
    if decide([x], lambda t: abs(t) > 2000):
        raise Undecided
    return _monotone(mpmath.exp, x)


def log(x):
    if isinstance(x, Special):
        return {NAN: NAN, INF: INF, NINF: NAN, NEG0: NINF}[x]
    if is_zero(x):
        return NINF
    if is_negative(x):
        return NAN
    if isinstance(x, Fraction) and x == 1:
        return ZERO
    return _monotone(mpmath.log, x)


def tanh(x):
    if isinstance(x, Special):
        return {NAN: NAN, INF: Fraction(1), NINF: Fraction(-1), NEG0: NEG0}[x]
    if is_zero(x):
        return x
    return _monotone(mpmath.tanh, x)


def exp2(x):
    if isinstance(x, Special):
        return exp(x)
    if decide([x], lambda t: abs(t) > 3000):
        raise Undecided
    if isinstance(x, Fraction) and x.denominator == 1:
        return Fraction(2) ** int(x)
    return _monotone(lambda t: mpmath.power(2, t), x)


def rsqrt(x):
    return divide(Fraction(1), sqrt(x))


def sign(x):
    if is_nan(x) or is_zero(x):
        return x
    return Fraction(-1 if is_negative(x) else 1)


def integer_part(pick):
    """floor, ceil, trunc or rint: a zero keeps the sign of x."""
    def function(x):
        if isinstance(x, Special):
            return x
        whole = decide([x], lambda t: pick(t))
        return Fraction(whole) if whole else signed_zero(is_negative(x))
    return function


def fmax(x, y):
    return y if is_nan(x) else x if is_nan(y) else maximum(x, y)


def fmin(x, y):
    return y if is_nan(x) else x if is_nan(y) else minimum(x, y)


def clamp(x, low, high):
    return minimum(maximum(x, low), high)


def fma(x, y, z):
    return add(multiply(x, y), z)


def square(x):
    return multiply(x, x)


def truth(flag):
    return Fraction(int(flag))


def comparison(test):
    return lambda x, y: truth(test(compare(x, y)))


FUNCTIONS = {
    "neg": negate, "abs": absolute, "sqrt": sqrt, "exp": exp, "log": log, "tanh": tanh, "exp2": exp2, "rsqrt": rsqrt, "sign": sign,
    "floor": integer_part(lambda t: t.__floor__()), "ceil": integer_part(lambda t: t.__ceil__()),
    "trunc": integer_part(int), "rint": integer_part(round), "square": square,
    "maximum": maximum, "minimum": minimum, "fmax": fmax, "fmin": fmin, "clamp": clamp, "fma": fma,
    "lt": comparison(lambda o: o is not None and o < 0), "le": comparison(lambda o: o is not None and o <= 0),
    "gt": comparison(lambda o: o is not None and o > 0), "ge": comparison(lambda o: o is not None and o >= 0),
    "eq": comparison(lambda o: o == 0), "ne": comparison(lambda o: o != 0),
    "and": lambda x, y: truth(x and y), "or": lambda x, y: truth(x or y), "not": lambda x: truth(not x),
}
