"""An affinity that somebody already has."""

from __future__ import annotations

import os
import zipfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.utils import Tags
from sklearn.utils.validation import validate_data

from superpac.affinity.base import AffinityEstimator, Progress, no_progress
from superpac.affinity.parameters import real
from superpac.array_types import FloatArray
from superpac.data.arrays import check_arrays
from superpac.data.limits import check_size
from superpac.errors import DataError, InputError
from superpac.graph.spectral import SYMMETRY, check_affinity
from superpac.system.row_blocks import HERE, RowBlocks


@dataclass(repr=False, eq=False, kw_only=True)
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

    matrix: Any = None
    tol: float = real(SYMMETRY, "[0, 1]")

    def __sklearn_tags__(self) -> Tags:
        """Say that sparse and, without `matrix`, square non-negative input is expected."""
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = self.matrix is None
        tags.input_tags.pairwise = self.matrix is None
        tags.input_tags.positive_only = self.matrix is None
        return tags

    def affinity(
        self, X: Any, *, progress: Progress = no_progress, where: RowBlocks = HERE
    ) -> sparse.csr_array:
        """Check the given affinity and put it into the form used everywhere.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features) or (n_samples, n_samples)
            The points the matrix belongs to (only their number is looked at), or the affinity
            itself where `matrix` is None.
        progress : callable, optional
            Called once, at the end.
        where : RowBlocks, default=HERE
            Not used: there is nothing to compute.

        Returns
        -------
        scipy.sparse.csr_array of shape (n_samples, n_samples)
            Symmetric, non-negative, with a zero diagonal.
        """
        own = self.matrix is None
        X = validate_data(
            self,
            X,
            dtype=np.float64,
            ensure_min_samples=2,
            accept_sparse="csr" if own else False,
        )
        self._check_parameters(*X.shape)
        A = check_affinity(X if own else _matrix(self.matrix), tol=self.tol)
        if A.shape[0] != X.shape[0]:
            raise InputError(
                f"The precomputed affinity must have one row for each of the {X.shape[0]} points. "
                f"Got {A.shape[0]} rows instead; build it from the same points in the same order."
            )
        progress(A.shape[0], A.shape[0])
        return A

    def _graph(self, X: FloatArray, progress: Progress) -> sparse.csr_array:
        return self.affinity(X, progress=progress)


def _matrix(given: Any) -> Any:
    """Read a matrix where a file was named."""
    return read_affinity(given) if isinstance(given, (str, os.PathLike)) else given


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
        check_arrays(file)
        held = np.load(file, allow_pickle=False)
        if isinstance(held, np.ndarray):
            return held
        with held:
            names = held.files
            if {"format", "shape", "data"} <= set(names):
                # sides of a matrix of few entries cost nothing until rows are counted
                check_size(max(held["shape"].ravel().tolist(), default=0), 16, str(file))
                return sparse.csr_array(sparse.load_npz(file))
            name = next((n for n in ("affinity", "A") if n in names), None)
            if name is None and len(names) == 1:
                name = names[0]
            if name is not None:
                return held[name]
    except DataError:
        raise
    except (ValueError, TypeError, OSError, EOFError, KeyError, zipfile.BadZipFile):
        raise InputError(
            f"The affinity file {str(file)!r} must be a .npy array or a .npz written by "
            "numpy.savez or scipy.sparse.save_npz; it could not be read as either."
        ) from None
    raise InputError(
        f"The affinity file {str(file)!r} must hold one array, or one named 'affinity' or 'A'. "
        f"Got {', '.join(names) or 'none'} instead."
    )
