"""The nodes with freedom, one kind at a time, against every execution that the oracle lists."""
import json
import random
from fractions import Fraction as Q

import numpy as np
import pytest

import erx as er
import oracle
import oracle_numbers as num
from oracle import indices, outcomes
from oracle_numbers import BF16, E4M3FN, E5M2, F16, F32, SMALL, TINY, from_float, to_float

HOLDERS = {F16: np.float16, F32: np.float32, BF16: np.float32, E4M3FN: np.float32, E5M2: np.float32, SMALL: np.float32, TINY: np.float32}


def floats(rng, fmt, n, specials=True):
    """Values of the format: ordinary, subnormal, at the edges, special."""
    found = []
    while len(found) < n:
        kind = rng.random()
        if specials and kind < 0.06:
            found.append(rng.choice([np.inf, -np.inf, np.nan]) if fmt.has_inf else np.nan)
        elif kind < 0.25:
            found.append(rng.choice([0.0, -0.0, 1.0, 2.0, -2.0, *(s * float(v) for s in (1, -1) for v in (fmt.eta, fmt.min_normal, fmt.max_finite, 3 * fmt.eta))]))
        elif kind < 0.45:
            found.append(to_float(rng.choice([1, -1]) * rng.randrange(1, 2 ** (fmt.m + 1)) * fmt.eta))
        else:
            x = num.round_to(from_float(rng.gauss(0, 1) * 2.0 ** rng.randint(-3, 3)), fmt)[0]
            found.append(to_float(x))
    return found


def stored(values, fmt):
    return er.array(np.array(values, np.float64).astype(HOLDERS[fmt]), fmt.text if "<" not in fmt.text else "f32")


def node_of(values):
    return oracle.Input([from_float(float(v)) for v in values], (len(values),))


def must_cover(result, node, seed, rng, limit=400, exact_hull=True, text=""):
    """Every execution is covered; where all are known, the hull is theirs. Returns how many elements were wider than that."""
    lo, hi = np.asarray(result.lo, np.float64), np.asarray(result.hi, np.float64)
    wider = 0
    found = {i: outcomes(node, i, limit, rng) for i in indices(node.shape)}
    for k in range(max(len(v) for v, _ in found.values())):
        out = np.zeros(node.shape)
        for i, (values, _) in found.items():
            out[i] = to_float(values[k % len(values)])
        covered = np.asarray(result.covers(out, signed_zero=True))
        assert covered.all(), f"seed {seed}: {text}\nrefused {out[~covered]} at {np.argwhere(~covered)[0]}, set [{lo[~covered]}, {hi[~covered]}]"
    for i, (values, complete) in found.items():
        finite = [num.finite(v) for v in values if isinstance(v, Q) or v is num.NEG0]
        if complete and finite and exact_hull:
            ends = [e for e in (lo[i], hi[i]) if np.isfinite(e)]
            tight = all(to_float(min(finite)) <= e <= to_float(max(finite)) for e in ends)
            assert tight or exact_hull == "count", (
                f"seed {seed}: {text}\nat {i} the set is [{lo[i]!r}, {hi[i]!r}], the executions lie in [{min(finite)}, {max(finite)}]")
            wider += not tight
    return wider


# --- approx -------------------------------------------------------------------------------------------------------------

