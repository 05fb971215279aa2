"""Orthogonal matching pursuit of many points on all others: float32 search, float64 arithmetic.

The search for the next atom needs the correlation of every point with every residual. That is done
in single precision, and whatever comes close to the best is compared again in double precision, so
the choice is the one of double precision throughout.
"""
# mypy: disable-error-code="no-untyped-def"

from __future__ import annotations

import numba
import numpy as np
from numba import njit, prange
from scipy import sparse
from threadpoolctl import threadpool_limits

from superpac.affinity._vectors import dot, largest, product
from superpac.affinity.base import FloatArray, Progress

_DEPENDENT = 1e-14  # squared sine under which an atom counts as a combination of the chosen ones
_TILE = 1024  # correlations updated at a time, small enough to stay in the first-level cache


@njit(cache=True)
def _best_atom(X, r, correlation, j, chosen, size, margin):
    """The i of largest |<x_i, r>|, neither j nor chosen, ties to the lowest index; -1: none."""
    N = correlation.shape[0]
    correlation[j] = 0.0
    for s in range(size):
        correlation[chosen[s]] = 0.0
    top = largest(correlation)
    if top < 0:
        return -1
    bar = abs(correlation[top]) - margin
    best, strongest = -1, 0.0
    for low in range(0, N, _TILE):
        high = min(low + _TILE, N)
        top = largest(correlation[low:high])
        if top < 0 or abs(correlation[low + top]) < bar:
            continue
        for i in range(low, high):
            if abs(correlation[i]) >= bar and i != j:
                new = True
                for s in range(size):
                    new = new and chosen[s] != i
                if new:
                    exact = abs(dot(X[i], r))
                    if exact > strongest * (1.0 + 1e-12):
                        best, strongest = i, exact
    return best


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
def _pursue(X, G, j, eps, precision, atoms, weights, L, b, r, correlation):
    """The whole pursuit of one point from the rows of the Gram matrix; the number of atoms."""
    N = X.shape[0]
    k = atoms.shape[0]
    r[:] = X[j]
    start = np.sqrt(dot(r, r))
    size = 0
    l1 = 1.0
    while size < k and np.sqrt(dot(r, r)) > eps * start:
        for low in range(0, N, _TILE):
            high = min(low + _TILE, N)
            part = correlation[low:high]
            part[:] = G[j, low:high]
            for s in range(size):
                weight = np.float32(weights[s])
                row = G[atoms[s], low:high]
                for i in range(high - low):
                    part[i] -= weight * row[i]
        new = _best_atom(X, r, correlation, j, atoms, size, precision * l1)
        if new < 0 or not _extend(X, j, new, atoms, size, L, b, weights, r):
            break
        size += 1
        l1 = 1.0
        for s in range(size):
            l1 += abs(weights[s])
    return size


@njit(cache=True, parallel=True)
def _pursue_block(X, G, start, eps, precision, atoms, weights, sizes):
    n, k = atoms.shape
    for p in prange(n):
        L = np.empty((k, k))
        b = np.empty(k)
        r = np.empty(X.shape[1])
        correlation = np.empty(X.shape[0], dtype=np.float32)
        sizes[p] = _pursue(
            X, G, start + p, eps, precision, atoms[p], weights[p], L, b, r, correlation
        )


@njit(cache=True, parallel=True)
def _step_block(X, start, running, correlation, eps, precision, atoms, weights, sizes, L, b, R):
    """One more atom for each running point from its correlations; -1 marks the finished ones."""
    for q in prange(running.shape[0]):
        p = running[q]
        j = start + p
        norm = np.sqrt(dot(R[p], R[p]))
        new = _best_atom(X, R[p], correlation[q], j, atoms[p], sizes[p], precision * norm)
        if new < 0 or not _extend(X, j, new, atoms[p], sizes[p], L[p], b[p], weights[p], R[p]):
            running[q] = -1
        else:
            sizes[p] += 1
            full = sizes[p] == atoms.shape[1]
            if full or np.sqrt(dot(R[p], R[p])) <= eps * np.sqrt(dot(X[j], X[j])):
                running[q] = -1


def omp_coefficients(
    X: FloatArray, k: int, eps: float, *, working_memory: float, progress: Progress
) -> sparse.csr_array:
    """Coefficients of every row of `X` on at most `k` others, chosen greedily.

    Parameters
    ----------
    X : ndarray of shape (n_samples, n_features)
        Points whose lengths are at most about one.
    k : int
        Largest number of atoms a point.
    eps : float
        A pursuit ends once its residual is at most `eps` times the length of the point.
    working_memory : float
        Bytes that blocks of correlations may take. Where the single-precision Gram matrix fits, it
        is the block; otherwise correlations are recomputed, block by block, for every atom.
    progress : callable
        Called as ``progress(done, total)``.

    Returns
    -------
    scipy.sparse.csr_array of shape (n_samples, n_samples)
        Row j holds the coefficients of point j.
    """
    n, d = X.shape
    k = min(k, n - 1)
    X = np.ascontiguousarray(X)
    X32 = X.astype(np.float32)
    precision = np.float32(4 * np.sqrt(d) * np.finfo(np.float32).eps)
    atoms = np.zeros((n, k), dtype=np.int64)
    weights = np.zeros((n, k))
    sizes = np.zeros(n, dtype=np.int64)
    with threadpool_limits(1, user_api="blas"):
        if 4.0 * n * n <= working_memory:
            _with_gram(X, X32, eps, precision, atoms, weights, sizes, progress)
        else:
            size = int(min(n, 512, max(16, working_memory // (4 * n))))
            _with_blocks(X, X32, eps, precision, atoms, weights, sizes, size, progress)
    used = np.arange(k) < sizes[:, None]
    indptr = np.concatenate(([0], np.cumsum(sizes)))
    C = sparse.csr_array((weights[used], atoms[used], indptr), shape=(n, n))
    C.sort_indices()
    return C


def _with_gram(X, X32, eps, precision, atoms, weights, sizes, progress):
    n = X.shape[0]
    G = X32 @ X32.T
    block = 256
    for start in range(0, n, block):
        stop = min(start + block, n)
        part = slice(start, stop)
        _pursue_block(X, G, start, eps, precision, atoms[part], weights[part], sizes[part])
        progress(stop, n)


def _with_blocks(X, X32, eps, precision, atoms, weights, sizes, block, progress):
    n, d = X.shape
    k = atoms.shape[1]
    correlation = np.empty((block, n), dtype=np.float32)
    L, b, R = np.empty((block, k, k)), np.empty((block, k)), np.empty((block, d))
    for start in range(0, n, block):
        stop = min(start + block, n)
        part = slice(start, stop)
        R[: stop - start] = X[part]
        running = np.flatnonzero(np.any(X[part] != 0, axis=1))
        while running.size:
            here = correlation[: running.size]
            product(R[running].astype(np.float32), X32.T, here, numba.get_num_threads())
            _step_block(
                X, start, running, here, eps, precision,
                atoms[part], weights[part], sizes[part], L, b, R,
            )  # fmt: skip
            running = running[running >= 0]
        progress(stop, n)
