"""TSC's neighbours on a device: those of the processor."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from graphics import torch_device
from superpac.affinity._kernels.top_k import top_inner_products
from superpac.affinity.base import unit_rows
from superpac.data.synthetic import make_subspaces


@pytest.fixture(scope="module")
def device():
    return torch_device()


def both(device, X, kept, progress=lambda *step: None):
    from superpac.affinity._kernels.torch_search import Search
    from superpac.affinity._kernels.torch_top_k import top_rows

    found = top_rows(Search.of(X, device, unit=True), kept, floor=1e-12, progress=progress)
    return [each.numpy() for each in found], top_inner_products(unit_rows(X), kept, floor=1e-12)


def check_same(found, expected):
    np.testing.assert_array_equal(found[0], expected[0])
    np.testing.assert_allclose(found[1], expected[1], rtol=0, atol=1e-12)


@pytest.mark.parametrize(
    ("n", "D", "kept"), [(40, 5, 3), (63, 12, 1), (200, 40, 199), (300, 9, 500)]
)
def test_same_neighbours(device, n, D, kept):
    check_same(*both(device, np.random.default_rng(n).normal(size=(n, D)), kept))


def test_same_neighbours_in_subspaces(device):
    check_same(*both(device, make_subspaces(130, 3, 2, 12, seed=0)[0], 6))


def test_same_neighbours_among_zeros_and_copies(device):
    X = np.random.default_rng(4).normal(size=(150, 8))
    X[[3, 77]] = 0.0
    X[20:60] = X[19]
    check_same(*both(device, X, 7))


def test_orthogonal_points_are_no_neighbours(device):
    found, expected = both(device, np.repeat(np.eye(6), 3, axis=0), 5)
    check_same(found, expected)
    assert (found[0] >= 0).sum() == 6 * 3 * 2


@settings(max_examples=50)
@given(st.integers(2, 200), st.integers(2, 10), st.integers(1, 12), st.integers(0, 2**31))
def test_same_products_whatever_the_points(device, n, D, kept, seed):
    rng = np.random.default_rng(seed)
    X = np.round(rng.normal(size=(n, D)), rng.integers(0, 4))
    (columns, values), (_, expected) = both(device, X, kept)
    # rounded points have equal products, between which rounding decides
    np.testing.assert_allclose(values, expected, rtol=0, atol=1e-12)
    U = unit_rows(X)
    there = np.abs(np.einsum("nd,nkd->nk", U, U[np.maximum(columns, 0)]))
    np.testing.assert_allclose(np.where(columns >= 0, there, 0), values, atol=1e-12)


def test_progress_reaches_the_end(device, monkeypatch):
    from superpac.affinity._kernels import torch_search

    monkeypatch.setattr(torch_search, "BLOCK", 16)
    seen = []
    both(device, np.random.default_rng(0).normal(size=(50, 4)), 3, lambda *step: seen.append(step))
    assert len(seen) > 2
    assert seen == sorted(seen)
    assert seen[-1] == (50, 50)
