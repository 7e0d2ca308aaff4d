"""Whole checks of functions of 16 million float32 numbers beside PyTorch's and NumPy's float64 functions of the same numbers.

    PYTHONPATH=build/python build/venv/bin/python tests/bench/functions.py [part of a function's name]

Arrays in, verdict out. Medians of five; both sides on all processors, but NumPy, whose functions have one thread. Not a test: no ratio is asserted.
"""

import statistics
import sys
import time

import ml_dtypes
import numpy as np
import torch

import erx as er


def seconds(f, runs: int = 5) -> float:
    times = []
    for _ in range(runs):
        start = time.perf_counter()
        f()
        times.append(time.perf_counter() - start)
    return statistics.median(times)


def main(wanted: str) -> None:
    numbers = np.random.default_rng(0).standard_normal(1 << 24).astype(np.float32)
    for name in ("exp", "log", "tanh", "erf", "sigmoid"):
        if wanted not in name:
            continue
        x = np.abs(numbers) if name == "log" else numbers
        wide = torch.from_numpy(x).double()
        peers = {"PyTorch": seconds(lambda: getattr(torch, name)(wide))}
        if hasattr(np, name):
            peers["NumPy"] = seconds(lambda: getattr(np, name)(wide.numpy()))
        for kind, dtype in (("f32", np.float32), ("bf16", ml_dtypes.bfloat16)):
            spec = er.parse(f"spec s(x: f32[N]) -> {kind}[N] {{ return round<{kind}>({name}(x)) }}")
            out = spec(x).lo.astype(dtype)
            assert spec(x).check(out).ok
            taken = seconds(lambda: spec(x).check(out))
            ratios = ", ".join(f"{taken / peer:.2f} of {who}'s {1e3 * peer:.0f} ms" for who, peer in peers.items())
            print(f"{name} into {kind}: {1e3 * taken:.0f} ms, {ratios}", flush=True)


if __name__ == "__main__":
    main(sys.argv[1] if len(sys.argv) > 1 else "")
