"""Runs PyTorch's own samples of its operators (OpInfo) and judges what it computed by the rows of opinfo_rows.py.

By hand, over all samples of every dtype, with figures:
    python tests/python/opinfo.py [OPERATOR ...]
"""
from __future__ import annotations

import sys
import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

import numpy as np
import torch

from opinfo_rows import ROWS, Alternatives, Call, name, wrapped


@dataclass
class Figures:
    samples: int = 0
    elements: int = 0
    covered: int = 0
    allowed: float = 0.0  # the values that the first alternative allows, over all elements
    refused: dict[str, int] = field(default_factory=dict)  # messages of calls that er does not take
    outside: list[str] = field(default_factory=list)


def planted(x: object, seed: int) -> object:
    """With inf, nan, -0 and a subnormal at some places."""
    if not isinstance(x, torch.Tensor) or not (x.dtype.is_floating_point or x.dtype.is_complex) or not x.numel():
        return x
    parts = torch.view_as_real(x.detach().clone().contiguous()) if x.dtype.is_complex else x.detach().clone().contiguous()
    tiny = torch.finfo(parts.dtype).smallest_normal / 4
    flat = parts.view(-1)
    g = torch.Generator().manual_seed(seed)
    for value in (float("inf"), float("-inf"), float("nan"), -0.0, tiny, -tiny):
        if torch.rand((), generator=g) < 0.6:
            flat[torch.randint(flat.numel(), (), generator=g)] = value
    return torch.view_as_complex(parts) if x.dtype.is_complex else parts


def samples(operator, dtype: torch.dtype, plant: bool = False) -> Iterator[Call]:
    with warnings.catch_warnings(), torch.no_grad():
        warnings.simplefilter("ignore")
        torch.manual_seed(0)
        for i, s in enumerate(operator.sample_inputs("cpu", dtype)):
            x, args = s.input, s.args
            if plant:
                x, args = planted(x, i), tuple(planted(a, 1000 + i + k) for k, a in enumerate(args))
            before = [t.clone() if isinstance(t, torch.Tensor) else t for t in (x, *args)]
            out = operator.op(x, *args, **s.kwargs)
            yield Call(before[0], tuple(before[1:]), s.kwargs, out if isinstance(out, torch.Tensor) else out[0])


def judge(row: Callable[[Call], Alternatives], call: Call, figures: Figures) -> None:
    figures.samples += 1
    try:
        alternatives = row(call)
        covered = np.zeros(tuple(call.out.shape), bool)
        for k, (result, compute) in enumerate(alternatives):
            result = wrapped(result, call.out)
            if tuple(result.shape) != tuple(call.out.shape):
                raise AssertionError(f"shape {result.shape} for {tuple(call.out.shape)} of {alternatives}")
            report = result.check(call.out, compute)
            if k == 0 and call.out.numel():
                figures.allowed += report.tightness * call.out.numel()
            covered |= result.covers(call.out, compute)
            if covered.all():
                break
    except (TypeError, ValueError) as error:  # SpecError among them
        message = f"{type(error).__name__}: {error}"
        figures.refused[message] = figures.refused.get(message, 0) + 1
        return
    figures.elements += call.out.numel()
    figures.covered += int(covered.sum())
    if not covered.all():
        figures.outside.append(f"{[tuple(a.shape) if isinstance(a, torch.Tensor) else a for a in (call.x, *call.args)]} {call.kwargs}: "
                               f"{int((~covered).sum())} of {covered.size} outside\n{report}")


def operators() -> Iterator[tuple[object, Callable]]:
    from torch.testing._internal.common_methods_invocations import op_db

    for operator in op_db:
        if (operator.name, operator.variant_test_name) in ROWS:
            yield operator, ROWS[operator.name, operator.variant_test_name]


def main(wanted: list[str]) -> None:
    for plant in (False, True):
        for operator, row in operators():
            if wanted and operator.name not in wanted:
                continue
            for dtype in sorted(operator.supported_dtypes("cpu"), key=str):
                if plant and not (dtype.is_floating_point or dtype.is_complex):
                    continue
                figures = Figures()
                for call in samples(operator, dtype, plant):
                    judge(row, call, figures)
                title = f"{operator.name} {operator.variant_test_name} {name(dtype)}{' planted' if plant else ''}"
                mean = figures.allowed / figures.elements if figures.elements else float("nan")
                print(f"{title}: {figures.samples} samples, {figures.elements} elements, {figures.elements - figures.covered} outside, "
                      f"{mean:.3g} allowed", flush=True)
                for message, count in figures.refused.items():
                    print(f"    refused {count}: {message}")
                for text in figures.outside[:3]:
                    print("    " + text.replace("\n", "\n    "))


if __name__ == "__main__":
    main(sys.argv[1:])
