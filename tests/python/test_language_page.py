"""Every block of docs/language.md is run: specs parse and their examples hold, errors read as printed, programs print what is below them."""
import os
import pathlib
import re
import subprocess
import sys

import pytest
from conftest import top

PAGE = (top / "docs" / "language.md").read_text()
BLOCKS = [(m.group(1), m.group(2), PAGE[: m.start()].count("\n") + 1) for m in re.finditer(r"^```(.*?)\n(.*?)^```$", PAGE, re.DOTALL | re.MULTILINE)]
KINDS = {"erx", "erx error", "erx failing", "python", "sh", "text"}


def blocks(*kinds):
    return [pytest.param(text, id=f"line {line}") for kind, text, line in BLOCKS if kind in kinds]


def erx(*words, text=None, cwd=None):
    return subprocess.run([top / "build" / "erx", *words], input=text, cwd=cwd, capture_output=True, text=True, timeout=300)


def printed_after(text):
    """The text block that stands directly behind this one, if there is one."""
    at = [t for _, t, _ in BLOCKS].index(text)
    kind, expected, _ = BLOCKS[at + 1] if at + 1 < len(BLOCKS) else ("", "", 0)
    return expected if kind == "text" else None


def test_every_block_is_of_a_kind_that_is_run():
    assert {kind for kind, _, _ in BLOCKS} <= KINDS
    assert sum(kind.startswith("erx") for kind, _, _ in BLOCKS) > 20
    for (before, _, _), (kind, _, line) in zip([("", "", 0), *BLOCKS], BLOCKS):
        assert kind != "text" or before in KINDS - {"erx", "text"}, f"line {line}: text that nothing prints"


@pytest.mark.parametrize("text", blocks("erx"))
def test_a_spec_is_right_and_its_examples_hold(text, tmp_path):
    (tmp_path / "spec.erx").write_text(text)
    run = erx("test", "spec.erx", cwd=tmp_path) if re.search(r"^example ", text, re.MULTILINE) else erx("fmt", "--check", "spec.erx", cwd=tmp_path)
    assert run.returncode == 0, run.stdout + run.stderr
    assert run.stderr == "", "a block of the page is warned of"


@pytest.mark.parametrize("text", blocks("erx", "erx error", "erx failing"))
def test_a_spec_is_in_canonical_layout(text):
    assert erx("fmt", "-", text=text).stdout == text


@pytest.mark.parametrize("text", blocks("erx error"))
def test_an_error_reads_as_printed(text, tmp_path):
    (tmp_path / "spec.erx").write_text(text)
    run = erx("test", "spec.erx", cwd=tmp_path)
    assert run.returncode == 2
    assert run.stderr == printed_after(text)


@pytest.mark.parametrize("text", blocks("erx failing"))
def test_an_example_fails_as_printed(text, tmp_path):
    (tmp_path / "spec.erx").write_text(text)
    run = erx("test", "spec.erx", cwd=tmp_path)
    assert run.returncode == 1
    assert run.stdout == printed_after(text)


def test_programs_print_what_is_below_them(tmp_path):
    """In the order of the page, in one folder: later ones read what earlier ones wrote."""
    path = os.pathsep.join([str(top / "build"), str(pathlib.Path(sys.executable).parent), os.environ["PATH"]])
    env = {**os.environ, "PATH": path, "PYTHONPATH": os.pathsep.join(p for p in sys.path if p)}
    for kind, text, line in BLOCKS:
        if kind not in ("python", "sh"):
            continue
        call = [sys.executable, "-c", text] if kind == "python" else ["bash", "-eu", "-o", "pipefail", "-c", text]
        run = subprocess.run(call, cwd=tmp_path, env=env, capture_output=True, text=True, timeout=300)
        assert run.returncode == 0, f"line {line}: {run.stderr}"
        assert run.stdout == (printed_after(text) or ""), f"line {line}"


def test_every_operation_is_on_the_page():
    operations, standard = erx("ops").stdout.split("\n\n")
    names = [line.split()[0] for line in operations.splitlines()[1:]] + [line.split("(")[0] for line in standard.splitlines()[1:]]
    internal = {"input", "literal", "add", "sub", "mul", "div", "neg", "lt", "le", "gt", "ge", "eq", "ne", "floordiv", "mod", "within_sum", "index"}
    assert len(names) > 60
    words = set(re.findall(r"\w+", re.sub(r"^```.*?^```$", "", PAGE, flags=re.DOTALL | re.MULTILINE)))
    assert [name for name in names if name not in words | internal] == []
