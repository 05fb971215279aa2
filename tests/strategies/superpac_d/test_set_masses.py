"""Masses of sets: by hand on small cases, and what they do to unequal clusters."""

import numpy as np
import pytest

from superpac.answers.links import Link
from superpac.answers.votes import Votes
from superpac.data import Dataset
from superpac.data.synthetic import make_subspaces
from superpac.session.session import Session
from superpac.session.spec import Spec
from superpac.simulation.loop import simulate
from superpac.simulation.oracles import TruthOracle
from superpac.strategies.superpac_d import set_masses as masses
from superpac.strategies.superpac_d.assumed_links import links_left, standing_groups
from superpac.strategies.superpac_d.set_masses import POWER, ROUNDS, first_masses, shared_masses


def test_a_starting_set_is_never_light():
    size = np.array([5, 5, 1, 1])
    seeded = np.array([True, True, True, False])
    np.testing.assert_allclose(first_masses(size, seeded, 2), [1, 1, 1, 0.2])
    np.testing.assert_allclose(first_masses(size, ~seeded | True, 2), 1)
    np.testing.assert_allclose(first_masses(size, seeded, 4), 1)


def test_shared_masses_against_a_loop():
    rng = np.random.default_rng(0)
    claims, free = rng.random((40, 3)), rng.random(40) < 0.8
    claims[3] = 0.0
    size, first = np.array([1, 4, 2]), np.array([1.0, 0.5, 1.0])
    mass = first.copy()
    for _ in range(ROUNDS):
        held = size + 1.0
        for row in claims[free]:
            if row.sum() > 0:
                held += row * mass / (row * mass).sum()
        mass = first * (held / held.mean()) ** POWER
    np.testing.assert_allclose(shared_masses(claims, free, size, first), mass)


def test_a_fallen_link_stays_fallen():
    links, place = [(0, 1), (2, 3)], np.arange(4)
    differ, counted = np.zeros((4, 4), bool), np.ones(4, bool)
    left = links_left(links, place, differ, counted, 3)
    assert left == [(0, 1)]
    differ[0, 1] = differ[1, 0] = True
    assert links_left(left, place, differ, counted, 3) == left
    np.testing.assert_array_equal(standing_groups(left, place, differ), np.arange(4))


def test_a_held_answer_is_believed_once_confirmed():
    votes = Votes()
    votes.hold(1, 2)
    assert not votes.take(Link(1, 1, 2, "same"))
    assert votes.net(1, 2) == 0
    assert [link.seq for link in votes.ties()] == [1]
    assert votes.take(Link(2, 1, 2, "same"))
    assert votes.net(1, 2) == 2
    assert not list(votes.ties())


def test_a_held_answer_that_is_denied_is_open():
    votes = Votes()
    votes.hold(1, 2)
    votes.take(Link(1, 1, 2, "same"))
    assert not votes.take(Link(2, 1, 2, "different"))
    assert [link.seq for link in votes.ties()] == [1]
    assert votes.take(Link(3, 1, 2, "different"))
    assert votes.believed()[0].answer == "different"


def error_on_unequal_clusters(seed):
    rng = np.random.default_rng(seed)
    centres = np.array([[0.0, 0, 0], [4, 0, 0], [0, 4, 0]])
    y = np.repeat([0, 1, 2], [160, 25, 15])
    items = Dataset(centres[y] + 0.9 * rng.normal(size=(200, 3)), y=y)
    session = Session.create(items, Spec(3, "knn", dim=2))
    return simulate(session, TruthOracle(y), y, 60).error[-1]


def test_unequal_clusters_are_not_shared_out_evenly(monkeypatch):
    adapted = [error_on_unequal_clusters(seed) for seed in range(3)]
    monkeypatch.setattr(masses, "POWER", 0.0)
    even = [error_on_unequal_clusters(seed) for seed in range(3)]
    assert max(adapted) <= 0.03
    assert np.mean(adapted) < np.mean(even) / 2


@pytest.fixture
def doubted():
    """Give a session whose last answer is held, and the truth behind it."""
    X, y = make_subspaces(60, 4, 2, 12, noise=0.8, seed=0)
    session = Session.create(Dataset(X, y=y), Spec(4, "tsc:q=4", dim=2))
    oracle = TruthOracle(y)
    while not session.strategy.votes.held:
        question = session.ask()
        session.tell(oracle(question), (question.i, question.j))
        session.labels()
    return session, oracle


def test_a_held_answer_is_not_put_before_the_person_again_at_once(doubted):
    session, oracle = doubted
    last = set(*session.strategy.votes.held)
    for _ in range(40):
        question = session.ask()
        assert {question.i, question.j} != last
        last = {question.i, question.j}
        session.tell(oracle(question), (question.i, question.j))


def test_a_held_answer_is_checked_when_nothing_else_is_left_to_ask(doubted):
    session, _ = doubted
    pair = set(*session.strategy.votes.held)
    others = frozenset(range(session.problem.n)) - pair
    found = session.strategy.propose(session.fold.state, others)
    assert {found.i, found.j} == pair


def test_taking_back_and_again_restores_what_is_held(doubted):
    session, oracle = doubted
    for _ in range(25):
        question = session.ask()
        session.tell(oracle(question), (question.i, question.j))
    question, labels = session.ask(), session.labels()
    held = set(session.strategy.votes.held)
    for _ in range(26):
        session.undo()
        session.labels()
    assert not session.strategy.votes.held
    for _ in range(26):
        session.redo()
    again = session.ask()
    assert (again.i, again.j) == (question.i, question.j)
    np.testing.assert_array_equal(session.labels(), labels)
    assert session.strategy.votes.held == held
