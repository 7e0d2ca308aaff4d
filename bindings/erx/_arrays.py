"""What may be bound: NumPy arrays (ml_dtypes included), PyTorch, JAX, DLPack, the buffer protocol, numbers and nested lists.

Elements are captured by copy, but for what is only looked at during a call (`borrowed`); nothing that is handed over is ever modified.
"""

from __future__ import annotations

import functools
import numbers
from decimal import Decimal
from fractions import Fraction

import numpy as np

from . import _erx
from ._dtypes import DType, spelling

_refused = {
    "O": "object arrays are not supported: convert to a numeric dtype first",
    "U": "an array of strings is not a tensor",
    "S": "an array of bytes strings is not a tensor",
    "M": "dates are not supported",
    "m": "time differences are not supported",
}


def tensor_of(x: object, declared: str | None = None, real_lists: bool = False, borrowed: bool = False) -> _erx.Tensor:
    """The tensor of `x`. `declared`: the format of raw bits (dtype V2). `real_lists`: integers in lists are numbers like others.
    `borrowed`: it reads the elements of `x`, which has to stay as it is while the tensor is in use."""
    kind = type(x)
    if kind is np.ndarray:
        return _from_numpy(x, declared, borrowed)
    if _is_torch_class(kind):
        return _from_torch(x, borrowed)
    if kind is float:
        return _erx.scalar(x)
    if isinstance(x, _erx.Tensor):
        return x
    if isinstance(x, (bool, int, float, Fraction, Decimal, complex)):
        return _scalar(x)
    if x is None or isinstance(x, (str, bytes, dict, set, frozenset)) or callable(x):
        raise TypeError(f"expected an array or a number, got {_name(x)}")
    if isinstance(x, (np.ndarray, np.generic)):
        return _from_numpy(x, declared, borrowed)
    if isinstance(x, (list, tuple)):
        return _from_list(x, real_lists)
    return _from_protocol(x, declared)


def _name(x: object) -> str:
    return "None" if x is None else f"{type(x).__module__}.{type(x).__qualname__}".removeprefix("builtins.")


def _scalar(x: object) -> _erx.Tensor:
    if isinstance(x, bool):
        return _erx.boolean(x)
    if isinstance(x, complex):
        return _erx.complex(_erx.scalar(x.real), _erx.scalar(x.imag))
    if isinstance(x, float):
        return _erx.scalar(x)
    if isinstance(x, Decimal) and not x.is_finite():
        return _erx.scalar(float(x))
    if isinstance(x, int):
        return _erx.integer(x) if -(2**63) <= x < 2**63 else _erx.rational(str(x))
    exact = Fraction(x)
    return _erx.rational(f"{exact.numerator}/{exact.denominator}")


def _from_numpy(x: np.ndarray | np.generic, declared: str | None = None, borrowed: bool = False) -> _erx.Tensor:
    if isinstance(x, np.ma.MaskedArray):
        raise TypeError("masked arrays are not supported: pass the data, and the mask as where=")
    array = x if type(x) is np.ndarray else np.asarray(x)
    kind, read_as = _numpy_kind(array.dtype)
    if kind is None:
        return _raw_bits(array, declared)
    if read_as is not None:
        array = array.astype(read_as)
    return _erx.tensor(_contiguous(array), kind, borrowed and kind[0] != "c")


@functools.lru_cache(maxsize=1024)  # names are spelled once, not for every array
def _numpy_kind(dtype: np.dtype) -> tuple[str | None, np.dtype | None]:
    """The type's name (None: bare bits), and the dtype that the elements are converted to first. errors: TypeError."""
    if dtype.fields is not None:
        raise TypeError("structured arrays are not supported: pass one field")
    if dtype.kind in _refused:
        raise TypeError(_refused[dtype.kind])
    if not dtype.isnative:
        native = dtype.newbyteorder("=")
        return _numpy_kind(native)[0], native
    name = dtype.name
    if dtype.kind == "c":
        if dtype.itemsize > 16:
            raise TypeError(f"arrays of dtype {dtype} are not portable: convert to complex128")
        return name, None
    if dtype.kind == "V" and name.startswith("void"):
        return None, None
    if name in ("int2", "int4"):
        return "i8", np.dtype(np.int8)
    if name in ("uint2", "uint4"):
        return "u8", np.dtype(np.uint8)
    try:
        return DType(name).kind, None
    except ValueError:
        raise TypeError(f"arrays of dtype {dtype} are not supported") from None


def _raw_bits(array: np.ndarray, declared: str | None) -> _erx.Tensor:
    if declared is not None and DType(declared).is_floating and not DType(declared).is_complex:
        size = _erx.code_bytes(declared)
        if array.dtype.itemsize != size:
            raise TypeError(f"an array of dtype {array.dtype} holds bare bits of another size than {declared}, whose values have {size} bytes")
        return _erx.tensor(_contiguous(array), declared)
    raise TypeError(
        f"an array of dtype {array.dtype} holds bare bits: say which format they are, "
        'with a declared input or er.array(x, dtype="bfloat16")'
    )


def _contiguous(array: np.ndarray) -> np.ndarray:
    # np.ascontiguousarray would make a 0-d array 1-d.
    return array if array.flags.c_contiguous else array.copy(order="C")


def _is_torch(x: object) -> bool:
    return _is_torch_class(type(x))


