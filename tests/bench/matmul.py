"""A certified check of a bfloat16 product beside NumPy's float64 product of the same data: ratio and what each tier decided.

    PYTHONPATH=build/python build/venv/bin/python tests/bench/matmul.py [n]

Medians of interleaved runs. Between runs the process sleeps a moment: the threads of NumPy's BLAS spin for a while after a product
and would take a core from whatever runs next. Not a test: no ratio is asserted.
"""

import statistics
import sys
import time

import numpy as np
import torch

import erx as er

SPEC = er.expr("round<bf16>(acc<f32>(A @ B))")


def operands(kind: str, n: int, rng: torch.Generator) -> tuple[torch.Tensor, torch.Tensor]:
    a, b = torch.randn(n, n, generator=rng), torch.randn(n, n, generator=rng)
    if kind == "cancelling":  # pairs of terms that cancel to 1 %
        a[:, 1::2] = a[:, 0::2]
        b[1::2] = -b[0::2] + 0.01 * torch.randn(n // 2, n, generator=rng)
    if kind == "lognormal":  # sigma 3, either sign
        a = torch.exp(3 * a) * torch.sign(torch.randn(n, n, generator=rng))
        b = torch.exp(3 * b)
    return a.bfloat16(), b.bfloat16()


def seconds(f) -> float:
    time.sleep(0.1)
    start = time.perf_counter()
    f()
    return time.perf_counter() - start


def main(n: int) -> None:
    rng = torch.Generator().manual_seed(0)
    for kind in ("gaussian", "cancelling", "lognormal"):
        a, b = operands(kind, n, rng)
        out = a @ b
        a64, b64 = a.double().numpy(), b.double().numpy()
        reports = []
        product, check = [], []
        for _ in range(9):
            product.append(seconds(lambda: np.matmul(a64, b64)))
            check.append(seconds(lambda: reports.append(SPEC(A=a, B=b).check(out))))
        ratio = statistics.median(check) / statistics.median(product)
        spread = f"{min(check) * 1e3:.1f} to {max(check) * 1e3:.1f} ms, product {min(product) * 1e3:.1f} to {max(product) * 1e3:.1f} ms"
        report = str(reports[-1]).strip().splitlines()
        print(f"n={n} {kind:10s} ratio {ratio:.2f} ({spread})\n  {report[0]}\n  {report[-1].strip()}")


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 1024)
