"""k-means that listens to answers: COP-KMeans never breaks one, PCKMeans pays for each it breaks.

Wagstaff, Cardie, Rogers & Schroedl, "Constrained k-means clustering with background knowledge",
ICML 2001; Basu, Banerjee & Mooney, "Active semi-supervision for pairwise constrained clustering",
SDM 2004.
"""

from __future__ import annotations

import numpy as np
from numba import njit
from numpy.typing import ArrayLike, NDArray
from sklearn.utils import check_random_state

from superpac.answers.constraints import Constraints
from superpac.array_types import FloatArray, IntArray
from superpac.errors import InputError
from superpac.graph.imputed_spectral import KnownSets
from superpac.graph.spectral import Seed

MAX_ITER = 100


def groups_of(n: int, must_link: ArrayLike, cannot_link: ArrayLike) -> KnownSets:
    """Transitive closure of constraints: groups, and which of them are known to differ.

    Parameters
    ----------
    n : int
        Number of points.
    must_link, cannot_link : array-like of int of shape (m, 2)
        Pairs of points.

    Returns
    -------
    KnownSets
        A point in no constraint is in no group.

    Raises
    ------
    ContradictionError
        If the constraints contradict each other.

    Examples
    --------
    >>> groups_of(4, [(0, 1)], [(1, 3)]).set_of.tolist()
    [0, 0, -1, 1]
    """
    same = np.asarray(must_link, dtype=np.int64).reshape(-1, 2)
    apart = np.asarray(cannot_link, dtype=np.int64).reshape(-1, 2)
    answers = ["same"] * len(same) + ["different"] * len(apart)
    return known_groups(Constraints.fold(n, np.concatenate([same, apart]), answers))


def known_groups(constraints: Constraints) -> KnownSets:
    """Groups of points known to be the same, single points with a "different" among them."""
    touched = constraints.touched
    set_of = constraints.set_of(touched).astype(np.intp)
    count = int(set_of.max()) + 1 if set_of.size else 0
    different = np.zeros((count, count), dtype=np.bool_)
    pairs = constraints.sets_apart(touched)
    different[pairs[:, 0], pairs[:, 1]] = different[pairs[:, 1], pairs[:, 0]] = True
    return KnownSets(set_of, count, different)


def pckmeans(
    X: ArrayLike,
    n_clusters: int,
    must_link: ArrayLike = (),
    cannot_link: ArrayLike = (),
    *,
    w: float = 1.0,
    random_state: Seed = None,
) -> IntArray:
    """Pairwise constrained k-means: a broken constraint costs `w`.

    Minimises half the squared distances to the centres plus `w` for every broken constraint of the
    transitive closure, by moving whole groups, then one point after the other, in random order (the
    paper moves points only: no single one leaves a group that is in the wrong place). Centres start
    at the centroids of the groups; where there are more than clusters, large groups far apart are
    chosen (weighted farthest-first); where there are fewer, the rest is drawn as in k-means++ (the
    paper perturbs the global centroid, which starts them all in one place).

    Parameters
    ----------
    X : array-like of shape (n, D)
        Points.
    n_clusters : int
        Number of clusters.
    must_link, cannot_link : array-like of int of shape (m, 2)
        Constraints; their transitive closure is taken.
    w : float, default=1.0
        Cost of a broken constraint.
    random_state : int, RandomState or None
        Of the order of points and of missing centres.

    Returns
    -------
    ndarray of shape (n,)
        Labels.

    References
    ----------
    Basu, Banerjee & Mooney, SDM 2004.

    Examples
    --------
    >>> X = [[0.0], [0.2], [1.0], [1.2]]
    >>> labels = pckmeans(X, 2, [(0, 2)], [(0, 3)], w=10.0, random_state=0)
    >>> bool(labels[0] == labels[2] != labels[3])
    True
    """
    points = _points(X, n_clusters)
    known = groups_of(len(points), must_link, cannot_link)
    return penalised(points, n_clusters, known, w=w, rng=check_random_state(random_state))


