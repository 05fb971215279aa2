"""Sparse matrices put together by sorting: those of SciPy."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse

from graphics import torch_device
from superpac.affinity.self_expressive import affinity_from_coefficients


@pytest.fixture(scope="module")
def device():
    return torch_device()


@pytest.fixture
def C():
    rng = np.random.default_rng(0)
    dense = rng.normal(size=(60, 60)) * (rng.random((60, 60)) < 0.1)
    np.fill_diagonal(dense, 0.0)
    dense[[4, 59]] = 0.0  # rows without coefficients, one that nobody uses
    dense[:, 59] = 0.0
    return sparse.csr_array(dense)


def entries(device, C):
    C = sparse.coo_array(C)
    order = np.random.default_rng(1).permutation(C.nnz)
    return [device.array(each[order]) for each in (*C.coords, C.data)]


def check_equal(A, B):
    assert A.has_sorted_indices
    assert A.indices.dtype == np.int32
    assert (A.indptr == B.indptr).all()
    np.testing.assert_array_equal(A.indices, B.indices)
    np.testing.assert_allclose(A.data, B.data, rtol=1e-14)


def test_entries_in_any_order(device, C):
    from superpac.affinity._kernels.torch_graph import csr

    check_equal(csr(*(each.long() if i < 2 else each for i, each in enumerate(entries(device, C))),
                    60), C)  # fmt: skip


def test_the_sum_with_the_transposed(device, C):
    from superpac.affinity._kernels.torch_graph import symmetric

    rows, columns, values = entries(device, abs(C))
    B = sparse.csr_array(abs(C) + abs(C).T)
    B.sort_indices()
    check_equal(symmetric(rows.long(), columns.long(), values, 60), B)


@pytest.mark.parametrize("how", ["unit", "max", "raw"])
def test_affinities_of_coefficients(device, C, how):
    from superpac.affinity._kernels.torch_graph import affinity

    A = affinity(C, how, device)
    check_equal(A, affinity_from_coefficients(C, how))
    assert (A != A.T).nnz == 0


def test_nothing_at_all(device):
    from superpac.affinity._kernels.torch_graph import affinity

    assert affinity(sparse.csr_array((5, 5)), "unit", device).nnz == 0
