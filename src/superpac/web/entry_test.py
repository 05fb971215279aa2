"""A short test before a person's answers count: pairs whose right answer is known.

What people say in it is in the log as notes, which imply nothing, so that a test is gone on with
after a restart and through another server, and everybody can see afterwards how it went.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import dataclass
from hashlib import sha256

from superpac.answers.acts import TESTED
from superpac.answers.events import Event
from superpac.errors import InputError

MOST = 100  # pairs of a test
SHARE = 0.8  # of the pairs that must be right


@dataclass(frozen=True)
class Standing:
    """How far a person is with a test.

    Attributes
    ----------
    answered : int
        Pairs answered in the round that is under way.
    right : int
        Of the last whole round.
    rounds : int
        Whole rounds.
    passed : bool
        Whether enough were right in one of them.
    """

    answered: int
    right: int
    rounds: int
    passed: bool


class EntryTest:
    """Pairs that everybody answers first, in this order, until enough of them are right.

    Parameters
    ----------
    pairs : iterable of (int, int, str)
        Two items each, and the right answer.
    share : float
        Share of them that must be right.

    Examples
    --------
    >>> test = EntryTest([(0, 1, "same"), (0, 2, "different")], share=1.0)
    >>> test.pair(0)
    (0, 1)
    >>> test.told(Standing(0, 1, 1, False))
    '1 of 2 right, and 100% are wanted: read the instructions and try once more.'
    """

    def __init__(self, pairs: Iterable[tuple[int, int, str]], share: float = SHARE) -> None:
        self.pairs = tuple((int(i), int(j), str(answer)) for i, j, answer in pairs)
        self.share = share
        if not 1 <= len(self.pairs) <= MOST:
            raise InputError(
                f"A test has 1 to {MOST} pairs of items that are here; got {len(self.pairs)}."
            )
        if not 0.0 < share <= 1.0:
            raise InputError(f"The share that must be right is above 0% to 100%; got {share:.0%}.")
        # another test is another matter, and so is one whose items have other numbers
        self.mark = sha256(json.dumps(self.pairs).encode()).hexdigest()[:16]

    def pair(self, number: int) -> tuple[int, int]:
        """The items of one of the pairs, from 0."""
        i, j, _ = self.pairs[number]
        return i, j

    def note(self, number: int, answer: str) -> dict[str, object]:
        """Body of the note that holds an answer to one of the pairs."""
        i, j = self.pair(number)
        return {TESTED: self.mark, "i": i, "j": j, "answer": answer}

    def standing(self, events: Iterable[Event], annotator: str) -> Standing:
        """How far a person is, by the log.

        Parameters
        ----------
        events : iterable of Event
            The log.
        annotator : str
            Who.

        Returns
        -------
        Standing
        """
        said = [
            event.body["answer"]
            for event in events
            if event.annotator == annotator and event.body.get(TESTED) == self.mark
        ]
        size, right, passed = len(self.pairs), 0, False
        rounds = len(said) // size
        for start in range(0, rounds * size, size):
            given = said[start : start + size]
            right = sum(a == pair[2] for a, pair in zip(given, self.pairs, strict=True))
            passed = passed or right >= self.share * size - 1e-9
        return Standing(len(said) % size, right, rounds, passed)

    def told(self, standing: Standing) -> str:
        """What a person is told after a whole round."""
        score = f"{standing.right} of {len(self.pairs)} right"
        if standing.passed:
            return f"{score}: your answers count from now on."
        wanted = f"{self.share:.0%}"
        return f"{score}, and {wanted} are wanted: read the instructions and try once more."
