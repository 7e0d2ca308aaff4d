"""Loops: er.fold beside the text, step by step beside plain NumPy loops, sampled executions, tiers, memory.

    ERX_SEED=3 pytest -s tests/python/test_fold.py
"""
import os
import pathlib
import subprocess
import sys

import numpy as np
import pytest

import erx as er
from erx._result import Result

SEED = int(os.environ.get("ERX_SEED", 1))
F = np.float32


def values(n, seed=SEED):
    return np.random.default_rng(seed).standard_normal(n).astype(F)


def text(spec, **inputs):
    return er.expr(spec)(**inputs)


X, Z = values(20), values((6, 4), SEED + 1)


# --- er.fold writes down what the text says ---

def softmax_step(m, s, t):
    return er.expr("maximum(m, max(x))")(m=m, x=er.array(X)[t]), er.round(s + er.expr("sum(x)")(x=er.array(X)[t]), "f32")


@pytest.mark.parametrize("traced, written", [
    (lambda: er.fold(lambda h, i: er.round(h * 0.5 + er.array(X)[i], "f32"), 0, range(20)), "fold (h = 0) over i in 0..20 { next f32(h * 0.5 + x[i]) }"),
    (lambda: er.fold(lambda h, i: er.round(h + er.array(X)[2 * i - 3] * i, "f32"), 0, range(2, 11)), "fold (h = 0) over i in 2..11 { next f32(h + x[2*i - 3] * i) }"),
    (lambda: er.fold(lambda h, i: er.round(h * er.array(X)[19 - i], "f32"), 1, 20), "fold (h = 1) over i in 0..20 { next f32(h * x[19 - i]) }"),
    (lambda: er.fold(lambda h, t: er.round(h + er.expr("sum(x)")(x=er.array(X)[t]), "f32"), 0, er.tiles(20, 5)),
     "fold (h = 0) over t in tiles(20, 5) { next f32(h + sum(x[t])) }"),
    (lambda: er.fold(lambda h, t: er.round(h + er.expr("sum(x)")(x=er.array(X)[t]), "f32"), 0, er.tiles(20, 6)),
     "fold (h = 0) over t in tiles(20, 6) { next f32(h + sum(x[t])) }"),
    (lambda: er.fold(lambda h, t: er.round(h + er.expr("sum(x)")(x=er.array(X)[t]), "f32"), 0, er.tiles(20, 30)), "fold (h = 0) over t in tiles(20, 30) { next f32(h + sum(x[t])) }"),
    (lambda: er.fold(lambda h, i: er.any_of(er.round(h / 2, "f32"), er.round(h + er.array(X)[i], "f32")), 0, range(5)),
     "fold (h = 0) over i in 0..5 { next any_of(f32(h / 2), f32(h + x[i])) }"),
    (lambda: er.fold(lambda a, b, i: (b, er.round(a - b, "f32")), (1, 2), range(9))[1],
     "let (a, b) = fold (a = 1, b = 2) over i in 0..9 { next (b, f32(a - b)) }; b"),
    (lambda: er.fold(lambda m, s, t: softmax_step(m, s, t), (-np.inf, 0), er.tiles(20, 4))[0],
     "let (m, s) = fold (m = -inf, s = 0) over t in tiles(20, 4) { next (maximum(m, max(x[t])), f32(s + sum(x[t]))) }; m"),
    (lambda: er.fold(lambda h, i: er.fold(lambda r, j: er.round(r * 0.5 + er.array(X)[i + j], "f32"), h, range(3)), 0, range(5)),
     "fold (h = 0) over i in 0..5 { next fold (r = h) over j in 0..3 { next f32(r * 0.5 + x[i + j]) } }"),
], ids=lambda x: x if isinstance(x, str) else "")
def test_traced_is_written(traced, written):
    one, other = traced(), text(written, **({"x": X} if "x[" in written else {}))
    assert one.spec == other.spec
    assert str(er.expr(one.spec)) == str(er.expr(other.spec))
    np.testing.assert_array_equal(one.lo, other.lo)
    np.testing.assert_array_equal(one.hi, other.hi)
    again = text(one.spec, **({"x": X} if "x[" in one.spec else {}))
    assert again.spec == one.spec


