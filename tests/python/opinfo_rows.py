"""PyTorch's own samples of its operators (OpInfo), and for each the call of er that docs/pytorch.md names.

A row gives alternatives, each an er result and the compute format to check it with (None: its own); an element of PyTorch's output is
covered if one of them allows it. opinfo.py runs them.
"""
from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import torch

import erx as er

HALVES = (torch.bfloat16, torch.float16, torch.complex32)
Alternatives = list[tuple[object, object]]


def name(dtype: torch.dtype) -> str:
    return str(dtype)[len("torch."):]


def is_half(x: object) -> bool:
    return isinstance(x, torch.Tensor) and x.dtype in HALVES


def is_whole(x: object) -> bool:
    return isinstance(x, torch.Tensor) and not x.dtype.is_floating_point and not x.dtype.is_complex


def in_dtype(value: object, dtype: torch.dtype) -> object:
    """A Python scalar as PyTorch uses it in `dtype`."""
    if not dtype.is_floating_point and not dtype.is_complex:
        return int(value)
    return torch.tensor(value, dtype=dtype).item()


def in_compute(value: object, dtype: torch.dtype) -> object:
    """A Python scalar as a product uses it: in float32 for narrower dtypes."""
    wide = {torch.bfloat16: torch.float32, torch.float16: torch.float32, torch.complex32: torch.complex64}.get(dtype, dtype)
    return in_dtype(value, wide)


def wrapped(result: er.Result, out: torch.Tensor) -> er.Result:
    """Integers wrap in PyTorch."""
    if result.dtype.kind != "bool" and is_whole(out) and out.dtype not in (torch.bool, torch.int64):
        return er.expr(f"wrap<{er.array([0], dtype=name(out.dtype)).dtype.kind}>(r)")(r=result)
    return result


@dataclass
class Call:
    """One sample: what was called, and PyTorch's answer."""

    x: object
    args: tuple
    kwargs: dict
    out: torch.Tensor

    def get(self, place: int, word: str, default: object = None) -> object:
        return self.args[place] if place < len(self.args) else self.kwargs.get(word, default)


def converted(c: Call, dtype: object) -> object:
    """x as dtype= converts it, before anything else."""
    x = c.x.real if c.x.is_complex() and dtype is not None and not dtype.is_complex else c.x
    return x if dtype is None or dtype == c.x.dtype else er.multiply(x, 1, dtype=name(dtype))


def plain(*results: object) -> Alternatives:
    return [(r, None) for r in results]


# --- products -----------------------------------------------------------------------------------------------------------------

def product(A: torch.Tensor, B: torch.Tensor) -> Alternatives:
    alternatives = plain(er.matmul(A, B))
    if A.is_complex():  # the scale 1 multiplies out, the sum or an operand
        one = 1 + 0j
        alternatives += plain(er.multiply(er.matmul(A, B), one), er.matmul(er.multiply(A, one), B), er.matmul(A, er.multiply(B, one)))
    if is_half(A) and 1 in (A.dim(), B.dim()):
        left = A if B.dim() == 1 else A.unsqueeze(-1)  # each product is stored in the dtype
        alternatives += plain(er.sum(er.multiply(left, B), -1 if B.dim() == 1 else -2))
    return alternatives


def matmul(c: Call) -> Alternatives:
    return product(c.x, c.args[0])


def linear(c: Call) -> Alternatives:
    bias = c.get(1, "bias")
    W = c.args[0]
    if bias is None:
        return product(c.x, W.mT if W.dim() > 1 else W)
    once = er.gemm(c.x, W.mT if W.dim() > 1 else W, bias)
    products = product(c.x, W.mT if W.dim() > 1 else W)
    return plain(once, *(er.add(r, b) for r, _ in products for b in ([bias, er.multiply(bias, 1 + 0j)] if bias.is_complex() else [bias])))


