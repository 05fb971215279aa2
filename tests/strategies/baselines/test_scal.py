from __future__ import annotations

import numpy as np
import pytest

from driving import drive, first, prefix
from superpac.affinity.tsc import TSC
from superpac.data.synthetic import make_subspaces
from superpac.metrics import clustering_error
from superpac.strategies import Problem, Scal
from superpac.strategies.baselines.scal import fit_affine, influence, squared_residuals


@pytest.fixture(scope="module")
def problem():
    X, y = make_subspaces(25, 3, 2, 8, noise=0.3, seed=2)
    X /= np.linalg.norm(X, axis=1, keepdims=True)
    return Problem(X, TSC(3, q=4).affinity(X), 3, dim=2, seed=0), y


def all_directions(X):
    """Mean, every eigenvector and eigenvalue of a cluster, largest first."""
    values, vectors = np.linalg.eigh(np.cov(X.T, bias=True))
    return X.mean(axis=0), vectors[:, ::-1], values[::-1]


def naive_influence(X, labels, K, q):
    """The formula as it is written, over all directions beyond the q-th."""
    facts = [all_directions(X[labels == k]) for k in range(K)]
    sizes = np.bincount(labels, minlength=K)
    result = np.zeros(len(X))
    for i, x in enumerate(X):

        def beyond(k, x=x):
            mean, v, lam = facts[k]
            return sum(((x - mean) @ v[:, p]) ** 2 for p in range(q, X.shape[1])), lam[q:].sum()

        s = labels[i]
        own, left = beyond(s)
        removed = abs(own - left) / (sizes[s] - 1)
        t = min((k for k in range(K) if k != s), key=lambda k: beyond(k)[0])
        other, left = beyond(t)
        result[i] = removed - (other - left) / (sizes[t] + 1)
    return result


def test_influence_is_the_formula(problem):
    instance, _ = problem
    labels = Scal(instance).start
    spaces = [fit_affine(instance.X[labels == k], 2) for k in range(3)]
    table = squared_residuals(instance.X, spaces)
    want = naive_influence(instance.X, labels, 3, 2)
    np.testing.assert_allclose(influence(table, labels, spaces), want, atol=1e-12)


def test_affine_fit_is_the_same_from_either_gram_matrix():
    X = np.random.default_rng(0).normal(size=(6, 9))
    few = fit_affine(X, 2)  # fewer points than dimensions
    mean, v, lam = all_directions(X)
    np.testing.assert_allclose(few.mean, mean)
    np.testing.assert_allclose(few.basis @ few.basis.T, v[:, :2] @ v[:, :2].T, atol=1e-10)
    assert few.left == pytest.approx(lam[2:].sum())
    assert fit_affine(X[:0], 2).size == 0
    assert fit_affine(X[:1], 2).basis.shape[1] <= 1


def test_placed_points_stay_where_their_set_is(problem):
    instance, y = problem
    strategy = Scal(instance)
    state, _ = drive(strategy, y, 40)
    labels = strategy.labels(state)
    for members in strategy.sets.members.values():
        assert len(set(labels[members])) == 1
    assert len({labels[m[0]] for m in strategy.sets.members.values()}) == len(strategy.sets.members)


def test_asks_the_most_influential_free_point(problem):
    instance, y = problem
    strategy = Scal(instance)
    state, _ = drive(strategy, y, 20)
    question = first(strategy, state)
    while strategy._pending(state, frozenset()) is not None:
        drive(strategy, y, 1, state)
        question = first(strategy, state)
    free = np.flatnonzero(strategy.sets.set_of == -1)
    assert strategy._influence[question.i] == strategy._influence[free].max()


def test_the_way_matters_and_is_walked_again(problem):
    """K-subspaces goes on from the last clustering; a fresh strategy walks the same way."""
    instance, y = problem
    strategy = Scal(instance)
    state, _ = drive(strategy, y, 50)
    strategy.labels(prefix(state, 20, revision=1))
    again = strategy.labels(prefix(state, 50, revision=2))
    assert (again == Scal(instance).labels(prefix(state, 50))).all()
    assert clustering_error(y, again) < 0.5
