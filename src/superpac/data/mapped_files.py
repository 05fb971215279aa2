"""Arrays that stay in their file: parts are read when they are looked at, and may be dropped."""

from __future__ import annotations

import mmap
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.lib import format as npy
from numpy.typing import ArrayLike, NDArray

from superpac.data.checks import reading

MAPPED_FROM = 64 * 2**20
"""Bytes of values from which a file is mapped. A smaller one is read: its copy costs little, and
whoever writes it anew meanwhile does not change, or end, a program that still works on it."""


def open_mapped(path: Path) -> NDArray:
    """Map an ``.npy`` file whose header was checked; nothing can be written through the map."""
    return npy.open_memmap(path, mode="r")


def is_mapped(values: ArrayLike) -> bool:
    """Whether an array, or what it is a view of, is mapped from a file.

    Examples
    --------
    >>> is_mapped(np.zeros((2, 3)))
    False
    """
    return isinstance(values, np.ndarray) and isinstance(_first(values).base, mmap.mmap)


def _first(array: NDArray) -> NDArray:
    """Array that this one is a view of in the end; itself where it is of none."""
    while isinstance(array.base, np.ndarray):
        array = array.base
    return array


@dataclass(frozen=True)
class Place:
    """Where the values of a mapped array stand in its file, one after the other."""

    path: str
    dtype: str
    shape: tuple[int, ...]
    start: int

    @classmethod
    def of(cls, array: NDArray) -> Place | None:
        """Place of an array; None where it is not mapped, or from no file that has a name."""
        first = _first(array)
        path = getattr(first, "filename", None)
        if path is None or not is_mapped(array) or not array.flags.c_contiguous:
            return None
        start = getattr(first, "offset", 0) + array.ctypes.data - first.ctypes.data
        return cls(str(Path(path).absolute()), array.dtype.str, array.shape, start)

    def map(self) -> NDArray:
        """Map the values anew, as they stand there now."""
        path = Path(self.path)
        with reading(path, "the file that it was"):
            found: NDArray = np.memmap(path, self.dtype, "r", self.start, self.shape)
        return found.view(np.ndarray)
