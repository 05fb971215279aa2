"""The largest entries of each row of a big matrix that is only ever seen tile by tile."""

from __future__ import annotations

import numpy as np
from numba import njit, prange
from numpy.typing import NDArray
from scipy import sparse

from superpac.affinity.base import FloatArray, Progress, no_progress

TILE_ROWS, TILE_COLUMNS = 2048, 8192


@njit(cache=True, parallel=True)
def update_top(
    tile: NDArray, first_row: int, first_column: int, values: NDArray, indices: NDArray
) -> None:
    """Merge one tile into the running lists of each row's largest absolute entries.

    `values` and `indices` are (rows of the tile, kept), sorted in descending order of value and
    started with a floor that an entry must exceed; equal values stay in order of arrival, so
    with tiles visited from left to right the lower column wins. The diagonal is left out.
    """
    rows, columns = tile.shape
    kept = values.shape[1]
    for i in prange(rows):
        floor = values[i, kept - 1]
        for j in range(columns):
            value = abs(tile[i, j])
            if value > floor and first_column + j != first_row + i:
                place = kept - 1
                while place > 0 and values[i, place - 1] < value:
                    values[i, place] = values[i, place - 1]
                    indices[i, place] = indices[i, place - 1]
                    place -= 1
                values[i, place] = value
                indices[i, place] = first_column + j
                floor = values[i, kept - 1]


def top_inner_products(
    X: FloatArray, kept: int, *, floor: float = 0.0, progress: Progress = no_progress
) -> tuple[NDArray[np.int64], FloatArray]:
    """Exact search for each row's largest absolute inner products with the other rows.

    Products are taken in single precision, tile by tile; a few more than asked for are kept,
    recomputed in double precision and ranked again, so that single precision decides nothing
    between products that differ by more than its rounding.

    Parameters
    ----------
    X : ndarray of shape (n_samples, n_features)
        Points; unit rows for cosines.
    kept : int
        Entries to keep a row.
    floor : float, default=0
        Products of this size or less are never kept.
    progress : callable
        Called as ``progress(rows_done, n_samples)``.

    Returns
    -------
    indices : ndarray of shape (n_samples, kept)
        Columns in descending order of product; -1 where there are fewer.
    values : ndarray of shape (n_samples, kept)
        Absolute inner products in double precision; 0 where the index is -1.

    Examples
    --------
    >>> indices, values = top_inner_products(np.array([[1.0, 0.0], [0.6, 0.8], [0.0, 1.0]]), 1)
    >>> indices.ravel().tolist(), values.ravel().round(2).tolist()
    ([1, 2, 1], [0.6, 0.8, 0.8])
    """
    n = X.shape[0]
    kept = min(kept, max(n - 1, 1))
    spare = min(kept + 8, max(n - 1, 1))
    single = np.ascontiguousarray(X, dtype=np.float32)
    out_indices = np.empty((n, kept), dtype=np.int64)
    out_values = np.empty((n, kept))
    for start in range(0, n, TILE_ROWS):
        stop = min(start + TILE_ROWS, n)
        values = np.zeros((stop - start, spare), dtype=np.float32)
        indices = np.full((stop - start, spare), -1, dtype=np.int64)
        for left in range(0, n, TILE_COLUMNS):
            tile = single[start:stop] @ single[left : left + TILE_COLUMNS].T
            update_top(tile, start, left, values, indices)
        exact = _exact_products(X, start, indices)
        exact[exact <= floor] = 0.0
        indices[exact == 0.0] = -1
        # Stable on (value, index): equal products go to the lower column whatever the rounding.
        order = np.lexsort((indices, -exact), axis=1)[:, :kept]
        out_indices[start:stop] = np.take_along_axis(indices, order, axis=1)
        out_values[start:stop] = np.take_along_axis(exact, order, axis=1)
        progress(stop, n)
    return out_indices, out_values


@njit(cache=True, parallel=True)
def _exact_products(X: NDArray, first_row: int, indices: NDArray) -> NDArray:
    rows, kept = indices.shape
    out = np.zeros((rows, kept))
    for i in prange(rows):
        for t in range(kept):
            if indices[i, t] >= 0:
                total = 0.0
                for f in range(X.shape[1]):
                    total += X[first_row + i, f] * X[indices[i, t], f]
                out[i, t] = abs(total)
    return out


def rows_to_matrix(indices: NDArray[np.int64], weights: FloatArray, n: int) -> sparse.csr_array:
    """Sparse n x n matrix from per-row lists of columns (-1: none) and weights."""
    rows = np.repeat(np.arange(indices.shape[0]), indices.shape[1])
    columns, data = indices.ravel(), np.asarray(weights, dtype=np.float64).ravel()
    good = (columns >= 0) & (data > 0)
    return sparse.coo_array((data[good], (rows[good], columns[good])), shape=(n, n)).tocsr()


def tidy(A: sparse.sparray) -> sparse.csr_array:
    """CSR with sorted indices, no stored zeros and nothing on the diagonal."""
    A = sparse.coo_array(A)
    off = (A.row != A.col) & (A.data != 0)
    out = sparse.coo_array((A.data[off], (A.row[off], A.col[off])), shape=A.shape).tocsr()
    out.sort_indices()
    return out
