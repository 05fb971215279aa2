"""SSC-OMP on a device: the atoms and coefficients of the processor."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from graphics import torch_device
from superpac.affinity._kernels.omp import omp_coefficients
from superpac.affinity.base import no_progress, unit_rows
from superpac.data.synthetic import make_subspaces


@pytest.fixture(scope="module")
def device():
    return torch_device()


def both(device, X, k, eps=1e-6):
    from superpac.affinity._kernels.torch_omp import omp_rows
    from superpac.affinity._kernels.torch_search import Search

    X = unit_rows(X)
    found = omp_rows(Search.of(X, device, unit=False), k, eps)
    options = {"working_memory": 1e9, "progress": no_progress}
    return found, omp_coefficients(X, k, eps, **options)


def check_same(found, expected):
    np.testing.assert_array_equal(found.indptr, expected.indptr)
    np.testing.assert_array_equal(found.indices, expected.indices)
    np.testing.assert_allclose(found.data, expected.data, rtol=1e-8, atol=1e-10)


@pytest.mark.parametrize(("n", "D", "k"), [(80, 30, 6), (200, 12, 3), (30, 100, 12), (20, 9, 40)])
def test_same_as_the_processor(device, n, D, k):
    check_same(*both(device, np.random.default_rng(n).normal(size=(n, D)), k))


def test_a_point_of_a_subspace_is_done_when_it_is_expressed(device):
    X, y = make_subspaces(60, 3, 3, 20, seed=1)
    found, expected = both(device, X, 10)
    check_same(found, expected)
    assert (np.diff(found.indptr) <= 3).all()
    rows, columns = found.nonzero()
    assert (y[rows] == y[columns]).all()


def test_zeros_and_copies(device):
    X = np.random.default_rng(3).normal(size=(90, 10))
    X[[5, 60]] = 0.0
    X[20:40] = X[19]
    found, expected = both(device, X, 4)
    check_same(found, expected)
    assert found[[5, 60]].nnz == 0
    assert found[[30]].indices.tolist() == [19]  # the first of the copies


def test_eps_ends_a_pursuit_early(device):
    X = np.random.default_rng(8).normal(size=(70, 15))
    check_same(*both(device, X, 8, 0.5))
    assert both(device, X, 8, 1.0)[0].nnz == 0


@settings(max_examples=30)
@given(st.integers(2, 90), st.integers(2, 12), st.integers(1, 6), st.integers(0, 2**31))
def test_whatever_the_points(device, n, D, k, seed):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, D)) + rng.choice([0.0, 3.0])
    X[rng.random(n) < 0.1] = 0.0
    check_same(*both(device, X, min(k, D - 1)))


def test_single_precision_takes_the_same_atoms(device):
    from superpac.affinity._kernels.torch_omp import omp_rows
    from superpac.affinity._kernels.torch_search import Search

    X = np.random.default_rng(9).normal(size=(100, 30))
    search = Search(Search.of(X, device, unit=True).rows.float(), device)
    found, expected = omp_rows(search, 5, 1e-6), both(device, X, 5)[1]
    np.testing.assert_array_equal(found.indices, expected.indices)
    np.testing.assert_allclose(found.data, expected.data, atol=1e-5)
