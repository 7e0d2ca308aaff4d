"""Shared by all Python tests: where the built command and the examples are."""
import os
import pathlib
import sys

import pytest

os.environ.setdefault("TRITON_INTERPRET", "1")  # kernels run on the CPU; before any test imports Triton, as parts of PyTorch do

top = pathlib.Path(__file__).resolve().parents[2]

# Without an environment that has the package: the build folder's copy.
try:
    import erx  # noqa: F401
except ImportError:
    sys.path.insert(0, str(top / "build" / "python"))


@pytest.fixture
def examples():
    return top / "examples"
