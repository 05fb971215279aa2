"""Elastic net of every point on all others: active sets, with the search for violators in blocks.

For point j the problem is min tau |c|_1 + (1-tau)/2 |c|^2 + gamma_j/2 |x_j - X'c|^2, c_j = 0. With
delta = gamma_j (x_j - X'c), a zero coefficient i is right exactly when |<x_i, delta>| <= tau. So
the problem over a few atoms is solved in double precision, all points are compared with its delta
by one single-precision matrix product for a whole block, violators (confirmed in double precision)
join the atoms, and so on. Between two products most violators are found without another one, as
|<x_i, delta'>| <= |<x_i, delta>| + |delta' - delta| for points of length at most one.
"""
# mypy: disable-error-code="no-untyped-def"

from __future__ import annotations

import numba
import numpy as np
from numba import njit, prange
from scipy import sparse
from threadpoolctl import threadpool_limits

from superpac.affinity._kernels.elastic_net import elastic_net
from superpac.affinity._kernels.vectors import dot, gram, largest, product, subtract
from superpac.affinity.base import Progress
from superpac.array_types import FloatArray
from superpac.system.row_blocks import HERE, RowBlocks, blocks_of

_DONE, _LOOK, _GROW = 0, 1, 2  # a point is finished, needs a product, needs larger buffers
_BLOCK = 512  # points that share a product
_FIRST, _MORE = 32, 16  # atoms to start from, atoms added at a time (more to many)
_CANDIDATES = 1024  # most points that are compared one by one instead of by a product


@njit(cache=True)
def _strongest(values, index, n, wanted):
    """Move the `wanted` largest of the first `n` values to the front, with their indices."""
    if n <= wanted:
        return n
    order = np.argsort(-values[:n])[:wanted]
    best_values = values[order]
    best_index = index[order]
    values[:wanted] = best_values
    index[:wanted] = best_index
    return wanted


@njit(cache=True)
def _count(row, bar):
    """How many magnitudes exceed `bar`."""
    low = np.float32(bar)
    n = 0
    for i in range(row.shape[0]):
        n += abs(row[i]) > low
    return n


@njit(cache=True)
def _collect(row, bar, index, values):
    """Entries of `row` of magnitude above `bar`, as many as there is room for; their number."""
    limit = index.shape[0]
    n = 0
    for low in range(0, row.shape[0], 64):
        high = min(low + 64, row.shape[0])
        if _count(row[low:high], bar) == 0:
            continue
        for i in range(low, high):
            if abs(row[i]) > np.float32(bar) and n < limit:
                index[n] = i
                values[n] = abs(row[i])
                n += 1
    return n


@njit(cache=True)
def _bar_for(row, bar, top, wanted, room):
    """A bar in [bar, top) above which lie `wanted` to `room` magnitudes, if bisection finds one."""
    if _count(row, bar) <= room:
        return bar
    low, high = bar, top
    for _ in range(30):
        middle = 0.5 * (low + high)
        n = _count(row, middle)
        if n > room:
            low = middle
        elif n < wanted:
            high = middle
        else:
            return middle
    return low


