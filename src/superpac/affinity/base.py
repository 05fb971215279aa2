"""What every affinity estimator shares: validation, unit rows, threads, labels."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import numba
import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.base import BaseEstimator, ClusterMixin
from sklearn.utils.validation import validate_data
from threadpoolctl import threadpool_limits

from superpac.array_types import FloatArray
from superpac.errors import InputError
from superpac.graph.spectral import spectral_clustering

Progress = Callable[[int, int], None]


def no_progress(done: int, total: int) -> None:
    """Ignore progress; the default of every ``progress`` argument."""


def unit_rows(X: NDArray) -> FloatArray:
    """Scale every row to unit length; all-zero rows stay zero."""
    X = np.asarray(X, dtype=np.float64)
    scale = np.abs(X).max(axis=1, keepdims=True, initial=0.0)
    scaled = X / np.where(
        scale > 0, scale, 1.0
    )  # first by the largest entry: 1e300 squared overflows
    norms = np.linalg.norm(scaled, axis=1, keepdims=True)
    return scaled / np.where(norms > 0, norms, 1.0)


@contextmanager
def use_threads(n_jobs: int | None) -> Iterator[int]:
    """Limit Numba and BLAS to `n_jobs` threads (None or -1: all) and give the number used."""
    available = numba.config.NUMBA_NUM_THREADS  # type: ignore[attr-defined]
    if n_jobs is None or n_jobs == -1:
        wanted = available
    elif n_jobs >= 1:
        wanted = min(int(n_jobs), available)
    else:
        raise InputError(
            "The 'n_jobs' parameter must be None, -1 or a positive integer. "
            f"Got {n_jobs!r} instead."
        )
    before = numba.get_num_threads()
    numba.set_num_threads(wanted)
    try:
        with threadpool_limits(limits=wanted):
            yield wanted
    finally:
        numba.set_num_threads(before)


class AffinityEstimator(ClusterMixin, BaseEstimator):
    """Base of the affinity estimators.

    A subclass stores its parameters in ``__init__`` and implements :meth:`_graph`. The parameters
    ``n_clusters``, ``random_state`` and ``n_jobs`` exist in every subclass.
    """

    n_clusters: int
    random_state: int | np.random.RandomState | None
    n_jobs: int | None

    @abstractmethod
    def _graph(self, X: FloatArray, progress: Progress) -> sparse.csr_array:
        """Affinity of validated points: symmetric, non-negative, zero diagonal, CSR."""

    def affinity(self, X: NDArray, *, progress: Progress = no_progress) -> sparse.csr_array:
        """Build the affinity matrix alone, without clustering it.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Points, one a row.
        progress : callable, optional
            Called as ``progress(done, total)`` while the work goes on; raising from it cancels.

        Returns
        -------
        scipy.sparse.csr_array of shape (n_samples, n_samples)
            Symmetric, non-negative, with a zero diagonal.
        """
        X = validate_data(self, X, dtype=np.float64, ensure_min_samples=2)
        self._check_parameters(X)
        with use_threads(self.n_jobs):
            return _short_indices(self._graph(X, progress))

    def fit(self, X: NDArray, y: object = None) -> AffinityEstimator:
        """Build the affinity matrix of `X` and cluster it spectrally.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Points, one a row.
        y : ignored
            Present for API consistency.

        Returns
        -------
        self : object
            With ``affinity_matrix_`` and ``labels_``.
        """
        self.affinity_matrix_ = self.affinity(X)
        self.labels_ = spectral_clustering(
            self.affinity_matrix_, self.n_clusters, random_state=self.random_state
        )
        return self

    def _check_parameters(self, X: FloatArray) -> None:
        """Raise InputError for a parameter value that is not allowed; subclasses extend it.

        Only ``X.shape`` may be looked at: parameters are also checked before there is any data.
        """
        check_integer(self, "n_clusters", minimum=1)
        if self.n_clusters > X.shape[0]:
            raise InputError(
                f"The 'n_clusters' parameter of {type(self).__name__} must be at most n_samples = "
                f"{X.shape[0]}. Got {self.n_clusters} instead."
            )


def _short_indices(A: sparse.csr_array) -> sparse.csr_array:
    """Give 32-bit indices where they suffice: scikit-learn takes no others."""
    if A.nnz < np.iinfo(np.int32).max and A.indices.dtype != np.int32:
        A.indices, A.indptr = A.indices.astype(np.int32), A.indptr.astype(np.int32)
    return A


def check_integer(estimator: BaseEstimator, name: str, *, minimum: int) -> None:
    """Raise InputError unless parameter `name` is an integer of at least `minimum`."""
    value = getattr(estimator, name)
    if isinstance(value, bool) or not isinstance(value, (int, np.integer)) or value < minimum:
        raise InputError(
            f"The {name!r} parameter of {type(estimator).__name__} must be an integer of at least "
            f"{minimum}. Got {value!r} instead."
        )


def check_real(
    estimator: BaseEstimator,
    name: str,
    *,
    low: float,
    high: float = np.inf,
    low_open: bool = False,
    high_open: bool = False,
) -> None:
    """Raise InputError unless parameter `name` is a real number in the interval given."""
    value = getattr(estimator, name)
    good = isinstance(value, (int, float, np.integer, np.floating)) and not isinstance(value, bool)
    if good:
        good = (value > low if low_open else value >= low) and (
            value < high if high_open else value <= high
        )
    if not good:
        interval = f"{'(' if low_open else '['}{low:g}, {high:g}{')' if high_open else ']'}"
        raise InputError(
            f"The {name!r} parameter of {type(estimator).__name__} must be a number in {interval}. "
            f"Got {value!r} instead."
        )
