"""What strategies share that place one point after the other into certain sets.

A test point is chosen, compared with one member of each certain set in some order until an answer
is "same", and joins that set or starts a new one (after Basu, Banerjee & Mooney, SDM 2004). What
differs from one such strategy to the next is which point, in which order, and who speaks for a set.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from superpac.answers.state import State
from superpac.array_types import IntArray
from superpac.strategies.base import Problem, Proposal, Strategy
from superpac.strategies.certain_sets import CertainSets

SPEAKERS = 3  # members of a set that are tried when the comparison with the first was in vain


@dataclass(frozen=True)
class Rival:
    """A set that a test point may belong to.

    Attributes
    ----------
    cost : float
        Sets are asked in order of it, least first.
    key : int
        The set.
    speaker : int
        Its member to compare with.
    """

    cost: float
    key: int
    speaker: int


class Placing(Strategy):
    """A strategy that places one test point after the other.

    Subclasses assign `sets` and say which point comes next (`_choose`) and how it is compared
    (`_ask`). A point half-way through its questions is finished first.

    Parameters
    ----------
    problem : Problem
        What to work on.
    explore : int or None
        Questions until the first phase ends, if it has not met as many sets as clusters before;
        None is without limit.
    """

    sets: CertainSets

    def __init__(self, problem: Problem, *, explore: int | None) -> None:
        super().__init__(problem)
        self.explore = explore
        self._explored: tuple[int, int] | None = None  # (answers, points in sets) when it ended

    def _in_order(self, state: State, avoid: frozenset[int]) -> Iterator[Proposal]:
        """Finish the point that is half-way; then one chosen point after the other."""
        self._prepare(state)
        tried: set[int] = set()
        test = self._pending(state, avoid)
        while test is not None or (test := self._choose(state, avoid | tried)) is not None:
            question = self._ask(state, test, avoid)
            if question is not None:
                yield question
            # asked about, or "unsure" or postponed against every set that is left
            tried.add(test)
            test = None

    @abstractmethod
    def _choose(self, state: State, avoid: frozenset[int]) -> int | None:
        """Next test point; None when there is none."""

    @abstractmethod
    def _ask(self, state: State, test: int, avoid: frozenset[int]) -> Proposal | None:
        """First comparison of a test point; None when nothing may be asked about it now."""

    def _prepare(self, state: State) -> None:
        """Bring everything that a choice needs up to date."""
        self._follow(state)

    def _follow(self, state: State) -> None:
        """Take in what is new in the state; from the start where something was taken back."""
        if self.sets.used > len(state.links) or self.sets.revision != state.revision:
            self._explored = None
            self.sets.restart(state.revision)
            self._restarted()
        for link in state.links[self.sets.used :]:
            self._note_end_of_explore()
            before = self.n_placed
            self.sets.take(link)
            if self.n_placed > before:
                self._grown()
        self._note_end_of_explore()

    def _restarted(self) -> None:
        """Forget what was learned from answers: they are being read anew."""

    def _grown(self) -> None:
        """Learn from a point that has just been placed."""

    @property
    def n_placed(self) -> int:
        """Number of points in certain sets."""
        return int((self.sets.set_of >= 0).sum())

    def _note_end_of_explore(self) -> None:
        sets = self.sets
        spent = self.explore is not None and sets.used >= self.explore
        if self._explored is None and (spent or len(sets.members) >= self.problem.n_clusters):
            self._explored = (sets.used, self.n_placed)

    def _exploring(self) -> bool:
        return self._explored is None

    def _placed_since(self) -> bool:
        """Whether a point was placed after the first phase."""
        return self._explored is not None and self.n_placed > self._explored[1]

    def _free(self, state: State, avoid: frozenset[int] | set[int]) -> IntArray:
        free = self.sets.set_of == -1
        free[list(state.bad | avoid)] = False
        return np.flatnonzero(free)

    def _pending(self, state: State, avoid: frozenset[int]) -> int | None:
        """Give the point that was being placed when the last answer came, if it is still free."""
        if not state.answers:
            return None
        last = state.answers[-1].i
        stays = self.sets.set_of[last] == -1 and last not in avoid and last not in state.bad
        return last if stays else None

    def _rivals(
        self,
        state: State,
        test: int,
        speakers: Callable[[IntArray], Sequence[int] | IntArray],
        cost: Callable[[int, int], float],
    ) -> list[Rival]:
        """Sets that a test point may be compared with, in the order of asking.

        Parameters
        ----------
        state : State
            What is known.
        test : int
            The test point.
        speakers : callable
            Orders the members of a set, the one to speak for it first.
        cost : callable
            ``cost(key, speaker)``; ties are broken by a seeded draw.
        """
        apart = self.sets.apart(test)
        rivals = []
        for key, members in self.sets.members.items():
            if key in apart:
                continue
            usable = np.array([m for m in members if m not in state.bad], dtype=np.intp)
            if usable.size == 0:
                continue
            # a set stays represented by its first speaker unless that very pair was in vain
            for member in speakers(usable)[:SPEAKERS]:
                if state.askable(test, int(member)):
                    rivals.append(Rival(cost(key, int(member)), key, int(member)))
                    break
        noise = self.rng(state.n_answers + 1, test).random(len(rivals))
        order = sorted(range(len(rivals)), key=lambda r: (rivals[r].cost, noise[r]))
        return [rivals[r] for r in order]