@pytest.mark.parametrize("fmt", [F16, BF16, F32, E4M3FN, E5M2, SMALL, TINY], ids=lambda f: f.text)
def test_approx_is_what_its_bounds_say(fmt):
    for seed in range(60):
        rng = random.Random(seed)
        x = floats(rng, F16, 12)
        function = rng.choice([None, None, "exp", "sqrt", "tanh", "div"])
        node = node_of(x)
        f = {None: node, "div": oracle.Map("div", node, oracle.Literal(Q(3)))}.get(function) or oracle.Map(function, node)
        body = {None: "x", "div": "x / 3"}.get(function) or f"{function}(x)"
        words, bounds = [], {}
        kinds = rng.sample(["ulp", "steps", "rel", "abs"], rng.choice([1, 1, 2]))
        for kind in kinds:
            value, text = {"ulp": lambda: rng.choice([(Q(2), "2"), (Q(1, 2), "0.5"), (Q(1), "1"), (Q(3, 2), "1.5")]),
                           "steps": lambda: rng.choice([(1, "1"), (2, "2"), (5, "5"), (0, "0")]),
                           "rel": lambda: rng.choice([(Q(1, 8), "1/8"), (Q(1, 2**30), "2**-30"), (Q(3, 10), "0.3"), (Q(1), "1"), (Q(0), "0")]),
                           "abs": lambda: rng.choice([(Q(1, 4), "0.25"), (Q(1, 3), "1/3"), (Q(1, 10**9), "1e-9"), (Q(100), "100")])}[kind]()
            bounds[kind] = value if kind in ("ulp", "steps") else oracle.Literal(value)
            words.append(f"{kind}={text}")
        for kind, choices in (("lo", [("0", Q(0)), ("0.3", Q(3, 10))]), ("hi", [("1", Q(1)), ("7/3", Q(7, 3))])):
            if rng.random() < 0.25:
                text, value = rng.choice(choices)
                bounds[kind] = oracle.Literal(value)
                words.append(f"{kind}={text}")
        text = f"approx<{fmt.text}, {', '.join(words)}>({body})"
        try:
            must_cover(er.expr(text)(x=np.float16(x)), oracle.Approx(fmt, f, **bounds), seed, rng, text=text)
        except num.Undecided:
            continue


def test_approx_by_hand():
    p3 = "float<e=8, m=2>"
    r = er.expr(f"approx<{p3}, ulp=2>(x)")(x=1.99)  # the ulp of 1.99 is 0.25
    assert (r.lo, r.hi) == (1.5, 2.5)
    spread = er.expr(f"approx<{p3}, ulp=2>(any_of(x, y))")
    values = spread(x=1.99, y=2.0)  # one of the two: that of 2 is 0.5
    assert values.covers(np.float32(1.0)) and not values.covers(np.float32(0.875))
    step = er.expr("approx<f16, steps=1>(x)")
    assert list(np.asarray(step(x=np.float16([0, 65504, 1])).lo)) == [-(2.0**-24), 65472, 1 - 2**-11]
    assert list(np.asarray(step(x=np.float16([0, 65504, 1])).hi)) == [2.0**-24, np.inf, 1 + 2**-10]
    assert step(x=1e6).lo == 65504 and step(x=1e6).hi == np.inf
    exp = er.expr("approx<f32, ulp=2>(exp(x))")(x=0.0)
    assert exp.hi > 1 and er.expr("approx<f32, ulp=2, hi=1>(exp(x))")(x=0.0).hi == 1
    assert er.expr("approx<bf16, abs=1>(x)")(x=0.5).lo == -0.5 and er.expr("approx<bf16, abs=1, lo=0>(x)")(x=0.5).lo == 0
    tiny = er.expr("approx<bf16, rel=1e-30>(x)")(x=0.3)
    assert tiny.lo == tiny.hi == 0.30078125
    each = er.expr("approx<f32, abs=e>(x)")(x=np.float32([1, 1, 1]), e=np.float32([0.5, 0, np.inf]))
    assert list(np.asarray(each.lo)) == [0.5, 1, -np.inf] and each.covers(np.float32([1.5, 1, np.nan])).all()
    assert list(np.asarray(er.expr("approx<f8e4m3fn, steps=1>(x)")(x=np.float32([448, 500])).lo)) == [416, 448]
    assert er.expr("approx<f8e4m3fn, steps=1>(x)")(x=np.float32([448, 416])).covers(np.float32([np.nan, 448])).all()


def test_in_a_block_functions_have_the_ulps_that_are_written():
    x = np.float32([0.1, 1.0, 3.5])
    block = er.expr("in f32, ulp=2 { exp(x) }")(x=x)
    alone = er.expr("approx<f32, ulp=2>(exp(x))")(x=x)
    assert np.array_equal(block.lo, alone.lo) and np.array_equal(block.hi, alone.hi)


def test_the_source_of_a_bound_is_told():
    text = 'round<f32>(approx<f32, ulp=2, src="library \\"9\\", table 3">(exp(x)) + 1)'
    report = er.expr(text)(x=np.float32([1.0])).check(np.float32([3.7182817]))
    assert 'library "9", table 3' in str(report)
    assert json.loads(report.to_json())["results"][0]["sources"] == ['library "9", table 3']


