"""Every .erx file among the examples: its examples hold without a warning, its mutants die, it is in canonical layout and `erx doc` describes it."""
import os
import re
import subprocess

import pytest
from conftest import top

ERX = top / "build" / "erx"
FILES = sorted((top / "examples").glob("**/*.erx"))


def erx(*words):
    return subprocess.run([ERX, *words], cwd=top, capture_output=True, text=True, timeout=300)


@pytest.mark.parametrize("path", FILES, ids=lambda p: p.name)
def test_a_file_holds(path):
    run = erx("test", path)
    assert run.returncode == 0, run.stdout + run.stderr
    assert run.stderr == ""
    assert erx("fmt", "--check", path).returncode == 0


@pytest.mark.parametrize("path", sorted((top / "examples" / "kernels").glob("*.erx")), ids=lambda p: p.name)
def test_a_kernel_has_a_witness_and_mutants(path):
    text = path.read_text()
    assert re.search(r"^  covers .*(in f|\w\()", text, re.MULTILINE), "no output is computed"
    assert len(re.findall(r"^  mutant ", text, re.MULTILINE)) >= 2


def balanced(formula):
    depth = 0
    for token in re.findall(r"\\[{}]|[{}]", formula):
        depth += {"{": 1, "}": -1}.get(token, 0)
        assert depth >= 0
    count = lambda word: len(re.findall(rf"\\{word}(?![a-z])", formula))  # noqa: E731
    return depth == 0 and count("left") == count("right") and count("begin") == count("end")


@pytest.mark.parametrize("path", FILES, ids=lambda p: p.name)
def test_a_file_is_described(path):
    run = erx("doc", path)
    assert run.returncode == 0, run.stderr
    specs = re.findall(r"^spec (\w+)", path.read_text(), re.MULTILINE)
    assert re.findall(r"^# (\w+)$", run.stdout, re.MULTILINE) == specs
    formulas = re.findall(r"^\$\$\n(.*?)\n\$\$$", run.stdout, re.DOTALL | re.MULTILINE)
    assert len(formulas) == len(specs)
    for formula in formulas:
        assert balanced(formula), formula
        assert "operatorname{}" not in formula and "&= \n" not in formula
    assert "FAILS" not in run.stdout and "| error |" not in run.stdout


@pytest.mark.parametrize("name", ["linear", "kernels/cross_entropy"])
def test_a_description_reads_as_reviewed(name):
    """ERX_WRITE_GOLDEN=1 writes it anew."""
    golden = top / "tests" / "golden" / "doc" / (name.split("/")[-1] + ".md")
    found = erx("doc", f"examples/{name}.erx").stdout
    if os.environ.get("ERX_WRITE_GOLDEN"):
        golden.parent.mkdir(exist_ok=True)
        golden.write_text(found)
    assert found == golden.read_text()
