from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse
from sklearn.mixture import GaussianMixture

from driving import drive, first
from superpac.affinity.tsc import TSC
from superpac.data.synthetic import make_subspaces
from superpac.errors import InputError
from superpac.graph.imputed_spectral import ImputedSpectral, KnownSets
from superpac.strategies import Problem
from superpac.strategies.baselines import laplacian_eigenpairs
from superpac.strategies.baselines.laplacian_eigenpairs import ImputedLaplacian, smallest_pairs
from superpac.strategies.baselines.urasc import (
    NEIGHBOURS,
    SHARE,
    Urasc,
    UrascN,
    eigenvector_change,
    entropy,
    mixture_shares,
    nearest_neighbours,
)


@pytest.fixture(scope="module")
def graph():
    rng = np.random.default_rng(0)
    W = rng.random((14, 14)) * (rng.random((14, 14)) < 0.5)
    return np.triu(W, 1) + np.triu(W, 1).T + 0.05 * (1 - np.eye(14))


def laplacian(W):
    return np.diag(W.sum(axis=1)) - W


def test_gradient_is_the_derivative_of_the_eigenvectors(graph):
    """Against finite differences of the eigenvectors themselves, all eigenpairs kept."""
    values, vectors = np.linalg.eigh(laplacian(graph))
    sets = np.array([2, 7, 11])
    fast = eigenvector_change(vectors, values, sets, 3)
    small = 1e-6
    for i in (0, 2, 5, 13):
        W = graph.copy()
        for j in sets:
            if i != j:
                W[i, j] += small
                W[j, i] += small
        _, moved = np.linalg.eigh(laplacian(W))
        moved *= np.sign((moved * vectors).sum(axis=0))
        change = (moved - vectors)[:, 1:4] / small
        assert fast[i] == pytest.approx(np.linalg.norm(change, axis=0).sum(), rel=1e-3)


def test_gradient_by_hand_from_few_pairs(graph):
    """The double sum as the paper writes it, over the first pairs only."""
    values, vectors = np.linalg.eigh(laplacian(graph))
    values, vectors = values[:6], vectors[:, :6]
    sets = [1, 4]
    slow = np.zeros(14)
    for i in range(14):
        for k in (1, 2):
            change = np.zeros(14)
            for j in sets:
                for p in range(6):
                    if p != k:
                        top = (vectors[i, k] - vectors[j, k]) * (vectors[i, p] - vectors[j, p])
                        change += top / (values[k] - values[p]) * vectors[:, p]
            slow[i] += np.linalg.norm(change)
    np.testing.assert_allclose(eigenvector_change(vectors, values, np.array(sets), 2), slow)


def test_repeated_eigenvalues_are_left_out():
    values = np.array([0.0, 1.0, 1.0 + 1e-9, 2.0])
    vectors = np.linalg.qr(np.random.default_rng(0).normal(size=(8, 4)))[0]
    assert np.isfinite(eigenvector_change(vectors, values, np.array([0]), 2)).all()
    assert eigenvector_change(vectors, values, np.array([0]), 2).max() < 100


def test_laplacian_is_that_of_the_imputed_matrix(graph):
    A = sparse.csr_array(graph)
    model = ImputedSpectral(A, 3)
    set_of = np.full(14, -1)
    set_of[[0, 3, 5]], set_of[[1, 8]], set_of[[13]] = 0, 1, 2
    some = np.zeros((3, 3), dtype=bool)
    some[0, 1] = some[1, 0] = True
    for different in (None, some):
        known = KnownSets(set_of, 3, different)
        L = ImputedLaplacian(model.A, known)
        np.testing.assert_allclose(
            L.toarray(), laplacian(model.matrix(known).toarray()), atol=1e-12
        )
        assert L.bound() >= np.linalg.eigvalsh(L.toarray())[-1]
    np.testing.assert_allclose(ImputedLaplacian(model.A).toarray(), laplacian(model.A.toarray()))


@pytest.mark.parametrize("wanted", [20, 80])  # 80 are filtered in more than one part
def test_iterated_eigenpairs_are_the_dense_ones_cold_and_warm(wanted):
    X, y = make_subspaces(100, 4, 3, 12, noise=0.2, seed=0)
    A = TSC(4, q=6).affinity(X)
    block = None
    for placed in (0, 60, 61):
        set_of = np.full(400, -1)
        set_of[: 4 * placed : 4] = y[: 4 * placed : 4]
        L = ImputedLaplacian(A, KnownSets(set_of, 4))
        values, vectors, block = smallest_pairs(
            L, wanted, start=block, rng=np.random.default_rng(0), dense_below=10
        )
        full = L.toarray()
        np.testing.assert_allclose(values, np.linalg.eigvalsh(full)[:wanted], atol=1e-6)
        gap = full @ vectors - vectors * values
        assert np.linalg.norm(gap, axis=0).max() < 1e-3 * values[-1]
        np.testing.assert_allclose(vectors.T @ vectors, np.eye(wanted), atol=1e-8)


def test_eigenvectors_that_are_good_already_are_not_filtered_again(monkeypatch):
    X, y = make_subspaces(100, 4, 3, 12, noise=0.2, seed=0)
    A = TSC(4, q=6).affinity(X)
    widths = []
    filtered = laplacian_eigenpairs._filtered

    def counted(L, V, *rest):
        widths.append(V.shape[1])
        return filtered(L, V, *rest)

    monkeypatch.setattr(laplacian_eigenpairs, "_filtered", counted)
    L = ImputedLaplacian(A, KnownSets(np.where(np.arange(400) % 2 == 0, y, -1), 4))
    _, _, block = smallest_pairs(L, 80, rng=np.random.default_rng(0), dense_below=10)
    assert widths[0] == block.shape[1]
    assert widths[-1] < widths[0] / 2, widths


