"""k-means on embedding rows: many short runs, one per thread.

scikit-learn's KMeans splits one run over threads, which on a few thousand rows costs more in
waiting than it saves; here each restart is one sequential run and restarts go side by side.
"""

from __future__ import annotations

import numpy as np
from numba import get_num_threads, njit, prange

from superpac.array_types import FloatArray, IntArray
from superpac.device.arrays import Array, is_host, like, ratio, to_host
from superpac.system.progress import Progress, no_progress

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


@njit(cache=True)
def _gaps(centres, k, other, out):  # type: ignore[no-untyped-def]
    """Squared distances of a row to the first `k` centres."""
    for c in range(k):
        out[c] = _squared_distance(centres[c], other)


@njit(cache=True)
def _plus_plus(rows, k, draws, centres, closest, labels, gaps):  # type: ignore[no-untyped-def]
    """Greedy k-means++: of a few candidates drawn by squared distance the best is taken.

    A candidate at least twice as far from a row's nearest centre as the row itself cannot be
    nearer to the row: that spares most distances (Elkan, ICML 2003).
    """
    n = rows.shape[0]
    trials = draws.shape[1]
    first = min(int(draws[0, 0] * n), n - 1)
    centres[0] = rows[first]
    total = 0.0
    for i in range(n):
        labels[i] = 0
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
            _gaps(centres, c, rows[pick], gaps)
            after = 0.0
            for i in range(n):
                if gaps[labels[i]] >= 4.0 * closest[i]:
                    after += closest[i]
                else:
                    after += min(_squared_distance(rows[i], rows[pick]), closest[i])
            if after < best_total:
                best_total, best = after, pick
        centres[c] = rows[best]
        _gaps(centres, c, rows[best], gaps)
        total = 0.0
        for i in range(n):
            if gaps[labels[i]] < 4.0 * closest[i]:
                gap = _squared_distance(rows[i], centres[c])
                if gap < closest[i]:
                    closest[i] = gap
                    labels[i] = c
            total += closest[i]


@njit(cache=True)
def _nearest(row, centres, between, guess):  # type: ignore[no-untyped-def]
    """Nearest centre, and its squared distance; the first of several as near.

    `between` holds the squared distances of the centres: one at least twice as far from the
    nearest so far as the row itself cannot be nearer to the row.
    """
    where, best = guess, _squared_distance(row, centres[guess])
    for c in range(centres.shape[0]):
        if c != guess and between[where, c] < 4.0 * best:
            gap = _squared_distance(row, centres[c])
            if gap < best or (gap == best and c < where):
                best, where = gap, c
    return where, best


@njit(cache=True)
def _lloyd(rows, centres, labels, distance, sums, counts, between, tol):  # type: ignore[no-untyped-def]
    """Lloyd's iterations in place; returns the inertia. An empty cluster takes the farthest row."""
    n, width = rows.shape
    k = centres.shape[0]
    inertia = np.inf
    for step in range(MAX_ITER):
        sums[:] = 0.0
        counts[:] = 0
        for c in range(k):
            _gaps(centres, k, centres[c], between[c])
        total, changed = 0.0, 0
        for i in range(n):
            where, best = _nearest(rows[i], centres, between, labels[i])
            changed += step == 0 or labels[i] != where
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
    between = np.empty((count, k, k))
    for r in prange(count):
        if r >= given:
            _plus_plus(rows, k, draws[r - given], starts[r], closest[r], labels[r], between[r, 0])
        inertia[r] = _lloyd(
            rows, starts[r], labels[r], closest[r], sums[r], counts[r], between[r], tol
        )


