"""The parts of SUPERPAC-D against naive references: views, balance, groups, sets."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from superpac.answers.links import Link
from superpac.strategies.superpac_d import view_scores as views
from superpac.strategies.superpac_d.assumed_links import (
    assumed_links,
    hosted,
    links_left,
    standing_groups,
)
from superpac.strategies.superpac_d.merge_chances import telling
from superpac.strategies.superpac_d.provisional_sets import ProvisionalSets
from superpac.strategies.superpac_d.view_scores import RIDGE, KernelView, SubspaceView
from superpac.strategies.superpac_d.view_weights import fit_weights
from superpac.subspaces.geometry import fit_bases, residuals


def points(n: int = 60, ambient: int = 8, seed: int = 0) -> np.ndarray:
    X = np.random.default_rng(seed).normal(size=(n, ambient))
    return X / np.linalg.norm(X, axis=1, keepdims=True)


@pytest.mark.parametrize("kind", [SubspaceView, KernelView])
def test_a_view_that_followed_equals_one_made_anew(kind):
    X = points()
    rng = np.random.default_rng(1)
    followed = SubspaceView(X, 2) if kind is SubspaceView else KernelView(X)
    labels = rng.integers(0, 3, 60)
    for _ in range(6):
        labels = np.where(rng.random(60) < 0.1, rng.integers(0, 4, 60), labels)
        keys = [int(k) for k in np.unique(labels)]
        followed.update(labels, keys, limit=9)
        anew = SubspaceView(X, 2) if kind is SubspaceView else KernelView(X)
        anew.update(labels, keys, limit=9)
        np.testing.assert_allclose(followed.matrix(keys), anew.matrix(keys), atol=2e-5)


def test_points_in_single_precision_give_the_same_residuals(monkeypatch):
    X, y = points(90), np.repeat([0, 1, 2], 30)
    exact = SubspaceView(X, 2)
    monkeypatch.setattr(views, "LARGE", 0)
    short = SubspaceView(X, 2)
    assert short._short.dtype == np.float32
    for view in (exact, short):
        view.update(y, [0, 1, 2], limit=9)
    np.testing.assert_allclose(short.matrix([0, 1, 2]), exact.matrix([0, 1, 2]), atol=1e-5)


def test_residuals_are_those_of_the_subspaces_for_points_outside_a_set():
    X = points()
    labels = np.repeat([0, 1, 2], 20)
    view = SubspaceView(X, 3)
    view.update(labels, [0, 1, 2], limit=3)
    expected = residuals(X, fit_bases(X, labels, 3, 3)) ** 2
    outside = labels[:, None] != np.arange(3)
    np.testing.assert_allclose(view.matrix([0, 1, 2])[outside], expected[outside], atol=1e-10)
    inside = ~outside
    assert (view.matrix([0, 1, 2])[inside] >= expected[inside] - 1e-12).all()


def test_the_kernel_vote_is_what_refitting_without_the_point_gives():
    X = points(40)
    labels = np.repeat([0, 1], 20)
    view = KernelView(X)
    view.update(labels, [0, 1], limit=2)
    squared = ((X[:, None] - X[None]) ** 2).sum(axis=2)
    width = np.median(np.sort(squared, axis=1)[:, 7])
    K = np.exp(-squared / width)
    for i in (0, 13, 39):
        rest = np.delete(np.arange(40), i)
        ridge = K[np.ix_(rest, rest)] + RIDGE * np.eye(39)
        expected = K[i, rest] @ np.linalg.solve(ridge, (labels[rest, None] == [0, 1]).astype(float))
        np.testing.assert_allclose(view.matrix([0, 1])[i], expected, atol=2e-3)


def test_only_the_most_changed_columns_are_refreshed():
    X = points()
    view = SubspaceView(X, 2)
    labels = np.repeat([0, 1, 2], 20)
    view.update(labels, [0, 1, 2], limit=1)  # new sets are always made
    before = view.matrix([0, 1, 2])
    labels[:5], labels[20] = 1, 2
    view.update(labels, [0, 1, 2], limit=1)
    changed = np.abs(view.matrix([0, 1, 2]) - before).max(axis=0) > 0
    assert changed.tolist() == [False, True, False]


def test_weights_follow_the_view_that_is_right():
    rng = np.random.default_rng(0)
    observed = []
    for _ in range(80):
        k = int(rng.integers(5))
        good, noise = rng.normal(size=5), rng.normal(size=5)
        good[k] += 3
        observed.append((np.stack([good, noise], axis=1), k))
    weights = fit_weights(observed, np.ones(2))
    assert weights[0] > 1
    assert weights[1] < weights[0] / 2
    np.testing.assert_array_equal(fit_weights([], np.ones(2)), np.ones(2))


@settings(max_examples=50, deadline=None)
@given(st.integers(2, 9), st.integers(1, 4), st.integers(0, 10_000))
def test_groups_hold_no_two_sets_that_differ_and_only_split(count, wanted, seed):
    rng = np.random.default_rng(seed)
    mutual = rng.random((count, count))
    mutual = mutual + mutual.T
    links = assumed_links(mutual, rng.random(count), wanted)
    place = np.arange(count)
    differ = np.zeros((count, count), dtype=bool)
    start = standing_groups(links, place, differ)
    assert np.unique(start).size == min(count, wanted)
    for _ in range(4):
        a, b = rng.choice(count, 2, replace=False)
        differ[a, b] = differ[b, a] = True
        group = standing_groups(links, place, differ)
        assert not differ[group[:, None] == group].any()
        for head in np.unique(group):
            assert np.unique(start[group == head]).size == 1


def test_two_sets_known_to_differ_are_not_merged_by_one_more_answer():
    sets = ProvisionalSets(4, seeds=[0, 1])
    sets.take(Link(1, 0, 1, "different"))
    sets.take(Link(2, 0, 1, "same"))
    assert sets.members == {0: [0], 1: [1]}
    sets.refold([Link(2, 0, 1, "same")])
    assert sets.members == {0: [0, 1]}


@pytest.mark.parametrize("count", [2, 5, 9, 13])
def test_small_sets_leave_each_member_out(count):
    rng = np.random.default_rng(count)
    X = rng.normal(size=(20, 12))
    labels = np.r_[np.zeros(count, int), np.ones(20 - count, int)]
    view = SubspaceView(X, 7)
    view.update(labels, [0, 1], limit=9)
    column = view.column(0)
    for i in range(count):
        others = np.delete(X[:count], i, axis=0)
        basis = np.linalg.svd(others, full_matrices=False)[2][:7]
        rest = X[i] - basis.T @ (basis @ X[i])
        assert column[i] == pytest.approx((rest @ rest) / (X[i] @ X[i]), abs=1e-9)


def test_a_group_beyond_the_clusters_goes_to_a_host_it_may_be_in():
    rng = np.random.default_rng(0)
    for _ in range(50):
        S, K = 8, 4
        mass = np.r_[rng.random(K) * 10 + 20, rng.random(S - K)]
        belief = rng.random((S, S))
        differ = np.triu(rng.random((S, S)) < 0.4, 1)
        differ = differ | differ.T
        found = hosted(np.arange(S), belief, mass, differ, K)
        assert (found[:K] == np.arange(K)).all()
        for g in range(K, S):
            allowed = [h for h in range(K) if not differ[g, h]]
            expected = max(allowed, key=lambda h, g=g: belief[g, h]) if allowed else g
            assert found[g] == expected


def test_the_weakest_links_fall_when_answers_leave_too_few_groups():
    apart = np.zeros((3, 3), dtype=bool)
    links, place = [(0, 1), (2, 3)], np.array([0, 1, 1, 2])  # an answer has joined points 1 and 2
    assert standing_groups(links, place, apart).tolist() == [0, 0, 0]
    assert links_left(links, place, apart, np.ones(3, dtype=bool), 2) == [(0, 1)]
    few = np.array([True, True, False])  # a set of one point is no cluster
    assert links_left(links, place, apart, few, 2) == []


def test_within_a_group_the_open_link_is_asked_about_first():
    chances = np.triu(np.array([[0, 0.95, 0.5], [0, 0, 0.2], [0, 0, 0]]), 1)
    within = telling(chances, np.array([0, 0, 0]))
    assert divmod(int(within.argmax()), 3) == (0, 2)
    across = telling(chances, np.array([0, 1, 2]))
    np.testing.assert_array_equal(across, chances)
