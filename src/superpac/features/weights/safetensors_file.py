"""Tensors in a .safetensors file: a JSON header with places, then the numbers."""

from __future__ import annotations

import json
import math
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from superpac.data.checks import reading

_TYPES = {"F64": "<f8", "F32": "<f4", "F16": "<f2", "I64": "<i8", "I32": "<i4", "U8": "<u1"}
_LONGEST_HEADER = 100_000_000


def read_safetensors(path: Path) -> dict[str, NDArray]:
    """Read all tensors of a file.

    Parameters
    ----------
    path : Path
        A ``.safetensors`` file.

    Returns
    -------
    dict of str to ndarray

    Raises
    ------
    DataError
        Where it is no such file, or its header does not fit its length.
    """
    with reading(path, "a safetensors file"):
        content = path.read_bytes()
        length = int.from_bytes(content[:8], "little")
        if not 0 < length <= min(_LONGEST_HEADER, len(content) - 8):
            raise ValueError("its header is longer than the file")
        header = json.loads(content[8 : 8 + length])
        header.pop("__metadata__", None)
        values = memoryview(content)[8 + length :]
        tensors = {}
        for name, fact in header.items():
            dtype = np.dtype(_TYPES[fact["dtype"]])
            start, end = fact["data_offsets"]
            shape = tuple(fact["shape"])
            size = math.prod(shape) * dtype.itemsize
            if not 0 <= start <= end <= len(values) or end - start != size:
                raise ValueError(f"the place of {name!r} does not fit its shape")
            tensors[name] = np.frombuffer(values[start:end], dtype=dtype).reshape(shape)
        return tensors