@functools.lru_cache(maxsize=256)
def _is_torch_class(kind: type) -> bool:
    return any(c.__module__.partition(".")[0] == "torch" and c.__name__ == "Tensor" for c in kind.__mro__)


def _from_torch(x, borrowed: bool = False) -> _erx.Tensor:
    torch = _torch()
    if type(x) is torch.Tensor and x.layout is torch.strided and not x.is_nested and x.is_cpu and not x.is_neg() and x.is_contiguous():
        kind = _torch_kind(x.dtype)[0]
        if kind is not None and x.numel() <= _small:
            tensor = _small_tensor(x, kind)
            if tensor is not None:
                return tensor
    if x.layout is not torch.strided or x.is_nested:
        raise TypeError("nested tensors are not supported: pass one tensor for each part" if x.is_nested
                        else "sparse tensors are not supported: pass x.to_dense()")
    if x.is_quantized:
        raise TypeError("quantized tensors are not supported: pass x.dequantize() or x.int_repr()")
    if x.device.type == "meta":
        raise TypeError("a tensor on the device 'meta' has no elements")
    x = x.detach()
    try:
        _require_storage(x)
    except RuntimeError:  # of functorch: it stands for other tensors
        raise TypeError("a tensor inside a transformation of torch.func has no elements that can be read: pass it from outside") from None
    if x.device.type != "cpu":
        x = x.cpu()
    if x.is_conj() or x.is_neg():
        x = x.resolve_conj().resolve_neg()
    if x.is_complex():
        if x.dtype == torch.complex32:
            parts = torch.view_as_real(x)
            return _erx.complex(_from_torch(parts[..., 0]), _from_torch(parts[..., 1]))
        return _from_numpy(x.numpy())
    kind, bits = _torch_kind(x.dtype)
    if kind is None:
        raise TypeError(f"tensors of dtype {x.dtype} are not supported")
    x = x.contiguous()
    try:
        array = (x if bits is None else x.view(bits)).numpy()
    except RuntimeError as error:  # a subclass without elements
        raise TypeError(f"the elements of this tensor cannot be read: {error}") from None
    return _erx.tensor(_contiguous(array), kind, borrowed)


@functools.cache
def _torch():  # not imported with this module: only a user of PyTorch has it
    import torch

    return torch


_small = 1 << 12  # elements: to copy them costs less than an array of NumPy does


def _small_tensor(x, kind: str) -> _erx.Tensor | None:
    """A copy of the elements of a contiguous tensor; None where it tells no address: one that stands for another (of functorch)."""
    try:
        address = x.data_ptr()
        _require_storage(x)
    except RuntimeError:
        return None
    return _erx.tensor_at(address, x.shape, kind) if address else None


def _require_storage(x) -> None:
    """errors: TypeError where PyTorch would read what is not the tensor's. RuntimeError of a tensor that has no storage."""
    if _torch()._is_functional_tensor(x):
        raise TypeError("a tensor inside torch.func.functionalize has no elements that can be read: pass it from outside")
    last = sum((n - 1) * step for n, step in zip(x.shape, x.stride()))
    if x.numel() and x.untyped_storage().nbytes() < (x.storage_offset() + last + 1) * x.element_size():
        raise TypeError("the storage of a tensor was freed or is smaller than the tensor")


@functools.cache  # names are spelled once, not for every tensor
def _torch_kind(dtype) -> tuple[str | None, object]:
    """The type's name (None: it is not one of a real tensor here), and for a format that NumPy lacks the type that has its codes."""
    torch = _torch()
    try:
        kind = DType(spelling(dtype)).kind
    except ValueError:
        return None, None
    if dtype.is_complex:
        return None, None
    if kind[0] not in "fb" or kind in ("f64", "f32", "bool"):
        return kind, None
    return kind, {1: torch.uint8, 2: torch.int16}[dtype.itemsize]


def _from_list(x: list | tuple, real: bool) -> _erx.Tensor:
    from ._result import Result

    def plain(value: object) -> object:
        if isinstance(value, (list, tuple)):
            return [plain(v) for v in value]
        if isinstance(value, Result) or _is_torch(value):
            if tuple(value.shape) != ():
                raise TypeError("a list may hold numbers and lists, not arrays: stack them first")
            return value.lo.item() if isinstance(value, Result) else value.item()
        if isinstance(value, (Fraction, Decimal)) or value is None or isinstance(value, (str, bytes)):
            raise TypeError(f"a list may hold numbers and lists, not {_name(value)}")
        if isinstance(value, numbers.Real) and not isinstance(value, (bool, int, float, np.generic)):
            return float(value)
        return value

    array = np.array(plain(x))
    if real and array.dtype.kind in "iu":
        array = array.astype(np.float64)
    return _from_numpy(array)


def _from_protocol(x: object, declared: str | None) -> _erx.Tensor:
    if hasattr(x, "__array__") or hasattr(x, "__array_interface__"):
        try:
            array = np.asarray(x)
        except (TypeError, ValueError, RuntimeError):
            if not hasattr(x, "__dlpack__"):
                raise TypeError(f"{_name(x)} cannot be converted to an array") from None
        else:
            return _from_numpy(array, declared)
    if hasattr(x, "__dlpack__"):
        array, kind = _erx.from_dlpack(x.__dlpack__())
        return _erx.tensor(array, kind)
    try:
        view = memoryview(x)  # type: ignore[arg-type]
    except TypeError:
        raise TypeError(f"expected an array or a number, got {_name(x)}") from None
    return _from_numpy(np.asarray(view), declared)
