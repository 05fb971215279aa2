"""LRR: closed form, an independent full-size solver, and faces."""

from __future__ import annotations

import numpy as np
import pytest

from superpac.affinity.base import unit_rows
from superpac.affinity.lrr import (
    LRR,
    shrink_columns,
    shrink_singular_values,
    skinny_svd,
    solve_lrr,
)
from superpac.data.synthetic import make_subspaces
from superpac.metrics import clustering_error


def naive_lrr(X: np.ndarray, lam: float) -> tuple[np.ndarray, np.ndarray]:
    """Textbook inexact ALM at full size with plain SVDs; X has points as columns."""
    D, n = X.shape
    Z, E, Y1, Y2 = np.zeros((n, n)), np.zeros((D, n)), np.zeros((D, n)), np.zeros((n, n))
    J, mu = Z, 1e-6
    inverse = np.linalg.inv(np.eye(n) + X.T @ X)
    for _ in range(2000):
        U, s, Vt = np.linalg.svd(Z + Y2 / mu)
        J = (U * np.maximum(s - 1 / mu, 0)) @ Vt
        Z = inverse @ (X.T @ (X - E) + J + (X.T @ Y1 - Y2) / mu)
        F = X - X @ Z + Y1 / mu
        lengths = np.maximum(np.linalg.norm(F, axis=0), 1e-300)
        E = F * np.maximum(1 - lam / (mu * lengths), 0)
        if max(np.abs(X - X @ Z - E).max(), np.abs(Z - J).max()) < 1e-8:
            break
        Y1 = Y1 + mu * (X - X @ Z - E)
        Y2 = Y2 + mu * (Z - J)
        mu = min(1.1 * mu, 1e10)
    return J, E


def objective(X: np.ndarray, Z: np.ndarray, lam: float) -> float:
    noise = np.linalg.norm(X - X @ Z, axis=0).sum()
    return float(np.linalg.svd(Z, compute_uv=False).sum() + lam * noise)


def test_solver_reaches_the_closed_form_without_noise() -> None:
    X, _ = make_subspaces(15, 3, 2, 10, seed=1)
    V, s = skinny_svd(X)
    assert s.size == 6
    Z, _ = solve_lrr(s, V, 100.0)
    np.testing.assert_allclose(V @ Z, V @ V.T, atol=1e-6)


def test_affinities_of_solver_and_closed_form_agree_without_noise() -> None:
    X, _ = make_subspaces(15, 3, 2, 10, seed=2)
    exact = LRR(3, noiseless=True).affinity(X).toarray()
    solved = LRR(3, lam=100.0).affinity(X).toarray()
    np.testing.assert_allclose(solved, exact, atol=1e-6)
    U = unit_rows(np.linalg.svd(X, full_matrices=False)[0][:, :6])
    full = np.abs(U @ U.T) ** 4
    np.fill_diagonal(full, 0.0)
    np.testing.assert_allclose(exact, full, atol=1e-10)


@pytest.mark.parametrize(("n", "D", "lam"), [(30, 8, 0.3), (20, 30, 1.0), (25, 25, 0.1)])
def test_reduced_solver_agrees_with_the_full_problem(n: int, D: int, lam: float) -> None:
    rng = np.random.default_rng(n)
    X = unit_rows(rng.normal(size=(n, 3)) @ rng.normal(size=(3, D)) + 0.1 * rng.normal(size=(n, D)))
    V, s = skinny_svd(X)
    Z, _ = solve_lrr(s, V, lam)
    reference, _ = naive_lrr(X.T, lam)
    np.testing.assert_allclose(V @ Z, reference, atol=1e-5)
    assert objective(X.T, V @ Z, lam) == pytest.approx(objective(X.T, reference, lam), rel=1e-6)


def test_no_small_change_lowers_the_objective() -> None:
    rng = np.random.default_rng(5)
    X = unit_rows(rng.normal(size=(20, 6)))
    V, s = skinny_svd(X)
    Z = V @ solve_lrr(s, V, 0.5)[0]
    best = objective(X.T, Z, 0.5)
    for _ in range(50):
        assert objective(X.T, Z + 1e-3 * rng.normal(size=Z.shape), 0.5) > best - 1e-7


def test_singular_value_shrinkage_agrees_with_an_svd() -> None:
    M = np.random.default_rng(0).normal(size=(8, 20))
    U, s, Vt = np.linalg.svd(M, full_matrices=False)
    for threshold in (0.0, 2.0, s[2], 100.0):
        expected = (U * np.maximum(s - threshold, 0)) @ Vt
        np.testing.assert_allclose(shrink_singular_values(M, threshold), expected, atol=1e-9)


def test_column_shrinkage() -> None:
    M = np.array([[3.0, 0.1, 0.0], [4.0, 0.0, 0.0]])
    expected = [[2.4, 0.0, 0.0], [3.2, 0.0, 0.0]]
    np.testing.assert_allclose(shrink_columns(M, 1.0), expected)


def test_keep_keeps_the_largest() -> None:
    X, _ = make_subspaces(30, 2, 3, 8, noise=0.1, seed=4)
    full = LRR(2, keep=59).affinity(X).toarray()
    few = LRR(2, keep=5).affinity(X).toarray()
    assert np.all((few == 0) | np.isclose(few, full, rtol=1e-9))
    for row_few, row_full in zip(few, full, strict=True):
        assert np.all(row_few[np.argsort(-row_full)[:5]] > 0)


def test_scale_of_lambda_without_unit_rows() -> None:
    X, _ = make_subspaces(20, 2, 2, 8, noise=0.2, seed=6)
    small = LRR(2, lam=0.5, normalize=False).affinity(X).toarray()
    large = LRR(2, lam=0.005, normalize=False).affinity(100.0 * X).toarray()
    np.testing.assert_allclose(small, large, atol=1e-5)


@pytest.mark.realdata
def test_five_faces(need_data) -> None:
    held = np.load(need_data("yaleb"))
    some = (held["y"] < 5) & ~held["bad"]
    model = LRR(5, random_state=0).fit(held["X"][some])
    assert clustering_error(held["y"][some], model.labels_) < 0.08
