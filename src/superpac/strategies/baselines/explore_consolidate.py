"""Explore and Consolidate, clustered by PCKMeans; min-max is the same with another test point.

Basu, Banerjee & Mooney, "Active semi-supervision for pairwise constrained clustering", SDM 2004.
"""

from __future__ import annotations

import numpy as np

from superpac.answers.state import State
from superpac.array_types import IntArray
from superpac.strategies.base import Problem
from superpac.strategies.baselines.constrained_kmeans import penalised
from superpac.strategies.baselines.farthest_first import FarthestFirst
from superpac.strategies.certain_sets import CertainSets
from superpac.system.threads import one_thread


class AtMost(CertainSets):
    """Certain sets, at most `limit` of them: the last one left for a point needs no question.

    Examples
    --------
    >>> from superpac.answers.links import Link
    >>> sets = AtMost(5, (0,), limit=2)
    >>> sets.take(Link(1, 3, 0, "different"))
    >>> sets.take(Link(2, 4, 3, "different"))
    >>> sets.members
    {0: [0, 4], 1: [3]}
    """

    def __init__(self, n: int, seeds: tuple[int, ...], limit: int) -> None:
        self.limit = limit
        super().__init__(n, seeds)

    def _settle(self) -> None:
        if len(self.members) < self.limit:
            super()._settle()
            return
        for point, apart in list(self._apart.items()):
            left = [key for key in self.members if key not in apart]
            if len(left) == 1 and len(self.members) == self.limit:
                self._add(point, left[0])  # as in the paper: at most K - 1 questions per point
                return
        super()._settle()


class PairwiseKMeans(FarthestFirst):
    """Base of the strategies whose labels are PCKMeans seeded with the certain sets.

    Parameters
    ----------
    problem : Problem
        What to work on.
    explore : int or None, default=None
        Question budget of Explore; None goes on until there are as many sets as clusters.
    w : float, default=1.0
        Cost of a broken constraint, where points have unit length.
    """

    def __init__(self, problem: Problem, *, explore: int | None = None, w: float = 1.0) -> None:
        super().__init__(problem, explore=explore)
        self.w = w
        self._key: bytes | None = None

    def labels(self, state: State) -> IntArray:
        """PCKMeans seeded with the certain sets."""
        self._follow(state)
        return self._clustered()

    def _clustered(self) -> IntArray:
        """PCKMeans for the certain sets as they are."""
        known, key = self._known()
        if key != self._key:
            seed = np.random.SeedSequence((self.problem.seed, self.n_placed)).generate_state(1)
            with one_thread():
                self._labels = penalised(
                    np.ascontiguousarray(self.problem.X, dtype=np.float64),
                    self.problem.n_clusters,
                    known,
                    w=self.w,
                    rng=np.random.RandomState(seed),
                )
            self._key = key
        return self._labels


class ExploreConsolidate(PairwiseKMeans):
    """Explore, then Consolidate: random points into the known sets.

    Once Explore has met every cluster, a random free point is placed, sets in order of the distance
    to their centroids. The last of K sets is not asked about: it is inferred, as in the paper.

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
    Basu, Banerjee & Mooney, SDM 2004.

    Examples
    --------
    >>> from scipy import sparse
    >>> X = np.array([[0.0], [0.1], [5.0], [5.1]])
    >>> problem = Problem(X, sparse.csr_array((4, 4)), 2, dim=1)
    >>> question = ExploreConsolidate(problem).propose(State(4))[0]
    >>> bool(abs(X[question.i, 0] - X[question.j, 0]) > 4)
    True
    """

    name = "explore-consolidate"

    def __init__(self, problem: Problem, *, explore: int | None = None, w: float = 1.0) -> None:
        super().__init__(problem, explore=explore, w=w)
        self.sets = AtMost(problem.n, self.sets.seeds, problem.n_clusters)

    def _next(self, free: IntArray, rng: np.random.Generator) -> int:
        return int(rng.choice(free))

    def _why(self, test: int) -> str:
        return "This item was drawn at random"