def scales(c: Call, convert: Callable) -> tuple:
    return tuple(convert(c.kwargs.get(word, 1), c.out.dtype) for word in ("alpha", "beta"))


def gemm_forms(A: object, B: object, C: object, alpha: object, beta: object, half: bool) -> Alternatives:
    results = [er.gemm(A, B, C, alpha=alpha, beta=beta)]
    if half == "whole":
        return plain(*results)
    if half and A.shape[-1] == 0 and beta != 0:
        results.append(er.multiply(C.expand(A.shape[:-1] + B.shape[A.dim() - 1:]), in_dtype(beta, A.dtype)))
    if A.is_complex():  # the scales multiply out, 1 too
        alpha, beta = complex(alpha), complex(beta)
        results.append(er.gemm(A, B, er.multiply(C, beta), alpha=alpha) if beta else er.multiply(er.matmul(A, B), alpha))
        if beta:
            results.append(er.add(er.multiply(er.matmul(A, B), alpha), er.multiply(C, beta)))
    if not half:
        one = () if A.is_complex() else (1,)
        scaled = er.multiply(C, beta) if beta not in (0, *one) else C
        by = [(er.multiply(A, alpha), B), (A, er.multiply(B, alpha))] if alpha not in one else []
        results += [er.gemm(a, b, C, beta=beta) for a, b in by]
        if beta not in (0, *one):
            results += [er.gemm(A, B, scaled, alpha=alpha)] + [er.gemm(a, b, scaled) for a, b in by]
    return plain(*results)


def addmm(c: Call) -> Alternatives:
    alpha, beta = scales(c, in_compute)
    return gemm_forms(c.args[0], c.args[1], c.x, alpha, beta, "whole" if is_whole(c.out) else is_half(c.out))


def addmv(c: Call) -> Alternatives:
    A, x = c.args
    alternatives = addmm(c)
    if is_half(c.out):
        a, b = scales(c, in_dtype)
        scaled = er.multiply(c.x, b) if b else er.array(torch.zeros(A.shape[0]), dtype=c.out.dtype)
        rounded = er.multiply(A, x)
        compute = er.expr(f"round<{rounded.dtype.kind}>(within<f32>(s + a * sum(p, axis=1)))")
        alternatives += plain(er.gemm(A, x, c.x, alpha=a, beta=b), er.gemm(A, x, scaled, alpha=a), er.add(scaled, er.gemm(A, x, alpha=a)),
                              compute(s=scaled, a=a, p=rounded))
    return alternatives


def addbmm(c: Call) -> Alternatives:
    alpha, beta = scales(c, in_compute)
    A, B = c.args
    y = c.x
    if is_half(c.out) or is_whole(c.out):
        for i in range(A.shape[0]):
            y = er.gemm(A[i], B[i], y, alpha=alpha, beta=beta if i == 0 else 1)
        return plain(y)
    for i in range(A.shape[0]):
        y = er.any_of(*(r for r, _ in gemm_forms(A[i], B[i], y, alpha, beta if i == 0 else 1, False)))
    return plain(y)


def addr(c: Call) -> Alternatives:
    v, w = (er.array(t).reshape(s) for t, s in zip(c.args, ((-1, 1), (1, -1))))
    alpha, beta = scales(c, in_dtype)
    result = er.gemm(v, w, c.x, alpha=alpha, beta=beta)
    alternatives = [(result, name(c.out.dtype))] if is_half(c.out) else plain(result)
    if not is_half(c.out) and alpha != 1 and not is_whole(c.out):
        alternatives += plain(er.gemm(er.multiply(v, alpha), w, c.x, beta=beta))  # with alpha = 0 too
    elif is_half(c.out) and alpha != 1:
        alternatives.append((er.gemm(er.multiply(v, alpha), w, c.x, beta=beta), name(c.out.dtype)))
    if c.out.is_complex():
        alternatives += [(er.gemm(er.multiply(v, complex(alpha)), w, er.multiply(c.x, complex(beta))), None),
                         (er.add(er.multiply(er.multiply(v, w), complex(alpha)), er.multiply(c.x, complex(beta))), None)]
    return alternatives