@pytest.mark.parametrize("text, what", [
    ("approx<f32>(exp(x))", "needs its error"), ("approx<f32, ulp=0>(exp(x))", "positive"), ("approx<f32, steps=-1>(exp(x))", "steps"),
    ("approx<f32, rel=-0.1>(exp(x))", "negative"), ("approx<f32, ulp=1, ulp=2>(exp(x))", "twice"), ("approx<f32, lo=0>(exp(x))", "needs its error"),
    ("approx<f32, ulp=1, src=3>(exp(x))", "quotes"), ("approx<f32, ulps=1>(exp(x))", "no parameter")])
def test_approx_refuses(text, what):
    with pytest.raises(er.SpecError, match=what):
        er.expr(text)(x=1.0)


# --- integers -----------------------------------------------------------------------------------------------------------

TYPES = {"i8": (8, True), "u8": (8, False), "i16": (16, True), "i32": (32, True), "i64": (64, True)}


@pytest.mark.parametrize("kind", ["cast", "wrap", "saturate"])
def test_casts_of_reals(kind):
    for seed in range(60):
        rng = random.Random(seed)
        name = rng.choice(["i8", "u8", "i16", "i32"])
        bits, signed = TYPES[name]
        x = floats(rng, F32, 8) + [rng.choice([0.5, 1.5, 2.5, -0.5, -1.5]) + rng.choice([0, 126, 127, 128, 254, 255, 256, 32767, 2**31 - 1, -128, -129, -32768])
                                   for _ in range(8)]
        free = rng.random() < 0.4
        y = floats(rng, F32, 16)
        node = node_of(np.float32(x))
        if free:
            node = oracle.AnyOf(node, node_of(np.float32(y)))
        text = f"{kind}<{name}>({'any_of(x, y)' if free else 'x'})"
        inputs = {"x": np.float32(x), **({"y": np.float32(y)} if free else {})}
        result = er.expr(text)(**inputs)
        must_cover(result, oracle.Cast(kind, bits, signed, node), seed, rng, text=text, exact_hull=True)


def test_wrap_of_sets_is_not_monotone():
    x = np.float32([127, 100, 300, -129, 0])
    spread = er.expr("wrap<i8>(approx<f32, abs=1>(x))")(x=x)
    assert list(np.asarray(spread.lo)) == [-128, 99, 43, -128, -1] and list(np.asarray(spread.hi)) == [127, 101, 45, 127, 1]


def test_integer_arithmetic_is_exact_until_it_is_wrapped():
    big = np.int32([2**31 - 1, -(2**31), 2**30, 65536])
    wrapped = er.parse("spec s(x: i32[4], y: i32[4]) -> i32[4] { return wrap<i32>(x * y + x) }")
    with np.errstate(all="ignore"):
        for y in (big, big[::-1].copy(), np.int32([3, -7, 2**31 - 1, 65537])):
            report = wrapped(x=big, y=y).check(big * y + big)
            assert bool(report), str(report)
            assert not wrapped(x=big, y=y).check((big * y + big) ^ np.int32(1))
    exact = er.expr("x + y")(x=big, y=big)
    assert list(np.asarray(exact.hi)) == [2 * (2**31 - 1), -(2**32), 2**31, 131072]
    with pytest.raises(er.SpecError, match=r"wrap<i32>\(x \+ y\)"):
        er.parse("spec s(x: i32[4], y: i32[4]) -> i32[4] { return x + y }")
    fits = er.parse("spec s(x: i8[2], y: i8[2]) -> i16[2] { return x * y - 1 }")
    assert fits(x=np.int8([-128, 3]), y=np.int8([-128, 5])).check(np.int16([16383, 14]))
    with pytest.raises(er.SpecError, match="wrap<i16>"):
        er.parse("spec s(x: i8[2], y: i16[2]) -> i16[2] { return x * y }")
    with pytest.raises(er.SpecError, match="saturate<i8>"):
        er.parse("spec s(x: f32[2]) -> i8[2] { return x * 2 }")


