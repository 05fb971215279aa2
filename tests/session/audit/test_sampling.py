from __future__ import annotations

import copy

import numpy as np
import pytest

from superpac.data import Dataset, load
from superpac.data.synthetic import make_subspaces
from superpac.errors import ConflictError, InputError
from superpac.metrics import clustering_error
from superpac.session.audit import Audit, run_audit, start
from superpac.session.session import Session
from superpac.session.spec import Spec
from superpac.simulation.loop import simulate
from superpac.simulation.oracles import TruthOracle
from superpac.store import open_store


def planes(seed, noise=0.9):
    X, y = make_subspaces(40, 4, 3, 10, noise=noise, seed=seed)
    return Dataset(X, y=y), Spec(4, "tsc:q=4", "superpac-d", dim=3, seed=seed)


def digits(seed):
    items = load("digits").sample_classes(5, 60, seed)
    return items, Spec(5, "tsc:q=5", "superpac-d", dim=3, seed=seed)


def answered(made, questions):
    items, spec = made
    session = Session.create(items, spec)
    simulate(session, TruthOracle(items.y), items.y, questions)
    return session, items.y


def covers(found, error):
    return found.low - 1e-12 <= error <= found.high + 1e-12


def audits(sessions, rounds, sample=25):
    """Audit each session many times over, each time with another sample."""
    inside, widths, errors = [], [], []
    for session, y in sessions:
        error = clustering_error(y, session.labels())
        moved = copy.deepcopy(session)
        for _ in range(rounds):
            moved.note("note", {"round": "another"})  # another seq, another draw
            found = run_audit(copy.deepcopy(moved), TruthOracle(y), sample)
            assert found.finished
            inside.append(covers(found, error))
            widths.append(found.high - found.low)
            errors.append(error)
    return np.mean(inside), np.mean(widths), np.array(errors)


@pytest.fixture(scope="module")
def sessions():
    made = [answered(planes(seed), q) for seed in range(6) for q in (0, 15, 60)]
    return made + [answered(digits(seed), q) for seed in range(4) for q in (0, 10, 30)]


def test_the_interval_covers_the_error_in_93_of_100_audits(sessions):
    share, width, errors = audits(sessions, 8)
    assert (errors > 0.01).mean() > 0.5  # there was something to find
    assert share >= 0.93
    assert width < 0.4


def test_a_sample_that_is_not_random_breaks_it(sessions, monkeypatch):
    """Drawing the items first that the model is surest of hides the errors."""

    def surest_first(self):
        return np.argsort(-self.session.strategy.model.groups.max(axis=1)).astype(np.intp)

    monkeypatch.setattr(Audit, "_draw", surest_first)
    hard = [(s, y) for s, y in sessions if clustering_error(y, s.labels()) > 0.02]
    share, _, _ = audits(hard, 1, sample=50)
    assert share < 0.93


def test_the_same_audit_again_and_another_after_more_answers():
    session, y = answered(planes(1), 10)
    twin = copy.deepcopy(session)
    first, second = (run_audit(s, TruthOracle(y), 20) for s in (session, twin))
    assert first == second
    assert first.sampled == 20
    assert first.questions >= 20
    again = start(session, 20)
    assert again.started.seq > first.started


def test_an_interrupted_audit_goes_on_and_undo_takes_an_answer_back(tmp_path):
    items, spec = planes(2)
    oracle = TruthOracle(items.y)
    with open_store(str(tmp_path / "s.sqlite3"), create=True) as store:
        session = Session.create(items, spec, store=store, name="planes")
        simulate(session, oracle, items.y, 12)
        whole = run_audit(copy_in_memory(session, items), oracle, 15)
        audit = start(session, 15)
        pairs = []
        for _ in range(9):
            question = audit.ask()
            pairs.append((question.i, question.j))
            audit.tell(oracle(question))
    with open_store(str(tmp_path / "s.sqlite3")) as store:
        session = Session.open(items, store.open("planes"))
        audit = start(session, 15)
        assert audit.started.seq == 13
        assert audit.result().questions == 9
        session.undo()
        assert audit.result().questions == 8
        question = audit.ask()
        assert (question.i, question.j) == pairs[-1]
        while (question := audit.ask()) is not None:
            audit.tell(oracle(question), expected_seq=question.seq)
        assert audit.result() == whole
        assert [e.body["why"]["audit"] for e in session.history.standing()[12:]] == [13] * (
            whole.questions
        )


