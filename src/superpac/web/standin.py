"""The next question from the last model, for when the new one is not ready or others are asked too.

The rule is the paper's (Lipor & Balzano, ICML 2017, Algorithm 1): the least sure free item against
the surest member of its nearest set. Only the labelling is a few answers old.
"""

from __future__ import annotations

import numpy as np

from superpac.strategies import Proposal, State
from superpac.strategies.certain_sets import CertainSets
from superpac.web.worker import IntArray, Model

TRIED = 200  # least sure items looked at before giving up


class StandIn:
    """Chooses questions in the page's process, in about a millisecond.

    Parameters
    ----------
    n : int
        Number of items.

    Examples
    --------
    >>> import numpy as np
    >>> from superpac.answers.constraints import Constraints
    >>> labels = np.array([0, 0, 1, 1])
    >>> model = Model(0, labels, labels, np.array([0.9, 0.2, 0.8, 0.7], np.float32),
    ...               np.eye(2, dtype=np.float32)[[1, 0, 0, 0]], None, seeds=(0,))
    >>> StandIn(4).propose(State(Constraints(4)), model).i
    1
    """

    def __init__(self, n: int) -> None:
        self._n = n
        self._sets = CertainSets(n)

    def sets(self, state: State, model: Model) -> CertainSets:
        """Certain sets after the answers in `state`."""
        if self._sets.seeds != model.seeds:
            self._sets = CertainSets(self._n, model.seeds)
        self._sets.follow(state)
        return self._sets

    def propose(
        self,
        state: State,
        model: Model,
        avoid: frozenset[int] = frozenset(),
        test: int | None = None,
    ) -> Proposal | None:
        """Choose a pair.

        Parameters
        ----------
        state : State
            What is known.
        model : Model
            The last model.
        avoid : frozenset of int
            Items that others are being asked about.
        test : int, optional
            The item to place; chosen by default.

        Returns
        -------
        Proposal or None
        """
        sets = self.sets(state, model)
        if test is not None:
            return self._against_sets(state, model, sets, test)
        for candidate in self._candidates(state, model, sets, avoid):
            found = self._against_sets(state, model, sets, candidate)
            if found is not None:
                return found
        return None

    def rivals(self, state: State, model: Model, test: int) -> list[tuple[float, int, int]]:
        """Open sets of an item, nearest first, as (distance, set, its surest member)."""
        sets = self.sets(state, model)
        apart = sets.apart(test)
        own = int(sets.set_of[test])
        found = []
        for key, members in sets.members.items():
            if key in apart or key == own:
                continue
            usable = np.array([m for m in members if m not in state.bad], dtype=np.intp)
            for member in usable[np.argsort(-model.margins[usable], kind="stable")][:3]:
                if state.askable(test, int(member)):
                    found.append((model.distance(test, int(member)), key, int(member)))
                    break
        return sorted(found)

    def _candidates(
        self, state: State, model: Model, sets: CertainSets, avoid: frozenset[int]
    ) -> list[int]:
        free = sets.set_of == -1
        free[list(state.bad | avoid)] = False
        order: IntArray = np.argsort(np.where(free, model.margins, np.inf), kind="stable")
        found = [int(i) for i in order[: min(TRIED, int(free.sum()))]]
        last = state.answers[-1].i if state.answers else -1
        if last >= 0 and free[last]:
            found.insert(0, last)
        return found

    def _against_sets(
        self, state: State, model: Model, sets: CertainSets, test: int
    ) -> Proposal | None:
        near = self.rivals(state, model, test)
        numbers = {"margin": float(model.margins[test]), "sets": float(len(sets.members))}
        if near:
            words = "nearest" if not sets.apart(test) else "next nearest"
            return Proposal(
                test,
                near[0][2],
                "This item lies almost as near one group as another; the other is the surest of "
                f"the {words} known set.",
                {**numbers, "residual": near[0][0]},
            )
        if sets.members:
            return None
        surest = np.argsort(-model.margins, kind="stable")[:TRIED]
        for other in (int(o) for o in surest):
            if state.askable(test, other):
                return Proposal(test, other, "These are the first two items.", numbers)
        return None
