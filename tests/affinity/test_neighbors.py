"""RBF and kNN graphs against their definitions."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.datasets import make_moons

from superpac.affinity.neighbors import KNNGraph, RBFGraph, nearest_neighbors
from superpac.metrics import clustering_error


def distances(X: np.ndarray) -> np.ndarray:
    gap = np.sqrt(((X[:, None] - X[None]) ** 2).sum(axis=2))
    np.fill_diagonal(gap, np.inf)
    return gap


@pytest.fixture
def points() -> np.ndarray:
    return np.random.default_rng(0).normal(size=(40, 3)) + 1000.0


@pytest.mark.parametrize("mutual", [False, True])
def test_knn_matches_the_definition(points: np.ndarray, mutual: bool) -> None:
    gap = distances(points)
    near = gap <= np.sort(gap, axis=1)[:, 3:4]
    expected = near & near.T if mutual else near | near.T
    A = KNNGraph(2, k=4, mutual=mutual).affinity(points)
    np.testing.assert_array_equal(A.toarray(), expected.astype(float))


def test_rbf_matches_the_definition(points: np.ndarray) -> None:
    gap = distances(points)
    ordered = np.sort(gap, axis=1)
    scale = ordered[:, 6]
    near = gap <= ordered[:, 9:10]
    expected = np.where(near | near.T, np.exp(-(gap**2) / np.outer(scale, scale)), 0.0)
    A = RBFGraph(2, k=10, scale=7).affinity(points)
    np.testing.assert_allclose(A.toarray(), expected, atol=1e-8)


@pytest.mark.parametrize("factor", [1e-300, 1e-5, 1e290])
def test_units_do_not_matter(points: np.ndarray, factor: float) -> None:
    X = points - 1000.0
    np.testing.assert_allclose(
        RBFGraph(2).affinity(X).toarray(), RBFGraph(2).affinity(X * factor).toarray(), atol=1e-8
    )


def test_standardize_ignores_the_scale_of_features(points: np.ndarray) -> None:
    stretched = points * np.array([1.0, 1e6, 1e-6])
    plain = KNNGraph(2, standardize=True).affinity(points).toarray()
    np.testing.assert_array_equal(
        KNNGraph(2, standardize=True).affinity(stretched).toarray(), plain
    )
    assert not np.array_equal(KNNGraph(2).affinity(stretched).toarray(), plain)


def test_repeated_points_are_joined_not_divided_by_zero() -> None:
    X = np.repeat([[0.0, 0.0], [1.0, 0.0], [5.0, 5.0]], 9, axis=0)
    A = RBFGraph(3).affinity(X)
    assert np.isfinite(A.data).all()
    assert A[0, 1:9].max() == 1.0


def test_a_point_is_never_its_own_neighbour() -> None:
    _, indices = nearest_neighbors(np.zeros((6, 2)), 3)
    assert np.all(indices != np.arange(6)[:, None])


@pytest.mark.parametrize("kind", [KNNGraph, RBFGraph])
def test_moons_are_told_apart(kind: type) -> None:
    X, y = make_moons(300, noise=0.05, random_state=0)
    assert clustering_error(y, kind(2, random_state=0).fit(X).labels_) <= 0.01
