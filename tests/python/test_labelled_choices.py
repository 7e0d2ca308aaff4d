"""Labelled choices and several results: one assignment has to fit every element of every result, and no mixture of two does."""
import itertools
import random

import numpy as np

import erx as er
import oracle
import oracle_numbers as num
from expressions import ATOM, Expr, Generator, bracketed
from oracle import Run, indices
from oracle_numbers import F32


class Labelled(Generator):
    """Expressions of names, arithmetic and any_of<"label">; deterministic apart from the labels."""

    def __init__(self, rng):
        super().__init__(rng)
        self.labels = rng.sample(["order", "tile", "mode"], rng.choice([1, 2]))

    def number(self, fmt):
        return float(self.rng.randint(-8, 8)) / 4

    def choice(self, shape, depth):
        rng = self.rng
        if depth <= 0:
            return self.input(shape, within=F32)
        kind = rng.choice(["any_of", "any_of", "binary", "sum", "let"])
        inner = lambda s: self.choice(s, depth - 1)  # noqa: E731
        if kind == "any_of":
            label = rng.choice(self.labels)
            parts = [inner(shape), inner(shape)]
            return self.made(f'any_of<"{label}">({parts[0].text}, {parts[1].text})',
                             oracle.AnyOf(*(p.node for p in parts), label=label), parts)
        if kind == "sum":
            return self.reduction("sum", shape, inner)
        if kind == "let":
            e = inner(shape)
            self.lets.append(f"let t{len(self.lets)} = {e.text}")
            self.names.append(Expr(f"t{len(self.lets) - 1}", oracle.Let(e.node), ATOM, F32))
            return self.names[-1]
        return self.binary(rng.choice(["add", "sub", "mul"]), inner(shape), inner(shape))

    def results(self):
        shape = self.rng.choice([(2,), (3,), (2, 2)])
        parts = [self.choice(shape, 3) for _ in range(self.rng.choice([1, 2]))]
        text = ", ".join(f"round<f32>({p.text})" for p in parts)
        inputs = {n: d for n, d in self.inputs.items()}
        signature = ", ".join(f"{n}: {f.text}{bracketed(d.shape)}" for n, (d, f) in inputs.items())
        declared = ", ".join(f"r{i}: f32{bracketed(shape)}" for i in range(len(parts))) if len(parts) > 1 else f"f32{bracketed(shape)}"
        declared, text = (f"({declared})", f"({text})") if len(parts) > 1 else (declared, text)
        spec = f"spec s({signature}) -> {declared} {{\n  " + "\n  ".join([*self.lets, f"return {text}"]) + "\n}\n"
        return spec, {n: d for n, (d, _) in inputs.items()}, [p.node for p in parts]


def assignments(nodes):
    """All results of every element, once per assignment of the labels."""
    found, script = [], []
    while True:
        run = Run(script)
        found.append([np.array([num.to_float(num.round_to(n.at(run, i), F32)[0]) for i in indices(n.shape)]).reshape(n.shape) for n in nodes])
        script = run.made
        while script and script[-1] + 1 == run.widths[len(script) - 1]:
            script = script[:-1]
        if not script:
            return found
        script = script[:-1] + [script[-1] + 1]


def checked(result, outs):
    return bool(result.check(*outs))


def same(outs, others):
    return all(np.array_equal(a, b) for a, b in zip(outs, others))


def test_each_assignment_is_covered_and_no_mixture_is():
    mixtures = 0
    for seed in range(300):
        rng = random.Random(seed)
        text, inputs, nodes = Labelled(rng).results()
        result = er.parse(text)(**inputs)
        try:
            legal = assignments(nodes)
        except num.Unspecified:  # of nothing but negative zeros
            continue
        for outs in legal:
            assert checked(result, outs), f"seed {seed}: an assignment is refused\n{text}\n{inputs}\n{outs}"
        for a, b in itertools.islice(itertools.permutations(legal, 2), 12):
            mixed = [np.where(np.arange(x.size).reshape(x.shape) % 2 == k, x, y) for k, (x, y) in enumerate(zip(a, b))]
            if any(same(mixed, outs) for outs in legal):
                continue
            mixtures += 1
            assert not checked(result, mixed), f"seed {seed}: a mixture of two assignments is covered\n{text}\n{inputs}\n{mixed}"
    assert mixtures > 200


def test_results_share_one_choice():
    spec = er.parse('''spec s(x: f32[2]) -> (a: f32[2], b: f32[2]) {
      let y = any_of<"sign">(x, -x)
      return (y, round<f32>(2 * y))
    }''')
    results = spec(x=np.float32([1, 2]))
    assert results.check(np.float32([1, 2]), np.float32([2, 4])) and results.check(np.float32([-1, -2]), np.float32([-2, -4]))
    assert not results.check(np.float32([1, 2]), np.float32([-2, -4]))
    assert not results.check(np.float32([1, -2]), np.float32([2, -4]))


def test_an_unlabelled_choice_is_made_per_element_and_shared_by_its_uses():
    x = np.float32([1, 2, 3])
    each = er.parse("spec s(x: f32[3]) -> f32[3] {\n let y = any_of(x, -x)\n return round<f32>(y + y)\n}")(x=x)
    er.assert_covers(each, np.float32([2, -4, 6]))
    assert not each.check(np.float32([0, 4, 6]))
    twice = er.parse("spec s(x: f32[3]) -> f32[3] {\n return round<f32>(any_of(x, -x) + any_of(x, -x))\n}")(x=x)
    er.assert_covers(twice, np.float32([0, 4, 6]))
