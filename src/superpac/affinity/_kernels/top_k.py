"""The largest entries of each row of a big matrix that is only ever seen tile by tile."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numba import njit, prange
from numpy.typing import NDArray

from superpac.array_types import FloatArray, IntArray
from superpac.system.progress import Progress, no_progress
from superpac.system.row_blocks import HERE, RowBlocks, blocks_of

TILE_ROWS, TILE_COLUMNS = 2048, 8192


@njit(cache=True)
def insert(values: NDArray, indices: NDArray, value: Any, index: Any) -> None:
    """Put an entry into a list in descending order, after its equals; the last one drops out."""
    place = values.size - 1
    while place > 0 and values[place - 1] < value:
        values[place] = values[place - 1]
        indices[place] = indices[place - 1]
        place -= 1
    values[place] = value
    indices[place] = index


@njit(cache=True, parallel=True)
def update_top(
    tile: NDArray, first_row: int, first_column: int, values: NDArray, indices: NDArray
) -> None:
    """Merge one tile into the running lists of each row's largest absolute entries, best first.

    The lists start with a floor that an entry must exceed. Equal values stay in order of arrival,
    so with tiles visited from left to right the lower column wins. The diagonal is left out.
    """
    rows, columns = tile.shape
    kept = values.shape[1]
    for i in prange(rows):
        floor = values[i, kept - 1]
        for j in range(columns):
            value = abs(tile[i, j])
            if value > floor and first_column + j != first_row + i:
                insert(values[i], indices[i], value, first_column + j)
                floor = values[i, kept - 1]


def top_inner_products(
    X: FloatArray,
    kept: int,
    *,
    floor: float = 0.0,
    progress: Progress = no_progress,
    where: RowBlocks = HERE,
) -> tuple[NDArray[np.int64], FloatArray]:
    """Each row's largest absolute inner products with other rows: columns (-1: none) and values.

    Products of `floor` or less are never kept. They are taken in single precision, tile by tile; a
    few more than asked for are kept, recomputed in double precision and ranked again, so that
    single precision decides nothing between products that differ by more than its rounding.
    """
    n = X.shape[0]
    kept = min(kept, max(n - 1, 1))
    single = np.ascontiguousarray(X, dtype=np.float32)
    return gathered(_top_of_rows, (X, single, kept, floor), kept, TILE_ROWS, progress, where)


def gathered(
    work: Callable[..., tuple[NDArray[np.int64], FloatArray]],
    shared: Sequence[Any],
    kept: int,
    size: int,
    progress: Progress,
    where: RowBlocks,
) -> tuple[NDArray[np.int64], FloatArray]:
    """Columns and values that some work finds for every row of `shared[0]`, block by block."""
    n = len(shared[0])
    indices, values = np.empty((n, kept), dtype=np.int64), np.empty((n, kept))
    blocks = blocks_of(n, size)
    for block, found in zip(blocks, where.each(work, shared, blocks), strict=True):
        indices[block.start : block.stop], values[block.start : block.stop] = found
        progress(block.stop, n)
    return indices, values


def _top_of_rows(
    X: FloatArray, single: NDArray[np.float32], kept: int, floor: float, start: int, stop: int
) -> tuple[NDArray[np.int64], FloatArray]:
    """Largest products of some rows, by looking at all columns."""
    n = X.shape[0]
    spare = min(kept + 8, max(n - 1, 1))
    values = np.zeros((stop - start, spare), dtype=np.float32)
    indices = np.full((stop - start, spare), -1, dtype=np.int64)
    for left in range(0, n, TILE_COLUMNS):
        tile = single[start:stop] @ single[left : left + TILE_COLUMNS].T
        update_top(tile, start, left, values, indices)
    return ranked_products(X, np.arange(start, stop), indices, kept, floor)


def ranked_products(
    X: FloatArray, rows: IntArray, indices: NDArray[np.int64], kept: int, floor: float
) -> tuple[NDArray[np.int64], FloatArray]:
    """Largest absolute inner products of some rows with the columns listed for each (-1: none)."""
    exact = _exact_products(X, rows, indices)
    exact[exact <= floor] = 0.0
    indices = np.where(exact == 0.0, -1, indices)
    # Stable on (value, index): equal products go to the lower column whatever the rounding.
    order = np.lexsort((indices, -exact), axis=1)[:, :kept]
    return np.take_along_axis(indices, order, axis=1), np.take_along_axis(exact, order, axis=1)


@njit(cache=True, parallel=True)
def _exact_products(X: NDArray, rows: NDArray, indices: NDArray) -> NDArray:
    """Absolute inner products of the listed pairs in double precision."""
    count, listed = indices.shape
    out = np.zeros((count, listed))
    for i in prange(count):
        for t in range(listed):
            if indices[i, t] >= 0:
                total = 0.0
                for f in range(X.shape[1]):
                    total += X[rows[i], f] * X[indices[i, t], f]
                out[i, t] = abs(total)
    return out
