"""Ensemble K-subspaces."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numba import njit, prange
from numpy.typing import NDArray
from scipy import sparse

from superpac.affinity._kernels.top_k import insert
from superpac.affinity.base import AffinityEstimator, Progress, unit_rows
from superpac.affinity.ksubspaces import (
    Dim,
    check_dim,
    resolve_dims,
    run_seeds,
    side_by_side,
)
from superpac.affinity.parameters import integer
from superpac.affinity.tsc import default_q
from superpac.array_types import FloatArray
from superpac.graph.sparse_graph import rows_to_matrix, tidy


@dataclass(repr=False, eq=False, kw_only=True)
class EKSS(AffinityEstimator):
    """Ensemble K-subspaces (EKSS): the share of short K-subspaces runs that put points together.

    Parameters
    ----------
    n_clusters : int, default=8
        Number of clusters.
    dim : int, sequence of int or None
        Dimension of the subspaces, as in :class:`~superpac.affinity.KSubspaces`.
    n_runs : int, default=100
        K-subspaces runs from random subspaces (B in the paper, which uses up to 1,000).
    n_iter : int, default=3
        Iterations per run.
    q : int, optional
        Largest entries kept per row and per column; None: as :class:`~superpac.affinity.TSC`, but
        at least 10, because shares of few runs are often equal.
    random_state : int, RandomState or None
        Seed of the runs and of the spectral step.
    n_jobs : int or None
        Threads; None or -1 uses all.

    Attributes
    ----------
    affinity_matrix_ : scipy.sparse.csr_array of shape (n_samples, n_samples)
    labels_ : ndarray of shape (n_samples,)

    References
    ----------
    J. Lipor, D. Hong, Y. S. Tan and L. Balzano, "Subspace clustering using ensembles of
    K-subspaces", Information and Inference 10(1), 2021.

    Examples
    --------
    >>> from superpac.data.synthetic import make_subspaces
    >>> X, y = make_subspaces(20, 2, 2, 12, seed=0)
    >>> A = EKSS(n_clusters=2, dim=2, n_runs=20, random_state=0).affinity(X)
    >>> bool(0 < A.max() <= 1)
    True
    """

    dim: Dim = None
    n_runs: int = integer(100)
    n_iter: int = integer(3)
    q: int | None = integer(None, optional=True)

    def _check_parameters(self, n_samples: int, n_features: int) -> None:
        super()._check_parameters(n_samples, n_features)
        check_dim(self, n_features)

    def _graph(self, X: FloatArray, progress: Progress) -> sparse.csr_array:
        X = unit_rows(X)
        n = X.shape[0]
        dims = resolve_dims(self.dim, self.n_clusters, X.shape)
        starts = [("random", int(s)) for s in run_seeds(self.random_state, self.n_runs)]
        runs = [run[0] for run in side_by_side(X, dims, starts, self.n_iter, progress)]
        table = np.stack(runs, axis=1).astype(np.uint16 if self.n_clusters > 256 else np.uint8)
        q = min(max(10, default_q(n, self.n_clusters)) if self.q is None else int(self.q), n - 1)
        indices, counts = top_together(table, q)
        Z = rows_to_matrix(indices, counts / self.n_runs, n)
        return tidy((Z + Z.T) / 2.0)


def top_together(table: NDArray, q: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """For each point the `q` others that most runs put into its cluster, and in how many they did.

    Row i of `table` has the label of point i in each run. Where fewer were ever together with a
    point, the index is -1.
    """
    n = table.shape[0]
    indices = np.full((n, q), -1, dtype=np.int64)
    keys = np.zeros((n, q), dtype=np.int64)
    _count_together(np.ascontiguousarray(table), indices, keys)
    return indices, keys >> 16


@njit(cache=True, parallel=True)
def _count_together(table: NDArray, indices: NDArray, keys: NDArray) -> None:
    """Fill each row's best indices; a key is the count of runs above 16 bits that decide ties."""
    n, runs = table.shape
    q = keys.shape[1]
    for unsigned in prange(n):
        i = np.int64(unsigned)  # prange counts unsigned, and unsigned with signed turns to float
        for j in range(n):
            together = 0
            for b in range(runs):
                together += table[i, b] == table[j, b]
            if together == 0 or i == j:
                continue
            # equal counts are decided by a fixed scramble of the pair: deciding by index would join
            # everybody to the same few points
            low, high = (i, j) if i < j else (j, i)
            scramble = (low * 2654435761 + high * 40503) & 0xFFFFFFFF
            scramble = ((scramble ^ (scramble >> 15)) * 2246822519) & 0xFFFFFFFF
            key = (together << 16) | ((scramble >> 13) & 0xFFFF)
            if key > keys[i, q - 1]:
                insert(keys[i], indices[i], key, j)
