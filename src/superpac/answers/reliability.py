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

from superpac.answers.links import SAME, UNSURE, Link
from superpac.array_types import FloatArray, IntArray
from superpac.device.arrays import Array, like, to_host

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
    beliefs: Array,
    place: IntArray,
    between: Iterable[tuple[int, int]] = (),
) -> Reliability:
    """Fit error rates to the answers and to where the model would place the points.

    Parameters
    ----------
    answers : sequence of Link
        Standing answers in order.
    beliefs : array of shape (n, S)
        Posterior over sets of every point, its own answers left out; of any device.
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
    if not said:
        return Reliability()
    people = sorted({a.annotator for a in said})
    number = {name: p for p, name in enumerate(people)}
    test, other = np.array([(a.i, a.j) for a in said], dtype=np.intp).T
    same = np.array([a.answer == SAME for a in said])
    person = np.array([number[a.annotator] for a in said], dtype=np.intp)
    test, other = np.where(place[other] < 0, other, test), np.where(place[other] < 0, test, other)
    apart = {min(pair) * place.size + max(pair) for pair in between}
    joined = np.isin(np.minimum(test, other) * place.size + np.maximum(test, other), list(apart))
    told = (place[other] >= 0) & ~(joined & (place[test] == place[other]))
    counted = _count([said[n] for n in np.flatnonzero(~told)], number)
    seqs = [said[n].seq for n in np.flatnonzero(told)]
    rate, by, wrong = _fit(
        beliefs, test[told], place[other[told]], same[told], person[told], counted
    )
    return Reliability(
        rate,
        dict(zip(people, by.tolist(), strict=True)),
        dict(zip(seqs, wrong.tolist(), strict=True)),
    )


def _count(votes: Sequence[Link], number: dict[str, int]) -> FloatArray:
    """Votes against the majority of their pair, and all votes, a person; a lone vote tells nothing.

    Returns
    -------
    ndarray of shape (2, people)
    """
    counted = np.zeros((2, len(number)))
    pairs: dict[tuple[int, int], list[Link]] = {}
    for vote in votes:
        pairs.setdefault((min(vote.i, vote.j), max(vote.i, vote.j)), []).append(vote)
    for several in pairs.values():
        same = sum(vote.answer == SAME for vote in several)
        if len(several) < 2 or 2 * same == len(several):
            continue
        for vote in several:
            p = number[vote.annotator]
            counted[1, p] += 1
            counted[0, p] += (vote.answer == SAME) != (2 * same > len(several))
    return counted


def _fit(
    beliefs: Array,
    test: IntArray,
    told: IntArray,
    same: NDArray[np.bool_],
    person: IntArray,
    counted: FloatArray,
) -> tuple[float, FloatArray, FloatArray]:
    """Fit rates to answers that a point `test` is, or is not, in the set `told`.

    A point has an entry for each set that it was told of, and one for all the rest. Every entry
    holds how often each person erred if the point is there: who said "same" of another set, and who
    said "different" of this one.

    Returns
    -------
    rate : float
    by : ndarray of shape (people,)
    wrong : ndarray, one per answer
    """
    people, width = counted.shape[1], beliefs.shape[1]
    tests, row = np.unique(test, return_inverse=True)
    keys, entry = np.unique(row * width + told, return_inverse=True)
    case = np.r_[keys // width, np.arange(tests.size)]

    def tally(where: IntArray, size: int, kind: NDArray[np.bool_]) -> FloatArray:
        flat = np.bincount((where * people + person)[kind], minlength=size * people)
        return flat.reshape(size, people).astype(np.float64)

    sames = tally(row, tests.size, same)
    errors = sames[case]
    errors[: keys.size] += tally(entry, keys.size, ~same) - tally(entry, keys.size, same)
    soft = to_host(beliefs[like(tests, beliefs)]) ** TEMPER
    prior = soft[keys // width, keys % width] * (1 - NEW) / soft.sum(axis=1)[keys // width]
    rest = 1 - np.bincount(keys // width, prior, tests.size)
    log_prior = np.log(np.maximum(np.r_[prior, rest], 1e-12))
    answered = np.bincount(person, minlength=people) + counted[1]
    rate = PRIOR_WRONG / PRIOR_ANSWERS
    by = np.full(people, rate)
    given = np.exp(log_prior)
    for _ in range(ROUNDS):
        given = np.exp(np.maximum(log_prior + errors @ np.log(by / (1 - by)), -600.0))
        given /= np.bincount(case, given, tests.size)[case]
        wrong = given @ errors + counted[0]
        before = rate
        rate = float((PRIOR_WRONG + wrong.sum()) / (PRIOR_ANSWERS + answered.sum()))
        own = (SHRINK * rate + wrong) / (SHRINK + answered)
        by = np.minimum(own if people > 1 else rate, WORST) * np.ones(people)
        if abs(rate - before) < 1e-5:
            break
    return min(rate, WORST), by, np.where(same, 1 - given[entry], given[entry])
