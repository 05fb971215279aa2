"""How the estimate of the error left fell so far, and how many questions may be left."""

from __future__ import annotations

from dataclasses import asdict, dataclass

import numpy as np

from superpac.answers.history import History

LEFT = "left"  # name under which an answer keeps the estimate that stood beside its question
FEWEST = 12  # estimates before anything is said about what is left
AGREE = 2.5  # two guesses of what is left may differ by this factor
FAR = 5.0  # nothing is said about more than so many times the answers so far
TINY = 1e-6


@dataclass(frozen=True)
class ErrorPoint:
    """Estimate of the error left after so many answers.

    Attributes
    ----------
    questions : int
        Answers that it follows from.
    estimate, low, high : float
        Share of items in a wrong cluster, with its 95% interval.
    """

    questions: int
    estimate: float
    low: float
    high: float

    def to_dict(self) -> dict[str, float]:
        """Plain values."""
        return asdict(self)


def error_curve(history: History) -> list[ErrorPoint]:
    """Estimates of the error left that were kept with the standing answers.

    Parameters
    ----------
    history : History
        What the log says.

    Returns
    -------
    list of ErrorPoint
        In order; answers without an estimate beside them are left out.
    """
    found = []
    for n, event in enumerate(history.standing()):
        kept = (event.body.get("why") or {}).get(LEFT)
        if isinstance(kept, list) and len(kept) == 3:
            found.append(ErrorPoint(n, *map(float, kept)))
    return found


def questions_left(curve: list[ErrorPoint], until: float) -> int | None:
    """How many more answers the upper end of the estimate may take to fall to a share.

    It falls by about the same factor with every answer, so a line through its logarithm is drawn
    on: through the last half of the answers and through the last quarter. Where the two
    disagree, one of them does not fall, or the line had to be drawn on too far, nothing honest
    can be said.

    Parameters
    ----------
    curve : list of ErrorPoint
        Estimates so far, in order.
    until : float
        Share of wrong items that is good enough.

    Returns
    -------
    int or None
        None where the answers so far do not tell.

    Examples
    --------
    >>> falling = [ErrorPoint(n, 0.0, 0.0, 0.4 * 0.95**n) for n in range(40)]
    >>> questions_left(falling, until=0.01)
    34
    >>> questions_left(falling[:5], until=0.01) is None
    True
    """
    if len(curve) < FEWEST:
        return None
    at = np.array([point.questions for point in curve], dtype=np.float64)
    high = np.log(np.maximum([point.high for point in curve], TINY))
    now, found = float(np.median(high[-3:])), []
    for part in (len(curve) // 2, len(curve) // 4):
        last = max(part, FEWEST - 2)
        if np.ptp(at[-last:]) == 0:
            return None
        slope = float(np.polyfit(at[-last:], high[-last:], 1)[0])
        if slope >= 0.0:
            return None
        found.append(max((float(np.log(until)) - now) / slope, 1.0))
    if max(found) > min(AGREE * min(found), FAR * float(at[-1])):
        return None
    return round(float(np.exp(np.mean(np.log(found)))))
