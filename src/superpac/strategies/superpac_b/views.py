"""Two views of sets of items, as columns that depend on the members alone.

Residuals to the subspaces of a set, and a kernel vote of its members; diffusion, the third view, is
linear in the members and lives with the model. Whatever a column says about a member leaves out
that member. Columns are kept by the members they are made of, so the same sets give the same
numbers whichever way they came about.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence

import numpy as np
from scipy.linalg import eigh
from scipy.special import polygamma

from superpac.array_types import FloatArray, IntArray
from superpac.strategies.base import Problem
from superpac.strategies.superpac_d.settings import DEFAULT as COMMON
from superpac.strategies.superpac_d.view_scores import (
    KernelView,
    left_out_residuals,
    log_shares,
)
from superpac.subspaces.geometry import top_directions

KEPT = 400  # columns kept at most beside those in use
GRAM = 2500  # points up to which all inner products are kept


class View(ABC):
    """Scores of every item in every set; columns are computed once per group of members."""

    def __init__(self) -> None:
        self._columns: dict[bytes, FloatArray] = {}

    def scores(self, members: Sequence[IntArray]) -> FloatArray:
        """Logarithms of how likely each set is for every item, but for a constant; (n, S)."""
        keys = [part.tobytes() for part in members]
        if len(self._columns) > KEPT:
            self._columns = {key: self._columns[key] for key in keys if key in self._columns}
        for key, part in zip(keys, members, strict=True):
            if key not in self._columns:
                self._columns[key] = self._column(part)
        return self._compared(np.stack([self._columns[key] for key in keys], axis=-1))

    @abstractmethod
    def _column(self, members: IntArray) -> FloatArray:
        """What one set says about every item; items are the last axis."""

    @abstractmethod
    def _compared(self, columns: FloatArray) -> FloatArray:
        """Scores from the columns of all sets, which are the last axis."""


class NestedSubspaces(View):
    """Residuals to subspaces of several dimensions, their scores averaged.

    Nobody knows the dimension, and with it changes what a residual tells: few directions say what
    a cluster has in common, more of them how its items vary. The bases are nested, so all come
    from one decomposition.

    The fewer directions a subspace leaves, the more of a residual is chance: the logarithm of a
    squared residual over m directions of noise has the variance trigamma(m / 2), 0.01 for m = 200
    and 4.9 for m = 1. Each score counts by the inverse of that variance and `spread` together.

    Parameters
    ----------
    X : ndarray of shape (n, D)
        Points.
    dims : sequence of int
        Dimensions, ascending.
    spread : float, default=1.0
        Variance of the logarithm of a residual that is not chance.

    Examples
    --------
    >>> X = np.array([[1.0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 1, 0]])
    >>> view = NestedSubspaces(X, [1])
    >>> view.scores([np.array([0, 1]), np.array([2, 3])]).argmax(axis=1)
    array([0, 0, 1, 1])
    """

    def __init__(self, X: FloatArray, dims: Sequence[int], spread: float = 1.0) -> None:
        super().__init__()
        self.X, self.dims = X, list(dims)
        left = np.maximum(X.shape[1] - np.array(self.dims), 1)
        self._trust = spread / (spread + polygamma(1, left / 2))
        self._gram = X @ X.T if X.shape[0] <= GRAM else None
        self._squared = np.einsum("ij,ij->i", X, X)
        self._scale = np.where(self._squared > 0, self._squared, 1.0)

    def _column(self, members: IntArray) -> FloatArray:
        power = self._power(members)
        exactly = 1 < members.size <= COMMON.leave_out_exactly * self.dims[0]
        found = []
        for dim in self.dims:
            part = power[:, :dim]
            residual = np.maximum(self._squared - part.sum(axis=1), 0.0) / self._scale
            if exactly:
                left_out = left_out_residuals(self.X[members], dim)
                residual[members] = left_out / self._scale[members]
            elif members.size > 1:
                mine = part[members]
                total = mine.sum(axis=0)
                shares = np.divide(mine, total, out=np.zeros_like(mine), where=total > 0)
                leverage = np.minimum(shares.sum(axis=1), COMMON.leverage_most)
                residual[members] = np.minimum(residual[members] / (1 - leverage) ** 2, 1.0)
            found.append(residual)
        return np.stack(found)

    def _power(self, members: IntArray) -> FloatArray:
        """Squared coordinates of every item in the leading directions of the members."""
        most = self.dims[-1]
        if self._gram is None:
            return (self.X @ top_directions(self.X[members], most)) ** 2
        size = members.size
        if size == 0:
            return np.zeros((self.X.shape[0], 0))
        top = [size - min(most, size), size - 1]
        within = self._gram[np.ix_(members, members)]
        values, vectors = eigh(within, subset_by_index=top, check_finite=False)
        real = values > 1e-10 * max(float(values[-1]), 1e-300)
        values, vectors = values[real][::-1], vectors[:, real][:, ::-1]
        return (self._gram[:, members] @ vectors) ** 2 / values

    def _compared(self, columns: FloatArray) -> FloatArray:
        typical = np.median(columns.min(axis=2), axis=1)
        ratio = columns / np.maximum(typical, COMMON.residual_typical_least)[:, None, None]
        scores = -COMMON.residual_power * np.log(ratio + COMMON.residual_near)
        found: FloatArray = np.tensordot(self._trust, scores, axes=1) / len(self.dims)
        return found


class KernelVote(View):
    """Leave-one-out vote of kernel ridge regression, as SUPERPAC-D's, for whole sets of members.

    Examples
    --------
    >>> from scipy import sparse
    >>> X = np.array([[0.0], [0.1], [0.2], [5.0], [5.1], [5.2]])
    >>> view = KernelVote(Problem(X, sparse.csr_array((6, 6)), 2, 1))
    >>> view.scores([np.arange(3), np.arange(3, 6)]).argmax(axis=1)
    array([0, 0, 0, 1, 1, 1])
    """

    def __init__(self, problem: Problem) -> None:
        super().__init__()
        made = KernelView(problem.X, COMMON, seed=problem.seed, remember=problem.remember)
        self._factor, self._own = made.factor, made.own

    def _column(self, members: IntArray) -> FloatArray:
        vote = (self._factor @ self._factor[members].sum(axis=0)).astype(np.float64)
        vote[members] -= self._own[members]
        return vote / (1.0 - self._own)

    def _compared(self, columns: FloatArray) -> FloatArray:
        return log_shares(columns, COMMON.vote_floor)
