"""Answers that count only once they are confirmed."""

from __future__ import annotations

import numpy as np
import pytest

from driving import first
from superpac.answers.links import pair_of
from superpac.data import Dataset
from superpac.data.synthetic import make_subspaces
from superpac.session.session import Session
from superpac.session.spec import Spec
from superpac.simulation.oracles import TruthOracle


def waiting(session):
    """Pairs whose one answer counts only once a second one agrees."""
    waits = session.state.votes.waits
    return {pair_of(link) for link in session.state.answers if waits(link.i, link.j)}


@pytest.fixture
def doubted():
    """Give a session whose last answer is to be confirmed, and the truth behind it."""
    X, y = make_subspaces(60, 4, 2, 12, noise=0.8, seed=0)
    session = Session.create(Dataset(X, y=y), Spec(4, "tsc:q=4", dim=2))
    oracle = TruthOracle(y)
    while not waiting(session):
        question = session.ask()
        session.tell(oracle(question), (question.i, question.j))
    return session, oracle


def test_an_answer_to_be_confirmed_is_not_put_before_the_person_again_at_once(doubted):
    session, oracle = doubted
    last = set(*waiting(session))
    for _ in range(40):
        question = session.ask()
        assert {question.i, question.j} != last
        last = {question.i, question.j}
        session.tell(oracle(question), (question.i, question.j))


def test_an_answer_to_be_confirmed_is_checked_when_nothing_else_is_left_to_ask(doubted):
    session, _ = doubted
    pair = set(*waiting(session))
    others = frozenset(range(session.problem.n)) - pair
    found = first(session.strategy, session.state, others)
    assert {found.i, found.j} == pair


def test_taking_back_and_again_restores_what_is_to_be_confirmed(doubted):
    session, oracle = doubted
    for _ in range(25):
        question = session.ask()
        session.tell(oracle(question), (question.i, question.j))
    question, labels = session.ask(), session.labels()
    held = waiting(session)
    for _ in range(26):
        session.undo()
        session.labels()
    assert not waiting(session)
    for _ in range(26):
        session.redo()
    again = session.ask()
    assert (again.i, again.j) == (question.i, question.j)
    np.testing.assert_array_equal(session.labels(), labels)
    assert waiting(session) == held
