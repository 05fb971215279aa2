from __future__ import annotations

import itertools

import numpy as np
import pytest
from scipy import sparse
from sklearn.datasets import load_digits

from driving import drive, first, prefix
from superpac.affinity.tsc import TSC
from superpac.answers.state import State
from superpac.metrics import adjusted_rand
from superpac.strategies import A3S, Problem
from superpac.strategies.baselines.a3s import (
    cross_chances,
    entropy_change,
    likeliest_clusters,
    neighbour_probabilities,
)


@pytest.fixture(scope="module")
def digits():
    data = load_digits()
    X = data.data[:300] / np.linalg.norm(data.data[:300], axis=1, keepdims=True)
    return Problem(X, TSC(10, q=5).affinity(X), 10, dim=3, seed=0), data.target[:300]


def random_chances(n, seed):
    rng = np.random.default_rng(seed)
    P = np.triu(rng.uniform(0.05, 0.95, (n, n)) * (rng.random((n, n)) < 0.6), 1)
    return sparse.csr_array(P + P.T)


def naive_clusters(P, far):
    """Greedy merging with the log-odds of all pairs summed anew for every two clusters."""
    dense = P.toarray()
    dense[dense == 0] = far
    odds = np.log(dense / (1 - dense))
    clusters = [[i] for i in range(P.shape[0])]
    while len(clusters) > 1:
        scores = {
            (a, b): odds[np.ix_(clusters[a], clusters[b])].sum()
            for a, b in itertools.combinations(range(len(clusters)), 2)
            if P[clusters[a]][:, clusters[b]].nnz
        }
        if not scores or max(scores.values()) <= 0:
            break
        a, b = max(scores, key=scores.get)
        clusters[a] += clusters.pop(b)
    return sorted(map(sorted, clusters))


@pytest.mark.parametrize("seed", range(8))
def test_greedy_clustering_is_the_naive_one(seed):
    P = random_chances(16, seed)
    labels = likeliest_clusters(P, 0.1)
    got = sorted(np.flatnonzero(labels == k).tolist() for k in range(labels.max() + 1))
    assert got == naive_clusters(P, 0.1)


def test_chances_fall_with_the_distance_and_never_see_the_truth(digits):
    problem, _ = digits
    pseudo = np.arange(300) % 10
    P, far = neighbour_probabilities(problem.X, pseudo, 8)
    upper = sparse.coo_array(sparse.triu(P, 1))
    gaps = np.linalg.norm(problem.X[upper.row] - problem.X[upper.col], axis=1)
    order = np.argsort(gaps)
    assert (np.diff(upper.data[order]) <= 1e-9).all()
    assert abs(P - P.T).max() == 0
    assert 0 < far < 0.5


def test_chance_of_merging_is_the_smoothed_mean_of_the_four_largest():
    P = random_chances(20, 3)
    members = [np.arange(0, 7), np.arange(7, 12), np.arange(12, 20)]
    table = cross_chances(P, members, 0.05)
    for a, b in itertools.combinations(range(3), 2):
        cross = np.sort(P.toarray()[np.ix_(members[a], members[b])].ravel())[::-1]
        assert table[a, b] == pytest.approx((cross[:4].sum() + 0.05) / 5)


def test_entropy_change_is_the_difference_of_entropies():
    def H(sizes):
        shares = np.array(sizes) / sum(sizes)
        return -(shares * np.log(shares)).sum()

    want = H([3, 5, 12]) - H([8, 12])
    assert entropy_change(np.array(3.0), np.array(5.0), 20) == pytest.approx(want)


def test_first_question_tests_the_purity_of_the_most_promising_pair(digits):
    problem, _ = digits
    strategy = A3S(problem)
    question = first(strategy, State(300))
    best = strategy._ranked()[0]
    assert question.i == strategy.leaders[best[0]]
    assert question.j in strategy.members[best[0]]
    assert min(len(strategy.members[c]) for c in best) >= 2


def test_few_questions_bring_it_near_the_truth_and_it_knows_when_to_stop(digits):
    problem, y = digits
    strategy = A3S(problem)
    state, asked = drive(strategy, y, 3000)
    assert strategy.splits <= 20
    assert first(strategy, state) is None
    assert adjusted_rand(y, strategy.labels(state)) > 0.9
    start = adjusted_rand(y, A3S(problem).labels(prefix(state, 0)))
    assert start < adjusted_rand(y, A3S(problem).labels(prefix(state, len(asked) // 2)))
