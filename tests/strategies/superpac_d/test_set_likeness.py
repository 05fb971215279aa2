from __future__ import annotations

import numpy as np
import pytest

from superpac import Session, Spec, TruthOracle, clustering_error
from superpac.data import Dataset
from superpac.simulation.loop import AnswerLoop
from superpac.strategies.superpac_d.set_likeness import SetLikeness, likelier


def two_styles(n_kinds=6, each=15, seed=0):
    """Kinds in two styles: the style is what varies most, and no graph of neighbours crosses it."""
    rng = np.random.default_rng(seed)
    kinds = rng.normal(size=(n_kinds, 20))
    style = 6 * np.eye(20)[0]
    X = [
        kinds[k] + s * style + 0.15 * rng.normal(size=(each, 20))
        for s in (-1, 1)
        for k in range(n_kinds)
    ]
    return np.concatenate(X), np.tile(np.repeat(np.arange(n_kinds), each), 2)


def naive(points, labels):
    """Cosine between group means, every principal direction scaled to one variance or so."""
    points = points - points.mean(axis=0)
    variance = points.T @ points / len(points)
    size = len(variance)
    values, vectors = np.linalg.eigh(variance + 0.1 * np.trace(variance) / size * np.eye(size))
    Z = np.array([points[labels == k].mean(axis=0) for k in np.unique(labels)])
    Z = Z @ vectors / np.sqrt(values)
    Z /= np.linalg.norm(Z, axis=1, keepdims=True)
    return Z @ Z.T


def test_points_in_single_precision_are_as_alike():
    X, kinds = two_styles()
    belong = np.eye(6)[kinds]
    double = SetLikeness(X, 0).between(belong)
    single = SetLikeness(X.astype(np.float32), 0).between(belong)
    np.testing.assert_allclose(single, double, atol=1e-5)


def test_likeness_is_the_cosine_where_all_directions_vary_as_much():
    rng = np.random.default_rng(1)
    labels = np.repeat(np.arange(5), 30)
    points = rng.normal(size=(5, 8))[labels] + rng.normal(size=(150, 8)) * np.arange(1, 9)
    found = SetLikeness(points, 0).between(np.eye(5)[labels])
    np.testing.assert_allclose(found, naive(points, labels), atol=1e-6)


def test_a_set_that_holds_nothing_is_like_nothing():
    points = np.random.default_rng(2).normal(size=(20, 4))
    belong = np.zeros((20, 3))
    belong[:10, 0] = belong[10:, 1] = 1.0
    found = SetLikeness(points, 0).between(belong)
    assert np.isfinite(found).all()
    assert not found[2].any()


def test_kinds_in_two_styles_are_likeliest_one_kind():
    X, y = two_styles()
    groups = np.repeat(np.arange(12), 15)
    like = SetLikeness(X, 0).between(np.eye(12)[groups])
    likely = likelier(like, ~np.eye(12, dtype=bool), 1.5)
    for k in range(6):
        assert likely[k, k + 6] > 3.0


@pytest.mark.parametrize("strength", [0.0, 1.5])
def test_factors_have_mean_one_over_the_pairs_compared(strength):
    rng = np.random.default_rng(3)
    like = rng.normal(size=(6, 6))
    among = rng.uniform(size=(6, 6)) < 0.6
    found = likelier(like, among, strength)
    assert found[among].mean() == pytest.approx(1.0)
    assert (found[~among] == 1.0).all()
    order = np.argsort(like[among])
    assert (np.diff(found[among][order]) >= 0).all()


def test_few_or_equal_pairs_tell_nothing():
    like = np.array([[1.0, 0.3], [0.3, 1.0]])
    assert (likelier(like, ~np.eye(2, dtype=bool), 2.0) == 1.0).all()
    assert (likelier(np.ones((4, 4)), ~np.eye(4, dtype=bool), 2.0) == 1.0).all()


def test_groups_that_no_walk_joins_are_found_to_be_one():
    X, y = two_styles()
    order = np.random.default_rng(0).permutation(y.size)
    X, y = X[order], y[order]
    session = Session.create(Dataset(X), Spec("auto", "tsc:q=4"))
    for _ in AnswerLoop(session, TruthOracle(y), 40):
        pass
    assert session.progress()["clusters"] == 6
    assert clustering_error(y, session.labels()) == 0.0
