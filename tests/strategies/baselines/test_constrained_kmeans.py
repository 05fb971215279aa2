from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse

from driving import drive, first, tell
from superpac.answers.constraints import Constraints
from superpac.answers.links import Link
from superpac.answers.state import State
from superpac.errors import ContradictionError, InputError
from superpac.graph.imputed_spectral import KnownSets
from superpac.metrics import clustering_error
from superpac.strategies import ExploreConsolidate, MinMax, Problem
from superpac.strategies.baselines.constrained_kmeans import cop_kmeans, pckmeans, starting_centres
from superpac.strategies.baselines.explore_consolidate import AtMost
from superpac.strategies.baselines.farthest_first import NearestPlaced
from superpac.strategies.baselines.min_max import kernel_width


def blobs(seed=0, n=60, K=3, spread=0.7):
    rng = np.random.default_rng(seed)
    y = np.arange(n) % K
    return rng.normal(size=(K, 2))[y] * 3 + spread * rng.normal(size=(n, 2)), y


def links(y, rng, count):
    pairs = [(i, j) for i, j in rng.integers(len(y), size=(count, 2)) if i != j]
    return [p for p in pairs if y[p[0]] == y[p[1]]], [p for p in pairs if y[p[0]] != y[p[1]]]


def objective(X, labels, closure, w):
    """PCKMeans' cost, every pair of the closure by itself."""
    cost = 0.0
    for c in np.unique(labels):
        inside = X[labels == c]
        cost += 0.5 * ((inside - inside.mean(axis=0)) ** 2).sum()
    for i, j in itertools.combinations(range(len(X)), 2):
        known = closure.implied(i, j)
        cost += w * (known == "same" and labels[i] != labels[j])
        cost += w * (known == "different" and labels[i] == labels[j])
    return cost


def closure_of(n, must, cannot):
    return Constraints.fold(n, must + cannot, ["same"] * len(must) + ["different"] * len(cannot))


@settings(max_examples=25)
@given(seed=st.integers(0, 1000), w=st.sampled_from([0.0, 0.3, 2.0]))
def test_pckmeans_ends_where_no_single_move_helps(seed, w):
    X, y = blobs(seed, n=24)
    must, cannot = links(y, np.random.default_rng(seed), 12)
    closure = closure_of(24, must, cannot)
    labels = pckmeans(X, 3, must, cannot, w=w, random_state=seed)
    centres = np.array(
        [X[labels == c].mean(axis=0) if (labels == c).any() else np.full(2, 1e9) for c in range(3)]
    )

    def cost_of(i, c):
        broken = sum(
            closure.implied(i, j) == ("different" if labels[j] == c else "same")
            for j in range(24)
            if j != i
        )
        return 0.5 * ((X[i] - centres[c]) ** 2).sum() + w * broken

    for i in range(24):
        assert cost_of(i, labels[i]) <= min(cost_of(i, c) for c in range(3)) + 1e-9


def test_pckmeans_is_plain_kmeans_without_constraints_and_obeys_with_a_high_price():
    X, y = blobs(1, spread=0.1)
    assert clustering_error(y, pckmeans(X, 3, random_state=0)) == 0.0
    X, y = blobs(1, spread=2.5)
    rng = np.random.default_rng(0)
    must, cannot = links(y, rng, 40)
    labels = pckmeans(X, 3, must, cannot, w=1e6, random_state=0)
    assert all(labels[i] == labels[j] for i, j in must)
    assert all(labels[i] != labels[j] for i, j in cannot)
    closure = closure_of(len(y), must, cannot)
    free = pckmeans(X, 3, random_state=0)
    assert objective(X, labels, closure, 1e6) < objective(X, free, closure, 1e6)


def test_more_groups_than_clusters_start_from_large_ones_far_apart():
    X = np.array([[0.0], [0.0], [0.1], [9.0], [5.0]])
    known = KnownSets(np.array([0, 0, 1, 2, 3]), 4)
    rng = np.random.RandomState(0)
    assert starting_centres(X, 2, known, rng).ravel().tolist() == [0.0, 9.0]


@settings(max_examples=25)
@given(seed=st.integers(0, 1000))
def test_cop_kmeans_breaks_nothing(seed):
    X, y = blobs(seed, n=40, spread=1.5)
    must, cannot = links(y, np.random.default_rng(seed), 25)
    try:
        labels = cop_kmeans(X, 3, must, cannot, random_state=seed)
    except InputError:
        return  # greedy assignment may fail; the sentence is tested below
    assert all(labels[i] == labels[j] for i, j in must)
    assert all(labels[i] != labels[j] for i, j in cannot)
    assert set(labels) <= {0, 1, 2}


def test_cop_kmeans_by_hand():
    X = np.array([[0.0], [1.0], [2.0], [10.0], [11.0]])
    labels = cop_kmeans(X, 2, [(2, 3)], [(0, 3)], random_state=0)
    assert labels[2] == labels[3] == labels[4] != labels[0] == labels[1]
    assert (cop_kmeans(X, 2, random_state=0) == cop_kmeans(X, 2, random_state=0)).all()