def test_traced_once():
    calls = []

    def step(h, i):
        calls.append(i)
        return er.round(h * 0.5 + er.array(X)[i], "f32")
    er.fold(step, 0, range(20))
    assert len(calls) == 1


@pytest.mark.parametrize("function", [lambda s, x: er.add(s, x), lambda s, x: er.multiply(er.add(x, s), x), lambda s, x: er.sum(er.multiply(x, s))])
@pytest.mark.parametrize("steps", [1, 2, 20])
def test_a_number_starts_a_state_as_an_array_of_its_type_does(function, steps):
    number = er.fold(lambda s, i: function(s, er.array(X)[i]), 0, range(steps))
    array = er.fold(lambda s, i: function(s, er.array(X)[i]), er.array(F(0)), range(steps))
    np.testing.assert_array_equal(number.lo, array.lo)
    np.testing.assert_array_equal(number.hi, array.hi)
    assert number.dtype == array.dtype


def test_numbers_start_several_states_and_take_their_shapes():
    several = er.fold(lambda s, t, i: (er.add(t, er.array(X)), er.add(er.array(X), s)), (0, 0.5), range(4))
    array = er.fold(lambda s, t, i: (er.add(t, er.array(X)), er.add(er.array(X), s)), (er.array(np.zeros_like(X)), er.array(np.full_like(X, 0.5))), range(4))
    for one, other in zip(several, array):
        np.testing.assert_array_equal(one.lo, other.lo)
        np.testing.assert_array_equal(one.hi, other.hi)


def test_a_choice_in_the_body_is_one_in_each_step():
    choose = er.fold(lambda h, i: er.round(h + er.any_of(er.array(F([1])), er.array(F([2]))), "f32"), er.array(F([0])), range(3))
    assert all(choose.covers(F([v]))[0] for v in (3, 4, 5, 6)) and not choose.covers(F([7]))[0]
    y = er.any_of(er.array(F([1])), er.array(F([2])))
    once = er.fold(lambda h, i: er.round(h + y, "f32"), er.array(F([0])), range(3))
    assert [bool(once.covers(F([v]))[0]) for v in (3, 4, 5, 6)] == [True, False, False, True]


def test_compute_format_reaches_the_body():
    spec = er.expr("fold (h = 0) over i in 0..20 { next round<f32>(within<f32>(h * 0.5 + x[i])) }")(x=X)
    h = F(0)
    for x in X:
        h = F(np.float64(h) * 0.5 + np.float64(x))
    assert spec.covers(h, compute="f64") and spec.covers(h)
    assert spec.check(h, compute="f64").tightness <= spec.check(h).tightness
    assert spec.check(h, compute="f64").tightness == 1


@pytest.mark.parametrize("call, error, message", [
    (lambda: er.fold(lambda h, i: h + (1 if i == 0 else 2), 0, range(4)), TypeError, "is not known while the function is traced"),
    (lambda: er.fold(lambda h, i: er.round(h + X[i], "f32"), 0, range(4)), (TypeError, IndexError), "."),
    (lambda: er.fold(lambda h, i: er.round(h + er.array(X)[i * i], "f32"), 0, range(4)), TypeError, "is not known while the function is traced"),
    (lambda: er.fold(lambda h, i: er.round(h + er.array(X)[i], "f32"), 0, range(21)), IndexError, "from 0 to 20, and the dimension has 20"),
    (lambda: er.fold(lambda h, i: er.round(h, "f16"), er.array(X), range(4)), er.SpecError, "the state `h` is f32.20. before a step of er.fold and f16.20. after it"),
    (lambda: er.fold(lambda h, i: (h, h), 0, range(4)), TypeError, "the state has 1 value, and the function returns a tuple of 2"),
    (lambda: er.fold(lambda a, b, i: a, (0, 1), range(4)), TypeError, "the state has 2 values, and the function returns one value"),
    (lambda: er.fold(lambda h: h, 0, range(4)), TypeError, "takes 1 state and the loop variable, and this one takes 1 argument"),
    (lambda: er.fold(lambda h, i: h, 0, range(0, 4, 2)), ValueError, "counts up by 1"),
    (lambda: er.fold(lambda h, i: h, 0, [1, 2]), TypeError, "runs over range"),
    (lambda: er.fold(lambda h, i: h, 0, range(100001)), er.SpecError, "at most 100000 steps"),
    (lambda: er.fold(lambda h, t: h + t, er.array(X), er.tiles(20, 5)), TypeError, "a tile stands only in an index"),
    (lambda: er.tiles(20, 0), ValueError, "at least one element"),
    (lambda: er.fold(lambda h, i: er.array(X)[i:] + h, 0, range(4)), TypeError, "the same length in every step"),
])
def test_mistakes(call, error, message):
    with pytest.raises(error, match=message):
        call()


