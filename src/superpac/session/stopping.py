"""How much error is left: an estimate with an interval after every answer, and when to stop.

Four sources of error are told apart. Doubt: what the strategy's own posterior says, recalibrated by
how often it was right about the points that answers then placed. These were chosen for being
doubtful, so what is learned is a curve from the doubt to the chance of being wrong, not a rate: a
logistic one with two unknowns, and every curve that the answers leave possible counts. Blind spots:
points that the posterior is sure of and that are wrong all the same, rare and in clumps; what is
assumed of them falls with the answers that put a label to the test, and faster where sure points
proved right. Answers about two sets tell nothing of the points within, and do not count. Surplus
groups find no class and are wrong whole; where fewer groups than clusters are of any size, a
cluster is hidden in another's group. Sets taken for parts of one cluster without an answer may be
another; where the number of clusters is unknown, two groups may be one as well, and the strategy
says how many points are expected to change group. Only the first can be called a
calculation: the rest is experience, and ``benchmarks/stopping.py`` shows how often the interval
holds.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass

import numpy as np
from scipy.stats import gamma

from superpac.array_types import FloatArray
from superpac.errors import InputError
from superpac.strategies import Beliefs

RECENT = 100  # answers that the corrections look back on
SHIFTS, SLOPES = np.linspace(-2.5, 2.5, 21), np.linspace(0.1, 1.3, 17)
SHIFT, SHIFT_SPREAD = -0.4, 0.5  # the posterior doubts a little too much where it doubts,
SLOPE, SLOPE_SPREAD = 0.85, 0.15  # and not enough where it is sure
LEAST = 0.15  # of what is expected, that the lower end counts on
SURE = 0.9  # a label believed in more than this is taken for sure
BLIND = 0.03  # share of sure points that are wrong before any answer
HARD = 5.0  # an item asked about tells as much as so many at random
SHAPE = 0.5
APART = 0.6  # share of assumed parts that may be another class, at most
TINY = 1e-6


@dataclass(frozen=True)
class ErrorLeft:
    """Share of items in a wrong cluster.

    Attributes
    ----------
    estimate : float
        Best guess.
    low, high : float
        95% interval.
    """

    estimate: float
    low: float
    high: float

    def to_dict(self) -> dict[str, float]:
        """Plain values."""
        return asdict(self)


def error_left(beliefs: Beliefs, n_clusters: int) -> ErrorLeft:
    """Estimate the error that is left, from what a strategy believes and how it fared.

    Parameters
    ----------
    beliefs : Beliefs
        As :meth:`superpac.strategies.Strategy.beliefs` gives them.
    n_clusters : int
        Number of clusters.

    Returns
    -------
    ErrorLeft

    References
    ----------
    Dawid, "Present position and potential developments: some personal views: statistical theory:
    the prequential approach", JRSS A 147, 1984.

    Examples
    --------
    >>> sure, asked = np.full(1000, 0.99), np.array([[0.9, 1.0]] * 40)
    >>> found = error_left(Beliefs(sure, asked), n_clusters=5)
    >>> round(found.estimate, 4), found.low < found.estimate < found.high
    (0.0103, True)
    """
    n = beliefs.right.size
    free = beliefs.right[beliefs.right < 1.0]
    doubt, least, most = _doubt(free, beliefs.record[-RECENT:], n)

    sure = beliefs.record[beliefs.record[:, 0] > SURE][-RECENT:]
    shape = SHAPE + float((1.0 - sure[:, 1]).sum())
    rate = SHAPE * (1.0 + len(beliefs.record) / n_clusters) / BLIND + HARD * len(sure)
    blind = np.array([shape, gamma.ppf(0.975, shape)]) / rate * free.size / n

    surplus, missing = beliefs.surplus / n, beliefs.missing / n
    assumed = beliefs.assumed / n
    moved, spread = beliefs.regrouped / n, beliefs.regrouped_spread / n
    estimate = doubt + blind[0] + 0.5 * (surplus + missing) + 0.1 * assumed + moved
    high = most + blind[1] + surplus + missing + APART * assumed + moved + 2.0 * spread
    estimate, high = min(1.0, float(estimate)), min(1.0, float(high))
    return ErrorLeft(estimate, min(least, estimate), max(high, estimate))


def _doubt(right: FloatArray, record: FloatArray, n: int) -> tuple[float, float, float]:
    """Share of wrong points by the recalibrated posterior: mean, low and high.

    The chance of being wrong is taken for ``sigmoid(shift + slope * logit(1 - right))``; shift and
    slope are weighed on a grid by a prior and by what was recorded.
    """
    shift, slope = np.meshgrid(SHIFTS, SLOPES, indexing="ij")
    weight = -0.5 * ((shift - SHIFT) / SHIFT_SPREAD) ** 2
    weight -= 0.5 * ((slope - SLOPE) / SLOPE_SPREAD) ** 2
    at = shift[..., None] + slope[..., None] * _logit(1.0 - record[:, 0])
    weight += ((1.0 - record[:, 1]) * at - np.logaddexp(0.0, at)).sum(axis=-1)
    weight = np.exp(weight - weight.max())
    weight /= weight.sum()

    edges = np.logspace(np.log10(TINY), 0.0, 61)
    count, _ = np.histogram(np.clip(1.0 - right, TINY, 1.0), edges)
    middle = _logit(np.sqrt(edges[1:] * edges[:-1]))
    chance = 1.0 / (1.0 + np.exp(-(shift[..., None] + slope[..., None] * middle)))
    wrong = (chance * count).sum(axis=-1) / n

    order = np.argsort(wrong, axis=None)
    upto, sorted_wrong = np.cumsum(weight.ravel()[order]), wrong.ravel()[order]
    low, high = (float(sorted_wrong[np.searchsorted(upto, q)]) for q in (0.025, 0.975))
    low, high = LEAST * low, high + 2.0 * float(np.sqrt(high / n))
    return float((weight * wrong).sum()), max(0.0, low - 2.0 * float(np.sqrt(low / n))), high


def _logit(share: FloatArray) -> FloatArray:
    inside = np.clip(share, TINY, 1.0 - TINY)
    return np.log(inside / (1.0 - inside))


def parse_share(text: str) -> float:
    """Read a share of items such as ``1%`` or ``0.01``.

    Examples
    --------
    >>> parse_share("1%"), parse_share("0.005")
    (0.01, 0.005)
    """
    try:
        share = float(text.rstrip("%")) / (100.0 if text.endswith("%") else 1.0)
    except ValueError:
        share = -1.0
    if not 0.0 < share < 1.0:
        raise InputError(
            f"A share of items is written 1% or 0.01, above 0 and below all. Got {text!r} instead."
        )
    return share


def reached(left: dict[str, float] | None, until: float, strategy: str) -> bool:
    """Whether the upper end of an estimate is at or below a share, so that one may stop.

    Parameters
    ----------
    left : dict or None
        ``error_left`` of a session's progress.
    until : float
        Share of wrong items that is good enough.
    strategy : str
        Named when it gives no estimate.
    """
    if left is None:
        raise InputError(
            f"The strategy {strategy!r} gives no estimate of the error left to stop by; use "
            "superpac-d, or check with superpac audit."
        )
    return left["high"] <= until


def in_words(left: dict[str, float] | None) -> str:
    """One sentence for a person.

    Examples
    --------
    >>> in_words({"estimate": 0.012, "low": 0.002, "high": 0.05})
    'about 1.2% of the items are in a wrong cluster, between 0.2% and 5.0% with 95% confidence'
    """
    if left is None:
        return "no estimate with this strategy; superpac audit checks a sample"
    shown = {name: f"{100 * value:.1f}%" for name, value in left.items()}
    return (
        f"about {shown['estimate']} of the items are in a wrong cluster, between {shown['low']} "
        f"and {shown['high']} with 95% confidence"
    )
