"""Loops over states of every kind beside the same steps written out, one `let` after the other: one node, the same sets.

    ERX_SEED=3 pytest -s tests/python/test_fold_forms.py
"""
import os
import re
import subprocess
import sys

import numpy as np
import pytest

import erx as er

SEED = int(os.environ.get("ERX_SEED", 1))
F, C = np.float32, np.complex64
MOST = 399


def values(*shape, seed=SEED):
    return np.random.default_rng(seed).standard_normal(shape).astype(F)


def complex_values(*shape, seed=SEED):
    return (values(*shape, seed=seed) + 1j * values(*shape, seed=seed + 1000)).astype(C)


INPUTS = {"x": values(4), "v": values(MOST, seed=SEED + 1), "z": complex_values(4), "w": (complex_values(4, seed=SEED + 2) * F(0.5)).astype(C),
          "u": complex_values(MOST, seed=SEED + 3), "M": (complex_values(4, 4, seed=SEED + 4) * F(0.3)).astype(C)}


def call(text, **more):
    given = {**INPUTS, **more}
    return er.expr(text)(**{name: value for name, value in given.items() if re.search(rf"\b{name}\b", text)})


def loop(starts, step, count, first=0):
    """starts: {state: text}; the value is the first state."""
    names = ", ".join(starts)
    given = ", ".join(f"{s} = {v}" for s, v in starts.items())
    return f"let ({names},) = fold ({given}) over i in {first}..{first + count} {{ next {step} }}; {next(iter(starts))}" if len(starts) > 1 else \
        f"fold ({given}) over i in {first}..{first + count} {{ next {step} }}"


def written_out(starts, step, count, first=0):
    lines = [f"let {s}0 = {v}" for s, v in starts.items()]
    for k in range(count):
        text = step
        for s in starts:
            text = re.sub(rf"\b{s}\b", f"{s}{k}", text)
        text = re.sub(r"\bi\b", str(first + k), text)
        names = ", ".join(f"{s}{k + 1}" for s in starts)
        lines.append(f"let ({names}) = {text}" if len(starts) > 1 else f"let {names} = {text}")
    return "; ".join(lines) + f"; {next(iter(starts))}{count}"


def same_sets(starts, step, count):
    one, other = call(loop(starts, step, count)), call(written_out(starts, step, count))
    said = f"seed {SEED}, {count} steps of {step} from {starts}"
    np.testing.assert_array_equal(one.lo, other.lo, said)
    np.testing.assert_array_equal(one.hi, other.hi, said)
    assert one.dtype == other.dtype
    return one


# --- complex states ---

COMPLEX = ["round<f32>(h * w + z)", "round<bf16>(h * w + u[i])", "round<f16>(conj(h) * u[i] + z)", "round<f8e4m3fn, rtz>(h * w + z)", "round<f32>(0.5 * h + complex(sum(real(h)), 0))",
           "complex(f32(real(h) * 0.5 + v[i]), f32(imag(h) / 3))", "complex(in f32 { real(h) * real(w) - imag(h) * imag(w) }, f32(abs(h)))",
           "where(real(h) > 0, round<f32>(h * w - z), round<f32>(h * w + z))", "within<f32>(h * w + z)", "acc<f32>(round<f32>(h * w) + z)",
           "acc<f32>(h @ M)", "round<bf16>(within<f32>(h @ M + z))", 'any_of<"p">(round<f32>(h * w + z), round<f32>(h * w))']


@pytest.mark.parametrize("step", COMPLEX)
@pytest.mark.parametrize("count", [1, 2, 3, 8, 300])
def test_complex_states(step, count):
    same_sets({"h": "z"}, step, count)
    if "@" not in step and "in f32" not in step:
        same_sets({"h": "complex(0, 0)"}, step, count)


@pytest.mark.parametrize("count", [1, 2, 8, 300])
def test_a_choice_at_the_start_stays_one_for_both_parts(count):
    result = same_sets({"h": "any_of(z, w)"}, "round<f32>(conj(h) * u[i] + z)", count)
    with np.errstate(all="ignore"):
        both = []
        for start in ("z", "w"):
            both.append(call(written_out({"h": start}, "round<f32>(conj(h) * u[i] + z)", count)).lo)
        mixed = both[0].real + 1j * both[1].imag
    for start in both:
        assert np.all(result.covers(start.astype(C)))
    assert not np.any(result.covers(mixed.astype(C))[both[0] != both[1]])


