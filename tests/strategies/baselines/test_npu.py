from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse
from sklearn.datasets import load_digits
from sklearn.ensemble import RandomForestClassifier

from driving import drive, first
from superpac.strategies import Npu, Problem
from superpac.strategies.baselines.npu import set_proximity, uncertainty_per_question


@pytest.fixture(scope="module")
def digits():
    data = load_digits()
    X = data.data[:150] / np.linalg.norm(data.data[:150], axis=1, keepdims=True)
    return Problem(X, sparse.csr_array((150, 150)), 10, dim=3, seed=2), data.target[:150]


def test_proximity_is_the_share_of_common_leaves(digits):
    problem, y = digits
    forest = RandomForestClassifier(7, random_state=0).fit(problem.X, y)
    leaves = forest.apply(problem.X)
    both = (leaves[:, None, :] == leaves[None, :, :]).mean(axis=2)
    sets = [[0, 5, 9], [1], [2, 3]]
    want = np.column_stack([both[:, members].mean(axis=1) for members in sets])
    np.testing.assert_allclose(set_proximity(leaves, sets), want)


def test_uncertainty_by_hand():
    p = np.array([[0.2, 0.7, 0.1]])
    H = -sum(q * np.log(q) for q in p[0])
    expected = 1 * 0.7 + 2 * 0.2 + 3 * 0.1
    assert uncertainty_per_question(p)[0] == pytest.approx(H / expected)


def test_asks_the_most_uncertain_and_the_likeliest_set_first(digits):
    problem, y = digits
    strategy = Npu(problem, n_trees=10)
    state, _ = drive(strategy, y, 40)
    question = first(strategy, state)
    while strategy._pending(state, frozenset()) is not None:
        drive(strategy, y, 1, state)
        question = first(strategy, state)
    free = np.flatnonzero(strategy.sets.set_of == -1)
    gain = uncertainty_per_question(strategy.shares)
    assert gain[question.i] == gain[free].max()
    keys = list(strategy.sets.members)
    likeliest = keys[int(np.argmax(strategy.shares[question.i]))]
    assert strategy.sets.set_of[question.j] == likeliest


def test_forest_is_grown_only_when_the_clustering_changes(digits, monkeypatch):
    problem, y = digits
    grown = []
    real = RandomForestClassifier.fit

    def fit(self, X, labels):
        grown.append(labels.tobytes())
        return real(self, X, labels)

    monkeypatch.setattr(RandomForestClassifier, "fit", fit)
    drive(Npu(problem, n_trees=5), y, 60)
    assert all(a != b for a, b in zip(grown, grown[1:], strict=False))
    assert len(grown) < 60
