"""The question of the report, decided.

  main.py save FOLDER   writes the inputs and the outputs of the three programs of the report, and compares them as the report did
  main.py judge         checks every implementation of this folder, forward and backward, against selective_scan.erx

`--size small` is S=128, Ba=2, D=4, N=4; `--size report` (the default) is S=1024, Ba=8, D=256, N=4. `--seed` makes other data.
"""
import argparse
import importlib.util
import os
import pathlib
import sys

os.environ.setdefault("TRITON_INTERPRET", "1")

import numpy as np
import torch

# The first exp of a process, where two threads of PyTorch (2.13) share it, is off by 1e-4 on one of them every third time: a small one goes first.
torch.exp(torch.zeros(1))

here = pathlib.Path(__file__).parent
sys.path.insert(0, str(here))
import blocked
import cuda_model
import sequential
from inputs import inputs

sizes = {"small": dict(S=128, Ba=2, D=4, N=4), "report": dict(S=1024, Ba=8, D=256, N=4)}


def implementations(size):
    """(name, module, options, whether it is right)."""
    yield "PyTorch, one step after the other", sequential, {}, True
    yield "a model of the CUDA kernel", cuda_model, {}, True
    for K in (16, 32, 64, 128):
        yield f"blocks of {K} with carries", blocked, dict(K=K), True
    # At the small size the report's K=128 is a single block, which needs no carry.
    K = {"small": 32, "report": 128}[size]
    wrong = dict(K=K, allocated_for=K // 4)
    yield f"blocks of {K}, buffers for blocks of {K // 4}", blocked, wrong, False
    if size == "small" and importlib.util.find_spec("triton"):  # the interpreter takes a millisecond for each operation of a block
        import triton_kernel

        yield "Triton, blocks of 16", triton_kernel, dict(K=16), True
        yield f"Triton, blocks of {K}, buffers for blocks of {K // 4}", triton_kernel, wrong, False


def save(folder, size, seed):
    folder.mkdir(parents=True, exist_ok=True)
    data, _ = inputs(**sizes[size], seed=seed)
    y = {"torch": sequential.forward(**data), "cuda": cuda_model.forward(**data), "triton": blocked.forward(**data, K=128, allocated_for=32)}
    np.savez(folder / "inputs.npz", **{name: tensor.numpy() for name, tensor in data.items()})
    for name, tensor in y.items():
        np.save(folder / f"y_{name}.npy", tensor.numpy())
    for a, b in (("torch", "cuda"), ("triton", "cuda")):
        print(f"torch.allclose(y_{a}, y_{b}, rtol=1e-3): {torch.allclose(y[a], y[b], rtol=1e-3)}")


def judge(size, seed):
    import erx as er

    specs = er.load(str(here / "selective_scan.erx"))
    data, dy = inputs(**sizes[size], seed=seed)
    forward, backward = specs["forward"](**data), specs["backward"](**data, dy=dy)
    failures = 0
    for name, module, options, right in implementations(size):
        for direction in ("forward", "backward"):
            if direction == "forward":
                report = forward.check(module.forward(**data, **options))
            else:
                report = backward.check(*module.backward(dy, **data, **options))
            print(f"{direction:9} {name}: {'covered' if report.ok else f'refuted, {report.violations:,} elements are outside'}", flush=True)
            for line in [*report.where, *report.causes]:
                print(f"            {line}")
            failures += report.ok != right
    print("every verdict as expected" if not failures else f"{failures} verdicts were not as expected")
    return failures


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    commands = parser.add_subparsers(dest="command", required=True)
    for name in ("save", "judge"):
        command = commands.add_parser(name)
        if name == "save":
            command.add_argument("folder", type=pathlib.Path)
        command.add_argument("--size", choices=sizes, default="report")
        command.add_argument("--seed", type=int, default=0)
    arguments = parser.parse_args()
    if arguments.command == "save":
        save(arguments.folder, arguments.size, arguments.seed)
    else:
        sys.exit(1 if judge(arguments.size, arguments.seed) else 0)
