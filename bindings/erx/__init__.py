"""erx says what a numerical kernel may round, and proves whether it did just that.

    import erx as er

    e = er.expr("round<bf16>(alpha*A) @ B + C")    # free names are the inputs
    r = e(A=A, B=B, C=C, alpha=0.3)                # a Result: one set of allowed values for each element
    r.covers(out)                                  # which elements the expression allows
    er.assert_covers(r, out)                       # AssertionError with an explanation
"""

from . import _backward, _backward_more, _erx
from ._elementwise import divide, exp, log, negative, subtract, where
from ._fold import fold, tiles
from ._functions import add, any_of, array, gemm, matmul, multiply, round, sum
from ._normal import layer_norm, log_softmax, logsumexp, rms_norm, softmax
from ._reductions import cumsum, max, mean, min, prod
from ._result import Report, Result, Results, assert_covers
from ._spec import Program, Spec, expr, load, parse

SpecError = _erx.SpecError
SpecError.__module__ = "erx"

__version__ = "0.1.0"
__all__ = [
    "Program", "Report", "Result", "Results", "Spec", "SpecError", "add", "any_of", "array", "assert_covers", "cumsum",
    "divide", "exp", "expr", "fold", "gemm", "layer_norm", "load", "log", "log_softmax", "logsumexp", "matmul", "max", "mean", "min",
    "multiply", "negative", "parse", "prod", "rms_norm", "round", "softmax", "subtract", "sum", "tiles", "where",
]
