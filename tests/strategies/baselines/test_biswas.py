from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse
from scipy.cluster.hierarchy import fcluster, linkage
from scipy.sparse.csgraph import minimum_spanning_tree
from scipy.spatial.distance import pdist, squareform

from driving import drive, first
from superpac.answers.constraints import Constraints
from superpac.answers.state import State
from superpac.graph.imputed_spectral import KnownSets
from superpac.metrics import clustering_error
from superpac.strategies import Biswas, Problem
from superpac.strategies.baselines.biswas import Forest, pair_jaccard, spanning_tree
from superpac.strategies.baselines.constrained_kmeans import known_groups

NOBODY = KnownSets(np.full(40, -1), 0, np.zeros((0, 0), dtype=bool))


@pytest.fixture(scope="module")
def problem():
    rng = np.random.default_rng(0)
    y = np.arange(40) % 3
    X = rng.normal(size=(3, 2))[y] * 3 + rng.normal(size=(40, 2))
    return Problem(X, sparse.csr_array((40, 40)), 3, dim=1, seed=1), y


def naive_forest(edges, constraints, n, K):
    """Kruskal with sets of points and every pair looked up."""
    groups = [{int(p) for p in g} for g in constraints.sets()]
    grouped = set().union(*groups) if groups else set()
    groups += [{i} for i in range(n) if i not in grouped]
    for i, j in edges:
        if len(groups) <= K:
            break
        a = next(g for g in groups if i in g)
        b = next(g for g in groups if j in g)
        if a is b or any(constraints.implied(p, q) == "different" for p in a for q in b):
            continue
        groups.remove(b)
        a |= b
    labels = np.zeros(n, dtype=int)
    for k, g in enumerate(groups):
        labels[list(g)] = k
    return labels


def test_tree_is_the_minimum_one(problem):
    X = problem[0].X
    ours = sum(np.linalg.norm(X[i] - X[j]) for i, j in spanning_tree(X))
    assert ours == pytest.approx(minimum_spanning_tree(squareform(pdist(X))).sum())


def test_without_answers_it_is_single_linkage(problem):
    X = problem[0].X
    labels, used = Forest(X, 3).cluster(NOBODY)
    assert clustering_error(fcluster(linkage(X, "single"), 3, "maxclust"), labels) == 0.0
    assert used.sum() == 37


@settings(max_examples=30)
@given(seed=st.integers(0, 10_000))
def test_forest_and_what_if_are_the_naive_ones(problem, seed):
    instance, y = problem
    rng = np.random.default_rng(seed)
    forest = Forest(instance.X, 3)
    known = Constraints(40)
    for seq, (i, j) in enumerate(rng.integers(40, size=(12, 2)), 1):
        if i != j:
            known.add(int(i), int(j), "same" if y[i] == y[j] else "different", seq)
    groups = known_groups(known)
    want = naive_forest(forest.edges, known, 40, 3)
    assert clustering_error(want, forest.cluster(groups)[0]) == 0.0
    i, j = next(
        (i, j) for i, j in rng.integers(40, size=(99, 2)) if i != j and known.implied(i, j) is None
    )
    for hold, answer in ((1, "same"), (-1, "different")):
        after = known.copy()
        after.add(int(i), int(j), answer, 99)
        want = naive_forest(forest.edges, after, 40, 3)
        got = forest.cluster(groups, (int(i), int(j)), hold)[0]
        assert pair_jaccard(want, got) == 1.0


def test_jaccard_over_pairs():
    rng = np.random.default_rng(0)
    one, other = rng.integers(4, size=30), rng.integers(3, size=30)
    both = either = 0
    for i, j in itertools.combinations(range(30), 2):
        a, b = one[i] == one[j], other[i] == other[j]
        both, either = both + (a and b), either + (a or b)
    assert pair_jaccard(one, other) == pytest.approx(both / either)
    assert pair_jaccard(one, one) == 1.0


def test_worth_is_the_expected_change(problem):
    instance, y = problem
    strategy = Biswas(instance)
    state, _ = drive(strategy, y, 10)
    question = first(strategy, state)
    pair = np.array([[question.i, question.j]])
    p = strategy.same_chance(pair)[0]
    C = naive_forest(strategy.forest.edges, state.constraints, 40, 3)
    change = []
    for answer in ("same", "different"):
        after = state.constraints.copy()
        after.add(question.i, question.j, answer, 99)
        change.append(1 - pair_jaccard(C, naive_forest(strategy.forest.edges, after, 40, 3)))
    want = p * change[0] + (1 - p) * change[1]
    assert question.numbers["expected_change"] == pytest.approx(want)


def test_near_pairs_are_likelier_the_same(problem):
    instance, _ = problem
    strategy = Biswas(instance)
    strategy.labels(State(40))
    gaps = squareform(pdist(instance.X))
    np.fill_diagonal(gaps, np.inf)
    near = np.unravel_index(np.argmin(gaps), gaps.shape)
    np.fill_diagonal(gaps, 0)
    far = np.unravel_index(np.argmax(gaps), gaps.shape)
    chances = strategy.same_chance(np.array([near, far]))
    assert chances[0] > 0.8 > 0.5 > chances[1]


def test_labels_never_break_an_answer(problem):
    instance, y = problem
    strategy = Biswas(instance)
    state = State(40)
    for _ in range(30):
        drive(strategy, y, 1, state)
        labels = strategy.labels(state)
        assert all((labels[a.i] == labels[a.j]) == (a.answer == "same") for a in state.answers)
