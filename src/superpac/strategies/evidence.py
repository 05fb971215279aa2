"""Answers as evidence: votes on pairs, what is believed, how often answers are wrong.

People err (about 1.2% of paid annotators' answers, Biswas & Jacobs, IJCV 2014). A pair that was
asked again holds several votes; the majority is believed, a tie counts as not asked. How often
votes were outvoted, with a prior of one in two hundred, is the error rate that decides what to ask
again.
"""

from __future__ import annotations

from collections.abc import Iterable

from superpac.answers import SAME, UNSURE, Link

PRIOR_WRONG = 0.5
PRIOR_ANSWERS = 100.0


class Votes:
    """Votes on every pair asked about.

    Examples
    --------
    >>> votes = Votes()
    >>> [votes.take(Link(k, 3, 7, word)) for k, word in enumerate(["same", "different"])]
    [False, True]
    >>> votes.believed(), votes.net(7, 3)
    ([], 0)
    >>> votes.take(Link(3, 7, 3, "different"))
    True
    >>> votes.believed()[0].answer, votes.wrong
    ('different', 1)
    """

    def __init__(self) -> None:
        self._first: dict[tuple[int, int], Link] = {}
        self._net: dict[tuple[int, int], int] = {}
        self._count: dict[tuple[int, int], int] = {}
        self._order: list[Link] = []
        self.answers = 0

    def take(self, answer: Link) -> bool:
        """Count one answer; True if what is believed of a pair asked before has changed."""
        if answer.answer == UNSURE:
            self._order.append(answer)
            return False
        self.answers += 1
        pair = _pair(answer.i, answer.j)
        vote = 1 if answer.answer == SAME else -1
        before = self._net.get(pair)
        self._net[pair] = (before or 0) + vote
        self._count[pair] = self._count.get(pair, 0) + 1
        if before is None:
            self._first[pair] = answer
            self._order.append(answer)
            return False
        return _sign(before) != _sign(self._net[pair])

    def believed(self) -> list[Link]:
        """Answers by majority, each pair once, in the order in which pairs were first asked."""
        found = []
        for answer in self._order:
            if answer.answer == UNSURE:
                found.append(answer)
                continue
            net = self._net[_pair(answer.i, answer.j)]
            if net:
                found.append(answer._replace(answer=SAME if net > 0 else "different"))
        return found

    def net(self, i: int, j: int) -> int:
        """Votes for "same" less votes for "different"."""
        return self._net.get(_pair(i, j), 0)

    def asked(self, i: int, j: int) -> bool:
        """Whether a pair has a vote."""
        return _pair(i, j) in self._net

    def ties(self) -> Iterable[Link]:
        """Pairs whose votes are even: asked again next."""
        return (self._first[pair] for pair, net in self._net.items() if net == 0)

    @property
    def wrong(self) -> int:
        """Votes that were outvoted."""
        return sum((self._count[p] - abs(net)) // 2 for p, net in self._net.items() if net)

    @property
    def rate(self) -> float:
        """Estimated share of wrong answers."""
        return (PRIOR_WRONG + self.wrong) / (PRIOR_ANSWERS + self.answers)

    def mistaken(self) -> list[Link]:
        """First answers that later votes overruled, for a person to see."""
        return [
            link
            for pair, link in self._first.items()
            if self._net[pair] * (1 if link.answer == SAME else -1) < 0
        ]


def chance_wrong(belief: float, rate: float) -> float:
    """Chance that an answer is wrong that the model believed in with probability `belief`.

    Examples
    --------
    >>> round(chance_wrong(0.01, 0.01), 3)
    0.5
    """
    against = rate * (1.0 - belief)
    return against / max(against + (1.0 - rate) * belief, 1e-300)


def _pair(i: int, j: int) -> tuple[int, int]:
    return (i, j) if i < j else (j, i)


def _sign(value: int) -> int:
    return (value > 0) - (value < 0)
