"""Weights out of a network that dlib saved, without dlib.

Such a file holds the layers one after the other, the one next to the input first. A layer begins
with its name; where it has weights, a tensor follows: a version, four sizes and the numbers. Whole
numbers are a byte that says how many bytes follow, then these.
"""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from superpac.data.checks import reading
from superpac.errors import DataError

# names of layers that hold weights, and how many whole numbers stand between name and tensor
_LAYERS = {b"con_4": 0, b"affine_": 0, b"fc_2": 2}
_NAME = re.compile(rb"\x01([\x04-\x07])(con_4|affine_|fc_2)")
_TENSOR = 2  # version of a tensor as it is read here


def read_dlib(path: Path) -> dict[str, NDArray[np.float32]]:
    """Read the weights of convolutions, scalings and full layers, in the order of the layers.

    Parameters
    ----------
    path : Path
        A ``.dat`` file.

    Returns
    -------
    dict of str to ndarray
        Names are ``con_4.0``, ``affine_.0``, ``con_4.1``, ...; numbers are in one row.

    Raises
    ------
    DataError
        Where the file is another or cut off.
    """
    with reading(path, "a network of dlib"):
        content = path.read_bytes()
    found: dict[str, NDArray[np.float32]] = {}
    counts = dict.fromkeys(_LAYERS, 0)
    at = 0
    while (begin := _NAME.search(content, at)) is not None:
        name = begin[2]
        if begin[1][0] != len(name):
            at = begin.start() + 1
            continue
        at = begin.end()
        facts = []
        for _ in range(_LAYERS[name] + 5):
            value, at = _whole(content, at, path)
            facts.append(value)
        version, *sizes = facts[_LAYERS[name] :]
        count = int(np.prod(sizes))
        if version != _TENSOR or at + 4 * count > len(content):
            raise _damaged(path)
        numbers = np.frombuffer(content, dtype="<f4", count=count, offset=at)
        found[f"{name.decode()}.{counts[name]}"] = numbers.astype(np.float32)
        counts[name] += 1
        at += 4 * count
    if not found:
        raise _damaged(path)
    return found


def _whole(content: bytes, at: int, path: Path) -> tuple[int, int]:
    """A whole number that is not negative, and where it ends."""
    size = content[at] if at < len(content) else 0
    end = at + 1 + size
    if not 1 <= size <= 8 or end > len(content):
        raise _damaged(path)
    return int.from_bytes(content[at + 1 : end], "little"), end


def _damaged(path: Path) -> DataError:
    return DataError(f"{path}: not a network of dlib, or cut off; fetch the file anew.")
