"""The selective scan of examples/selective_scan: every right implementation is covered, forward and backward; the mistaken call of the report and
other faults are refuted, and the report says where they start."""
import importlib.util
import os
import pathlib
import sys

import numpy as np
import pytest
import torch

import erx as er

os.environ.setdefault("TRITON_INTERPRET", "1")
FOLDER = pathlib.Path(__file__).resolve().parents[2] / "examples" / "selective_scan"
sys.path.insert(0, str(FOLDER))

import blocked  # noqa: E402
import cuda_model  # noqa: E402
import sequential  # noqa: E402
from inputs import inputs  # noqa: E402

SPECS = er.load(str(FOLDER / "selective_scan.erx"))
SHAPES = [dict(S=128, Ba=2, D=4, N=4), dict(S=1, Ba=1, D=1, N=1), dict(S=37, Ba=3, D=2, N=1), dict(S=200, Ba=1, D=3, N=5)]


def lost_carry(report, block, axis=3):
    assert f"first violation in column {block} (axis {axis}); the distance repeats with period {block} and decays within each block" in str(report)
    assert f"consistent with a lost carry, not with rounding: blocks of {block} columns" in str(report)


@pytest.mark.parametrize("varied", [False, True], ids=["report", "varied"])
@pytest.mark.parametrize("shape", SHAPES, ids=lambda s: "x".join(map(str, s.values())))
def test_right_implementations_are_covered(shape, varied):
    data, dy = inputs(**shape, seed=1, varied=varied)
    if varied:
        dy = torch.randn(dy.shape, generator=torch.Generator().manual_seed(2))
    forward, backward = SPECS["forward"](**data), SPECS["backward"](**data, dy=dy)
    for module, options in [(sequential, {}), (cuda_model, {})] + [(blocked, dict(K=K)) for K in (1, 3, 16, 32, 64, 128)]:
        er.assert_covers(forward, module.forward(**data, **options))
        er.assert_covers(backward, *module.backward(dy, **data, **options))


@pytest.mark.skipif(importlib.util.find_spec("triton") is None, reason="Triton is not installed")
def test_triton():
    import triton_kernel

    data, dy = inputs(S=100, Ba=1, D=4, N=4, seed=3)
    forward, backward = SPECS["forward"](**data), SPECS["backward"](**data, dy=dy)
    for K in (16, 128):
        er.assert_covers(forward, triton_kernel.forward(**data, K=K))
    er.assert_covers(backward, *triton_kernel.backward(dy, **data, K=16))
    wrong = triton_kernel.forward(**data, K=16, allocated_for=4)
    lost_carry(forward.check(wrong), 16)
    er.assert_covers(forward, torch.where(torch.arange(100) < 16, wrong, sequential.forward(**data)))


def test_the_call_of_the_report():
    """S=1024 and N=4 as there; two batches and four channels are enough to see it."""
    data, _ = inputs(S=1024, Ba=2, D=4, N=4, seed=4)
    forward = SPECS["forward"](**data)
    right, wrong = sequential.forward(**data), blocked.forward(**data, K=128, allocated_for=32)
    assert not torch.allclose(wrong, right, rtol=1e-3)
    er.assert_covers(forward, right)
    report = forward.check(wrong)
    covered = forward.covers(wrong)
    assert covered[..., :128].all() and not covered[..., 128:].any()
    assert report.where[0] == "every element of columns from 128 on (axis 3)"
    lost_carry(report, 128)
    assert (wrong[..., :128] == blocked.forward(**data, K=128)[..., :128]).all()


