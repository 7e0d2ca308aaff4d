"""docs/pytorch.md is run: every row of its tables headed PyTorch | er, and every block of code, in every dtype that they have."""
import pathlib
import re
import textwrap

import pytest
import torch

import erx as er
from test_backward import autograd

TEXT = (pathlib.Path(__file__).resolve().parents[2] / "docs" / "pytorch.md").read_text()
FLOATS = [torch.float64, torch.float32, torch.bfloat16, torch.float16]
COMPLEX, INTEGERS = [torch.complex64, torch.complex128], [torch.int64, torch.int32, torch.int8, torch.uint8, torch.bool]
HALVES = FLOATS[2:]


def rows():
    """(the calls of PyTorch, the call of er) of each row."""
    found, inside = [], False
    for line in TEXT.splitlines():
        cells = [c.strip() for c in line.strip("|").split(" | ")] if line.startswith("|") else []
        inside = cells == ["PyTorch", "er"] or bool(cells) and inside
        calls = [re.findall(r"`([^`]+)`", c) for c in cells]
        if inside and len(calls) == 2 and all(calls) and not cells[1].startswith("a loop"):
            assert len(calls[1]) == 1, line
            found.append((calls[0], calls[1][0]))
    return found


def blocks():
    return [textwrap.dedent(b) for b in re.findall(r"^ *```python\n(.*?)^ *```", TEXT, re.S | re.M)]


def values(seed, dtype):
    g = torch.Generator().manual_seed(seed)

    def tensor(*shape):
        if dtype == torch.bool:
            return torch.randint(0, 2, shape, generator=g).bool()
        if not dtype.is_floating_point and not dtype.is_complex:
            return torch.randint(0 if dtype == torch.uint8 else -3, 4, shape, generator=g).to(dtype)
        return torch.randn(shape, generator=g, dtype=torch.complex128 if dtype.is_complex else torch.float64).to(dtype)
    return tensor


def names(dtype, shapes, seed=1):
    """What the names of the page stand for."""
    t = values(seed, dtype)
    left, right, out = shapes
    fraction = dtype.is_floating_point or dtype.is_complex
    return {
        "A": t(*left), "B": t(*right), "C": t(*out), "v": t(7), "w": t(9), "x": t(7, 9), "y": t(7, 9), "g": t(7, 9), "c": t(7, 9).real > 0,
        "batched_A": t(3, 7, 5), "batched_B": t(3, 5, 9), "a": 0.75 if fraction else 2, "b": 1.5 if fraction else 3, "dim": 1, "k": True,
        "d": dtype if fraction else torch.float32, "shape": (9,), "eps": 1e-5, "half": dtype in HALVES, "torch": torch, "er": er,
        "F": torch.nn.functional, "autograd": autograd,
    }


# A @ B of matrices, batches, a matrix and a vector, and vectors; C has the shape of the product.
SHAPES = [((7, 5), (5, 9), (7, 9)), ((3, 7, 5), (3, 5, 9), (3, 7, 9)), ((7, 5), (5,), (7,)), ((6,), (6,), ())]
# Where bfloat16 and float16 store more than the row says: the text under the table tells, with a chain that is run as a block.
MORE = {"x.logsumexp(dim)", "x.prod(dim)", "x.log_softmax(dim)", "torch.addr(C, v, w, beta=b, alpha=a)", "torch.addmv(C, A, B, beta=b, alpha=a)"}


def stores_more(call, shapes, dtype):
    dot = re.search(r"\b[AB]\b", call) and min(len(shapes[0]), len(shapes[1])) == 1
    return dtype in HALVES and (call in MORE or bool(dot))


def wrong(out):
    """Another value in every element."""
    if out.dtype == torch.bool:
        return ~out
    if not out.dtype.is_floating_point and not out.dtype.is_complex:
        return out + 1
    return torch.where(out.isfinite(), out + out.abs() + 1, torch.zeros_like(out))


def is_refused(call, dtype):
    """What the page lists as refused, and what PyTorch's dtype adds."""
    return "log" in call and dtype.is_complex or "norm" in call and dtype.is_complex


def compared(result, out):
    if out.dtype in INTEGERS[1:4]:  # exact in er, in the dtype in PyTorch
        kind = er.array([0], dtype=out.dtype).dtype.kind
        result = er.expr(f"wrap<{kind}>(r)")(r=result)
    return result


@pytest.mark.parametrize("dtype", FLOATS + COMPLEX + INTEGERS, ids=lambda d: str(d)[6:])
def test_rows(dtype):
    assert len(rows()) >= 25
    ran = 0
    for calls, spelled in rows():
        for call in calls:
            for shapes in SHAPES if re.search(r"\b[AB]\b", call) else SHAPES[:1]:
                made = names(dtype, shapes)
                if "log(" in call and dtype != torch.bool:
                    made["x"] = made["x"].abs() + 1
                try:
                    out = eval(call, made)
                except (RuntimeError, TypeError, IndexError):
                    continue  # not of these shapes, not of this dtype
                if dtype == torch.bool and "gemm" in spelled or is_refused(call, dtype):
                    continue
                result = compared(eval(spelled, made), out)
                assert result.shape == tuple(out.shape), call
                if not stores_more(call, shapes, dtype):
                    assert result.check(out), f"{call} as {spelled} in {dtype}\n{result.check(out)}"
                assert result.check(wrong(out)).violations == out.numel(), f"{call} as {spelled} in {dtype}"
                ran += 1
    assert ran >= {torch.bool: 8}.get(dtype, 20)


def test_each_call_ran():
    """Each call of the page is one that PyTorch takes with some of the shapes."""
    for calls, _ in rows():
        for call in calls:
            def takes(shapes):
                try:
                    eval(call, names(torch.float32, shapes))
                except (RuntimeError, TypeError, IndexError):
                    return False
                return True
            assert any(takes(s) for s in SHAPES), call


@pytest.mark.parametrize("dtype", FLOATS, ids=lambda d: str(d)[6:])
@pytest.mark.parametrize("block", range(len(blocks())))
def test_blocks(block, dtype):
    made = names(dtype, SHAPES[0], seed=2)
    exec(compile(blocks()[block], "docs/pytorch.md", "exec"), made)


def test_the_page_names_the_version_that_it_was_run_with():
    version = ".".join(torch.__version__.split(".")[:2])
    assert f"PyTorch {version}" in TEXT or f"({version}, CPU)" in TEXT
