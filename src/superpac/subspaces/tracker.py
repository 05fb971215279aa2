"""Subspaces that follow a changing labelling: only clusters whose members changed are refitted."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike
from scipy.linalg import eigh

from superpac.array_types import FloatArray, IntArray
from superpac.subspaces.geometry import (
    cluster_dims,
    margins,
    rooted,
    subspace_cost,
    top_directions,
)
from superpac.subspaces.second_moments import SecondMoment
from superpac.system.progress import Progress, no_progress

MOMENT_BYTES = 400_000_000  # second moments are kept only while they fit in this
REFRESH = 64  # a running second moment is summed afresh after this many updates


class SubspaceTracker:
    """Bases, residuals and margins of the current clusters.

    Parameters
    ----------
    X : ndarray of shape (n, D)
        Points.
    n_clusters : int
        Number of clusters.
    dim : int or sequence of int
        Subspace dimension, the same for all or one per cluster.

    Attributes
    ----------
    residuals : ndarray of shape (n, n_clusters)
        Distance of every point to every cluster's subspace.
    margins : ndarray of shape (n,)
        Margin of every point.
    labels : ndarray of shape (n,)
        The labelling they belong to.

    References
    ----------
    Lipor & Balzano, ICML 2017.

    Examples
    --------
    >>> import numpy as np
    >>> X = np.array([[1.0, 0], [2, 0], [0, 1], [0, 3]])
    >>> SubspaceTracker(X, 2, 1).update([0, 0, 1, 1]).residuals
    array([[0., 1.],
           [0., 2.],
           [1., 0.],
           [3., 0.]])
    """

    def __init__(self, X: FloatArray, n_clusters: int, dim: int | Sequence[int]) -> None:
        self.X = _shortened(np.asarray(X, dtype=np.float64))
        self.n_clusters = n_clusters
        self.dims = cluster_dims(dim, n_clusters)
        n, ambient = self.X.shape
        self.labels: IntArray = np.full(n, -1, dtype=np.intp)
        self.residuals = np.zeros((n, n_clusters))
        self.margins = np.zeros(n)
        self._squared = np.einsum("ij,ij->i", self.X, self.X)
        self._moments: dict[int, SecondMoment] = {}
        self._may_keep = n_clusters * ambient * ambient * 8 <= MOMENT_BYTES

    def update(self, labels: ArrayLike, progress: Progress = no_progress) -> SubspaceTracker:
        """Follow a new labelling: 0 to ``n_clusters - 1``, other points are in no cluster."""
        new = np.asarray(labels, dtype=np.intp)
        changed = np.flatnonzero(new != self.labels)
        if changed.size == 0:
            return self
        old, self.labels = self.labels, new.copy()
        touched = np.union1d(old[changed], new[changed])
        if (old == -1).all():
            touched = np.arange(self.n_clusters)
        touched = touched[(touched >= 0) & (touched < self.n_clusters)]
        for at, k in enumerate(touched, 1):
            U = self._basis(int(k), old, changed)
            inner = self.X @ U
            left = self._squared - np.einsum("ij,ij->i", inner, inner)
            self.residuals[:, k] = rooted(left, self._squared)
            progress(at, touched.size)
        self.margins = margins(self.residuals)
        return self

    def residual(self, item: int, other: int) -> float:
        """Distance of a point to the subspace of another's cluster; the largest where it has none.

        Examples
        --------
        >>> import numpy as np
        >>> tracker = SubspaceTracker(np.array([[1.0, 0], [0, 1]]), 2, 1).update([0, 1])
        >>> tracker.residual(0, 1)
        1.0
        """
        label, row = int(self.labels[other]), self.residuals[item]
        return float(row[label] if 0 <= label < row.size else row.max())

    def cost(self) -> float:
        """K-subspaces cost of the current labelling."""
        return subspace_cost(self.residuals, self.labels)

    def _basis(self, k: int, old: IntArray, changed: IntArray) -> FloatArray:
        """Leading directions of cluster `k`, from its second moment where that is the smaller."""
        members = np.flatnonzero(self.labels == k)
        if members.size < self.X.shape[1] or not self._may_keep:
            self._moments.pop(k, None)
            return top_directions(self.X[members], self.dims[k])
        moment = self._moments.get(k)
        if moment is None or moment.updates >= REFRESH:
            moment = SecondMoment.of(self.X, members)
        else:
            came, left = changed[self.labels[changed] == k], changed[old[changed] == k]
            moment = moment.after(self.X, members, came, left)
        self._moments[k] = moment
        return _leading(moment.matrix, self.dims[k])


def _shortened(X: FloatArray) -> FloatArray:
    """Same points in coordinates of their span: a rotation, so that all residuals stay.

    640 faces of 2,016 pixels lie in 640 dimensions; every product is then a third as long.
    """
    if 2 * X.shape[0] > X.shape[1]:
        return X
    r = np.asarray(np.linalg.qr(X.T, mode="r"))
    return np.ascontiguousarray(r.T)


def _leading(moment: FloatArray, dim: int) -> FloatArray:
    """Top eigenvectors of a second moment; fewer where its rank is smaller."""
    size = moment.shape[0]
    values, vectors = eigh(moment, subset_by_index=[max(size - dim, 0), size - 1])
    keep = values > size * np.finfo(float).eps * max(values[-1], 0.0)
    return vectors[:, keep][:, ::-1]
