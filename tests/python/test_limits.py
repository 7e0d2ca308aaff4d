"""Every limit of docs/language.md is an error that says so, and soon."""
import re
import subprocess
import time

import pytest
from conftest import top

PAGE = (top / "docs" / "language.md").read_text()


def spec(body, example=""):
    return f"spec s(x: f32[N]) -> f32[N] {{\n  return {body}\n}}\n{example}"


def drawn(line):
    return spec("x", f'example "e" {{\n  {line}\n  covers x\n}}\n')


functions = "fn f0(x) = x + 1\n" + "".join(f"fn f{i}(x) = f{i - 1}(x) + f{i - 1}(x)\n" for i in range(1, 19))
labels = "f32(" + " + ".join(f'any_of<"l{i}">(x, 2 * x)' for i in range(7)) + ")"
BEYOND = {
    "a file": ("#" * (4 * 2**20 + 1), "a spec has at most 4194304"),
    "nesting of brackets, signs and calls": (spec("f32(" * 201 + "x" + ")" * 201), "nests more than 200 deep"),
    "functions that call each other": ("".join(f"fn f{i}(x) = {f'f{i - 1}(x)' if i else 'x'}\n" for i in range(25)) + spec("f24(x)"), "more than 20 deep"),
    "calls written out": (functions + spec("f32(f18(x))"), "functions written out here become too large"),
    "terms of a chain": (spec("f32(" + " + ".join(["x"] * 20002) + ")"), "a chain of more than 20000 terms"),
    "digits of a number": (spec(f"f32({'1' * 5001} * x)"), "too many digits"),
    "exponent of a number": (spec("f32(1e10000 * x)").replace("1e10000", "1e100000"), "too large or too small"),
    "steps of a loop": (spec("fold (a = x) over i in 0..100001 { next a }"), "a loop has at most 100000 steps"),
    "steps of nested loops": (spec("fold (a = x) over i in 0..3000 { next fold (b = a) over j in 0..3000 { next f32(b * x + a) } }"), "this loop becomes too large"),
    "combinations of labelled choices": (spec(labels, 'example "e" {\n  x = [1]\n  covers [7]\n}\n'), "more than 64 assignments"),
    "elements of a tensor": (spec("f32(x + sum(iota(8589934593)))", 'example "e" {\n  x = [1]\n  covers [7]\n}\n'), "a tensor of more than 2^33 elements"),
    "numbers drawn by one line of an example": (drawn("x = normal(seed=1, 1048577)"), "draws at most 1048576 numbers"),
    "formats": (spec("f32(round<float<e=12, m=3>>(x))"), "1 to 11"),
}


@pytest.mark.parametrize("what", BEYOND)
def test_beyond_a_limit_is_an_error_that_says_so(what, tmp_path):
    text, message = BEYOND[what]
    (tmp_path / "k.erx").write_text(text)
    start = time.monotonic()
    run = subprocess.run([top / "build" / "erx", "test", "k.erx"], cwd=tmp_path, capture_output=True, text=True, timeout=120)
    assert run.returncode == 2
    assert message in run.stderr, run.stderr[-1000:]
    assert len(run.stderr) < 20000
    assert time.monotonic() - start < 100  # a busy machine may take long; an endless one not


def test_files(tmp_path):
    for i in range(102):
        (tmp_path / f"f{i}.erx").write_text(f'import "f{i + 1}.erx"\nfn g{i}(x) = x\n' if i < 101 else "fn last(x) = x\n")
    (tmp_path / "k.erx").write_text('import "f0.erx"\n' + spec("x"))
    run = subprocess.run([top / "build" / "erx", "test", "k.erx"], cwd=tmp_path, capture_output=True, text=True, timeout=120)
    assert run.returncode == 2 and "more than 100 files are imported" in run.stderr


def test_every_row_of_the_page_is_tried():
    rows = re.search(r"^## Limits\n\n(.*?)\n\n", PAGE, re.DOTALL | re.MULTILINE).group(1).splitlines()[2:]
    named = [row.split(" | ")[0].strip("| ") for row in rows]
    untried = {"imported files", "operations of a spec, everything written out"}  # the test above; minutes
    assert set(named) == set(BEYOND) | untried
