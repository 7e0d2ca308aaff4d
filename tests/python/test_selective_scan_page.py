"""docs/selective-scan.md: its commands run as they are written, and print what it says."""
import pathlib
import re
import shlex
import subprocess
import sys

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
PAGE = (ROOT / "docs" / "selective-scan.md").read_text()
COMMANDS = re.findall(r"```sh\n(.*?)```", PAGE, re.DOTALL)
PRINTED = re.findall(r"```text\n(.*?)```", PAGE, re.DOTALL)


def run(block, folder):
    """All commands of a block; what they print. `build/` is a folder of the test's own, the Python the one that runs it."""
    text, place = "", folder
    (folder / "build").mkdir()
    for name in ("erx", "venv", "python"):
        if (ROOT / "build" / name).exists():
            (folder / "build" / name).symlink_to(ROOT / "build" / name)
    (folder / "examples").symlink_to(ROOT / "examples")
    for line in block.strip().splitlines():
        words = shlex.split(line)
        if words[0] == "cd":
            place = place / words[1]
            continue
        if words[0] == "build/venv/bin/python":
            words[0] = sys.executable
        words = [str(ROOT / "examples" / w.removeprefix("../../examples/")) if w.startswith("../../examples/") else w for w in words]
        done = subprocess.run(words, capture_output=True, text=True, cwd=place, check=False)
        assert done.returncode in (0, 1) and not done.stderr, f"{line}\n{done.stderr}"
        text += done.stdout
    return text


def without_sizes(line):
    """Magnitudes are means over values that another exp changes in the last place."""
    return re.sub(r"about [\d,]+", "about N", line)


def assert_printed(blocks, text):
    have = {without_sizes(line) for line in text.splitlines()}
    for block in blocks:
        for line in block.strip("\n").splitlines():
            assert any(without_sizes(line).strip() in h for h in have), f"not printed: {line}\n{text}"


def test_the_three_outputs(tmp_path):
    text = run(COMMANDS[0], tmp_path)
    assert_printed(PRINTED[:3], text)
    assert text.count("COVERED") == 2 and text.count("VIOLATION") == 1
    picture = (tmp_path / "build" / "selective_scan" / "where.svg").read_text()
    shown = (ROOT / "docs" / "selective-scan.svg").read_text()
    # The same picture, but for cells that are near the edge of a colour.
    assert re.findall(r"<text[^>]*>([^<]*)", picture)[:2] == re.findall(r"<text[^>]*>([^<]*)", shown)[:2]
    assert picture.count("<path") == shown.count("<path")


def test_all_implementations(tmp_path):
    pytest.importorskip("triton")
    text = run(COMMANDS[1], tmp_path)
    assert_printed(PRINTED[3:], text)
    assert text.count("refuted") == 4 and text.count(": covered") == 14


def test_every_block_of_the_page_is_run():
    assert len(COMMANDS) == 2 and len(PRINTED) == 4
    for link in re.findall(r"\]\(([^)]+)\)", PAGE):
        assert (ROOT / "docs" / link).exists(), link
    spec = (ROOT / "examples" / "selective_scan" / "selective_scan.erx").read_text()
    for block in re.findall(r"```erx\n(.*?)```", PAGE, re.DOTALL):
        assert block.strip() in spec
