"""An affinity that somebody already has."""

from __future__ import annotations

import os
import zipfile
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.utils import Tags
from sklearn.utils.validation import validate_data

from superpac.affinity._kernels.top_k import tidy
from superpac.affinity.base import (
    AffinityEstimator,
    FloatArray,
    Progress,
    check_real,
    no_progress,
)
from superpac.errors import InputError


class Precomputed(AffinityEstimator):
    """A given affinity in the place of a computed one.

    Parameters
    ----------
    n_clusters : int, default=8
        Number of clusters.
    matrix : array-like, sparse matrix, path or None
        The affinity, or a ``.npy`` / ``.npz`` file of one (dense, or as ``scipy.sparse.save_npz``
        writes it). None: what is passed to ``fit`` and ``affinity`` is the affinity itself.
    tol : float, default=1e-6
        Largest difference between A and A' relative to the largest entry. Within it the mean
        ``(A + A') / 2`` is taken; beyond it the matrix is refused.
    random_state : int, RandomState or None
        Seed of the spectral step.
    n_jobs : int or None
        Threads; None or -1 uses all.

    Attributes
    ----------
    affinity_matrix_ : scipy.sparse.csr_array of shape (n_samples, n_samples)
        Symmetric, with a zero diagonal whatever diagonal was given.
    labels_ : ndarray of shape (n_samples,)

    References
    ----------
    U. von Luxburg, "A tutorial on spectral clustering", Statistics and Computing 17(4), 2007.

    Examples
    --------
    >>> A = np.kron(np.eye(2), np.ones((3, 3)))
    >>> Precomputed(n_clusters=2, random_state=0).fit(A).affinity_matrix_.nnz
    12
    """

    def __init__(
        self,
        n_clusters: int = 8,
        *,
        matrix: Any = None,
        tol: float = 1e-6,
        random_state: int | np.random.RandomState | None = None,
        n_jobs: int | None = None,
    ) -> None:
        self.n_clusters = n_clusters
        self.matrix = matrix
        self.tol = tol
        self.random_state = random_state
        self.n_jobs = n_jobs

    def __sklearn_tags__(self) -> Tags:
        """Say that sparse and, without `matrix`, square non-negative input is expected."""
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = self.matrix is None
        tags.input_tags.pairwise = self.matrix is None
        tags.input_tags.positive_only = self.matrix is None
        return tags

    def affinity(self, X: Any, *, progress: Progress = no_progress) -> sparse.csr_array:
        """Check the given affinity and put it into the form used everywhere.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features) or (n_samples, n_samples)
            The points the matrix belongs to (only their number is looked at), or the affinity
            itself where `matrix` is None.
        progress : callable, optional
            Called once, at the end.

        Returns
        -------
        scipy.sparse.csr_array of shape (n_samples, n_samples)
            Symmetric, non-negative, with a zero diagonal.
        """
        check_real(self, "tol", low=0, high=1)
        own = self.matrix is None
        X = validate_data(
            self,
            X,
            dtype=np.float64,
            ensure_min_samples=2,
            accept_sparse="csr" if own else False,
        )
        self._check_parameters(X)
        A = check_affinity(X if own else self.matrix, tol=self.tol)
        if A.shape[0] != X.shape[0]:
            raise InputError(
                f"The precomputed affinity must have one row for each of the {X.shape[0]} points. "
                f"Got {A.shape[0]} rows instead; build it from the same points in the same order."
            )
        progress(A.shape[0], A.shape[0])
        return A

    def _graph(self, X: FloatArray, progress: Progress) -> sparse.csr_array:
        return self.affinity(X, progress=progress)


def read_affinity(path: str | os.PathLike[str]) -> NDArray | sparse.csr_array:
    """Read an affinity from a ``.npy`` or ``.npz`` file; nothing pickled is ever loaded.

    Parameters
    ----------
    path : path
        A dense ``.npy``, a ``.npz`` with one dense array (or one named ``affinity`` or ``A``), or
        a sparse matrix written by ``scipy.sparse.save_npz``.

    Returns
    -------
    ndarray or scipy.sparse.csr_array
    """
    file = Path(path)
    if not file.is_file():
        raise InputError(f"The affinity file {str(file)!r} does not exist; check the path.")
    try:
        held = np.load(file, allow_pickle=False)
        if isinstance(held, np.ndarray):
            return held
        with held:
            names = held.files
            if {"format", "shape", "data"} <= set(names):
                return sparse.csr_array(sparse.load_npz(file))
            name = next((n for n in ("affinity", "A") if n in names), None)
            if name is None and len(names) == 1:
                name = names[0]
            if name is not None:
                return held[name]
    except (ValueError, OSError, EOFError, KeyError, zipfile.BadZipFile):
        raise InputError(
            f"The affinity file {str(file)!r} must be a .npy array or a .npz written by "
            "numpy.savez or scipy.sparse.save_npz; it could not be read as either."
        ) from None
    raise InputError(
        f"The affinity file {str(file)!r} must hold one array, or one named 'affinity' or 'A'. "
        f"Got {', '.join(names) or 'none'} instead."
    )


def check_affinity(matrix: Any, *, tol: float = 1e-6) -> sparse.csr_array:
    """Validate a matrix as an affinity and give it as CSR, symmetric, with a zero diagonal.

    Parameters
    ----------
    matrix : array-like, sparse matrix or path
        What was given.
    tol : float, default=1e-6
        See :class:`Precomputed`.

    Returns
    -------
    scipy.sparse.csr_array

    Examples
    --------
    >>> check_affinity([[1.0, 2.0], [2.0, 1.0]]).toarray().tolist()
    [[0.0, 2.0], [2.0, 0.0]]
    """
    if isinstance(matrix, (str, os.PathLike)):
        matrix = read_affinity(matrix)
    if not sparse.issparse(matrix):
        matrix = np.asarray(matrix)
    if matrix.ndim != 2 or matrix.shape[0] != matrix.shape[1] or matrix.shape[0] < 2:
        raise InputError(
            f"An affinity must be a square matrix of at least 2 x 2. Got shape {matrix.shape} "
            "instead."
        )
    if matrix.dtype.kind not in "biuf":
        raise InputError(f"An affinity must hold real numbers. Got type {matrix.dtype} instead.")
    A = sparse.csr_array(matrix, dtype=np.float64)
    A.sum_duplicates()
    if not np.isfinite(A.data).all():
        raise InputError("An affinity must be finite. Got NaN or infinity; replace it by 0.")
    if A.nnz and A.data.min() < 0:
        raise InputError(
            f"Negative values in data: an affinity must be non-negative. Got {A.data.min():g}; "
            "take absolute values first."
        )
    A = tidy(A)
    top = float(A.data.max()) if A.nnz else 0.0
    if top > 0:
        gap = abs(A / top - A.T / top)
        worst = float(gap.data.max()) if gap.nnz else 0.0
        if worst > tol:
            raise InputError(
                f"An affinity must be symmetric. Got entries that differ from their mirror image "
                f"by up to {worst:.2g} of the largest; pass A + A.T, or raise tol."
            )
        if worst > 0:
            A = tidy(A / 2.0 + A.T / 2.0)
    return A