MANY = [({"a": "x", "h": "z"}, "(f32(a * 0.5 + real(h)), round<f32>(h * w + complex(a, 0)))"),
        ({"h": "z", "a": "x", "g": "w"}, "(round<bf16>(g * w), f32(a / 3 + abs(h)), round<f32>(h + g * v[i]))"),
        ({"n": "0", "h": "complex(1, 0)"}, "(n + 1, round<f32>(h * complex(0.5, 0.75) + u[i]))"),
        ({"b": "true", "h": "z"}, "(all(real(h) > 0), where(b, round<f32>(h * w), round<f32>(h + z)))"),
        ({"h": "z", "g": "w"}, "(g, round<f32>(h - g))")]


@pytest.mark.parametrize("starts, step", MANY, ids=lambda p: p if isinstance(p, str) else "")
@pytest.mark.parametrize("count", [2, 5, 300])
def test_complex_states_beside_others(starts, step, count):
    def of(text, state):
        names = list(starts)
        return text.rsplit(";", 1)[0] + "; " + state + (str(count) if text.rstrip().endswith(f"{names[0]}{count}") else "")
    one, other = loop(starts, step, count), written_out(starts, step, count)
    one = one.replace(",) =", ") =")
    for state in starts:
        a, b = call(of(one, state)), call(of(other, state))
        np.testing.assert_array_equal(a.lo, b.lo, f"seed {SEED}, state {state}")
        np.testing.assert_array_equal(a.hi, b.hi, f"seed {SEED}, state {state}")


@pytest.mark.parametrize("count", [6, MOST])
def test_executions_of_complex_choices(count):
    step = "any_of(round<f32>(h * 0.5 + u[i]), round<f32>(conj(h) * 0.25))"
    result = call(loop({"h": "z"}, step, count))
    u, rng = INPUTS["u"], np.random.default_rng(SEED)
    for k in range(40):
        h = INPUTS["z"]
        for i in range(count):
            h = np.where(rng.random(4) < 0.5, h * F(0.5) + u[i], np.conj(h) * F(0.25)).astype(C)
        assert np.all(result.covers(h)), f"seed {SEED}, execution {k}: {h}"


