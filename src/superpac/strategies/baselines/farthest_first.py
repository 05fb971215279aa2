"""Explore: the farthest point from all that are placed comes next.

Basu, Banerjee & Mooney, "Active semi-supervision for pairwise constrained clustering", SDM 2004.
"""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
from sklearn.metrics.pairwise import euclidean_distances

from superpac.answers.state import State
from superpac.array_types import FloatArray, IntArray
from superpac.graph.imputed_spectral import KnownSets
from superpac.strategies.base import Problem, Proposal, least
from superpac.strategies.certain_sets import CertainSets
from superpac.strategies.point_placing import Placing, Rival


class NearestPlaced:
    """Squared Euclidean distance of every point to the nearest placed one, kept up to date.

    Parameters
    ----------
    X : ndarray of shape (n, D)
        Points.

    Examples
    --------
    >>> near = NearestPlaced(np.array([[0.0], [1.0], [5.0]]))
    >>> near.follow([0]).tolist()
    [0.0, 1.0, 25.0]
    >>> near.follow([0, 2]).tolist()
    [0.0, 1.0, 0.0]
    """

    def __init__(self, X: FloatArray) -> None:
        self.X = X
        self._forget()

    def _forget(self) -> None:
        self._placed: set[int] = set()
        self._gap = np.full(self.X.shape[0], np.inf)

    def follow(self, placed: Iterable[int]) -> FloatArray:
        """Distances to the given points; each point is visited once while they only grow."""
        now = {int(p) for p in placed}
        if not self._placed <= now:
            self._forget()
        new = np.array(sorted(now - self._placed), dtype=np.intp)
        if new.size:
            gaps = euclidean_distances(self.X, self.X[new], squared=True)
            self._gap = np.minimum(self._gap, gaps.min(axis=1))
            self._gap[new] = 0.0
            self._placed = now
        return self._gap


class FarthestFirst(Placing):
    """Base of the strategies that begin with Explore.

    The first set is a random point (no question). Then, while there are fewer sets than clusters
    and the budget lasts, the free point farthest from every placed one is placed. The paper leaves
    open in which order sets are asked and who speaks for one: here the nearest centroid comes
    first, as in Consolidate, and the member that joined first speaks, so that answers agree.

    Parameters
    ----------
    problem : Problem
        What to work on.
    explore : int or None, default=None
        Question budget of this phase; None goes on until there are as many sets as clusters.
    """

    def __init__(self, problem: Problem, *, explore: int | None = None) -> None:
        super().__init__(problem, explore=explore)
        first = int(self.rng(0).integers(problem.n))
        self.sets = CertainSets(problem.n, seeds=[first])
        self._near = NearestPlaced(problem.X)

    def _choose(self, state: State, avoid: frozenset[int]) -> int | None:
        free = self._free(state, avoid)
        if free.size == 0:
            return None
        rng = self.rng(state.n_answers + 1)
        return self._farthest(free, rng) if self._exploring() else self._next(free, rng)

    def _gaps(self) -> FloatArray:
        """Squared distance of every point to the nearest placed one."""
        return self._near.follow(np.flatnonzero(self.sets.set_of >= 0))

    def _farthest(self, free: IntArray, rng: np.random.Generator) -> int:
        return least(-self._gaps(), free, rng)

    def _known(self) -> tuple[KnownSets, bytes]:
        """Give what is known of the sets, and a key that changes with it."""
        known = self.sets.known()
        different = b"" if known.different is None else known.different.tobytes()
        return known, known.set_of.tobytes() + different

    def _next(self, free: IntArray, rng: np.random.Generator) -> int:
        """Test point after Explore."""
        raise NotImplementedError

    def _ask(self, state: State, test: int, avoid: frozenset[int]) -> Proposal | None:
        rivals = self._order(state, test)
        if not rivals:
            return None
        why = (
            "This item is the farthest from all that are placed"
            if self._exploring()
            else self._why(test)
        )
        nth = "next " if self.sets.apart(test) else ""
        return Proposal(
            test,
            rivals[0].speaker,
            f"{why}; the other stands for the {nth}likeliest known set.",
            {
                "cost": rivals[0].cost,
                "sets": float(len(self.sets.members)),
                "sets_left": float(len(rivals)),
            },
        )

    def _why(self, test: int) -> str:
        """Half a sentence: what distinguishes a test point after Explore."""
        return "This item is the next to be placed"

    def _order(self, state: State, test: int) -> list[Rival]:
        """Sets by distance to their centroids."""
        X = self.problem.X

        def distance(key: int, _: int) -> float:
            gap = X[test] - X[self.sets.members[key]].mean(axis=0)
            return float(np.sqrt(gap @ gap))

        return self._rivals(state, test, speakers=lambda members: members, cost=distance)
