"""Random constraints: the baseline every active strategy has to beat."""

from __future__ import annotations

from superpac.answers.state import State
from superpac.array_types import IntArray
from superpac.graph.imputed_spectral import ImputedSpectral
from superpac.strategies.base import Problem, Proposal, Strategy
from superpac.strategies.baselines.constrained_kmeans import known_groups
from superpac.strategies.superpac import Refit

TRIES = 200


class RandomPairs(Strategy):
    """Pairs drawn uniformly from those whose answer is not known yet.

    Parameters
    ----------
    problem : Problem
        What to work on.
    refit : {"exact", "warm"}, default="exact"
        As in :class:`~superpac.strategies.superpac.Superpac`.

    References
    ----------
    Lipor & Balzano, ICML 2017, section 4 (random constraints).

    Examples
    --------
    >>> import numpy as np
    >>> from scipy import sparse
    >>> ring = sparse.csr_array(np.roll(np.eye(6), 1, 0) + np.roll(np.eye(6), -1, 0))
    >>> asked = RandomPairs(Problem(np.eye(6), ring, 2, dim=1)).propose(State(6))[0]
    >>> asked.i != asked.j
    True
    """

    name = "random"

    def __init__(self, problem: Problem, *, refit: Refit = "exact") -> None:
        super().__init__(problem)
        self.refit = refit
        self.model = ImputedSpectral(problem.affinity, problem.n_clusters, seed=problem.seed)
        self.start = self.model.exact(step=0)
        self._last: tuple[tuple[int, int], IntArray] | None = None

    def _best(self, state: State, avoid: frozenset[int]) -> Proposal | None:
        """Draw pairs until one may be asked; list them all when that takes too long."""
        rng = self.rng(state.n_answers + 1)
        n = self.problem.n
        for _ in range(TRIES):
            i, j = (int(p) for p in rng.integers(n, size=2))
            if i not in avoid and j not in avoid and state.askable(i, j):
                return Proposal(i, j, "This pair was drawn at random.")
        for i in rng.permutation(n):
            for j in rng.permutation(n):
                pair = int(i), int(j)
                if avoid.isdisjoint(pair) and state.askable(*pair):
                    return Proposal(*pair, "This pair was drawn at random.")
        return None

    def labels(self, state: State) -> IntArray:
        """Spectral clustering of the affinity with all that is implied imputed."""
        key = (state.revision, state.n_answers)
        if self._last is not None and self._last[0] == key:
            return self._last[1]
        if state.constraints.touched.size == 0:
            return self.start
        refit = self.model.exact if self.refit == "exact" else self.model.warm
        found = refit(known_groups(state.constraints), step=state.n_answers)
        self._last = (key, found)
        return found
