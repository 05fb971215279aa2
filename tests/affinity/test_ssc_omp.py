"""SSC-OMP: support and coefficients of scikit-learn's pursuit, both ways of searching, figures."""

from __future__ import annotations

import warnings
from pathlib import Path

import numpy as np
import pytest
import sklearn
from sklearn.linear_model import orthogonal_mp

from superpac.affinity._kernels import omp as _omp_kernel
from superpac.affinity.base import no_progress, unit_rows
from superpac.affinity.ssc_omp import SSCOMP
from superpac.graph.spectral import spectral_clustering
from superpac.metrics import clustering_error


def pursue(X: np.ndarray, k: int, eps: float = 1e-6, memory: float = 1e9) -> np.ndarray:
    return _omp_kernel.omp_coefficients(
        X, k, eps, working_memory=memory, progress=no_progress
    ).toarray()


def reference(X: np.ndarray, j: int, k: int) -> np.ndarray:
    others = X.T.copy()
    others[:, j] = 0.0
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return orthogonal_mp(others, X[j], n_nonzero_coefs=k)


@pytest.mark.parametrize("memory", [1e9, 0.0], ids=["gram", "blocks"])
@pytest.mark.parametrize(("n", "D", "k"), [(80, 30, 6), (200, 12, 3), (30, 100, 12)])
def test_same_as_scikit_learn(n: int, D: int, k: int, memory: float) -> None:
    X = unit_rows(np.random.default_rng(n).normal(size=(n, D)))
    C = pursue(X, k, memory=memory)
    expected = np.array([reference(X, j, k) for j in range(n)])
    np.testing.assert_allclose(C, expected, atol=1e-9)


@pytest.mark.realdata
def test_support_on_usps(need_data) -> None:
    X = unit_rows(np.load(need_data("usps"))["X"])
    C = SSCOMP(10, n_nonzero=10)
    C.affinity(X)
    sample = np.random.default_rng(0).choice(len(X), 40, replace=False)
    for j in sample:
        support = np.flatnonzero(reference(X, j, 10))
        np.testing.assert_array_equal(np.sort(C.coefficients_[[j]].indices), support)


def test_blocks_and_gram_agree_on_noiseless_data() -> None:
    """Residuals fall to rounding, where single precision alone would choose at random."""
    rng = np.random.default_rng(0)
    X = unit_rows(
        np.vstack([rng.normal(size=(40, 4)) @ rng.normal(size=(4, 30)) for _ in range(3)])
    )
    whole, blocks = pursue(X, 8), pursue(X, 8, memory=0.0)
    np.testing.assert_allclose(whole, blocks, atol=1e-9)
    assert (whole != 0).sum(axis=1).max() == 4  # a point of a 4-dimensional subspace needs four
    np.testing.assert_allclose(whole @ X, X, atol=1e-6)


@pytest.mark.parametrize("memory", [1e9, 0.0], ids=["gram", "blocks"])
def test_residuals_far_below_the_coarse_search(memory: float) -> None:
    """Points a hair off a line: after one atom all correlations are under half a step."""
    rng = np.random.default_rng(4)
    X = unit_rows(np.eye(1, 12) + 1e-4 * rng.normal(size=(60, 12)))
    C = pursue(X, 4, eps=1e-9, memory=memory)
    expected = [set(np.flatnonzero(reference(X, j, 4))) for j in range(60)]
    assert [set(np.flatnonzero(c)) for c in C] == expected


def test_eps_ends_a_pursuit_early() -> None:
    X = unit_rows(np.random.default_rng(1).normal(size=(100, 20)))
    C = pursue(X, 15, eps=0.5)
    residual = np.linalg.norm(X - C @ X, axis=1)
    assert np.all(residual <= 0.5)
    for j in range(100):  # one atom fewer would not have done
        shorter = reference(X, j, int((C[j] != 0).sum()) - 1)
        assert np.linalg.norm(X[j] - shorter @ X) > 0.5


def test_scale_of_unscaled_points_is_harmless() -> None:
    X = np.random.default_rng(2).normal(size=(60, 8)) * np.linspace(0.1, 4, 60)[:, None]
    small, large = SSCOMP(2, normalize=False, n_nonzero=3), SSCOMP(2, normalize=False, n_nonzero=3)
    small.affinity(X)
    large.affinity(X * 1e200)
    expected = np.array([reference(X, j, 3) for j in range(60)])
    np.testing.assert_allclose(small.coefficients_.toarray(), expected, atol=1e-9)
    np.testing.assert_allclose(large.coefficients_.toarray(), expected, atol=1e-9)


def test_little_working_memory_gives_the_same() -> None:
    X = np.random.default_rng(3).normal(size=(600, 10))
    plenty = SSCOMP(2, n_nonzero=4).affinity(X)
    with sklearn.config_context(working_memory=1):
        little = SSCOMP(2, n_nonzero=4).affinity(X)
    np.testing.assert_allclose(plenty.toarray(), little.toarray(), atol=1e-9)


def error(path: Path, model: SSCOMP, K: int, seeds: int = 1) -> float:
    """Mean error in per cent over k-means seeds."""
    data = np.load(path)
    keep = ~data["bad"] if "bad" in data else slice(None)
    X, y = data["X"][keep], data["y"][keep]
    A = model.affinity(X)
    return 100 * np.mean(
        [clustering_error(y, spectral_clustering(A, K, random_state=s)) for s in range(seeds)]
    )


@pytest.mark.realdata
@pytest.mark.filterwarnings("ignore::superpac.errors.DisconnectedGraphWarning")
@pytest.mark.parametrize(
    ("data", "K", "options", "low", "high"),
    [
        ("usps", 10, {"n_nonzero": 10}, 72.9, 76.9),
        # the k-means seed alone moves Yale between 19.2 and 22.3
        ("yaleb", 38, {"n_nonzero": 5}, 17.2, 24.3),
        ("yaleb", 38, {"n_nonzero": 5, "to_affinity": "raw"}, 14.7, 20.0),
        ("coil20", 20, {"n_nonzero": 2}, 46.7, 50.7),
        ("coil20", 20, {"n_nonzero": 3}, 47.2, 51.2),
    ],
)
def test_reference_figures(
    need_data, data: str, K: int, options: dict, low: float, high: float
) -> None:
    seeds = 1 if data == "usps" else 4
    assert low <= error(need_data(data), SSCOMP(K, **options), K, seeds) <= high
