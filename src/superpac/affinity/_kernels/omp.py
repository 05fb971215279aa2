"""Orthogonal matching pursuit of many points on all others: a coarse search, exact arithmetic.

The search for the next atom needs the correlation of every point with every residual. That is done
coarsely (in 16-bit fixed point where the Gram matrix fits in memory, as reading it is what takes
the time, else in single precision), and whatever comes as close to the best as the coarseness
allows is compared again in double precision. So the choice is that of double precision throughout.
"""
# mypy: disable-error-code="no-untyped-def"

from __future__ import annotations

import numba
import numpy as np
from numba import njit, prange
from scipy import sparse
from threadpoolctl import threadpool_limits

from superpac.affinity._kernels.vectors import dot, largest, product
from superpac.affinity.base import Progress
from superpac.array_types import FloatArray
from superpac.system.row_blocks import HERE, RowBlocks, blocks_of

_DEPENDENT = 1e-14  # squared sine under which an atom counts as a combination of the chosen ones
_STEPS = 32767  # of the fixed-point Gram matrix between 0 and 1
_TILE = 1024  # correlations updated at a time, small enough to stay in the first-level cache


@njit(cache=True)
def _top(part, low, j, chosen, size):
    """Largest magnitude in the tile that starts at `low`, once j and the chosen are blanked out."""
    for s in range(size + 1):
        i = (j if s == size else chosen[s]) - low
        if 0 <= i < part.shape[0]:
            part[i] = 0.0
    at = largest(part)
    return abs(part[at]) if at >= 0 else np.float32(0.0)


@njit(cache=True)
def _among(i, chosen, size):
    """Whether `i` is one of the first `size` chosen."""
    found = False
    for s in range(size):
        found = found or chosen[s] == i
    return found


@njit(cache=True)
def _best_atom(X, r, correlation, tops, margin, j, chosen, size):
    """The i of largest |<x_i, r>|, neither j nor chosen, ties to the lowest index; -1: none."""
    bar = tops.max() - margin
    best, strongest = -1, 0.0
    for tile in range(tops.shape[0]):
        if tops[tile] < bar:
            continue
        low = tile * _TILE
        for i in range(low, min(low + _TILE, correlation.shape[0])):
            if abs(correlation[i]) >= bar and i != j and not _among(i, chosen, size):
                exact = abs(dot(X[i], r))
                if exact > strongest * (1.0 + 1e-12):  # equal up to rounding: the lowest index
                    best, strongest = i, exact
    return best


@njit(cache=True, fastmath=True)
def _subtract_four(part, a, x, b, y, c, z, d, w):
    """Part -= a x + b y + c z + d w: four rows for one pass over the tile."""
    for i in range(part.shape[0]):
        first = a * np.float32(x[i]) + b * np.float32(y[i])
        part[i] -= first + (c * np.float32(z[i]) + d * np.float32(w[i]))


@njit(cache=True, fastmath=True)
def _subtract_one(part, a, x):
    """Part -= a x."""
    for i in range(part.shape[0]):
        part[i] -= a * np.float32(x[i])


