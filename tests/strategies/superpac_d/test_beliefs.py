from __future__ import annotations

import numpy as np
import pytest

from driving import drive, prefix
from superpac.affinity.tsc import TSC
from superpac.data import load
from superpac.strategies import Problem, RandomPairs, SuperpacD


@pytest.fixture(scope="module")
def digits():
    items = load("digits").sample_classes(4, 40, seed=3)
    X = items.points()
    return Problem(X, TSC(4, q=5).affinity(X), 4, dim=3), items.y


@pytest.fixture(scope="module")
def asked(digits):
    problem, y = digits
    strategy = SuperpacD(problem)
    return strategy, drive(strategy, y, 60)[0]


def test_the_record_is_what_was_believed_of_the_labels_before_each_answer(digits, asked):
    problem, _ = digits
    _, state = asked
    other, expected = SuperpacD(problem), []
    for n, link in enumerate(state.answers):
        before = prefix(state, n)
        labels, sure = other.labels(before), other.beliefs(before).right
        sets = other.sets
        placing = sets.set_of[link.i] == -1 and sets.set_of[link.j] >= 0
        if placing and not sets.apart(link.i) and labels[link.i] == labels[link.j]:
            expected.append((sure[link.i], float(link.answer == "same")))
    record = asked[0].beliefs(state).record
    assert len(expected) > 10
    np.testing.assert_allclose(record, expected, atol=1e-9)


def test_opening_anew_and_taking_back_give_the_same_beliefs(digits, asked):
    problem, _ = digits
    strategy, state = asked
    now = strategy.beliefs(state)
    for part in (state, prefix(state, 33, revision=1), prefix(state, 7, revision=2)):
        anew, moved = SuperpacD(problem).beliefs(part), strategy.beliefs(part)
        np.testing.assert_array_equal(anew.record, moved.record)
        np.testing.assert_allclose(anew.right, moved.right, atol=1e-6)
        rest = [(b.surplus, b.assumed, b.missing) for b in (anew, moved)]
        assert rest[0] == pytest.approx(rest[1])
    again = strategy.beliefs(prefix(state, state.n_answers, revision=3))
    np.testing.assert_array_equal(again.record, now.record)


def test_certain_points_are_sure_and_sets_taken_together_are_named(digits):
    problem, y = digits
    strategy = SuperpacD(problem)
    start = strategy.beliefs(drive(strategy, y, 0)[0])
    assert start.assumed > 0.1 * problem.n
    assert start.record.shape == (0, 2)
    later, state = strategy, drive(strategy, y, 40)[0]
    found = later.beliefs(state)
    certain = later.sets.set_of >= 0
    assert (found.right[certain] == 1).all()
    assert 0 <= found.right.min() < found.right.max() <= 1
    assert found.assumed < start.assumed


def test_a_strategy_without_a_posterior_says_nothing(digits):
    problem, y = digits
    strategy = RandomPairs(problem)
    assert strategy.beliefs(drive(strategy, y, 3)[0]) is None