def test_casts_between_integers_keep_the_low_bits():
    x = np.int32([300, -1, 128, 2**31 - 1])
    assert list(np.asarray(er.expr("cast<i8>(x)")(x=x).lo)) == list(x.astype(np.int8)) == list(np.asarray(er.expr("cast<i8>(x)")(x=x).hi))
    assert list(np.asarray(er.expr("cast<u8>(x)")(x=x).lo)) == list(x.astype(np.uint8))
    q = er.parse("spec quantise(x: f32[4], s: f32) -> i8[4] { return saturate<i8>(in f32 { x / s }) }")
    v = np.float32([0.05, -1000, 0.149999, 12.7])
    assert q(x=v, s=np.float32(0.1)).check(np.clip(np.rint(v / np.float32(0.1)), -128, 127).astype(np.int8))


def test_products_of_quantised_values_are_exact():
    rng = np.random.default_rng(5)
    x, w = rng.normal(0, 1, (4, 40)).astype(np.float32), rng.integers(-128, 128, (40, 3)).astype(np.int8)
    spec = er.parse("spec q(x: f32[M, K], w: i8[K, N]) -> i32[M, N] { return wrap<i32>(saturate<i8>(x * 100) @ w) }")
    exact = np.clip(np.rint(x.astype(np.float64) * 100), -128, 127).astype(np.int64) @ w.astype(np.int64)
    assert spec(x=x, w=w).check(exact.astype(np.int32)) and not spec(x=x, w=w).check((exact + 1).astype(np.int32))


# --- ftz and daz --------------------------------------------------------------------------------------------------------

@pytest.mark.parametrize("ftz", ["no", "yes", "free"])
@pytest.mark.parametrize("daz", ["no", "yes", "free"])
def test_blocks_that_flush(ftz, daz):
    words = [f"ftz={ftz}" if ftz != "yes" else "ftz", f"daz={daz}" if daz != "yes" else "daz"]
    for seed in range(60):
        rng = random.Random(seed)
        fmt = rng.choice([F16, E5M2])
        x, y, z = (floats(rng, fmt, 12, specials=False) for _ in range(3))
        a, b, c = map(node_of, (x, y, z))
        contract = rng.random() < 0.5
        form = rng.choice(["a * b", "a + b", "a * b + c", "a * b - a * c", "sqrt(a)", "a / b"])
        product, other = oracle.Map("mul", a, b), oracle.Map("mul", a, c)
        body = {"a * b": product, "a + b": oracle.Map("add", a, b), "a * b + c": oracle.Map("add", product, c),
                "a * b - a * c": oracle.Map("sub", product, other), "sqrt(a)": oracle.Map("sqrt", a), "a / b": oracle.Map("div", a, b)}[form]
        inside = {id(n) for n in (body, product, other)}
        text = f"in {fmt.text}, {', '.join(words)}{', contract' * contract} {{ {form} }}"
        inputs = {n: stored(v, fmt) for n, v in zip("abc", (x, y, z)) if n in form}
        result = er.expr(text)(**inputs)
        must_cover(result, oracle.Block(fmt, body, inside, contract, ftz, daz), seed, rng, text=text, exact_hull="count")


@pytest.mark.parametrize("ftz", ["yes", "free", "no"])
def test_sums_that_flush(ftz):
    for seed in range(80):
        rng = random.Random(seed)
        fmt = rng.choice([F16, E5M2, SMALL])
        n = rng.choice([1, 2, 3])
        holder = F16 if fmt is F16 else E5M2 if fmt is E5M2 else F16
        x = floats(rng, fmt if holder is fmt else E4M3FN, 2 * n, specials=False)
        y = floats(rng, fmt if holder is fmt else E4M3FN, 2 * n, specials=False)
        if holder is not fmt:
            x, y = ([to_float(num.round_to(from_float(v), fmt)[0]) for v in w] for w in (x, y))
        a, b = (oracle.Input([from_float(v) for v in w], (2, n)) for w in (x, y))
        products = rng.random() < 0.7
        e = oracle.Reduce("sum", oracle.Map("mul", a, b) if products else a, (1,))
        fma = rng.choice(["free", "always", "never"])
        order = rng.choice(["any", "seq", "assoc"])
        lift = (lambda t: t) if holder is fmt else (lambda t: f"round<{fmt.text}>({t})")
        text = f"acc<{fmt.text}, {order}, fma={fma}, ftz={ftz}>(sum({lift('a')}{' * ' + lift('b') if products else ''}, axis=1))"
        inputs = {k: stored(v, holder).reshape(2, n) if False else np.array(v, np.float64).reshape(2, n).astype(np.float32)
                  for k, v in zip("ab", (x, y)) if k == "a" or products}
        inputs = {k: er.array(v, holder.text) for k, v in inputs.items()}
        must_cover(er.expr(text)(**inputs), oracle.Acc(fmt, e, (order,), fma, ftz), seed, rng, text=text, exact_hull=False)


