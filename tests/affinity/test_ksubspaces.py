"""K-subspaces: the cost never rises, empty clusters are filled, the affinity follows the labels."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from superpac.affinity.base import unit_rows
from superpac.affinity.ksubspaces import (
    KSubspaces,
    membership_graph,
    random_bases,
    resolve_dims,
    run_ksubspaces,
    spread_bases,
)
from superpac.data.synthetic import make_subspaces
from superpac.metrics import clustering_error
from superpac.subspaces.geometry import fit_bases, residuals, subspace_cost


@settings(max_examples=30)
@given(st.integers(0, 10_000), st.integers(1, 4), st.integers(1, 3))
def test_cost_never_rises(seed: int, K: int, dim: int) -> None:
    rng = np.random.RandomState(seed)
    X = unit_rows(rng.normal(size=(30, 5)))
    start = random_bases(X, [dim] * K, rng)
    costs = [
        run_ksubspaces(X, start, [dim] * K, max_iter=t, rng=np.random.RandomState(0))[2]
        for t in (1, 2, 4, 8, 30)
    ]
    if all(np.bincount(np.argmin(residuals(X, start), axis=1), minlength=K)):
        assert all(b <= a + 1e-9 for a, b in zip(costs, costs[1:], strict=False))


def test_result_is_a_fixed_point() -> None:
    X, _ = make_subspaces(30, 3, 2, 10, noise=0.3, seed=0)
    model = KSubspaces(3, dim=2, random_state=0).fit(X)
    U = unit_rows(X)
    distances = residuals(U, fit_bases(U, model.labels_, 3, 2))
    assert model.cost_ == pytest.approx(subspace_cost(distances, model.labels_))
    own = distances[np.arange(len(U)), model.labels_]
    assert np.all(own <= distances.min(axis=1) + 1e-9)


def test_more_starts_never_cost_more() -> None:
    X, _ = make_subspaces(20, 4, 3, 10, noise=0.5, seed=1)
    costs = [KSubspaces(4, dim=3, n_init=t, random_state=0).fit(X).cost_ for t in (1, 3, 10)]
    assert costs[0] >= costs[1] >= costs[2]


def test_different_dimensions() -> None:
    X, y = make_subspaces(30, 2, [1, 4], 10, seed=2)
    model = KSubspaces(2, dim=[4, 1], n_init=20, random_state=0).fit(X)
    assert sorted(U.shape[1] for U in model.bases_) == [1, 4]
    assert clustering_error(y, model.labels_) == 0


@pytest.mark.parametrize("init", ["spread", "random"])
def test_every_cluster_has_a_point(init: str) -> None:
    X = np.repeat(np.eye(3), 4, axis=0)
    model = KSubspaces(5, dim=1, init=init, random_state=0).fit(X)
    assert set(model.labels_) == set(range(5))


def test_spread_start_is_near_the_truth_more_often_than_random() -> None:
    X, y = make_subspaces(40, 5, 3, 15, seed=3)
    hits = []
    for draw in (spread_bases, random_bases):
        good = 0
        for seed in range(20):
            rng = np.random.RandomState(seed)
            labels = run_ksubspaces(X, draw(X, [3] * 5, rng), [3] * 5, max_iter=50, rng=rng)[0]
            good += clustering_error(y, labels) == 0
        hits.append(good)
    assert hits[0] >= max(hits[1], 5)


def test_graph_stays_inside_exact_subspaces_and_leaks_where_unsure() -> None:
    X, y = make_subspaces(30, 3, 2, 10, seed=4)
    A = membership_graph(X, y, fit_bases(X, y, 3, 2), 4)
    assert A.nnz > 0
    C = A.tocoo()
    assert np.all(y[C.row] == y[C.col])
    noisy, y = make_subspaces(30, 3, 2, 10, noise=1.0, seed=4)
    noisy = unit_rows(noisy)
    B = membership_graph(noisy, y, fit_bases(noisy, y, 3, 2), 4).tocoo()
    across = y[B.row] != y[B.col]
    assert across.any()
    assert B.data[across].mean() < B.data[~across].mean()


def test_default_dimension() -> None:
    assert resolve_dims(None, 3, (1000, 50)) == [9, 9, 9]
    assert resolve_dims(None, 2, (1000, 4)) == [3, 3]
    assert resolve_dims(None, 2, (12, 50)) == [2, 2]
    assert resolve_dims(None, 8, (10, 1)) == [1] * 8
