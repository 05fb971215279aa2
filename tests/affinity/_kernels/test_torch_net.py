"""Many small elastic nets at once: each the minimum that the processor finds."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from graphics import torch_device
from superpac.affinity._kernels.elastic_net import elastic_net, violation
from superpac.affinity.base import unit_rows


@pytest.fixture(scope="module")
def device():
    return torch_device()


def nets(device, A, x, gamma, tau, tol=1e-9, kind="float64"):
    """Coefficients of points by their atoms."""
    from superpac.affinity._kernels.torch_net import elastic_nets

    Q, q = A @ A.transpose(0, 2, 1), np.einsum("nmd,nd->nm", A, x)
    given_ = (Q, q, np.zeros_like(q), np.full(len(x), gamma), np.full(len(x), tol))
    found = elastic_nets(*(device.array(each, kind) for each in given_), tau)
    return Q, q, found.numpy().astype(np.float64)


def worst(Q, q, c, gamma, tau):
    return max(
        violation(gamma * (q[p] - Q[p] @ c[p]), c[p], len(q[p]), tau, 1 - tau)
        for p in range(len(q))
    )


@settings(max_examples=40)
@given(
    st.integers(1, 30), st.integers(1, 12), st.floats(1.1, 200), st.floats(0.3, 0.99),
    st.integers(0, 2**31),
)  # fmt: skip
def test_the_minimum_of_the_processor(device, m, D, gamma, tau, seed):
    rng = np.random.default_rng(seed)
    A = rng.normal(size=(5, m, D)) + rng.choice([0.0, 3.0])
    A[:, rng.random(m) < 0.2] = A[:, :1]  # copies
    A[2] = 0.0  # no atoms
    A = unit_rows(A.reshape(-1, D)).reshape(A.shape)
    x = unit_rows(rng.normal(size=(5, D)))
    Q, q, c = nets(device, A, x, gamma, tau)
    assert worst(Q, q, c, gamma, tau) <= 1e-8
    for p in range(5):
        other, b = np.zeros(m), gamma * q[p]
        buffers = np.empty((m, m)), np.empty(m, dtype=np.int64), np.empty(m), np.empty(m)
        elastic_net(Q[p], b, other, m, gamma, tau, 1 - tau, 1e-9, *buffers)
        np.testing.assert_allclose(c[p], other, atol=1e-7 / (1 - tau))


def test_the_lasso_of_copies(device):
    rng = np.random.default_rng(0)
    A = unit_rows(np.repeat(rng.normal(size=(4, 6)), 5, axis=0))[None]
    Q, q, c = nets(device, A, unit_rows(rng.normal(size=(1, 6))), 20.0, 1.0, 1e-7)
    assert worst(Q, q, c, 20.0, 1.0) <= 2e-7


@pytest.mark.parametrize("gamma", [5.0, 50.0])
def test_single_precision_holds_a_thousandth(device, gamma):
    rng = np.random.default_rng(1)
    A = rng.normal(size=(40, 64, 30)) + 2.0  # all atoms alike
    A = unit_rows(A.reshape(-1, 30)).reshape(A.shape)
    Q, q, c = nets(
        device, A, unit_rows(rng.normal(size=(40, 30)) + 2.0), gamma, 0.9, 1e-4, "float32"
    )
    assert worst(Q, q, c, gamma, 0.9) <= 1e-3
