"""What every affinity estimator shares: validation, unit rows, threads, labels."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager
from dataclasses import KW_ONLY, dataclass
from typing import ClassVar

import numba
import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.base import BaseEstimator, ClusterMixin
from sklearn.utils.validation import validate_data

from superpac.affinity.parameters import (
    check_declared,
    integer,
    is_integer,
    parameter,
    parameter_error,
)
from superpac.array_types import FloatArray, IntArray
from superpac.device.choice import DEVICES, HOST, Device, choose_device
from superpac.errors import InputError
from superpac.graph.spectral import Seed, spectral_clustering
from superpac.system.progress import Progress, no_progress
from superpac.system.row_blocks import HERE, RowBlocks
from superpac.system.threads import limit_threads

SINGLE_FROM = 10_000_000
"""Numbers in the data from which copies of it are in single precision: memory for half of them."""

UNIT_BLOCK = 512  # rows scaled at a time: few enough to stay near the processor


def unit_rows(X: NDArray, dtype: type[np.floating] = np.float64) -> FloatArray:
    """Scale every row to unit length; all-zero rows stay zero."""
    X = np.asarray(X)
    out: FloatArray = np.empty(X.shape, dtype)

    def scale(start: int) -> None:
        # first by the largest entry: 1e300 squared overflows
        scaled = _divided(np.asarray(X[start : start + UNIT_BLOCK], dtype=np.float64), _largest)
        out[start : start + UNIT_BLOCK] = _divided(scaled, _lengths)

    starts = range(0, X.shape[0], UNIT_BLOCK)
    threads = numba.get_num_threads() if X.size > SINGLE_FROM else 1
    if threads == 1:
        for start in starts:
            scale(start)
    else:  # NumPy leaves the processor to others while it works on a block
        with ThreadPoolExecutor(threads) as pool:
            for _ in pool.map(scale, starts):
                pass
    return out


def _divided(rows: FloatArray, by: Callable[[FloatArray], FloatArray]) -> FloatArray:
    """Rows divided by a number of each; a row of zeros stays."""
    scale = by(rows)
    return rows / np.where(scale > 0, scale, 1.0)


def _largest(rows: FloatArray) -> FloatArray:
    return np.abs(rows).max(axis=1, keepdims=True, initial=0.0)


def _lengths(rows: FloatArray) -> FloatArray:
    return np.linalg.norm(rows, axis=1, keepdims=True)


def use_threads(n_jobs: int | None) -> AbstractContextManager[None]:
    """Limit Numba and BLAS to `n_jobs` threads; None or -1 gives all there are."""
    available = numba.config.NUMBA_NUM_THREADS  # type: ignore[attr-defined]
    return limit_threads(available if n_jobs in (None, -1) else min(int(n_jobs or 1), available))


@dataclass(repr=False, eq=False)
class AffinityEstimator(ClusterMixin, BaseEstimator):
    """Base of the affinity estimators.

    A subclass is a dataclass whose fields are its parameters, each declared with the values that it
    may have (:mod:`superpac.affinity.parameters`), and implements :meth:`_graph`. The parameters
    ``n_clusters``, ``random_state`` and ``n_jobs`` exist in every subclass.
    """

    n_clusters: int = integer(8)
    _: KW_ONLY
    random_state: Seed = None
    n_jobs: int | None = parameter(
        None,
        "None, -1 or a positive integer",
        lambda v: v is None or (is_integer(v) and (v == -1 or v >= 1)),
    )

    by_rows: ClassVar[bool] = False  # whether rows can be worked on apart, as on a cluster
    _where: ClassVar[RowBlocks] = HERE

    @abstractmethod
    def _graph(self, X: FloatArray, progress: Progress) -> sparse.csr_array:
        """Affinity of validated points: symmetric, non-negative, zero diagonal, CSR."""

    def affinity(
        self, X: NDArray, *, progress: Progress = no_progress, where: RowBlocks = HERE
    ) -> sparse.csr_array:
        """Build the affinity matrix alone, without clustering it.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Points, one per row.
        progress : callable, optional
            Called as ``progress(done, total)`` while the work goes on; raising from it cancels.
        where : RowBlocks, default=HERE
            Where blocks of rows are worked on, such as a
            :class:`~superpac.system.cluster.Cluster`, for methods whose `by_rows` is true.

        Returns
        -------
        scipy.sparse.csr_array of shape (n_samples, n_samples)
            Symmetric, non-negative, with a zero diagonal.
        """
        if where is not HERE:
            self.check_by_rows()
        self._where = where  # type: ignore[misc]
        try:
            kind = "numeric" if np.ndim(X) == 2 and self._by_blocks(*np.shape(X)) else np.float64
            X = validate_data(self, X, dtype=kind, ensure_min_samples=2)
            self._check_parameters(*X.shape)
            with use_threads(self.n_jobs):
                return _short_indices(self._graph(X, progress))
        finally:
            del self._where

    def _by_blocks(self, points: int, numbers: int) -> bool:
        """Whether points are brought to double precision block by block, and not all at once."""
        named = getattr(self, "device", None) in DEVICES
        return named and self._device(points) is not HOST

    def _device(self, points: int) -> Device:
        """Device that computes; the processor for methods that know no other."""
        name = getattr(self, "device", None)
        if name is None:
            return HOST
        if self._where is HERE:
            return choose_device(name, points)
        if name == "cuda":
            raise InputError(
                "A Dask cluster shares work among processors; leave out --dask or device=cuda."
            )
        return HOST

    @classmethod
    def check_by_rows(cls) -> None:
        """Refuse to be spread over a cluster where all rows depend on each other."""
        if not cls.by_rows:
            raise InputError(
                f"{cls.__name__} looks at all points at once, so a Dask cluster cannot share its "
                "work; choose tsc, ssc-omp or ensc, or leave --dask out."
            )

    def fit(self, X: NDArray, y: object = None) -> AffinityEstimator:
        """Build the affinity matrix of `X` and cluster it.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Points, one per row.
        y : ignored
            Present for API consistency.

        Returns
        -------
        self : object
            With ``affinity_matrix_`` and ``labels_``.
        """
        self.affinity_matrix_ = self.affinity(X)
        self.labels_ = self._cluster(X)
        return self

    def _cluster(self, X: NDArray) -> IntArray:
        """Label the points of the affinity just built: spectrally, unless a method knows better."""
        return spectral_clustering(
            self.affinity_matrix_,
            self.n_clusters,
            random_state=self.random_state,
            check_input=False,
        )

    def _check_parameters(self, n_samples: int, n_features: int) -> None:
        """Raise InputError for a value that is not allowed, by itself or for data of this size."""
        check_declared(self)
        if self.n_clusters > n_samples:
            raise parameter_error(self, "n_clusters", f"at most n_samples = {n_samples}")


def _short_indices(A: sparse.csr_array) -> sparse.csr_array:
    """Give 32-bit indices where they suffice: scikit-learn takes no others."""
    if A.nnz < np.iinfo(np.int32).max and A.indices.dtype != np.int32:
        A.indices, A.indptr = A.indices.astype(np.int32), A.indptr.astype(np.int32)
    return A
