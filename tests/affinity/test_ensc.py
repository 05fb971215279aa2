"""EnSC: the minimum of an independent solver, the active set at its edges, figures."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import sklearn
from hypothesis import example, given, settings
from hypothesis import strategies as st
from sklearn.linear_model import ElasticNet

from superpac.affinity._kernels import ensc as _ensc_kernel
from superpac.affinity.base import no_progress, unit_rows
from superpac.affinity.ensc import EnSC
from superpac.graph.spectral import spectral_clustering
from superpac.metrics import clustering_error


def solve(X: np.ndarray, gamma: float, tau: float, tol: float = 1e-6) -> np.ndarray:
    return _ensc_kernel.ensc_coefficients(
        X, gamma, tau, tol=tol, working_memory=1e9, progress=no_progress
    ).toarray()


def weight(X: np.ndarray, j: int, gamma: float, tau: float) -> float:
    products = np.abs(X @ X[j])
    products[j] = 0.0
    return gamma * tau / products.max()


def objective(X: np.ndarray, j: int, c: np.ndarray, g: float, tau: float) -> float:
    return tau * np.abs(c).sum() + (1 - tau) / 2 * (c @ c) + g / 2 * np.sum((X[j] - c @ X) ** 2)


def reference(X: np.ndarray, j: int, g: float, tau: float) -> np.ndarray:
    D = X.shape[1]
    penalty = 1.0 / (g * D)
    net = ElasticNet(alpha=penalty, l1_ratio=tau, fit_intercept=False, tol=1e-9, max_iter=200_000)
    others = np.arange(len(X)) != j
    c = np.zeros(len(X))
    c[others] = net.fit(X[others].T, X[j]).coef_
    return c


def worst_violation(X: np.ndarray, C: np.ndarray, gamma: float, tau: float) -> float:
    """Largest breach of the optimality conditions over all points."""
    worst = 0.0
    for j in range(len(X)):
        if not X[j].any():
            assert not C[j].any()
            continue
        g = weight(X, j, gamma, tau)
        b = g * (X @ (X[j] - C[j] @ X))
        b[j] = 0.0
        active = C[j] != 0
        breach = np.maximum(np.abs(b) - tau, 0.0)
        breach[active] = np.abs(b - tau * np.sign(C[j]) - (1 - tau) * C[j])[active]
        worst = max(worst, breach.max())
    return worst


@pytest.mark.parametrize("tau", [0.5, 0.9, 1.0])
@pytest.mark.parametrize("gamma", [3.0, 50.0])
def test_minimum_of_scikit_learn(gamma: float, tau: float) -> None:
    rng = np.random.default_rng(0)
    X = np.vstack([rng.normal(size=(60, 4)) @ rng.normal(size=(4, 25)) for _ in range(3)])
    X = unit_rows(X + 0.2 * rng.normal(size=X.shape))
    C = solve(X, gamma, tau)
    for j in range(0, len(X), 6):
        g = weight(X, j, gamma, tau)
        best = objective(X, j, reference(X, j, g, tau), g, tau)
        assert abs(objective(X, j, C[j], g, tau) - best) <= 1e-6 * best


@pytest.mark.realdata
@pytest.mark.parametrize("gamma", [5.0, 50.0])
def test_minimum_of_scikit_learn_on_usps(need_data, gamma: float) -> None:
    X = unit_rows(np.load(need_data("usps"))["X"][::6])
    model = EnSC(10, gamma=gamma)  # default tolerance
    model.affinity(X)
    for j in np.random.default_rng(0).choice(len(X), 4, replace=False):
        g = weight(X, j, gamma, 0.9)
        best = objective(X, j, reference(X, j, g, 0.9), g, 0.9)
        c = model.coefficients_[[j]].toarray()[0]
        assert abs(objective(X, j, c, g, 0.9) - best) <= 1e-4 * best


@settings(max_examples=40)
@given(
    st.integers(2, 60), st.integers(1, 12), st.floats(1.1, 200), st.floats(0.3, 0.99),
    st.integers(0, 2**31),
)  # fmt: skip
@example(38, 6, 130.0, 0.890625, 678)  # one coefficient stopped at zero raised the objective
def test_optimality_conditions(n: int, D: int, gamma: float, tau: float, seed: int) -> None:
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, D)) + rng.choice([0.0, 3.0])
    X[rng.random(n) < 0.1] = 0.0
    X[rng.random(n) < 0.1] = X[0]
    X = unit_rows(X)
    if not (np.abs(X @ X.T) - np.diag(np.sum(X**2, axis=1))).any():
        return
    C = solve(X, gamma, tau)
    assert not C.diagonal().any()
    assert worst_violation(X, C, gamma, tau) <= 2e-6 * gamma


def test_many_copies_share_the_coefficient() -> None:
    """Every copy of an atom is active: more atoms than the first buffers hold."""
    rng = np.random.default_rng(0)
    X = unit_rows(np.vstack([np.repeat(rng.normal(size=(1, 6)), 300, 0), rng.normal(size=(20, 6))]))
    C = solve(X, 20.0, 0.9)
    assert np.all(C[0, 1:300] > 0)
    np.testing.assert_allclose(C[0, 1:300], C[0, 1], rtol=1e-4)
    assert worst_violation(X, C, 20.0, 0.9) < 1e-5


@pytest.mark.parametrize(("first", "more", "room"), [(1, 1, 4), (3, 2, 16), (200, 200, 400)])
def test_pace_of_the_active_set_does_not_matter(first: int, more: int, room: int) -> None:
    """Each needs its own compilation, as the kernel takes these as constants."""
    rng = np.random.default_rng(1)
    X = unit_rows(rng.normal(size=(400, 15)) + 1.0)
    expected = solve(X, 30.0, 0.9)
    point = _ensc_kernel._point.py_func
    names = {"_FIRST": first, "_MORE": more}
    old = {name: point.__globals__[name] for name in names}
    work = [np.empty(400) for _ in range(5)]
    work += [np.empty(15), np.empty(room, dtype=np.int64), np.empty(room)]
    net = (np.empty((400, 400)), np.empty((400, 400)), np.empty(400, dtype=np.int64))
    point.__globals__.update(names)
    try:
        for j in (0, 123):
            g = weight(X, j, 30.0, 0.9)
            atoms, coefs, delta = np.zeros(400, dtype=np.int64), np.zeros(400), np.zeros(15)
            size, state, looked = 0, 1, X[j]
            while state == 1:
                row = (X @ looked).astype(np.float32)
                state, size = point(
                    X, j, row, g, 0.9, 1e-6, 1e-5, atoms, coefs, size, delta, tuple(work), net
                )
                looked = delta
            c = np.zeros(400)
            c[atoms[:size]] = coefs[:size]
            assert state == 0
            np.testing.assert_allclose(c, expected[j], atol=1e-5)
    finally:
        point.__globals__.update(old)


def test_blocks_do_not_matter() -> None:
    X = np.random.default_rng(3).normal(size=(1100, 10))
    seen: list[tuple[int, int]] = []
    model = EnSC(2, gamma=10, tol=1e-6)
    model.affinity(X, progress=lambda done, total: seen.append((done, total)))
    with sklearn.config_context(working_memory=0.05):
        small = EnSC(2, gamma=10, tol=1e-6)
        small.affinity(X)
    np.testing.assert_allclose(
        model.coefficients_.toarray(), small.coefficients_.toarray(), atol=1e-5
    )
    assert seen == [(512, 1100), (1024, 1100), (1100, 1100)]


def test_common_scale_does_not_matter() -> None:
    X = np.random.default_rng(4).normal(size=(60, 8)) * np.linspace(0.1, 4, 60)[:, None]
    one, two = EnSC(2, normalize=False, tol=1e-7), EnSC(2, normalize=False, tol=1e-7)
    one.affinity(X)
    two.affinity(X * 1e180)
    np.testing.assert_allclose(one.coefficients_.toarray(), two.coefficients_.toarray(), atol=1e-6)
    assert worst_violation(X, one.coefficients_.toarray(), 50, 0.9) < 1e-5


def figures(path: Path, K: int, **options: object) -> tuple[float, float]:
    """Error in per cent, and coefficients per row."""
    data = np.load(path)
    keep = ~data["bad"] if "bad" in data else slice(None)
    X, y = data["X"][keep], data["y"][keep]
    model = EnSC(K, **options)
    labels = spectral_clustering(model.affinity(X), K, random_state=0)
    return 100 * clustering_error(y, labels), model.coefficients_.nnz / len(X)


@pytest.mark.realdata
@pytest.mark.filterwarnings("ignore::superpac.errors.DisconnectedGraphWarning")
@pytest.mark.parametrize(
    ("data", "K", "options", "expected", "per_row"),
    [
        ("coil20", 20, {"gamma": 50}, 24.1, 6.8),
        ("coil20", 20, {"gamma": 10}, 15.8, 7.4),
        ("coil20", 20, {"gamma": 5}, 16.0, None),
        ("yaleb", 38, {"gamma": 50}, 36.0, 16.6),
        ("yaleb", 38, {"gamma": 10, "to_affinity": "max", "rho": 0.7}, 22.3, None),
        ("usps", 10, {"gamma": 3}, 35.1, 11.0),
        ("usps", 10, {"gamma": 5}, 36.2, None),
        ("usps", 10, {"gamma": 5, "tau": 0.95, "to_affinity": "knn"}, 25.7, None),
    ],
)
def test_reference_figures(
    need_data, data: str, K: int, options: dict, expected: float, per_row: float | None
) -> None:
    error, nnz = figures(need_data(data), K, **options)
    assert abs(error - expected) <= 2.0
    assert per_row is None or abs(nnz - per_row) <= 0.15
