from __future__ import annotations

import numpy as np
import pytest

from graphics import torch_device
from superpac.device.arrays import to_host
from superpac.graph.eigenpairs import symmetric_eigenpairs


@pytest.mark.parametrize("way", ["as usual", "divide and conquer gives up", "on another device"])
def test_pairs_are_eigenpairs(monkeypatch, way):
    def gives_up(matrix):
        raise np.linalg.LinAlgError("Eigenvalues did not converge")

    rng = np.random.default_rng(0)
    M = rng.normal(size=(30, 30))
    M = M + M.T
    expected = np.linalg.eigvalsh(M)
    if way == "divide and conquer gives up":
        monkeypatch.setattr(np.linalg, "eigh", gives_up)
    given = torch_device().array(M) if way == "on another device" else M
    values, vectors = (to_host(part) for part in symmetric_eigenpairs(given))
    np.testing.assert_allclose(values, expected, atol=1e-12)
    np.testing.assert_allclose(M @ vectors, vectors * values, atol=1e-12)
