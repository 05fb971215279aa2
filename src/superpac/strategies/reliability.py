"""How often each person errs, and how likely each answer is to be wrong.

An answer places a point: in a set, or not in it. Which set the point is really in is not known, but
the model has beliefs about it in which the point's own answers have no part. Answers, beliefs and
error rates explain each other, and are fitted in turns (Dawid & Skene, "Maximum likelihood
estimation of observer error-rates using the EM algorithm", Applied Statistics 28, 1979). Counting
outvoted answers alone finds a fraction of the errors: most wrong answers are never asked again.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from superpac.answers import SAME, UNSURE, Link

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.intp]

PRIOR_WRONG = 0.25
PRIOR_ANSWERS = 50.0  # before any answer one in two hundred is wrong, as if seen on so many
SHRINK = 50.0  # answers of a person's own that weigh as much as everybody's rate
WORST = 0.4  # nobody is taken to be worse than this: answers would turn into their opposite
TEMPER = 0.5  # a point that is asked about is harder than the model thinks
NEW = 0.05  # chance that a point is in no known set
ROUNDS = 60


@dataclass(frozen=True)
class Reliability:
    """What was learned about the people who answer.

    Attributes
    ----------
    rate : float
        Share of wrong answers, of all people together.
    by : dict of str to float
        The same for each person, drawn towards `rate` while there are few answers.
    wrong : dict of int to float
        Sequence number of an answer to the chance that it is wrong; answers that no belief speaks
        about are left out.
    """

    rate: float = PRIOR_WRONG / PRIOR_ANSWERS
    by: dict[str, float] = field(default_factory=dict)
    wrong: dict[int, float] = field(default_factory=dict)

    def chance(self, answer: Link) -> float:
        """Chance that an answer is wrong; the person's rate where nothing else is known."""
        return self.wrong.get(answer.seq, self.by.get(answer.annotator, self.rate))


def learn_reliability(
    answers: Sequence[Link],
    beliefs: FloatArray,
    place: IntArray,
    between: Iterable[tuple[int, int]] = (),
) -> Reliability:
    """Fit error rates to the answers and to where the model would place the points.

    Parameters
    ----------
    answers : sequence of Link
        Standing answers in order.
    beliefs : ndarray of shape (n, S)
        Posterior over sets of every point, its own answers left out.
    place : ndarray of int of shape (n,)
        The set of each settled point, -1 for the rest.
    between : iterable of (int, int)
        Pairs that were asked to join two sets. Beliefs say nothing about these any more once the
        sets are one, so only votes count.

    Returns
    -------
    Reliability

    Examples
    --------
    >>> beliefs = np.tile([0.999, 0.001], (300, 1))
    >>> place = np.zeros(300, dtype=np.intp)
    >>> place[0] = 1
    >>> right = [Link(n, n, 1, "same", "Ada") for n in range(2, 200)]
    >>> wrong = [Link(n, n, 0, "same", "Bob") for n in range(200, 210)]
    >>> found = learn_reliability(right + wrong, beliefs, place)
    >>> found.by["Ada"] < 0.02 < 0.1 < found.by["Bob"]
    True
    >>> found.wrong[205] > 0.5 > found.wrong[100]
    True
    """
    said = [a for a in answers if a.answer != UNSURE]
    people = sorted({a.annotator for a in said})
    if not said:
        return Reliability()
    number = {name: p for p, name in enumerate(people)}
    cases = _Cases(len(people))
    apart = set(between)
    votes: dict[tuple[int, int], list[Link]] = {}
    told: list[tuple[Link, tuple[int, int], bool]] = []
    for answer in said:
        test, other = answer.i, answer.j
        if place[other] < 0:
            test, other = other, test
        pair = (min(test, other), max(test, other))
        k = int(place[other])
        if k < 0 or (pair in apart and place[test] == k):
            votes.setdefault(pair, []).append(answer)
            continue
        same = answer.answer == SAME
        cases.add(test, k, number[answer.annotator], same)
        told.append((answer, (test, k), same))
    counted = np.zeros((2, len(people)))  # wrong votes, all votes
    for several in votes.values():
        _count(several, number, counted)
    rate, by, given = cases.fit(beliefs, counted)
    wrong = {
        answer.seq: float(1 - given[key] if same else given[key]) for answer, key, same in told
    }
    return Reliability(rate, dict(zip(people, by.tolist(), strict=True)), wrong)


def _count(votes: list[Link], number: dict[str, int], counted: FloatArray) -> None:
    """Count votes on one pair against their majority; a lone vote tells nothing."""
    same = sum(vote.answer == SAME for vote in votes)
    if len(votes) < 2 or 2 * same == len(votes):
        return
    for vote in votes:
        p = number[vote.annotator]
        counted[1, p] += 1
        counted[0, p] += (vote.answer == SAME) != (2 * same > len(votes))


class _Cases:
    """Points with the sets that they were compared with; all other sets of a point are one entry.

    Every entry holds how often each person erred if the point is there: who said "same" of another
    set, and who said "different" of this one.
    """

    def __init__(self, people: int) -> None:
        self._people = people
        self._same: dict[int, FloatArray] = {}
        self._entries: dict[tuple[int, int], FloatArray] = {}  # same votes, different votes

    def add(self, test: int, k: int, person: int, same: bool) -> None:
        entry = self._entries.setdefault((test, k), np.zeros((2, self._people)))
        entry[0 if same else 1, person] += 1
        total = self._same.setdefault(test, np.zeros(self._people))
        total[person] += same

    def fit(
        self, beliefs: FloatArray, counted: FloatArray
    ) -> tuple[float, FloatArray, dict[tuple[int, int], float]]:
        """Overall rate, rate a person, and the posterior of each set that a point was told of."""
        keys = list(self._entries)
        tests = list(self._same)
        row = {test: n for n, test in enumerate(tests)}
        case = np.array([row[t] for t, _ in keys] + list(range(len(tests))), dtype=np.intp)
        asked = np.array(keys, dtype=np.intp).reshape(-1, 2)
        soft = beliefs[tests] ** TEMPER
        soft *= (1 - NEW) / soft.sum(axis=1, keepdims=True)
        prior = soft[case[: len(keys)], asked[:, 1]]
        rest = 1 - np.bincount(case[: len(keys)], prior, len(tests))
        log_prior = np.log(np.maximum(np.r_[prior, rest], 1e-12))
        sames = np.array([self._same[t] for t in tests]).reshape(-1, self._people)
        table = np.array([self._entries[key] for key in keys]).reshape(-1, 2, self._people)
        errors = np.r_[sames[case[: len(keys)]] - table[:, 0] + table[:, 1], sames]
        answered = table.sum(axis=(0, 1)) + counted[1]
        rate = PRIOR_WRONG / PRIOR_ANSWERS
        by = np.full(self._people, rate)
        given = np.exp(log_prior)
        for _ in range(ROUNDS):
            weight = log_prior + errors @ np.log(by / (1 - by))
            top = np.full(len(tests), -np.inf)
            np.maximum.at(top, case, weight)
            given = np.exp(weight - top[case])
            given /= np.bincount(case, given, len(tests))[case]
            wrong = given @ errors + counted[0]
            before = rate
            rate = float((PRIOR_WRONG + wrong.sum()) / (PRIOR_ANSWERS + answered.sum()))
            if self._people > 1:
                by = np.minimum((SHRINK * rate + wrong) / (SHRINK + answered), WORST)
            else:
                by = np.array([min(rate, WORST)])
            if abs(rate - before) < 1e-5:
                break
        return min(rate, WORST), by, dict(zip(keys, given.tolist(), strict=False))
