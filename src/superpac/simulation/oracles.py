"""Answers without a person: from truth, with mistakes, or replayed. Loops around ask and tell."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Any, Protocol

import numpy as np
from numpy.typing import ArrayLike, NDArray

from superpac.answers.links import DIFFERENT, SAME, Link
from superpac.errors import InputError
from superpac.metrics import clustering_error
from superpac.session.questions import Labelling, Question
from superpac.session.session import Session
from superpac.session.stopping import reached


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
        Jacobs, "Active image clustering with pairwise constraints from humans", IJCV 2014).
    seed : int
        Of the mistakes; the same question asked again is a new draw.
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
    """

    def __init__(self, answers: Iterable[Link]) -> None:
        self.known = {(min(a.i, a.j), max(a.i, a.j)): a.answer for a in answers}

    def __call__(self, question: Question) -> str | None:
        """Give the recorded answer; None where there is none."""
        return self.known.get((min(question.i, question.j), max(question.i, question.j)))


@dataclass
class Run:
    """What a simulated session did.

    Attributes
    ----------
    questions : ndarray of int
        0, 1, 2, ...
    error : ndarray of float
        Clustering error after that many questions.
    ask_ms : ndarray of float
        Milliseconds from an answer to the next question, one a question.
    seconds : float
        Of the whole loop.
    finished : bool
        Whether the strategy had nothing left to ask.
    """

    error: NDArray[np.float64]
    ask_ms: NDArray[np.float64]
    seconds: float
    finished: bool
    facts: dict[str, Any] = field(default_factory=dict)

    @property
    def questions(self) -> NDArray[np.int64]:
        """Number of questions behind each entry of `error`."""
        return np.arange(self.error.size)

    def error_at(self, questions: int) -> float:
        """Error after so many questions; the last one where the run ended earlier."""
        return float(self.error[min(questions, self.error.size - 1)])

    def questions_to(self, level: float) -> int | None:
        """Questions until the error was first at most `level`; None if it never was."""
        below = np.flatnonzero(self.error <= level + 1e-12)
        return int(below[0]) if below.size else None


def simulate(
    session: Session,
    oracle: Oracle,
    y: ArrayLike,
    questions: int,
    *,
    labelling: Labelling = "model",
    until: float | None = None,
    watch: Callable[[int, float], None] | None = None,
) -> Run:
    """Let an oracle answer a session's questions and follow the error.

    Parameters
    ----------
    session : Session
        It goes on from where it is.
    oracle : Oracle
        Who answers.
    y : array-like of shape (n,)
        True classes, for measuring only.
    questions : int
        Budget.
    labelling : {"model", "answers"}, default="model"
        Which labels are measured; the paper's figures use the strategy's own.
    until : float, optional
        Stop once the upper end of the estimated error left is at or below this share; see
        :mod:`superpac.session.stopping`.
    watch : callable, optional
        Called as ``watch(asked, error)`` after each answer.

    Returns
    -------
    Run

    Examples
    --------
    >>> from superpac.data import Dataset
    >>> from superpac.session.spec import Spec
    >>> from superpac.data.synthetic import make_subspaces
    >>> X, y = make_subspaces(20, 3, 2, 10, seed=0)
    >>> session = Session.create(Dataset(X), Spec(3, affinity="tsc:q=4", dim=2))
    >>> simulate(session, TruthOracle(y), y, 10).error.size
    11
    """
    truth = np.asarray(y)
    begun = time.perf_counter()
    errors = [clustering_error(truth, session.labels(labelling))]
    waits: list[float] = []
    finished = False
    stopped = False
    for asked in range(1, questions + 1):
        if until is not None and _enough(session, until):
            stopped = True
            break
        question = session.ask()
        answer = None if question is None else oracle(question)
        if question is None or answer is None:
            finished = question is None
            break
        told = time.perf_counter()
        session.tell(answer, (question.i, question.j), expected_seq=question.seq)
        session.ask()
        waits.append(1e3 * (time.perf_counter() - told))
        errors.append(clustering_error(truth, session.labels(labelling)))
        if watch is not None:
            watch(asked, errors[-1])
    return Run(
        np.array(errors),
        np.array(waits),
        time.perf_counter() - begun,
        finished,
        {"seed": session.spec.seed, "stopped": stopped},
    )


def _enough(session: Session, until: float) -> bool:
    return reached(session.progress()["error_left"], until, session.spec.strategy)