def test_a_state_stays_inside():
    kept = []

    def step(h, i):
        kept.append(h)
        return er.round(h + 1, "f32")
    er.fold(step, er.array(X), range(4))
    with pytest.raises(er.SpecError, match="outside of the function that is traced"):
        (kept[0] + 1).covers(X)


# --- sampled executions ---

def covered_executions(spec, run, inputs, count=40):
    result = er.expr(spec)(**inputs)
    rng = np.random.default_rng(SEED)
    for k in range(count):
        out = run(rng)
        assert np.all(result.covers(out)), f"seed {SEED}, execution {k}: {out} is not covered by {spec}"
    return result


def test_choices_of_many_steps():
    x, y = values(8), values(800, SEED + 2)

    def run(rng):
        h = x.copy()
        for i in range(800):
            h = np.where(rng.random(8) < 0.5, (h / 2 + y[i]).astype(F), (h / 4).astype(F))
        return h
    covered_executions("fold (h = x) over i in 0..800 { next any_of(f32(h / 2 + y[i]), f32(h / 4)) }", run, {"x": x, "y": y})


def test_sums_of_many_steps_in_any_order():
    x, y = values(900), values(900, SEED + 2)

    def run(rng):
        h = F(0)
        for start in range(0, 900, 7):
            products = list(x[start:start + 7] * y[start:start + 7]) + [h]
            rng.shuffle(products)
            h = products[0]
            for p in products[1:]:
                h = F(h + p)
        return h
    covered_executions("fold (h = 0) over t in tiles(900, 7) { next acc<f32>(h + sum(x[t] * y[t])) }", run, {"x": x, "y": y})


def test_stochastic_steps():
    x = (values(16).view(np.uint32) & np.uint32(0xffff0000)).view(F)  # values of bfloat16

    def run(rng):
        h = np.float64(x)
        for _ in range(700):
            exact = h * 0.75 + np.float64(x)  # 20 bits or fewer: exact in float64
            toward_zero = (exact.view(np.uint64) & np.uint64(0xffffe00000000000)).view(np.float64)
            away = (toward_zero.view(np.uint64) + np.uint64(1 << 45)).view(np.float64)
            h = np.where((rng.random(16) < 0.5) | (toward_zero == exact), toward_zero, away)
        return F(h)

    covered_executions("fold (h = x) over i in 0..700 { next round<bf16, sr>(h * 0.75 + x) }", run, {"x": x})


# --- tiers, tiles and threads ---

LOOPS = ["fold (h = 0) over i in 0..20 { next f32(h * 0.5 + x[i]) }",
         "fold (h = x) over i in 0..20 { next bf16(exp(h) / 3 - x[i]) }",
         "let e = sum(x) / 3; fold (h = x) over i in 0..20 { next f32(h / 7 + e * x[i]) }",
         "fold (h = 0) over t in tiles(20, 6) { next acc<f32>(h + sum(x[t] * x[t])) }",
         "let e = log(abs(x)); fold (h = x) over t in tiles(20, 6) { next f16(h / 7 + e * sum(x[t])) }"]


