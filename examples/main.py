"""The main job: outputs of PyTorch are checked against the specs of this folder, and three wrong kernels are refuted.

Run by `bash examples/run`. The values are fresh each time; `main.py SEED` repeats a run.
"""
import pathlib
import random
import sys

import numpy as np
import torch

import erx as er

here = pathlib.Path(__file__).parent
failures = 0


def expect(covered, title, report):
    """Prints the verdict; a verdict other than the expected one fails the run."""
    global failures
    checked = "covered" if report.ok else f"refuted, {report.violations} elements lie outside"
    print(f"\n{title}: {checked}")
    if covered != report.ok:
        failures += 1
        print("  THIS IS NOT THE EXPECTED VERDICT")
    if not covered or not report.ok:
        print("\n".join("    " + line for line in str(report).splitlines()))


def outputs_of_pytorch(seed):
    generator = torch.Generator().manual_seed(seed)

    def normal(*shape, dtype):
        return torch.randn(*shape, generator=generator).to(dtype)

    gemm = er.load(str(here / "gemm.erx"))
    A = normal(512, 384, dtype=torch.bfloat16)
    B = normal(384, 256, dtype=torch.bfloat16)
    C = normal(512, 256, dtype=torch.bfloat16)
    out = torch.addmm(C, A, B, alpha=0.7, beta=1.3)
    expect(True, "torch.addmm, bf16, 512x384x256, alpha=0.7, beta=1.3", gemm(A=A, B=B, C=C, alpha=0.7, beta=1.3).check(out))

    C[7, 7] = float("nan")
    out = torch.addmm(C, A, B, alpha=0.7, beta=0)
    expect(True, "torch.addmm, bf16, beta=0 and a NaN in C", gemm(A=A, B=B, C=C, alpha=0.7, beta=0).check(out))

    add_alpha = er.load(str(here / "add_alpha.erx"))["add_alpha"]
    x, y = normal(1000, dtype=torch.float16), normal(1000, dtype=torch.float16)
    out = torch.add(x, y, alpha=0.3)
    expect(True, "torch.add, f16, 1000 values, alpha=0.3", add_alpha(x=x, y=y, alpha=0.3).check(out))

    linear = er.load(str(here / "linear.erx"))["linear"]
    x, W, b = (normal(*shape, dtype=torch.bfloat16) for shape in ((64, 300), (70, 300), (70,)))
    out = torch.nn.functional.linear(x, W, b)
    expect(True, "torch.nn.functional.linear, bf16, 64x300 to 64x70", linear(x=x, W=W, b=b).check(out))


def wrong_kernels(seed):
    # An addmm for f16 that truncated alpha and beta to integers.
    gemm_f16 = er.expr("round<f16>(in f32, contract { round<f32>(alpha) * acc<f32>(A @ B) + round<f32>(beta) * C })")
    A, B, C = np.arange(6, dtype=np.float16).reshape(2, 3), np.arange(6, dtype=np.float16).reshape(3, 2), np.ones((2, 2), np.float16)
    truncated = (int(0.7) * (A @ B) + int(1.3) * C).astype(np.float16)
    expect(False, "wrong kernel 1: alpha=0.7 and beta=1.3 truncated to integers",
           gemm_f16(A=A, B=B, C=C, alpha=0.7, beta=1.3).check(truncated))

    # A matmul for bf16 that accumulates in bf16: 256 + 1 is 256.
    ones = torch.ones(1024, 1024, dtype=torch.bfloat16)
    accumulator = torch.zeros(1024, 1024, dtype=torch.bfloat16)
    for _ in range(1024):
        accumulator += 1
    expect(False, "wrong kernel 2: a product of ones accumulated in bf16",
           er.expr("round<bf16>(acc<f32>(A @ B))")(A=ones, B=ones).check(accumulator))

    # A compiler that dropped a cast: (x @ W.T).to(bfloat16) + b without the cast.
    generator = torch.Generator().manual_seed(seed)
    x, W = (torch.randn(16, 64, generator=generator).to(torch.bfloat16) for _ in range(2))
    b = torch.randn(16, generator=generator)
    spec = er.load(str(here / "linear.erx"))["cast_then_bias"]
    right = (x @ W.T).float() + b
    expect(True, "(x @ W.T).to(bfloat16) + b with its cast", spec(x=x, W=W, b=b).check(right))
    dropped = x.float() @ W.float().T + b
    expect(False, "wrong kernel 3: the same without its cast", spec(x=x, W=W, b=b).check(dropped))


if __name__ == "__main__":
    seed = int(sys.argv[1]) if len(sys.argv) > 1 else random.SystemRandom().randrange(10**6)
    print(f"seed {seed}; PyTorch {torch.__version__}")
    outputs_of_pytorch(seed)
    wrong_kernels(seed)
    print(f"\n{'every verdict as expected' if not failures else f'{failures} verdicts were not as expected'}")
    sys.exit(1 if failures else 0)
