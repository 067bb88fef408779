"""The packaged EfficientNet-Lite0 weights, read without torch.

Their file is torch's legacy format (before 1.6): five pickles, then for each tensor its length and its raw
numbers. A pickle can name any function to call; this reader knows four names and refuses every other.
"""

from __future__ import annotations

import pickle
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
from numpy.typing import NDArray

_MAGIC = 0x1950A86A20F9469CFC6C
_LENGTH = 8  # bytes of the number before a tensor's own

Weights = dict[str, NDArray[Any]]


@dataclass(frozen=True)
class _Tensor:
    """A tensor as the pickle describes it: a view of a storage; offset and strides count numbers."""

    storage: str
    type: str
    offset: int
    shape: tuple[int, ...]
    strides: tuple[int, ...]


def read_weights(path: Path) -> Weights:
    """Each tensor by its name. ValueError or UnpicklingError: another format, or a damaged file."""
    with path.open("rb") as file:
        if _unpickled(file) != _MAGIC:
            raise ValueError(f"{path.name} is not in torch's legacy format")
        _version, _machine = _unpickled(file), _unpickled(file)
        tensors: dict[str, _Tensor] = _unpickled(file)
        types = {tensor.storage: tensor.type for tensor in tensors.values()}
        storages = {key: _numbers(file, types[key]) for key in _unpickled(file)}
    return {name: _shaped(storages[tensor.storage], tensor) for name, tensor in tensors.items()}


class _Restricted(pickle.Unpickler):
    """Builds ordered dictionaries and descriptions of tensors, nothing else."""

    def find_class(self, module: str, name: str) -> Any:
        try:
            return _ALLOWED[module, name]
        except KeyError:
            raise pickle.UnpicklingError(f"{module}.{name} has no place in a file of weights") from None

    def persistent_load(self, pid: Any) -> tuple[str, str]:
        """The (storage, type) behind a reference `("storage", type, key, device, length, view)`."""
        _, kind, key, *_ = pid
        return str(key), str(kind)


def _tensor(
    storage: tuple[str, str], offset: int, shape: tuple[int, ...], strides: tuple[int, ...], *rest: Any
) -> _Tensor:
    return _Tensor(*storage, offset, shape, strides)


_ALLOWED: dict[tuple[str, str], str | Callable[..., Any]] = {
    ("collections", "OrderedDict"): OrderedDict,
    ("torch._utils", "_rebuild_tensor_v2"): _tensor,
    ("torch", "FloatStorage"): "<f4",
    ("torch", "LongStorage"): "<i8",
}


def _unpickled(file: BinaryIO) -> Any:
    return _Restricted(file).load()


def _numbers(file: BinaryIO, dtype: str) -> NDArray[Any]:
    count = int.from_bytes(file.read(_LENGTH), "little")
    data = file.read(count * np.dtype(dtype).itemsize)
    return np.frombuffer(data, dtype, count)


def _shaped(numbers: NDArray[Any], tensor: _Tensor) -> NDArray[Any]:
    """numpy checks that the view lies within the storage."""
    size = numbers.itemsize
    strides = tuple(size * step for step in tensor.strides)
    view = np.ndarray(tensor.shape, numbers.dtype, numbers, size * tensor.offset, strides)
    return np.ascontiguousarray(view)
