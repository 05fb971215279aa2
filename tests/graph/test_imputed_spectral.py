from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse

from superpac.affinity.tsc import TSC
from superpac.data.synthetic import make_subspaces
from superpac.errors import InputError
from superpac.graph.chebyshev import chebyshev_vectors
from superpac.graph.imputed_spectral import ImputedSpectral, KnownSets, _Operator
from superpac.graph.spectral import normalized_affinity, spectral_embedding
from superpac.metrics import adjusted_rand


def naive_imputed(A: np.ndarray, known: KnownSets) -> np.ndarray:
    """The definition, pair by pair."""
    out = A * (2.0 / A.max())
    for i in range(len(A)):
        for j in range(len(A)):
            a, b = known.set_of[i], known.set_of[j]
            if i == j or a < 0 or b < 0:
                continue
            if a == b:
                out[i, j] = 1.0
            elif known.different is None or known.different[a, b]:
                out[i, j] = 0.0
    return out


def random_case(seed: int, n: int = 24, partly: bool = False) -> tuple[np.ndarray, KnownSets]:
    rng = np.random.default_rng(seed)
    A = np.triu(rng.random((n, n)) * (rng.random((n, n)) < 0.4), 1)
    A[0, 1] = 0.5
    A = A + A.T
    sets = rng.integers(-1, 3, n)
    sets[:3] = [0, 1, 2]
    different = None
    if partly:
        different = np.triu(rng.random((3, 3)) < 0.5, 1)
        different = different | different.T
    return A, KnownSets(sets, 3, different)


@settings(max_examples=60)
@given(seed=st.integers(0, 10_000), partly=st.booleans())
def test_imputed_matrix_matches_the_definition(seed, partly):
    A, known = random_case(seed, partly=partly)
    got = ImputedSpectral(sparse.csr_array(A), 3).matrix(known).toarray()
    np.testing.assert_allclose(got, naive_imputed(A, known), atol=1e-12)


@settings(max_examples=40)
@given(seed=st.integers(0, 10_000), partly=st.booleans())
def test_block_product_matches_the_formed_matrix(seed, partly):
    A, known = random_case(seed, partly=partly)
    model = ImputedSpectral(sparse.csr_array(A), 24)
    formed = model.matrix(known)
    operator = model._operator(known)
    V = np.random.default_rng(seed).normal(size=(24, 5))
    got = operator.step(V, V, 1.0, 0.0, 0.0)
    np.testing.assert_allclose(got, normalized_affinity(formed) @ V, atol=1e-12)


@pytest.fixture(scope="module")
def subspace_problem():
    X, y = make_subspaces(60, 5, 3, 20, noise=0.1, seed=3)
    return TSC(5, q=5).affinity(X), y


def test_warm_eigenvectors_span_the_exact_ones(subspace_problem):
    A, y = subspace_problem
    model = ImputedSpectral(A, 5)
    model.exact()
    sets = np.full(len(y), -1)
    rng = np.random.default_rng(0)
    for step, point in enumerate(rng.permutation(len(y))[:40]):
        sets[point] = y[point]
        known = KnownSets(sets.copy(), 5)
        operator = model._operator(known)
        assert isinstance(operator, _Operator)
        vectors = chebyshev_vectors(operator, model._vectors, 5, sweeps=30)
        assert vectors is not None, f"no convergence at step {step}"
        model._vectors = vectors
        exact = spectral_embedding(model.matrix(known), 5, random_state=0)
        cosines = np.linalg.svd(exact.vectors.T @ vectors[:, :5], compute_uv=False)
        assert cosines.min() > 1 - 1e-3


def test_warm_labels_agree_with_exact_ones(subspace_problem):
    A, y = subspace_problem
    warm, cold = ImputedSpectral(A, 5, seed=1), ImputedSpectral(A, 5, seed=1)
    warm.exact()
    sets = np.full(len(y), -1)
    agreement = []
    for step, point in enumerate(np.random.default_rng(1).permutation(len(y))[:60]):
        sets[point] = y[point]
        known = KnownSets(sets.copy(), 5)
        agreement.append(adjusted_rand(cold.exact(known, step=step), warm.warm(known, step=step)))
    assert np.mean(agreement) > 0.97


def test_disconnected_graph_is_followed_warm():
    blocks = np.kron(np.eye(3), np.ones((40, 40))) * np.random.default_rng(0).uniform(
        0.5, 1, (120, 120)
    )
    A = (blocks + blocks.T) * (1 - np.eye(120))
    model = ImputedSpectral(sparse.csr_array(A), 3)
    model.exact()
    sets = np.full(120, -1)
    sets[[0, 1, 50, 90]] = [0, 0, 1, 2]
    labels = model.warm(KnownSets(sets, 3), step=1)
    truth = np.repeat(np.arange(3), 40)
    assert adjusted_rand(truth, labels) == 1.0


