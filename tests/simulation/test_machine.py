"""A function answers as one more annotator: what it may say, and what it is never asked."""

from __future__ import annotations

import numpy as np
import pytest

from superpac.answers.links import ordered
from superpac.data import Dataset
from superpac.data.synthetic import make_subspaces
from superpac.errors import InputError
from superpac.session.questions import Question
from superpac.session.session import Session
from superpac.session.spec import Spec
from superpac.session.suspects import find_suspects, people_of
from superpac.simulation.loop import AnswerLoop
from superpac.simulation.machine import MachineOracle
from superpac.simulation.oracles import TruthOracle
from superpac.store import open_store

X, Y = make_subspaces(15, 3, 2, 20, noise=0.3, seed=1)
CLASS = {tuple(row): int(label) for row, label in zip(X, Y, strict=True)}


def truly(first, second):
    return "same" if CLASS[tuple(first)] == CLASS[tuple(second)] else "different"


def careless(share, seed):
    """Right but for a share of pairs, and of one mind about each of them."""

    def function(first, second):
        both = sorted([first.tobytes(), second.tobytes()])
        draw = np.random.default_rng([seed, *np.frombuffer(b"".join(both), np.uint8)])
        right = truly(first, second)
        return right if draw.random() >= share else {"same": "different"}.get(right, "same")

    return function


def begin(strategy="superpac-d", **kept):
    return Session.create(Dataset(X), Spec(3, "tsc:q=4", strategy, dim=2), **kept)


def answered(session, name):
    return [link for link in session.state.answers if link.annotator == name]


def test_it_is_given_both_items_and_its_words_stand_in_the_log_under_its_name():
    session, asked = begin(), []

    def function(first, second):
        asked.append((first, second))
        return truly(first, second)

    loop = AnswerLoop(session, MachineOracle(function, session.data), 6, annotator="judge")
    steps = list(loop)
    assert len(answered(session, "judge")) == 6
    for step, (first, second) in zip(steps, asked, strict=True):
        np.testing.assert_array_equal(first, X[step.question.i])
        np.testing.assert_array_equal(second, X[step.question.j])


@pytest.mark.parametrize("nonsense", ["maybe", True, 1, ("same",), "", b"same", object()])
def test_nonsense_is_one_sentence_with_both_names(nonsense):
    data = Dataset([[1.0], [2.0], [3.0]], ids=["a", "b", "c"])
    with pytest.raises(InputError, match="judge said .* of a and c; it must give") as caught:
        MachineOracle(lambda first, second: nonsense, data, "judge")(Question(0, 2, 0, ""))
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("error", [ValueError("two\nlines"), SystemExit(4), KeyError("x")])
def test_a_function_that_fails_is_one_sentence_and_keeps_what_it_said_before(error):
    session, left = begin(), [3]

    def function(first, second):
        left[0] -= 1
        if left[0] < 0:
            raise error
        return truly(first, second)

    loop = AnswerLoop(session, MachineOracle(function, session.data), 9, annotator="judge")
    with pytest.raises(
        InputError, match=rf"function failed on \d+ and \d+ \({type(error).__name__}"
    ):
        list(loop)
    assert len(session.events) == len(answered(session, "judge")) == 3


@pytest.mark.parametrize("strategy", ["superpac-d", "superpac", "random"])
def test_what_it_leaves_to_people_is_written_nowhere_and_people_are_asked_it(strategy):
    session, calls = begin(strategy), []
    first = session.ask()
    loop = AnswerLoop(session, calls.append, 10, annotator="judge", passes=True)
    assert list(loop) == []
    assert loop.ended in ("budget", "nothing left to ask")
    assert len(loop.passed) == len(calls) > 0  # never the same pair twice
    assert session.seq == 0
    assert session.ask() == first


def test_it_is_never_asked_to_check_itself_but_others_are():
    session = begin()
    machine = MachineOracle(careless(0.15, 3), session.data)
    loop = AnswerLoop(session, machine, 10_000, annotator="judge", passes=True)
    list(loop)
    assert loop.ended == "nothing left to ask"
    pairs = [ordered(link.i, link.j) for link in answered(session, "judge")]
    assert len(pairs) == len(set(pairs))
    # the strategy has doubts left, and its next questions are about these, for somebody else
    mine = session.strategy.propose(session.state, 50)
    assert mine
    assert all("judge" in one.not_by or ordered(one.i, one.j) in pairs for one in mine)
    question = session.ask()
    assert question.numbers.get("again") or ordered(question.i, question.j) in pairs


def test_what_is_before_somebody_else_just_now_is_left_to_them():
    session = begin("random")
    first = session.ask()
    session.log.lease((first.i, first.j), "Ada", 60)
    asked = []
    loop = AnswerLoop(session, asked.append, 1, annotator="judge", passes=True)
    list(loop)
    assert {asked[0].i, asked[0].j}.isdisjoint({first.i, first.j})
    session.log.release((first.i, first.j), "Ada")
    list(AnswerLoop(session, asked.append, 1, annotator="judge", passes=True))
    assert asked[1] == first


def test_people_are_asked_again_only_what_the_strategy_doubts():
    session = begin()
    list(
        AnswerLoop(
            session,
            MachineOracle(careless(0.1, 5), session.data),
            60,
            annotator="judge",
            passes=True,
        )
    )
    by_machine = {ordered(link.i, link.j) for link in answered(session, "judge")}
    person = AnswerLoop(session, TruthOracle(Y), 10_000, annotator="Ada")
    for step in person:
        if ordered(step.question.i, step.question.j) in by_machine:
            assert step.question.numbers.get("again") or step.question.confirm, step.question


def test_its_error_rate_is_learned_beside_that_of_people():
    session = begin()
    machine, person = MachineOracle(careless(0.25, 3), session.data), TruthOracle(Y)
    for _ in range(12):
        list(AnswerLoop(session, machine, 8, annotator="judge", passes=True))
        list(AnswerLoop(session, person, 8, annotator="Ada"))
    found = people_of(session.state, session.strategy.reliability(session.state))
    assert found["judge"][1] > 2 * found["Ada"][1]
    reliability = session.strategy.reliability(session.state)
    assert find_suspects(session.state, reliability).people == found


def test_others_who_answer_meanwhile_cost_it_no_answer(tmp_path):
    with open_store(tmp_path / "store.sqlite3") as store:
        session = begin(store=store)
        beside = Session.open(Dataset(X), store.open(session.log.session_id))
        same_pair = [2]

        def meanwhile(question):
            """Ada answers while the machine thinks: another pair, or twice the very same."""
            beside.refresh()
            pair = (question.i, question.j)
            if same_pair[0] == 0:
                two = [k for k in range(len(Y)) if beside.state.askable(k, question.j)]
                pair = (next(k for k in two if k != question.i), question.j)
            else:
                same_pair[0] -= 1
            word = "same" if Y[pair[0]] == Y[pair[1]] else "different"
            beside.tell(word, pair, annotator="Ada", why={"again": 1.0})
            return "same" if Y[question.i] == Y[question.j] else "different"

        steps = list(AnswerLoop(session, meanwhile, 5, annotator="judge"))
        assert len(steps) == 5
        said = [e for e in session.events if e.annotator == "judge"]
        assert len(said) == 5
        assert all(event.body["why"] == {"late": True} for event in said)
        assert len([e for e in session.events if e.annotator == "Ada"]) == 7
