"""Who answers without a person: from the truth, with mistakes, or as recorded earlier."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Protocol

import numpy as np
from numpy.typing import ArrayLike

from superpac.answers.links import DIFFERENT, SAME, Link
from superpac.errors import InputError
from superpac.session.questions import Question


class Oracle(Protocol):
    """Whoever answers a question; None when it has no answer left."""

    def __call__(self, question: Question) -> str | None:
        """Answer "same", "different" or "unsure"."""
        ...


class TruthOracle:
    """Answers from true classes.

    Parameters
    ----------
    y : array-like of shape (n,)
        True classes.

    Examples
    --------
    >>> TruthOracle([0, 0, 1])(Question(0, 2, 0, ""))
    'different'
    """

    def __init__(self, y: ArrayLike) -> None:
        self.y = np.asarray(y)

    def __call__(self, question: Question) -> str:
        """Answer from the two true classes."""
        return SAME if self.y[question.i] == self.y[question.j] else DIFFERENT


class NoisyOracle(TruthOracle):
    """Answers from true classes, a share of them wrong at random.

    Parameters
    ----------
    y : array-like of shape (n,)
        True classes.
    wrong : float
        Share of wrong answers, for example 0.012, the rate measured on paid annotators (Biswas &
        Jacobs, "Active image clustering with pairwise constraints from humans", IJCV 2014); 0
        gives the answers of :class:`TruthOracle`.
    seed : int
        Of the mistakes; the same question asked again is a new draw.

    Attributes
    ----------
    mistakes : int
        Wrong answers given so far.

    Examples
    --------
    >>> noisy = NoisyOracle([0, 0, 1], wrong=0.4)
    >>> [noisy(Question(0, 2, 0, "")) for _ in range(3)], noisy.mistakes
    (['same', 'different', 'different'], 1)
    """

    def __init__(self, y: ArrayLike, wrong: float, seed: int = 0) -> None:
        super().__init__(y)
        if not 0.0 <= wrong < 0.5:
            raise InputError(f"The share of wrong answers must be in [0, 0.5). Got {wrong!r}.")
        self.wrong = wrong
        self.rng = np.random.default_rng([seed, 7])
        self.mistakes = 0

    def __call__(self, question: Question) -> str:
        """Answer rightly or, now and then, wrongly."""
        right = super().__call__(question)
        if self.rng.random() >= self.wrong:
            return right
        self.mistakes += 1
        return DIFFERENT if right == SAME else SAME


class ReplayOracle:
    """Answers recorded earlier, by pair.

    Parameters
    ----------
    answers : iterable of Link
        For example ``session.state.answers``.

    Examples
    --------
    >>> replayed = ReplayOracle([Link(1, 0, 2, "different")])
    >>> replayed(Question(2, 0, 0, "")), replayed(Question(0, 1, 0, ""))
    ('different', None)
    """

    def __init__(self, answers: Iterable[Link]) -> None:
        self.known = {(min(a.i, a.j), max(a.i, a.j)): a.answer for a in answers}

    def __call__(self, question: Question) -> str | None:
        """Give the recorded answer; None where there is none."""
        return self.known.get((min(question.i, question.j), max(question.i, question.j)))