def kmeans(
    rows: Array,
    n_clusters: int,
    *,
    n_init: int,
    rng: np.random.RandomState,
    start: FloatArray | None = None,
    progress: Progress = no_progress,
) -> IntArray:
    """Cluster rows by k-means++ with restarts; the least inertia wins.

    Parameters
    ----------
    rows : array of shape (n, width)
        What to cluster; PyTorch's are clustered where they are, to the same labels but for ties.
    n_clusters : int
        Number of clusters.
    n_init : int
        Fresh starts.
    rng : RandomState
        Draws the starts.
    start : ndarray of shape (n_clusters, width), optional
        Centres of one more run.
    progress : callable, optional
        Called as ``progress(done, total)`` with runs; raising from it cancels.

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
    given = 0 if start is None else 1
    if not is_host(rows):
        draws = rng.random_sample((n_init, n_clusters, 2 + int(np.log(n_clusters))))
        return _kmeans_there(rows, n_clusters, draws, start, progress)
    rows = np.ascontiguousarray(rows, dtype=np.float64)
    starts = np.zeros((given + n_init, n_clusters, rows.shape[1]))
    if start is not None:
        starts[0] = start
    draws = rng.random_sample((n_init, n_clusters, 2 + int(np.log(n_clusters))))
    labels = np.zeros((given + n_init, rows.shape[0]), dtype=np.intp)
    inertia = np.empty(given + n_init)
    tol = 1e-4 * float(rows.var(axis=0).mean())
    runs = given + n_init
    # as many at a time as there are threads, where somebody wants to know how far it is
    step = max(1, runs if progress is no_progress else get_num_threads())
    for first in range(0, runs, step):
        some, mine = slice(first, first + step), max(0, given - first)
        drawn = draws[max(0, first - given) :]
        _runs(rows, starts[some], mine, drawn, labels[some], inertia[some], tol)
        progress(min(first + step, runs), runs)
    return labels[_best(inertia, given)]


def _best(inertia: FloatArray, given: int) -> int:
    """The run to keep; the given start wins a near tie, so that labels do not jump for nothing."""
    near = given and inertia[0] <= inertia.min() * (1 + 1e-9)
    return 0 if near else int(np.argmin(inertia))


def _kmeans_there(
    rows: Array,
    n_clusters: int,
    draws: FloatArray,
    start: FloatArray | None,
    progress: Progress,
) -> IntArray:
    """Do the same where rows are, run after run: each keeps a graphics processor busy."""
    tol = 1e-4 * float(rows.var(dim=0, correction=0).mean())
    starts = [] if start is None else [like(start, rows)]
    runs: list[tuple[float, Array]] = []
    count = len(starts) + len(draws)
    for begin in (*starts, *draws):
        drawn = len(runs) >= len(starts)
        centres = _plus_plus_there(rows, n_clusters, begin) if drawn else begin
        runs.append(_lloyd_there(rows, centres, tol))
        progress(len(runs), count)
    best = _best(np.array([inertia for inertia, _ in runs]), len(starts))
    return to_host(runs[best][1]).astype(np.intp, copy=False)


def _plus_plus_there(rows: Array, k: int, draws: FloatArray) -> Array:
    """Greedy k-means++ as :func:`_plus_plus`, by whole columns of distances."""
    import torch

    n = rows.shape[0]
    centres = [rows[min(int(draws[0, 0] * n), n - 1)]]
    closest = ((rows - centres[0]) ** 2).sum(dim=1)
    for c in range(1, k):
        run = closest.cumsum(dim=0)
        goals = like(draws[c], rows) * run[-1]
        picks = torch.searchsorted(run, goals, right=True).clamp(max=n - 1)
        after = torch.minimum(_gaps_there(rows, rows[picks]), closest[:, None])
        best = after.sum(dim=0).argmin()
        centres.append(rows[picks[best]])
        closest = after[:, best]
    return torch.stack(centres)


def _gaps_there(rows: Array, centres: Array) -> Array:
    """Squared distance of every row to every centre."""
    squares = (rows * rows).sum(dim=1)[:, None] + (centres * centres).sum(dim=1)
    return (squares - 2.0 * rows @ centres.T).clamp(min=0.0)


def _lloyd_there(rows: Array, centres: Array, tol: float) -> tuple[float, Array]:
    """Lloyd's iterations as :func:`_lloyd`; inertia and labels."""
    import torch

    numbers = torch.arange(centres.shape[0], device=rows.device)
    labels = torch.full(rows.shape[:1], -1, device=rows.device)
    for _ in range(MAX_ITER):
        distance, nearest = _gaps_there(rows, centres).min(dim=1)
        inertia = float(distance.sum())
        changed = not torch.equal(nearest, labels)
        labels = nearest
        # sums as a product: adding up by index has no order, and so no fixed last bits
        member = (labels[:, None] == numbers).to(rows.dtype)
        for c in (member.sum(dim=0) == 0).nonzero()[:, 0].tolist():
            far = int(distance.argmax())
            if distance[far] > 0.0:
                member[far] = 0.0
                member[far, c] = 1.0
                labels[far], distance[far], changed = c, 0.0, True
        counts = member.sum(dim=0)
        means = torch.where(counts[:, None] > 0, ratio(member.T @ rows, counts[:, None]), centres)
        shift = float(((means - centres) ** 2).sum())
        centres = means
        if not changed or shift <= tol:
            break
    return inertia, labels