def penalised(
    X: FloatArray, n_clusters: int, known: KnownSets, *, w: float, rng: np.random.RandomState
) -> IntArray:
    """PCKMeans on groups that are known already."""
    every = ~np.eye(known.n_sets, dtype=np.bool_)
    different = np.ascontiguousarray(every if known.different is None else known.different)
    centres = starting_centres(X, n_clusters, known, rng)
    labels = np.full(X.shape[0], -1, dtype=np.intp)
    counts = np.zeros((max(known.n_sets, 1), n_clusters), dtype=np.intp)
    sizes = np.bincount(known.set_of[known.set_of >= 0], minlength=known.n_sets)
    large = np.flatnonzero(sizes > 1)
    points = np.argsort(known.set_of, kind="stable").astype(np.intp)
    points = points[known.set_of[points] >= 0]
    starts = np.concatenate([[0], np.cumsum(sizes)]).astype(np.intp)
    for _ in range(MAX_ITER):
        groups = rng.permutation(large)
        changed = _move_groups(X, centres, groups, points, starts, different, counts, labels, w)
        order = rng.permutation(X.shape[0])
        changed += _move(X, centres, order, known.set_of, different, counts, labels, w)
        if not changed:
            break
        for c in range(n_clusters):
            inside = labels == c
            if inside.any():
                centres[c] = X[inside].mean(axis=0)
    return labels


@njit(cache=True)
def _half_squared(row, centres, out):  # type: ignore[no-untyped-def]
    """Half the squared distance of a point to every centre, into `out`."""
    for c in range(centres.shape[0]):
        total = 0.0
        for f in range(centres.shape[1]):
            gap = row[f] - centres[c, f]
            total += gap * gap
        out[c] = 0.5 * total


@njit(cache=True)
def _move_groups(X, centres, groups, points, starts, different, counts, labels, w):  # type: ignore[no-untyped-def]
    """Give every group as a whole its cheapest cluster, if that is cheaper than where it is."""
    K = centres.shape[0]
    changed = 0
    half = np.empty(K)
    for a in groups:
        members = points[starts[a] : starts[a + 1]]
        rivals = np.zeros(K)
        for b in range(different.shape[0]):
            if different[a, b]:
                for c in range(K):
                    rivals[c] += counts[b, c]
        cost = members.size * w * rivals
        now = 0.0
        for i in members:
            _half_squared(X[i], centres, half)
            cost += half
            c = labels[i]
            if c >= 0:
                now += half[c] + w * (rivals[c] + 0.5 * (members.size - counts[a, c]))
            else:
                now = np.inf
        best = int(np.argmin(cost))
        if cost[best] < now - 1e-12:
            for i in members:
                changed += labels[i] != best
                labels[i] = best
            counts[a] = 0
            counts[a, best] = members.size
    return changed


@njit(cache=True)
def _move(X, centres, order, set_of, different, counts, labels, w):  # type: ignore[no-untyped-def]
    """Give every point in turn its cheapest cluster; returns how many changed."""
    K = centres.shape[0]
    changed = 0
    cost = np.empty(K)
    for i in order:
        a = set_of[i]
        old = labels[i]
        if a >= 0 and old >= 0:
            counts[a, old] -= 1
        _half_squared(X[i], centres, cost)
        if a >= 0:
            mates = counts[a].sum()
            for c in range(K):
                cost[c] += w * (mates - counts[a, c])
            for b in range(different.shape[0]):
                if different[a, b]:
                    for c in range(K):
                        cost[c] += w * counts[b, c]
        best = int(np.argmin(cost))
        if best != old:
            changed += 1
            labels[i] = best
        if a >= 0:
            counts[a, best] += 1
    return changed


def starting_centres(
    X: FloatArray, n_clusters: int, known: KnownSets, rng: np.random.RandomState
) -> FloatArray:
    """Centroids of groups, chosen or completed to `n_clusters`."""
    inside = known.set_of >= 0
    sizes = np.bincount(known.set_of[inside], minlength=known.n_sets).astype(float)
    centroids = _sums(X[inside], known.set_of[inside], known.n_sets)
    centroids /= np.maximum(sizes, 1)[:, None]
    if known.n_sets > n_clusters:
        chosen = [int(np.argmax(sizes))]
        near = np.full(known.n_sets, np.inf)
        while len(chosen) < n_clusters:
            gap = ((centroids - centroids[chosen[-1]]) ** 2).sum(axis=1)
            near = np.minimum(near, gap)
            near[chosen] = -1.0
            chosen.append(int(np.argmax(sizes * near)))
        return centroids[chosen]
    centres = list(centroids)
    near = np.full(X.shape[0], np.inf)
    for centre in centres:
        near = np.minimum(near, ((X - centre) ** 2).sum(axis=1))
    while len(centres) < n_clusters:
        if not centres or near.sum() <= 0:
            pick = int(rng.randint(X.shape[0]))
        else:
            pick = int(rng.choice(X.shape[0], p=near / near.sum()))
        centres.append(X[pick])
        near = np.minimum(near, ((X - X[pick]) ** 2).sum(axis=1))
    return np.array(centres)