def test_a_subnormal_factor_may_be_read_as_zero():
    x, y = np.float32([2.0**-130]), np.float32([2.0**100])
    assert er.expr("acc<f32, ftz=yes>(sum(x * y))")(x=x, y=y).covers(np.float32(0.0))
    assert not er.expr("acc<f32>(sum(x * y))")(x=x, y=y).covers(np.float32(0.0))
    long = np.full(4096, 2.0**-140, np.float32)
    assert er.expr("acc<f32, ftz=free>(sum(x * y))")(x=long, y=np.full(4096, 2.0**120, np.float32)).covers(np.float32(0.0))


def test_within_that_flushes():
    for seed in range(80):
        rng = random.Random(seed)
        fmt = rng.choice([F16, BF16])
        x, y, z = (floats(rng, fmt, 6, specials=False) for _ in range(3))
        a, b, c = map(node_of, (x, y, z))
        product = oracle.Map("mul", a, b)
        body = rng.choice([product, oracle.Map("add", a, b), oracle.Map("sub", product, c), oracle.Map("div", a, b)])
        text = {"mul": "a * b", "add": "a + b", "sub": "a * b - c", "div": "a / b"}[body.op]
        node = oracle.Round(F32, oracle.Within(fmt, body, {id(body), id(product)}, ftz="free"))
        full = f"round<f32>(within<{fmt.text}, ftz>({text}))"
        result = er.expr(full)(**{n: stored(v, fmt) for n, v in zip("abc", (x, y, z)) if n in text})
        must_cover(result, node, seed, rng, text=full, exact_hull=False)
    tiny = {"x": np.float16([2.0**-20]), "y": np.float16([0.5])}
    assert er.expr("within<f16, ftz>(x * y)")(**tiny).covers(np.float16([0])).all()
    assert not er.expr("within<f16>(x * y)")(**tiny).covers(np.float16([0])).all()


# --- one choice for the whole call --------------------------------------------------------------------------------------

def test_choose_runs_once_for_each_number():
    numbers = ", ".join(map(str, range(1, 65)))
    spec = er.parse(f"spec s(x: f32[3]) -> (a: f32[3], b: f32[3]) {{\n  let (a, b) = choose s in {{{numbers}}} {{ (round<f32>(x + s), round<f32>(x * s)) }}\n  return (a, b)\n}}")
    x = np.float32([1, 2, 3])
    results = spec(x=x)
    for s in (1, 37, 64):
        report = results.check(x + np.float32(s), x * np.float32(s))
        assert bool(report) and f"s = {s}" in str(report) and f's = {s}' in json.loads(report.to_json())["choice"]
    assert not results.check(x + np.float32(3), x * np.float32(4))
    assert not results.check(x + np.float32([3, 3, 4]), x * np.float32([3, 3, 4]))
    with pytest.raises(er.SpecError, match="65"):
        er.parse(f"spec s(x: f32[3]) -> f32[3] {{ return choose s in {{{numbers}, 65}} {{ round<f32>(x + s) }} }}")(x=x).check(x)


def test_labels_are_shared_by_functions_and_iterations():
    spec = er.parse("""fn pick(x) = any_of<"path">(x, -x)
      spec s(x: f32[2]) -> f32[2] {
        return fold (t = x) over i in 0..3 { next round<f32>(t + pick(x)) }
      }""")
    x = np.float32([1, 2])
    assert spec(x=x).check(4 * x) and spec(x=x).check(-2 * x) and not spec(x=x).check(2 * x) and not spec(x=x).check(x)


