"""TSC: the exact search against a naive one, the weights, and the figures on real data."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from scipy.sparse.csgraph import connected_components

from superpac.affinity import tsc
from superpac.affinity._kernels import approximate_top_k, top_k
from superpac.affinity._kernels.approximate_top_k import approximate_top_inner_products
from superpac.affinity._kernels.top_k import top_inner_products
from superpac.affinity.base import unit_rows
from superpac.affinity.tsc import TSC, default_q
from superpac.graph.spectral import spectral_clustering
from superpac.metrics import clustering_error


def naive_tsc(X: np.ndarray, q: int) -> np.ndarray:
    """The definition, one point at a time."""
    U = unit_rows(X)
    n = len(U)
    Z = np.zeros((n, n))
    for j in range(n):
        products = np.abs(U @ U[j])
        products[j] = -1.0
        for i in sorted(range(n), key=lambda i: (-products[i], i))[:q]:
            Z[j, i] = np.exp(-2.0 * np.arccos(min(products[i], 1.0)))
    return Z + Z.T


@pytest.mark.parametrize(("n", "D", "q"), [(40, 5, 3), (57, 12, 1), (30, 40, 29)])
def test_matches_the_definition(n: int, D: int, q: int) -> None:
    X = np.random.default_rng(n).normal(size=(n, D))
    A = TSC(2, q=q).affinity(X)
    np.testing.assert_allclose(A.toarray(), naive_tsc(X, q), atol=1e-7)


def test_tiles_give_the_same_as_one_piece(monkeypatch: pytest.MonkeyPatch) -> None:
    X = np.random.default_rng(0).normal(size=(130, 7))
    whole = TSC(2, q=5).affinity(X).toarray()
    monkeypatch.setattr(top_k, "TILE_ROWS", 16)
    monkeypatch.setattr(top_k, "TILE_COLUMNS", 23)
    np.testing.assert_array_equal(TSC(2, q=5).affinity(X).toarray(), whole)


@settings(max_examples=60)
@given(
    hnp.arrays(np.float64, st.tuples(st.integers(2, 25), st.integers(1, 6)),
               elements=st.floats(-5, 5).map(lambda v: round(v, 2))),
    st.integers(1, 8),
)  # fmt: skip
def test_search_finds_the_largest_products(X: np.ndarray, kept: int) -> None:
    indices, values = top_inner_products(X, kept)
    G = np.abs(X @ X.T)
    np.fill_diagonal(G, 0.0)
    best = -np.sort(-G, axis=1)[:, : min(kept, max(len(X) - 1, 1))]
    # single precision may swap entries that it cannot tell apart, never more
    np.testing.assert_allclose(values, best, atol=1e-5 * max(1.0, best.max(initial=0.0)))
    rows = np.arange(len(X))[:, None]
    assert np.all((indices < 0) | np.isclose(G[rows, indices], values))
    assert np.all(indices != rows)
    for row in indices:
        real = row[row >= 0]
        assert len(set(real)) == len(real)


def test_sign_and_length_of_points_do_not_matter() -> None:
    rng = np.random.default_rng(3)
    X = rng.normal(size=(50, 6))
    flipped = X * rng.choice([-3.0, 0.5], size=(50, 1))
    np.testing.assert_allclose(
        TSC(2, q=4).affinity(X).toarray(), TSC(2, q=4).affinity(flipped).toarray(), atol=1e-7
    )


def test_orthogonal_points_are_no_neighbours() -> None:
    assert TSC(2, q=2).affinity(np.eye(4)).nnz == 0


def found_of(approximate: np.ndarray, exact: np.ndarray) -> float:
    """Share of the neighbours of an exact search that the other found."""
    return float(np.mean((approximate[:, :, None] == exact[:, None, :]).any(axis=1)))


@pytest.mark.parametrize("signed", [False, True])
@pytest.mark.parametrize("D", [8, 150])
def test_an_approximate_search_finds_what_it_says(signed: bool, D: int) -> None:
    rng = np.random.default_rng(D)
    centres = rng.normal(size=(40, D))[rng.integers(40, size=3000)]
    points = centres + 0.5 * rng.normal(size=centres.shape)
    U = unit_rows(points * rng.choice([-1, 1], size=(3000, 1)) if signed else np.abs(points))
    exact, products = top_inner_products(U, 5)
    indices, values, recall = approximate_top_inner_products(U, 5)
    assert recall >= 0.99
    assert found_of(indices, exact) >= 0.98
    G = np.abs(U @ U.T)
    rows = np.arange(3000)[:, None]
    np.testing.assert_allclose(values, G[rows, indices])
    assert np.all(values <= products + 1e-12)
    assert np.all(indices != rows)
    assert all(len(set(row)) == 5 for row in indices.tolist())


def test_an_approximate_search_is_the_same_again_and_on_any_number_of_threads() -> None:
    X = np.random.default_rng(1).normal(size=(2500, 12))
    first, again, alone = (
        TSC(3, q=4, search="approximate", n_jobs=jobs).affinity(X) for jobs in (None, None, 1)
    )
    assert (first != again).nnz == 0
    assert (first != alone).nnz == 0


def test_where_too_few_would_be_found_all_pairs_are_looked_at(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    X = np.random.default_rng(0).normal(size=(900, 30))
    exact = TSC(3, q=4).affinity(X)
    monkeypatch.setattr(approximate_top_k, "TIE", -2.0)  # nothing is good enough
    model = TSC(3, q=4, search="approximate")
    assert (model.affinity(X) != exact).nnz == 0
    assert model.recall_ == 1.0


def test_few_points_are_searched_exactly_and_many_approximately(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    X = np.random.default_rng(0).normal(size=(3000, 40))
    few = TSC(3, q=4)
    few.affinity(X)
    assert few.recall_ == 1.0
    monkeypatch.setattr(tsc, "EXACT_UP_TO", 1000)
    many = TSC(3, q=4)
    many.affinity(X)
    assert 0.99 <= many.recall_ < 1.0
    monkeypatch.setattr(tsc, "is_installed", lambda extra: False)
    without = TSC(3, q=4)
    without.affinity(X)
    assert without.recall_ == 1.0


def test_equal_points_and_zeros_do_not_upset_an_approximate_search() -> None:
    X = np.repeat(np.random.default_rng(0).normal(size=(20, 6)), 30, axis=0)
    X[:50] = 0.0
    indices, values, _ = approximate_top_inner_products(unit_rows(X), 3, floor=1e-12)
    assert np.all(indices[:50] == -1)
    np.testing.assert_allclose(values[60:], 1.0)


def test_default_number_of_neighbours() -> None:
    assert default_q(1000, 10) == 5
    assert default_q(60, 3) == 3
    assert default_q(70_000, 10) == 20
    X = np.random.default_rng(0).normal(size=(300, 4))
    model = TSC(2)
    model.affinity(X)
    assert model.q_ == 8


@pytest.mark.realdata
@pytest.mark.filterwarnings("ignore::superpac.errors.DisconnectedGraphWarning")
@pytest.mark.parametrize(
    ("name", "K", "q", "expected", "components"),
    [
        ("coil20", 20, 4, 0.169, 10),
        ("coil20", 20, 6, 0.173, 7),
        ("coil20", 20, 10, 0.213, 3),
        ("usps", 10, 5, 0.345, 1),
        ("usps", 10, 20, 0.344, 1),
    ],
)
def test_reference_figures(need_data, name, K, q, expected, components) -> None:
    held = np.load(need_data(name))
    A = TSC(K, q=q).affinity(held["X"])
    assert connected_components(A)[0] == components
    labels = spectral_clustering(A, K, random_state=0)
    assert clustering_error(held["y"], labels) == pytest.approx(expected, abs=0.02)


@pytest.mark.realdata
def test_reference_figure_on_yale(need_data) -> None:
    held = np.load(need_data("yaleb"))
    good = ~held["bad"]
    X, y = held["X"][good], held["y"][good]
    A = TSC(38, q=3).affinity(X)
    errors = [clustering_error(y, spectral_clustering(A, 38, random_state=s)) for s in range(3)]
    assert np.mean(errors) == pytest.approx(0.507, abs=0.02)


def test_progress_of_an_approximate_search_counts_what_comes_before_it():
    pytest.importorskip("faiss")
    X = np.random.default_rng(0).normal(size=(180, 12))
    seen = []
    model = TSC(3, q=4, search="approximate")
    model.affinity(X, progress=lambda *step: seen.append(step))
    done = [step for step, _ in seen]
    assert done == sorted(done)
    assert 0 < done[0] < 180
    assert seen[-1] == (180, 180)
