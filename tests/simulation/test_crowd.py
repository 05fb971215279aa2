"""Several people who answer at the same time."""

from __future__ import annotations

import numpy as np
import pytest

from superpac.data import load
from superpac.metrics import clustering_error
from superpac.session.session import Session
from superpac.session.spec import Spec
from superpac.simulation.crowd import answer_in_turn
from superpac.simulation.oracles import TruthOracle


@pytest.fixture(scope="module")
def digits():
    return load("digits").sample_classes(10, 40, seed=5)


def answers_to(digits, people: int, level: float) -> int:
    """Answers of all together until the error is at most so much."""
    session = Session.create(digits, Spec(10, "tsc:q=5", dim=5))
    asked = 0
    for _ in answer_in_turn(session, TruthOracle(digits.y), people, 300):
        asked += 1
        if clustering_error(digits.y, session.labels("model")) <= level:
            break
    return asked


def test_five_people_need_few_more_answers_than_one(digits):
    assert answers_to(digits, 5, 0.01) <= answers_to(digits, 1, 0.01) / 0.75


def test_nobody_is_asked_about_an_item_or_the_two_groups_that_another_has(digits):
    session = Session.create(digits, Spec(10, "tsc:q=5", dim=5))
    strategy, state = session.strategy, session.state
    held: list[tuple[int, int]] = []
    items: set[int] = set()
    for _ in range(12):
        (question,) = strategy.propose(state, 1, frozenset(items))
        pair = question.i, question.j
        assert question.i not in items
        sets = strategy.model.place[list(pair)]
        if sets.min() >= 0:
            held.append(tuple(sorted(int(k) for k in sets)))
        items.add(question.i)
    assert len(held) > 1, "groups are settled first on these data"
    assert len(set(held)) == len(held), "two people are asked whether the same groups are one"


def test_an_item_goes_on_with_the_person_who_is_at_it(digits):
    """Somebody else's answer in between must not end the comparisons of an item."""
    from superpac.answers.links import Link
    from superpac.strategies.superpac_d.provisional_sets import ProvisionalSets

    alone, beside = (ProvisionalSets(9, seeds=[0, 1, 2, 3]) for _ in range(2))
    for sets in (alone, beside):
        sets.take(Link(1, 5, 0, "different", "Ada"))
        sets.take(Link(2, 5, 1, "different", "Ada"))
    beside.take(Link(3, 6, 0, "same", "Bob"))
    assert beside.set_of[5] == alone.set_of[5] == -1, "Ada is still at it"
    beside.take(Link(4, 5, 2, "same", "Ada"))
    assert beside.set_of[5] == beside.set_of[2]
    alone.take(Link(3, 6, 0, "same", "Ada"))
    assert alone.set_of[5] >= 0, "Ada has moved on, so the item opens a set"


def test_one_person_in_turn_is_asked_what_a_session_asks(digits):
    first = Session.create(digits, Spec(10, "tsc:q=5", dim=5))
    asked = [(q.i, q.j) for q in answer_in_turn(first, TruthOracle(digits.y), 1, 25)]
    second = Session.create(digits, Spec(10, "tsc:q=5", dim=5))
    for i, j in asked:
        question = second.ask()
        assert (question.i, question.j) == (i, j)
        second.tell("same" if digits.y[i] == digits.y[j] else "different")
    assert np.array_equal(first.labels(), second.labels())
