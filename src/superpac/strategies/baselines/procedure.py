"""Strategies written as procedures that ask, made resumable by running them again.

A procedure is a generator: it yields a pair and is sent what is known about it. It runs on answers
that exist and stops at the first that does not: that pair is the next question. Nothing is stored;
whatever the state says about the pairs asked so far is what the procedure was told.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Generator, Iterable, Iterator

from superpac.answers.links import DIFFERENT, SAME, UNSURE
from superpac.answers.state import State
from superpac.array_types import IntArray
from superpac.strategies.base import Problem, Proposal, Strategy

Pair = tuple[int, int]
Asking = Generator[Pair, str, None]
AskingOne = Generator[Pair, str, bool | None]
AskingCount = Generator[Pair, str, int]

LIMIT = 3  # pairs of points tried for one question about two groups


def same_group(pairs: Iterable[Pair]) -> AskingOne:
    """Ask about the first of some pairs; the next ones only where nobody could tell.

    Yields
    ------
    pair of int
        To be answered by ``send``.

    Returns
    -------
    bool or None
        Whether they are the same; None when no pair could be told.

    Examples
    --------
    >>> asking = same_group([(0, 1), (0, 2)])
    >>> next(asking), asking.send("unsure")
    ((0, 1), (0, 2))
    >>> try:
    ...     asking.send("same")
    ... except StopIteration as end:
    ...     end.value
    True
    """
    for number, pair in enumerate(pairs):
        if number >= LIMIT:
            break
        answer = yield pair
        if answer == SAME:
            return True
        if answer == DIFFERENT:
            return False
    return None


class Replay(Strategy):
    """A strategy written as a procedure.

    Subclasses give the procedure, which publishes labellings in `published` and may say in `why`
    what it is doing.

    Parameters
    ----------
    problem : Problem
        What to work on.
    """

    published: IntArray

    def __init__(self, problem: Problem) -> None:
        super().__init__(problem)
        self.why = ""
        self._trace: list[tuple[Pair, str]] = []
        self._asking: Asking | None = None
        self._waiting: Pair | None = None

    @abstractmethod
    def procedure(self) -> Asking:
        """Ask pairs by ``answer = yield i, j``; publish labels; end when nothing is left."""

    def _in_order(self, state: State, avoid: frozenset[int]) -> Iterator[Proposal]:
        """The one question that the procedure is at: it cannot go on without the answer."""
        question = self._best(state, avoid)
        if question is not None:
            yield question

    def _best(self, state: State, avoid: frozenset[int]) -> Proposal | None:
        """Run the procedure up to the first pair about which nothing is known."""
        pair = self._run(state, avoid)
        if pair is None:
            return None
        return Proposal(*pair, self.why, {"asked": float(len(self._trace))})

    def labels(self, state: State) -> IntArray:
        """Last labelling that the procedure published."""
        self._run(state, frozenset())
        return self.published

    def _known(self, state: State, avoid: frozenset[int], pair: Pair) -> str | None:
        """What the procedure is told about a pair; None where it has to be asked."""
        i, j = pair
        implied = state.constraints.implied(i, j)
        if implied is not None:
            return implied
        if not state.askable(i, j) or i in avoid or j in avoid:
            return UNSURE
        return None

    def _run(self, state: State, avoid: frozenset[int]) -> Pair | None:
        # what it was told may have changed: taken back, decided after all, free again
        stale = any(self._known(state, avoid, pair) != told for pair, told in self._trace)
        if self._asking is None or stale:
            self._trace = []
            self._asking = self.procedure()
            self._waiting = next(self._asking, None)
        while self._waiting is not None:
            told = self._known(state, avoid, self._waiting)
            if told is None:
                return self._waiting
            self._trace.append((self._waiting, told))
            try:
                self._waiting = self._asking.send(told)
            except StopIteration:
                self._waiting = None
        return None
