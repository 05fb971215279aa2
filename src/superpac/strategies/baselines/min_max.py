"""Min-max: after Explore, the point least like anything asked about so far.

Mallapragada, Jin & Jain, "Active query selection for semi-supervised clustering", ICPR 2008.
"""

from __future__ import annotations

import numpy as np
from sklearn.metrics.pairwise import euclidean_distances

from superpac.array_types import FloatArray, IntArray
from superpac.strategies.base import Problem
from superpac.strategies.baselines.explore_consolidate import PairwiseKMeans

SAMPLE = 2000  # points from which the width of the kernel is taken


def kernel_width(X: FloatArray, rng: np.random.Generator) -> float:
    """20th percentile of the distances between different points (of a sample of a large set)."""
    if len(X) > SAMPLE:
        X = X[np.sort(rng.choice(len(X), SAMPLE, replace=False))]
    upper = euclidean_distances(X, squared=True)[np.triu_indices(len(X), 1)]
    if upper.size == 0:
        return 1.0
    width = float(np.sqrt(np.percentile(upper, 20)))
    return width if width > 0 else 1.0


class MinMax(PairwiseKMeans):
    """Min-max: the free point whose largest similarity to an asked point is smallest.

    The similarity is Gaussian with the 20th percentile of all distances as its width. A Gaussian
    falls with the distance, so the choice is the farthest point from all that are placed, and the
    width decides nothing but the figure shown. A point different from every set opens one. Labels
    are PCKMeans seeded with the sets.

    Parameters
    ----------
    problem : Problem
        Points, number of clusters, seed; the affinity is not used.
    explore : int or None, default=None
        Question budget of Explore; None goes on until there are as many sets as clusters.
    w : float, default=1.0
        Cost of a broken constraint in PCKMeans, where points have unit length.

    References
    ----------
    Mallapragada, Jin & Jain, ICPR 2008.

    Examples
    --------
    >>> from scipy import sparse
    >>> from superpac.answers.state import State
    >>> X = np.array([[0.0], [0.1], [5.0], [5.1]])
    >>> problem = Problem(X, sparse.csr_array((4, 4)), 2, dim=1)
    >>> question = MinMax(problem).propose(State(4))[0]
    >>> bool(abs(X[question.i, 0] - X[question.j, 0]) > 4)
    True
    """

    name = "min-max"

    def __init__(self, problem: Problem, *, explore: int | None = None, w: float = 1.0) -> None:
        super().__init__(problem, explore=explore, w=w)
        self.width = kernel_width(problem.X, self.rng(1))

    def similarity(self) -> FloatArray:
        """Largest similarity of every point to a placed one."""
        return np.exp(-self._gaps() / (2.0 * self.width**2))

    def _next(self, free: IntArray, rng: np.random.Generator) -> int:
        return self._farthest(free, rng)  # similarities of far points would all underflow to 0

    def _why(self, test: int) -> str:
        return f"This item is least like all that were asked ({self.similarity()[test]:.2f})"
