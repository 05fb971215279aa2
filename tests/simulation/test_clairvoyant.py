from __future__ import annotations

from dataclasses import replace

import pytest

import superpac
from superpac.data import Dataset, load
from superpac.data.synthetic import make_subspaces
from superpac.errors import InputError
from superpac.session.session import Session
from superpac.session.spec import Spec
from superpac.simulation.clairvoyant import clairvoyant
from superpac.simulation.loop import simulate
from superpac.simulation.oracles import TruthOracle
from superpac.strategies import STRATEGIES, make_strategy


def made(seed):
    items = load("digits").sample_classes(5, 50, seed)
    return items, Spec(5, "tsc:q=5", "superpac-d", dim=3, seed=seed)


def test_who_knows_the_wrong_points_needs_fewer_questions_than_who_does_not():
    fewer = []
    for seed in range(4):
        items, spec = made(seed)
        known = clairvoyant(Session.create(items, spec), items.y, 250)
        asked = simulate(Session.create(items, spec), TruthOracle(items.y), items.y, 250)
        assert known.finished
        assert known.error[0] == asked.error[0]
        assert known.questions_to(0.0) == known.error.size - 1
        fewer.append((known.questions_to(0.0), asked.questions_to(0.0)))
    assert all(a <= b for a, b in fewer)
    assert sum(a for a, _ in fewer) < 0.7 * sum(b for _, b in fewer)


def test_it_ends_with_no_wrong_point_on_hard_data():
    X, y = make_subspaces(40, 4, 3, 10, noise=0.7, seed=5)
    session = Session.create(Dataset(X), Spec(4, "tsc:q=4", "superpac-d", dim=3))
    run = clairvoyant(session, y, 160)
    assert run.error[0] > 0.1
    assert run.finished


def test_the_session_that_it_is_given_stays_as_it_is():
    items, spec = made(2)
    session = Session.create(items, replace(spec, options={"pieces": 1}))
    before = session.ask()
    simulate(session, TruthOracle(items.y), items.y, 5)
    run = clairvoyant(session, items.y, 20)
    assert session.progress()["questions"] == 5
    assert session.spec.options == {"pieces": 1}
    again = clairvoyant(Session.create(items, session.spec), items.y, 20)
    assert run.error.tolist() == again.error.tolist()
    assert before == Session.create(items, session.spec).ask()


def test_a_strategy_that_never_doubts_is_measured_as_it_is():
    items, spec = made(3)
    session = Session.create(items, replace(spec, strategy="superpac-pinned"))
    assert clairvoyant(session, items.y, 10).error.size <= 11


def test_the_budget_holds_and_nothing_wrong_costs_nothing():
    items, spec = made(6)
    assert clairvoyant(Session.create(items, spec), items.y, 2).error.size <= 3
    session = Session.create(items, spec)
    right = clairvoyant(session, session.labels("model"), 50)
    assert right.finished
    assert right.error.tolist() == [0.0]


def test_it_is_no_strategy():
    assert not any("clairvoyant" in name for name in STRATEGIES)
    assert "clairvoyant" not in superpac.__all__
    items, spec = made(1)
    with pytest.raises(InputError, match="no strategy 'clairvoyant'"):
        make_strategy("clairvoyant", Session.create(items, spec).problem)
    with pytest.raises(InputError, match="no strategy"):
        Session.create(items, Spec(5, "tsc:q=5", "clairvoyant"))
