"""What a random sample says about all items: an exact interval, and the result of an audit."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
from scipy.stats import hypergeom

from superpac.array_types import IntArray
from superpac.errors import InputError


def wrong_items(
    wrong: int, sampled: int, population: int, confidence: float = 0.95
) -> tuple[int, int]:
    """Exact interval for how many items of a finite population are wrong.

    Parameters
    ----------
    wrong : int
        Wrong ones in a uniform sample without replacement.
    sampled : int
        Size of the sample.
    population : int
        Items that it was drawn from.
    confidence : float, default=0.95
        Chance that the interval covers the truth, at least.

    Returns
    -------
    low, high : int
        Least and largest number of wrong items that do not make the sample a rare one: each tail
        holds more than half of what `confidence` leaves.

    References
    ----------
    Clopper & Pearson, "The use of confidence or fiducial limits illustrated in the case of the
    binomial", Biometrika 26, 1934.

    Examples
    --------
    >>> wrong_items(0, 50, 1000)
    (0, 69)
    >>> wrong_items(3, 40, 40)
    (3, 3)
    """
    if not 0 <= wrong <= sampled <= population:
        raise InputError(
            "A sample has 0 <= wrong <= sampled <= population. Got "
            f"{wrong}, {sampled} and {population}."
        )
    tail = (1.0 - confidence) / 2
    low = _least(wrong, population, lambda w: hypergeom.sf(wrong - 1, population, w, sampled), tail)
    # the same question asked of the right ones
    right = sampled - wrong
    fewest = _least(
        right, population, lambda r: hypergeom.sf(right - 1, population, r, sampled), tail
    )
    return low, population - fewest


def _least(start: int, end: int, chance: Callable[[int], float], tail: float) -> int:
    """Smallest number in [start, end] whose chance is above `tail`; the chance grows with it."""
    low, high = start, end
    while low < high:
        middle = (low + high) // 2
        if chance(middle) > tail:
            high = middle
        else:
            low = middle + 1
    return low


def fewest_wrong(
    wrong: IntArray,
    sampled: IntArray,
    known_right: IntArray,
    known_wrong: IntArray,
    population: int,
) -> int:
    """Lower end for all clusters when a cluster may be named after another class than thought.

    A cluster whose representative is of a minority class is matched with the majority by the
    Hungarian method, so its wrong items may be the right ones. The bound takes of every cluster
    whichever is fewer; it never exceeds the one that trusts the representatives.

    Parameters
    ----------
    wrong, sampled : ndarray of int of shape (clusters,)
        Of each cluster the items sampled, and those of them unlike their representative.
    known_right, known_wrong : ndarray of int of shape (clusters,)
        Items like and unlike their representative by earlier answers.
    population : int
        Items that the sample was drawn from.

    Returns
    -------
    int

    Examples
    --------
    >>> some = np.array([9, 1]), np.array([10, 10]), np.array([0, 30]), np.array([0, 0])
    >>> fewest_wrong(*some, population=100), wrong_items(10, 20, 100)
    (2, (30, 70))
    """
    weight = population / max(int(sampled.sum()), 1)
    other = known_right + weight * (sampled - wrong) < known_wrong + weight * wrong
    known = np.where(other, known_right, known_wrong).sum()
    count = np.where(other, sampled - wrong, wrong).sum()
    return int(known) + wrong_items(int(count), int(sampled.sum()), population)[0]


@dataclass(frozen=True)
class AuditResult:
    """What an audit found.

    Attributes
    ----------
    estimate, low, high : float
        Share of wrong items with its 95% interval, over all items that are not set aside. The
        estimate and `high` count what is unlike its cluster's representative, so the clustering
        error is never more; `low` allows for representatives of a minority.
    items, settled, population : int
        All items; those whose relation to their representative the answers settle; those that the
        sample is drawn from.
    sampled, wrong, unsure : int
        Items of the sample that were decided, those of them in the wrong cluster, and items that
        nobody could decide (others were drawn in their place).
    known_wrong : int
        Items that the answers themselves show in a wrong cluster, such as all of a cluster that
        turned out to be part of another.
    questions : int
        Answers that this audit took.
    unchecked : int
        Pairs of clusters that nobody has said to be different: each may be one class in two.
    at_stake : int
        Items that would be wrong, beyond `high`, if every unchecked pair were one class.
    finished : bool
        Whether the sample is complete.
    started : int
        The log's last event when the clusters were frozen.
    """

    estimate: float
    low: float
    high: float
    items: int
    settled: int
    population: int
    sampled: int
    wrong: int
    unsure: int
    known_wrong: int
    questions: int
    unchecked: int
    at_stake: int
    finished: bool
    started: int

    def to_dict(self) -> dict[str, Any]:
        """Plain values."""
        return asdict(self)

    def in_words(self) -> str:
        """One or two sentences for a person."""
        if self.population and not self.sampled:
            return (
                f"No item has been sampled yet, so nothing is known but for the {self.settled} of "
                f"{self.items} items that answers have settled."
            )
        words = (
            f"{100 * self.estimate:.1f}% of the items are in a wrong cluster (95% interval "
            f"{100 * self.low:.1f}% to {100 * self.high:.1f}%): {self.wrong} of {self.sampled} "
            f"sampled were wrong, {self.settled} of {self.items} items were settled by answers."
        )
        if self.unsure:
            words += f" {self.unsure} could not be decided and were replaced by others."
        if self.unchecked:
            words += (
                f" Not counted: {self.unchecked} pairs of clusters may be one class each; if all "
                f"were, {self.at_stake} items more would be wrong."
            )
        return words
