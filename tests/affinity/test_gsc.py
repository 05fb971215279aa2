"""GSC: neighbours against the paper's loop, recovery of subspaces, digits."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse

from superpac.affinity import gsc
from superpac.affinity.base import unit_rows
from superpac.affinity.gsc import GSC, collect_neighbors, recover_subspaces
from superpac.data.synthetic import make_subspaces
from superpac.metrics import clustering_error


def naive_nsn(U: np.ndarray, k: int, d_max: int, tol: float) -> np.ndarray:
    """Algorithm 1 of the paper, one point and one orthonormal basis at a time."""
    n = len(U)
    W = np.zeros((n, n))
    for i in range(n):
        chosen = [i]
        basis = U[i : i + 1].T
        for _ in range(k):
            lengths = np.linalg.norm(U @ basis, axis=1)
            lengths[chosen] = -1.0
            j = int(np.argmax(lengths))
            chosen.append(j)
            rest = U[j] - basis @ (basis.T @ U[j])
            if basis.shape[1] < d_max and np.linalg.norm(rest) > 1e-7:
                basis = np.linalg.qr(np.column_stack([basis, U[j]]))[0]
        W[i, chosen] = 1.0
        W[i, 1.0 - np.linalg.norm(U @ basis, axis=1) ** 2 <= tol] = 1.0
        W[i, i] = 0.0
    return W


@pytest.mark.parametrize(("k", "d_max"), [(1, 1), (4, 2), (6, 6), (3, 8), (9, 3)])
@pytest.mark.parametrize("noise", [0.0, 0.3])
def test_matches_the_paper(k: int, d_max: int, noise: float) -> None:
    X, _ = make_subspaces(14, 3, 3, 9, noise=noise, seed=k)
    U = unit_rows(X)
    Z = collect_neighbors(U, k, d_max, 1e-10).toarray() > 0
    expected = naive_nsn(U, k, d_max, 1e-10) > 0
    if noise:
        np.testing.assert_array_equal(Z, expected)
    else:  # once all in the subspace are at distance 0, which one is collected is rounding's choice
        same_cluster = np.kron(np.eye(3), np.ones((14, 14))) > 0
        assert np.array_equal(Z & ~same_cluster, expected & ~same_cluster)
        assert np.all(Z.sum(axis=1) == expected.sum(axis=1))


def test_blocks_do_not_matter(monkeypatch: pytest.MonkeyPatch) -> None:
    X, _ = make_subspaces(40, 3, 3, 9, noise=0.2, seed=0)
    whole = GSC(3).affinity(X).toarray()
    monkeypatch.setattr(gsc, "BLOCK_BYTES", 1)
    np.testing.assert_array_equal(GSC(3).affinity(X).toarray(), whole)


def test_a_span_of_one_is_unweighted_thresholding() -> None:
    from superpac.affinity.tsc import TSC

    X = np.random.default_rng(0).normal(size=(60, 8))
    np.testing.assert_array_equal(
        GSC(2, k=5, d_max=1).affinity(X).toarray() > 0, TSC(2, q=5).affinity(X).toarray() > 0
    )


def test_points_in_the_span_are_capped(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(gsc, "MOST_IN_SPAN", 10)
    A = GSC(1, k=3, d_max=1).affinity(np.ones((200, 3)))
    assert A.nnz <= 2 * 200 * (10 + 3)
    assert sparse.csgraph.connected_components(A)[0] == 1


@pytest.mark.parametrize("seed", range(3))
def test_recovery_finds_noisy_subspaces(seed: int) -> None:
    X, y = make_subspaces(30, 4, 3, 20, noise=0.1, seed=seed)
    model = GSC(4, k=8, d_max=3, recover=True).fit(X)
    assert clustering_error(y, model.labels_) <= 0.02


def test_recovery_takes_a_sample_of_candidates(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(gsc, "MOST_CANDIDATES", 25)
    X, y = make_subspaces(30, 3, 2, 15, seed=0)
    A = GSC(3, k=5, d_max=2).affinity(X)
    labels = recover_subspaces(unit_rows(X), A, 3, 2, 0.1, random_state=0)
    assert clustering_error(y, labels) == 0
    again = recover_subspaces(unit_rows(X), A, 3, 2, 0.1, random_state=0)
    np.testing.assert_array_equal(labels, again)


@pytest.mark.realdata
def test_postal_digits(need_data) -> None:
    """With plain thresholding (a span of one) a third of these digits end in the wrong cluster."""
    held = np.load(need_data("usps"))
    model = GSC(10, random_state=0).fit(held["X"])
    assert clustering_error(held["y"], model.labels_) < 0.08
