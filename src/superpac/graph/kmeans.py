"""k-means on embedding rows: many short runs, one per thread.

scikit-learn's KMeans splits one run over threads, which on a few thousand rows costs more in
waiting than it saves; here each restart is one sequential run and restarts go side by side.
"""

from __future__ import annotations

import numpy as np
from numba import njit, prange

from superpac.array_types import FloatArray, IntArray

MAX_ITER = 300


# reassociation lets the inner sums use vector instructions; nothing here relies on their order
@njit(cache=True, fastmath={"reassoc", "contract"})
def _squared_distance(a, b):  # type: ignore[no-untyped-def]
    """Squared Euclidean distance of two rows."""
    total = 0.0
    for f in range(a.size):
        gap = a[f] - b[f]
        total += gap * gap
    return total


@njit(cache=True, fastmath={"reassoc", "contract"})
def _nearest(row, centres, k):  # type: ignore[no-untyped-def]
    """Nearest of the first `k` centres, and its squared distance."""
    best, where = np.inf, 0
    for c in range(k):
        gap = _squared_distance(row, centres[c])
        if gap < best:
            best, where = gap, c
    return where, best


@njit(cache=True, fastmath={"reassoc", "contract"})
def _plus_plus(rows, k, draws, centres, closest):  # type: ignore[no-untyped-def]
    """Greedy k-means++: of a few candidates drawn by squared distance the best is taken."""
    n = rows.shape[0]
    trials = draws.shape[1]
    first = min(int(draws[0, 0] * n), n - 1)
    centres[0] = rows[first]
    total = 0.0
    for i in range(n):
        closest[i] = _squared_distance(rows[i], centres[0])
        total += closest[i]
    for c in range(1, k):
        best_total, best = np.inf, 0
        for t in range(trials):
            goal, run, pick = draws[c, t] * total, 0.0, n - 1
            for i in range(n):
                run += closest[i]
                if run > goal:
                    pick = i
                    break
            after = 0.0
            for i in range(n):
                after += min(_squared_distance(rows[i], rows[pick]), closest[i])
            if after < best_total:
                best_total, best = after, pick
        centres[c] = rows[best]
        total = 0.0
        for i in range(n):
            closest[i] = min(_squared_distance(rows[i], centres[c]), closest[i])
            total += closest[i]


@njit(cache=True)
def _lloyd(rows, centres, labels, distance, sums, counts, tol):  # type: ignore[no-untyped-def]
    """Lloyd's iterations in place; returns the inertia. An empty cluster takes the farthest row."""
    n, width = rows.shape
    k = centres.shape[0]
    inertia = np.inf
    for _ in range(MAX_ITER):
        sums[:] = 0.0
        counts[:] = 0
        total, changed = 0.0, 0
        for i in range(n):
            where, best = _nearest(rows[i], centres, k)
            changed += labels[i] != where
            labels[i] = where
            distance[i] = best
            total += best
            counts[where] += 1
            for f in range(width):
                sums[where, f] += rows[i, f]
        inertia = total
        for c in range(k):
            if counts[c] == 0:
                far = int(np.argmax(distance))
                if distance[far] > 0.0:
                    old = labels[far]
                    sums[old] -= rows[far]
                    counts[old] -= 1
                    sums[c] += rows[far]
                    counts[c] = 1
                    labels[far] = c
                    distance[far] = 0.0
                    changed += 1
        shift = 0.0
        for c in range(k):
            if counts[c] > 0:
                for f in range(width):
                    value = sums[c, f] / counts[c]
                    shift += (value - centres[c, f]) ** 2
                    centres[c, f] = value
        if changed == 0 or shift <= tol:
            break
    return inertia


@njit(cache=True, parallel=True)
def _runs(rows, starts, given, draws, labels, inertia, tol):  # type: ignore[no-untyped-def]
    """One run per start: the first `given` use the centres in `starts`, the rest draw their own."""
    count, k, width = starts.shape
    n = rows.shape[0]
    closest = np.empty((count, n))
    sums = np.empty((count, k, width))
    counts = np.empty((count, k), dtype=np.int64)
    for r in prange(count):
        if r >= given:
            _plus_plus(rows, k, draws[r - given], starts[r], closest[r])
        inertia[r] = _lloyd(rows, starts[r], labels[r], closest[r], sums[r], counts[r], tol)


def kmeans(
    rows: FloatArray,
    n_clusters: int,
    *,
    n_init: int,
    rng: np.random.RandomState,
    start: FloatArray | None = None,
) -> IntArray:
    """Cluster rows by k-means++ with restarts; the least inertia wins.

    Parameters
    ----------
    rows : ndarray of shape (n, width)
        What to cluster.
    n_clusters : int
        Number of clusters.
    n_init : int
        Fresh starts.
    rng : RandomState
        Draws the starts.
    start : ndarray of shape (n_clusters, width), optional
        Centres of one more run.

    Returns
    -------
    ndarray of shape (n,)
        Labels.

    References
    ----------
    Arthur & Vassilvitskii, "k-means++: the advantages of careful seeding", SODA 2007.

    Examples
    --------
    >>> import numpy as np
    >>> kmeans(np.array([[0.0], [0.1], [5.0]]), 2, n_init=3, rng=np.random.RandomState(0)).tolist()
    [0, 0, 1]
    """
    rows = np.ascontiguousarray(rows, dtype=np.float64)
    given = 0 if start is None else 1
    starts = np.zeros((given + n_init, n_clusters, rows.shape[1]))
    if start is not None:
        starts[0] = start
    draws = rng.random_sample((n_init, n_clusters, 2 + int(np.log(n_clusters))))
    labels = np.full((given + n_init, rows.shape[0]), -1, dtype=np.intp)
    inertia = np.empty(given + n_init)
    tol = 1e-4 * float(rows.var(axis=0).mean())
    _runs(rows, starts, given, draws, labels, inertia, tol)
    # the given start wins a near tie, so that labels do not jump without reason
    best = 0 if given and inertia[0] <= inertia.min() * (1 + 1e-9) else int(np.argmin(inertia))
    return labels[best]
