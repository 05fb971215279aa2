"""How good a clustering or an affinity is, measured against true labels; aligning two labellings.

Measures are for people and experiments: none of them feeds a strategy.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import sparse
from scipy.optimize import linear_sum_assignment
from scipy.sparse.csgraph import connected_components
from scipy.sparse.linalg import LinearOperator, eigsh

from superpac.array_types import FloatArray, IntArray
from superpac.errors import InputError

_DENSE_LIMIT = 600  # below this a full symmetric eigensolve is faster than Lanczos, and exact


class Connectivity(NamedTuple):
    """Connectivity of each class in a graph, as returned by :func:`connectivity`.

    Attributes
    ----------
    minimum : float
        Smallest value over the classes of two or more points; nan where there is none.
    mean : float
        Mean over the same classes.
    classes : ndarray of float
        One value per class, in sorted order of the labels; nan for a class of one point.
    """

    minimum: float
    mean: float
    classes: FloatArray


def contingency(y_true: ArrayLike, y_pred: ArrayLike) -> IntArray:
    """Count the points of each pair of (true class, predicted cluster).

    Parameters
    ----------
    y_true, y_pred : array-like of shape (n_samples,)
        Labels of any sortable kind.

    Returns
    -------
    ndarray of int of shape (n_classes, n_clusters)
        Rows and columns in sorted order of the labels that occur.

    Examples
    --------
    >>> contingency([0, 0, 1, 1], [5, 5, 5, 9])
    array([[2, 0],
           [1, 1]])
    """
    true, pred = _label_pair(y_true, y_pred)
    rows, cols = _codes(true), _codes(pred)
    return _table(rows, cols)


def clustering_error(y_true: ArrayLike, y_pred: ArrayLike) -> float:
    """Misclassification rate after the best one-to-one matching of clusters to classes.

    The matching is found by the Hungarian method [1]_. The numbers of classes and clusters may
    differ: the points of a cluster that finds no partner all count as wrong.

    Parameters
    ----------
    y_true, y_pred : array-like of shape (n_samples,)
        True classes and estimated clusters.

    Returns
    -------
    float
        Share of wrong points, in [0, 1); exactly 0 when the partitions are equal.

    References
    ----------
    .. [1] H. W. Kuhn, "The Hungarian method for the assignment problem", Naval Research
       Logistics Quarterly 2, 1955.

    Examples
    --------
    >>> clustering_error([0, 0, 1, 1], [1, 1, 0, 0])
    0.0
    >>> clustering_error([0, 0, 1, 1], [7, 7, 7, 7])
    0.5
    """
    table = contingency(y_true, y_pred)
    rows, cols = linear_sum_assignment(table, maximize=True)
    total = int(table.sum())
    return (total - int(table[rows, cols].sum())) / total


def align_labels(labels: ArrayLike, reference: ArrayLike) -> IntArray:
    """Rename clusters so that as many points as possible have the label of the reference.

    Parameters
    ----------
    labels, reference : array-like of int of shape (n_samples,)
        Clusters to rename, and the classes or earlier clusters to name them after.

    Returns
    -------
    ndarray of int of shape (n_samples,)
        The partition of `labels` in the names of `reference`. Clusters that find no partner get
        the lowest numbers that the reference does not use, so that none is merged with another.

    Examples
    --------
    >>> align_labels([8, 8, 3, 8], [0, 0, 1, 1])
    array([0, 0, 1, 0])
    >>> align_labels([5, 5, 5, 9], [0, 0, 0, 0])
    array([0, 0, 0, 1])
    """
    given, wanted = _label_pair(labels, reference, "labels", "reference")
    if given.dtype.kind not in "iub" or wanted.dtype.kind not in "iub":
        raise InputError(
            f"align_labels needs whole-number labels. Got {given.dtype} and {wanted.dtype} "
            "instead; number the labels, for example with np.unique(labels, return_inverse=True)."
        )
    codes, taken = _codes(given), np.unique(wanted).astype(np.intp)
    table = _table(codes, _codes(wanted))
    matched, partner = linear_sum_assignment(table, maximize=True)
    alone = np.setdiff1d(np.arange(table.shape[0]), matched)
    names = np.empty(table.shape[0], dtype=np.intp)
    names[matched] = taken[partner]
    names[alone] = np.setdiff1d(np.arange(taken.size + alone.size), taken)[: alone.size]
    return names[codes]


def adjusted_rand(y_true: ArrayLike, y_pred: ArrayLike) -> float:
    """Adjusted Rand index: agreement on pairs of points, corrected for chance [1]_.

    Parameters
    ----------
    y_true, y_pred : array-like of shape (n_samples,)
        Two labellings; the order does not matter.

    Returns
    -------
    float
        1 for equal partitions, about 0 for unrelated ones, never below -0.5.

    References
    ----------
    .. [1] L. Hubert and P. Arabie, "Comparing partitions", Journal of Classification 2, 1985.

    Examples
    --------
    >>> adjusted_rand([0, 0, 1, 1], [1, 1, 0, 0])
    1.0
    """
    table = contingency(y_true, y_pred)
    n = int(table.sum())
    # Python integers: the product of two pair counts overflows 64 bits from about 80,000 points.
    both = int((table * table).sum()) - n
    in_true = int((table.sum(axis=1) ** 2).sum()) - n
    in_pred = int((table.sum(axis=0) ** 2).sum()) - n
    pairs = n * (n - 1)
    numerator = 2 * (both * pairs - in_true * in_pred)
    denominator = (in_true + in_pred) * pairs - 2 * in_true * in_pred
    return 1.0 if denominator == 0 else numerator / denominator


def normalized_mutual_info(y_true: ArrayLike, y_pred: ArrayLike) -> float:
    """Mutual information of two labellings over the mean of their entropies [1]_.

    Parameters
    ----------
    y_true, y_pred : array-like of shape (n_samples,)
        Two labellings; the order does not matter.

    Returns
    -------
    float
        In [0, 1]; 1 for equal partitions. Two labellings of one cluster each count as equal.

    References
    ----------
    .. [1] N. X. Vinh, J. Epps and J. Bailey, "Information theoretic measures for clusterings
       comparison", JMLR 11, 2010 (NMI with the arithmetic mean).

    Examples
    --------
    >>> normalized_mutual_info([0, 0, 1, 1], [1, 1, 0, 0])
    1.0
    >>> normalized_mutual_info([0, 0, 1, 1], [0, 1, 0, 1])
    0.0
    """
    table = contingency(y_true, y_pred)
    if table.shape == (1, 1):
        return 1.0
    n = table.sum()
    entropy_true = _entropy(table.sum(axis=1), n)
    entropy_pred = _entropy(table.sum(axis=0), n)
    information = entropy_true + entropy_pred - _entropy(table.ravel(), n)
    if information < 1e-14 * max(entropy_true + entropy_pred, 1.0):
        return 0.0
    return float(min(2 * information / (entropy_true + entropy_pred), 1.0))


def connectivity(affinity: Any, y: ArrayLike) -> Connectivity:
    """How well each class hangs together in the affinity graph.

    For each class, the second smallest eigenvalue of the normalised Laplacian of its subgraph
    (its algebraic connectivity [1]_). It is 0 exactly when the class falls into several pieces,
    which no spectral clustering can then join; this is the measure of [2]_.

    Parameters
    ----------
    affinity : array or sparse matrix of shape (n_samples, n_samples)
        Symmetric, non-negative.
    y : array-like of shape (n_samples,)
        True classes.

    Returns
    -------
    Connectivity
        ``minimum`` and ``mean`` over the classes, and the value of each in ``classes``.

    References
    ----------
    .. [1] M. Fiedler, "Algebraic connectivity of graphs", Czech. Math. J. 23, 1973.
    .. [2] C. You, D. Robinson and R. Vidal, "Scalable sparse subspace clustering by orthogonal
       matching pursuit", CVPR 2016.

    Examples
    --------
    >>> A = np.ones((6, 6)) - np.eye(6)
    >>> connectivity(A, [0, 0, 0, 1, 1, 1]).minimum
    1.5
    """
    graph = _square(affinity)
    codes = _codes(_labels(y, "y"))
    _same_length(graph.shape[0], codes.size)
    order = np.argsort(codes, kind="stable")
    bounds = np.concatenate([[0], np.cumsum(np.bincount(codes))])
    values = np.array(
        [
            _second_eigenvalue(graph[members][:, members])
            for members in (order[a:b] for a, b in zip(bounds[:-1], bounds[1:], strict=True))
        ]
    )
    known = values[~np.isnan(values)]
    if known.size == 0:
        return Connectivity(float("nan"), float("nan"), values)
    return Connectivity(float(known.min()), float(known.mean()), values)


def subspace_preserving_error(weights: Any, y: ArrayLike) -> float:
    """Mean share of a point's l1 weight that lies on points of other classes [1]_.

    Parameters
    ----------
    weights : array or sparse matrix of shape (n_samples, n_samples)
        Coefficients (row i holds those of point i; signs do not matter) or an affinity.
    y : array-like of shape (n_samples,)
        True classes.

    Returns
    -------
    float
        In [0, 1]: 0 when every point is linked to its own class alone. Points without any weight
        are left out; nan when no point has any.

    References
    ----------
    .. [1] C. You, D. Robinson and R. Vidal, "Scalable sparse subspace clustering by orthogonal
       matching pursuit", CVPR 2016.

    Examples
    --------
    >>> C = np.array([[0.0, -3.0, 1.0], [1.0, 0.0, 0.0], [0.0, 0.0, 0.0]])
    >>> subspace_preserving_error(C, [0, 0, 1])
    0.125
    """
    matrix = sparse.coo_array(_square(weights))
    codes = _codes(_labels(y, "y"))
    n = codes.size
    _same_length(matrix.shape[0], n)
    rows, cols = matrix.coords
    size = np.abs(matrix.data)
    total = np.bincount(rows, weights=size, minlength=n)
    outside = np.bincount(rows, weights=size * (codes[rows] != codes[cols]), minlength=n)
    linked = total > 0
    if not linked.any():
        return float("nan")
    return float(np.mean(outside[linked] / total[linked]))


def _labels(y: ArrayLike, name: str) -> NDArray:
    """Check one label per point, none of them missing."""
    labels = np.asarray(y)
    if labels.ndim != 1 or labels.size == 0:
        raise InputError(
            f"{name} must be a non-empty one-dimensional array of labels. "
            f"Got an array of shape {labels.shape} instead."
        )
    if labels.dtype.kind == "f" and not np.isfinite(labels).all():
        raise InputError(
            f"{name} holds NaN or infinite labels; give every point a label, or drop the others."
        )
    return labels


def _label_pair(
    first: ArrayLike, second: ArrayLike, first_name: str = "y_true", second_name: str = "y_pred"
) -> tuple[NDArray, NDArray]:
    """Check that two labellings are of the same points."""
    one, two = _labels(first, first_name), _labels(second, second_name)
    if one.size != two.size:
        raise InputError(
            f"{first_name} and {second_name} must label the same points. "
            f"Got {one.size} and {two.size} labels."
        )
    return one, two


def _codes(labels: NDArray) -> IntArray:
    """Number the labels 0, 1, ... in sorted order; small integers without sorting them."""
    if labels.dtype.kind in "iub":
        low, high = int(labels.min()), int(labels.max())
        if high - low <= 4 * labels.size + 1024:
            codes = labels.astype(np.intp) - low
            present = np.bincount(codes) > 0
            return codes if present.all() else (np.cumsum(present) - 1)[codes]
    try:
        return np.unique(labels, return_inverse=True)[1].astype(np.intp)
    except TypeError as error:
        raise InputError(
            "The labels mix kinds that cannot be compared; use all numbers or all text."
        ) from error


def _table(rows: IntArray, cols: IntArray) -> IntArray:
    """Points of each pair of codes."""
    shape = int(rows.max()) + 1, int(cols.max()) + 1
    return np.bincount(rows * shape[1] + cols, minlength=shape[0] * shape[1]).reshape(shape)


def _entropy(counts: NDArray, total: int) -> float:
    share = counts[counts > 0] / total
    return float(-np.sum(share * np.log(share)))


def _square(matrix: Any) -> sparse.csr_array:
    result = sparse.csr_array(matrix)
    if result.ndim != 2 or result.shape[0] != result.shape[1]:
        raise InputError(
            f"The affinity must be a square matrix. Got an array of shape {result.shape} instead."
        )
    return result


def _same_length(points: int, labels: int) -> None:
    if points != labels:
        raise InputError(
            f"The matrix has {points} points but there are {labels} labels; "
            "give one label per point."
        )


def _second_eigenvalue(graph: sparse.csr_array) -> float:
    """Second smallest eigenvalue of I - D^-1/2 A D^-1/2."""
    n = graph.shape[0]
    if n < 2:
        return float("nan")
    if connected_components(graph, directed=False)[0] > 1:
        return 0.0
    root = np.sqrt(np.asarray(graph.sum(axis=1)).ravel())
    scaled = sparse.csr_array(graph / root[:, None] / root[None, :])
    if n <= _DENSE_LIMIT:
        return float(1 - np.linalg.eigvalsh(scaled.toarray())[-2])
    # The first eigenvector is known: moving its eigenvalue from 1 to -1 leaves the wanted one on
    # top, where Lanczos does not have to tell two crowded values apart.
    first = root / np.linalg.norm(root)
    operator = LinearOperator(
        (n, n), matvec=lambda v: scaled @ v - 2 * first * (first @ v), dtype=np.float64
    )
    start = np.random.default_rng(0).standard_normal(n)
    value = eigsh(operator, k=1, which="LA", v0=start, ncv=40, tol=1e-8, return_eigenvectors=False)
    return float(1 - value[0])
