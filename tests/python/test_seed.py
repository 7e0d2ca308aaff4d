"""The published equivalent of torch.add(x, y, alpha=a) in half precision, call for call."""
import subprocess
import sys

CODE = """
import random
import torch
import erx as er

rng = random.Random(0)
x = torch.tensor([rng.gauss(0, 1) for _ in range(1000)], dtype=torch.float16)
y = torch.tensor([rng.gauss(0, 1) for _ in range(1000)], dtype=torch.float16)
a = torch.tensor(0.3, dtype=x.dtype).item()
print("alpha:", a)
plain = er.add(x, y, alpha=a)
stored = er.add(x, er.multiply(y, a, dtype="float16"))
print("covered:", er.any_of(plain, stored).covers(torch.add(x, y, alpha=0.3)).all())
"""


def test_seed_prints_what_it_should():
    done = subprocess.run([sys.executable, "-c", CODE], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert done.stdout == "alpha: 0.300048828125\ncovered: True\n"
