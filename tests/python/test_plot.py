"""Pictures of where violations lie: the command's SVG without Python, and Report.plot() with matplotlib."""
import builtins
import os
import pathlib
import subprocess
import xml.etree.ElementTree as xml

import numpy as np
import pytest

import erx as er

import matplotlib
matplotlib.use("Agg")
import matplotlib.pyplot as plt  # noqa: E402

ERX = os.environ.get("ERX", str(pathlib.Path(__file__).resolve().parents[2] / "build" / "erx"))


def checked(shape, wrong):
    x = np.random.default_rng(5).standard_normal(shape).astype(np.float32)
    out = x.copy()
    wrong(out)
    return x, out


def erx(*args, cwd, stdin="x"):
    return subprocess.run([ERX, *map(str, args)], input=stdin, capture_output=True, text=True, cwd=cwd, timeout=60, check=False)


def test_the_command_draws_svg_and_nothing_else(tmp_path):
    def wrong(y):
        y[1, 8:16, 64:] += 1
        y[0, 3, 3] = np.nan

    x, out = checked((2, 32, 128), wrong)
    np.save(tmp_path / "x.npy", x)
    np.save(tmp_path / "out.npy", out)
    run = erx("check", "-", "--in", "x=x.npy", "--out", "out.npy", "--plot", "where.svg", cwd=tmp_path)
    assert run.returncode == 1, run.stderr
    root = xml.parse(tmp_path / "where.svg").getroot()
    texts = ["".join(t.itertext()) for t in root.iter("{http://www.w3.org/2000/svg}text")]
    for text in ("output: f32[2, 32, 128], 513 of 8,192 elements checked are outside", "[0]", "[1]", "row (axis 1)", "column (axis 2)", "none outside",
                 "NaN or infinity", "largest distance in a cell (ulps):"):
        assert text in texts, texts
    assert len(texts) < 120

    run = erx("check", "-", "--in", "x=x.npy", "--out", "x.npy", "--plot", "right.svg", cwd=tmp_path)
    assert run.returncode == 0 and "every element checked is allowed" in (tmp_path / "right.svg").read_text()
    for name in ("where.png", "where", "where.pdf"):
        run = erx("check", "-", "--in", "x=x.npy", "--out", "out.npy", "--plot", name, cwd=tmp_path)
        assert run.returncode == 2 and "has to end in .svg" in run.stderr and not (tmp_path / name).exists()
        assert ("report.plot()" in run.stderr) == ("." in name)


@pytest.mark.parametrize("shape", [(), (40,), (1, 1), (12, 30), (3, 5, 7), (2, 2, 64, 96), (40, 3, 4)])
def test_axes_are_returned_and_hold_every_violation(shape):
    def wrong(y):
        y[...] = np.where(np.arange(y.size).reshape(y.shape) % 3 == 0, y + 1, y)

    x, out = checked(shape, wrong)
    report = er.expr("x")(x=x).check(out)
    axes = report.plot()
    panels = min(int(np.prod(shape[:-2], dtype=int)), 12) if len(shape) < 3 or np.prod(shape[:-2]) <= 12 else -(-int(np.prod(shape[:-2])) // (-(-int(np.prod(shape[:-2])) // 12)))
    assert axes.shape == (panels + 1,)
    drawn = sum(int(np.ma.count(a.collections[0].get_array())) for a in axes[:-1])
    assert drawn == report.violations if panels == np.prod(shape[:-2], dtype=int) else drawn > 0
    if len(shape) >= 2:
        assert axes[0].get_ylabel() == ("row" if len(shape) == 2 else f"row (axis {len(shape) - 2})")
    assert f"{report.violations:,} of {x.size:,}" in axes[0].figure.get_suptitle()
    plt.close("all")


def test_own_axes_and_covered_outputs():
    x, out = checked((6, 8), lambda y: y.__setitem__((2, slice(None)), 0))
    report = er.expr("x")(x=x).check(out)
    assert report.where == ["every element of row 2", "each of them is 0"] and report.causes == ["consistent with elements that were never written"]
    _, own = plt.subplots(2)
    assert list(report.plot(axes=own)) == list(own)
    with pytest.raises(ValueError, match="this picture has 2 axes"):
        report.plot(axes=plt.subplots(3)[1])
    assert len(er.expr("x")(x=x).check(x).plot()) == 2
    with pytest.raises(KeyError, match="no result `y`"):
        report.plot("y")
    plt.close("all")


def test_the_result_with_the_most_violations_or_the_one_asked_for():
    x = np.arange(1, 9, dtype=np.float32).reshape(2, 4)
    results = er.parse("spec s(x: f32[N, M]) -> (a: f32[N, M], b: f32[N, M]) {\n  return (x, round<f32>(2 * x))\n}")(x=x)
    report = results.check(x, 3 * x)
    assert "b: 8 of 8" in report.plot()[0].figure.get_suptitle()
    assert "a: 0 of 8" in report.plot("a")[0].figure.get_suptitle()
    assert "b: 8 of 8" in report.plot(1)[0].figure.get_suptitle()
    plt.close("all")


def test_without_matplotlib_the_error_says_what_to_do(monkeypatch):
    x, out = checked((3, 3), lambda y: y.fill(0))
    report = er.expr("x")(x=x).check(out)
    true_import = builtins.__import__

    def refuse(name, *args, **kwargs):
        if name.startswith("matplotlib"):
            raise ImportError("no module")
        return true_import(name, *args, **kwargs)

    monkeypatch.setattr(builtins, "__import__", refuse)
    with pytest.raises(ImportError, match="pip install matplotlib.*--plot FILE.svg"):
        report.plot()
