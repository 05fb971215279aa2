"""Figures with their uncertainty: the bootstrap over trials, and what is read off a curve."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from superpac.array_types import FloatArray, IntArray

RESAMPLES = 2000
LEVEL = 0.95


@dataclass(frozen=True)
class Interval:
    """A figure with its confidence interval.

    Attributes
    ----------
    value, low, high : float
        The figure and its bounds; the bounds are NaN where one trial alone tells nothing.
    n : int
        Trials behind it.
    """

    value: float
    low: float
    high: float
    n: int

    def text(self, unit: str = "%", digits: int = 1, trials: bool = True) -> str:
        """Write it for people; ``%`` multiplies by 100, `trials` says how many there were.

        Examples
        --------
        >>> Interval(0.05, 0.04, 0.07, 20).text()
        '5.0% (4.0 to 7.0, 20 trials)'
        """
        scale = 100.0 if unit == "%" else 1.0
        value, low, high = (_number(scale * v, digits) for v in (self.value, self.low, self.high))
        if not trials:
            return f"{value}{unit}"
        if self.n == 1 or not np.isfinite(self.low):
            return f"{value}{unit} ({self.n} trial{'s' if self.n > 1 else ''})"
        return f"{value}{unit} ({low} to {high}, {self.n} trials)"

    def within(self, low: float = -np.inf, high: float = np.inf) -> bool | None:
        """Whether the figure is in a band; None where only its interval reaches into it.

        Examples
        --------
        >>> found = Interval(0.09, 0.06, 0.12, 20)
        >>> found.within(high=0.1), found.within(high=0.075), found.within(high=0.05)
        (True, None, False)
        """
        if np.isnan(self.value):
            return None
        if low <= self.value <= high:
            return True
        return None if self.least() <= high and self.most() >= low else False

    def least(self) -> float:
        """Lower end; the figure itself where there is no interval."""
        return self.value if np.isnan(self.low) else self.low

    def most(self) -> float:
        """Upper end; the figure itself where there is no interval."""
        return self.value if np.isnan(self.high) else self.high


def bootstrap(statistic: Callable[[IntArray], float], n: int, seed: int = 0) -> Interval:
    """Percentile interval of a statistic of trials, trials drawn with replacement.

    Parameters
    ----------
    statistic : callable
        From the indices of the trials drawn to a number.
    n : int
        Number of trials.
    seed : int, default=0
        Of the draws.

    Returns
    -------
    Interval

    References
    ----------
    Efron & Tibshirani, "An introduction to the bootstrap", 1993, chapter 13.

    Examples
    --------
    >>> errors = np.array([0.04, 0.05, 0.06, 0.05])
    >>> found = bootstrap(lambda rows: errors[rows].mean(), 4)
    >>> found.value, found.low < 0.05 < found.high
    (0.05, True)
    """
    value = float(statistic(np.arange(n)))
    if n < 2:
        return Interval(value, np.nan, np.nan, n)
    return _interval(value, np.array([statistic(rows) for rows in _draws(n, seed)]), n)


def mean_of(values: FloatArray, seed: int = 0) -> Interval:
    """Mean over trials with its bootstrap interval; NaN is left out."""
    known = np.asarray(values, dtype=np.float64)
    known = known[~np.isnan(known)]
    if known.size < 2:
        return Interval(float(known.mean()) if known.size else np.nan, np.nan, np.nan, known.size)
    return _interval(float(known.mean()), known[_draws(known.size, seed)].mean(axis=1), known.size)


def median_of(values: FloatArray, seed: int = 0) -> Interval:
    """Median over trials (:func:`middle`) with its bootstrap interval."""
    known = np.asarray(values, dtype=np.float64)
    if known.size < 2:
        return Interval(float(known[0]) if known.size else np.nan, np.nan, np.nan, known.size)
    drawn = np.sort(known[_draws(known.size, seed)], axis=1)[:, known.size // 2]
    return _interval(middle(known), drawn, known.size)


def _draws(n: int, seed: int) -> IntArray:
    return np.random.default_rng(seed).integers(n, size=(RESAMPLES, n))


def _interval(value: float, drawn: FloatArray, n: int) -> Interval:
    drawn = np.sort(drawn[~np.isnan(drawn)])
    if drawn.size == 0:
        return Interval(value, np.nan, np.nan, n)
    # Order statistics, not an interpolation, which is undefined between a number and infinity.
    tail = (1 - LEVEL) / 2
    low, high = (drawn[round(share * (drawn.size - 1))] for share in (tail, 1 - tail))
    return Interval(value, float(low), float(high), n)


def middle(values: FloatArray) -> float:
    """Upper median: a value that occurs, so that infinities never meet in a mean.

    Examples
    --------
    >>> middle(np.array([1.0, np.inf])), middle(np.array([3.0, 1.0, 2.0]))
    (inf, 2.0)
    """
    return float(np.sort(values)[values.size // 2])


def questions_to(curves: FloatArray, level: float) -> FloatArray:
    """Questions until the error is first at most `level`, one value per trial; infinite if never.

    Examples
    --------
    >>> questions_to(np.array([[0.5, 0.1, 0.0], [0.5, 0.4, 0.3]]), 0.1)
    array([ 1., inf])
    """
    below = np.nan_to_num(curves, nan=np.inf) <= level + 1e-12
    return np.where(below.any(axis=1), below.argmax(axis=1), np.inf).astype(np.float64)


def answered(curves: FloatArray) -> IntArray:
    """Questions that each trial got to."""
    return np.sum(~np.isnan(curves), axis=1) - 1


def area(curves: FloatArray, upto: int) -> FloatArray:
    """Mean error over the questions 0 to `upto`, one value per trial."""
    return np.asarray(curves[:, : upto + 1].mean(axis=1))


def _number(value: float, digits: int) -> str:
    if np.isnan(value):
        return "-"
    return "never" if np.isinf(value) else f"{value:.{digits}f}"
