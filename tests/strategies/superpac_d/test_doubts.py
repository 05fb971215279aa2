"""Answers that are held, outvoted or asked again."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from superpac.answers.links import Link
from superpac.answers.votes import Votes
from superpac.data import Dataset
from superpac.data.synthetic import make_subspaces
from superpac.session.session import Session
from superpac.session.spec import Spec
from superpac.simulation.oracles import TruthOracle


@settings(max_examples=50, deadline=None)
@given(st.lists(st.tuples(st.integers(0, 3), st.integers(4, 6), st.booleans()), max_size=30))
def test_what_is_believed_is_the_majority_of_each_pair(said):
    votes = Votes()
    count: dict[tuple[int, int], int] = {}
    for seq, (i, j, same) in enumerate(said):
        votes.take(Link(seq, i, j, "same" if same else "different"))
        count[i, j] = count.get((i, j), 0) + (1 if same else -1)
    expected = {p: "same" if net > 0 else "different" for p, net in count.items() if net}
    assert {(a.i, a.j): a.answer for a in votes.believed()} == expected
    assert {(a.i, a.j) for a in votes.ties()} == {p for p, net in count.items() if net == 0}
    assert 0 < votes.rate < 1


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