def test_the_number_of_parts_is_one_choice():
    rng = np.random.default_rng(3)
    x = rng.normal(0, 1, (6, 64)).astype(np.float32)
    spec = er.expr("acc<bf16, split({1, 2, 8}, store=bf16)>(sum(round<bf16>(x), axis=1))")
    singles = {s: er.expr(f"acc<bf16, split({{{s}}}, store=bf16)>(sum(round<bf16>(x), axis=1))")(x=x) for s in (1, 2, 8)}
    result = spec(x=x)
    for s, one in singles.items():
        for end in (one.lo, one.hi):
            report = result.check(np.asarray(end, np.float32))
            assert bool(report), str(report)
    low = np.min([np.asarray(r.lo) for r in singles.values()], axis=0)
    assert np.array_equal(low, np.asarray(result.lo))




def test_no_mixture_of_numbers_of_parts():
    x = np.float32([[9, 9, 9], [9, 9, 9]])  # a part of 9 is stored as 8, one of 27 as 28
    split = er.expr("acc<f32, split({1, 3}, store=f8e5m2)>(sum(x, axis=1))")(x=x)
    for out, s in (([28, 28], 1), ([24, 24], 3)):
        report = split.check(np.float32(out))
        assert bool(report) and f"s = {s}" in str(report)
    assert not split.check(np.float32([28, 24])) and not split.check(np.float32([26, 26]))
    assert np.asarray(split.lo)[0] == 24 and np.asarray(split.hi)[0] == 28
    two = er.parse("""spec s(x: f32[2, 3]) -> (a: f32[2], b: f32[2]) {
      let a = acc<f32, split({1, 3}, store=f8e5m2)>(sum(x, axis=1))
      return (a, acc<f32, split({1, 3}, store=f8e5m2)>(sum(2 * x, axis=1)))
    }""".replace("2 * x", "round<f32>(2 * x)"))
    report = two(x=x).check(np.float32([28, 28]), np.float32([48, 48]))  # written twice: two choices
    assert bool(report) and "s of `a` = 1" in str(report) and "s of sum 2 = 3" in str(report)


# --- correlation --------------------------------------------------------------------------------------------------------

BODIES = {
    "y - y": lambda y, x: oracle.Map("sub", y, y),
    "y * y - y": lambda y, x: oracle.Map("sub", oracle.Map("mul", y, y), y),
    "where(y > x, y - x, x - y)": lambda y, x: oracle.Where(oracle.Map("gt", y, x), oracle.Map("sub", y, x), oracle.Map("sub", x, y)),
    "maximum(y, x) - minimum(y, x)": lambda y, x: oracle.Map("sub", oracle.Map("maximum", y, x), oracle.Map("minimum", y, x)),
    "(y + x) / (y - 2 * x)": lambda y, x: oracle.Map("div", oracle.Map("add", y, x), oracle.Map("sub", y, oracle.Map("mul", oracle.Literal(Q(2)), x))),
    "abs(y) * y": lambda y, x: oracle.Map("mul", oracle.Map("abs", y), y),
}
CHOICES = {
    "round<bf16, sr>(x * 1.003)": lambda x: oracle.Round(BF16, oracle.Map("mul", x, oracle.Literal(Q("1.003"))), "sr"),
    "round<f8e4m3fn, faithful>(x)": lambda x: oracle.Round(E4M3FN, x, "faithful"),
    "round<f8e5m2, sr, sat>(x * 3)": lambda x: oracle.Round(E5M2, oracle.Map("mul", x, oracle.Literal(Q(3))), "sr", "sat"),
    "any_of(x, -x)": lambda x: oracle.AnyOf(x, oracle.Map("neg", x)),
}


@pytest.mark.parametrize("body", BODIES)
@pytest.mark.parametrize("choice", CHOICES)
def test_every_use_of_a_name_means_the_same_member(body, choice):
    for seed in range(6):
        rng = random.Random(seed)
        x = floats(rng, F16, 12, specials=False)
        node = node_of(x)
        y = oracle.Let(CHOICES[choice](node))
        text = f"spec s(x: f16[12]) -> f32[12] {{\n  let y = {choice}\n  return round<f32>({body})\n}}"
        result = er.parse(text)(x=np.float16(x))
        expected = oracle.Round(F32, BODIES[body](y, node))
        must_cover(result, expected, seed, rng, text=text)
        # and nothing between the members
        found = {i: outcomes(expected, i, 50, rng) for i in indices((12,))}
        for i, (values, _) in found.items():
            finite = sorted(num.finite(v) for v in values if isinstance(v, Q) or v is num.NEG0)
            if len(finite) < 2:
                continue
            out = np.array([to_float(found[k][0][0]) for k in indices((12,))])
            middle = to_float(num.round_to((finite[0] + finite[1]) / 2, F32)[0])
            if middle in map(to_float, finite):
                continue
            out[i] = middle
            assert not np.asarray(result.covers(out))[i], f"seed {seed}: {text}\n{middle} at {i} lies between {finite}"