@pytest.mark.parametrize("S, K, D", [(128, 32, 4), (512, 64, 4), (1000, 100, 2), (384, 16, 16), (2048, 256, 1)])
def test_lost_carries_of_other_lengths_and_blocks(S, K, D):
    data, _ = inputs(S=S, Ba=2, D=D, N=4, seed=S + K)
    forward = SPECS["forward"](**data)
    er.assert_covers(forward, blocked.forward(**data, K=K))
    lost_carry(forward.check(blocked.forward(**data, K=K, allocated_for=K // 4)), K)


def test_lost_carries_backward():
    data, dy = inputs(S=512, Ba=2, D=4, N=4, seed=5)
    backward = SPECS["backward"](**data, dy=dy)
    report = backward.check(*blocked.backward(dy, **data, K=64, allocated_for=16))
    for name, columns in (("dx", "0 to 447"), ("db", "0 to 447")):
        assert f"{name}: every element of columns {columns} (axis 3)" in report.where
        assert any(w.startswith(f"{name}: last violation in column 447 (axis 3); the distance repeats with period 64 and decays within each block, toward the start")
                   for w in report.where)
        assert any(c.startswith(f"{name}: consistent with a lost carry, not with rounding") and "the scan runs from the end" in c for c in report.causes)
    assert any(w.startswith("dc: first violation in column 64 (axis 3); the distance repeats with period 64") for w in report.where)


def step_by_step(x, A, b, c, delta, state=torch.float32, twice=False, h_of_last_batch=False, early=0, dropped=(0, 0)):
    """The sequential scan, with a fault for each option."""
    a, u = torch.exp(delta * A), b * delta * x
    if twice:
        a = a * a
    if early:
        a = torch.roll(a, -early, -1)  # the decay of the next step
    u[..., dropped[0]:dropped[1]] = 0
    y, h = [], torch.zeros_like(u[..., 0])
    for t in range(x.shape[-1]):
        h = (a[..., t] * h + u[..., t]).to(state).float()
        y.append((c[..., t] * h).sum(1, keepdim=True))
    if h_of_last_batch:  # each batch but the first starts with the state that the one before left
        left = torch.cat([torch.zeros_like(h[:1]), h[:-1]])
        kept = torch.cumprod(a, -1) * left[..., None]
        return torch.stack(y, -1) + (c * kept).sum(1, keepdim=True)
    return torch.stack(y, -1)


def test_faults_are_refuted_and_placed():
    data, _ = inputs(S=256, Ba=3, D=8, N=4, seed=6)
    forward = SPECS["forward"](**data)
    er.assert_covers(forward, step_by_step(**data))
    size = data["x"].numel()

    report = forward.check(step_by_step(**data, dropped=(64, 128)))
    assert report.where[0] in ("every element of columns from 64 on (axis 3)", "every element of columns 64 to 255 (axis 3)")

    report = forward.check(step_by_step(**data, h_of_last_batch=True))
    assert "of the block of indices from 1 on (axis 0)" in report.where[0] or "indices from 1 on (axis 0)" in report.where[0]
    assert any(w.startswith("first violation in column 0 (axis 3); the distance is largest there and decays behind it") for w in report.where)
    assert not any("lost carry" in c for c in report.causes)

    assert forward.check(step_by_step(**data, early=1)).violations > size // 2
    assert forward.check(step_by_step(**{**data, "delta": -data["delta"]})).violations == size
    twice = forward.check(step_by_step(**data, twice=True))
    assert twice.violations == size - size // 256 and twice.where[0] == "every element of columns from 1 on (axis 3)"
    assert forward.check(step_by_step(**data, state=torch.bfloat16)).violations > size // 2


def test_bfloat16_inputs_with_a_float32_state():
    data, dy = inputs(S=160, Ba=2, D=4, N=4, seed=7, dtype=torch.bfloat16)
    forward, backward = SPECS["forward"](**data), SPECS["backward"](**data, dy=dy)
    for module, options in ((sequential, {}), (cuda_model, {}), (blocked, dict(K=32))):
        out = module.forward(**data, **options)
        assert out.dtype == torch.bfloat16
        er.assert_covers(forward, out)
        er.assert_covers(backward, *module.backward(dy, **data, **options))
    lost_carry(forward.check(blocked.forward(**data, K=32, allocated_for=8)), 32)
    wide = {k: v.float() for k, v in data.items()}
    assert forward.check(step_by_step(**wide, state=torch.bfloat16).bfloat16()).violations > 100


def test_the_spec_is_far_narrower_than_a_tolerance():
    """torch.allclose(rtol=1e-3) allows thousands of times more at the first step, and at the last still ten times more."""
    data, _ = inputs(S=1024, Ba=2, D=4, N=4, seed=8)
    forward, y = SPECS["forward"](**data), sequential.forward(**data).double().numpy()
    ratio = np.median((1e-3 * np.abs(y) + 1e-8) / ((forward.hi - forward.lo) / 2), axis=(0, 1, 2))
    assert ratio[0] > 1000 and ratio[-1] > 10 and np.all(ratio[1:] > 10)
    lost = blocked.forward(**data, K=128, allocated_for=32).double().numpy()
    close = np.isclose(lost, y, rtol=1e-3) & ~np.asarray(forward.covers(lost.astype(np.float32)))
    assert 0 <= close.sum() < 0.2 * y.size  # what is wrong, and passes the tolerance
