"""Two further views of the current sets beside diffusion: their subspaces, and a kernel vote.

Both say of every point how well each set's current members - certain and estimated - explain it,
the point itself left out: a wrong point must not vouch for itself. Each keeps one column a set and
refreshes only sets whose members changed. Which sets are refreshed is settled by the members alone;
a column is computed when it is read, so going through many answers computes few.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import cholesky, eigh, solve_triangular

from superpac.array_types import BoolArray, FloatArray, IntArray
from superpac.subspaces.geometry import top_directions

LANDMARKS = 1000
RIDGE = 0.1
NEIGHBOUR = 7  # the kernel's width is the distance to this neighbour, as in self-tuning clustering
LEVERAGE = 0.95
LARGE = 10_000_000  # numbers; points beyond are kept in single precision, too
EXACT = 2  # sets of so many times the dimension are small: leaving one out is computed in full


class View(ABC):
    """Columns, one a set, that follow a labelling.

    Parameters
    ----------
    n : int
        Number of points.
    """

    def __init__(self, n: int) -> None:
        self.n = n
        self.clear()

    def clear(self) -> None:
        """Drop all sets."""
        self._columns: dict[int, FloatArray] = {}
        self._masks: dict[int, BoolArray] = {}
        self._sums: dict[int, NDArray[Any]] = {}

    def save(self) -> tuple[dict[int, NDArray[Any]], ...]:
        """What :meth:`restore` takes; no array is changed in place, so they are shared."""
        return dict(self._columns), dict(self._masks), dict(self._sums)

    def restore(self, saved: tuple[dict[int, NDArray[Any]], ...]) -> None:
        """Go back to what was saved."""
        self._columns, self._masks, self._sums = (dict(part) for part in saved)

    def update(self, labels: IntArray, keys: Sequence[int], limit: int) -> None:
        """Refresh the columns whose members changed most, at most `limit` beside new sets.

        Parameters
        ----------
        labels : ndarray of shape (n,)
            The set, by key, that each point is estimated to be in.
        keys : sequence of int
            The sets.
        limit : int
            Refreshes; a column not refreshed stays a little behind until its turn comes.
        """
        now = set(keys)
        for key in [key for key in self._masks if key not in now]:
            del self._masks[key]
            self._columns.pop(key, None)
            self._sums.pop(key, None)
        stale = []
        for place, key in enumerate(keys):
            mask = labels == key
            if key not in self._masks:
                stale.append((-self.n - 1, place, key, mask))
            else:
                changes = int(np.count_nonzero(mask != self._masks[key]))
                if changes:
                    stale.append((-changes, place, key, mask))
        stale.sort(key=lambda entry: entry[:2])
        for rank, (changes, _, key, mask) in enumerate(stale):
            if rank >= limit and changes >= -self.n:
                break
            old = self._masks.get(key)
            came = np.flatnonzero(mask if old is None else mask & ~old)
            left = np.flatnonzero(~mask & old) if old is not None else came[:0]
            self._add_up(key, mask, came, left)
            self._masks[key] = mask
            self._columns.pop(key, None)

    def matrix(self, keys: Sequence[int]) -> FloatArray:
        """Columns in the order of `keys`."""
        return np.column_stack([self.column(key) for key in keys])

    def column(self, key: int) -> FloatArray:
        """Column of one set; not to be changed."""
        if key not in self._columns:
            self._columns[key] = self._column(key, self._masks[key])
        return self._columns[key]

    @abstractmethod
    def _add_up(self, key: int, mask: BoolArray, came: IntArray, left: IntArray) -> None:
        """Keep the sums over a set's members in step with what changed."""

    @abstractmethod
    def _column(self, key: int, mask: BoolArray) -> FloatArray:
        """Column of one set from its members and their sums."""


class SubspaceView(View):
    """Squared residual of every point to the subspace of every set, relative to its length.

    A member's residual is enlarged by its leverage h on the basis, ``r / (1 - h)^2``, the
    leave-one-out residual of least squares (Cook & Weisberg, "Residuals and Influence in
    Regression", 1982): with few points a basis bends towards each of them. In a set of less than
    twice the dimension the basis holds its members nearly whole; there each is left out in turn.

    Parameters
    ----------
    X : ndarray of shape (n, D)
        Points.
    dim : int
        Subspace dimension.

    Examples
    --------
    >>> import numpy as np
    >>> view = SubspaceView(np.array([[1.0, 0], [1, 0], [0, 1], [0, 1]]), 1)
    >>> view.update(np.array([0, 0, 1, 1]), [0, 1], limit=9)
    >>> view.matrix([0, 1])
    array([[0., 1.],
           [0., 1.],
           [1., 0.],
           [1., 0.]])
    """

    def __init__(self, X: FloatArray, dim: int) -> None:
        super().__init__(X.shape[0])
        self.X, self.dim = X, dim
        # all points are read for every column, and reading is what takes long
        self._short: NDArray[Any] = X.astype(np.float32) if X.size > LARGE else X
        self._squared = np.einsum("ij,ij->i", X, X)
        self._scale = np.where(self._squared > 0, self._squared, 1.0)

    def _add_up(self, key: int, mask: BoolArray, came: IntArray, left: IntArray) -> None:
        X, members = self.X, np.flatnonzero(mask)
        moment = self._sums.pop(key, None)
        if members.size <= X.shape[1]:
            return
        if moment is None or came.size + left.size > members.size // 2:
            self._sums[key] = X[members].T @ X[members]
        else:
            self._sums[key] = moment + X[came].T @ X[came] - X[left].T @ X[left]

    def _column(self, key: int, mask: BoolArray) -> FloatArray:
        members = np.flatnonzero(mask)
        basis = self._basis(key, members).astype(self._short.dtype)
        power = (self._short @ basis).astype(np.float64) ** 2
        residual = np.maximum(self._squared - power.sum(axis=1), 0.0) / self._scale
        if 1 < members.size <= EXACT * self.dim:
            left_out = _left_out_residuals(self.X[members], self.dim)
            residual[members] = left_out / self._scale[members]
        elif members.size > 1:
            mine = power[members]
            total = mine.sum(axis=0)
            shares = np.divide(mine, total, out=np.zeros_like(mine), where=total > 0)
            leverage = np.minimum(shares.sum(axis=1), LEVERAGE)
            residual[members] = np.minimum(residual[members] / (1 - leverage) ** 2, 1.0)
        return residual

    def _basis(self, key: int, members: IntArray) -> FloatArray:
        ambient = self.X.shape[1]
        if members.size <= ambient:
            return top_directions(self.X[members], self.dim)
        top = [max(ambient - self.dim, 0), ambient - 1]
        return eigh(self._sums[key], subset_by_index=top, check_finite=False)[1]


