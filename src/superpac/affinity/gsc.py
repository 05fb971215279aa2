"""Greedy subspace clustering by nearest subspace neighbours."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.utils import check_random_state

from superpac.affinity.base import AffinityEstimator, Progress, no_progress, unit_rows
from superpac.affinity.parameters import flag, integer, real
from superpac.array_types import BoolArray, FloatArray, IntArray
from superpac.graph.sparse_graph import tidy
from superpac.subspaces.geometry import top_directions

BLOCK_BYTES = 2**27
ORTHOGONAL = 1e-20  # squared cosine that is rounding noise
DEPENDENT = 1e-7  # a neighbour whose new direction is shorter than this does not widen the span
MOST_IN_SPAN = 1000
MOST_CANDIDATES = 2000


@dataclass(repr=False, eq=False, kw_only=True)
class GSC(AffinityEstimator):
    """Greedy subspace clustering: nearest subspace neighbours (NSN), optionally with recovery.

    From each point a span is grown: the point with the largest projection on the span joins and
    widens it, until the span has dimension `d_max`; `k` neighbours are collected in all. Two
    points are joined (weight 1) when either collected the other or lies in the other's span.

    Parameters
    ----------
    n_clusters : int, default=8
        Number of clusters.
    k : int, default=10
        Neighbours collected per point.
    d_max : int, default=5
        Largest dimension of the span; at least the dimension of the subspaces is meant. It stays
        below the number of features, because a span of everything tells nothing apart.
    tol : float, default=1e-10
        A unit-length point lies in a span when its squared distance from it is at most this. At
        most 1,000 such points per row are joined, spread evenly.
    recover : bool, default=False
        Label by greedy subspace recovery (the paper's second algorithm) instead of spectral
        clustering: the subspace of a point's neighbours that holds most of the points left is
        taken, `n_clusters` times, and points go to the nearest. The affinity is the same.
    epsilon : float, default=0.1
        In the recovery a subspace holds a point when the projection is longer than 1 - epsilon.
    random_state : int, RandomState or None
        Seed of the spectral step, and of the choice of 2,000 candidates where there are more.
    n_jobs : int or None
        Threads; None or -1 uses all.

    Attributes
    ----------
    affinity_matrix_ : scipy.sparse.csr_array of shape (n_samples, n_samples)
    labels_ : ndarray of shape (n_samples,)

    References
    ----------
    D. Park, C. Caramanis and S. Sanghavi, "Greedy subspace clustering", NIPS 2014.

    Examples
    --------
    >>> from superpac.data.synthetic import make_subspaces
    >>> X, y = make_subspaces(20, 2, 2, 12, seed=0)
    >>> A = GSC(n_clusters=2, k=5, d_max=2).affinity(X)
    >>> bool(A[:20, 20:].nnz == 0)
    True
    """

    k: int = integer(10)
    d_max: int = integer(5)
    tol: float = real(1e-10, "[0, 1]")
    recover: bool = flag()
    epsilon: float = real(0.1, "(0, 1)")

    def _graph(self, X: FloatArray, progress: Progress) -> sparse.csr_array:
        d_max = self._dimension(X.shape[1])
        Z = collect_neighbors(unit_rows(X), self.k, d_max, self.tol, progress=progress)
        return tidy(Z.maximum(Z.T))

    def _dimension(self, n_features: int) -> int:
        """Largest dimension of a span, below that of the space."""
        return max(1, min(self.d_max, n_features - 1))

    def _cluster(self, X: NDArray) -> IntArray:
        if not self.recover:
            return super()._cluster(X)
        return recover_subspaces(
            unit_rows(X),
            self.affinity_matrix_,
            self.n_clusters,
            self._dimension(self.n_features_in_),
            self.epsilon,
            random_state=self.random_state,
        )


def collect_neighbors(
    X: FloatArray, k: int, d_max: int, tol: float, *, progress: Progress = no_progress
) -> sparse.csr_array:
    """NSN: row i has ones at the neighbours collected by i and at the points in its span.

    All-zero rows neither collect nor are collected.
    """
    n = X.shape[0]
    size = int(np.clip(BLOCK_BYTES // (8 * n), 16, 1024))
    zero = np.abs(X).max(axis=1) == 0.0
    rows: list[NDArray[np.int64]] = []
    columns: list[NDArray[np.int64]] = []
    for start in range(0, n, size):
        members = np.arange(start, min(start + size, n))
        members = members[~zero[members]]
        collected, energy = _grow_spans(X, members, zero, min(k, n - 1), d_max)
        found = collected >= 0
        rows.append(np.broadcast_to(members[:, None], collected.shape)[found])
        columns.append(collected[found])
        inside_row, inside = _spread(*np.nonzero(energy >= 1.0 - tol))
        rows.append(members[inside_row])
        columns.append(inside)
        progress(min(start + size, n), n)
    row, column = np.concatenate(rows), np.concatenate(columns)
    return sparse.coo_array((np.ones(row.size), (row, column)), shape=(n, n)).tocsr()


def _grow_spans(
    X: FloatArray, members: NDArray[np.int64], zero: BoolArray, k: int, d_max: int
) -> tuple[NDArray[np.int64], FloatArray]:
    """Collect for a block of points at once; energy is the squared projection of every point.

    Collected points have energy -inf so that they are not found twice.
    """
    size = members.size
    here = np.arange(size)
    spans = np.zeros((d_max, size, X.shape[1]))
    spans[0] = X[members]
    dimension = np.ones(size, dtype=np.int64)
    energy = np.square(X[members] @ X.T)
    energy[here, members] = -np.inf
    energy[:, zero] = -np.inf
    collected = np.full((size, k), -1, dtype=np.int64)
    for step in range(k):
        best = np.argmax(energy, axis=1)
        good = energy[here, best] > ORTHOGONAL
        if not good.any():
            break
        collected[good, step] = best[good]
        energy[here[good], best[good]] = -np.inf
        grow = np.flatnonzero(good & (dimension < d_max))
        if grow.size == 0:
            continue
        direction = X[best[grow]]
        for _ in range(2):  # twice is enough for orthogonality to rounding
            for t in range(int(dimension[grow].max())):
                basis = spans[t, grow]
                direction = direction - np.einsum("ij,ij->i", direction, basis)[:, None] * basis
        length = np.linalg.norm(direction, axis=1)
        wider = length > DEPENDENT
        grow, direction = grow[wider], direction[wider] / length[wider, None]
        spans[dimension[grow], grow] = direction
        dimension[grow] += 1
        energy[grow] += np.square(direction @ X.T)
    return collected, energy


def _spread(
    row: NDArray[np.int64], column: NDArray[np.int64]
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """At most MOST_IN_SPAN of the columns of each row, evenly spread with a shift by row."""
    counts = np.bincount(row) if row.size else np.zeros(0, dtype=np.int64)
    if counts.size == 0 or counts.max() <= MOST_IN_SPAN:
        return row, column
    first = np.concatenate([[0], np.cumsum(counts)[:-1]])
    position = np.arange(row.size) - first[row] + row
    stride = -(-counts // MOST_IN_SPAN)
    kept = position % stride[row] == 0
    return row[kept], column[kept]


def recover_subspaces(
    X: FloatArray,
    A: sparse.csr_array,
    n_clusters: int,
    dim: int,
    epsilon: float,
    *,
    random_state: int | np.random.RandomState | None = None,
) -> IntArray:
    """Greedy subspace recovery: label by the nearest of the subspaces that hold most points.

    A candidate is fitted to a point and its neighbours in `A`; of those that hold equally many of
    the points left, the one with more of their energy is taken.
    """
    n = X.shape[0]
    candidates = np.arange(n)
    if n > MOST_CANDIDATES:
        rng = check_random_state(random_state)
        candidates = np.sort(rng.choice(n, MOST_CANDIDATES, replace=False))
    lengths = np.zeros((candidates.size, n), dtype=np.float32)
    for c, i in enumerate(candidates):
        around = np.append(A.indices[A.indptr[i] : A.indptr[i + 1]], i)
        projected = X @ top_directions(X[around], dim)
        lengths[c] = np.sqrt(np.einsum("ij,ij->i", projected, projected))
    left = np.ones(n, dtype=bool)
    taken: list[int] = []
    for _ in range(n_clusters):
        remaining = lengths[:, left]
        held = (remaining >= 1.0 - epsilon).sum(axis=1)
        energy = np.square(remaining).sum(axis=1, dtype=np.float64)
        score = held + energy / (energy.max() * 2.0 + 1e-300)
        score[taken] = -1.0
        best = int(np.argmax(score))
        taken.append(best)
        left &= lengths[best] < 1.0 - epsilon
    return np.argmax(lengths[taken], axis=0).astype(np.intp)