@pytest.mark.parametrize("form, zero", [("y[::-1] - y[::-1]", True), ("reshape(y, (2, 2)) - reshape(y, (2, 2))", True), ("y[:, None] - y[:, None]", True),
                                        ("broadcast(y, (3, 4)) - y", True), ("y[0] - y[0]", True), ("y - y[::-1]", False)])
def test_views_of_a_choice_stay_correlated(form, zero):
    for choice in ("any_of(x, -x)", "round<bf16, sr>(x)"):
        text = f"spec s(x: f32[4]) -> f32[...] {{\n let y = {choice}\n return round<f32>({form})\n}}"
        shape = {"y[::-1] - y[::-1]": "[4]", "y[:, None] - y[:, None]": "[4, 1]", "y[0] - y[0]": "", "y - y[::-1]": "[4]"}.get(form)
        shape = shape if shape is not None else "[2, 2]" if "reshape" in form else "[3, 4]"
        result = er.parse(text.replace("[...]", shape))(x=np.float32([1.001, 2.003, 3.1, 0.3]))
        assert (np.all(np.asarray(result.lo) == 0) and np.all(np.asarray(result.hi) == 0)) == zero, (text, result.lo, result.hi)


# --- limits that were there ---------------------------------------------------------------------------------------------

def test_powers_with_a_fraction():
    x = np.float32([0, -0.0, 4, -1, np.inf, -np.inf, np.nan, 2.0**-149])
    root = er.expr("round<f32>(x ** 0.5)")(x=x)
    assert root.covers(np.float32([0, 0, 2, np.nan, np.inf, np.inf, np.nan, np.sqrt(np.float64(x[7]))]), signed_zero=True).all()
    assert list(np.asarray(root.lo)[[0, 1, 2, 4, 5]]) == [0, 0, 2, np.inf, np.inf] == list(np.asarray(root.hi)[[0, 1, 2, 4, 5]])
    for wrong in ([1e-30] * 8, [np.nan] * 3 + [0] + [np.nan] * 2 + [0] * 2):
        assert not root.covers(np.float32(wrong)).any(), wrong
    inverse = er.expr("round<f32>(x ** -1.5)")(x=x)
    assert list(np.asarray(inverse.lo)[[0, 1, 2, 4, 5]]) == [np.inf, np.inf, 0.125, 0, 0] == list(np.asarray(inverse.hi)[[0, 1, 2, 4, 5]])
    free = er.expr("round<f32>(any_of(x, y) ** 0.5)")(x=0.0, y=4.0)
    assert free.covers(np.float32(0)) and free.covers(np.float32(2)) and not free.covers(np.float32(np.nan))


def test_certain_overflow_of_both_signs_leaves_nan_only():
    x, y = np.float16([300, -300]), np.float16([300, 300])
    for fma in ("never", "free", "always"):
        seq = er.expr(f"acc<f16, seq, fma={fma}>(sum(x * y))")(x=x, y=y)
        if fma == "never":
            assert seq.covers(np.float16(np.nan)) and not seq.covers(np.float16(0)) and not seq.covers(np.float16(np.inf))
        assert seq.covers(np.float16(np.nan))


def test_products_that_are_positive_zeros_add_up_to_one():
    x, y = np.float32([0, 0, 2.0**-100]), np.float32([1, 2, 2.0**-100])
    for order in ("any", "seq", "assoc", "pairwise(1)"):
        r = er.expr(f"acc<f32, {order}, fma=never>(sum(x * y))")(x=x, y=y)
        assert r.covers(np.float32(0.0), signed_zero=True) and not r.covers(np.float32(-0.0), signed_zero=True), order
    mixed = er.expr("acc<f32, fma=never>(sum(x * y))")(x=np.float32([-(2.0**-100), -0.0]), y=np.float32([2.0**-100, 1]))
    assert mixed.covers(np.float32(-0.0), signed_zero=True)
