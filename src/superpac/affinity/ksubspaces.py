"""K-subspaces: Lloyd's algorithm with linear subspaces instead of centres."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from joblib import Parallel, delayed
from numba import get_num_threads
from numpy.typing import NDArray
from scipy import sparse
from sklearn.utils import check_random_state
from threadpoolctl import threadpool_limits

from superpac.affinity._kernels.top_k import update_top
from superpac.affinity.base import AffinityEstimator, Progress, unit_rows
from superpac.affinity.parameters import choice, integer, is_integer, parameter_error
from superpac.affinity.tsc import default_q
from superpac.array_types import FloatArray, IntArray
from superpac.graph.sparse_graph import rows_to_matrix, tidy
from superpac.subspaces.geometry import fit_bases, residuals, subspace_cost, top_directions

Dim = int | Sequence[int] | None
Bases = list[FloatArray]


class Run(NamedTuple):
    """Result of one K-subspaces run: the bases are fitted to the labels, the cost is theirs."""

    labels: IntArray
    bases: Bases
    cost: float
    n_iter: int


@dataclass(repr=False, eq=False, kw_only=True)
class KSubspaces(AffinityEstimator):
    """K-subspaces: alternate nearest subspace and uncentred PCA, with restarts.

    Labels come from the best run, not from spectral clustering. The affinity tells how sure they
    are: a point is joined to the `q` members of its nearest and of its second-nearest cluster
    whose coordinates in that subspace have the largest cosine with its own, with the share
    ``p_ik ~ exp(-r_ik^2 / (2 s^2))`` of that cluster as weight (r residuals, s^2 the mean squared
    own residual); ``A = Z + Z'``. Points exactly on their subspace thus have no edges across.

    Parameters
    ----------
    n_clusters : int, default=8
        Number of clusters.
    dim : int, sequence of int or None
        Dimension of the subspaces, less than n_features; one for all or one each. None: 9, or
        less where the features (n_features - 1) or the points (a third of a mean cluster) ask
        for it.
    n_init : int, default=10
        Restarts; the lowest cost wins.
    max_iter : int, default=100
        Most iterations per run.
    init : {"spread", "random"}, default="spread"
        "spread": subspaces of the neighbourhoods of points drawn far from the subspaces drawn
        before (as k-means++ draws centres). "random": uniformly random subspaces.
    q : int, optional
        Neighbours per point and cluster in the affinity; None: as :class:`~superpac.affinity.TSC`.
    random_state : int, RandomState or None
        Seed of the restarts.
    n_jobs : int or None
        Threads; None or -1 uses all.

    Attributes
    ----------
    affinity_matrix_ : scipy.sparse.csr_array of shape (n_samples, n_samples)
    labels_ : ndarray of shape (n_samples,)
    bases_ : list of ndarray of shape (n_features, r_k)
        Orthonormal bases of the subspaces.
    cost_ : float
        Sum of the squared residuals of unit-length points.
    n_iter_ : int
        Iterations of the best run.

    References
    ----------
    P. S. Bradley and O. L. Mangasarian, "k-plane clustering", Journal of Global Optimization 16,
    2000.

    Examples
    --------
    >>> from superpac.data.synthetic import make_subspaces
    >>> X, y = make_subspaces(20, 2, 2, 12, seed=0)
    >>> model = KSubspaces(n_clusters=2, dim=2, random_state=0).fit(X)
    >>> bool(model.cost_ < 1e-10), len(set(zip(model.labels_, y)))
    (True, 2)
    """

    dim: Dim = None
    n_init: int = integer(10)
    max_iter: int = integer(100)
    init: str = choice("spread", ("spread", "random"))
    q: int | None = integer(None, optional=True)

    def _check_parameters(self, n_samples: int, n_features: int) -> None:
        super()._check_parameters(n_samples, n_features)
        check_dim(self, n_features)

    def _graph(self, X: FloatArray, progress: Progress) -> sparse.csr_array:
        X = unit_rows(X)
        dims = resolve_dims(self.dim, self.n_clusters, X.shape)
        starts = [(self.init, int(s)) for s in run_seeds(self.random_state, self.n_init)]
        best = np.inf
        for run in side_by_side(X, dims, starts, self.max_iter, progress):
            if run.cost < best:
                best = run.cost
                self.labels_, self.bases_ = run.labels, run.bases
                self.cost_, self.n_iter_ = run.cost, run.n_iter
        q = default_q(X.shape[0], self.n_clusters) if self.q is None else int(self.q)
        return membership_graph(X, self.labels_, self.bases_, q)

    def _cluster(self, X: NDArray) -> IntArray:
        return self.labels_


def check_dim(estimator: AffinityEstimator, n_features: int) -> None:
    """Raise InputError unless ``dim`` is None or positive integers below the number of features."""
    dim = estimator.dim
    if dim is None:
        return
    values = list(dim) if isinstance(dim, (list, tuple, np.ndarray)) else [dim]
    if (
        not all(is_integer(d) for d in values)
        or min(values, default=0) < 1
        or max(values) >= max(n_features, 2)
    ):
        raise parameter_error(
            estimator,
            "dim",
            f"an integer from 1 to n_features - 1 = {n_features - 1}, or one for each cluster",
        )
    if isinstance(dim, (list, tuple, np.ndarray)) and len(values) != estimator.n_clusters:
        raise parameter_error(
            estimator, "dim", f"one integer, or one for each of the {estimator.n_clusters} clusters"
        )


def resolve_dims(dim: Dim, n_clusters: int, shape: tuple[int, ...]) -> list[int]:
    """One dimension per cluster; None gives the default described in :class:`KSubspaces`."""
    if dim is None:
        dim = max(1, min(9, shape[1] - 1, shape[0] // (3 * n_clusters)))
    if isinstance(dim, (int, np.integer)):
        return [int(dim)] * n_clusters
    return [int(d) for d in dim]


def random_bases(X: FloatArray, dims: list[int], rng: np.random.RandomState) -> Bases:
    """Uniformly random subspaces."""
    return [np.linalg.qr(rng.standard_normal((X.shape[1], d)))[0] for d in dims]


def spread_bases(X: FloatArray, dims: list[int], rng: np.random.RandomState) -> Bases:
    """Subspaces of neighbourhoods, each around a point drawn by its distance from those before."""
    squared = np.einsum("ij,ij->i", X, X)
    distance = squared.copy()
    bases: Bases = []
    for d in dims:
        total = distance.sum()
        share = distance / total if total > 1e-12 * len(X) else np.full(len(X), 1 / len(X))
        centre = int(rng.choice(len(X), p=share / share.sum()))
        cosines = np.abs(X @ X[centre])
        near = np.argsort(-cosines, kind="stable")[: d + 1]
        bases.append(top_directions(X[near], d))
        projected = X @ bases[-1]
        left = squared - np.einsum("ij,ij->i", projected, projected)
        distance = np.minimum(distance, np.maximum(left, 0.0))
    return bases


def run_seeds(random_state: int | np.random.RandomState | None, n_runs: int) -> NDArray[np.int64]:
    """One seed per run, so that runs may go side by side and still be the same every time."""
    return check_random_state(random_state).randint(2**31 - 1, size=n_runs)


def side_by_side(
    X: FloatArray,
    dims: list[int],
    starts: list[tuple[str, int]],
    max_iter: int,
    progress: Progress,
) -> Iterator[Run]:
    """K-subspaces runs from (init, seed) pairs, in order, as many at once as threads are allowed.

    Each run has one BLAS thread: the products and eigenproblems are too small to share.
    """
    workers = get_num_threads()

    def one(init: str, seed: int) -> Run:
        rng = np.random.RandomState(seed)
        draw = spread_bases if init == "spread" else random_bases
        return run_ksubspaces(X, draw(X, dims, rng), dims, max_iter=max_iter, rng=rng)

    with threadpool_limits(1), Parallel(workers, prefer="threads") as pool:
        for first in range(0, len(starts), 2 * workers):
            batch = starts[first : first + 2 * workers]
            yield from pool(delayed(one)(init, seed) for init, seed in batch)
            progress(first + len(batch), len(starts))


def run_ksubspaces(
    X: FloatArray,
    bases: Bases,
    dims: list[int],
    *,
    max_iter: int,
    rng: np.random.RandomState,
) -> Run:
    """One run of K-subspaces from given bases; the cost never rises."""
    labels = np.argmin(residuals(X, bases), axis=1)
    for n_iter in range(1, max_iter + 1):  # noqa: B007
        labels = _fill_empty(X, labels, bases, rng)
        bases = fit_bases(X, labels, len(dims), dims)
        distances = residuals(X, bases)
        own = distances[np.arange(len(X)), labels]
        # a tie must not move a point, or duplicates and exact fits would wander for ever
        nearest = np.argmin(distances, axis=1)
        moved = np.where(distances.min(axis=1) < own - 1e-12, nearest, labels)
        if np.array_equal(moved, labels):
            break
        labels = moved
    labels = _fill_empty(X, labels, bases, rng)
    bases = fit_bases(X, labels, len(dims), dims)
    cost = subspace_cost(residuals(X, bases), labels)
    return Run(labels.astype(np.intp), bases, cost, n_iter)


def _fill_empty(
    X: FloatArray, labels: IntArray, bases: Bases, rng: np.random.RandomState
) -> IntArray:
    """Give every empty cluster one badly fitted point from a cluster with more than one."""
    counts = np.bincount(labels, minlength=len(bases))
    if counts.all():
        return labels
    labels = labels.copy()
    own = np.square(residuals(X, bases)[np.arange(len(X)), labels]) + 1e-15
    for k in np.flatnonzero(counts == 0):
        share = np.where(counts[labels] > 1, own, 0.0)
        point = int(rng.choice(len(X), p=share / share.sum()))
        counts[labels[point]] -= 1
        labels[point], counts[k] = k, 1
    return labels


def membership_graph(X: FloatArray, labels: IntArray, bases: Bases, q: int) -> sparse.csr_array:
    """Affinity described in :class:`KSubspaces`."""
    n = len(X)
    squared = np.square(residuals(X, bases))
    spread = squared[np.arange(n), labels].mean()
    exponent = -(squared - squared.min(axis=1, keepdims=True)) / (2 * max(spread, 1e-20))
    share = np.exp(np.maximum(exponent, -700.0))
    share /= share.sum(axis=1, keepdims=True)
    share[share < 1e-9] = 0.0
    Z = sparse.csr_array((n, n))
    for k, basis in enumerate(bases):
        members = np.flatnonzero(labels == k)
        rank = (share > share[:, k : k + 1]).sum(axis=1)
        guests = np.flatnonzero((labels == k) | ((rank < 2) & (share[:, k] > 0)))
        if basis.shape[1] == 0 or members.size < 2:
            continue
        inside = unit_rows(X @ basis)
        q_here = min(q, members.size)
        indices = np.full((n, q_here), -1, dtype=np.int64)
        for start in range(0, guests.size, 1024):
            block = guests[start : start + 1024]
            cosines = np.abs(inside[block] @ inside[members].T)
            cosines[block[:, None] == members] = 0.0
            values = np.full((block.size, q_here), 1e-12)
            found = np.full((block.size, q_here), -1, dtype=np.int64)
            update_top(cosines, -block.size, 0, values, found)  # no diagonal in this rectangle
            indices[block] = np.where(found >= 0, members[found], -1)
        Z = Z + rows_to_matrix(indices, np.repeat(share[:, k : k + 1], q_here, axis=1), n)
    return tidy(Z + Z.T)
