"""Robust principal components, and the two oracle classifiers that the paper compares with.

The oracles know the true labels: they show how far subspaces alone can tell the classes apart.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.exceptions import ConvergenceWarning
from threadpoolctl import threadpool_limits

from superpac.affinity.base import unit_rows
from superpac.array_types import FloatArray
from superpac.errors import InputError
from superpac.subspaces.geometry import cluster_dims, residuals, top_directions

_SMALL = 256


class RobustPCA(NamedTuple):
    """What :func:`robust_pca` found.

    Attributes
    ----------
    low_rank : ndarray of shape (n_samples, n_features)
        The low-rank part.
    sparse : ndarray of shape (n_samples, n_features)
        The sparse part; the two sum to the data within the tolerance.
    rank : int
        Rank of the low-rank part.
    n_iter : int
        Iterations done.
    gap : float
        Relative size of what the two parts leave unexplained.
    """

    low_rank: FloatArray
    sparse: FloatArray
    rank: int
    n_iter: int
    gap: float


def robust_pca(
    X: ArrayLike,
    lam: float | None = None,
    *,
    tol: float = 1e-7,
    max_iter: int = 500,
    growth: float = 1.5,
) -> RobustPCA:
    """Split a matrix into a low-rank and a sparse part by principal component pursuit.

    Solves ``min ||L||_* + lam ||S||_1  subject to  L + S = X`` [1]_ by the inexact augmented
    Lagrange multiplier method with the settings of its authors [2]_.

    Parameters
    ----------
    X : array-like of shape (n_samples, n_features)
        Points, one per row.
    lam : float, optional
        Weight of the sparse part; ``1 / sqrt(max(X.shape))`` by default, the value of [1]_.
    tol : float, default=1e-7
        Stop when ``||X - L - S||_F <= tol ||X||_F``.
    max_iter : int, default=500
        Most iterations; a ConvergenceWarning is given when they do not suffice.
    growth : float, default=1.5
        Factor of the penalty from one iteration to the next. Nearer to 1 is slower and comes
        nearer to the exact optimum; with the published 1.5 the objective is about 0.1% above it.

    Returns
    -------
    RobustPCA

    References
    ----------
    .. [1] E. Candes, X. Li, Y. Ma and J. Wright, "Robust principal component analysis?",
       Journal of the ACM 58, 2011.
    .. [2] Z. Lin, M. Chen and Y. Ma, "The augmented Lagrange multiplier method for exact recovery
       of corrupted low-rank matrices", UIUC technical report UILU-ENG-09-2215, 2009/2010.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> low = rng.normal(size=(60, 3)) @ rng.normal(size=(3, 80))
    >>> damaged = low + 10.0 * (rng.random((60, 80)) < 0.05)
    >>> found = robust_pca(damaged)
    >>> found.rank, bool(np.abs(found.low_rank - low).max() < 1e-3)
    (3, True)
    """
    data = _points(X)
    if lam is None:
        lam = 1.0 / np.sqrt(max(data.shape))
    if not lam > 0:
        raise InputError(
            f"The 'lam' parameter of robust_pca must be positive. Got {lam!r} instead."
        )
    if not tol > 0 or max_iter < 1 or not growth > 1:
        raise InputError(
            "The 'tol' and 'max_iter' parameters of robust_pca must be positive and 'growth' above "
            f"1. Got {tol!r}, {max_iter!r} and {growth!r} instead."
        )
    size = float(np.linalg.norm(data))
    if size == 0:
        return RobustPCA(np.zeros_like(data), np.zeros_like(data), 0, 0, 0.0)
    # On small matrices a second BLAS thread mostly waits, and on a busy machine it spins.
    with threadpool_limits(limits=1 if min(data.shape) <= _SMALL else None, user_api="blas"):
        result = _inexact_alm(data, size, lam, tol, max_iter, growth)
    if result.gap > tol:
        warnings.warn(
            f"robust_pca stopped after {max_iter} iterations with {result.gap:.1e} unexplained "
            f"(tol is {tol:g}); raise max_iter or tol.",
            ConvergenceWarning,
            stacklevel=2,
        )
    return result


def oracle_pca(
    X: ArrayLike, y: ArrayLike, dim: int | Sequence[int], *, unit: bool = False
) -> NDArray:
    """Label every point by the nearest of the subspaces fitted to the **true** classes [1]_.

    Parameters
    ----------
    X : array-like of shape (n_samples, n_features)
        Points, one per row.
    y : array-like of shape (n_samples,)
        True classes.
    dim : int or sequence of int
        Subspace dimension, the same for all classes or one per class in sorted order.
    unit : bool, default=False
        Scale points to unit length first; the paper does not.

    Returns
    -------
    ndarray of shape (n_samples,)
        Labels in the names of `y`; they differ from `y` where subspaces cannot tell.

    References
    ----------
    .. [1] J. Lipor and L. Balzano, "Leveraging union of subspace structure to improve constrained
       clustering", ICML 2017.

    Examples
    --------
    >>> X = np.array([[1.0, 0.0], [2.0, 0.1], [0.0, 1.0], [0.1, 3.0]])
    >>> oracle_pca(X, ["a", "a", "b", "b"], dim=1)
    array(['a', 'a', 'b', 'b'], dtype='<U1')
    """
    return _oracle(X, y, dim, unit, lambda points: points)


def oracle_robust_pca(
    X: ArrayLike,
    y: ArrayLike,
    dim: int | Sequence[int],
    *,
    unit: bool = False,
    lam: float | None = None,
    tol: float = 1e-7,
    max_iter: int = 500,
) -> NDArray:
    """:func:`oracle_pca` with bases from the low-rank part of each class (:func:`robust_pca`).

    Parameters
    ----------
    X : array-like of shape (n_samples, n_features)
        Points, one per row.
    y : array-like of shape (n_samples,)
        True classes.
    dim : int or sequence of int
        Subspace dimension, the same for all classes or one per class in sorted order.
    unit : bool, default=False
        Scale points to unit length first; the paper does not.
    lam, tol, max_iter
        As in :func:`robust_pca`.

    Returns
    -------
    ndarray of shape (n_samples,)
        Labels in the names of `y`.

    References
    ----------
    Lipor & Balzano, ICML 2017, who found it no better than oracle PCA.

    Examples
    --------
    >>> X = np.array([[1.0, 0.0], [2.0, 0.1], [0.0, 1.0], [0.1, 3.0]])
    >>> oracle_robust_pca(X, [7, 7, 4, 4], dim=1)
    array([7, 7, 4, 4])
    """
    return _oracle(
        X,
        y,
        dim,
        unit,
        lambda points: robust_pca(points, lam, tol=tol, max_iter=max_iter).low_rank,
    )


def _oracle(
    X: ArrayLike,
    y: ArrayLike,
    dim: int | Sequence[int],
    unit: bool,
    clean: Callable[[FloatArray], FloatArray],
) -> NDArray:
    points = _points(X)
    if unit:
        points = unit_rows(points)
    truth = np.asarray(y)
    if truth.shape != (points.shape[0],):
        raise InputError(
            f"There are {points.shape[0]} points but labels of shape {truth.shape}; "
            "give one label per point."
        )
    classes, codes = np.unique(truth, return_inverse=True)
    dims = cluster_dims(dim, classes.size)
    bases = [top_directions(clean(points[codes == k]), d) for k, d in enumerate(dims)]
    return classes[np.argmin(residuals(points, bases), axis=1)]


def _points(X: ArrayLike) -> FloatArray:
    points = np.asarray(X, dtype=np.float64)
    if points.ndim != 2 or points.size == 0:
        raise InputError(
            f"X must be a non-empty table of points, one per row. Got shape {points.shape} instead."
        )
    if not np.isfinite(points).all():
        raise InputError("X holds NaN or infinite values; drop or fill those points first.")
    return points


def _inexact_alm(
    data: FloatArray, size: float, lam: float, tol: float, max_iter: int, growth: float
) -> RobustPCA:
    spectral = float(np.linalg.norm(data, 2))
    dual = data / max(spectral, float(np.abs(data).max()) / lam)
    mu = 1.25 / spectral
    largest_mu = mu * 1e7
    low = np.zeros_like(data)
    rank, gap, done = 0, np.inf, 0
    while done < max_iter and gap > tol:
        sparse = _shrink(data - low + dual / mu, lam / mu)
        low, rank = _shrink_singular(data - sparse + dual / mu, 1 / mu)
        left_over = data - low - sparse
        dual += mu * left_over
        mu = min(growth * mu, largest_mu)
        gap = float(np.linalg.norm(left_over)) / size
        done += 1
    return RobustPCA(low, sparse, rank, done, gap)


def _shrink(values: FloatArray, by: float) -> FloatArray:
    return np.sign(values) * np.maximum(np.abs(values) - by, 0.0)


def _shrink_singular(matrix: FloatArray, by: float) -> tuple[FloatArray, int]:
    """Lower every singular value by `by`, not below 0; also the number left."""
    # From the eigenvectors of the smaller Gram matrix, many times cheaper than an SVD of a few
    # images of many pixels. What is lost is below 1e-8 of the largest value, under any useful tol.
    wide = matrix.shape[0] <= matrix.shape[1]
    gram = matrix @ matrix.T if wide else matrix.T @ matrix
    squares, vectors = np.linalg.eigh(gram)
    values = np.sqrt(np.maximum(squares, 0.0))
    kept = values > by
    vectors = vectors[:, kept]
    projector = (vectors * (1 - by / values[kept])) @ vectors.T
    return (projector @ matrix if wide else matrix @ projector), int(kept.sum())
