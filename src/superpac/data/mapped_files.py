"""Arrays that stay in their file: parts are read when they are looked at, and may be dropped."""

from __future__ import annotations

import mmap
from pathlib import Path

import numpy as np
from numpy.lib import format as npy
from numpy.typing import ArrayLike, NDArray

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
    held: object = values
    while isinstance(held, np.ndarray):
        held = held.base
    return isinstance(held, mmap.mmap)