@pytest.mark.parametrize("spec", LOOPS)
def test_tiers_tiles_and_threads(spec):
    result = text(spec, x=X)

    def ends(**how):
        return result._group.evaluated_by(**how).hull(result._index)
    lo, hi, flags = ends()
    for how in ({"lowest": "big"}, {"lowest": "exact"}, {"tile": 3}, {"threads": 1}, {"threads": 2, "tile": 7}):
        for a, b in zip(ends(**how), (lo, hi, flags)):
            assert a.tobytes() == b.tobytes(), how
    wide = ends(highest="f64")
    assert np.all(wide[0] <= lo) and np.all(hi <= wide[1])


def test_a_rejected_element_is_explained():
    h = F(0)
    for x in X:
        h = F(np.float64(h) * 0.5 + np.float64(x))
    result = text(LOOPS[0], x=X)
    assert result.covers(h)
    report = result.check(np.nextafter(h, F(9)))
    assert "1 ulp away" in str(report) and "fold (h = 0) over i in 0..20" in str(report)


def test_a_label_is_one_choice_in_all_steps():
    result = text("fold (h = 0) over i in 0..20 { next f32(any_of<\"p\">(h + 1, h + 2)) }")
    assert [bool(result.covers(F(v))) for v in (20, 30, 40)] == [True, False, True]


# --- memory ---

def test_memory_does_not_grow_with_the_steps():
    code = """
import resource
import numpy as np
import erx as er
def peak(n):
    x = np.ones(200_000, np.float32)
    er.expr(f"fold (h = x) over i in 0..{n} {{ next in f32 {{ h * 0.5 + sqrt(x) }} }}")(x=x).covers(x)
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
few = peak(5)
print((peak(300) - few) // 1024)
"""
    grown = int(subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout)
    assert grown < 16, f"{grown} MiB more for 300 steps than for 5; one state has 1.6 MB"


def test_the_spec_does_not_grow_with_the_steps():
    few, many = (text(f"fold (h = 0) over i in 0..{n} {{ next f32(h * 0.5 + x[i]) }}", x=values(5000)).spec for n in (10, 5000))
    assert few.replace("0..10 ", "0..5000 ") == many
    assert isinstance(text(LOOPS[0], x=X), Result)


# --- what walks through a graph goes through loops ---

def test_a_gradient_through_a_loop():
    x = F([1, 2, 3, 4])
    product = text("f32(vjp(fold (h = 1) over i in 0..4 { next h * x[i] }, wrt=x, grad=1))", x=x)
    np.testing.assert_array_equal(product.lo, [24, 12, 8, 6])
    np.testing.assert_array_equal(product.hi, [24, 12, 8, 6])
    last = text("let (h, g) = fold (h = 0, g = 0) over i in 0..4 { next (h * x[i] + g, g + x[i]) }; f32(vjp(h, wrt=x, grad=1))", x=x)
    for k in range(4):  # values with their derivatives by x[k], in whole numbers
        h, g, dh, dg = 0, 0, 0, 0
        for i, v in enumerate([1, 2, 3, 4]):
            h, g, dh, dg = h * v + g, g + v, dh * v + h * (i == k) + dg, dg + (i == k)
        assert last.lo[k] == last.hi[k] == dh


def test_examples_and_mutants_with_loops(tmp_path):
    file = tmp_path / "loops.erx"
    file.write_text("""
spec total(x: f32[N]) -> f32 { return fold (s = 0) over i in 0..N { next any_of(f32(s + x[i]), acc<f32>(s + sum(x[i:i + 1]))) } }
example "e" {
  x = normal(seed=1, 40)
  covers acc<f32, seq>(sum(x))
  covers fold (s = 0) over i in 0..N { next f32(s + x[i]) }
  mutant "kept in bf16": fold (s = 0) over i in 0..N { next bf16(s + x[i]) }
  mutant "the last one left out": fold (s = 0) over i in 0..N - 1 { next f32(s + x[i]) }
}
""")
    command = str(pathlib.Path(__file__).resolve().parents[2] / "build" / "erx")
    done = subprocess.run([command, "test", str(file)], capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    assert " 0 failed" in done.stdout
    printed = subprocess.run([command, "doc", str(file)], capture_output=True, text=True)
    assert "for" in printed.stdout and printed.returncode == 0
    subprocess.run([command, "fmt", str(file)], check=True)
    assert "over i in 0..N {" in file.read_text()
