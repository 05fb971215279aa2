"""What the answers say: the one fold that everybody reads.

Answers are votes on pairs. What the votes make believed is taken in, in the order in which pairs
were first asked: "same" joins, "different" keeps apart, and an answer that contradicts what was
taken in before is left out and listed. A strategy, the page, exports, the list of doubtful answers
and an audit all read this state, so none of them can see another merge than the others.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from enum import Enum
from typing import Any

import numpy as np
from numpy.typing import NDArray

from superpac.answers.constraints import Constraints
from superpac.answers.links import SAME, UNSURE, Link, Pair, ordered, pair_of
from superpac.answers.votes import Votes

POSTPONED = 20  # a skipped pair comes back after this many further answers
MOST_ASKED = 5  # times that one pair is asked at most: who has not agreed by then will not


class Effect(Enum):
    """What an answer did to what is known."""

    TAKEN = "taken"  # one more link
    CHANGED = "changed"  # what is believed of an earlier answer is another now
    COUNTED = "counted"  # one more vote, and nothing new is believed


class State:
    """What is known after some answers: a function of them and their order alone.

    Parameters
    ----------
    n : int
        Number of items.
    names : sequence, optional
        What people call the items, for messages.

    Attributes
    ----------
    answers : list of Link
        Standing answers in order, as they were given.
    votes : Votes
        The same as votes, each on the pair that it is about.
    links : list of Link
        What is believed and contradicts nothing before it, in order, with "unsure" in between.
    constraints : Constraints
        What follows from the links.
    unsure : dict
        Pairs that nobody could tell and no later answer decided, each with the answer's number.
    skipped : dict
        Pair to the number of answers there were when it was skipped.
    bad : set of int
        Items set aside.
    revision : int
        Grows whenever links are not those of before with more at the end: what was derived from
        them must be derived anew.

    Examples
    --------
    >>> state = State(8)
    >>> for seq, (i, j) in enumerate([(5, 0), (6, 1), (0, 1)]):
    ...     effect = state.hear(Link(seq, i, j, "same"))
    >>> state.constraints.implied(5, 6)
    'same'
    >>> for seq in (4, 5):
    ...     effect = state.hear(Link(seq, 0, 1, "different"))
    >>> state.constraints.implied(5, 6), len(state.answers), state.votes.wrong
    ('different', 5, 1)
    """

    def __init__(self, n: int, names: Sequence[Any] | None = None) -> None:
        self.n = n
        self.names = names
        self.revision = 0
        self.skipped: dict[Pair, int] = {}
        self.bad: set[int] = set()
        self._forget_answers()

    @classmethod
    def of(
        cls,
        n: int,
        answers: Iterable[Link] = (),
        *,
        names: Sequence[Any] | None = None,
        skipped: Mapping[Pair, int] | None = None,
        bad: Iterable[int] = (),
    ) -> State:
        """Build the state after some answers.

        Examples
        --------
        >>> State.of(4, [Link(1, 0, 3, "same")]).settled.tolist()
        [True, False, False, True]
        """
        state = cls(n, names)
        state.hear_all(answers)
        state.skipped, state.bad = dict(skipped or {}), set(bad)
        return state

    def _forget_answers(self) -> None:
        self.answers: list[Link] = []
        self.votes = Votes()
        self.links: list[Link] = []
        self.unsure: dict[Pair, int] = {}
        self._times: dict[Pair, int] = {}
        self.constraints = Constraints(self.n, self.names)

    @property
    def n_answers(self) -> int:
        """Questions answered so far."""
        return len(self.answers)

    @property
    def settled(self) -> NDArray[np.bool_]:
        """Whether answers have put an item into one group with another."""
        found = np.zeros(self.n, dtype=np.bool_)
        for members in self.constraints.sets():
            found[members] = True
        return found

    def hear_all(self, answers: Iterable[Link]) -> None:
        """Take in several answers."""
        for answer in answers:
            self.hear(answer)

    def hear(self, answer: Link) -> Effect:
        """Take in one answer.

        Parameters
        ----------
        answer : Link
            As it was given.

        Returns
        -------
        Effect
        """
        self.answers.append(answer)
        pair = pair_of(answer)
        if answer.answer == UNSURE:
            self.unsure[pair] = answer.seq
            self.votes.take(answer)
            self.links.append(answer)
            return Effect.TAKEN
        self.unsure.pop(pair, None)
        heard = self.counts_for(answer)
        self._times[pair] = self._times.get(pair, 0) + 1
        first = not self.votes.asked(heard.i, heard.j)
        if self.votes.take(heard):
            self.revision += 1
            self._read_votes()
            return Effect.CHANGED
        if first and not heard.confirm:
            self._take(heard)
            return Effect.TAKEN
        return Effect.COUNTED

    def counts_for(self, answer: Link) -> Link:
        """Give an answer as a vote on the earlier pair that it checks, or as it is.

        A point that was compared with one member of a group and is compared with another is asked
        the same thing again.

        Parameters
        ----------
        answer : Link
            A new answer.

        Returns
        -------
        Link
            The answer, on the earlier pair where there is one; its number and annotator stay.

        Examples
        --------
        >>> state = State.of(6, [Link(1, 1, 0, "same"), Link(2, 5, 0, "same", "Ada")])
        >>> found = state.counts_for(Link(3, 5, 1, "different", "Bob"))
        >>> found.i, found.j, found.annotator
        (5, 0, 'Bob')
        """
        if answer.answer == UNSURE or self.votes.asked(answer.i, answer.j):
            return answer
        about = self.votes.about(answer.i)
        if not about:
            return answer
        joined = self.constraints.joined
        earlier = [link for link in about if joined(link.j, answer.j)]
        if not earlier:
            return answer
        net = self.votes.net
        weakest = min(earlier, key=lambda link: (abs(net(link.i, link.j)), link.seq))
        return answer._replace(i=weakest.i, j=weakest.j)

    def asked(self, i: int, j: int) -> bool:
        """Whether this very pair was answered "same" or "different", whatever it counted for."""
        return ordered(i, j) in self._times

    def asked_enough(self, i: int, j: int) -> bool:
        """Whether this very pair was answered so often that it is not asked any more.

        Examples
        --------
        >>> said = [Link(n, 0, 3, ("same", "different")[n % 2]) for n in range(MOST_ASKED)]
        >>> State.of(4, said).asked_enough(3, 0)
        True
        """
        return self._times.get(ordered(i, j), 0) >= MOST_ASKED

    def disputed(self) -> list[Pair]:
        """Pairs that were asked enough and yet answered both ways."""
        often = {pair for pair, times in self._times.items() if times >= MOST_ASKED}
        said: dict[Pair, set[str]] = {}
        for answer in self.answers if often else ():
            pair = pair_of(answer)
            if pair in often and answer.answer != UNSURE:
                said.setdefault(pair, set()).add(answer.answer)
        return sorted(pair for pair, words in said.items() if len(words) > 1)

    def askable(self, i: int, j: int) -> bool:
        """Whether a pair may be asked now: nothing implied, not unsure, not skipped just now."""
        if i == j or i in self.bad or j in self.bad:
            return False
        return self.constraints.implied(i, j) is None and not self.put_off(i, j)

    def put_off(self, i: int, j: int) -> bool:
        """Whether nobody could tell a pair, or it was skipped just now."""
        pair = ordered(i, j)
        at = self.skipped.get(pair)
        return pair in self.unsure or (at is not None and self.n_answers - at < POSTPONED)

    def restart(self, answers: Iterable[Link]) -> None:
        """Begin anew from these answers; what was skipped or set aside is forgotten."""
        self.revision += 1
        self.skipped, self.bad = {}, set()
        self._forget_answers()
        self.hear_all(answers)

    def _read_votes(self) -> None:
        """Take in anew all that is believed."""
        self.links = []
        self.constraints = Constraints(self.n, self.names)
        for link in self.votes.believed():
            if link.answer == UNSURE:
                self.links.append(link)
            else:
                self._take(link)

    def _take(self, link: Link) -> None:
        """Take in what is believed, unless it contradicts what was taken in before."""
        conflicts = len(self.constraints.conflicts)
        self.constraints.take(link)
        if len(self.constraints.conflicts) == conflicts:
            self.links.append(link)


def counts(answers: Sequence[Link]) -> dict[str, int]:
    """How many answers of each kind there are.

    Examples
    --------
    >>> counts([Link(1, 0, 1, "same")])
    {'same': 1, 'different': 0, 'unsure': 0}
    """
    same = sum(a.answer == SAME for a in answers)
    unsure = sum(a.answer == UNSURE for a in answers)
    return {"same": same, "different": len(answers) - same - unsure, "unsure": unsure}
