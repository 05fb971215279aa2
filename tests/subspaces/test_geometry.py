from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from graphics import torch_device
from superpac.device.arrays import to_host
from superpac.errors import InputError
from superpac.subspaces import geometry as subspaces


def naive_basis(X: np.ndarray, dim: int) -> np.ndarray:
    _, s, vt = np.linalg.svd(X, full_matrices=False)
    rank = int(np.sum(s > 1e-7 * s[0])) if s.size and s[0] > 0 else 0
    return vt[: min(dim, rank)].T


def projector(U: np.ndarray) -> np.ndarray:
    return U @ U.T


@settings(max_examples=60)
@given(
    n=st.integers(1, 30), ambient=st.integers(1, 30), dim=st.integers(1, 6), seed=st.integers(0, 99)
)
def test_bases_match_the_svd(n, ambient, dim, seed):
    X = np.random.default_rng(seed).normal(size=(n, ambient))
    fast, slow = subspaces.top_directions(X, dim), naive_basis(X, dim)
    assert fast.shape == slow.shape
    np.testing.assert_allclose(fast.T @ fast, np.eye(fast.shape[1]), atol=1e-10)
    # with clustered singular values the basis may differ, the energy it captures may not
    np.testing.assert_allclose(np.linalg.norm(X @ fast), np.linalg.norm(X @ slow), rtol=1e-10)


@settings(max_examples=60)
@given(seed=st.integers(0, 999), k=st.integers(1, 5))
def test_residuals_match_the_definition(seed, k):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(20, 8))
    X[0] = 0
    bases = [np.linalg.qr(rng.normal(size=(8, 8)))[0][:, : rng.integers(0, 8)] for _ in range(k)]
    got = subspaces.residuals(X, bases)
    want = np.stack([np.linalg.norm(X - X @ projector(U), axis=1) for U in bases], axis=1)
    np.testing.assert_allclose(got, want, atol=1e-7)


def test_rank_deficient_and_empty_clusters():
    X = np.array([[1.0, 0, 0], [2, 0, 0], [0, 0, 0]])
    bases = subspaces.fit_bases(X, [0, 0, 1], 3, dim=2)
    assert [U.shape[1] for U in bases] == [1, 0, 0]
    assert np.isfinite(subspaces.residuals(X, bases)).all()


def test_zero_points_fewer_than_dimensions_have_no_direction():
    assert subspaces.top_directions(np.zeros((2, 5)), 3).shape == (5, 0)


def test_dimension_may_differ_by_cluster():
    rng = np.random.default_rng(0)
    X, labels = rng.normal(size=(40, 10)), np.repeat([0, 1], 20)
    assert [U.shape[1] for U in subspaces.fit_bases(X, labels, 2, dim=[2, 5])] == [2, 5]
    with pytest.raises(InputError, match="2 of them"):
        subspaces.fit_bases(X, labels, 2, dim=[2, 5, 7])


@settings(max_examples=100)
@given(
    st.lists(st.lists(st.floats(0, 1e6), min_size=3, max_size=3), min_size=1, max_size=8),
)
def test_margin_is_in_the_unit_interval_and_matches_the_formula(table):
    distances = np.array(table)
    got = subspaces.margins(distances)
    assert ((got >= 0) & (got <= 1)).all()
    for row, value in zip(distances, got, strict=True):
        first, second = sorted(row)[:2]
        assert value == pytest.approx(0.0 if second == 0 else 1 - first / second)


def test_zero_point_has_zero_margin():
    bases = [np.eye(3)[:, :1], np.eye(3)[:, 1:2]]
    assert subspaces.margins(subspaces.residuals(np.zeros((1, 3)), bases)) == 0


def test_principal_angles_accurate_at_both_ends():
    tiny = 1e-9
    U = np.eye(4)[:, :2]
    V = np.array([[np.cos(tiny), 0], [0, 0], [np.sin(tiny), 0], [0, 1.0]])
    np.testing.assert_allclose(subspaces.principal_angles(U, V), [tiny, np.pi / 2], rtol=1e-6)


@pytest.mark.parametrize("dim", [1, 2, 4, 6])
def test_choose_dim_finds_the_generating_dimension(dim):
    rng = np.random.default_rng(dim)
    parts = [rng.normal(size=(60, dim)) @ rng.normal(size=(dim, 40)) for _ in range(4)]
    X = np.concatenate(parts)
    X /= np.linalg.norm(X, axis=1, keepdims=True)
    X += 0.05 * rng.normal(size=X.shape)
    assert subspaces.choose_dim(X, np.repeat(np.arange(4), 60), 4) == dim


def test_choose_dim_is_the_same_in_single_precision_and_in_small_blocks(monkeypatch):
    rng = np.random.default_rng(1)
    parts = [rng.normal(size=(60, 4)) @ rng.normal(size=(4, 40)) for _ in range(3)]
    X = np.concatenate(parts) + 0.05 * rng.normal(size=(180, 40))
    y = np.repeat(np.arange(3), 60)
    whole = subspaces.choose_dim(X, y, 3)
    monkeypatch.setattr(subspaces, "BLOCK", 16)
    assert whole == subspaces.choose_dim(X, y, 3)
    assert whole == subspaces.choose_dim(X.astype(np.float32), y, 3)


def test_cost_is_the_sum_of_squares_to_the_own_subspace():
    rng = np.random.default_rng(3)
    X, labels = rng.normal(size=(30, 6)), rng.integers(0, 3, 30)
    bases = subspaces.fit_bases(X, labels, 3, 2)
    want = sum(
        np.sum((X[labels == k] - X[labels == k] @ projector(bases[k])) ** 2) for k in range(3)
    )
    assert subspaces.subspace_cost(subspaces.residuals(X, bases), labels) == pytest.approx(want)


@pytest.mark.parametrize("dim", [1, 4, 30])
@pytest.mark.parametrize("rank", [2, 30])
def test_a_graphics_processor_finds_the_same_leading_vectors(dim, rank):
    rng = np.random.default_rng(dim)
    points = rng.normal(size=(80, rank)) @ rng.normal(size=(rank, 30)) * 1e3
    moment = points.T @ points
    V = to_host(subspaces.leading_there(torch_device().array(moment), dim))
    np.testing.assert_allclose(V.T @ V, np.eye(dim), atol=1e-9)
    values, vectors = np.linalg.eigh(moment)
    strong = vectors[:, -min(dim, rank) :]  # beyond the rank any direction is as good
    np.testing.assert_allclose(strong, V @ (V.T @ strong), atol=1e-7)
    assert np.trace(V.T @ moment @ V) == pytest.approx(values[-dim:].sum())
