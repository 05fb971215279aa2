"""What every affinity estimator shares: validation, unit rows, threads, labels."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager

import numba
import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.base import BaseEstimator, ClusterMixin
from sklearn.utils.validation import validate_data

from superpac.array_types import FloatArray, IntArray
from superpac.errors import InputError
from superpac.graph.spectral import spectral_clustering
from superpac.threads import limit_threads

Progress = Callable[[int, int], None]


def no_progress(done: int, total: int) -> None:
    """Ignore progress; the default of every ``progress`` argument."""


def unit_rows(X: NDArray) -> FloatArray:
    """Scale every row to unit length; all-zero rows stay zero."""
    X = np.asarray(X, dtype=np.float64)
    scale = np.abs(X).max(axis=1, keepdims=True, initial=0.0)
    # first by the largest entry: 1e300 squared overflows
    scaled = X / np.where(scale > 0, scale, 1.0)
    norms = np.linalg.norm(scaled, axis=1, keepdims=True)
    return scaled / np.where(norms > 0, norms, 1.0)


def use_threads(n_jobs: int | None) -> AbstractContextManager[None]:
    """Limit Numba and BLAS to `n_jobs` threads; None or -1 gives all there are."""
    available = numba.config.NUMBA_NUM_THREADS  # type: ignore[attr-defined]
    return limit_threads(available if n_jobs in (None, -1) else min(int(n_jobs or 1), available))


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
            Points, one per row.
        progress : callable, optional
            Called as ``progress(done, total)`` while the work goes on; raising from it cancels.

        Returns
        -------
        scipy.sparse.csr_array of shape (n_samples, n_samples)
            Symmetric, non-negative, with a zero diagonal.
        """
        X = validate_data(self, X, dtype=np.float64, ensure_min_samples=2)
        self._check_parameters(*X.shape)
        with use_threads(self.n_jobs):
            return _short_indices(self._graph(X, progress))

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
        """Raise InputError for a parameter value that is not allowed; subclasses extend it."""
        check_integer(self, "n_clusters", minimum=1)
        if self.n_clusters > n_samples:
            raise parameter_error(self, "n_clusters", f"at most n_samples = {n_samples}")
        if self.n_jobs not in (None, -1) and not _is_integer(self.n_jobs, minimum=1):
            raise parameter_error(self, "n_jobs", "None, -1 or a positive integer")


def _short_indices(A: sparse.csr_array) -> sparse.csr_array:
    """Give 32-bit indices where they suffice: scikit-learn takes no others."""
    if A.nnz < np.iinfo(np.int32).max and A.indices.dtype != np.int32:
        A.indices, A.indptr = A.indices.astype(np.int32), A.indptr.astype(np.int32)
    return A


def parameter_error(estimator: BaseEstimator, name: str, allowed: str) -> InputError:
    """Put the sentence together that refuses the value of a parameter."""
    return InputError(
        f"The {name!r} parameter of {type(estimator).__name__} must be {allowed}. "
        f"Got {getattr(estimator, name)!r} instead."
    )


def _is_integer(value: object, minimum: int) -> bool:
    """Whether a value is a whole number of at least `minimum`; truth values are not numbers."""
    whole = isinstance(value, (int, np.integer)) and not isinstance(value, bool)
    return whole and value >= minimum  # type: ignore[operator]


def check_integer(
    estimator: BaseEstimator, name: str, *, minimum: int, optional: bool = False
) -> None:
    """Raise InputError unless a parameter is an integer of at least `minimum` (or None)."""
    value = getattr(estimator, name)
    if not (_is_integer(value, minimum) or (optional and value is None)):
        either = "None or " if optional else ""
        raise parameter_error(estimator, name, f"{either}an integer of at least {minimum}")


def check_real(
    estimator: BaseEstimator,
    name: str,
    *,
    low: float,
    high: float = np.inf,
    low_open: bool = False,
    high_open: bool = False,
) -> None:
    """Raise InputError unless a parameter is a real number in the interval given."""
    value = getattr(estimator, name)
    good = isinstance(value, (int, float, np.integer, np.floating)) and not isinstance(value, bool)
    if good:
        good = (value > low if low_open else value >= low) and (
            value < high if high_open else value <= high
        )
    if not good:
        interval = f"{'(' if low_open else '['}{low:g}, {high:g}{')' if high_open else ']'}"
        raise parameter_error(estimator, name, f"a number in {interval}")


def check_flag(estimator: BaseEstimator, name: str) -> None:
    """Raise InputError unless a parameter is True or False, also written as 1 or 0."""
    value = getattr(estimator, name)
    if not (isinstance(value, (bool, int, np.bool_, np.integer)) and value in (0, 1)):
        raise parameter_error(estimator, name, "True or False")


def check_choice(estimator: BaseEstimator, name: str, choices: Sequence[str]) -> None:
    """Raise InputError unless a parameter is one of a few words."""
    value = getattr(estimator, name)
    if not (isinstance(value, str) and value in choices):
        raise parameter_error(estimator, name, f"one of {', '.join(choices)}")