def _sums(rows: FloatArray, labels: IntArray, count: int) -> FloatArray:
    """Sum of the rows with each label."""
    total = np.zeros((count, rows.shape[1]))
    np.add.at(total, labels, rows)
    return total


def cop_kmeans(
    X: ArrayLike,
    n_clusters: int,
    must_link: ArrayLike = (),
    cannot_link: ArrayLike = (),
    *,
    n_init: int = 10,
    random_state: Seed = None,
) -> IntArray:
    """Constrained k-means: the nearest centre that breaks no constraint.

    Must-link groups move as one. As in the paper a group takes the nearest cluster that holds no
    group it differs from, one after the other, without backtracking; unlike there, those with most
    cannot-links go first (a random order is what makes the original fail), and a start that fails
    is drawn again.

    Parameters
    ----------
    X : array-like of shape (n, D)
        Points.
    n_clusters : int
        Number of clusters.
    must_link, cannot_link : array-like of int of shape (m, 2)
        Constraints.
    n_init : int, default=10
        Starts; the least inertia wins.
    random_state : int, RandomState or None
        Of the starts.

    Returns
    -------
    ndarray of shape (n,)
        Labels.

    Raises
    ------
    InputError
        If no start found an assignment that keeps every constraint.

    References
    ----------
    Wagstaff, Cardie, Rogers & Schroedl, ICML 2001.

    Examples
    --------
    >>> X = [[0.0], [0.2], [1.0], [1.2]]
    >>> labels = cop_kmeans(X, 2, [(0, 2)], [(0, 3)], random_state=0)
    >>> bool(labels[0] == labels[2] != labels[3])
    True
    """
    points = _points(X, n_clusters)
    rng = check_random_state(random_state)
    known = groups_of(len(points), must_link, cannot_link)
    # every point outside a group is a group of its own
    group = known.set_of.copy()
    alone = np.flatnonzero(group == -1)
    group[alone] = known.n_sets + np.arange(alone.size)
    size = np.bincount(group).astype(float)
    sums = _sums(points, group, size.size)
    rivals = [] if known.different is None else [np.flatnonzero(row) for row in known.different]
    best, least_inertia = None, np.inf
    for _ in range(n_init):
        found = _cop_run(points, sums, size, rivals, n_clusters, rng)
        if found is None:
            continue
        labels = found[group]
        centres = _sums(points, labels, n_clusters)
        centres /= np.maximum(np.bincount(labels, minlength=n_clusters), 1)[:, None]
        inertia = float(((points - centres[labels]) ** 2).sum())
        if inertia < least_inertia:
            best, least_inertia = labels, inertia
    if best is None:
        raise InputError(
            f"COP-KMeans found no assignment to {n_clusters} clusters that keeps every "
            "constraint; allow more clusters or more starts (n_init)."
        )
    return best


def _cop_run(
    X: FloatArray,
    sums: FloatArray,
    size: FloatArray,
    rivals: list[NDArray[np.intp]],
    n_clusters: int,
    rng: np.random.RandomState,
) -> IntArray | None:
    """One start; None when some group has no cluster left."""
    nobody = KnownSets(np.full(X.shape[0], -1, dtype=np.intp), 0)
    centres = starting_centres(X, n_clusters, nobody, rng)
    bound = len(rivals)
    first = sorted(range(bound), key=lambda g: -rivals[g].size)  # ties in a stable order
    labels = np.full(size.size, -1, dtype=np.intp)
    for _ in range(MAX_ITER):
        cost = size[:, None] * (centres**2).sum(axis=1) - 2.0 * sums @ centres.T
        new = cost.argmin(axis=1)
        new[:bound] = -1
        for g in first:
            taken = new[rivals[g]]
            price = cost[g].copy()
            price[taken[taken >= 0]] = np.inf
            new[g] = int(np.argmin(price))
            if not np.isfinite(price[new[g]]):
                return None
        if (new == labels).all():
            break
        labels = new
        total = _sums(sums, labels, n_clusters)
        weight = np.bincount(labels, weights=size, minlength=n_clusters)
        filled = weight > 0
        centres[filled] = total[filled] / weight[filled, None]
    return labels


def _points(X: ArrayLike, n_clusters: int) -> FloatArray:
    """Points as a table, checked."""
    points = np.ascontiguousarray(X, dtype=np.float64)
    if points.ndim != 2:
        raise InputError(f"Points must be a table of numbers. Got {points.ndim} dimensions.")
    if not 1 <= n_clusters <= len(points):
        raise InputError(
            f"The number of clusters must be between 1 and n = {len(points)}. Got {n_clusters}."
        )
    return points