def outer(c: Call) -> Alternatives:
    return plain(er.multiply(c.x[:, None], c.args[0]))


def vdot(c: Call) -> Alternatives:
    return product(c.x.conj() if c.x.is_complex() else c.x, c.args[0])


def inner(c: Call) -> Alternatives:
    other = c.args[0]
    if 0 in (c.x.dim(), other.dim()):
        return plain(er.multiply(c.x, other))
    if other.dim() < 2:
        return product(c.x, other)
    return plain(er.matmul(c.x, other.permute(-1, *range(other.dim() - 1)).flatten(1)).reshape(tuple(c.out.shape)))


# --- elements -----------------------------------------------------------------------------------------------------------------

def scalar(value: object, dtype: torch.dtype, convert: Callable) -> object:
    return value if isinstance(value, torch.Tensor) else convert(value, dtype)


def sum_of(x: object, y: object, alpha: object, dtype: torch.dtype, function: Callable) -> Alternatives:
    if dtype != torch.bool:
        x, y, alpha = (scalar(v, dtype, in_dtype) for v in (x, y, alpha))
    results = [function(x, y, alpha=alpha)]
    if dtype.is_complex:  # alpha multiplies out, 1 too
        results.append(function(x, er.multiply(y, complex(alpha))))
    if alpha != 1 and dtype in HALVES:
        results.append(function(x, er.multiply(y, alpha, dtype=name(dtype))))
    return plain(*results)


def add(c: Call) -> Alternatives:
    return sum_of(c.x, c.args[0], c.kwargs.get("alpha", 1), c.out.dtype, er.add)


def sub(c: Call) -> Alternatives:
    return sum_of(c.x, c.args[0], c.kwargs.get("alpha", 1), c.out.dtype, er.subtract)


def rsub(c: Call) -> Alternatives:
    return sum_of(c.args[0], c.x, c.kwargs.get("alpha", 1), c.out.dtype, er.subtract)


def mul(c: Call) -> Alternatives:
    return plain(er.multiply(c.x, scalar(c.args[0], c.out.dtype, in_compute) if c.out.dtype != torch.bool else c.args[0]))


def div(c: Call) -> Alternatives:
    return plain(er.divide(c.x, scalar(c.args[0], c.out.dtype, in_compute)))


def rdiv(c: Call) -> Alternatives:
    return plain(er.divide(scalar(c.args[0], c.out.dtype, in_compute), c.x), er.multiply(er.divide(1, c.x), c.args[0]))


def where(c: Call) -> Alternatives:
    condition, other = c.args
    return plain(er.where(condition, c.x, other))


# --- reductions ---------------------------------------------------------------------------------------------------------------

def reduced(function: Callable) -> Callable:
    def row(c: Call) -> Alternatives:
        dim, keep = c.get(0, "dim"), c.get(1, "keepdim", False)
        if isinstance(dim, (tuple, list)) and not dim:
            dim = None
        result = function(converted(c, c.kwargs.get("dtype")), dim, keepdims=keep)
        return plain(result, er.multiply(result, 1 + 0j)) if function is er.mean and c.out.is_complex() else plain(result)
    return row


def prod(c: Call) -> Alternatives:
    [(result, _)] = reduced(er.prod)(c)
    return [(result, name(c.out.dtype) if c.out.dtype in HALVES[:2] else None)]


def cumsum(c: Call) -> Alternatives:
    return plain(er.cumsum(converted(c, c.kwargs.get("dtype")), c.args[0]))


# --- normalisations -----------------------------------------------------------------------------------------------------------

