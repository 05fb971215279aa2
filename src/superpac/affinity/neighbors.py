"""Neighbourhood graphs for data without subspace structure."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.neighbors import NearestNeighbors

from superpac.affinity.base import AffinityEstimator, Progress
from superpac.affinity.parameters import flag, integer
from superpac.array_types import FloatArray
from superpac.graph.sparse_graph import rows_to_matrix, tidy


@dataclass(repr=False, eq=False, kw_only=True)
class KNNGraph(AffinityEstimator):
    """Symmetric k-nearest-neighbour graph with weights 1 (Euclidean distance, exact).

    Parameters
    ----------
    n_clusters : int, default=8
        Number of clusters.
    k : int, default=10
        Neighbours per point.
    mutual : bool, default=False
        False joins two points when either is among the other's neighbours, True when both are.
    standardize : bool, default=False
        Scale every feature to zero mean and unit variance first; wise for features in different
        units.
    random_state : int, RandomState or None
        Seed of the spectral step; the graph itself is deterministic.
    n_jobs : int or None
        Threads; None or -1 uses all.

    Attributes
    ----------
    affinity_matrix_ : scipy.sparse.csr_array of shape (n_samples, n_samples)
    labels_ : ndarray of shape (n_samples,)

    References
    ----------
    U. von Luxburg, "A tutorial on spectral clustering", Statistics and Computing 17(4), 2007.

    Examples
    --------
    >>> A = KNNGraph(n_clusters=1, k=1).affinity(np.array([[0.0], [1.0], [3.0]]))
    >>> A.toarray().astype(int).tolist()
    [[0, 1, 0], [1, 0, 1], [0, 1, 0]]
    """

    k: int = integer(10)
    mutual: bool = flag()
    standardize: bool = flag()

    def _graph(self, X: FloatArray, progress: Progress) -> sparse.csr_array:
        _, indices = nearest_neighbors(X, self.k, standardize=self.standardize)
        Z = rows_to_matrix(indices, np.ones(indices.shape), X.shape[0])
        progress(X.shape[0], X.shape[0])
        return tidy(Z.minimum(Z.T) if self.mutual else Z.maximum(Z.T))


@dataclass(repr=False, eq=False, kw_only=True)
class RBFGraph(AffinityEstimator):
    """Gaussian affinity with a local scale, on the support of a k-nearest-neighbour graph.

    ``A_ij = exp(-|x_i - x_j|^2 / (s_i s_j))`` where ``s_i`` is the distance of x_i to its
    `scale`-th neighbour, for pairs of which one is among the other's `k` nearest. Where that
    distance is 0 (repeated points) the smallest positive neighbour distance stands in.

    Parameters
    ----------
    n_clusters : int, default=8
        Number of clusters.
    k : int, default=20
        Neighbours per point that get an entry.
    scale : int, default=7
        Which neighbour sets the local scale, as in the paper.
    standardize : bool, default=False
        Scale every feature to zero mean and unit variance first; wise for features in different
        units.
    random_state : int, RandomState or None
        Seed of the spectral step; the graph itself is deterministic.
    n_jobs : int or None
        Threads; None or -1 uses all.

    Attributes
    ----------
    affinity_matrix_ : scipy.sparse.csr_array of shape (n_samples, n_samples)
    labels_ : ndarray of shape (n_samples,)

    References
    ----------
    L. Zelnik-Manor and P. Perona, "Self-tuning spectral clustering", NIPS 2004.

    Examples
    --------
    >>> A = RBFGraph(n_clusters=1, k=1, scale=1).affinity(np.array([[0.0], [1.0], [3.0]]))
    >>> A.toarray().round(3).tolist()
    [[0.0, 0.368, 0.0], [0.368, 0.0, 0.135], [0.0, 0.135, 0.0]]
    """

    k: int = integer(20)
    scale: int = integer(7)
    standardize: bool = flag()

    def _graph(self, X: FloatArray, progress: Progress) -> sparse.csr_array:
        n = X.shape[0]
        distances, indices = nearest_neighbors(
            X, max(self.k, self.scale), standardize=self.standardize
        )
        progress(n // 2, n)
        scales = local_scales(distances, self.scale)
        k = min(self.k, n - 1)
        distances, indices = distances[:, :k], indices[:, :k]
        exponent = np.square(distances) / (scales[:, None] * scales[indices])
        Z = rows_to_matrix(indices, np.exp(-exponent), n)
        progress(n, n)
        return tidy(Z.maximum(Z.T))


def nearest_neighbors(
    X: FloatArray, k: int, *, standardize: bool = False
) -> tuple[FloatArray, NDArray[np.int64]]:
    """Relative distances and indices of each point's `k` nearest others, nearest first."""
    # centred and divided by the largest entry, which changes no order and keeps squares of very
    # large or very small numbers in range
    X = X / max(float(np.abs(X).max()), np.finfo(float).tiny)
    X = X - X.mean(axis=0)
    if standardize:
        spread = X.std(axis=0)
        X = X / np.where(spread > 0, spread, 1.0)
    top = float(np.abs(X).max())
    X = X / (top if top > 0 else 1.0)
    search = NearestNeighbors(n_neighbors=min(k, X.shape[0] - 1)).fit(X)
    distances, indices = search.kneighbors()  # without an argument a point is not its own neighbour
    return distances, indices.astype(np.int64)


def local_scales(distances: FloatArray, scale: int) -> FloatArray:
    """Distance to the `scale`-th neighbour, always positive (see :class:`RBFGraph`)."""
    chosen = distances[:, min(scale, distances.shape[1]) - 1].copy()
    positive = np.where(distances > 0, distances, np.inf).min(axis=1)
    overall = positive[np.isfinite(positive)]
    fallback = float(overall.min()) if overall.size else 1.0
    positive[~np.isfinite(positive)] = fallback
    return np.where(chosen > 0, chosen, positive)