@njit(cache=True, parallel=True)
def _fixed_point(values, start, G):
    """Write products of rows from `start` with rows from `start`, and their mirror image."""
    rows, columns = values.shape
    for tile in prange((columns + 15) // 16):
        low, high = 16 * tile, min(16 * tile + 16, columns)
        for i in range(rows):
            for k in range(low, high):
                scaled = values[i, k] * np.float32(_STEPS)
                scaled = min(max(scaled, np.float32(-_STEPS)), np.float32(_STEPS))
                step = np.int16(np.rint(scaled))
                G[start + i, start + k] = step
                if k >= rows:
                    G[start + k, start + i] = step


@njit(cache=True)
def _extend(X, j, new, chosen, size, L, b, c, r):
    """Add atom `new`: one more Cholesky row, new coefficients, new residual. False: dependent."""
    D = X.shape[1]
    diagonal = dot(X[new], X[new])
    scale = diagonal
    for s in range(size):
        value = dot(X[new], X[chosen[s]])
        for t in range(s):
            value -= L[size, t] * L[s, t]
        value /= L[s, s]
        L[size, s] = value
        diagonal -= value * value
    if diagonal <= _DEPENDENT * scale:
        return False
    L[size, size] = np.sqrt(diagonal)
    chosen[size] = new
    b[size] = dot(X[new], X[j])
    m = size + 1
    for s in range(m):
        value = b[s]
        for t in range(s):
            value -= L[s, t] * c[t]
        c[s] = value / L[s, s]
    for s in range(m - 1, -1, -1):
        value = c[s]
        for t in range(s + 1, m):
            value -= L[t, s] * c[t]
        c[s] = value / L[s, s]
    for d in range(D):
        r[d] = X[j, d]
    for s in range(m):
        for d in range(D):
            r[d] -= c[s] * X[chosen[s], d]
    return True


@njit(cache=True)
def _pursue(X, G, j, eps, precision, atoms, weights, L, b, r, correlation, tops):
    """The whole pursuit of one point from the fixed-point Gram matrix; the number of atoms."""
    N = X.shape[0]
    k = atoms.shape[0]
    r[:] = X[j]
    start = np.sqrt(dot(r, r))
    w = weights.astype(np.float32)
    size = 0
    l1 = 1.0
    while size < k and np.sqrt(dot(r, r)) > eps * start:
        for tile in range(tops.shape[0]):
            low, high = tile * _TILE, min((tile + 1) * _TILE, N)
            part = correlation[low:high]
            row = G[j, low:high]
            for i in range(high - low):
                part[i] = np.float32(row[i])
            s = 0
            while s + 4 <= size:
                _subtract_four(
                    part, w[s], G[atoms[s], low:high], w[s + 1], G[atoms[s + 1], low:high],
                    w[s + 2], G[atoms[s + 2], low:high], w[s + 3], G[atoms[s + 3], low:high],
                )  # fmt: skip
                s += 4
            for t in range(s, size):
                _subtract_one(part, w[t], G[atoms[t], low:high])
            tops[tile] = _top(part, low, j, atoms, size)
        # tops and precision are both in steps
        new = _best_atom(X, r, correlation, tops, precision * l1, j, atoms, size)
        if new < 0 or not _extend(X, j, new, atoms, size, L, b, weights, r):
            break
        size += 1
        l1 = 1.0
        for s in range(size):
            w[s] = weights[s]
            l1 += abs(weights[s])
    return size


@njit(cache=True, parallel=True)
def _pursue_block(X, G, start, eps, precision, atoms, weights, sizes):
    """Pursuits of the points from `start` on, each in buffers of its own."""
    n, k = atoms.shape
    for p in prange(n):
        L = np.empty((k, k))
        b = np.empty(k)
        r = np.empty(X.shape[1])
        correlation = np.empty(X.shape[0], dtype=np.float32)
        tops = np.empty((X.shape[0] + _TILE - 1) // _TILE, dtype=np.float32)
        sizes[p] = _pursue(
            X, G, start + p, eps, precision, atoms[p], weights[p], L, b, r, correlation, tops
        )


@njit(cache=True)
def _step(X, j, correlation, eps, precision, atoms, weights, size, L, b, r):
    """One more atom for point j from its correlations; False when it is finished."""
    tops = np.empty((X.shape[0] + _TILE - 1) // _TILE, dtype=np.float32)
    for tile in range(tops.shape[0]):
        low = tile * _TILE
        tops[tile] = _top(correlation[low : low + _TILE], low, j, atoms, size[0])
    margin = precision * np.sqrt(dot(r, r))
    new = _best_atom(X, r, correlation, tops, margin, j, atoms, size[0])
    if new < 0 or not _extend(X, j, new, atoms, size[0], L, b, weights, r):
        return False
    size[0] += 1
    going = np.sqrt(dot(r, r)) > eps * np.sqrt(dot(X[j], X[j]))
    return going and size[0] < atoms.shape[0]


@njit(cache=True, parallel=True)
def _step_block(X, start, running, correlation, eps, precision, atoms, weights, sizes, L, b, R):
    """One more atom for each running point from its correlations; -1 marks the finished ones."""
    for q in prange(running.shape[0]):
        p = running[q]
        if not _step(
            X, start + p, correlation[q], eps, precision,
            atoms[p], weights[p], sizes[p : p + 1], L[p], b[p], R[p],
        ):  # fmt: skip
            running[q] = -1


def omp_coefficients(
    X: FloatArray,
    k: int,
    eps: float,
    *,
    working_memory: float,
    progress: Progress,
    where: RowBlocks = HERE,
) -> sparse.csr_array:
    """Coefficients of points of length at most one on `k` others at most, chosen greedily."""
    n, d = X.shape
    k = min(k, n - 1)
    X = np.ascontiguousarray(X)
    X32 = X.astype(np.float32)
    precision = np.float32(4 * np.sqrt(d) * np.finfo(np.float32).eps)
    atoms = np.zeros((n, k), dtype=np.int64)
    weights = np.zeros((n, k))
    sizes = np.zeros(n, dtype=np.int64)
    with threadpool_limits(1, user_api="blas"):
        if where is HERE and 2.0 * n * n <= working_memory:
            _with_gram(X, X32, eps, precision, atoms, weights, sizes, progress)
        else:
            blocks = blocks_of(n, int(min(n, 512, max(16, working_memory // (4 * n)))))
            found = where.each(_pursuits, (X, X32, k, eps, precision), blocks)
            for block, here in zip(blocks, found, strict=True):
                part = slice(block.start, block.stop)
                atoms[part], weights[part], sizes[part] = here
                progress(block.stop, n)
    used = np.arange(k) < sizes[:, None]
    indptr = np.concatenate(([0], np.cumsum(sizes)))
    C = sparse.csr_array((weights[used], atoms[used], indptr), shape=(n, n))
    C.sort_indices()
    return C


def _with_gram(X, X32, eps, precision, atoms, weights, sizes, progress):
    """All pursuits from a 16-bit Gram matrix: every inner product is computed once."""
    n = X.shape[0]
    G = np.empty((n, n), dtype=np.int16)
    block = 256
    products = np.empty(block * n, dtype=np.float32)
    for start in range(0, n, block):
        rows, columns = min(block, n - start), n - start
        here = products[: rows * columns].reshape(rows, columns)
        product(X32[start : start + rows], X32[start:].T, here, numba.get_num_threads())
        _fixed_point(here, start, G)
    precision = np.float32(1.0 + _STEPS * precision)  # half a step in each of two correlations
    for start in range(0, n, block):
        stop = min(start + block, n)
        part = slice(start, stop)
        _pursue_block(X, G, start, eps, precision, atoms[part], weights[part], sizes[part])
        progress(stop, n)


def _pursuits(X, X32, k, eps, precision, start, stop):
    """Pursuits of some points in little memory: correlations are computed anew for every atom."""
    n, d = X.shape
    size = stop - start
    atoms, weights = np.zeros((size, k), dtype=np.int64), np.zeros((size, k))
    sizes = np.zeros(size, dtype=np.int64)
    correlation = np.empty((size, n), dtype=np.float32)
    L, b, R = np.empty((size, k, k)), np.empty((size, k)), X[start:stop].copy()
    running = np.flatnonzero(np.any(R != 0, axis=1))
    with threadpool_limits(1, user_api="blas"):
        while running.size:
            here = correlation[: running.size]
            product(R[running].astype(np.float32), X32.T, here, numba.get_num_threads())
            _step_block(
                X, start, running, here, eps, precision, atoms, weights, sizes, L, b, R
            )  # fmt: skip
            running = running[running >= 0]
    return atoms, weights, sizes
