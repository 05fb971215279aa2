"""The loop in which an oracle answers a session's questions: whatever simulates answers runs it."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from superpac.answers.forms import PAIR, WALL, Costs
from superpac.answers.links import SAME, Pair, ordered
from superpac.errors import ConflictError
from superpac.metrics import clustering_error
from superpac.session.questions import FormQuestion, Labelling, Question
from superpac.session.session import Session
from superpac.session.stopping import reached
from superpac.simulation.oracles import Oracle

BUDGET = "budget"
NOTHING_LEFT = "nothing left to ask"
NO_ANSWER = "no answer"
GOOD_ENOUGH = "good enough"


@dataclass(frozen=True)
class Answered:
    """A question of the loop and its answer.

    Attributes
    ----------
    number : int
        1, 2, ...
    question : Question
        What was asked.
    answer : str
        What the oracle said.
    told_at : float
        When the answer was there and the session had not heard it yet, by
        :func:`time.perf_counter`.
    """

    number: int
    question: Question
    answer: str
    told_at: float


class AnswerLoop:
    """Let an oracle answer a session's questions, one per step of an iteration.

    A step ends when the answer is told. What a measurement needs then, such as labels, it takes
    from the session in the body of its ``for``; it may break off at any step.

    Parameters
    ----------
    session : Session
        It goes on from where it is.
    oracle : Oracle
        Who answers; the loop ends at an answer of None, unless `passes`.
    questions : int
        Budget.
    until : float, optional
        Stop once the upper end of the estimated error left is at or below this share; see
        :mod:`superpac.session.stopping`.
    choose : callable, optional
        Gives the next question, None at the end; the session's own by default.
    annotator : str, optional
        The name under which the answers stand in the log.
    passes : bool, default=False
        Whether None leaves a question to others, who are asked it in its turn, instead of ending
        the loop. The annotator is then not asked to check answers of their own either.

    Attributes
    ----------
    passed : set of (int, int)
        Pairs that were left to others.
    ended : str
        Why the loop ended: "budget", "nothing left to ask", "no answer" or "good enough"; empty
        until it has.

    Examples
    --------
    >>> from superpac.data import Dataset
    >>> from superpac.data.synthetic import make_subspaces
    >>> from superpac.session.spec import Spec
    >>> from superpac.simulation.oracles import TruthOracle
    >>> X, y = make_subspaces(20, 3, 2, 10, seed=0)
    >>> session = Session.create(Dataset(X), Spec(3, affinity="tsc:q=4", dim=2))
    >>> loop = AnswerLoop(session, TruthOracle(y), 2)
    >>> [step.number for step in loop], loop.ended
    ([1, 2], 'budget')
    """

    def __init__(
        self,
        session: Session,
        oracle: Oracle,
        questions: int,
        *,
        until: float | None = None,
        choose: Callable[[], Question | None] | None = None,
        annotator: str = "",
        passes: bool = False,
    ) -> None:
        self.session = session
        self.oracle = oracle
        self.questions = questions
        self.until = until
        self.choose = choose or self._ask
        self.annotator, self.passes = annotator, passes
        self.passed: set[Pair] = set()
        self.ended = ""

    def __iter__(self) -> Iterator[Answered]:
        """Ask and tell until one of the reasons to end holds."""
        number = 0
        while number < self.questions:
            if self.until is not None and self._good_enough(self.until):
                self.ended = GOOD_ENOUGH
                return
            question = self.choose()
            if question is None:
                self.ended = NOTHING_LEFT
                return
            answer = self.oracle(question)
            if answer is None and self.passes:
                self.passed.add(ordered(question.i, question.j))
                number += 1
                continue
            if answer is None:
                self.ended = NO_ANSWER
                return
            told_at = time.perf_counter()
            if self._tell(answer, question):
                number += 1
                yield Answered(number, question, answer, told_at)
        self.ended = BUDGET

    def _ask(self) -> Question | None:
        """The session's question; for one who passes, the first that is theirs to answer.

        What is before somebody else just now is left to them, if there is anything else.
        """
        if not self.passes:
            return self.session.ask()
        leases = self.session.log.leases()
        held = {
            item for one in leases if one.annotator != self.annotator for item in (one.i, one.j)
        }
        mine = partial(self.session.ask, by=self.annotator, left=frozenset(self.passed))
        return mine(avoid=frozenset(held)) or mine()

    def _tell(self, answer: str, question: Question) -> bool:
        """Record an answer; False where others have answered the same meanwhile."""
        session, pair = self.session, (question.i, question.j)
        late = False
        while True:
            try:
                if late:  # as the page marks a question that was chosen before the last answer
                    session.record(
                        answer,
                        pair,
                        annotator=self.annotator,
                        why={"late": True},
                        asked=True,
                        confirm=question.confirm,
                    )
                else:
                    session.tell(answer, pair, annotator=self.annotator, expected_seq=question.seq)
                return True
            except ConflictError:
                if not session.refresh():
                    raise
            late = True
            if session.answered_since({ordered(*pair)}, question.seq):
                return False
            if not session.may_ask(*pair):
                return False

    def _good_enough(self, until: float) -> bool:
        left = self.session.progress()["error_left"]
        return reached(left, until, self.session.spec.strategy)


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
        Milliseconds from an answer to the next question, one value per question.
    seconds : float
        Of the whole loop.
    finished : bool
        Whether the strategy had nothing left to ask.
    spent : ndarray of float
        Seconds of a person's time behind each entry of `error`, by the costs of the forms.
    facts : dict
        ``seed``, and whatever else is worth keeping.
    """

    error: NDArray[np.float64]
    ask_ms: NDArray[np.float64]
    seconds: float
    finished: bool
    spent: NDArray[np.float64]
    facts: dict[str, Any] = field(default_factory=dict)

    @property
    def questions(self) -> NDArray[np.int64]:
        """Number of questions behind each entry of `error`."""
        return np.arange(self.error.size)

    def error_at(self, questions: int) -> float:
        """Error after so many questions; the last one where the run ended earlier."""
        return float(self.error[min(questions, self.error.size - 1)])

    def seconds_to(self, level: float) -> float | None:
        """Seconds of a person's time until the error was first at most `level`; None if never."""
        below = self.questions_to(level)
        return None if below is None else float(self.spent[below])

    def error_after(self, seconds: float) -> float:
        """Error after so many seconds of a person's time."""
        return float(self.error[np.searchsorted(self.spent, seconds, side="right") - 1])

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
    forms: str = PAIR,
    costs: Costs | None = None,
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
        As in :class:`AnswerLoop`.
    watch : callable, optional
        Called as ``watch(asked, error)`` after each answer.
    forms : {"pair", "strip", "wall", "board", "all"}, default="pair"
        How questions are put: as pairs only, or where it fits in another form, or in the form that
        mends most per second. A question in any form counts as one; the oracle is asked about
        every item that it shows.
    costs : Costs, optional
        Seconds of a person's time that each form takes.

    Returns
    -------
    Run
        ``facts["stopped"]`` says whether `until` ended it.

    Examples
    --------
    >>> from superpac.data import Dataset
    >>> from superpac.data.synthetic import make_subspaces
    >>> from superpac.session.spec import Spec
    >>> from superpac.simulation.oracles import TruthOracle
    >>> X, y = make_subspaces(20, 3, 2, 10, seed=0)
    >>> session = Session.create(Dataset(X), Spec(3, affinity="tsc:q=4", dim=2))
    >>> simulate(session, TruthOracle(y), y, 10).error.size
    11
    """
    truth = np.asarray(y)
    begun = time.perf_counter()
    errors = [clustering_error(truth, session.labels(labelling))]
    waits: list[float] = []
    costs = costs or Costs()
    if forms != PAIR:
        return _in_forms(session, oracle, truth, questions, labelling, until, watch, forms, costs)
    loop = AnswerLoop(session, oracle, questions, until=until)
    for step in loop:
        session.ask()  # a person waits for the next question, not for the labels
        waits.append(1e3 * (time.perf_counter() - step.told_at))
        errors.append(clustering_error(truth, session.labels(labelling)))
        if watch is not None:
            watch(step.number, errors[-1])
    return Run(
        np.array(errors),
        np.array(waits),
        time.perf_counter() - begun,
        loop.ended == NOTHING_LEFT,
        costs.pair * np.arange(len(errors), dtype=np.float64),
        {"seed": session.spec.seed, "stopped": loop.ended == GOOD_ENOUGH},
    )


def _in_forms(
    session: Session,
    oracle: Oracle,
    truth: NDArray[Any],
    questions: int,
    labelling: Labelling,
    until: float | None,
    watch: Callable[[int, float], None] | None,
    forms: str,
    costs: Costs,
) -> Run:
    """Follow the error where questions are put in other forms than pairs."""
    begun = time.perf_counter()
    errors, spent = [clustering_error(truth, session.labels(labelling))], [0.0]
    waits: list[float] = []
    ended = BUDGET
    question = session.ask_form(forms, costs=costs)
    while len(waits) < questions:
        left = session.progress()["error_left"] if until is not None else None
        if until is not None and reached(left, until, session.spec.strategy):
            ended = GOOD_ENOUGH
            break
        if question is None:
            ended = NOTHING_LEFT
            break
        marked = marks_of(oracle, question)
        if marked is None:
            ended = NO_ANSWER
            break
        told_at = time.perf_counter()
        session.tell_form(marked, question)
        spent.append(spent[-1] + costs.seconds(question.form, len(question.options), len(marked)))
        question = session.ask_form(forms, costs=costs)
        waits.append(1e3 * (time.perf_counter() - told_at))
        errors.append(clustering_error(truth, session.labels(labelling)))
        if watch is not None:
            watch(len(waits), errors[-1])
    return Run(
        np.array(errors),
        np.array(waits),
        time.perf_counter() - begun,
        ended == NOTHING_LEFT,
        np.array(spent),
        {"seed": session.spec.seed, "stopped": ended == GOOD_ENOUGH},
    )


def marks_of(oracle: Oracle, question: FormQuestion) -> list[int] | None:
    """Options that an oracle marks, asked about each of them; None where it has no answer.

    Examples
    --------
    >>> from superpac.simulation.oracles import TruthOracle
    >>> marks_of(TruthOracle([0, 0, 1]), FormQuestion("wall", 0, (1, 2), 0, ""))
    [2]
    >>> marks_of(TruthOracle([0, 0, 1]), FormQuestion("board", 0, (1, 2), 0, ""))
    [1]
    """
    marked = []
    for other in question.options:
        said = oracle(Question(question.item, other, question.seq, question.reason))
        if said is None:
            return None
        if (said == SAME) != (question.form == WALL):
            marked.append(other)
    return marked