def copy_in_memory(session, items):
    twin = Session.create(items, session.spec)
    for link in session.state.answers:
        twin.tell(link.answer, (link.i, link.j), why={"copied": 1})
    return twin


def test_answers_in_between_do_not_move_the_frozen_clusters():
    session, y = answered(planes(3), 5)
    error = clustering_error(y, session.labels())
    audit = start(session, 30)
    simulate(session, TruthOracle(y), y, 60)
    assert clustering_error(y, session.labels()) < error
    resumed = start(session, 30)
    assert (resumed.labels == audit.labels).all()
    while (question := resumed.ask()) is not None:
        resumed.tell(TruthOracle(y)(question))
    assert covers(resumed.result(), error)


@pytest.mark.parametrize("strategy", ["superpac-pinned", "cobras"])
def test_strategies_that_refuse_contradictions_are_audited_too(strategy):
    items, spec = planes(4)
    session = Session.create(items, Spec(4, "tsc:q=4", strategy, dim=3))
    simulate(session, TruthOracle(items.y), items.y, 30)
    error = clustering_error(items.y, session.labels())
    start(session, 10)
    found = run_audit(session, TruthOracle(items.y), 10)
    assert found.finished
    assert covers(found, error)


def test_unsure_items_are_replaced_and_counted():
    session, y = answered(planes(0), 10)
    truth, calls = TruthOracle(y), []

    def person(question):
        calls.append(question)
        return "unsure" if len(calls) % 3 == 0 else truth(question)

    found = run_audit(session, person, 20, pairs=0)
    assert found.sampled == 20
    assert found.unsure == sum(n % 3 == 0 for n in range(1, len(calls) + 1))
    assert "could not be decided" in found.in_words()


def test_a_class_in_two_clusters_is_found_or_named():
    """Five clusters asked for, four classes: one class is split and its smaller part is wrong."""
    items, _ = planes(5, noise=0.05)
    session = Session.create(items, Spec(5, "tsc:q=4", "superpac-pinned", dim=3))
    error = clustering_error(items.y, session.labels())
    assert error > 0.02
    blind = run_audit(copy.deepcopy(session), TruthOracle(items.y), 150, pairs=0)
    assert blind.unchecked == 10
    assert "may be one class" in blind.in_words()
    assert blind.high < error <= blind.high + blind.at_stake / blind.items
    seeing = run_audit(session, TruthOracle(items.y), 150)
    assert seeing.unchecked == 0
    assert seeing.known_wrong > 0
    assert covers(seeing, error)


def test_settled_items_are_not_asked_and_those_set_aside_not_counted():
    session, y = answered(planes(1), 5)
    session.set_aside(7)
    audit = start(session, 1000)
    asked = []
    while (question := audit.ask()) is not None:
        asked.append({question.i, question.j})
        audit.tell(TruthOracle(y)(question))
    found = audit.result()
    assert not any(7 in pair for pair in asked)
    assert found.items == 159
    assert found.sampled == found.population == found.items - found.settled
    assert found.estimate == found.high


def test_clusters_that_cannot_be_computed_again_are_refused():
    session, _ = answered(planes(1), 5)
    facts = {"sample": 5, "pairs": 5, "labels": "of another version"}
    session.note("note", {"audit": facts})
    with pytest.raises(ConflictError, match="--fresh"):
        start(session)
    assert start(session, fresh=True).ask() is not None
    with pytest.raises(InputError, match="at least 1"):
        start(session, 0)


def test_before_the_first_sample_no_share_is_named():
    session, _ = answered(planes(1), 3)
    words = start(session, 5).result().in_words()
    assert words.startswith("No item has been sampled yet")
    assert "%" not in words
