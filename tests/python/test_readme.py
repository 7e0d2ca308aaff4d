"""The README's program prints what the README says."""
import pathlib
import re
import subprocess
import sys

README = pathlib.Path(__file__).parents[2] / "README.md"


def test_the_program_prints_what_it_says():
    code, printed = re.search(r"```python\n(.*?)```\n\nprints\n\n```\n(.*?)```", README.read_text(), re.DOTALL).groups()
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert done.stdout.strip() == printed.strip()
