"""SUPERPAC-D through a session: taking back, putting back and going on are all one function."""

from __future__ import annotations

import copy
from dataclasses import replace

import numpy as np
import pytest

import driving
from superpac.answers.state import State
from superpac.data import Dataset
from superpac.data.synthetic import make_subspaces
from superpac.errors import InputError
from superpac.metrics import clustering_error
from superpac.session.session import Session
from superpac.session.spec import Spec
from superpac.simulation.loop import simulate
from superpac.simulation.oracles import NoisyOracle, TruthOracle
from superpac.store import open_store
from superpac.strategies.superpac_d.posterior import Posterior
from superpac.strategies.superpac_d.settings import DEFAULT
from superpac.strategies.superpac_d.strategy import SuperpacD

SPEC = Spec(6, affinity="tsc:q=4", strategy="superpac-d", dim=3)


@pytest.fixture(scope="module")
def items() -> Dataset:
    X, y = make_subspaces(25, 6, 3, 9, noise=0.4, seed=0)
    return Dataset(X, y=y, name="planes")


@pytest.fixture(params=[0.0, 0.05], ids=["truth", "5% wrong"])
def oracle(request, items):
    return NoisyOracle(items.y, request.param, seed=3)


def created(items: Dataset, refresh: int) -> Session:
    session = Session.create(items, SPEC)
    session.strategy = SuperpacD(session.problem, settings=replace(DEFAULT, refresh=refresh))
    return session


@pytest.fixture(params=[DEFAULT.refresh, 300], ids=["all views", "two views per answer"])
def session(request, items):
    return created(items, request.param)


def go_on(session: Session, oracle: TruthOracle, questions: int) -> None:
    for _ in range(questions):
        question = session.ask()
        if question is None:
            return
        session.tell(oracle(question))


def believed(session: Session) -> tuple[object, ...]:
    """What a strategy gives, to the last bit."""
    question, model = session.ask(), session.strategy.model
    return question, model.sets.tolist(), model.weights.tolist(), session.labels().tolist()


def opened(session: Session, items: Dataset) -> Session:
    again = Session.open(items, session.log)
    again.strategy = SuperpacD(again.problem, settings=session.strategy.settings)
    return again


def test_after_undo_all_is_as_in_a_session_opened_anew(session, oracle, items):
    for answers, depth in [(9, 1), (6, 5), (30, 3), (12, 17), (10, 40), (50, 26), (3, 60)]:
        go_on(session, oracle, answers)
        for _ in range(depth):
            session.undo()
        assert believed(session) == believed(opened(session, items))


def test_undo_step_by_step_goes_back_through_the_same_questions(session, oracle):
    seen = []
    for _ in range(45):
        seen.append(believed(session)[1:])
        go_on(session, oracle, 1)
    last = believed(session)[1:]
    for before in reversed(seen):
        session.undo()
        assert believed(session)[1:] == before
    for after in [*seen[1:], last]:
        session.redo()
        assert believed(session)[1:] == after
    assert session.redo() == []


def test_an_answer_in_the_middle_may_be_taken_back_and_put_back(session, oracle, items):
    go_on(session, oracle, 50)
    before = believed(session)[1:]
    session.undo(20)
    assert believed(session) == believed(opened(session, items))
    session.redo()
    assert believed(session)[1:] == before


def test_looking_ahead_at_both_answers_changes_nothing(session, oracle):
    """Whoever computes ahead jumps between states."""
    go_on(session, oracle, 30)
    expected, state = believed(session), session.state
    question = session.ask()
    for said in ("same", "different", "unsure"):
        link = state.answers[-1]._replace(seq=99, i=question.i, j=question.j, answer=said)
        driving.first(session.strategy, State.of(state.n, [*state.answers, link]))
    again = driving.first(session.strategy, state)
    assert (again.i, again.j, again.numbers) == (question.i, question.j, question.numbers)
    assert believed(session) == expected


def test_a_copy_has_no_checkpoints_and_gives_the_same(items):
    session = Session.create(items, SPEC)
    go_on(session, TruthOracle(items.y), 30)
    assert session.strategy._checkpoints.at
    twin = copy.deepcopy(session.strategy)
    assert twin._checkpoints.at == []
    session.undo()
    mine, other = (driving.first(s, session.state) for s in (session.strategy, twin))
    assert (mine.i, mine.j, mine.numbers) == (other.i, other.j, other.numbers)


