"""SSC: the published iterations written out naively, the minimum of independent solvers, faces."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.optimize import linprog
from sklearn.linear_model import Lasso

from superpac.affinity import ssc
from superpac.affinity._kernels.ssc_admm import Settings, noisy, with_outliers
from superpac.affinity.base import no_progress, unit_rows
from superpac.affinity.ssc import SSC
from superpac.data.synthetic import make_subspaces
from superpac.errors import InputError
from superpac.metrics import clustering_error


def soft(T: np.ndarray, threshold: float) -> np.ndarray:
    return np.sign(T) * np.maximum(np.abs(T) - threshold, 0.0)


def naive(Y: np.ndarray, alpha: float, outliers: bool, affine: bool, rounds: int) -> np.ndarray:
    """The published ADMM with the whole dictionary formed and inverted."""
    D, N = Y.shape
    own = (np.arange(N), np.arange(N))
    P = np.hstack([Y, np.eye(D) * np.abs(Y).sum(axis=0).max() / alpha]) if outliers else Y
    T = np.abs(P.T @ Y)
    T[own] = 0.0
    mu1, mu2 = alpha / T.max(axis=0).min(), alpha
    M = P.shape[1]
    ones = (np.arange(M) < N).astype(float)
    A = np.linalg.inv(mu1 * P.T @ P + mu2 * np.eye(M) + affine * mu2 * np.outer(ones, ones))
    C, L1, L2, l3 = np.zeros((M, N)), np.zeros((D, N)), np.zeros((M, N)), np.zeros(N)
    for _ in range(rounds):
        Z = A @ (
            P.T @ (mu1 * Y + outliers * L1)
            + mu2 * C - L2
            + affine * np.outer(ones, mu2 - l3)
        )  # fmt: skip
        Z[own] = 0.0
        C = soft(Z + L2 / mu2, 1 / mu2)
        C[own] = 0.0
        L1 += mu1 * (Y - P @ Z)
        L2 += mu2 * (Z - C)
        l3 += mu2 * (ones @ Z - 1)
    return C[:N]


@pytest.mark.parametrize("affine", [False, True])
@pytest.mark.parametrize("outliers", [False, True])
@pytest.mark.parametrize(("n", "D"), [(45, 12), (20, 50)])
def test_iterations_are_the_published_ones(n: int, D: int, outliers: bool, affine: bool) -> None:
    Y = unit_rows(np.abs(np.random.default_rng(n).normal(size=(n, D)))).T
    settings = Settings(20.0, affine, exact_diagonal=False, max_iter=40, tol=0.0)
    C, taken = (with_outliers if outliers else noisy)(Y, settings, no_progress)
    assert taken == 40
    np.testing.assert_allclose(C, naive(Y, 20.0, outliers, affine, 40), atol=1e-9)


def noisy_points() -> np.ndarray:
    return unit_rows(make_subspaces(20, 3, 3, 15, noise=0.2, seed=0)[0])


def test_minimum_of_the_lasso() -> None:
    X = noisy_points()
    model = SSC(3, tol=1e-8, max_iter=4000)
    model.affinity(X)
    C = model.coefficients_.toarray()
    G = np.abs(X @ X.T)
    np.fill_diagonal(G, 0.0)
    weight = 20.0 / G.max(axis=1).min()
    for j in range(0, len(X), 3):
        others = np.arange(len(X)) != j
        lasso = Lasso(1 / (weight * 15), fit_intercept=False, tol=1e-10, max_iter=10**6)
        best = np.zeros(len(X))
        best[others] = lasso.fit(X[others].T, X[j]).coef_
        here, there = (
            np.abs(c).sum() + weight / 2 * np.sum((X[j] - c @ X) ** 2) for c in (C[j], best)
        )
        assert abs(here - there) <= 1e-4 * there


def test_published_diagonal_ends_elsewhere() -> None:
    """Why ``diagonal="exact"`` is the default: the published step is off by several per cent."""
    X = noisy_points()
    G = np.abs(X @ X.T)
    np.fill_diagonal(G, 0.0)
    weight = 20.0 / G.max(axis=1).min()
    values = []
    for diagonal in ("exact", "published"):
        model = SSC(3, tol=1e-8, max_iter=4000, diagonal=diagonal)
        model.affinity(X)
        C = model.coefficients_
        values.append(abs(C).sum() + weight / 2 * np.sum((X - C @ X) ** 2))
    assert values[0] < 0.99 * values[1]


def test_minimum_with_outliers_is_that_of_the_linear_program() -> None:
    rng = np.random.default_rng(1)
    X = unit_rows(make_subspaces(8, 2, 2, 10, seed=1)[0])
    X[rng.random(X.shape) < 0.05] += 0.5
    n, D = X.shape
    model = SSC(2, outliers=True, normalize=False, tol=1e-9, max_iter=6000)
    model.affinity(X)
    C = model.coefficients_.toarray()
    g = 20.0 / np.abs(X).sum(axis=1).max()
    for j in range(0, n, 2):
        A = np.hstack([np.delete(X, j, axis=0).T, np.eye(D)])
        cost = np.r_[np.ones(n - 1), np.full(D, g)]
        best = linprog(np.r_[cost, cost], A_eq=np.hstack([A, -A]), b_eq=X[j]).fun
        here = np.abs(C[j]).sum() + g * np.abs(X[j] - C[j] @ X).sum()
        assert abs(here - best) <= 1e-4 * best


def test_affine_coefficients_sum_to_one() -> None:
    rng = np.random.default_rng(2)
    X = np.vstack(
        [rng.normal(size=8) + rng.normal(size=(30, 2)) @ rng.normal(size=(2, 8)) for _ in range(3)]
    )
    for outliers in (False, True):
        model = SSC(
            3, affine=True, alpha=800, rho=0.7, normalize=False, outliers=outliers, max_iter=3000,
            tol=1e-6, random_state=0,
        ).fit(X)  # fmt: skip
        np.testing.assert_allclose(model.coefficients_.sum(axis=1), 1.0, atol=1e-2)
        assert clustering_error(np.repeat([0, 1, 2], 30), model.labels_) == 0


def test_gross_errors_are_survived() -> None:
    X, y = make_subspaces(40, 3, 3, 60, seed=3)
    rng = np.random.default_rng(3)
    hit = rng.random(X.shape) < 0.03
    X[hit] += rng.choice([-0.5, 0.5], size=hit.sum())
    errors = [
        clustering_error(y, SSC(3, outliers=outliers, random_state=0).fit(X).labels_)
        for outliers in (True, False)
    ]
    assert errors[0] <= 0.02
    assert errors[1] >= 0.2


def test_too_many_points_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ssc, "MAX_POINTS", 10)
    with pytest.raises(InputError, match="at most 10 points. Got 11; use EnSC"):
        SSC(2).fit(np.random.default_rng(0).normal(size=(11, 3)))


@pytest.mark.realdata
def test_black_image_stays_alone(need_data) -> None:
    data = np.load(need_data("yaleb"))
    rows = np.r_[850:900]  # row 877 is all zero
    assert not data["X"][877].any()
    for outliers in (False, True):
        A = SSC(2, outliers=outliers, normalize=False, max_iter=30).affinity(data["X"][rows])
        assert np.isfinite(A.data).all()
        assert not A[[27]].nnz
        assert np.diff(A.indptr).min(where=np.arange(50) != 27, initial=50) > 0


@pytest.mark.realdata
def test_faces(need_data) -> None:
    """Subjects 20 to 24 in the published setting."""
    data = np.load(need_data("yaleb"))
    rows = np.isin(data["y"], range(20, 25))
    model = SSC(5, outliers=True, normalize=False, max_iter=150, random_state=0)
    labels = model.fit(data["X"][rows]).labels_
    assert clustering_error(data["y"][rows], labels) <= 0.03
