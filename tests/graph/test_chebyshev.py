import numpy as np
import pytest

from superpac.graph.chebyshev import chebyshev_vectors


class Diagonal:
    """A matrix whose eigenvectors are the axes."""

    top = np.zeros((200, 0))

    def __init__(self, values):
        self.values = values[:, None]

    def step(self, V, W, p, q, r):
        return p * self.values * V + q * V + r * W


@pytest.fixture
def start():
    return np.random.default_rng(0).normal(size=(200, 8))


def test_leading_eigenvectors_are_found_in_order(start):
    values = np.r_[1.0, 0.9, 0.8, np.linspace(-0.5, 0.5, 197)]
    found = chebyshev_vectors(Diagonal(values), start, 3, sweeps=20)
    np.testing.assert_allclose(np.abs(found[:3, :3]), np.eye(3), atol=1e-3)


def test_after_the_last_sweep_a_larger_residual_will_do_if_it_is_allowed(start):
    crowded = Diagonal(np.linspace(1.0, 1.0 - 1e-5, 200))  # all but one, as in tight clumps
    given = {"sweeps": 2, "tolerance": 1e-9}
    assert chebyshev_vectors(crowded, start, 3, **given) is None
    assert chebyshev_vectors(crowded, start, 3, **given, enough=1e-8) is None
    found = chebyshev_vectors(crowded, start, 3, **given, enough=1e-4)[:, :3]
    values = np.diag(found.T @ (crowded.values * found))
    left = np.linalg.norm(crowded.values * found - found * values, axis=0)
    assert 1e-8 < left.max() <= 1e-4
    np.testing.assert_allclose(found.T @ found, np.eye(3), atol=1e-9)
