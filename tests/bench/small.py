"""What a small check costs: microseconds for 4 x 4 matrices with the spec already loaded, and for loading a spec of 100 lines.

    PYTHONPATH=build/python build/venv/bin/python tests/bench/small.py

Each number is the median of many runs, with the fastest beside it. Not a test: nothing is asserted.
"""

import statistics
import time

import numpy as np
import torch

import erx as er


def microseconds(f, runs: int = 2000) -> str:
    taken = []
    for _ in range(runs):
        start = time.perf_counter()
        f()
        taken.append((time.perf_counter() - start) * 1e6)
    return f"{statistics.median(taken):8.1f}, fastest {min(taken):8.1f}"


def first_checks(bind, out, runs: int = 2000) -> str:
    """Of results that are bound, not yet evaluated."""
    results = iter([bind() for _ in range(runs)])
    return microseconds(lambda: next(results).check(out), runs)


def main() -> None:
    torch.manual_seed(0)
    a, b, c = (torch.randn(4, 4).bfloat16() for _ in range(3))
    x, y = (t.float().numpy() for t in (a, b))
    for name, spec, inputs, out in (
        ("round<bf16>(A + B), PyTorch", "round<bf16>(A + B)", {"A": a, "B": b}, a + b),
        ("round<f32>(A + B), NumPy", "round<f32>(A + B)", {"A": x, "B": y}, x + y),
        ("round<bf16>(A @ B), PyTorch", "round<bf16>(A @ B)", {"A": a, "B": b}, (a.double() @ b.double()).float().bfloat16()),
        ("round<bf16>(alpha * A @ B + C)", "round<bf16>(alpha * A @ B + C)", {"A": a, "B": b, "C": c, "alpha": 0.5},
         (0.5 * a.double() @ b.double() + c.double()).float().bfloat16()),
    ):
        loaded = er.expr(spec)
        result = loaded(**inputs)
        print(f"{name:34s} bind {microseconds(lambda: loaded(**inputs))}   check {first_checks(lambda: loaded(**inputs), out)}   "
              f"check again {microseconds(lambda: result.check(out))} us", flush=True)
    lines = "".join(f"  let v{i} = round<f32>(v{i - 1} * {i}.5 + A)\n" for i in range(1, 98))
    text = f"spec long(A: f32[M, N]) -> f32[M, N] {{\n  let v0 = A\n{lines}  return round<f32>(v97)\n}}\n"
    try:
        er.parse(text)
    except er.SpecError as error:
        print(error)
        return
    print(f"{'a spec of %d lines' % text.count(chr(10)):34s} load {microseconds(lambda: er.parse(text), 200)} us")


if __name__ == "__main__":
    main()