def _left_out_residuals(points: FloatArray, dim: int) -> FloatArray:
    """Squared residual of every point to the top directions of the other points."""
    count = points.shape[0]
    gram = points @ points.T
    others = np.array([np.delete(np.arange(count), i) for i in range(count)])
    values, vectors = np.linalg.eigh(gram[others[:, :, None], others[:, None, :]])
    top = slice(-min(dim, count - 1), None)
    cross = np.einsum("iom,io->im", vectors[:, :, top], gram[np.arange(count)[:, None], others])
    values = values[:, top]
    real = values > 1e-10 * max(float(gram.trace()), 1e-300)
    explained = np.divide(cross**2, values, out=np.zeros_like(cross), where=real).sum(axis=1)
    return np.maximum(gram.diagonal() - explained, 0.0)


class KernelView(View):
    """Leave-one-out vote of kernel ridge regression on the current labels.

    A Gaussian kernel on at most 1,000 landmarks (Nystroem), so memory is linear in the points. With
    H the fixed hat matrix, the vote for set k at point i is ``(H y_k - H_ii y_ki) / (1 - H_ii)``.

    Parameters
    ----------
    X : ndarray of shape (n, D)
        Points.
    seed : int, default=0
        Draws the landmarks.

    References
    ----------
    Williams & Seeger, "Using the Nystroem method to speed up kernel machines", NIPS 2000.

    Examples
    --------
    >>> import numpy as np
    >>> view = KernelView(np.array([[0.0], [0.1], [0.2], [5.0], [5.1], [5.2]]))
    >>> view.update(np.array([0, 0, 0, 1, 1, 1]), [0, 1], limit=9)
    >>> view.matrix([0, 1]).argmax(axis=1)
    array([0, 0, 0, 1, 1, 1])
    """

    def __init__(self, X: FloatArray, *, seed: int = 0) -> None:
        super().__init__(X.shape[0])
        rng = np.random.default_rng([seed, 77])
        marks = X[np.sort(rng.permutation(self.n)[:LANDMARKS])]
        between = _squared_distances(marks, marks)
        rank = min(NEIGHBOUR, marks.shape[0] - 1)
        width = float(np.median(np.partition(between, rank, axis=1)[:, rank]))
        if width <= 0:
            positive = between[between > 0]
            width = float(positive.mean()) if positive.size else 1.0
        inner = np.exp(-between / width)
        inner[np.diag_indices_from(inner)] += 1e-6
        L = cholesky(inner, lower=True)
        features = solve_triangular(L, np.exp(-_squared_distances(X, marks) / width).T, lower=True)
        second = features @ features.T
        second[np.diag_indices_from(second)] += RIDGE
        R = cholesky(second, lower=True)
        # hat matrix = Z Z'; single precision is ample for a vote
        self._Z = np.ascontiguousarray(solve_triangular(R, features, lower=True).T, np.float32)
        self._own = np.minimum(np.einsum("ij,ij->i", self._Z, self._Z).astype(np.float64), 0.999)

    def _add_up(self, key: int, mask: BoolArray, came: IntArray, left: IntArray) -> None:
        Z = self._Z
        total = self._sums.get(key)
        if total is None or came.size + left.size > 200:
            total = Z[mask].sum(axis=0)
        else:
            total = total + Z[came].sum(axis=0) - Z[left].sum(axis=0)
        self._sums[key] = total

    def _column(self, key: int, mask: BoolArray) -> FloatArray:
        vote = (self._Z @ self._sums[key]).astype(np.float64)
        return (vote - self._own * mask) / (1 - self._own)


def _squared_distances(X: FloatArray, Y: FloatArray) -> FloatArray:
    squares = np.einsum("ij,ij->i", X, X)[:, None] + np.einsum("ij,ij->i", Y, Y)[None]
    return np.maximum(squares - 2.0 * (X @ Y.T), 0.0)