def test_original_affinity_is_never_changed(subspace_problem):
    A, y = subspace_problem
    before = A.copy()
    model = ImputedSpectral(A, 5)
    model.exact()
    sets = np.where(np.arange(len(y)) % 3 == 0, y, -1)
    model.matrix(KnownSets(sets, 5))
    model.warm(KnownSets(sets, 5), step=1)
    assert (before != A).nnz == 0
    assert model.A.data.max() == pytest.approx(2.0)
    np.testing.assert_array_equal(model.A.indices, before.indices)


def test_points_without_neighbours_are_followed_warm(subspace_problem):
    A, y = subspace_problem
    lonely = A.tolil()
    lonely[:4, :] = 0
    lonely[:, :4] = 0
    model = ImputedSpectral(lonely.tocsr(), 5, seed=1)
    model.exact()
    sets = np.full(len(y), -1)
    sets[10:60:5] = y[10:60:5]
    known = KnownSets(sets, 5)
    operator = model._operator(known)
    assert chebyshev_vectors(operator, model._vectors, 5, sweeps=30) is not None
    warm = model.warm(known, step=1)
    cold = ImputedSpectral(lonely.tocsr(), 5, seed=1).exact(known, step=1)
    assert adjusted_rand(cold[4:], warm[4:]) > 0.95


@settings(max_examples=40)
@given(seed=st.integers(0, 10_000))
def test_asked_pairs_alone_are_imputed(seed):
    A, _ = random_case(seed)
    rng = np.random.default_rng(seed)
    pairs = rng.permutation(24).reshape(12, 2)
    same, different = pairs[:5], pairs[5:9]
    want = A * (2.0 / A.max())
    for i, j in same:
        want[i, j] = want[j, i] = 1.0
    for i, j in different:
        want[i, j] = want[j, i] = 0.0
    got = ImputedSpectral(sparse.csr_array(A), 3).asked_matrix(same, different)
    np.testing.assert_allclose(got.toarray(), want, atol=1e-12)


def test_embedding_has_the_vectors_and_rows_asked_for(subspace_problem):
    A, _ = subspace_problem
    one_more = ImputedSpectral(A, 5, extra_vectors=1)
    one_more.exact()
    assert one_more.rows().shape == (A.shape[0], 6)
    np.testing.assert_allclose(np.linalg.norm(one_more.rows(), axis=1), 1.0)
    plain = ImputedSpectral(A, 5, unit_rows=False)
    plain.exact()
    np.testing.assert_allclose(plain.rows().T @ plain.rows(), np.eye(5), atol=1e-8)
    with pytest.raises(InputError, match="'extra_vectors' option must be between 0 and 6"):
        ImputedSpectral(A, 5, extra_vectors=7)


def test_labels_keep_their_names_when_the_warm_way_is_barred(subspace_problem, monkeypatch):
    A, _ = subspace_problem
    known = KnownSets(np.full(A.shape[0], -1), 0)
    model = ImputedSpectral(A, 5)
    before = model.exact(step=0)
    monkeypatch.setattr(model, "_improve", lambda known, start: None)
    after = model.warm(known, step=9)
    assert (before == after).mean() > 0.9


def test_many_clusters_of_close_eigenvalues_are_followed_warm():
    # a ring per object, as pictures from all sides make it: the K-th eigenvalue hardly stands out
    rng = np.random.RandomState(0)
    K, around = 60, 40
    truth = np.repeat(np.arange(K), around)
    place = np.arange(truth.size)
    ring = place - place % around + (place + 1) % around
    other = rng.permutation(truth.size)
    rows, columns = np.concatenate([place, place]), np.concatenate([ring, other])
    weights = np.concatenate([np.ones(truth.size), rng.uniform(0, 0.2, truth.size)])
    half = sparse.csr_array((weights, (rows, columns)), shape=(truth.size, truth.size))
    model = ImputedSpectral(half + half.T, K, seed=0, n_init=2)
    asked = rng.permutation(truth.size)[:50]
    sets = np.full(truth.size, -1)
    sets[asked[:40]] = truth[asked[:40]]
    model.exact(KnownSets(sets.copy(), K))
    for point in asked[40:]:
        sets[point] = truth[point]
        vectors = model._improve(KnownSets(sets.copy(), K), model._vectors)
        assert vectors is not None  # None: every answer would cost a decomposition from scratch
        model._vectors = vectors
    S = normalized_affinity(model.matrix(KnownSets(sets, K)))
    exact = np.linalg.eigvalsh(S.toarray())[::-1][:K]
    reached = np.sort(np.einsum("ij,ij->j", vectors[:, :K], S @ vectors[:, :K]))[::-1]
    np.testing.assert_allclose(reached, exact, atol=1e-6)