def test_taking_back_the_last_answers_goes_through_few(items, monkeypatch):
    session = Session.create(items, SPEC)
    go_on(session, NoisyOracle(items.y, 0.05), 200)
    steps = []
    take = SuperpacD._take
    monkeypatch.setattr(SuperpacD, "_take", lambda self, link: (steps.append(1), take(self, link)))
    for depth in (1, 1, 1, 7, 16, 60):
        steps.clear()
        for _ in range(depth):
            session.undo()
        session.ask()
        assert len(steps) <= max(1, depth // 4)


def test_repeats_and_contradictions_are_taken_in_and_recorded(session, items):
    oracle = TruthOracle(items.y)
    go_on(session, oracle, 20)
    first = session.state.answers[4]
    opposite = "different" if first.answer == "same" else "same"
    for said in (first.answer, opposite, opposite, opposite):
        before = session.seq
        assert session.tell(said, (first.j, first.i), why={"again": 1}).recorded
        assert session.seq == before + 1
        assert believed(session) == believed(opened(session, items))
    assert session.state.votes.net(first.i, first.j) == (-1 if first.answer == "same" else 1)
    assert session.state.votes.mistaken() == [first]
    for _ in range(2):
        session.undo()
    assert believed(session) == believed(opened(session, items))
    assert session.state.votes.mistaken() == []
    session.redo()
    assert len(session.state.answers) == 23
    assert believed(session) == believed(opened(session, items))


def test_several_answers_at_once_may_repeat_and_contradict(items):
    session = Session.create(items, SPEC)
    session.tell("same", (0, 1))
    session.tell("different", (1, 2))
    told = [(0, 1, "same"), (0, 2, "different"), (0, 3, "same"), (2, 3, "same")]
    assert [r.seq for r in session.tell_many(told, key="k", asked=True)] == [
        3,
        4,
        5,
    ]  # 0 and 2: implied
    assert believed(session) == believed(opened(session, items))
    assert session.state.votes.net(0, 1) == 2
    for wrong in [(0, 9999, "same"), (-1, 3, "same"), (4, 4, "same"), (4, 5, "maybe")]:
        with pytest.raises(InputError):
            session.tell_many([(7, 8, "same"), wrong], key="w", asked=True)
    assert session.seq == 5
    assert session.undo() == [3, 4, 5]
    assert believed(session) == believed(opened(session, items))


def test_an_exported_session_goes_on_elsewhere_with_the_same_questions(items, tmp_path):
    with open_store(tmp_path / "one.db") as one, open_store(tmp_path / "two.db") as two:
        session = Session.create(items, SPEC, store=one, name="x")
        go_on(session, NoisyOracle(items.y, 0.05, seed=1), 60)
        for _ in range(4):
            session.undo()
        session.redo()
        log = two.import_archive(one.export_archive("x", tmp_path / "x.zip"))
        moved = Session.open(items, log)
        assert believed(moved) == believed(session)
        for one_session in (session, moved):
            go_on(one_session, NoisyOracle(items.y, 0.05, seed=2), 20)
        assert believed(moved) == believed(session)


@pytest.mark.parametrize("seed", [0, 1])
def test_with_five_percent_wrong_answers_the_error_ends_low(items, seed):
    session = Session.create(items, SPEC)
    oracle = NoisyOracle(items.y, 0.05, seed=seed)
    run = simulate(session, oracle, items.y, 150)
    assert oracle.mistakes > 0
    assert run.error[0] > run.error[-1]
    assert run.error[-1] < 0.15
    assert run.error[-1] == clustering_error(items.y, session.labels())


def test_opening_computes_the_posterior_less_often_than_the_session_did(items, monkeypatch):
    times = []
    label = Posterior._label
    monkeypatch.setattr(Posterior, "_label", lambda *given: (times.append(1), label(*given)))
    session = Session.create(items, SPEC)
    go_on(session, TruthOracle(items.y), 100)
    played = len(times)
    labels = SuperpacD(session.problem).labels(session.state)
    assert played >= 100
    assert len(times) - played < played / 4
    np.testing.assert_array_equal(labels, session.labels())


@pytest.mark.parametrize("refresh", [DEFAULT.refresh, 300])
def test_views_fitted_to_the_posterior_are_a_function_of_the_answers_too(refresh):
    """On planes that the graph sees badly subspaces come to tell more than diffusion."""
    X, y = make_subspaces(25, 6, 3, 12, noise=0.3, seed=1)
    items = Dataset(X, y=y, name="planes")
    session = created(items, refresh)
    oracle = TruthOracle(y)
    go_on(session, oracle, 60)
    before = believed(session)[1:]
    weights = session.strategy.model.weights
    assert weights[1] > weights[0]
    for _ in range(7):
        go_on(session, oracle, 1)
    for _ in range(7):
        session.undo()
    assert believed(session)[1:] == before
    assert believed(session) == believed(opened(session, items))
