"""Second moments of changing sets of points: what came is added, what left is subtracted."""

from __future__ import annotations

from dataclasses import dataclass

from superpac.array_types import FloatArray, IntArray


@dataclass(frozen=True)
class SecondMoment:
    """Sum of ``x x'`` over a set of points; never changed in place, so it may be shared.

    Attributes
    ----------
    matrix : ndarray of shape (D, D)
        The sum.
    updates : int
        Changes since it was summed afresh, each of which adds some rounding.

    Examples
    --------
    >>> import numpy as np
    >>> X = np.array([[1.0, 0.0], [0.0, 2.0], [1.0, 1.0], [3.0, 0.0]])
    >>> three = SecondMoment.of(X, np.array([0, 1, 2]))
    >>> four = three.after(X, np.arange(4), came=np.array([3]), left=np.array([], dtype=int))
    >>> four.matrix, four.updates
    (array([[11.,  1.],
           [ 1.,  5.]]), 1)
    """

    matrix: FloatArray
    updates: int = 0

    @classmethod
    def of(cls, X: FloatArray, members: IntArray) -> SecondMoment:
        """Sum afresh."""
        points = X[members]
        return cls(points.T @ points)

    def after(
        self, X: FloatArray, members: IntArray, came: IntArray, left: IntArray
    ) -> SecondMoment:
        """Give the moment of `members`, who are those before with some added and some gone."""
        if came.size + left.size > members.size // 2:  # afresh is the shorter way
            return self.of(X, members)
        added, gone = X[came].T @ X[came], X[left].T @ X[left]
        return SecondMoment(self.matrix + added - gone, self.updates + 1)
