"""PyTorch's own samples of its operators, checked with the calls of docs/pytorch.md: what it computed has to be covered.

Samples with infinities, NaN, -0 and subnormals planted in them are judged too. Here some samples of each operator and dtype; all of
them: tests/python/opinfo.py.
"""
import pytest

import expecttest  # noqa: F401  PyTorch's samples need it

from opinfo import Figures, judge, name, operators, samples  # noqa: E402

# What er refuses, or leaves to another call, by operator and dtype ("": every dtype); the reasons are in docs/pytorch.md.
REFUSED = {
    ("log", "complex64"), ("log", "complex128"),  # the logarithm of a complex number needs an angle
    ("logsumexp", "complex64"), ("logsumexp", "complex128"), ("nn.functional.rms_norm", "complex64"), ("nn.functional.rms_norm", "complex128"),
    ("prod", "complex64"), ("prod", "complex128"),  # where some order leaves the range
    ("add", "bool"), ("addr", "bool"), ("prod", "bool"),  # alpha of booleans; products of booleans that stay boolean
}


WIDE, LEFT_OUT = ("float64", "complex128"), ("int16", "int32", "uint8")  # dear; like int8


@pytest.mark.parametrize("plant", [False, True], ids=["as they are", "planted"])
@pytest.mark.parametrize("operator, row", [pytest.param(o, r, id=f"{o.name} {o.variant_test_name}".strip()) for o, r in operators()])
def test_pytorch_is_covered(operator, row, plant):
    judged = 0
    for dtype in sorted(operator.supported_dtypes("cpu"), key=str):
        if name(dtype) in LEFT_OUT or plant and not (dtype.is_floating_point and name(dtype) not in WIDE or name(dtype) == "complex64"):
            continue
        figures, calls = Figures(), list(samples(operator, dtype, plant))
        for call in calls[:: 1 + len(calls) // (3 if name(dtype) in WIDE else 9)]:
            judge(row, call, figures)
        assert not figures.outside, f"{name(dtype)}: {figures.outside[0]}"
        if (operator.name, name(dtype)) not in REFUSED:
            assert not figures.refused, f"{name(dtype)}: {figures.refused}"
        judged += figures.elements
    assert judged
