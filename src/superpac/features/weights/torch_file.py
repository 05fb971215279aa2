"""Tensors in a file of PyTorch's, read with NumPy alone.

Such a file is a pickle, and a pickle may run any program. Here nothing is found by name but the few
functions that put a tensor together; a file that asks for more is refused.

Two layouts are in use: since PyTorch 1.6 a zip archive with the pickle and one member per storage,
before that a row of pickles and the storages after them.
"""

from __future__ import annotations

import io
import math
import pickle  # nosec B403
import struct
import zipfile
from collections import OrderedDict
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any

import numpy as np
from numpy.typing import NDArray

from superpac.data.checks import reading
from superpac.errors import DataError

_MAGIC = 0x1950A86A20F9469CFC6C
_TYPES = {
    "FloatStorage": "<f4",
    "DoubleStorage": "<f8",
    "HalfStorage": "<f2",
    "LongStorage": "<i8",
    "IntStorage": "<i4",
    "ShortStorage": "<i2",
    "CharStorage": "<i1",
    "ByteStorage": "<u1",
    "BoolStorage": "<b1",
}


@dataclass(frozen=True)
class _Storage:
    """Where the numbers of a tensor lie."""

    key: str
    dtype: str
    count: int


@dataclass(frozen=True)
class _Tensor:
    """A tensor whose numbers have not been read yet."""

    storage: _Storage
    offset: int
    shape: tuple[int, ...]
    strides: tuple[int, ...]


def read_torch(path: Path) -> dict[str, NDArray]:
    """Read all tensors of a file, named by their place in it.

    Parameters
    ----------
    path : Path
        A ``.pt`` or ``.pth`` file with a state dict, or with dicts that hold one.

    Returns
    -------
    dict of str to ndarray
        A tensor within dicts has their keys before its own, joined by "/".

    Raises
    ------
    DataError
        Where it is no such file, or holds anything but tensors and plain values.
    """
    with reading(path, "a file of PyTorch weights"), path.open("rb") as file:
        if zipfile.is_zipfile(file):
            whole, storages = _from_zip(file)
        else:
            file.seek(0)
            whole, storages = _from_row(file)
        return {name: _array(tensor, storages, path) for name, tensor in _flat(whole)}


def _from_zip(file: IO[bytes]) -> tuple[Any, dict[str, bytes]]:
    """Pickle and storages of the layout since 1.6."""
    with zipfile.ZipFile(file) as archive:
        names = {name.partition("/")[2]: name for name in archive.namelist()}
        reader = _Reader(io.BytesIO(archive.read(names["data.pkl"])))
        whole = reader.load()
        return whole, {key: archive.read(names[f"data/{key}"]) for key in reader.seen}


def _from_row(file: IO[bytes]) -> tuple[Any, dict[str, bytes]]:
    """Pickles and storages of the layout before 1.6."""
    if _Reader(file).load() != _MAGIC:
        raise ValueError("it does not begin as such files do")
    _Reader(file).load()  # the protocol's number
    if not _Reader(file).load().get("little_endian", False):
        raise ValueError("its numbers are big-endian")
    reader = _Reader(file)
    whole = reader.load()
    storages = {}
    for key in _Reader(file).load():
        (count,) = struct.unpack("<q", file.read(8))
        if key not in reader.seen or count != reader.seen[key].count:
            raise ValueError("its storages are not those that it names")
        storages[key] = file.read(count * np.dtype(reader.seen[key].dtype).itemsize)
    return whole, storages


class _Reader(pickle.Unpickler):
    """Unpickler that knows tensors, dicts and plain values, and nothing else."""

    def __init__(self, file: IO[bytes]) -> None:
        super().__init__(file)
        self.seen: dict[str, _Storage] = {}

    def find_class(self, module: str, name: str) -> Any:
        if (module, name) == ("collections", "OrderedDict"):
            return OrderedDict
        if (module, name) == ("torch._utils", "_rebuild_tensor_v2"):
            return _rebuild
        if module == "torch" and name in _TYPES:
            return _TYPES[name]
        raise DataError(f"it asks for {module}.{name}, which is no tensor")

    def persistent_load(self, pid: Any) -> _Storage:
        _, dtype, key, _, count = pid[:5]
        self.seen[key] = _Storage(key, dtype, count)
        return self.seen[key]


def _rebuild(storage: _Storage, offset: int, shape: Any, strides: Any, *_: Any) -> _Tensor:
    return _Tensor(storage, offset, tuple(shape), tuple(strides))


def _flat(whole: Any, before: str = "") -> list[tuple[str, _Tensor]]:
    """Tensors in dicts within dicts; lists hold an optimiser's state, which nobody needs."""
    found: list[tuple[str, _Tensor]] = []
    if isinstance(whole, Mapping):
        for key, value in whole.items():
            if isinstance(value, _Tensor):
                found.append((f"{before}{key}", value))
            else:
                found += _flat(value, f"{before}{key}/")
    return found


def _array(tensor: _Tensor, storages: dict[str, bytes], path: Path) -> NDArray:
    """Numbers of a tensor, copied out of its storage; it may not reach beyond it."""
    dtype = np.dtype(tensor.storage.dtype)
    values = np.frombuffer(storages[tensor.storage.key], dtype=dtype)
    steps = zip(tensor.shape, tensor.strides, strict=True)
    last = tensor.offset + sum((size - 1) * step for size, step in steps)
    if math.prod(tensor.shape) and not (
        0 <= tensor.offset <= last < len(values) and min(tensor.strides, default=0) >= 0
    ):
        raise DataError(f"{path}: a tensor reaches beyond its numbers; fetch the file again.")
    strides = tuple(step * dtype.itemsize for step in tensor.strides)
    view = np.lib.stride_tricks.as_strided(values[tensor.offset :], tensor.shape, strides)
    return np.array(view, order="C")