def test_a_skew_block_still_gives_an_orthonormal_basis():
    rng = np.random.default_rng(0)
    apart = np.linalg.qr(rng.normal(size=(50, 4)))[0]
    one = rng.normal(size=50)
    near = np.column_stack([one, one + 1e-9 * rng.normal(size=50), rng.normal(size=50)])
    found = np.column_stack([apart, laplacian_eigenpairs._orthonormal(near, apart)])
    np.testing.assert_allclose(found.T @ found, np.eye(7), atol=1e-10)
    twice = laplacian_eigenpairs._orthonormal(np.column_stack([one, one]), apart[:, :0])
    np.testing.assert_allclose(twice.T @ twice, np.eye(2), atol=1e-10)


def test_eigenpairs_of_a_graph_in_pieces():
    ring = np.roll(np.eye(60), 1, 0) + np.roll(np.eye(60), -1, 0)
    A = sparse.csr_array(sparse.block_diag([ring] * 4))
    rng = np.random.default_rng(0)
    values, _, _ = smallest_pairs(ImputedLaplacian(A), 6, rng=rng, dense_below=10)
    assert (values < 1e-6).sum() == 4


def test_step_is_the_entropy_of_the_neighbours_labels():
    X, _ = make_subspaces(16, 3, 2, 8, seed=5)
    A = TSC(3, q=4).affinity(X)
    strategy = UrascN(Problem(X, A, 3, dim=2))
    strategy._cluster()
    shares = strategy._shares()
    dense = strategy.model.A.toarray()
    for i in (0, 20, 47):
        near = np.argsort(-dense[i], kind="stable")[:NEIGHBOURS]
        want = np.array([dense[i, near][strategy._labels[near] == c].sum() for c in range(3)])
        want = want / want.sum() + SHARE
        np.testing.assert_allclose(shares[i], want / want.sum())
    assert entropy(np.array([[0.5, 0.5], [1.0, 0.0]])).tolist() == [pytest.approx(np.log(2)), 0.0]


def test_neighbours_are_the_largest_entries(graph):
    cut = nearest_neighbours(sparse.csr_array(graph), 3).toarray()
    assert ((cut > 0).sum(axis=1) == 3).all()
    np.testing.assert_allclose(np.sort(cut, axis=1)[:, -3:], np.sort(graph, axis=1)[:, -3:])


def test_asks_for_the_largest_product_and_the_most_similar_member():
    X, y = make_subspaces(16, 3, 2, 8, noise=0.25, seed=5)
    A = TSC(3, q=4).affinity(X)
    strategy = UrascN(Problem(X, A, 3, dim=2))
    state, _ = drive(strategy, y, 30)
    question = first(strategy, state)
    free = np.flatnonzero(strategy.sets.set_of == -1)
    if strategy._pending(state, frozenset()) is None:
        score = strategy.gradient * strategy.step
        assert score[question.i] == score[free].max()
    mine = strategy.sets.members[int(strategy.sets.set_of[question.j])]
    row = strategy.model.A.toarray()[question.i]
    assert row[question.j] == row[mine].max()


def test_mixture_goes_on_from_the_labels_like_scikit_learn():
    rng = np.random.default_rng(0)
    rows = np.concatenate([rng.normal(c, 0.5, size=(60, 2)) for c in (0.0, 2.0)])
    labels = np.repeat([0, 1], 60)
    ours = mixture_shares(rows, labels, 2)
    centres = np.array([rows[labels == c].mean(axis=0) for c in (0, 1)])
    theirs = GaussianMixture(2, means_init=centres, random_state=0).fit(rows).predict_proba(rows)
    assert np.abs(ours - theirs).max() < 0.02


def test_parametric_and_neighbour_steps_differ():
    X, y = make_subspaces(16, 3, 2, 8, noise=0.25, seed=5)
    A = TSC(3, q=4).affinity(X)
    problem = Problem(X, A, 3, dim=2)
    assert drive(UrascN(problem), y, 60)[1] != drive(Urasc(problem), y, 60)[1]


def test_unknown_refit_is_refused():
    with pytest.raises(InputError, match="'exact' or 'warm'"):
        UrascN(Problem(np.eye(4), sparse.csr_array(np.ones((4, 4))), 2, dim=1), refit="cold")


def test_single_precision_is_corrected_to_the_dense_eigenpairs():
    X, y = make_subspaces(100, 4, 3, 12, noise=0.2, seed=0)
    A = TSC(4, q=6).affinity(X)
    set_of = np.where(np.arange(400) % 3 == 0, y, -1)
    L = ImputedLaplacian(A, KnownSets(set_of, 4))
    values, vectors, _ = smallest_pairs(L, 20, rng=np.random.default_rng(0), single_above=100)
    np.testing.assert_allclose(values, np.linalg.eigvalsh(L.toarray())[:20], atol=1e-8)
    gap = L.product(vectors) - vectors * values
    assert np.linalg.norm(gap, axis=0).max() < 1e-4 * values[-1]
    np.testing.assert_allclose(vectors.T @ vectors, np.eye(20), atol=1e-12)
