"""Answers as evidence: votes on pairs, what is believed, how often answers are wrong.

People err (about 1.2% of paid annotators' answers, Biswas & Jacobs, IJCV 2014). A pair that was
asked again holds several votes, each weighed by the log odds of its annotator being right (Dawid &
Skene, Applied Statistics 28, 1979); the heavier side is believed, a balance counts as not asked.
With one annotator that is the majority. How often votes were outvoted, with a prior of one in two
hundred, is the error rate that goes into the weights.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from math import exp, log

from superpac.answers.links import SAME, UNSURE, Link, Pair, ordered, pair_of
from superpac.answers.reliability import WORST, Reliability

PRIOR_WRONG = 0.5
PRIOR_ANSWERS = 100.0
BALANCE = 0.5  # sides closer than half an ordinary vote are even
ROUNDS = 20  # of weighing votes by people and people by votes


class Votes:
    """Votes on every pair asked about; what is believed of a pair depends on all of them.

    Attributes
    ----------
    answers : int
        Votes so far; "unsure" is none.
    learned : Reliability or None
        What a model knows about people beyond the votes, until the next vote.

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

    An answer that is to be confirmed counts once a second vote agrees:

    >>> votes = Votes()
    >>> votes.take(Link(1, 3, 7, "same", confirm=True)), votes.believed()
    (False, [])
    >>> votes.take(Link(2, 3, 7, "same")), votes.believed()[0].answer
    (True, 'same')
    """

    def __init__(self) -> None:
        self._votes: dict[Pair, list[Link]] = {}
        self._contested: dict[Pair, int] = {}  # pair with votes of both kinds -> what is believed
        self._waiting: set[Pair] = set()  # pairs whose one vote is to be confirmed
        self._order: list[Link] = []
        self._about: dict[int, list[Link]] = {}
        self._answers: dict[str, int] = {}
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
        pair = pair_of(answer)
        votes = self._votes.get(pair)
        if votes is None:
            self._votes[pair] = [answer]
            self._order.append(answer)
            self._about.setdefault(answer.i, []).append(answer)
            if answer.confirm:
                self._waiting.add(pair)
            # with several people one more answer tells about its annotator, and so about others
            return len(self._answers) > 1 and bool(self._contested) and self._weigh()
        before = self._believed(pair)
        votes.append(answer)
        self._waiting.discard(pair)
        if pair not in self._contested and answer.answer != votes[0].answer:
            self._contested[pair] = before
        confirmed = pair not in self._contested and not before
        return self._weigh() or confirmed

    def believed(self) -> list[Link]:
        """Answers as believed, each pair once, in the order in which pairs were first asked."""
        if not self._contested and not self._waiting:
            return self._order.copy()
        found = []
        for answer in self._order:
            if answer.answer == UNSURE:
                found.append(answer)
                continue
            pair = pair_of(answer)
            sign = self._believed(pair)
            if sign:
                # under the number of a vote that says so, or a chain would cite its opposite
                vote = next(vote for vote in self._votes[pair] if _vote(vote) == sign)
                found.append(vote._replace(i=answer.i, j=answer.j))
        return found

    def net(self, i: int, j: int) -> int:
        """Lead of the side that is believed, in votes, at least one; negative for "different"."""
        pair = ordered(i, j)
        sign = self._believed(pair)
        lead = sum(_vote(link) for link in self._votes.get(pair, ()))
        return sign * max(1, sign * lead)

    def odds(self, i: int, j: int) -> float:
        """Log odds of "same" by the votes on a pair, each by its annotator's reliability."""
        votes = self._votes.get(ordered(i, j), ())
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
        votes = self._votes.get(ordered(i, j), ())
        if len(votes) == 1:
            return self.rate_of(votes[0].annotator)
        return 1.0 / (1.0 + exp(min(abs(self.odds(i, j)), 700.0)))

    def said(self, i: int, j: int) -> Sequence[Link]:
        """Votes on a pair, in order."""
        return self._votes.get(ordered(i, j), ())

    def about(self, point: int) -> Sequence[Link]:
        """First votes of the pairs in which this point was the one to be placed."""
        return self._about.get(point, ())

    def asked(self, i: int, j: int) -> bool:
        """Whether a pair has a vote."""
        return ordered(i, j) in self._votes

    def waits(self, i: int, j: int) -> bool:
        """Whether the one vote on a pair is to be confirmed before it counts."""
        return ordered(i, j) in self._waiting

    @property
    def contested(self) -> int:
        """Number of pairs that have votes of both kinds."""
        return len(self._contested)

    def ties(self) -> Iterable[Link]:
        """Pairs whose votes are even, or that wait for a second vote: asked again next."""
        even = [pair for pair, sign in self._contested.items() if sign == 0]
        return (self._votes[pair][0] for pair in sorted((*even, *self._waiting)))

    def all(self) -> list[Link]:
        """Every vote, in the order in which they were given."""
        return sorted((v for several in self._votes.values() for v in several), key=_seq)

    @property
    def wrong(self) -> int:
        """Votes that were outvoted."""
        return sum(self._outvoted().values())

    @property
    def rate(self) -> float:
        """Estimated share of wrong answers: as learned, or as counted."""
        return self.counted_rate if self.learned is None else self.learned.rate

    @property
    def counted_rate(self) -> float:
        """The same by the votes alone."""
        return (PRIOR_WRONG + self.wrong) / (PRIOR_ANSWERS + self.answers)

    def rate_of(self, annotator: str) -> float:
        """Estimated share of wrong answers of one annotator, near the overall one at first."""
        if self.learned is not None:
            return self.learned.by.get(annotator, self.learned.rate)
        return self._rates().get(annotator, self.counted_rate)

    def mistaken(self) -> list[Link]:
        """First answers that later votes overruled, for a person to see."""
        firsts = ((self._votes[pair][0], sign) for pair, sign in self._contested.items())
        return [link for link, sign in firsts if sign * _vote(link) < 0]

    def _believed(self, pair: Pair) -> int:
        """1 for "same", -1 for "different", 0 for neither."""
        if pair in self._contested:
            return self._contested[pair]
        votes = self._votes.get(pair)
        return 0 if not votes or pair in self._waiting else _vote(votes[0])

    def _weigh(self) -> bool:
        """Weigh contested pairs and people in turns, from the majority on; True on a change."""
        before = self._contested
        self._contested = {
            pair: _sign(sum(_vote(link) for link in self._votes[pair])) for pair in before
        }
        for _ in range(ROUNDS if len(self._answers) > 1 else 0):
            usual = _log_odds(self.counted_rate)
            weight = {name: _log_odds(rate) / usual for name, rate in self._rates().items()}
            signs = {
                pair: _sign(sum(_vote(link) * weight[link.annotator] for link in self._votes[pair]))
                for pair in before
            }
            if signs == self._contested:
                break
            self._contested = signs
        return self._contested != before

    def _rates(self) -> dict[str, float]:
        """Share of wrong answers of every annotator, drawn towards everybody's."""
        rate = self.counted_rate
        if len(self._answers) == 1:
            return dict.fromkeys(self._answers, rate)
        wrong = self._outvoted()
        return {
            name: min((PRIOR_ANSWERS * rate + wrong.get(name, 0)) / (PRIOR_ANSWERS + count), WORST)
            for name, count in self._answers.items()
        }

    def _outvoted(self) -> dict[str, int]:
        """Outvoted votes of every annotator."""
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


def _sign(lead: float) -> int:
    return 0 if abs(lead) < BALANCE else (1 if lead > 0 else -1)


def _vote(link: Link) -> int:
    return 1 if link.answer == SAME else -1


def _seq(link: Link) -> int:
    return link.seq


def _log_odds(rate: float) -> float:
    return log((1.0 - rate) / rate)
