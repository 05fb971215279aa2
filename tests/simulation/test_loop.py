"""The loop ends for the reason it says, asks what the session asks, and hands over every step."""

from __future__ import annotations

import numpy as np
import pytest

from superpac.answers.links import Link
from superpac.data import Dataset
from superpac.data.synthetic import make_subspaces
from superpac.errors import InputError
from superpac.estimator import ActiveSubspaceClustering
from superpac.session.questions import Question
from superpac.session.session import Session
from superpac.session.spec import Spec
from superpac.simulation.loop import AnswerLoop, simulate
from superpac.simulation.oracles import NoisyOracle, ReplayOracle, TruthOracle

X, Y = make_subspaces(15, 3, 2, 10, noise=0.3, seed=1)


def begin(strategy: str = "superpac-d") -> Session:
    return Session.create(Dataset(X), Spec(3, affinity="tsc:q=4", strategy=strategy, dim=2))


def test_every_step_is_the_sessions_own_question_and_its_answer():
    session, beside = begin(), begin()
    for number, step in enumerate(AnswerLoop(session, TruthOracle(Y), 8), start=1):
        asked = beside.ask()
        assert step.number == number
        assert step.question == asked
        assert step.answer == ("same" if Y[asked.i] == Y[asked.j] else "different")
        beside.tell(step.answer)
        assert session.progress()["questions"] == number
    np.testing.assert_array_equal(session.labels(), beside.labels())


def test_it_says_why_it_ended():
    loop = AnswerLoop(begin(), TruthOracle(Y), 3)
    assert loop.ended == ""
    assert len(list(loop)) == 3
    assert loop.ended == "budget"

    loop = AnswerLoop(begin("superpac"), TruthOracle(Y), 10_000)
    assert len(list(loop)) < 10_000
    assert loop.ended == "nothing left to ask"

    first = begin().ask()
    answer = TruthOracle(Y)(first)
    loop = AnswerLoop(begin(), ReplayOracle([Link(1, first.i, first.j, answer)]), 10)
    assert len(list(loop)) == 1
    assert loop.ended == "no answer"

    loop = AnswerLoop(begin(), TruthOracle(Y), 10_000, until=0.05)
    steps = list(loop)
    assert loop.ended == "good enough"
    assert loop.session.progress()["error_left"]["high"] <= 0.05
    assert simulate(begin(), TruthOracle(Y), Y, 10_000, until=0.05).error.size == len(steps) + 1


def test_broken_off_it_goes_on_from_there():
    session = begin()
    loop = AnswerLoop(session, TruthOracle(Y), 5)
    for step in loop:
        if step.number == 2:
            break
    assert loop.ended == ""
    whole = begin()
    rest = [step.question for step in AnswerLoop(session, TruthOracle(Y), 3)]
    assert rest == [step.question for step in AnswerLoop(whole, TruthOracle(Y), 5)][2:]


def test_other_questions_than_the_sessions_own():
    pairs = iter([(0, 1), (2, 30)])
    session = begin()

    def choose() -> Question | None:
        pair = next(pairs, None)
        return None if pair is None else Question(*pair, session.seq, "")

    loop = AnswerLoop(session, TruthOracle(Y), 10, choose=choose)
    assert [(step.question.i, step.question.j) for step in loop] == [(0, 1), (2, 30)]
    assert loop.ended == "nothing left to ask"


def test_no_budget_asks_nothing():
    run = simulate(begin(), TruthOracle(Y), Y, 0)
    assert run.error.size == 1
    assert not run.finished
    assert run.facts["stopped"] is False


def test_an_oracle_without_mistakes_is_the_truth():
    noisy = NoisyOracle(Y, 0.0)
    runs = [simulate(begin(), oracle, Y, 15).error for oracle in (noisy, TruthOracle(Y))]
    np.testing.assert_array_equal(*runs)
    assert noisy.mistakes == 0


def test_the_estimator_asks_what_the_loop_asks():
    asked = []

    def person(i: int, j: int) -> str:
        asked.append((i, j))
        return "same" if Y[i] == Y[j] else "different"

    ActiveSubspaceClustering(3, affinity="tsc:q=4", dim=2, oracle=person, questions=12).fit(X)
    steps = AnswerLoop(begin(), TruthOracle(Y), 12)
    assert asked == [(step.question.i, step.question.j) for step in steps]


def test_the_estimator_refuses_an_oracle_that_says_nothing():
    with pytest.raises(InputError, match="None"):
        ActiveSubspaceClustering(3, affinity="tsc:q=4", oracle=lambda i, j: None).fit(X)
