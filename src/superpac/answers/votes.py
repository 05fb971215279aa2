"""Answers as evidence: votes on pairs, what is believed, how often answers are wrong.

People err (about 1.2% of paid annotators' answers, Biswas & Jacobs, IJCV 2014). A pair that was
asked again holds several votes, each weighed by the log odds of its annotator being right (Dawid &
Skene, Applied Statistics 28, 1979); the heavier side is believed, a balance counts as not asked.
With one annotator that is the majority. How often votes were outvoted, with a prior of one in two
hundred, is the error rate that goes into the weights; :meth:`Votes.learn` adds what the model knows
about answers that were never asked again, for deciding what to ask again.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from math import exp, log

import numpy as np
from numpy.typing import NDArray

from superpac.answers.links import DIFFERENT, SAME, UNSURE, Link
from superpac.answers.reliability import WORST, Reliability, learn_reliability

PRIOR_WRONG = 0.5
PRIOR_ANSWERS = 100.0
BALANCE = 0.5  # sides closer than half an ordinary vote are even

Pair = tuple[int, int]


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
        self._votes: dict[Pair, list[Link]] = {}
        self._contested: dict[Pair, int] = {}  # pair with votes of both kinds -> what is believed
        self._order: list[Link] = []
        self._about: dict[int, list[Link]] = {}
        self._answers: dict[str, int] = {}
        self.held: set[Pair] = set()
        self.answers = 0
        self.learned: Reliability | None = None

    def take(self, answer: Link) -> bool:
        """Count one answer; True if what is believed of a pair asked before has changed."""
        self.learned = None
        if answer.answer == UNSURE:
            self._order.append(answer)
            return False
        self.answers += 1
        self._answers[answer.annotator] = self._answers.get(answer.annotator, 0) + 1
        pair = _pair(answer.i, answer.j)
        votes = self._votes.setdefault(pair, [])
        before = self._believed(pair)
        votes.append(answer)
        if len(votes) == 1:
            self._order.append(answer)
            self._about.setdefault(answer.i, []).append(answer)
        elif pair not in self._contested and answer.answer != votes[0].answer:
            self._contested[pair] = before
        confirmed = len(votes) > 1 and pair not in self._contested and not before
        return self._weigh() or confirmed

    def hold(self, i: int, j: int) -> None:
        """Believe the next answer about a pair only once a second one agrees with it.

        Examples
        --------
        >>> votes = Votes()
        >>> votes.hold(3, 7)
        >>> votes.take(Link(1, 3, 7, "same")), votes.believed()
        (False, [])
        >>> votes.take(Link(2, 3, 7, "same")), votes.believed()[0].answer
        (True, 'same')
        """
        self.held.add(_pair(i, j))

    def take_all(self, answers: Iterable[Link]) -> None:
        """Count many answers."""
        for answer in answers:
            self.take(answer)

    def believed(self) -> list[Link]:
        """Answers as believed, each pair once, in the order in which pairs were first asked."""
        found = []
        for answer in self._order:
            if answer.answer == UNSURE:
                found.append(answer)
                continue
            sign = self._believed(_pair(answer.i, answer.j))
            if sign:
                found.append(answer._replace(answer=SAME if sign > 0 else DIFFERENT))
        return found

    def net(self, i: int, j: int) -> int:
        """Lead of the side that is believed, in votes, at least one; negative for "different"."""
        pair = _pair(i, j)
        sign = self._believed(pair)
        lead = sum(_vote(link) for link in self._votes.get(pair, ()))
        return sign * max(1, sign * lead)

    def odds(self, i: int, j: int) -> float:
        """Log odds of "same" by the votes on a pair, each by its annotator's reliability."""
        votes = self._votes.get(_pair(i, j), ())
        return sum(_vote(link) * _log_odds(self.rate_of(link.annotator)) for link in votes)

    def doubt(self, i: int, j: int) -> float:
        """Chance that what is believed of a pair is wrong, by its votes alone.

        Examples
        --------
        >>> votes = Votes()
        >>> votes.take(Link(1, 3, 7, "same", "Ada"))
        False
        >>> votes.doubt(3, 7) == votes.rate_of("Ada")
        True
        """
        votes = self._votes.get(_pair(i, j), ())
        if len(votes) == 1:
            return self.rate_of(votes[0].annotator)
        return 1.0 / (1.0 + exp(min(abs(self.odds(i, j)), 700.0)))

    def said(self, i: int, j: int) -> Sequence[Link]:
        """Votes on a pair, in order."""
        return self._votes.get(_pair(i, j), ())

    def about(self, point: int) -> Sequence[Link]:
        """First votes of the pairs in which this point was the one to be placed."""
        return self._about.get(point, ())

    def asked(self, i: int, j: int) -> bool:
        """Whether a pair has a vote."""
        return _pair(i, j) in self._votes

    def ties(self) -> Iterable[Link]:
        """Pairs whose votes are even, or held and not confirmed: asked again next."""
        even = [pair for pair, sign in self._contested.items() if sign == 0]
        even += [pair for pair in self.held if len(self._votes.get(pair, ())) == 1]
        return (self._votes[pair][0] for pair in sorted(even))

    @property
    def wrong(self) -> int:
        """Votes that were outvoted."""
        return sum(self._outvoted().values())

    @property
    def rate(self) -> float:
        """Estimated share of wrong answers: as learned, or as counted."""
        return self._counted() if self.learned is None else self.learned.rate

    def rate_of(self, annotator: str) -> float:
        """Estimated share of wrong answers of one annotator, near the overall one at first."""
        if self.learned is not None:
            return self.learned.by.get(annotator, self.learned.rate)
        return self._rates().get(annotator, self._counted())

    def learn(
        self,
        beliefs: NDArray[np.float64],
        place: NDArray[np.intp],
        merges: Iterable[Link] = (),
    ) -> Reliability:
        """Learn rates from votes and from where the model would place points; until the next vote.

        Parameters
        ----------
        beliefs : ndarray of shape (n, S)
            Posterior over sets of every point, its own answers left out.
        place : ndarray of int of shape (n,)
            Set of each settled point, -1 for the rest.
        merges : iterable of Link
            Answers that joined two sets.

        Returns
        -------
        Reliability
        """
        votes = sorted((v for several in self._votes.values() for v in several), key=_seq)
        between = {_pair(link.i, link.j) for link in merges}
        self.learned = learn_reliability(votes, beliefs, place, between)
        return self.learned

    def forget(self) -> None:
        """Go back to what the votes alone say, as it must be while answers are taken in."""
        self.learned = None

    def mistaken(self) -> list[Link]:
        """First answers that later votes overruled, for a person to see."""
        firsts = ((self._votes[pair][0], sign) for pair, sign in self._contested.items())
        return [link for link, sign in firsts if sign * _vote(link) < 0]

    def _believed(self, pair: Pair) -> int:
        if pair in self._contested:
            return self._contested[pair]
        votes = self._votes.get(pair)
        if not votes or (len(votes) == 1 and pair in self.held):
            return 0
        return _vote(votes[0])

    def _weigh(self) -> bool:
        """Weigh contested pairs anew: every answer tells about its annotator. True on a change."""
        rates = self._rates()
        usual = _log_odds(self._counted())
        weight = {name: _log_odds(rate) / usual for name, rate in rates.items()}
        changed = False
        for pair, before in self._contested.items():
            total = sum(_vote(link) * weight[link.annotator] for link in self._votes[pair])
            sign = 0 if abs(total) < BALANCE else (1 if total > 0 else -1)
            changed |= sign != before
            self._contested[pair] = sign
        return changed

    def _counted(self) -> float:
        return (PRIOR_WRONG + self.wrong) / (PRIOR_ANSWERS + self.answers)

    def _rates(self) -> dict[str, float]:
        rate = self._counted()
        if len(self._answers) == 1:
            return dict.fromkeys(self._answers, rate)
        wrong = self._outvoted()
        return {
            name: min((PRIOR_ANSWERS * rate + wrong.get(name, 0)) / (PRIOR_ANSWERS + count), WORST)
            for name, count in self._answers.items()
        }

    def _outvoted(self) -> dict[str, int]:
        found: dict[str, int] = {}
        for pair, sign in self._contested.items():
            for link in self._votes[pair]:
                if sign * _vote(link) < 0:
                    found[link.annotator] = found.get(link.annotator, 0) + 1
        return found


def chance_wrong(belief: float, rate: float) -> float:
    """Chance that an answer is wrong that the model believed in with probability `belief`.

    Examples
    --------
    >>> round(chance_wrong(0.01, 0.01), 3)
    0.5
    """
    against = rate * (1.0 - belief)
    return against / max(against + (1.0 - rate) * belief, 1e-300)


def pair_of(link: Link) -> Pair:
    """The two items of an answer, the smaller first."""
    return _pair(link.i, link.j)


def _pair(i: int, j: int) -> Pair:
    return (i, j) if i < j else (j, i)


def _vote(link: Link) -> int:
    return 1 if link.answer == SAME else -1


def _seq(link: Link) -> int:
    return link.seq


def _log_odds(rate: float) -> float:
    return log((1.0 - rate) / rate)
