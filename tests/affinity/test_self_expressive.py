"""From coefficients to an affinity: each named way against its definition."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from scipy import sparse

from superpac.affinity import self_expressive
from superpac.affinity.self_expressive import WAYS, affinity_from_coefficients, keep_share
from superpac.errors import InputError

MATRICES = st.integers(2, 12).flatmap(
    lambda n: hnp.arrays(
        np.float64,
        (n, n),
        elements=st.one_of(st.just(0.0), st.floats(-3, 3).map(lambda v: round(v, 1))),
    )
)


def naive_share(row: np.ndarray, rho: float) -> np.ndarray:
    """The published loop: largest first, until the share is reached."""
    out = np.zeros_like(row)
    mass = 0.0
    for i in np.argsort(-np.abs(row), kind="stable"):
        if mass >= rho * np.abs(row).sum() * (1 - 1e-12):
            break
        out[i] = row[i]
        mass += abs(row[i])
    return out


def naive(C: np.ndarray, how: str, q: int) -> np.ndarray:
    C = C.copy()
    np.fill_diagonal(C, 0.0)
    n = len(C)
    if how == "knn":
        lengths = np.linalg.norm(C, axis=1)
        A = np.zeros((n, n))
        for i in range(n):
            cosine = {
                j: C[i] @ C[j] / (lengths[i] * lengths[j])
                for j in range(n)
                if j != i and lengths[i] * lengths[j] > 0
            }
            for j in sorted(cosine, key=lambda j: (-cosine[j], j))[:q]:
                A[i, j] = cosine[j] > 0
        return (A + A.T) / 2
    size = {"unit": lambda r: np.linalg.norm(r), "max": lambda r: np.abs(r).max()}
    for row in C:
        if how != "raw" and np.any(row):
            row /= size[how](row)
    return np.abs(C) + np.abs(C).T


@settings(max_examples=80)
@given(MATRICES, st.sampled_from(["unit", "raw", "max"]), st.booleans())
def test_every_way_follows_its_definition(C: np.ndarray, how: str, dense: bool) -> None:
    A = affinity_from_coefficients(C if dense else sparse.csr_array(C), how)
    np.testing.assert_allclose(A.toarray(), naive(C, how, 0), atol=1e-12)
    assert A.nnz == np.count_nonzero(A.toarray())


@pytest.mark.parametrize("entries", [10, 10**9])
@pytest.mark.parametrize("q", [1, 3, 50])
def test_neighbors_of_rows(q: int, entries: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(self_expressive, "_PRODUCT_ENTRIES", entries)  # one block, and many
    rng = np.random.default_rng(q)
    C = rng.normal(size=(30, 30)) * (rng.random((30, 30)) < 0.2)
    C[4] = 0.0
    A = affinity_from_coefficients(C, "knn", n_neighbors=q).toarray()
    np.testing.assert_array_equal(A, naive(C, "knn", q))
    assert not A[4].any()


@settings(max_examples=80)
@given(MATRICES, st.floats(0.05, 1.0))
def test_share_of_the_mass(C: np.ndarray, rho: float) -> None:
    kept = keep_share(sparse.csr_array(C), rho).toarray()
    for row, out in zip(C, kept, strict=True):
        expected = naive_share(row, rho)
        # among equal magnitudes any may be kept, so compare the magnitudes
        np.testing.assert_allclose(np.sort(np.abs(out)), np.sort(np.abs(expected)))
        assert np.all((out == row) | (out == 0))


def test_share_comes_before_scaling() -> None:
    C = np.array([[0, 6.0, 3.0, 1.0], [0] * 4, [0] * 4, [0] * 4])
    A = affinity_from_coefficients(C, "max", rho=0.7).toarray()
    np.testing.assert_allclose(A[0], [0, 1.0, 0.5, 0])


def test_unknown_way_is_refused_with_the_known_ones() -> None:
    with pytest.raises(InputError, match="one of unit, raw, max, knn. Got 'best'"):
        affinity_from_coefficients(np.eye(3), "best")


@pytest.mark.parametrize("how", WAYS)
def test_nothing_in_nothing_out(how: str) -> None:
    A = affinity_from_coefficients(sparse.csr_array((5, 5)), how)
    assert A.shape == (5, 5)
    assert A.nnz == 0