def test_choices_of_inner_loops_are_made_anew():
    """The inner loop is small enough to be seen as a whole, the outer one is not: its steps choose for themselves."""
    inner = "fold (g = h) over j in 0..2 { next any_of(round<f32>(g + complex(1, 0)), round<f32>(g + complex(0, 1))) }"
    for count in (1, 2, 3, 200):
        result = er.expr(f"fold (h = z) over i in 0..{count} {{ next {inner} }}")(z=np.zeros(2, C))
        for ones in range(0, 2 * count + 1, max(1, count // 5)):
            assert np.all(result.covers(np.full(2, complex(ones, 2 * count - ones), C))), (count, ones)
        assert not np.any(result.covers(np.full(2, complex(2 * count + 1, 0), C)))


def test_complex_steps_of_mixed_parts():
    """Only one part has a choice."""
    for count in (4, 300):
        result = same_sets({"h": "z"}, "complex(f32(any_of(real(h) / 2, real(z))), f32(imag(h) * 0.5))", count)
        assert np.array_equal(result.lo.imag, result.hi.imag)


@pytest.mark.parametrize("count", [4, 300])
def test_executions_of_stochastic_complex_steps(count):
    step, w, z = "round<f32, sr>(h * w + z)", INPUTS["z"], INPUTS["w"]
    if count == 4:
        same_sets({"h": "z"}, step, count)
    w = (w / np.maximum(1, 2 * np.abs(w))).astype(C)
    result, rng = call(loop({"h": "z"}, step, count), z=z, w=w), np.random.default_rng(SEED)

    def either(exact):  # float64 products of float32 numbers are exact, their sums nearly: away from values of float32 either neighbour
        near = exact.astype(F)
        other = np.nextafter(near, np.where(exact > near, F(np.inf), F(-np.inf)))
        return np.where((np.abs(exact - near) < 1e-5 * np.abs(np.spacing(near))) | (rng.random(4) < 0.5), near, other)
    for k in range(40):
        h = z
        for _ in range(count):
            a, b, c, d = (p.astype(np.float64) for p in (h.real, h.imag, w.real, w.imag))
            h = (either(a * c - b * d + z.real) + 1j * either(a * d + b * c + z.imag)).astype(C)
        assert np.all(result.covers(h)), f"seed {SEED}, execution {k}: {h}"


@pytest.mark.parametrize("step", ["h * w + complex(x, 0)", "complex(real(h) * 0.5, x)"])
def test_a_gradient_stops_at_complex_states_as_at_complex_numbers(step):
    texts = [loop({"h": "z"}, step, 4), written_out({"h": "z"}, step, 4)]
    for text in texts:
        lets, last = text.rsplit(";", 1) if ";" in text and "fold" not in text else ("let h = " + text, "h")
        with pytest.raises(er.SpecError, match="differentiate by the parts"):
            call(f"{lets}; f32(vjp(sum(real({last.strip()})), wrt=x, grad=1))")


# --- steps that go in turns ---

TURNS = ["f32(h * 0.5 + v[i // 2])", "f32(h * 0.5 + v[i % 4])", "f32(h * v[i // 3] + v[i])", "f32(h * 0.5 + v[i // 4 * 8 + i % 4])", "f32(h * 0.25 + v[i % 3] * i)",
         "f32(h * 0.5 + v[60 - i // 5] - v[(i + 1) % 5])", "any_of(f32(h / 2 + v[i // 2]), f32(h / 4))", "f32(h * 0.5 + v[i // 2] * v[i // 4])", "f32(h * 0.5 + v[i * i])",
         "acc<f32>(h + sum(v[i // 4 * 4:i // 4 * 4 + 4] * x))", "f32(h + (fold (r = h) over j in 0..3 { next f32(r * 0.5 + v[i // 2 + j]) }))"]


@pytest.mark.parametrize("step", TURNS)
@pytest.mark.parametrize("first, count", [(0, 2), (0, 4), (0, 7), (0, 8), (0, 13), (0, 19), (1, 9), (2, 12), (3, 13), (4, 15)])
def test_places_by_quotient_and_rest(step, first, count):
    starts = {"h": "0.5"}
    one = call(loop(starts, step, count, first))
    if "fold" in step:
        steps = written_out(starts, step.replace("r * 0.5", "rr * 0.5").replace("(r = h)", "(rr = h)"), count, first)
    else:
        steps = written_out(starts, step, count, first)
    other = call(steps)
    np.testing.assert_array_equal(one.lo, other.lo, f"{step}, {count} steps from {first}")
    np.testing.assert_array_equal(one.hi, other.hi)
    again = call(one.spec)
    np.testing.assert_array_equal(again.lo, one.lo)
    np.testing.assert_array_equal(again.hi, one.hi)
    assert again.spec == one.spec


@pytest.mark.parametrize("step", TURNS[:4])
def test_the_spec_of_turns_does_not_grow(step):
    few, many = (call(loop({"h": "0.5"}, step, n), v=values(9000)).spec for n in (24, 3600))
    assert few.count("\n") == many.count("\n") and few.count("fold") == many.count("fold") <= 2


# --- the graph, memory ---

ONE_NODE = {"complex states": "fold (h = z) over i in 0..{n} {{ next round<f32>(h * w + z) }}",
            "from a complex number": "fold (h = complex(0, 0)) over i in 0..{n} {{ next round<f32>(h * w + u[i]) }}",
            "complex beside real": "let (a, h) = fold (a = x, h = z) over i in 0..{n} {{ next (f32(a + real(h)), round<f32>(h * w)) }}; a",
            "real numbers": "f32(fold (h = x) over i in 0..{n} {{ next h / 3 + x }})",
            "a whole number and a bool": "let (n, b) = fold (n = 0, b = true) over i in 0..{n} {{ next (n + 1, v[i] > 0) }}; n"}


@pytest.mark.parametrize("text", ONE_NODE.values(), ids=ONE_NODE)
def test_the_spec_does_not_grow_with_the_steps(text):
    few, many = (call(text.format(n=n), u=complex_values(5000), v=values(5000)).spec for n in (10, 5000))
    assert few.replace("0..10 ", "0..5000 ") == many


def test_memory_does_not_grow_with_complex_steps():
    code = """
import resource
import numpy as np
import erx as er
def peak(n):
    z = np.ones(100_000, np.complex64)
    er.expr(f"fold (h = z) over i in 0..{n} {{ next round<f32>(h * complex(0.5, 0.5) + z) }}")(z=z).covers(z)
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
few = peak(5)
print((peak(200) - few) // 1024)
"""
    grown = int(subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout)
    assert grown < 16, f"{grown} MiB more for 200 steps than for 5; one state has 1.6 MB"
