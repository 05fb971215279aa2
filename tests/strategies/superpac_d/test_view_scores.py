"""The three views of the sets against naive references."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from superpac.affinity.neighbors import KNNGraph
from superpac.data import Dataset
from superpac.graph.diffusion import Claims, Diffusion
from superpac.session.session import Session
from superpac.session.spec import Spec
from superpac.simulation.loop import simulate
from superpac.simulation.oracles import TruthOracle
from superpac.strategies.superpac_d import view_scores as module
from superpac.strategies.superpac_d.settings import Settings
from superpac.strategies.superpac_d.view_scores import (
    KernelView,
    SubspaceView,
    diffusion_shares,
    first_masses,
    shared_masses,
)
from superpac.subspaces.geometry import fit_bases, residuals

SETTINGS = Settings()


def points(n: int = 60, ambient: int = 8, seed: int = 0) -> np.ndarray:
    X = np.random.default_rng(seed).normal(size=(n, ambient))
    return X / np.linalg.norm(X, axis=1, keepdims=True)


@pytest.fixture(params=["subspaces", "kernel"])
def make_view(request):
    if request.param == "kernel":
        return lambda X: KernelView(X, SETTINGS)
    return lambda X: SubspaceView(X, 2, SETTINGS)


def test_a_view_that_followed_equals_one_made_anew(make_view):
    X = points()
    rng = np.random.default_rng(1)
    followed = make_view(X)
    labels = rng.integers(0, 3, 60)
    for _ in range(6):
        labels = np.where(rng.random(60) < 0.1, rng.integers(0, 4, 60), labels)
        keys = [int(k) for k in np.unique(labels)]
        followed.update(labels, keys, limit=9)
        anew = make_view(X)
        anew.update(labels, keys, limit=9)
        np.testing.assert_allclose(followed.matrix(keys), anew.matrix(keys), atol=2e-5)


def test_points_in_single_precision_give_the_same_residuals():
    X, y = points(90), np.repeat([0, 1, 2], 30)
    exact = SubspaceView(X, 2, SETTINGS)
    short = SubspaceView(X, 2, replace(SETTINGS, single_precision=0))
    for view in (exact, short):
        view.update(y, [0, 1, 2], limit=9)
    found, expected = short.matrix([0, 1, 2]), exact.matrix([0, 1, 2])
    assert (found != expected).any()
    np.testing.assert_allclose(found, expected, atol=1e-5)


def test_residuals_are_those_of_the_subspaces_for_points_outside_a_set():
    X = points()
    labels = np.repeat([0, 1, 2], 20)
    view = SubspaceView(X, 3, SETTINGS)
    view.update(labels, [0, 1, 2], limit=3)
    expected = residuals(X, fit_bases(X, labels, 3, 3)) ** 2
    outside = labels[:, None] != np.arange(3)
    np.testing.assert_allclose(view.matrix([0, 1, 2])[outside], expected[outside], atol=1e-10)
    inside = ~outside
    assert (view.matrix([0, 1, 2])[inside] >= expected[inside] - 1e-12).all()


@pytest.mark.parametrize("count", [2, 5, 9, 13])
def test_small_sets_leave_each_member_out(count):
    rng = np.random.default_rng(count)
    X = rng.normal(size=(20, 12))
    labels = np.r_[np.zeros(count, int), np.ones(20 - count, int)]
    view = SubspaceView(X, 7, SETTINGS)
    view.update(labels, [0, 1], limit=9)
    column = view.column(0)
    for i in range(count):
        others = np.delete(X[:count], i, axis=0)
        basis = np.linalg.svd(others, full_matrices=False)[2][:7]
        rest = X[i] - basis.T @ (basis @ X[i])
        assert column[i] == pytest.approx((rest @ rest) / (X[i] @ X[i]), abs=1e-9)


def test_the_kernel_vote_is_what_refitting_without_the_point_gives():
    X = points(40)
    labels = np.repeat([0, 1], 20)
    view = KernelView(X, SETTINGS)
    view.update(labels, [0, 1], limit=2)
    squared = ((X[:, None] - X[None]) ** 2).sum(axis=2)
    width = np.median(np.sort(squared, axis=1)[:, SETTINGS.kernel_neighbour])
    K = np.exp(-squared / width)
    for i in (0, 13, 39):
        rest = np.delete(np.arange(40), i)
        ridge = K[np.ix_(rest, rest)] + SETTINGS.ridge * np.eye(39)
        expected = K[i, rest] @ np.linalg.solve(ridge, (labels[rest, None] == [0, 1]).astype(float))
        np.testing.assert_allclose(view.matrix([0, 1])[i], expected, atol=2e-3)


def test_only_the_most_changed_columns_are_refreshed():
    X = points()
    view = SubspaceView(X, 2, SETTINGS)
    labels = np.repeat([0, 1, 2], 20)
    view.update(labels, [0, 1, 2], limit=1)  # new sets are always made
    before = view.matrix([0, 1, 2]).copy()
    labels[:5], labels[20] = 1, 2
    view.update(labels, [0, 1, 2], limit=1)
    changed = np.abs(view.matrix([0, 1, 2]) - before).max(axis=0) > 0
    assert changed.tolist() == [False, True, False]


def test_scores_compare_ratios_of_residuals():
    X = points()
    view = SubspaceView(X, 2, SETTINGS)
    view.update(np.repeat([0, 1, 2], 20), [0, 1, 2], limit=9)
    residual = view.matrix([0, 1, 2])
    typical = np.median(residual.min(axis=1))
    expected = -2 * np.log(residual / typical + 0.1)
    np.testing.assert_allclose(view.scores(view.comparable([0, 1, 2])), expected)


def test_a_starting_set_is_never_light():
    size = np.array([5, 5, 1, 1])
    seeded = np.array([True, True, True, False])
    np.testing.assert_allclose(first_masses(size, seeded, 2, SETTINGS), [1, 1, 1, 0.2])
    np.testing.assert_allclose(first_masses(size, ~seeded | True, 2, SETTINGS), 1)
    np.testing.assert_allclose(first_masses(size, seeded, 4, SETTINGS), 1)


def test_shared_masses_against_a_loop():
    rng = np.random.default_rng(0)
    claims, free = rng.random((40, 3)), rng.random(40) < 0.8
    claims[3] = 0.0
    size, first = np.array([1, 4, 2]), np.array([1.0, 0.5, 1.0])
    settings = replace(SETTINGS, mass_rounds=3, mass_power=0.4)
    mass = first.copy()
    for _ in range(3):
        held = size + 1.0
        for row in claims[free]:
            if row.sum() > 0:
                held += row * mass / (row * mass).sum()
        mass = first * (held / held.mean()) ** 0.4
    np.testing.assert_allclose(shared_masses(claims, free, size, first, settings), mass)


def unequal_clusters(seed):
    rng = np.random.default_rng(seed)
    centres = np.array([[0.0, 0, 0], [4, 0, 0], [0, 4, 0]])
    y = np.repeat([0, 1, 2], [160, 25, 15])
    return centres[y] + 0.9 * rng.normal(size=(200, 3)), y


@pytest.mark.parametrize("seed", range(3))
def test_unequal_clusters_are_not_shared_out_evenly(seed):
    X, y = unequal_clusters(seed)
    diffusion = Diffusion(KNNGraph(3).affinity(X))
    middles = [
        int(members[np.argmin(((X[members] - X[members].mean(axis=0)) ** 2).sum(axis=1))])
        for members in (np.flatnonzero(y == k) for k in range(3))
    ]
    claims = Claims(diffusion)
    claims.follow({k: [t] for k, t in enumerate(middles)})
    place, own = np.full(200, -1), np.zeros(200)
    place[middles], own[middles] = range(3), [diffusion.diagonal[t] for t in middles]

    def wrong(settings):
        raw, one = claims.matrix([0, 1, 2]), np.ones(3, dtype=int)
        _, shares = diffusion_shares(raw, own, place, one, np.ones(3), settings)
        np.testing.assert_allclose(shares.sum(axis=1), 1)
        return np.count_nonzero(shares.argmax(axis=1)[place < 0] != y[place < 0])

    assert wrong(SETTINGS) < wrong(replace(SETTINGS, mass_power=0.0))


@pytest.mark.parametrize("seed", range(3))
def test_unequal_clusters_are_told_apart_with_few_questions(seed):
    X, y = unequal_clusters(seed)
    session = Session.create(Dataset(X, y=y), Spec(3, "knn", dim=2))
    assert simulate(session, TruthOracle(y), y, 60).error[-1] <= 0.03


@pytest.mark.parametrize("shortened", [False, True])
def test_the_kernel_by_blocks_is_the_kernel_of_all_points_at_once(shortened):
    X = points(50)
    labels = np.repeat([0, 1], 25)
    some = replace(SETTINGS, kernel_block=7, single_precision=0 if shortened else SETTINGS.refresh)
    votes = []
    for chosen in (SETTINGS, some):
        view = KernelView(X, chosen)
        view.update(labels, [0, 1], limit=2)
        votes.append(view.matrix([0, 1]))
    np.testing.assert_allclose(votes[1], votes[0], atol=1e-4 if shortened else 1e-6)


def test_moments_that_follow_changes_are_those_of_the_members():
    X = points(60)
    view = SubspaceView(X, 2, replace(SETTINGS, single_precision=0))
    labels = np.repeat([0, 1], 30)
    view.update(labels, [0, 1], limit=9)
    labels[[0, 1, 40]] = 1, 1, 0
    view.update(labels, [0, 1], limit=9)
    for key in (0, 1):
        members = X[labels == key]
        np.testing.assert_allclose(view._sums[key], members.T @ members, rtol=1e-5, atol=1e-5)


def test_shares_against_whole_matrices():
    values = np.random.default_rng(0).normal(size=(50, 7))
    values[3] = -1.0  # nothing to share
    rows = np.maximum(values, 0.0)
    total = rows.sum(axis=1, keepdims=True)
    rows = np.maximum(np.divide(rows, total, out=np.zeros_like(rows), where=total > 0), 0.02)
    found = module.shares_of(values, 0.02)
    np.testing.assert_allclose(found, rows / rows.sum(axis=1, keepdims=True), rtol=1e-12)