@njit(cache=True)
def _point(X, j, row, gamma, tau, tol, slack, atoms, coefs, size, delta, work, net):
    """Work on one point with the correlations `row` of its delta; (state, atoms in use)."""
    # at the first visit (size 0) row holds the correlations of the point itself
    Q, L, support = net
    q, b, c, step, move, reference, index, values = work
    m = size
    room = index.shape[0]
    ridge = 1.0 - tau
    bar = tau * (1.0 + tol)
    gram(X, atoms, 0, m, Q)
    for s in range(m):
        c[s] = coefs[s]
        q[s] = dot(X[atoms[s]], X[j])
        row[atoms[s]] = np.nan
    for s in range(m):
        b[s] = gamma * (q[s] - dot(Q[s, :m], c[:m]))
    row[j] = np.nan  # exceeds no bar, not even a negative one
    reference[:] = delta
    radius = 0.0
    state = _DONE
    while True:
        wanted = min(_FIRST if m == 0 else max(_MORE, m // 2), room)
        # delta moved by radius: what is lower than this, less rounding, is still under the bar
        low = bar - radius - slack
        if m == 0:
            low = _bar_for(row, bar / gamma, 1.0, wanted, min(2 * wanted, room))
        elif radius == 0.0:
            low = _bar_for(row, low, gamma, wanted, min(2 * wanted, room))
        elif _count(row, low) > room:  # too many to compare one by one: a product is cheaper
            state = _LOOK
            break
        n = _collect(row, low, index, values)
        fresh = 0
        for p in range(n):
            value = values[p]
            if m > 0:
                value = abs(dot(X[index[p]], delta))
            if m == 0 or value > bar:
                index[fresh] = index[p]
                values[fresh] = value
                fresh += 1
        if fresh == 0:
            break
        fresh = _strongest(values, index, fresh, wanted)
        if m + fresh > Q.shape[0]:
            state = _GROW
            break
        atoms[m : m + fresh] = index[:fresh]
        gram(X, atoms, m, m + fresh, Q)
        for s in range(m, m + fresh):
            row[atoms[s]] = np.nan
            c[s] = 0.0
            q[s] = dot(X[atoms[s]], X[j])
            b[s] = gamma * (q[s] - dot(Q[s, :m], c[:m]))
        first_visit = m == 0
        m += fresh
        elastic_net(Q, b, c, m, gamma, tau, ridge, 0.1 * tol * tau, L, support, step, move)
        delta[:] = X[j]
        for s in range(m):
            if c[s] != 0.0:
                subtract(delta, c[s], X[atoms[s]])
        radius = 0.0
        for d in range(delta.shape[0]):
            delta[d] *= gamma
            radius += (delta[d] - reference[d]) ** 2
        radius = np.sqrt(radius)
        if first_visit:
            state = _LOOK
            break
    n = 0
    for s in range(m):
        if c[s] != 0.0:
            atoms[n] = atoms[s]
            coefs[n] = c[s]
            n += 1
    return state, n


@njit(cache=True, parallel=True)
def _block(
    X, start, running, correlation, gammas, tau, tol, precision, atoms, coefs, sizes, deltas,
    states, Q, L, supports, vectors, references, index, values,
):  # fmt: skip
    """Work on the `running` points of a block, each thread in its own buffers."""
    for p in prange(running.shape[0]):
        k = running[p]
        t = numba.get_thread_id()
        work = (
            vectors[t, 0], vectors[t, 1], vectors[t, 2], vectors[t, 3], vectors[t, 4],
            references[t], index[t], values[t],
        )  # fmt: skip
        states[k], sizes[k] = _point(
            X, start + k, correlation[p], gammas[k], tau, tol, precision * gammas[k],
            atoms[k], coefs[k], sizes[k], deltas[k], work, (Q[t], L[t], supports[t]),
        )  # fmt: skip


@njit(cache=True, parallel=True)
def _weights(X, start, correlation, gamma, tau, gammas):
    """gamma_j = gamma tau / max |<x_i, x_j>|; 0 for a point that no other one correlates with."""
    for p in prange(correlation.shape[0]):
        j = start + p
        correlation[p, j] = 0.0
        best = largest(correlation[p])
        exact = abs(dot(X[best], X[j])) if best >= 0 else 0.0
        gammas[p] = gamma * tau / exact if exact > 0.0 else 0.0


def _buffers(threads: int, cap: int, room: int, d: int) -> tuple[np.ndarray, ...]:
    """What each thread works in when a point may have `cap` atoms."""
    return (
        np.empty((threads, cap, cap)),
        np.empty((threads, cap, cap)),
        np.empty((threads, cap), dtype=np.int64),
        np.empty((threads, 5, cap)),
        np.empty((threads, d)),
        np.empty((threads, room), dtype=np.int64),
        np.empty((threads, room)),
    )


def ensc_coefficients(
    X: FloatArray,
    gamma: float,
    tau: float,
    *,
    tol: float,
    working_memory: float,
    progress: Progress,
    where: RowBlocks = HERE,
) -> sparse.csr_array:
    """Elastic-net coefficients of points of length at most one; row j expresses point j."""
    n = X.shape[0]
    X = np.ascontiguousarray(X)
    blocks = blocks_of(n, int(min(n, _BLOCK, max(16, working_memory // (4 * n)))))
    shared = X, X.astype(np.float32), gamma, tau, tol
    found: list[tuple[np.ndarray, np.ndarray, np.ndarray]] = []
    for block, part in zip(blocks, where.each(_coefficients, shared, blocks), strict=True):
        found.append(part)
        progress(block.stop, n)
    indptr = np.concatenate(([0], np.cumsum(np.concatenate([sizes for sizes, _, _ in found]))))
    indices = np.concatenate([index for _, index, _ in found])
    data = np.concatenate([value for _, _, value in found])
    C = sparse.csr_array((data, indices, indptr), shape=(n, n))
    C.sort_indices()
    return C


def _coefficients(X, X32, gamma, tau, tol, start, stop):
    """Coefficients of one block: how many each point has, their atoms and their values."""
    n, d = X.shape
    size = stop - start
    # how far a correlation in single precision may be from that in double precision
    precision = 4 * np.sqrt(d) * float(np.finfo(np.float32).eps)
    cap, room = min(n, 256), min(n, _CANDIDATES)
    threads = numba.get_num_threads()
    buffers = _buffers(threads, cap, room, d)
    atoms = np.zeros((size, cap), dtype=np.int64)
    coefs = np.zeros((size, cap))
    deltas = np.zeros((size, d))
    gammas = np.zeros(size)
    sizes = np.zeros(size, dtype=np.int64)
    states = np.full(size, _DONE)
    correlation = np.empty((size, n), dtype=np.float32)
    with threadpool_limits(1, user_api="blas"):
        product(X32[start:stop], X32.T, correlation, threads)
        _weights(X, start, correlation, gamma, tau, gammas)
        running = np.flatnonzero(gammas > 0)
        here = correlation if running.size == size else correlation[running]
        while running.size:
            _block(
                X, start, running, here, gammas, tau, tol, precision,
                atoms, coefs, sizes, deltas, states, *buffers,
            )  # fmt: skip
            running = running[states[running] != _DONE]
            if np.any(states[running] == _GROW):
                wider = min(n, 2 * cap) - cap
                atoms = np.pad(atoms, ((0, 0), (0, wider)))
                coefs = np.pad(coefs, ((0, 0), (0, wider)))
                cap += wider
                buffers = _buffers(threads, cap, room, d)
            if running.size:
                here = correlation[: running.size]
                product(deltas[running].astype(np.float32), X32.T, here, threads)
    used = np.arange(cap) < sizes[:, None]
    return sizes, atoms[used], coefs[used]