def test_impossible_and_contradictory_constraints_are_named():
    X = np.arange(4.0)[:, None]
    with pytest.raises(InputError, match="more clusters"):
        cop_kmeans(X, 2, [], [(0, 1), (1, 2), (0, 2)], random_state=0)
    with pytest.raises(ContradictionError):
        pckmeans(X, 2, [(0, 1), (1, 2)], [(0, 2)])
    with pytest.raises(InputError, match="between 1 and n = 4"):
        pckmeans(X, 5)


def test_nearest_placed_follows_growth_and_undo():
    X = np.random.default_rng(0).normal(size=(30, 3))
    near = NearestPlaced(X)
    for placed in ([3], [3, 7, 9], [3, 9], [1]):
        want = ((X[:, None] - X[placed]) ** 2).sum(axis=2).min(axis=1)
        np.testing.assert_allclose(near.follow(placed), want, atol=1e-12)


def problem_of(X, K, seed=0):
    return Problem(X, sparse.csr_array((len(X), len(X))), K, dim=1, seed=seed)


def naive_explore(X, y, K, first):
    """Farthest-first traversal with a callable oracle, until every cluster was met."""
    sets, asked = [[first]], []
    while len(sets) < K:
        placed = [p for members in sets for p in members]
        gaps = ((X[:, None] - X[placed]) ** 2).sum(axis=2).min(axis=1)
        gaps[placed] = -1
        test = int(np.argmax(gaps))
        order = sorted(sets, key=lambda z: np.linalg.norm(X[test] - X[z].mean(axis=0)))
        for members in order:
            asked.append((test, members[0]))
            if y[test] == y[members[0]]:
                members.append(test)
                break
        else:
            sets.append([test])
    return asked, sets


def test_explore_is_the_farthest_first_traversal():
    X, y = blobs(4, n=80, K=5, spread=1.2)
    strategy = ExploreConsolidate(problem_of(X, 5))
    want, sets = naive_explore(X, y, 5, strategy.sets.seeds[0])
    state, asked = drive(strategy, y, len(want))
    assert asked == want
    strategy.labels(state)
    assert sorted(map(sorted, strategy.sets.members.values())) == sorted(map(sorted, sets))


def test_consolidate_needs_at_most_one_question_less_than_clusters():
    X, y = blobs(4, n=80, K=5, spread=1.2)
    strategy = ExploreConsolidate(problem_of(X, 5))
    state, asked = drive(strategy, y, 2000)
    explored = naive_explore(X, y, 5, strategy.sets.seeds[0])[0]
    later = [i for i, _ in asked[len(explored) :]]
    assert max(np.bincount(later)) == 4
    assert clustering_error(y, strategy.labels(state)) == 0.0
    X, y = blobs(4, n=80, K=5, spread=9.0)
    minmax = MinMax(problem_of(X, 5))
    assert max(np.bincount([i for i, _ in drive(minmax, y, 2000)[1]])) == 5


def test_last_set_is_inferred_only_when_all_are_met():
    sets = AtMost(6, (0,), limit=3)
    sets.take(Link(1, 1, 0, "different"))
    assert len(sets.members) == 2
    sets.take(Link(2, 2, 0, "different"))
    assert sets.set_of[2] == -1
    sets.take(Link(3, 2, 1, "different"))
    assert len(sets.members) == 3
    sets.take(Link(4, 3, 0, "different"))
    sets.take(Link(5, 3, 2, "different"))
    assert sets.set_of[3] == sets.set_of[1]


def test_minmax_asks_for_the_least_largest_similarity():
    X, y = blobs(2, n=40, K=3)
    strategy = MinMax(problem_of(X, 3))
    state, _ = drive(strategy, y, 20)
    question = first(strategy, state)
    while strategy._pending(state, frozenset()) is not None:
        drive(strategy, y, 1, state)
        question = first(strategy, state)
    gaps = np.sqrt(((X[:, None] - X) ** 2).sum(axis=2))
    width = np.sqrt(np.percentile((gaps**2)[np.triu_indices(40, 1)], 20))
    assert kernel_width(X, np.random.default_rng(0)) == pytest.approx(width)
    likeness = np.exp(-(gaps**2) / (2 * width**2))
    placed = np.flatnonzero(strategy.sets.set_of >= 0)
    free = np.flatnonzero(strategy.sets.set_of == -1)
    worst = likeness[np.ix_(free, placed)].max(axis=1)
    assert question.i == free[np.argmin(worst)]
    np.testing.assert_allclose(strategy.similarity()[free], worst)


def test_more_sets_than_clusters_keep_their_labels_usable():
    X, y = blobs(2, n=30, K=5)
    strategy = MinMax(problem_of(X, 3))
    state = State(30)
    tell(state, 0, 1, "different")
    drive(strategy, y, 60, state)
    assert set(strategy.labels(state)) <= {0, 1, 2}