def softmax(c: Call) -> Alternatives:
    x, dim = converted(c, c.kwargs.get("dtype")), c.args[0]
    results = [er.softmax(x, dim)]
    if is_half(c.out) and c.out.numel():
        wide = er.exp(er.subtract(x, er.max(x, dim, keepdims=True), dtype="float32"))
        results.append(er.divide(er.round(wide, name(c.out.dtype)), er.sum(wide, dim, keepdims=True), dtype=name(c.out.dtype)))
    return plain(*results)


def log_softmax(c: Call) -> Alternatives:
    x, dim = converted(c, c.kwargs.get("dtype")), c.args[0]
    results = [er.log_softmax(x, dim)]
    if is_half(c.out) and c.out.numel():
        largest = er.max(x, dim, keepdims=True)
        rest = er.log(er.round(er.sum(er.exp(er.subtract(x, largest, dtype="float32")), dim, keepdims=True), name(c.out.dtype)))
        results.append(er.expr(f"round<{rest.dtype.kind}>(within<f32>(x - m - rest))")(x=x, m=largest, rest=rest))
    return plain(*results)


def logsumexp(c: Call) -> Alternatives:
    dim, keep = c.args[0], c.get(1, "keepdim", False)
    if not is_half(c.out):
        return plain(er.logsumexp(c.x, dim, keepdims=keep))
    largest = er.where(c.x.amax(dim, keepdim=True).isinf(), 0, er.max(c.x, dim, keepdims=True))
    chain = er.add(er.log(er.sum(er.exp(er.subtract(c.x, largest)), dim, keepdims=True)), largest)
    return plain(chain if keep else chain.reshape(tuple(c.out.shape)))


def layer_norm(c: Call) -> Alternatives:
    return plain(er.layer_norm(c.x, c.args[0], c.get(1, "weight"), c.get(2, "bias"), c.get(3, "eps", 1e-5)))


def rms_norm(c: Call) -> Alternatives:
    return plain(er.rms_norm(c.x, c.args[0], c.get(1, "weight"), c.get(2, "eps")))


ROWS: dict[tuple[str, str], Callable[[Call], Alternatives]] = {
    ("matmul", ""): matmul, ("mm", ""): matmul, ("bmm", ""): matmul, ("mv", ""): matmul, ("dot", ""): matmul, ("vdot", ""): vdot,
    ("inner", ""): inner, ("outer", ""): outer, ("__rmatmul__", ""): lambda c: product(c.args[0], c.x), ("nn.functional.linear", ""): linear,
    ("addmm", ""): addmm, ("addmm", "decomposed"): addmm, ("baddbmm", ""): addmm, ("addmv", ""): addmv, ("addbmm", ""): addbmm, ("addr", ""): addr,
    ("add", ""): add, ("__radd__", ""): add, ("sub", ""): sub, ("rsub", ""): rsub, ("__rsub__", ""): rsub, ("mul", ""): mul, ("__rmul__", ""): mul,
    ("div", "no_rounding_mode"): div, ("__rdiv__", ""): rdiv, ("neg", ""): lambda c: plain(er.negative(c.x)), ("where", ""): where,
    ("exp", ""): lambda c: plain(er.exp(c.x)), ("log", ""): lambda c: plain(er.log(c.x)),
    ("sum", ""): reduced(er.sum), ("mean", ""): reduced(er.mean), ("prod", ""): prod, ("cumsum", ""): cumsum,
    ("amax", ""): reduced(er.max), ("amin", ""): reduced(er.min), ("max", "reduction_no_dim"): reduced(er.max), ("min", "reduction_no_dim"): reduced(er.min),
    ("max", "reduction_with_dim"): reduced(er.max), ("min", "reduction_with_dim"): reduced(er.min),
    ("softmax", ""): softmax, ("softmax", "with_dtype"): softmax, ("log_softmax", ""): log_softmax, ("log_softmax", "with_dtype"): log_softmax,
    ("logsumexp", ""): logsumexp, ("nn.functional.layer_norm", ""): layer_norm, ("nn.functional.rms_norm", ""): rms_norm,
}
