from __future__ import annotations

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from sklearn.exceptions import ConvergenceWarning

from superpac.affinity.base import unit_rows
from superpac.errors import InputError
from superpac.research.robust_pca import oracle_pca, oracle_robust_pca, robust_pca
from superpac.subspaces.geometry import principal_angles, top_directions


def naive_robust_pca(X, lam, steps):
    """The published iteration with a full SVD, for a given number of steps."""
    dual = X / max(np.linalg.norm(X, 2), np.abs(X).max() / lam)
    mu = 1.25 / np.linalg.norm(X, 2)
    low = np.zeros_like(X)
    top = mu * 1e7
    for _ in range(steps):
        T = X - low + dual / mu
        sparse = np.where(np.abs(T) > lam / mu, T - np.sign(T) * lam / mu, 0)
        U, s, Vt = np.linalg.svd(X - sparse + dual / mu, full_matrices=False)
        low = U @ np.diag(np.maximum(s - 1 / mu, 0)) @ Vt
        dual = dual + mu * (X - low - sparse)
        mu = min(mu * 1.5, top)
    return low, sparse


def damaged(seed, shape=(40, 55), rank=2, share=0.05):
    rng = np.random.default_rng(seed)
    low = rng.normal(size=(shape[0], rank)) @ rng.normal(size=(rank, shape[1]))
    errors = 10 * rng.choice([-1, 1], shape) * (rng.random(shape) < share)
    return low, errors


@given(st.integers(0, 2**31), st.sampled_from([(60, 120), (120, 60), (80, 80)]))
@example(23356454, (60, 120))  # six errors in one column
@settings(max_examples=12)
def test_low_rank_and_gross_errors_are_told_apart(seed, shape):
    low, errors = damaged(seed, shape, rank=2, share=0.03)
    rough = robust_pca(low + errors)
    assert np.linalg.norm(rough.low_rank - low) < 0.1 * np.linalg.norm(low)
    found = robust_pca(low + errors, growth=1.1)  # the published growth is not exact
    assert np.linalg.norm(found.low_rank - low) < 1e-5 * np.linalg.norm(low)
    assert found.gap <= 1e-7
    np.testing.assert_allclose(found.low_rank + found.sparse, low + errors, atol=1e-4)
    assert found.rank == 2


@pytest.mark.parametrize("shape", [(20, 50), (50, 20)])
def test_every_step_is_that_of_the_published_method(shape):
    low, errors = damaged(1, shape)
    X = low + errors + 0.1 * np.random.default_rng(2).normal(size=shape)
    found = robust_pca(X, lam=0.12)
    expected_low, expected_sparse = naive_robust_pca(X, 0.12, found.n_iter)
    np.testing.assert_allclose(found.low_rank, expected_low, atol=2e-5)
    np.testing.assert_allclose(found.sparse, expected_sparse, atol=2e-5)


def test_a_slower_growth_comes_nearer_to_the_optimum():
    low, errors = damaged(3)
    X = low + errors
    lam = 1 / np.sqrt(max(X.shape))

    def objective(L, S):
        return np.linalg.norm(L, "nuc") + lam * np.abs(S).sum()

    truth = objective(low, errors)
    published, slow = robust_pca(X), robust_pca(X, growth=1.1)
    assert objective(published.low_rank, published.sparse) <= truth * 1.01
    assert objective(slow.low_rank, slow.sparse) <= truth * (1 + 1e-4)
    assert slow.n_iter > published.n_iter


def test_zero_is_split_into_zeros_and_few_iterations_are_reported():
    found = robust_pca(np.zeros((4, 3)))
    assert found.rank == 0
    assert not found.low_rank.any()
    low, errors = damaged(0)
    with pytest.warns(ConvergenceWarning, match="3 iterations"):
        assert robust_pca(low + errors, max_iter=3).n_iter == 3


def naive_oracle(X, y, dim):
    labels = []
    for x in X:
        distances = []
        for k in np.unique(y):
            U = np.linalg.svd(X[y == k].T, full_matrices=False)[0][:, :dim]
            distances.append(np.linalg.norm(x - U @ (U.T @ x)))
        labels.append(np.unique(y)[np.argmin(distances)])
    return np.array(labels)


