"""Geometry of a union of subspaces: bases, residuals, margins, cost, angles, dimension.

All subspaces pass through the origin (uncentred), as in Lipor & Balzano, "Leveraging Union of
Subspace Structure to Improve Constrained Clustering", ICML 2017.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike
from scipy.linalg import eigh

from superpac.array_types import FloatArray, IntArray
from superpac.device.arrays import Array, like, to_host
from superpac.errors import InputError
from superpac.system.progress import Progress, no_progress
from superpac.system.row_blocks import blocks_of

BLOCK = 16_384  # points brought to double precision at a time
ROUNDING = 1e-13  # share of a squared length that a difference of such squares cannot tell from 0
# Leading vectors of a second moment on a graphics processor:
GUARD = 12  # vectors beside those wanted of a second moment: they part sooner
POWERS, ROUNDS = 6, 30  # products between two looks, and looks at most
RESIDUAL = {"torch.float32": 2e-6, "torch.float64": 1e-11}


def cluster_dims(dim: int | Sequence[int], n_clusters: int) -> list[int]:
    """One dimension per cluster from a single number or a sequence of `n_clusters` of them."""
    given = np.atleast_1d(np.asarray(dim))
    dims = [int(d) for d in (np.repeat(given, n_clusters) if np.ndim(dim) == 0 else given)]
    if len(dims) != n_clusters or min(dims, default=1) < 1:
        raise InputError(
            f"The subspace dimension must be a positive integer or {n_clusters} of them, one per "
            f"cluster. Got {dim!r} instead."
        )
    return dims


def top_directions(X: FloatArray, dim: int) -> FloatArray:
    """Orthonormal basis (D, r) of the `dim` leading right singular directions of the rows of `X`.

    r is the smaller of `dim` and the numerical rank. The smaller of the two Gram matrices is
    decomposed, so the cost is min(n, D)^2 max(n, D).
    """
    n, ambient = X.shape
    wanted = min(dim, n, ambient)
    if wanted == 0:
        return np.zeros((ambient, 0))
    gram = X @ X.T if n < ambient else X.T @ X
    size = gram.shape[0]
    values, vectors = eigh(gram, subset_by_index=[size - wanted, size - 1], check_finite=False)
    values, vectors = values[::-1], vectors[:, ::-1]
    rank = int(np.sum(values > max(n, ambient) * np.finfo(float).eps * max(values[0], 0.0)))
    if rank == 0:
        return np.zeros((ambient, 0))
    vectors = vectors[:, :rank]
    return np.linalg.qr(X.T @ vectors)[0] if n < ambient else vectors


def leading_there(moment: Array, dim: int) -> Array:
    """Leading eigenvectors of a second moment on a graphics processor, smallest of them first.

    By powers of it on a block of vectors, always from the same ones, so that the result does not
    depend on what was asked before. A whole decomposition there takes several times as long. In
    double precision, in which more powers can be taken between two of the slow steps.
    """
    import torch

    size = moment.shape[0]
    width = min(dim + GUARD, size)
    draw = torch.Generator(moment.device).manual_seed(0)
    start = torch.randn((size, width), generator=draw, device=moment.device, dtype=torch.float64)
    scaled = moment.double()
    scaled = scaled / scaled.diagonal().sum().clamp(min=1e-30)  # no power of it overflows
    precise = RESIDUAL[str(moment.dtype)]
    for _ in range(ROUNDS):
        for _ in range(POWERS):
            start = scaled @ start
        V = torch.linalg.qr(start)[0]
        start = scaled @ V
        values, turn = np.linalg.eigh(to_host(V.T @ start))
        values, turn = values[-dim:], turn[:, -dim:]
        turn = like(turn, V)
        apart = (start @ turn - (V @ turn) * like(values, V)).norm(dim=0)
        if float(apart.max()) <= precise * max(float(values[-1]), 1e-30):
            return (V @ turn).to(moment.dtype)
    return torch.linalg.eigh(moment)[1][:, -dim:]


def fit_bases(
    X: ArrayLike, labels: ArrayLike, n_clusters: int, dim: int | Sequence[int]
) -> list[FloatArray]:
    """Basis of each cluster: its leading directions through the origin.

    Parameters
    ----------
    X : array-like of shape (n, D)
        Points.
    labels : array-like of shape (n,)
        Cluster of each point, 0 to ``n_clusters - 1``; other values are in no cluster.
    n_clusters : int
        Number of clusters.
    dim : int or sequence of int
        Subspace dimension, the same for all or one per cluster.

    Returns
    -------
    list of ndarray of shape (D, r_k)
        Orthonormal columns; r_k is at most `dim` and the rank of the cluster's points (0 if empty).

    References
    ----------
    Bradley & Mangasarian, "k-plane clustering", J. Global Optimization 16, 2000.

    Examples
    --------
    >>> import numpy as np
    >>> X = np.array([[1.0, 0.0, 0.0], [2.0, 0.0, 0.0], [0.0, 0.0, 3.0]])
    >>> [U.shape for U in fit_bases(X, [0, 0, 1], 2, dim=2)]
    [(3, 1), (3, 1)]
    """
    points = np.asarray(X, dtype=np.float64)
    members = np.asarray(labels)
    return [
        top_directions(points[members == k], d) for k, d in enumerate(cluster_dims(dim, n_clusters))
    ]


def residuals(X: ArrayLike, bases: Sequence[FloatArray]) -> FloatArray:
    """Distance of every point to every subspace.

    Parameters
    ----------
    X : array-like of shape (n, D)
        Points.
    bases : sequence of ndarray of shape (D, r_k)
        Orthonormal bases; rank 0 is the origin.

    Returns
    -------
    ndarray of shape (n, K)
        ``sqrt(max(|x|^2 - |U_k' x|^2, 0))``.

    Examples
    --------
    >>> import numpy as np
    >>> residuals(np.array([[3.0, 4.0]]), [np.array([[1.0], [0.0]]), np.zeros((2, 0))])
    array([[4., 5.]])
    """
    points = np.asarray(X, dtype=np.float64)
    squared = np.einsum("ij,ij->i", points, points)
    kept = np.zeros((points.shape[0], len(bases)))
    ranks = np.array([U.shape[1] for U in bases])
    filled = [int(k) for k in np.flatnonzero(ranks)]
    if filled:
        inner = points @ np.concatenate([bases[k] for k in filled], axis=1)
        starts = np.concatenate([[0], np.cumsum(ranks[filled])[:-1]])
        kept[:, filled] = np.add.reduceat(inner * inner, starts, axis=1)
    return rooted(squared[:, None] - kept, squared[:, None])


def rooted(left: FloatArray, squared: FloatArray) -> FloatArray:
    """Distances from what is left of squared lengths; what rounding alone leaves counts as 0.

    Points in a subspace would otherwise be ranked by their rounding errors, which depend on how
    its basis was reached.
    """
    return np.sqrt(np.where(left > ROUNDING * squared, left, 0.0))


def margins(distances: ArrayLike) -> FloatArray:
    """Subspace margin of every point: one minus closest over second-closest distance.

    Parameters
    ----------
    distances : array-like of shape (n, K)
        From :func:`residuals`.

    Returns
    -------
    ndarray of shape (n,)
        In [0, 1]; 0 on a decision boundary, also where both distances are 0. With one subspace
        there is no boundary and every margin is 1.

    References
    ----------
    Lipor & Balzano, ICML 2017, equation (1).

    Examples
    --------
    >>> margins([[1.0, 2.0, 4.0], [0.0, 0.0, 1.0]])
    array([0.5, 0. ])
    """
    table = np.asarray(distances, dtype=np.float64)
    if table.shape[1] < 2:
        return np.ones(table.shape[0])
    two = np.partition(table, 1, axis=1)[:, :2]
    ratio = np.divide(two[:, 0], two[:, 1], out=np.ones(len(two)), where=two[:, 1] > 0)
    return 1.0 - ratio


def subspace_cost(distances: ArrayLike, labels: ArrayLike) -> float:
    """K-subspaces cost: the sum of squared residuals of the points to their own cluster.

    Parameters
    ----------
    distances : array-like of shape (n, K)
        From :func:`residuals`.
    labels : array-like of shape (n,)
        Cluster of each point.

    Returns
    -------
    float

    Examples
    --------
    >>> subspace_cost([[1.0, 2.0], [3.0, 0.5]], [0, 1])
    1.25
    """
    table = np.asarray(distances, dtype=np.float64)
    own = table[np.arange(table.shape[0]), np.asarray(labels)]
    return float(own @ own)


def principal_angles(U: ArrayLike, V: ArrayLike) -> FloatArray:
    """Principal angles between the spans of two orthonormal bases, smallest first, in radians.

    Small angles are taken from sines, large ones from cosines, so that both ends are accurate.

    Parameters
    ----------
    U, V : array-like of shape (D, r)
        Orthonormal columns.

    Returns
    -------
    ndarray of shape (min(r_U, r_V),)

    References
    ----------
    Bjorck & Golub, "Numerical methods for computing angles between linear subspaces", 1973.

    Examples
    --------
    >>> import numpy as np
    >>> np.rad2deg(principal_angles([[1.0], [0.0]], [[1.0], [1.0]] / np.sqrt(2))).round(6)
    array([45.])
    """
    first, second = np.asarray(U, dtype=np.float64), np.asarray(V, dtype=np.float64)
    if first.shape[1] < second.shape[1]:
        first, second = second, first
    if second.shape[1] == 0:
        return np.zeros(0)
    inner = first.T @ second
    cosines = np.clip(np.linalg.svd(inner, compute_uv=False), 0.0, 1.0)
    sines = np.clip(np.linalg.svd(second - first @ inner, compute_uv=False), 0.0, 1.0)[::-1]
    return np.where(cosines**2 < 0.5, np.arccos(cosines), np.arcsin(sines))


def dim_work(X: FloatArray, n_clusters: int) -> float:
    """Nanoseconds that :func:`choose_dim` is likely to take, about, to tell progress by."""
    n, ambient = X.shape
    return n * ambient * (0.1 * ambient + 5.0 * n_clusters)


def choose_dim(
    X: ArrayLike,
    labels: ArrayLike,
    n_clusters: int,
    *,
    max_dim: int = 20,
    seed: int = 0,
    progress: Progress = no_progress,
) -> int:
    """Choose one subspace dimension from the data and a first clustering, without truth.

    Every cluster is split in two halves; bases from one half measure the points of the other. A
    dimension too small leaves points far from their own subspace, one too large brings the other
    subspaces near: the smallest dimension wins whose mean margin between own and nearest other
    subspace is within a tenth of the widest.

    Parameters
    ----------
    X : array-like of shape (n, D)
        Points.
    labels : array-like of shape (n,)
        A first clustering.
    n_clusters : int
        Number of clusters.
    max_dim : int, default=20
        Largest dimension tried.
    seed : int, default=0
        Of the split.
    progress : callable, optional
        Called as ``progress(done, total)`` with parts of the work; raising from it cancels.

    Returns
    -------
    int
        Between 1 and `max_dim`.

    References
    ----------
    Lipor & Balzano, ICML 2017, for the margin; the choice by held-out margin is this project's.

    Examples
    --------
    >>> import numpy as np
    >>> rng = np.random.default_rng(0)
    >>> y = np.repeat([0, 1], 40)
    >>> X = np.concatenate([rng.normal(size=(40, 3)) @ rng.normal(size=(3, 30)) for _ in (0, 1)])
    >>> choose_dim(X + 0.01 * rng.normal(size=X.shape), y, 2)
    3
    """
    points, members = np.asarray(X), np.asarray(labels)
    half = np.zeros(points.shape[0], dtype=np.intp)
    rng = np.random.default_rng(seed)
    for k in range(n_clusters):
        inside = rng.permutation(np.flatnonzero(members == k))
        half[inside[: inside.size // 2]] = 1
    tested = [np.flatnonzero((half == side) & (members >= 0)) for side in (0, 1)]
    total = 2 * n_clusters + sum(len(blocks_of(test.size, BLOCK)) for test in tested)
    gain, done = np.zeros(max_dim), 0
    for side, test in enumerate(tested):
        bases = []
        for k in range(n_clusters):
            train = points[(half != side) & (members == k)].astype(np.float64, copy=False)
            bases.append(top_directions(train, max_dim))
            progress(done := done + 1, total)
        for block in blocks_of(test.size, BLOCK):
            rows = test[block.start : block.stop]
            gain += _gains(
                points[rows].astype(np.float64, copy=False), members[rows], bases, max_dim
            )
            progress(done := done + 1, total)
    return int(np.flatnonzero(gain >= gain.max() - 0.1 * abs(gain.max()))[0]) + 1


def _gains(
    points: FloatArray, members: IntArray, bases: Sequence[FloatArray], max_dim: int
) -> FloatArray:
    """Sum of some points' margins between own and nearest other subspace, for each dimension."""
    kept = np.zeros((points.shape[0], len(bases), max_dim))
    for k, U in enumerate(bases):
        if U.shape[1]:
            power = np.cumsum((points @ U) ** 2, axis=1)
            kept[:, k, : U.shape[1]] = power
            kept[:, k, U.shape[1] :] = power[:, -1:]
    squared = np.einsum("ij,ij->i", points, points)
    distance = np.sqrt(np.maximum(squared[:, None, None] - kept, 0.0))
    rows = np.arange(points.shape[0])
    own = distance[rows, members].copy()
    distance[rows, members] = np.inf
    other = distance.min(axis=1) if len(bases) > 1 else np.ones_like(own)
    larger = np.maximum(own, other)
    gains = np.divide(other - own, larger, out=np.zeros_like(own), where=larger > 0)
    return np.asarray(gains.sum(axis=0))
