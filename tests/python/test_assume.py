"""`assume`: what a spec requires of its inputs. Where it fails nothing is said about the output."""

import json
import subprocess

import numpy as np
import pytest

import erx as er
from test_cli import ERX

TEXT = """spec scaled(x: f32[N], scale: f32) -> f32[N] {
  let s = scale * 2
  assume scale > 0
  assume abs(x) <= 100 * s
  return round<f32>(x * s)
}
"""
X = np.array([1, -2, 0.5], dtype=np.float32)


@pytest.fixture
def spec():
    return er.parse(TEXT)


def test_inputs_that_meet_it_are_checked(spec):
    r = spec(X, np.float32(3))
    assert r.check(X * 6) and r.check(X * 6).applicable
    report = r.check(X)
    assert not report and report.applicable and report.violations == 3


@pytest.mark.parametrize("x, scale, failed", [(X, -3, "scale > 0"), (X * 1000, 0.25, "abs(x) <= 100 * s")])
def test_inputs_that_do_not_make_it_inapplicable(spec, x, scale, failed):
    r = spec(x, np.float32(scale))
    for out in (x * np.float32(2 * scale), x):
        report = r.check(out)
        assert not report and not report.ok and not report.applicable and report.violations == 0
        assert str(report) == f"INAPPLICABLE: the spec assumes `{failed}`, which does not hold for these inputs\n"
        assert json.loads(report.to_json())["assumption"] == failed
        assert not r.covers(out).any()
        with pytest.raises(AssertionError, match="INAPPLICABLE"):
            er.assert_covers(r, out)


def test_it_goes_where_the_result_goes(spec):
    good, bad = spec(X, np.float32(3)), spec(X, np.float32(-3))
    assert (good + X).check(X * 6 + X)
    for r in (bad + X, bad[1:], bad.reshape(3, 1), er.multiply(bad, X)):
        assert not r.check(np.zeros(r.shape, np.float32)).applicable


def test_a_special_value_meets_no_comparison(spec):
    assert not spec(np.array([np.nan], np.float32), np.float32(1)).check(np.array([np.nan], np.float32)).applicable


def test_no_element_fails_none(spec):
    assert spec(X[:0], np.float32(1)).check(X[:0])


def test_what_cannot_be_decided_is_told():
    spec = er.parse("spec s(x: f64[N]) -> f64[N] {\n  assume sqrt(x) * sqrt(x) == x\n  return x\n}\n")
    with pytest.raises(er.SpecError, match=r"the assumption `sqrt\(x\) \* sqrt\(x\) == x` cannot be decided"):
        spec(np.array([2.0])).check(np.array([2.0]))


def test_it_is_printed_and_read_again(spec):
    text = str(spec(X, np.float32(3)).spec)
    assert "assume scale > 0" in text
    assert str(er.parse(str(spec))) == str(spec)


def test_the_command_exits_with_3(tmp_path):
    (tmp_path / "s.erx").write_text(TEXT)
    np.save(tmp_path / "x.npy", X)
    np.save(tmp_path / "y.npy", X * 6)

    def run(*arguments):
        return subprocess.run([ERX, *arguments], cwd=tmp_path, capture_output=True, text=True)
    inputs = ["--in", "x=x.npy"]
    assert run("check", "s.erx", *inputs, "scale=3", "--out", "y.npy").returncode == 0
    failed = run("check", "s.erx", *inputs, "scale=-3", "--out", "y.npy", "--json", "r.json")
    assert failed.returncode == 3 and failed.stdout.startswith("INAPPLICABLE: the spec assumes `scale > 0`")
    assert json.loads((tmp_path / "r.json").read_text())["verdict"] == "inapplicable"
    evaluated = run("eval", "s.erx", *inputs, "scale=-3", "--save", "sets.npz")
    assert evaluated.returncode == 3 and "scale > 0" in evaluated.stderr and not (tmp_path / "sets.npz").exists()


def test_an_example_whose_inputs_do_not_meet_it_fails(tmp_path):
    (tmp_path / "e.erx").write_text(TEXT + 'example "bad" {\n  x = [1]\n  scale = -1\n  covers [-2]\n}\n')
    done = subprocess.run([ERX, "test", "e.erx"], cwd=tmp_path, capture_output=True, text=True)
    assert done.returncode == 1 and "the spec assumes `scale > 0`" in done.stdout + done.stderr