@pytest.mark.parametrize("unit", [True, False])
def test_oracle_pca_is_the_nearest_true_subspace(unit):
    rng = np.random.default_rng(5)
    y = rng.permutation(np.repeat([3, 8, 9], 25))
    bases = {k: rng.normal(size=(2, 6)) for k in (3, 8, 9)}
    X = np.stack([rng.normal(size=2) @ bases[k] for k in y]) + 0.7 * rng.normal(size=(75, 6))
    found = oracle_pca(X, y, 2, unit=unit)
    expected = naive_oracle(unit_rows(X) if unit else X, y, 2)
    np.testing.assert_array_equal(found, expected)
    assert 0 < np.mean(found != y) < 0.5


def test_oracles_are_right_on_separate_subspaces():
    rng = np.random.default_rng(0)
    y = np.repeat([0, 1, 2], 40)
    X = np.concatenate([rng.normal(size=(40, 3)) @ rng.normal(size=(3, 60)) for _ in range(3)])
    assert (oracle_pca(X, y, 3) == y).all()
    assert (oracle_robust_pca(X, y, 3) == y).all()


def test_gross_errors_turn_plain_directions_but_not_robust_ones():
    low, errors = damaged(4, shape=(60, 80), rank=3, share=0.03)
    truth = top_directions(low, 3)
    plain = principal_angles(top_directions(low + errors, 3), truth)
    robust = principal_angles(top_directions(robust_pca(low + errors).low_rank, 3), truth)
    assert plain.max() > 0.1
    assert robust.max() < 1e-3


def test_a_black_image_does_no_harm():
    rng = np.random.default_rng(1)
    X = rng.normal(size=(20, 8))
    X[3] = 0
    y = np.repeat([0, 1], 10)
    others = np.arange(20) != 3
    for oracle in (oracle_pca, oracle_robust_pca):
        assert np.isin(oracle(X, y, 2), [0, 1]).all()
    np.testing.assert_array_equal(oracle_pca(X, y, 2)[others], oracle_pca(X[others], y[others], 2))


@pytest.mark.parametrize(
    ("call", "said"),
    [
        (lambda: robust_pca(np.ones(3)), "table"),
        (lambda: robust_pca([[1.0, np.nan]]), "NaN"),
        (lambda: robust_pca(np.ones((3, 3)), lam=-1), "'lam'"),
        (lambda: robust_pca(np.ones((3, 3)), tol=0), "'tol'"),
        (lambda: oracle_pca(np.ones((3, 2)), [0, 1], 1), "one label per point"),
        (lambda: oracle_pca(np.ones((3, 2)), [0, 1, 1], 0), "dimension"),
    ],
)
def test_wrong_input_is_refused_in_words(call, said):
    with pytest.raises(InputError, match=said):
        call()


@pytest.mark.realdata
def test_claim_c9_robust_is_no_better_on_faces(need_data):
    stored = np.load(need_data("yaleb"))
    X, y = stored["X"].astype(float), stored["y"]
    rng = np.random.default_rng(0)
    plain, robust = [], []
    for _ in range(3):
        some = np.isin(y, rng.choice(38, 5, replace=False))
        plain.append(np.mean(oracle_pca(X[some], y[some], 9) != y[some]))
        robust.append(np.mean(oracle_robust_pca(X[some], y[some], 9, tol=1e-5) != y[some]))
    assert np.mean(plain) < 0.01
    assert np.mean(robust) >= np.mean(plain)


@pytest.mark.realdata
def test_subspaces_cannot_tell_all_digits_apart(need_data):
    stored = np.load(need_data("mnist_test"))
    X, y = stored["X"].astype(float), stored["y"]
    rng = np.random.default_rng(0)
    errors = []
    for _ in range(5):
        rows = [rng.choice(np.flatnonzero(y == k), 100, replace=False) for k in range(10)]
        some = np.concatenate(rows)
        errors.append(np.mean(oracle_pca(X[some], y[some], 3) != y[some]))
    assert np.mean(errors) == pytest.approx(0.078, abs=0.01)
