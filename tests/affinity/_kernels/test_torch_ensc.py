"""EnSC on a device: the minimum that the processor finds, and the conditions for it."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from graphics import torch_device
from superpac.affinity._kernels.ensc import ensc_coefficients
from superpac.affinity.base import no_progress, unit_rows
from superpac.data.synthetic import make_subspaces


@pytest.fixture(scope="module")
def device():
    return torch_device()


def breaches(search, C, gamma, tau):
    import torch

    from superpac.affinity._kernels.torch_ensc import conditions

    some = torch.nonzero((search.rows != 0).any(1))[:, 0]
    return max(float(each.max()) for each in conditions(search.rows, C, gamma, tau, some))


def check_same(device, X, gamma, tau, tol=1e-7):
    from superpac.affinity._kernels.torch_ensc import ensc_rows
    from superpac.affinity._kernels.torch_search import Search

    X = unit_rows(X)
    search = Search.of(X, device, unit=False)
    found = ensc_rows(search, gamma, tau, tol=tol)
    options = {"working_memory": 1e9, "progress": no_progress}
    expected = ensc_coefficients(X, gamma, tau, tol=tol, **options)
    assert found.has_sorted_indices
    assert not found.diagonal().any()
    assert breaches(search, found, gamma, tau) <= 1.1 * tol * tau + 1e-12 * gamma
    # the objective is strongly convex, so coefficients are as near as the conditions allow
    assert abs(found - expected).max() <= 20 * tol / (1 - tau)
    return search, found


@pytest.mark.parametrize("tau", [0.5, 0.9])
@pytest.mark.parametrize("gamma", [3.0, 50.0])
def test_the_minimum_of_the_processor(device, gamma, tau):
    rng = np.random.default_rng(0)
    X = np.vstack([rng.normal(size=(60, 4)) @ rng.normal(size=(4, 25)) for _ in range(3)])
    check_same(device, X + 0.2 * rng.normal(size=X.shape), gamma, tau)


def test_subspaces_are_kept_apart(device):
    X, y = make_subspaces(60, 3, 2, 20, seed=0)
    _, C = check_same(device, X, 20.0, 0.9)
    rows, columns = C.nonzero()
    assert (y[rows] == y[columns]).all()


@settings(max_examples=20)
@given(
    st.integers(2, 70), st.integers(1, 12), st.floats(1.1, 100), st.floats(0.3, 0.95),
    st.integers(0, 2**31),
)  # fmt: skip
def test_zeros_and_copies(device, n, D, gamma, tau, seed):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, D)) + rng.choice([0.0, 3.0])
    X[rng.random(n) < 0.1] = 0.0
    X[rng.random(n) < 0.2] = X[0]
    U = unit_rows(X)
    if not (np.abs(U @ U.T) - np.diag(np.sum(U**2, axis=1))).any():
        return
    from superpac.affinity._kernels.torch_ensc import ensc_rows
    from superpac.affinity._kernels.torch_search import Search

    search = Search.of(U, device, unit=False)
    C = ensc_rows(search, gamma, tau, tol=1e-6)
    G = np.abs(U @ U.T)
    np.fill_diagonal(G, 0.0)
    lonely = G.max(axis=1) == 0
    assert C[lonely].nnz == 0
    for j in np.flatnonzero(~lonely):
        c = C[[j]].toarray()[0]
        b = gamma * tau / G[j].max() * (U @ (U[j] - c @ U))
        b[j] = 0.0
        over = np.where(c == 0, np.abs(b) - tau, np.abs(b - tau * np.sign(c) - (1 - tau) * c))
        assert over.max() <= 2e-6 * gamma


def test_more_atoms_than_are_begun_with(device):
    rng = np.random.default_rng(0)
    X = np.vstack([np.repeat(rng.normal(size=(1, 6)), 80, axis=0), rng.normal(size=(20, 6))])
    _, C = check_same(device, X, 20.0, 0.9, 1e-6)
    assert (np.diff(C.indptr)[:80] >= 79).all()


@pytest.mark.parametrize(("first", "more", "together"), [(1, 1, 7), (5, 2, 64), (200, 90, 10**6)])
def test_the_pace_of_the_active_set_does_not_matter(device, monkeypatch, first, more, together):
    from superpac.affinity._kernels import torch_ensc, torch_search

    monkeypatch.setattr(torch_ensc, "_FIRST", first)
    monkeypatch.setattr(torch_ensc, "_MORE", more)
    monkeypatch.setattr(torch_ensc, "_TOGETHER", together)
    monkeypatch.setattr(torch_search, "BLOCK", 16)
    monkeypatch.setattr(torch_search, "PIECE", 10_000)
    check_same(device, np.random.default_rng(5).normal(size=(60, 12)), 10.0, 0.9)


@pytest.mark.parametrize("gamma", [5.0, 50.0])
def test_single_precision_holds_the_conditions_within_a_thousandth(device, gamma):
    from superpac.affinity._kernels.torch_ensc import ensc_rows
    from superpac.affinity._kernels.torch_search import Search

    X = np.random.default_rng(6).random(size=(100, 20))
    search = Search(Search.of(X, device, unit=True).rows.float(), device)
    C = ensc_rows(search, gamma, 0.9, tol=1e-4)
    assert C.dtype == np.float64
    assert breaches(search, C, gamma, 0.9) <= 1e-3 * 0.9
